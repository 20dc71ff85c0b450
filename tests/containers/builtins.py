"""Every builtin on tensors, on what comes from tensors, and on containers of them."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import Final

from tests.containers.operands import operand, ways
from tests.containers.running import by_turns, program
from tests.gate.matrix import turn
from tests.gate.programs import Program

#: builtins that no program calls, and why
LEFT_OUT: Final = {
    "__build_class__": "class statements call it",
    "breakpoint": "stops for a person",
    "copyright": "text for a person",
    "credits": "text for a person",
    "exit": "ends the process",
    "help": "text for a person",
    "input": "reads from a person",
    "license": "text for a person",
    "quit": "ends the process",
    "open": "files: they outlive the programs",
}
#: what is called for each builtin; `v` is a list, `d` a dictionary of it, `n` and `m` numbers that come from tensors
CALLS: Final[dict[str, tuple[str, ...]]] = {
    "__import__": ("__import__('math').floor(x.shape[0] + 0.5)",),
    "abs": ("abs(y), abs(-n), abs(m), abs(-x.shape[0])", "[abs(a) for a in (n - 9, m - 9, True)]", "abs(v)"),
    "aiter": ("aiter(v)",),
    "all": ("all(v), all([n, m]), all([])", "all(a > 0 for a in x)", "all([x.shape[0], None])", "all(x > 0)"),
    "anext": ("anext(v)",),
    "any": ("any([None, n - n]), any([])", "any(a is None for a in v)", "any(a > 3 for a in x)"),
    "ascii": ("ascii(v), ascii(n), ascii('é' * x.shape[0])",),
    "bin": ("bin(n), bin(x.shape[0])", "bin(m)"),
    "bool": ("bool(v), bool(n), bool(m), bool(None)", "bool(x[0] > 1), bool(x.shape)", "bool(x)", "bool()"),
    "bytearray": ("bytearray(x.shape[0])", "bytearray([n, 1])", "bytearray(v)"),
    "bytes": ("bytes(x.shape[0])", "bytes([n, x.shape[0]])", "bytes('a', 'utf8')", "bytes(v)"),
    "callable": ("callable(v), callable(y), callable(len), callable(lambda: v)", "callable(x.sum)"),
    "chr": ("chr(n + 97), chr(x.shape[0] + 97)", "chr(m)", "chr(-1 - n)"),
    "classmethod": ("type('T', (), {'make': classmethod(lambda c, a: (c.__name__, a))}).make(y)",),
    "compile": ("eval(compile('a + 1', 'text', 'eval'), {'a': y})",),
    "complex": ("complex(n, 1), complex(m), complex(x.shape[0])", "complex(x[0].item(), 2).imag", "complex(v)"),
    "delattr": ("(lambda b: (delattr(b, 'a'), vars(b)))(Box(y, v))", "(lambda b: delattr(b, 'zz'))(Box(y))"),
    "dict": ("dict(d), dict(d) is d, dict(d, z=y)", "dict([(n, y), (x.shape[0], v)])", "dict(zip('ab', v))", "dict(v)", "dict(a=v, b=y)"),
    "dir": ("dir(Slots(y))[-3:]", "'a' in dir(Box(y)), 'zz' in dir(v)", "sorted(set(dir(v)) - set(dir([])))", "dir()"),
    "divmod": ("divmod(7, x.shape[0]), divmod(n + 5, 2), divmod(m, 2)", "divmod(n, n - n)", "divmod(y, 2)", "divmod(7.5, m + 10)"),
    "enumerate": ("list(enumerate(v)), list(enumerate(v, n))", "[(i, a * i) for i, a in enumerate(x)]", "enumerate(d, 3)", "enumerate(v, 1.5)", "next(enumerate(v, start=x.shape[0]))"),
    "eval": ("eval('len(v)')", "eval('[y, n]', {'y': y, 'n': n})"),
    "exec": ("(lambda s: (exec('b = [a, a]', s), s['b'][0] is y))({'a': y})[1]",),
    "filter": ("list(filter(None, [n, m, None, 0]))", "list(filter(lambda a: a is not None, v))", "list(filter(lambda a: a > 1, x))", "next(filter(lambda a: isinstance(a, Tensor), v), 'none')"),
    "float": ("float(n), float(m), float(x.shape[0]), float('1.5')", "float(x[0])", "float(v)", "float(x)", "float('nothing')"),
    "format": ("format(n, '>5'), format(m, '.2f'), format(x.shape[0], '03d')", "format(v)", "format(y[0].item(), 'e')", "format(y, '.2f')", "format(None, '>')"),
    "frozenset": ("frozenset([n, x.shape[0]])", "frozenset(d)", "frozenset([v])", "len(frozenset([x, y, x]))"),
    "getattr": ("getattr(Box(y), 'a') is y, getattr(v, 'zz', y) is y", "getattr(x, 'shape'), getattr(x, 'sum')()", "getattr(Box(y), 'zz')", "getattr(Box(v), 'abc'[n % 2])"),
    "globals": ("'f' in globals(), globals()['O'] is O", "globals().get('nothing', y) is y"),
    "hasattr": ("hasattr(Box(y), 'a'), hasattr(v, 'append'), hasattr(x, 'zz'), hasattr(None, 'a')", "hasattr(Box(y), 'abcd'[n % 4])"),
    "hash": ("hash(n) == n, hash(x.shape[0]), hash(m) == hash(m)", "hash((n, None)) == hash((n, None))", "hash(v)", "hash(y) == hash(y), hash(x) == hash(y)", "hash(Box(y))"),
    "hex": ("hex(n), hex(x.shape[0])", "hex(m)"),
    "id": ("id(v) == id(v), id(v) == id([*v]), id(x) == id(y)", "id(d['k']) == id(v)", "len({id(a) for a in [x, y, x]})"),
    "int": ("int(n), int(m), int(x.shape[0]), int('12'), int('z', 36)", "int(x[0]), int(x[-1])", "int(v)", "int(x)", "int('a')", "int(m * 2.5)", "int(True)"),
    "isinstance": ("isinstance(v, list), isinstance(y, Tensor), isinstance(n, int), isinstance(m, float)", "isinstance(x.shape, tuple), isinstance(x.shape[0], int)", "isinstance(d, (list, dict))", "isinstance(v, 1)", "isinstance(None, type(None)), isinstance(n, bool), isinstance(y, int | Tensor)", "[isinstance(a, Tensor) for a in v]"),
    "issubclass": ("issubclass(type(v), list), issubclass(type(n), int), issubclass(type(y), Tensor)", "issubclass(v, list)", "issubclass(Bag, (dict, list))"),
    "iter": ("list(iter(v)), next(iter(d))", "list(iter(iter([n, m, 0, 1]).__next__, 0))", "list(iter(lambda: v, v))", "iter(n)", "[a for a in iter(x)]", "iter(v) is iter(v)", "(lambda i: (next(i), iter(i) is i, i))(iter([*v]))"),
    "len": ("len(v), len(d), len(x), len(x.shape), len('a' * x.shape[0])", "len(n)", "len(x[0])", "len(Box(y)), len(range(n))"),
    "list": ("list(v), list(v) is v, list(d), list(x.shape)", "list(x)", "list(range(n))", "list(n)", "list('a' * x.shape[0])"),
    "locals": ("sorted(locals())", "locals()['y'] is y"),
    "map": ("list(map(lambda a: [a], v))", "list(map(lambda a, b: a + b, x, y))", "list(map(str, [n, x.shape[0], None]))", "sum(map(len, [v, d, x]))", "next(map(lambda a: a, v))", "list(map(None, v))", "map(len, [v, d])", "list(map(Tensor.sum, [x, y]))"),
    "max": ("max(n, x.shape[0]), max(m, 0)", "max(v, key=lambda a: str(type(a)))", "max([], default=y) is y", "max([])", "max(x)", "max(x.shape), max('ab', 'c')", "max(n, m, key=lambda a: -a)", "max([x.sum(), y.sum()], key=float)"),
    "memoryview": ("memoryview(b'abc')[x.shape[0] - 2]", "bytes(memoryview(bytearray(3))[:n])"),
    "min": ("min(n, x.shape[0]), min(m, 0)", "min(v, key=lambda a: str(type(a)))", "min([], default=None)", "min(x)", "min(d), min(x.shape, default=1)", "min(n, None)"),
    "next": ("next(iter(v)), next(iter([]), y) is y", "next(iter([]), None), next(a for a in (n, m))", "next(iter([]))", "next(v)", "next((a for a in v if a is None), 'none')", "(lambda i: (next(i), next(i), list(i)))(iter(x))"),
    "object": ("object() is object(), type(object()).__name__", "object(1)", "isinstance(v, object)"),
    "oct": ("oct(n), oct(x.shape[0])", "oct(m)"),
    "ord": ("ord('a'), ord(chr(n + 97))", "ord('ab'[:x.shape[0]])", "ord(v)"),
    "pow": ("pow(n, 2), pow(m, 2), pow(x.shape[0], 2, 5), pow(2, n)", "pow(x, 2)", "pow(2, y)", "pow(v, 2)", "pow(2.0, m)", "pow(x.shape[0], -1)"),
    "print": ("print(v)", "print(n, m, x.shape, sep='-', end='!')", "print(*v)", "print(y, None)", "print(f'{n} {y}')", "print(d, v, sep=1)"),
    "property": ("type('T', (), {'k': property(lambda self: [y, v])})().k[0] is y",),
    "range": ("list(range(n)), list(range(x.shape[0])), range(1, n)", "range(n)[0:2], len(range(n))", "range(m)", "x.shape[0] in range(3), range(n) == range(n)", "[x[i] for i in range(x.shape[0])]", "range(0, 5, n - n)"),
    "repr": ("repr(v), repr(n), repr(m), repr(x.shape)", "repr(d)", "repr(y)", "repr([None, n, x.shape])", "repr(Record(n, y))"),
    "reversed": ("list(reversed(v)), list(reversed(x.shape))", "list(reversed(d)), list(reversed(range(n)))", "reversed(n)", "next(reversed([n, m]))", "list(reversed(x))", "list(reversed(Box(y, n)))"),
    "round": ("round(n), round(m), round(m, 1), round(m * 1.26, 1), round(x.shape[0] * 10, -1)", "round(2.5), round(m, None)", "round(y, 1)", "round(v)", "round(y)"),
    "set": ("set([n, x.shape[0], n])", "len(set([x, y, x]))", "set(d)", "set([v])", "x in {x}, y in {x}"),
    "setattr": ("(lambda b: (setattr(b, 'a', y), b.a is y, vars(b)))(Box())", "(lambda b: (setattr(b, 'k' * x.shape[0], v), vars(b)))(Box())", "setattr(n, 'a', 1)", "setattr(O, 'k', v), O.k is v"),
    "slice": ("v[slice(1)], x[slice(n)], slice(n, x.shape[0])", "slice(None, n).indices(5)", "v[slice(None, None, -1)], slice(1) == slice(1)", "slice(y)"),
    "sorted": ("sorted([n, x.shape[0], m])", "sorted(v, key=lambda a: str(type(a)))", "sorted(d, reverse=True), sorted(x.shape)", "sorted(x)", "sorted([x, y], key=lambda a: -a.sum())", "sorted([None, n])", "sorted(v, key=lambda a: 0, reverse=True)"),
    "staticmethod": ("type('T', (), {'make': staticmethod(lambda a: [a])}).make(y)[0] is y",),
    "str": ("str(v), str(n), str(m), str(None), str(x.shape)", "str(y)", "str(b'a', 'utf8')", "str(d)", "str(n) + 'a' * n, str(Box) == str(Box)"),
    "sum": ("sum([n, x.shape[0], m]), sum(x.shape)", "sum([x, y])", "sum([x, y], x)", "sum([[y], v], [])", "sum(v)", "sum(x)", "sum(a for a in x), sum([], y) is y", "sum([], start=n)", "sum(['a'], '')"),
    "super": ("type('T', (Box,), {'total': lambda self: super(type(self), self).total(y)})(n).total()",),
    "tuple": ("tuple(v), tuple(x.shape) is x.shape, tuple((n, m))", "tuple(x)", "tuple(d)", "tuple(n)", "tuple(range(n))"),
    "type": ("type(v), type(n), type(m), type(y), type(None)", "type('T', (Box,), {'k': y})(n).k is y", "type('T', (), {'f': lambda self: v})().f() is v", "type(d) is dict, type(d)(a=y)", "type(n)(m), type(v)(d)", "type(1, 2)", "type(Bag(v)).__mro__[:2]"),
    "vars": ("vars(Box(y, v))", "vars(Box(y))['a'] is y", "vars(v)", "(lambda b: (vars(b).update(z=v), b.z is v))(Box(y))", "vars(O) is O.__dict__"),
    "zip": ("list(zip(v, x.shape))", "list(zip(x, y))", "list(zip(v, v, strict=True))", "list(zip(v, [1], strict=True))", "dict(zip(v, 'ab'))", "list(zip(*[v, v])), list(zip())", "next(zip(v, d))", "list(zip(n, v))", "zip(v, iter([n, m, 1, 2]))"),
}  # fmt: skip
_START: Final = "n = int(x[0])\nm = x[1].item()\nd = {'k': v, 'n': n}\n"


def exceptions() -> list[str]:
    """The classes of exceptions that a program can make of any arguments."""
    return [
        name
        for name, value in vars(builtins).items()
        if isinstance(value, type)
        and issubclass(value, Exception)
        and not issubclass(value, UnicodeError | ExceptionGroup)
    ]


def expected() -> set[str]:
    """The names that must be in `CALLS`."""
    return {
        name
        for name, value in vars(builtins).items()
        if callable(value)
        and (not name.startswith("_") or name in ("__import__", "__build_class__"))
        and not (isinstance(value, type) and issubclass(value, BaseException))
    }


def of_builtins(share: int = 1, which: int = 0) -> Iterator[Program]:
    """Each builtin with tensors, numbers of tensors and a list that arrives in turns."""
    for name, calls in CALLS.items():
        for text in calls:
            if turn("share", name, text) % share == which:
                inside = by_turns(("tensors", "mixed", "numbers"), "inside", text)
                way = by_turns(ways("list"), "way", text)
                yield program(f"{name}: {text}", f"{_START}r = {text}", operand("list", inside, way))


def of_exceptions(share: int = 1, which: int = 0) -> Iterator[Program]:
    """Each class of exceptions: raised, caught, its arguments, attributes and cause."""
    for name in exceptions():
        for lines in (
            f"try:\n    raise {name}(v, y)\nexcept {name} as error:\n    r = error.args, error.args[0] is v, str(error)",
            f"r = 0\ntry:\n    raise {name}(n) from KeyError(v)\nexcept Exception as error:\n    r = type(error), error.__cause__.args",
            f"raise {name}(n, 'a', v)",
        ):
            if turn("share", name, lines) % share == which:
                way = by_turns(ways("list"), "way", name, lines)
                yield program(f"{name}: {lines}", _START + lines, operand("list", "mixed", way))
