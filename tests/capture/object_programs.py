"""Programs that reach one object in several ways: by attribute, by its `__dict__`, by hooks of its class, by name."""

from __future__ import annotations

import builtins
import copy
import dataclasses
import functools
import inspect
import operator
import sys
import types

import numpy as np

from weft import Parameter, Tensor, nn

# -- one object of several classes --------------------------------------------------------------------------------


class Plain:
    pass


class Slotted:
    __slots__ = ("k", "n", "__dict__")


class OnlySlots:
    __slots__ = ("k", "n", "w")


class Shadow:
    k = 7
    n = 1


class Over:
    def __setattr__(self, name, value):
        object.__setattr__(self, "count", self.__dict__.get("count", 0) + 1)
        super().__setattr__(name, value)


class OverGet:
    calls = 0

    def __init__(self):
        object.__setattr__(self, "n", 0)
        object.__setattr__(self, "k", None)

    def __getattribute__(self, name):
        d = object.__getattribute__(self, "__dict__")
        if not name.startswith("__"):
            d["asked"] = d.get("asked", 0) + 1
        return super().__getattribute__(name)


class OverGetPure:
    def __getattribute__(self, name):
        if name == "secret":
            return 42
        return super().__getattribute__(name)


class CellObj(nn.Cell):
    def __init__(self):
        super().__init__()
        self.n = 0

    def construct(self, x):
        return x


class DictSub(dict):
    pass


class ListSub(list):
    pass


class Prop:
    def __init__(self):
        self._k = 0

    @property
    def k(self):
        return self._k

    @k.setter
    def k(self, v):
        self._k = v
        self.n = getattr(self, "n", 0) + 1


KINDS = [
    Plain,
    Slotted,
    OnlySlots,
    Shadow,
    Over,
    OverGet,
    OverGetPure,
    CellObj,
    DictSub,
    ListSub,
    Prop,
    types.SimpleNamespace,
]


def p_attr_then_dict(o, x, i):
    o.k = x
    o.__dict__["n"] = i
    return o.k + o.n


def p_dict_then_attr(o, x, i):
    o.__dict__["n"] = i
    o.k = x * 2
    o.n += 1
    return o.k + o.n


def p_vars(o, x, i):
    vars(o)["n"] = i
    o.k = x
    return o.k * vars(o)["n"]


def p_update(o, x, i):
    o.k = x
    o.__dict__.update(n=i, k=x + 1)
    return o.k + o.n


def p_update2(o, x, i):
    d = o.__dict__
    d.update({"n": i})
    o.m = x
    d["q"] = o.m + 1
    return o.q + o.n


def p_setattr(o, x, i):
    o.n = i
    object.__setattr__(o, "k", x + i)
    return o.k + o.n


def p_del(o, x, i):
    o.k = x
    o.__dict__["t"] = i
    del o.t
    y = hasattr(o, "t")
    o.__dict__.pop("k")
    return x + y + ("k" in o.__dict__)


def p_pop(o, x, i):
    o.n = i
    v = o.__dict__.pop("n")
    o.n = v + 1
    return x * o.n


def p_clear(o, x, i):
    o.k = x
    o.__dict__.clear()
    o.n = i
    return x + len(o.__dict__)


def p_setdefault(o, x, i):
    y = o.__dict__.setdefault("h", x)
    o.h = o.h + i
    return y + o.__dict__["h"]


def p_iter(o, x, i):
    o.n = i
    s = 0
    for k, v in o.__dict__.items():
        if isinstance(v, int):
            s += v
    o.k = x
    return x + s


def p_class_attr(o, x, i):
    y = getattr(type(o), "k", 3)
    type(o).zz = i
    o.n = i
    return x + o.zz + (y if isinstance(y, int) else 0)


def p_class_assign(o, x, i):
    o.n = i
    cls = type(o)
    o.__class__ = cls
    return x + o.n


def p_newdict(o, x, i):
    o.__dict__ = {"n": i, "k": x}
    o.n += 1
    return o.k + o.n


def p_branch(o, x, i):
    o.n = i
    if x.sum() > 3:
        o.__dict__["k"] = x
    else:
        o.k = x * 2
    return o.k + o.n


