"""Classes derived from str and bytes with operators and texts of their own, and templates with run-time numbers."""

from __future__ import annotations

import datetime
import operator as op
from collections.abc import Callable
from typing import Any

import pytest

import weft
from weft import Tensor

X = Tensor([1.0, 2.0])


class S(str):
    def __add__(self, other):
        return "ADD"

    def __radd__(self, other):
        return "RADD"


class Reflected(str):
    def __radd__(self, other):
        return "RADD"


class Declining(str):
    def __add__(self, other):
        return NotImplemented


class Other(str):
    def __iadd__(self, other):
        return "IADD"

    def __mul__(self, other):
        return "MUL"

    def __rmul__(self, other):
        return "RMUL"

    def __mod__(self, other):
        return "MOD"

    def __rmod__(self, other):
        return "RMOD"

    def __eq__(self, other):
        return "EQ"

    def __lt__(self, other):
        return "LT"

    def __contains__(self, other):
        return True

    def __getitem__(self, key):
        return "ITEM"

    def __len__(self):
        return 77

    def __hash__(self):
        return 1

    def __iter__(self):
        return iter("xyz")


class Shown(str):
    def __str__(self):
        return "STR"


class Formatted(str):
    def __format__(self, spec):
        return "FORMAT" + spec

    def __repr__(self):
        return "REPR"


class Plain(str):
    pass


class B(bytes):
    def __add__(self, other):
        return "ADD"

    def __radd__(self, other):
        return "RADD"

    def __mul__(self, other):
        return "MUL"

    def __mod__(self, other):
        return "MOD"

    def __rmod__(self, other):
        return "RMOD"

    def __bytes__(self):
        return b"BY"


class PlainBytes(bytes):
    pass


TEXTS = (S, Reflected, Declining, Other, Shown, Formatted, Plain)
BYTES = (B, PlainBytes)


def added_in_place(a: Any, b: Any) -> Any:
    a += b
    return a


def multiplied_in_place(a: Any, b: Any) -> Any:
    a *= b
    return a


OPERATORS: tuple[Callable[[Any, Any], Any], ...] = (
    op.add, op.mul, op.mod, op.eq, op.lt, op.gt, op.ne, lambda a, b: b in a, op.iadd, op.imul, op.imod, op.concat,
    op.iconcat, lambda a, b: a + b, lambda a, b: a * b, lambda a, b: a % b, added_in_place, multiplied_in_place,
)  # fmt: skip
LOOKS: tuple[Callable[[Any], Any], ...] = (
    lambda a: f"{a}", lambda a: f"{a:>5}", lambda a: f"{a!r}", lambda a: f"{a!s}", lambda a: "{}".format(a),
    lambda a: "{:>5}".format(a), lambda a: "{!r:>5}".format(a), lambda a: "%s" % a, lambda a: "%5s|%r" % (a, a),
    lambda a: ",".join([a]), lambda a: ",".join([a, a]), lambda a: type(",".join([a])), lambda a: str(a),
    lambda a: type(str(a)), lambda a: repr(a), lambda a: a.join(["x", "y"]), lambda a: format(a),
    lambda a: type(format(a)), lambda a: a.upper(), lambda a: type(a + ""), lambda a: len(a), lambda a: list(a),
    lambda a: a[0], lambda a: a.format(1), lambda a: "{0[0]}".format(a), lambda a: a.replace("a", "b"),
    lambda a: "abc".replace(a, "q"), lambda a: "abc".startswith(a), lambda a: {a: 1}.get("a"),
    lambda a: sum([a], start=""), lambda a: str.join(a, ["u", "v"]), lambda a: str.__add__(a, "b"),
    lambda a: a.__add__("b"), lambda a: a.__class__.__name__, lambda a: [*a], lambda a: "a" in a, lambda a: a in "abc",
    lambda a: str.format("{}", a), lambda a: a.__str__(), lambda a: "{x:{w}}".format(x=a, w=4),
)  # fmt: skip
LOOKS_AT_BYTES: tuple[Callable[[Any], Any], ...] = (
    lambda a: b"%s" % a, lambda a: b",".join([a]), lambda a: bytes(a), lambda a: f"{a}", lambda a: type(a[:1]),
    lambda a: a.decode(), lambda a: b"%b|%a" % (a, a),
)  # fmt: skip
TEMPLATES: tuple[Callable[[Any], Any], ...] = (
    lambda n: "{:>{}}".format("a", int(n)), lambda n: "{:.{p}f}".format(1.5, p=int(n)),
    lambda n: "{:{}}|{:{}}".format("a", int(n), int(n), 5), lambda n: "{0:{1}} {1:{0}}".format(4, int(n)),
    lambda n: "{:>5} {!r} {!s:>4}".format(int(n), float(n), "é"), lambda n: "{!a}{}".format("é", int(n)),
    lambda n: "{0}{}".format(1, int(n)), lambda n: "{}{0}".format(1, int(n)), lambda n: "{}{}".format(int(n)),
    lambda n: "{a}".format(b=int(n)), lambda n: "{".format(int(n)), lambda n: "}".format(int(n)),
    lambda n: "{!x}".format(int(n)), lambda n: "{0.real}".format(int(n)), lambda n: "{0[1]}{0[0]}".format([1, int(n)]),
    lambda n: "{a[k]}{a[j]}".format(a={"k": int(n), "j": 2}), lambda n: "{:{:{}}}".format(1, 2, int(n)),
    lambda n: "{:d}{}".format("a", int(n)), lambda n: "{{}}{}".format(int(n)), lambda n: "{a}".format(**{"a": int(n)}),
    lambda n: "{:>{}}".format(n, 10), lambda n: "{}".format(n), lambda n: "{:.2f}".format(float(n)),
    lambda n: "{!r:>{}}".format("a", int(n)), lambda n: "{x:{y}}".format_map({"x": 1, "y": int(n)}),
    lambda n: "{}".format_map({"x": int(n)}), lambda n: "{0}".format_map({"x": int(n)}),
    lambda n: "{x[0]}{x.real}".format_map({"x": int(n)}), lambda n: "{y}".format_map({"x": int(n)}),
    lambda n: "{0.shape}".format(n), lambda n: "{:%Y}{}".format(datetime.date(2020, 1, 1), int(n)),
    lambda n: format(1.5, f".{int(n)}f"), lambda n: "%*d" % (int(n), 4), lambda n: "%.*f" % (int(n), 4.0),
    lambda n: f"{1.5:.{int(n)}f}", lambda n: "{:,}".format(int(n) * 100000), lambda n: "{:c}".format(int(n) + 70),
    lambda n: "a".ljust(int(n)) + "|", lambda n: "{}".format([int(n)]),
    lambda n: "{:x<{w}.{p}}".format("abcdef", w=int(n) + 3, p=int(n)), lambda n: "{.imag}".format(int(n)),
    lambda n: "{.x}".format(int(n)), lambda n: "{[5]}".format([int(n)]), lambda n: "{:{}}".format(int(n), "zz"),
    lambda n: "no field".format(int(n)), lambda n: str.format("{:{}}", 1, int(n)),
)  # fmt: skip


