"""Programs that make texts of tensors and numbers that only the running graph knows."""

from __future__ import annotations

import collections
import dataclasses
import decimal
import enum
import io
import json
import logging
import pprint
import string
import textwrap
import traceback
import types
import warnings

import numpy as np

from weft import Parameter, Tensor


class Plain:
    pass


@dataclasses.dataclass
class DC:
    a: object
    b: object = 0


class Rep:
    def __init__(self, v):
        self.v = v

    def __repr__(self):
        return f"Rep({self.v!r})"


NT = collections.namedtuple("NT", "a b")
LOGS = []


class H(logging.Handler):
    def emit(self, r):
        LOGS.append(r.getMessage())


log = logging.getLogger("text_programs")
log.addHandler(H())
log.setLevel(10)
log.propagate = False
OUT = []


def t_repr(x):
    return repr(x * 2)


def t_str(x):
    return str(x * 2)


def t_fr(x):
    return f"{x * 2!r}"


def t_fs(x):
    return f"{x * 2!s} {x * 2}"


def t_pr(x):
    return "%r" % (x * 2)


def t_ps(x):
    return "%s" % (x * 2,)


def t_pd(x):
    return "%.2f and %5d %%" % (x.sum(), 3)


def t_pdict(x):
    return "%(a)s %(b)r" % {"a": x * 2, "b": x}


def t_format(x):
    return "{!r:>10}".format(x * 2)


def t_format2(x):
    return "{0} {0!s:<40} {b}".format(x * 2, b=x)


def t_fmt(x):
    return format(x.sum() * 2, ".2f")


def t_fmtattr(x):
    return "{0.shape} {0.dtype}".format(x * 2)


def t_fmtitem(x):
    return "{0[0]} {0[k]}".format({"k": x * 2, 0: 1}) if False else "{0[1]}".format([x, x * 2])


def t_list(x):
    return str([x * 2, 1])


def t_tuple(x):
    return repr((x * 2,))


def t_dict(x):
    return f"{ {'a': x * 2} }"


def t_nested(x):
    return str({"a": [x * 2, (x,)]})


def t_set(x):
    return str({1, 2}) + repr(frozenset())


def t_dc(x):
    return repr(DC(x * 2, 1))


def t_dcs(x):
    return f"{DC(x * 2, 1)}"


def t_nt(x):
    return repr(NT(x * 2, 1))


def t_rep(x):
    return str(Rep(x * 2))


def t_replist(x):
    return str([Rep(x * 2)])


def t_exc(x):
    return repr(ValueError(x * 2))


def t_excs(x):
    return str(ValueError(x * 2))


def t_excs2(x):
    return str(ValueError("a", x * 2))


def t_excf(x):
    return f"{ValueError(x * 2)}"


def t_keyerr(x):
    return str(KeyError(x * 2))


def t_raise(x):
    raise ValueError(x * 2)


def t_raisef(x):
    raise ValueError(f"bad {x * 2}")


def t_raiser(x):
    raise ValueError("bad %r" % (x * 2,))


def t_assert(x):
    y = x * 2
    assert y.shape == (3,), y


def t_assertf(x):
    assert x.shape == (3,), f"{x * 2!r}"


def t_ascii(x):
    return ascii(x * 2)


def t_asciif(x):
    return f"{x * 2!a}"


def t_shape(x):
    return f"{(x * 2).shape} {x.dtype} {(x * 2).ndim}"


def t_print(x):
    b = io.StringIO()
    print(x * 2, repr(x * 2), [x * 2], file=b)
    return b.getvalue()


def t_join(x):
    return "".join(map(str, [x * 2, x]))


def t_join2(x):
    return ", ".join([repr(v) for v in (x * 2, x)])


def t_joinf(x):
    return "|".join(f"{v:.1f}" for v in (x.sum(), x.max()))


def t_upper(x):
    return str(x * 2).upper()


def t_len(x):
    return len(repr(x * 2))


def t_split(x):
    return str(x * 2).split(",")


def t_in(x):
    return "2" in str(x * 2)


def t_wrap(x):
    return textwrap.indent(str(x * 2), "  ")


def t_wrap2(x):
    return textwrap.fill(str(x * 2), 10)


def t_log(x):
    log.info("v %r", x * 2)
    log.info("s %s %s", x * 2, [x * 2])
    log.debug(x * 2)
    return 1


def t_logf(x):
    log.info(f"{x * 2!r}")
    return 1


def t_eq(x):
    return repr(x * 2) == repr(x + x)