def p_branch2(o, x, i):
    o.k = x
    if x.sum() > 3:
        o.__dict__["k"] = x * 3
    return o.__dict__["k"]


def p_loop(o, x, i):
    o.k = x
    while o.k.sum() < 20:
        o.__dict__["k"] = o.k + 1
    return o.k


def p_getattribute(o, x, i):
    o.n = i
    return x + object.__getattribute__(o, "n")


def p_super(o, x, i):
    o.k = x
    o.n = i
    return o.k + o.n


def p_ior(o, x, i):
    o.n = 0
    d = o.__dict__
    d |= {"n": i, "k": x}
    return o.k + o.n


def p_delattr(o, x, i):
    o.tmp = x
    y = o.__dict__["tmp"]
    delattr(o, "tmp")
    object.__setattr__(o, "n", i)
    return y + ("tmp" in vars(o))


def p_oddkey(o, x, i):
    o.__dict__["a-b"] = i
    setattr(o, "lambda", x)
    o.__dict__['q"{0}'] = 3
    o.__dict__[5] = x + 1
    return getattr(o, "a-b") + getattr(o, "lambda") + o.__dict__[5]


def p_slotkey(o, x, i):
    o.n = i
    o.k = x
    if hasattr(o, "__dict__"):
        o.__dict__["k"] = x * 100
    return o.k + o.n


ON_AN_OBJECT = [value for name, value in list(globals().items()) if name.startswith("p_")]


def show(v):
    if isinstance(v, Tensor):
        return ("T", str(v.dtype), v.asnumpy().tolist())
    if isinstance(v, dict):
        return {str(k): show(x) for k, x in v.items()}
    if isinstance(v, (list, tuple)):
        return [show(x) for x in v]
    if isinstance(v, (int, float, str, bool, type(None))):
        return (type(v).__name__, v)
    return type(v).__name__


def state(o):
    d = {}
    try:
        d.update({k: v for k, v in object.__getattribute__(o, "__dict__").items() if k not in ("_version",)})
    except AttributeError:
        pass
    if isinstance(o, nn.Cell):
        d = {k: v for k, v in d.items() if not str(k).startswith("_")}
    for s in ("k", "n", "w"):
        m = type(o).__dict__.get(s)
        if isinstance(m, types.MemberDescriptorType):
            try:
                d["slot " + s] = m.__get__(o)
            except AttributeError:
                pass
    d["class"] = type(o).__name__
    if isinstance(o, (dict)):
        d["items"] = dict(o)
    if isinstance(o, (list)):
        d["items"] = list(o)
    d["zz"] = getattr(type(o), "zz", None)
    return show(d)


# -- objects of the module ---------------------------------------------------------------------------------------

G = 1
ME = sys.modules[__name__]


class Hook:
    def __init__(self):
        object.__setattr__(self, "n", 1)

    def __getattribute__(self, name):
        if name == "n":
            HITS.append(name)
        return object.__getattribute__(self, name)


HITS = []


class HookSuper:
    def __init__(self):
        self.n = 1

    def __getattribute__(self, name):
        v = super().__getattribute__(name)
        return v + 1 if name == "n" else v


class HookFb:
    def __init__(self):
        self.n = 1

    def __getattribute__(self, name):
        if name == "z":
            raise AttributeError(name)
        return super().__getattribute__(name)

    def __getattr__(self, name):
        LOG.append(name)
        return 10


LOG = []


class SetOver:
    def __init__(self):
        self.n = 0

    def __setattr__(self, name, value):
        LOG.append(name)
        super().__setattr__(name, value)
        super().__setattr__("last", name)


class SetDict:
    def __setattr__(self, name, value):
        self.__dict__[name] = value
        self.__dict__["cnt"] = self.__dict__.get("cnt", 0) + 1


class DelOver:
    def __delattr__(self, name):
        LOG.append("del " + name)
        super().__delattr__(name)


class Meta(type):
    def __getattribute__(cls, name):
        if name == "n":
            MLOG.append(name)
        return super().__getattribute__(name)

    def __setattr__(cls, name, value):
        MLOG.append("set " + name)
        super().__setattr__(name, value)


MLOG = []