def answer(function: Any, *args: Any) -> Any:
    """What a call returns or raises."""
    try:
        found = function(*args)
    except Exception as error:
        return repr(error)
    found = found[-1] if isinstance(found, tuple) else found
    return type(found), str.__str__(found) if isinstance(found, str) else repr(found)


def compare(*programs: Any, value: Any = X) -> None:
    """Eager and compiled calls tell the same."""
    wrong = []
    for number, program in enumerate(programs):
        wanted, found = answer(program, value), answer(weft.jit(program), value)
        if wanted != found:
            wrong.append((number, wanted, found))
    assert not wrong


def beside(operator: Any, left: Any, right: Any) -> Any:
    return lambda x: (x * 1, operator(left, right))


def beside_a_text_of_the_graph(operator: Any, text: Any, first: bool) -> Any:
    if first:
        return lambda n: operator(text, f"{int(n)}")
    return lambda n: operator(f"{int(n)}", text)


def looking(look: Any, value: Any) -> Any:
    return lambda x: (x * 1, look(value))


@pytest.mark.parametrize("kind", TEXTS + BYTES)
def test_operators_of_derived_texts(kind: Any) -> None:
    text = issubclass(kind, str)
    one = kind("a") if text else kind(b"a")
    others = ("b", kind("c"), 2, Plain("q")) if text else (b"b", kind(b"c"), 2)
    compare(*[beside(o, *pair) for o in OPERATORS for other in others for pair in ((one, other), (other, one))])
    if text:
        programs = [beside_a_text_of_the_graph(o, one, first) for o in OPERATORS for first in (True, False)]
        compare(*programs, value=Tensor(3))


@pytest.mark.parametrize("kind", TEXTS + BYTES)
def test_texts_of_derived_texts(kind: Any) -> None:
    one = kind("a") if issubclass(kind, str) else kind(b"a")
    compare(*[looking(look, one) for look in (LOOKS if issubclass(kind, str) else LOOKS_AT_BYTES)])


def test_templates_with_run_time_numbers() -> None:
    compare(*TEMPLATES, value=Tensor(3))