def t_add(x):
    return "a" + str(x * 2) + "b" + repr(x)


def t_mul(x):
    return str(x * 2) * 2


def t_key(x):
    return {str(x * 2): 1}


def t_pprint(x):
    return pprint.pformat([x * 2])


def t_template(x):
    return string.Template("$a").substitute(a=x * 2)


def t_strcls(x):
    return str.__str__(str(x * 2)), str.format("{}", x * 2)


def t_dunder(x):
    y = x * 2
    return y.__repr__() + y.__str__() + y.__format__("")


def t_objrepr(x):
    return object.__repr__(x * 2)[:20]


def t_typerepr(x):
    return Tensor.__repr__(x * 2), Tensor.__str__(x * 2)


def t_hook(x):
    return "%s" % Rep(x * 2) + "{}".format(Rep(x)) + f"{Rep(x)!r:>30}"


def t_json(x):
    return json.dumps({"a": str(x * 2)}, default=str)


def t_jsond(x):
    return json.dumps({"a": x * 2}, default=str)


def t_num(x):
    n = int(x.sum())
    return (
        f"{n} {n!r} {n:04d}",
        str(n),
        repr(n),
        "%d" % n,
        "%r" % (n,),
        "{}".format(n),
        str([n]),
        str({"a": n}),
        ascii(n),
    )


def t_numf(x):
    n = float(x.sum())
    return f"{n} {n!r} {n:.3f}", str(n), repr(n), "%.2f" % n, "%s" % n, str((n,)), repr({n})


def t_bool(x):
    n = bool(x.sum() > 3)
    return f"{n} {n!r}", str(n), "%s" % n, str([n])


def t_item(x):
    return str(x.sum().item()), f"{x.sum().item()}", "%s" % [x.sum().item()]


def t_concat(x):
    s = ""
    for v in (x, x * 2):
        s += f"{v};"
    return s


def t_cond(x):
    if x.sum() > 2:
        s = f"big {x * 2}"
    else:
        s = f"small {x * 3!r}"
    return s


def t_attr(x):
    o = Plain()
    o.k = x * 2
    return str(vars(o)), f"{o.__dict__}"


def t_partialfmt(x):
    return list(map("{}".format, [x * 2]))


def t_mapstr(x):
    return list(map(repr, [x * 2, 1]))


def t_sorted(x):
    return sorted([x * 2, x], key=str)


def t_param(x):
    P.set_data(x)
    return repr(P), str(P), f"{P}", "%s" % P, str([P])


P = Parameter(Tensor(np.ones(2, np.float32)), name="p")


def t_defaultdict(x):
    d = collections.defaultdict(list)
    d["a"].append(x * 2)
    return (
        str(d),
        repr(collections.OrderedDict(a=x * 2)),
        repr(collections.deque([x * 2])),
        repr(collections.Counter(a=1)),
    )


def t_view(x):
    return repr({"a": x * 2}.values()), str({"a": x * 2}.items())


def t_slice(x):
    return repr(slice(x * 2)), str(slice(1, x.sum()))


def t_cellrepr(x):
    return repr(types.SimpleNamespace(a=x * 2))


def t_bytes(x):
    return str(x * 2).encode()


def t_tb(x):
    try:
        raise ValueError(x * 2)
    except ValueError as e:
        return "".join(traceback.format_exception_only(type(e), e))


def t_excgroup(x):
    return str(ExceptionGroup("a", [ValueError(x * 2)])), repr(ExceptionGroup("a", [ValueError(x * 2)]))


def t_warn(x):
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter("always")
        warnings.warn(f"{x * 2!r}")
    return [str(v.message) for v in w]


class E(enum.Enum):
    A = 1


def t_more_mix(x):
    return f"{E.A} {E.A!r} {decimal.Decimal('NaN')} {x * 2!r} {float('nan')} {-0.0}"


def t_more_width(x):
    return f"{x * 2!s:>30}|{x.sum():>10.2f}|{x.sum()!r:<50}|"


def t_more_pct(x):
    return "%10s|%-30r|%5.1f|%%" % (x.sum(), x * 2, 2.0)


def t_more_pcta(x):
    return "%a" % (x * 2,)


def t_more_spec(x):
    s = 8
    return f"{x.sum() * 2:{s}.2f}"


def t_more_specr(x):
    return f"{3.14159:.{int(x.sum()) % 3}f}"


def t_more_trunc(x):
    return "%.3s" % (x * 2,)


def t_more_nested(x):
    return f"{f'{x * 2!r}'} {[f'{x}']}"