class WithMeta(metaclass=Meta):
    n = 1


class DictProp:
    @property
    def __dict__(self):
        LOG.append("asked")
        return {"n": 99}


class ListD(list):
    pass


class A0:
    def f(self):
        return 1


class B0(A0):
    def f(self):
        return 2

    __slots__ = ()


def q_globals(x, i):
    globals()["G"] = i
    return x * G


def q_globals2(x, i):
    global G
    G = i + 5
    return x * globals()["G"] + ME.G + ME.__dict__["G"] + vars(ME)["G"]


def q_module(x, i):
    ME.G = i
    return x * G


def q_module_dict(x, i):
    ME.__dict__["G"] = i
    y = ME.G
    ME.__dict__.update(G=i + 1)
    return x * G + y


def q_moduleset(x, i):
    ME.GG = x
    y = GG
    del ME.GG
    return y * 2 + ("GG" in globals())


def q_cell(x, i):
    v = x

    def g():
        return v

    g.__closure__[0].cell_contents = x * 2
    return v + g() + i


def q_cell2(x, i):
    v = i

    def g():
        nonlocal v
        v = v + 1
        return v

    g()
    c = g.__closure__[0]
    c.cell_contents = c.cell_contents * 10
    g()
    return x + v


_o = 5


def _mk():
    n = 1

    def get():
        return n

    def put(v):
        nonlocal n
        n = v

    return get, put


GET, PUT = _mk()


def q_outcell(x, i):
    c = GET.__closure__[0]
    c.cell_contents = i
    y = GET()
    PUT(i * 2)
    return x + y + c.cell_contents


H = Hook()


def q_hook(x, i):
    H.n
    return x * H.n + i


HS = HookSuper()


def q_hooksuper(x, i):
    HS.n = i
    return x * HS.n


HF = HookFb()


def q_hookfb(x, i):
    HF.m = x
    y = HF.z
    HF.__dict__["z"] = 5
    return HF.m + y + HF.z + HF.nope


SO = SetOver()


def q_setover(x, i):
    SO.n = i
    SO.k = x
    return SO.k + SO.n + len(SO.last)


SD = SetDict()


def q_setdict(x, i):
    SD.n = i
    SD.k = x
    return SD.k + SD.cnt


DO = DelOver()


def q_delover(x, i):
    DO.k = x
    y = DO.k
    del DO.k
    return y + hasattr(DO, "k")


def q_meta(x, i):
    WithMeta.n = WithMeta.n + 1
    return x * WithMeta.n


DP = DictProp()


def q_dictprop(x, i):
    DP.n = i
    return x + DP.n + DP.__dict__["n"]


L = ListD()


def q_listd(x, i):
    L.append(i)
    L.__dict__["n"] = x
    L.k = i
    return L.n * len(L) + L.k


def q_classassign(x, i):
    o = A0()
    y = o.f()
    o.__class__ = B0 if i % 2 else A0
    return x + y + o.f()


OA = A0()


def q_classassign2(x, i):
    OA.__class__ = B0 if i % 2 else A0
    return x + OA.f() + (type(OA) is B0)


class Sh:
    k = 1


def q_shadow(x, i):
    o = Sh()
    y = o.k
    o.k = 5
    z = o.k
    del o.k
    return x + y + z + o.k


S1 = Sh()


def q_shadow2(x, i):
    y = S1.k
    S1.k = i
    z = S1.k
    del S1.k
    return x + y * 100 + z * 10 + S1.k


def q_shadow3(x, i):
    y = S1.k
    Sh.k = i
    return x + y * 100 + S1.k * 10 + Sh.__dict__["k"]


def q_func(x, i):
    def g():
        return 1

    g.a = x
    g.__dict__["b"] = i
    return g.a + g.b + len(vars(g))


def FO():
    pass


def q_func2(x, i):
    FO.a = x
    FO.__dict__["b"] = i
    vars(FO)["c"] = 1
    return FO.__dict__["a"] + FO.b + FO.c


def q_exc(x, i):
    e = ValueError(i)
    e.a = x
    e.__dict__["b"] = i
    e.args = (x,)
    try:
        raise e
    except ValueError as f:
        return f.a + f.b + f.args[0]


