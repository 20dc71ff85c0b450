"""How a value that changes from call to call reaches an operation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

#: tensor argument of programs whose operand does not come from it, for each call
PLAIN: Final = tuple(f"Tensor(np.array([{k}.5, 2., 3.], np.float32))" for k in range(4))


@dataclass(frozen=True)
class Operand:
    """A value `v` that differs in each of four calls.

    Attributes:
        name: what reports call it.
        family: which constants fit beside it.
        values: expressions of the value in each call, empty for what comes from the tensor.
        tensors: expressions of the tensor argument `x` in each call.
        code: statements of the program that bind `v`, after `y`.
        before: statements run before each call, in which `value` is the new value.
        arguments: parameters of the program besides `x`.
        passed: expressions of the arguments for these parameters.
        small: whether no value is too large to count up to.
    """

    name: str
    family: str
    values: tuple[str, ...]
    tensors: tuple[str, ...] = PLAIN
    code: tuple[str, ...] = ()
    before: str = ""
    arguments: str = "v"
    passed: str = "value"
    small: bool = True


#: values of each kind, by name: family and expressions
VALUES: Final[dict[str, tuple[str, tuple[str, str, str, str]]]] = {
    "int": ("int", ("0", "1", "-1", "2**70")),
    "small int": ("int", ("0", "1", "3", "2")),
    "bool": ("int", ("True", "False", "True", "False")),
    "float": ("float", ("0.0", "-0.0", "math.nan", "math.inf")),
    "plain float": ("float", ("1.5", "-2.25", "7.0", "0.1")),
    "complex": ("float", ("0j", "complex(1, -0.0)", "complex(math.nan, 1)", "1+2j")),
    "equal numbers": ("int", ("1", "True", "1.0", "1+0j")),
    "zeros": ("int", ("0", "False", "0.0", "-0.0")),
    "str": ("str", ("''", "'a'", "'ba'", "'1'")),
    "bytes": ("bytes", ("b''", "b'a'", "b'ba'", "b'1'")),
    "bytearray": ("bytes", ("bytearray(b'')", "bytearray(b'a')", "bytearray(b'ba')", "bytearray(b'1')")),
    "tuple": ("tuple", ("()", "(1,)", "(1, 2)", "(2, 1)")),
    "equal tuples": ("tuple", ("(0, 1)", "(False, 1)", "(0.0, True)", "(-0.0, 1)")),
    "list": ("list", ("[]", "[1]", "[1, 2]", "[2, 1]")),
    "dict": ("dict", ("{}", "{'a': 1}", "{'a': 2, 'b': 1}", "{'b': 1, 'a': 2}")),
    "set": ("set", ("set()", "{1}", "{1, 2}", "{2, 3}")),
    "frozenset": ("set", ("frozenset()", "frozenset({1})", "frozenset({1, 2})", "frozenset({2, 3})")),
    "range": ("range", ("range(0)", "range(3)", "range(1, 4)", "range(3, 0, -1)")),
    "slice": ("slice", ("slice(None)", "slice(1)", "slice(1, 3)", "slice(None, None, -1)")),
    "object": ("object", ("P(1)", "P(2)", "P(True)", "P('a')")),
    "special object": ("object", ("S(0)", "S(1)", "S(True)", "S('a')")),
    "dataclass": ("object", ("D(1)", "D(2)", "D(True)", "D('a', 1)")),
    "array": ("array", ("np.array([1, 2])", "np.array([2, 1])", "np.array([0, 0])", "np.array([1, 3])")),
    "scalar": ("array", ("np.float64(1.5)", "np.float64(-0.0)", "np.int64(2)", "np.bool_(True)")),
    "nested": (
        "dict",
        ("{'a': [1, {'b': (1, 2)}]}", "{'a': [1, {'b': (2, 1)}]}", "{'a': [1, {}]}", "{'a': [True, {'b': (1, 2.0)}]}"),
    ),
    "list of objects": ("list", ("[P(1), P(2)]", "[P(2), P(2)]", "[P([1])]", "[]")),
    "type": ("type", ("int", "bool", "float", "(int, str)")),
    "exception class": ("type", ("ValueError", "KeyError", "(ValueError, KeyError)", "ArithmeticError")),
    "optional": ("int", ("None", "0", "None", "1")),
    "named tuple": ("tuple", ("NT(1, 2)", "NT(2, 1)", "NT(1, True)", "NT((), 2)")),
    "own int": ("int", ("Num(1)", "Num(0)", "1", "Num(2)")),
    "enum": ("object", ("E.ZERO", "E.ONE", "E.TEXT", "E.HALF")),
    "callable": ("callable", ("abs", "str", "same", "lambda a: a")),
}

#: values that are too large to count up to
LARGE: Final = {"int"}


def _tensors(*values: object, dtype: str) -> tuple[str, ...]:
    return tuple(f"Tensor(np.array([{value}, 2, 3], np.{dtype}))" for value in values)


_INTS = _tensors(0, 1, -1, 2**62, dtype="int64")
_SMALL = _tensors(0, 1, 3, 2, dtype="int64")
_FLOATS = _tensors("0.0", "-0.0", "math.nan", "math.inf", dtype="float64")
_PLAIN_FLOATS = _tensors(1.5, -2.25, 7.0, 0.1, dtype="float64")
_SIGNS = _tensors(-1.0, 2.0, 0.5, -3.0, dtype="float32")
_SIZES = tuple(f"Tensor(np.arange({size}, dtype=np.float32))" for size in (1, 3, 2, 5))

#: operands that only the running graph knows: family, tensors, statements that bind `v`, whether small
RUN_TIME: Final[dict[str, tuple[str, tuple[str, ...], tuple[str, ...], bool]]] = {
    "run-time int": ("int", _INTS, ("v = int(x[0])",), False),
    "run-time small int": ("int", _SMALL, ("v = int(x[0])",), True),
    "run-time item": ("int", _SMALL, ("v = x[0].item()",), True),
    "run-time argmax": (
        "int",
        tuple(f"Tensor(np.array({v}, np.float32))" for v in ([9, 1, 0, 0], [0, 9, 0, 0], [0, 0, 0, 9], [0, 0, 9, 0])),
        ("v = int(x.argmax())",),
        True,
    ),
    "run-time sum": ("int", _SMALL, ("v = int(x.sum()) - 5",), True),
    "run-time huge": ("int", _INTS, ("v = int(x[0]) * 2**40",), False),
    "run-time float": ("float", _FLOATS, ("v = float(x[0])",), True),
    "run-time plain float": ("float", _PLAIN_FLOATS, ("v = float(x[0])",), True),
    "run-time float32": ("float", _tensors(0.1, 1.5, -2.25, 7.0, dtype="float32"), ("v = float(x[0])",), True),
    "run-time float item": ("float", _PLAIN_FLOATS, ("v = x[0].item()",), True),
    "run-time bool": ("int", _SIGNS, ("v = bool(x[0] > 0)",), True),
    "run-time complex": ("float", _PLAIN_FLOATS, ("v = complex(float(x[0]), 2.0)",), True),
    "branch int": ("int", _SIGNS, ("if x[0] > 0:", "    v = 1", "else:", "    v = 2"), True),
    "branch types": ("int", _SIGNS, ("if x[0] > 0:", "    v = 1", "else:", "    v = 2.0"), True),
    "branch str": ("str", _SIGNS, ("if x[0] > 0:", "    v = 'a'", "else:", "    v = 'ba'"), True),
    "branch list": ("list", _SIGNS, ("if x[0] > 0:", "    v = [1]", "else:", "    v = [2, 1]"), True),
    "branch tuple": ("tuple", _SIGNS, ("v = (1, 2) if x[0] > 0 else (2, 1)",), True),
    "branch dict": ("dict", _SIGNS, ("v = {'a': 1} if x[0] > 0 else {'a': 2}",), True),
    "loop int": ("int", _SMALL, ("v = 0", "while x[0] > v:", "    v += 1"), True),
    "loop float": ("float", _SMALL, ("v = 0.5", "n = 0", "while x[0] > n:", "    n += 1", "    v = v * 2"), True),
    "size": ("int", _SIZES, ("v = x.shape[0]",), True),
    "length": ("int", _SIZES, ("v = len(x)",), True),
    "shape": ("tuple", _SIZES, ("v = x.shape",), True),
    "tensor": ("tensor", _PLAIN_FLOATS, ("v = x[:2]",), True),
    "int tensor": ("tensor", _SMALL, ("v = x[0]",), True),
    "argument tensor": ("tensor", _PLAIN_FLOATS, ("v = x",), True),
    "list of run-time": ("list", _SMALL, ("v = [int(x[0]), 1]",), True),
    "tuple of run-time": ("tuple", _SMALL, ("v = (int(x[0]), 1)",), True),
    "dict of run-time": ("dict", _SMALL, ("v = {'a': int(x[0])}",), True),
    "object of run-time": ("object", _SMALL, ("v = P(int(x[0]))",), True),
    "list of tensors": ("list", _PLAIN_FLOATS, ("v = [x[0], y]",), True),
    "dict of tensors": ("dict", _PLAIN_FLOATS, ("v = {'a': y}",), True),
}

#: ways in which a value from outside arrives: statements, before a call, parameters, arguments
ARRIVALS: Final[dict[str, tuple[tuple[str, ...], str, str, str]]] = {
    "argument": ((), "", "v", "value"),
    "attribute": (("v = o.k",), "", "o", "P(value)"),
    "kept attribute": (("v = O.k",), "O.k = value", "", ""),
    "nested": (("v = o.k['a'][0]",), "", "o", "P({'a': [value, 2]})"),
    "item": (("v = c[1]",), "", "c", "[0, value]"),
    "global": (("v = G",), "globals()['G'] = value", "", ""),
    "closure": (("v = cell",), "CELL(value)", "", ""),
    "default": (("v = given()",), "given.__defaults__ = (value,)", "", ""),
    "keyword": ((), "", "*, v", "v=value"),
    "starred": (("v = args[0]",), "", "*args", "value"),
    "iterated": (("for v in c:", "    pass"), "", "c", "(0, value)"),
    "kept": ((), "KEEP(value)", "v", "KEPT[type(value)]"),
}

#: constants that stand beside an operand of a family, the most fitting first
CONSTANTS: Final[dict[str, tuple[str, ...]]] = {
    "int": ("3", "1.5", "0", "NUMBERS"),
    "float": ("2", "1.5", "0.0", "NUMBERS"),
    "str": ("'a'", "'%s-{}'", "1", "TABLE"),
    "bytes": ("b'a'", "1", "b'%s'", "TABLE"),
    "tuple": ("(1, 2)", "1", "[1, 2, 3]", "TABLE"),
    "list": ("[1, 2]", "1", "(1, 2, 3)"),
    "dict": ("{'a': 1}", "'a'", "['a']"),
    "set": ("{1, 5}", "1", "[1, 2]"),
    "range": ("range(3)", "1", "[0, 1]"),
    "slice": ("slice(1)", "[1, 2, 3]", "'abc'"),
    "object": ("1", "'k'", "P", "[1, 2]"),
    "array": ("2", "np.array([1, 2])", "1.5"),
    "type": ("1", "True", "'a'", "1.5"),
    "callable": ("[1, -2]", "-1"),
    "tensor": ("2", "1.5", "Tensor([1.0, 2.0])", "0"),
}

#: kinds whose objects can be kept and written to between calls
_KEPT: Final = {"list", "dict", "set", "object", "special object", "dataclass", "array", "nested", "bytearray"}


def outside(kind: str, arrival: str) -> Operand:
    """The operand of a kind of value that arrives from outside the program in one of the ways."""
    family, values = VALUES[kind]
    code, before, arguments, passed = ARRIVALS[arrival]
    name = kind if arrival == "argument" else f"{kind} ({arrival})"
    return Operand(name, family, values, PLAIN, code, before, arguments, passed, kind not in LARGE)


def run_time(kind: str) -> Operand:
    """The operand of a kind that only the running graph knows."""
    family, tensors, code, small = RUN_TIME[kind]
    return Operand(kind, family, (), tensors, code, "", "", "", small)


def arrivals(kind: str) -> tuple[str, ...]:
    """The ways in which values of a kind can arrive, apart from being the argument."""
    return tuple(name for name in ARRIVALS if name != "argument" and (name != "kept" or kind in _KEPT))
