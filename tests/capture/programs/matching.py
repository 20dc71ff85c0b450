"""`match`: values, sequences, mappings, classes, guards, alternatives, captures, on Python values and tensors."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any

from tests.helpers.programs import case
from tests.helpers.values import f32, i64

from weft import ops

X = [f32(1.0, 2.0, -0.5), f32(-1.0, -2.0, 0.5)]


class Kind(enum.Enum):
    RELU = 1
    EXP = 2


@dataclasses.dataclass
class Layer:
    kind: str
    size: int


class Positional:
    __match_args__ = ("a", "b")

    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b


@case([(f32(1.0, 2.0), "relu"), (f32(-1.0, 2.0), "square"), (f32(1.0, 2.0), "twice"), (f32(1.0, 2.0), "other")])
def match_literal(x: Any, name: str) -> Any:
    match name:
        case "relu":
            return ops.relu(x)
        case "square" | "twice":
            return x * x
        case _:
            return x


@case(X)
def match_sequence(x: Any) -> Any:
    out = []
    for command in (["scale", 2.0], ["shift", 1.0, 2.0], ["stop"], [], ["many", 1, 2, 3]):
        match command:
            case ["scale", k]:
                out.append(x * k)
            case ["shift", a, c]:
                out.append(x + a + c)
            case ["many", *rest]:
                out.append(x * len(rest))
            case [only]:
                out.append(only)
            case []:
                out.append(None)
    return out


@case(X)
def match_mapping(x: Any) -> Any:
    out = []
    for config in ({"type": "dense", "units": 3}, {"type": "dropout"}, {"other": 1, "x": 2}):
        match config:
            case {"type": "dense", "units": n}:
                out.append(x * n)
            case {"type": kind}:
                out.append(kind)
            case {"other": k, **rest}:
                out.append((k, rest))
    return out


@case(X)
def match_class(x: Any) -> Any:
    out = []
    for item in (Layer("dense", 3), Layer("conv", 5), Positional(1, x), 7, "text", 2.5):
        match item:
            case Layer(kind="dense", size=n):
                out.append(x * n)
            case Layer(size=n):
                out.append(x + n)
            case Positional(1, v):
                out.append(v)
            case int(n):
                out.append(n)
            case str() | float():
                out.append("plain")
    return out


@case(X)
def match_guard_on_python(x: Any) -> Any:
    out = []
    for k in range(4):
        match k:
            case n if n > 2:
                out.append(x * n)
            case 0 | 1:
                out.append(x)
            case n:
                out.append(x - n)
    return out


@case(X)
def match_guard_on_tensor(x: Any) -> Any:
    match x.shape:
        case (3,) if x.sum() > 0:
            return x * 2
        case (3,):
            return x * 3
    return x


@case([(f32(1.0, 2.0), i64(0)), (f32(1.0, 2.0), i64(1)), (f32(1.0, 2.0), i64(5))], second_order=True)
def match_tensor_against_literals(x: Any, k: Any) -> Any:
    match k:
        case 0:
            return x * x
        case 1:
            return ops.exp(x)
        case _:
            return x * x * x


@case(X)
def match_enum_value(x: Any) -> Any:
    out = x
    for kind in Kind:
        match kind:
            case Kind.RELU:
                out = out + ops.relu(x)
            case Kind.EXP:
                out = out + ops.exp(x)
    return out


@case(X)
def match_nested_patterns(x: Any) -> Any:
    program = [("let", ("a", 2)), ("mul", {"by": 3}), ("end", None)]
    for step in program:
        match step:
            case ("let", (str(name), int(value) as v)):
                x = x + value * v * len(name)
            case ("mul", {"by": k}):
                x = x * k
            case (_, None):
                break
    return x


@case(X)
def match_without_a_case(x: Any) -> Any:
    match x.ndim:
        case 5:
            x = x * 100
    return x