def q_return(x, i):
    o = Plain()
    o.k = x
    d = o.__dict__
    d["n"] = i
    return o, d, d is o.__dict__


def q_returnout(x, i):
    P1.k = x
    d = P1.__dict__
    d["n"] = i
    return P1, d, d is vars(P1)


P1 = Plain()


def q_mergens(x, i):
    if x.sum() > 2:
        o = Plain()
        d = o.__dict__
        d["n"] = x
    else:
        o = Plain()
        d = vars(o)
        d["n"] = x * 2
    d["n"] = d["n"] + 1
    return o.n, o.__dict__ is d


ARGD = Plain()
ARGD.n = 0
DD = ARGD.__dict__


def q_alias(x, i):
    ARGD.n = i
    DD["n"] += 1
    DD["m"] = x
    return ARGD.m + ARGD.n


def q_attrgetter(x, i):
    P1.n = i
    return x + operator.attrgetter("n")(P1) + operator.attrgetter("__dict__")(P1)["n"]


def q_copy(x, i):
    P1.n = i
    P1.__dict__["k"] = x
    c = copy.copy(P1)
    c.n += 1
    return c.k + c.n + P1.n


def q_partial(x, i):
    f = functools.partial(operator.add, 1)
    f.a = x
    f.__dict__["b"] = i
    return f.a + f.b


class Desc:
    def __get__(self, o, t=None):
        return o.__dict__.get("_d", 3) if o is not None else self

    def __set__(self, o, v):
        o.__dict__["_d"] = v
        o.__dict__["d"] = "hidden"


class WD:
    d = Desc()


W = WD()


def q_desc(x, i):
    y = W.d
    W.d = x * i
    return W.d + y


def q_moddict(x, i):
    d = ME.__dict__
    d["NEWNAME"] = x
    y = NEWNAME
    d.pop("NEWNAME")
    return y + i


class CellOver(nn.Cell):
    def __init__(self):
        super().__init__()
        self.n = 0
        self.w = Parameter(Tensor(np.ones(2, np.float32)), name="w")

    def __setattr__(self, name, value):
        LOG.append(name)
        super().__setattr__(name, value)

    def construct(self, x):
        return x


CO = CellOver()


def q_cellover(x, i):
    CO.n = i
    CO.w = x + 1
    CO.__dict__["m"] = x
    return CO.w + CO.n + CO.m


def q_obget(x, i):
    P1.n = i
    return x + object.__getattribute__(P1, "n") + P1.__getattribute__("n")


def q_obdel(x, i):
    P1.n = i
    object.__delattr__(P1, "n")
    P1.n = i
    P1.__delattr__("n")
    return x + hasattr(P1, "n")


def q_typeset(x, i):
    type.__setattr__(Sh, "k", i)
    return x + Sh.k + type.__getattribute__(Sh, "k")


def q_typeset2(x, i):
    object.__setattr__(Sh, "k", i)
    return x


class SlotSub(Sh):
    __slots__ = ("a",)


SS = SlotSub()


def q_slotsub(x, i):
    SS.a = x
    SS.b = i
    del SS.a
    SS.a = x * 2
    object.__setattr__(SS, "b", i + 1)
    return SS.a + SS.b + len(SS.__dict__) + SS.k


def q_hidden(x, i):
    P1.n = i
    for k in list(P1.__dict__):
        if k.startswith("n"):
            del P1.__dict__[k]
    return x + getattr(P1, "n", 77)


def q_modattr(x, i):
    try:
        return x + ME.not_there_at_all
    except AttributeError:
        return x * 3


P2 = Plain()


def q_two(x, i):
    P1.n = i
    P2.n = P1.n + 1
    P1.__dict__, d = P1.__dict__, P2.__dict__
    d["n"] += 1
    return x + P1.n * 10 + P2.n


MODG = types.ModuleType("modg")
MODG.LOG = []
exec("def __getattr__(name):\n    LOG.append(name)\n    return 5\n", MODG.__dict__)


def q_modgetattr(x, i):
    MODG.k = i
    return x + MODG.k + MODG.zzz + len(MODG.LOG)