def t_more_liststr(x):
    return str([f"{x * 2}"]), repr((str(x * 2),))


def t_more_mapfmt(x):
    return "{a} {a!r}".format_map({"a": x * 2})


def t_more_joinlist(x):
    return "\n".join([f"{k}={v}" for k, v in {"a": x * 2, "b": x}.items()])


def t_more_objfmt(x):
    class F:
        def __format__(s, spec):
            return f"<{x * 2}:{spec}>"

    return f"{F():abc}", format(F(), "z"), "{:q}".format(F())


def t_more_str_sub(x):
    class S(str):
        pass

    return S("a") + str(x * 2), "%s" % S("b") + repr(x)


def t_more_cond(x):
    s = f"{x * 2}"
    return "yes" if s else "no"


def t_more_cmp(x):
    return f"{x * 2}" == f"{x + x}", f"{x}" < "z"


def t_more_hash(x):
    return {f"{x * 2}": 1}, {f"{x}"}


def t_more_index(x):
    return f"{x * 2}"[0], f"{x}"[-1:]


def t_more_iter(x):
    return [c for c in f"{x * 2}"][:3]


def t_more_strip(x):
    return f" {x * 2} ".strip(), str(x).startswith("["), f"{x}".replace(" ", "")


def t_more_fmt_text(x):
    return "{:>40}".format(str(x * 2)), "%40s" % str(x * 2)


def t_more_int(x):
    return int(f"{int(x.sum())}") + 1


def t_more_excargs(x):
    try:
        raise KeyError(f"k {x * 2!r}")
    except KeyError as e:
        return str(e), repr(e), e.args


def t_more_chain(x):
    try:
        try:
            raise ValueError(x * 2)
        except ValueError as e:
            raise RuntimeError(f"outer {e}") from e
    except RuntimeError as e:
        return str(e), repr(e.__cause__), str(e.__cause__)


def t_more_note(x):
    e = ValueError("a")
    e.add_note(f"note {x * 2}")
    return e.__notes__


def t_more_assertmsg(x):
    y = x * 2
    assert y.ndim == 5, ("tuple", y)


def t_more_kwraise(x):
    class MyE(Exception):
        def __init__(s, v):
            s.v = v
            super().__init__(f"bad {v!r}")

        def __str__(s):
            return f"my {s.v}"

    raise MyE(x * 2)


def t_more_logextra(x):
    log.info("%(a)s %(b)r", {"a": x * 2, "b": [x]})
    log.warning("%s", ValueError(x * 2))
    log.error("%5.2f", x.sum())
    return 1


def t_more_logexc(x):
    try:
        raise ValueError(x * 2)
    except ValueError as e:
        log.error("failed: %s", e)
        log.error("failed: %r", e)
    return 1


def t_more_printmore(x):
    print(x * 2, [x], {"a": x}, (x,), f"{x!r}", "%r" % x, sep="|", end="!\n")
    print(DC(x * 2))
    print(ValueError(x * 2))
    print(Rep(x))
    return 1


def t_more_numpy(x):
    return str(np.array([x.sum().item()])), repr(np.float32(x.sum().item()))


def t_more_objarray(x):
    return str(np.array([x * 2, None], dtype=object))


def t_more_ordered(x):
    return (
        str(collections.OrderedDict(a=x * 2)),
        str(collections.ChainMap({"a": x * 2})),
        repr(collections.UserDict(a=x * 2)),
        repr(collections.Counter({"a": x})),
    )


def t_more_recursive(x):
    l = [x * 2]
    l.append(l)
    return repr(l)


def t_more_reprlib(x):
    import reprlib

    return reprlib.repr([x * 2] * 10)


def t_more_inherit(x):
    class L(list):
        pass

    class D(dict):
        def __repr__(s):
            return "D" + super().__repr__()

    return repr(L([x * 2])), str(D(a=x * 2))


def t_more_global_tensor(x):
    return repr(GT), f"{GT} {GT!r}", str([GT]), "%s" % GT


GT = Tensor(np.arange(3))


def t_more_shape(x):
    return f"{x.shape!r:>10}", "%s" % (x.shape,), str(x.dtype), repr(x.shape), f"{len(x)}"


def t_more_weakloop(x):
    n = 0
    while x.sum() < 20:
        x = x + 1
        n += 1
    return f"{n} {n!r}", str(n), "%d %s" % (n, n), str([n]), "{:03d}".format(n), repr({"n": n})


TEXTS = [value for name, value in list(globals().items()) if name.startswith("t_")]
