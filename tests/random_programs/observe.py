"""What a program has made of the objects that it can reach, in a form that two runs can be compared by."""

from __future__ import annotations

import enum
import math
import re
import types
from typing import Any, Final

import numpy as np

from weft import nn
from weft.core.tensor import Parameter, Tensor

#: name of the module that a program is; only objects of its classes are looked into
MODULE: Final = "random_program"
#: what stands for the value of a tensor that belongs to a graph, which nobody outside of it may see
UNREADABLE: Final = "a tensor of a graph:"
_NUMBER: Final = re.compile(r"-?\d+\.\d*(?:e[+-]?\d+)?")
_ADDRESS: Final = re.compile("0x[0-9a-f]+")


class Snapshot:
    """Everything reachable from some named objects: kinds, values, element types, which are the same object.

    Args:
        roots: the objects by name.
    """

    def __init__(self, roots: dict[str, Any]) -> None:
        self._first: dict[int, str] = {}
        self._alive: list[Any] = []
        self.form: dict[str, Any] = {name: self._form(obj, name) for name, obj in roots.items()}

    def _form(self, obj: Any, path: str) -> Any:
        if isinstance(obj, enum.Enum):
            return str(obj)
        if obj is None or type(obj) in (bool, int, float, complex, bytes, range):
            return obj
        if isinstance(obj, str):
            return obj if type(obj) is str else (type(obj).__name__, str(obj))
        if isinstance(obj, (types.FunctionType, types.BuiltinFunctionType, type, types.ModuleType)):
            return getattr(obj, "__name__", "")
        if type(obj) is tuple:  # equal tuples of constants may be one object or two
            return ("tuple", {f"[{i}]": self._form(item, f"{path}[{i}]") for i, item in enumerate(obj)})
        if id(obj) in self._first:
            return f"the same as {self._first[id(obj)]}"
        self._first[id(obj)] = path
        self._alive.append(obj)
        return (type(obj).__name__, self._parts(obj, path))

    def _parts(self, obj: Any, path: str) -> Any:
        if isinstance(obj, Tensor):
            more = (obj.name, obj.requires_grad) if isinstance(obj, Parameter) else ()
            try:
                values: Any = np.array(obj.asnumpy()).tolist()
            except Exception as error:
                values = f"{UNREADABLE} {type(error).__name__}"
            return (str(obj.dtype), list(obj.shape), values, *more)
        if isinstance(obj, np.ndarray):
            return (str(obj.dtype), list(obj.shape), obj.tolist())
        if isinstance(obj, np.generic):
            return (str(obj.dtype), obj.item())
        if isinstance(obj, BaseException):
            return (_ADDRESS.sub("0x", str(obj)), self._form(obj.__cause__, f"{path}.__cause__"))
        if isinstance(obj, list):
            return {f"[{i}]": self._form(item, f"{path}[{i}]") for i, item in enumerate(obj)}
        if isinstance(obj, dict):
            items = enumerate(obj.items())
            return {f"[{k!r}] (item {i})": (self._form(k, ""), self._form(v, f"{path}[{k!r}]")) for i, (k, v) in items}
        if isinstance(obj, (set, frozenset)):
            return sorted(map(repr, obj))
        if isinstance(obj, types.CellType):
            return self._form(obj.cell_contents, path)
        return {f".{name}": self._form(value, f"{path}.{name}") for name, value in self._attributes(obj)}

    def _attributes(self, obj: Any) -> list[tuple[str, Any]]:
        if isinstance(obj, nn.Cell):
            parameters = [(p.name, p) for p in obj.get_parameters()]
            names = object.__getattribute__(obj, "__dict__")
            return [*parameters, *((k, v) for k, v in names.items() if not k.startswith("_") and k != "param_prefix")]
        if type(obj).__module__ != MODULE:
            return []
        found = [(name, object.__getattribute__(obj, name)) for name in getattr(type(obj), "__slots__", ()) if name]
        try:
            return [*found, *object.__getattribute__(obj, "__dict__").items()]
        except AttributeError:
            return found


def difference(found: Any, expected: Any, path: str = "") -> str:
    """Where and how two forms differ first, "" if they do not: floats may differ by rounding.

    Args:
        found: of the compiled run.
        expected: of the eager run.
        path: where they are.
    """
    if isinstance(found, dict) and isinstance(expected, dict):
        for key in [*expected, *(key for key in found if key not in expected)]:
            if key not in found or key not in expected:
                return f"{path}{key}: only in {'eager' if key in expected else 'compiled'}"
            where = difference(found[key], expected[key], path + key)
            if where:
                return where
        return "" if list(found) == list(expected) else f"{path}: order {list(found)}, eager {list(expected)}"
    if isinstance(found, (list, tuple)) and type(found) is type(expected) and len(found) == len(expected):
        if all(difference(a, b) == "" for a, b in zip(found, expected, strict=True)):
            return ""
        deeper = [(a, b) for a, b in zip(found, expected, strict=True) if difference(a, b)]
        if all(isinstance(side, dict) or _has_parts(side) for pair in deeper for side in pair):
            return difference(*deeper[0], path)
        return f"{path}: {found!r}, eager {expected!r}"
    if _equal(found, expected):
        return ""
    return f"{path}: {found!r}, eager {expected!r}"


def _has_parts(form: Any) -> bool:
    return isinstance(form, tuple) and any(isinstance(part, dict) or _has_parts(part) for part in form)


def _equal(found: Any, expected: Any) -> bool:
    if type(found) is not type(expected):
        return False
    if isinstance(found, float):
        if math.isnan(found) or math.isnan(expected):
            return math.isnan(found) and math.isnan(expected)
        return found == expected or abs(found - expected) <= 1e-5 + 1e-4 * abs(expected)
    if isinstance(found, str) and found != expected:
        return same_text(found, expected)
    return bool(found == expected)


def same_text(found: str, expected: str) -> bool:
    """Whether two texts are equal but for rounding of the numbers in them."""
    found, expected = _ADDRESS.sub("0x", found), _ADDRESS.sub("0x", expected)
    if _NUMBER.sub("#", found) != _NUMBER.sub("#", expected):
        return False
    numbers = zip(_NUMBER.findall(found), _NUMBER.findall(expected), strict=True)
    return all(_equal(float(a), float(b)) for a, b in numbers)