def q_setitem(x, i):
    operator.setitem(P1.__dict__, "n", i)
    dict.__setitem__(P1.__dict__, "m", x)
    dict.update(vars(P1), q=i)
    return P1.m + P1.n + P1.q


def q_ior(x, i):
    P1.n = 0
    P1.__dict__ |= {"n": i, "k": x}
    return P1.k + P1.n


def q_static(x, i):
    P1.n = i
    return x + inspect.getattr_static(P1, "n")


def q_is(x, i):
    return x + (P1.__dict__ is P1.__dict__) + (vars(P1) is P1.__dict__) + (P1.__dict__ == {"n": i})


def q_proxy(x, i):
    w = weakref.proxy(P1)
    w.n = i
    P1.__dict__["k"] = x
    return P1.n + w.k


def q_deep(x, i):
    P1.o = P2
    P1.o.__dict__["n"] = i
    P2.n += 1
    return x + P1.__dict__["o"].n


def q_cycle(x, i):
    P1.me = P1
    P1.me.__dict__["n"] = i
    y = P1.me.me.n
    del P1.me
    return x + y


def q_delsame(x, i):
    P1.n = i
    d = P1.__dict__
    del d["n"]
    try:
        P1.n
    except AttributeError as e:
        return x + 1, str(e)


def q_popdefault(x, i):
    return x + P1.__dict__.pop("zz", i) + P1.__dict__.get("n", 3)


def q_fromkeys(x, i):
    for k, v in {"n": i, "k": x}.items():
        setattr(P1, k, v)
    return sum(v for k, v in P1.__dict__.items() if k in "nk")


def q_ns(x, i):
    ns = types.SimpleNamespace(a=x)
    ns.__dict__["b"] = i
    ns.__dict__.update(c=1)
    return ns.a + ns.b + ns.c, ns


@dataclasses.dataclass
class DCX:
    a: object = 0
    b: object = 1


DX = DCX()


def q_dc(x, i):
    DX.a = x
    DX.__dict__["b"] = i
    r = dataclasses.replace(DX, b=5)
    return DX.a + DX.b + r.b, dataclasses.asdict(DCX(1, i))


@dataclasses.dataclass(frozen=True)
class FZ:
    a: object = 0


def q_frozen(x, i):
    f = FZ(x)
    object.__setattr__(f, "a", x + i)
    f.__dict__["z"] = 1
    return f.a + f.z


def q_frozen2(x, i):
    f = FZ(x)
    try:
        f.a = 1
    except dataclasses.FrozenInstanceError as e:
        return x, str(e)


class CtxO:
    def __enter__(self):
        self.__dict__["in_"] = 1
        return self

    def __exit__(self, *a):
        self.in_ += 1


CX = CtxO()


def q_ctx(x, i):
    with CX as c:
        c.in_ += i
    return x + CX.__dict__["in_"]


class Lazy_:
    @property
    def v(self):
        if "_v" not in self.__dict__:
            self._v = 3
        return self.__dict__["_v"]


def q_lazyprop(x, i):
    o = Lazy_()
    return x + o.v + o._v


class CP:
    @functools.cached_property
    def v(self):
        return self.k * 2


def q_cached(x, i):
    o = CP()
    o.k = x
    y = o.v
    o.__dict__["v"] = y + 1
    z = o.v
    del o.v
    return o.v + z


CPG = CP()


def q_cached2(x, i):
    CPG.k = x
    CPG.__dict__.pop("v", None)
    return CPG.v + ("v" in vars(CPG))


class Counter_:
    total = 0

    def __init__(self):
        type(self).total += 1
        self.__class__.total += 0


def q_classcount(x, i):
    Counter_()
    Counter_()
    return x + Counter_.total - Counter_.__dict__["total"]


class Perm:
    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        self.__dict__[name] = len(name)
        return self.__dict__[name]


PM = Perm()


def q_memo(x, i):
    return x + PM.abc + PM.abc + len(PM.__dict__)


class Guarded:
    __slots__ = ("_d",)

    def __init__(self):
        object.__setattr__(self, "_d", {})

    def __getattr__(self, n):
        return object.__getattribute__(self, "_d")[n]

    def __setattr__(self, n, v):
        object.__getattribute__(self, "_d")[n] = v


GD = Guarded()


def q_guarded(x, i):
    GD.a = x
    GD.b = i
    GD._d["a"] = GD.a * 2
    return GD.a + GD.b


def q_builtinsattr(x, i):
    try:
        return x + len(vars(builtins)) * 0
    except Exception as e:
        return str(e)


def q_namemangle(x, i):
    class M:
        def __init__(s):
            s.__p = i

        def g(s):
            s.__dict__["_M__p"] += 1
            return s.__p

    return x + M().g()


def q_kwdefaults(x, i):
    def f(*, a=1):
        return a

    f.__kwdefaults__["a"] = i
    return x + f()


def q_defaults(x, i):
    def f(a=1):
        return a

    f.__defaults__ = (i,)
    f.__dict__["z"] = x
    return f() + f.z


def q_instdict_key_types(x, i):
    P1.__dict__[1] = x
    P1.__dict__[(1, 2)] = i
    P1.__dict__[None] = 3
    y = P1.__dict__.pop(1)
    return y + P1.__dict__.pop((1, 2)) + P1.__dict__.pop(None)


def q_loopattr(x, i):
    P1.n = 0
    for k in range(3):
        P1.__dict__["n"] += k
        P1.n += 1
    while x.sum() < 10:
        P1.__dict__["c"] = x
        x = x + 1
        P1.c = P1.c + 1
    return x + P1.n


def q_branchattr(x, i):
    P1.n = i
    P1.k = x
    if x.sum() > 2:
        vars(P1)["k"] = P1.k * 2
        P1.n = 7
    else:
        P1.k = P1.__dict__["k"] * 3
    return P1.k + P1.n


def q_trydict(x, i):
    try:
        P1.__dict__["n"] = i
        P1.k = x
        raise ValueError("a")
    except ValueError:
        P1.n += 10
    finally:
        P1.__dict__["k"] = P1.k + 1
    return P1.k + P1.n


ON_THE_MODULE = [value for name, value in list(globals().items()) if name.startswith("q_")]


def snapshot():
    more = [DX.__dict__, CX.__dict__, vars(PM), object.__getattribute__(GD, "_d"), Counter_.total, vars(CPG), MODG.LOG]
    return show(more), show_more()


def show_more():
    return show(
        [
            G,
            HITS[:],
            LOG[:],
            MLOG[:],
            GET(),
            H.__dict__,
            object.__getattribute__(HS, "__dict__"),
            object.__getattribute__(HF, "__dict__"),
            SO.__dict__,
            SD.__dict__,
            DO.__dict__,
            type.__getattribute__(WithMeta, "n"),
            L,
            L.__dict__,
            type(OA).__name__,
            S1.__dict__,
            Sh.__dict__.get("k"),
            FO.__dict__,
            P1.__dict__,
            DD,
            W.__dict__,
            CO.n,
            CO.w,
            CO.m if "m" in CO.__dict__ else None,
            SS.__dict__,
            getattr(SS, "a", None),
            P2.__dict__,
            globals().get("GG"),
            globals().get("NEWNAME"),
        ]
    )


def reset():
    DX.__dict__.update(a=0, b=1)
    Counter_.total = 0
    for held in (CX.__dict__, PM.__dict__, GD._d, CPG.__dict__, MODG.LOG):
        held.clear()
    reset_more()


def reset_more():
    global G
    G = 1
    HITS.clear()
    LOG.clear()
    MLOG.clear()
    PUT(1)
    L.clear()
    L.__dict__.clear()
    OA.__class__ = A0
    S1.__dict__.clear()
    Sh.k = 1
    SS.__dict__.clear()
    CO.n = 0
    CO.w = Tensor(np.ones(2, np.float32))
    CO.__dict__.pop("m", None)
    for o in (SD, DO, W, P1, P2, ARGD, FO):
        o.__dict__.clear()
    ARGD.n = 0
    SO.__dict__.clear()
    SO.n = 0
    object.__getattribute__(HS, "__dict__").update(n=1)
    d = object.__getattribute__(HF, "__dict__")
    d.clear()
    d["n"] = 1
    type.__setattr__(WithMeta, "n", 1)
    LOG.clear()
    MLOG.clear()
    HITS.clear()
