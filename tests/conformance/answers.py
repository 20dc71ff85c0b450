"""What a call answers, as JSON, and when two answers agree."""

from __future__ import annotations

import builtins
import cmath
import inspect
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np

from tests.conformance.inputs import ShapeOnly

HERE = Path(__file__).parent
#: elements of a tensor that are kept; of larger ones as many, evenly spread
KEPT = 32
#: relative tolerance by element type; absolute where results cancel
TOLERANCE = {"float16": 4e-3, "bfloat16": 2e-2, "float32": 2e-4, "complex64": 2e-4, "float64": 2e-4, "complex128": 2e-4}
#: classes of element types in MindSpore
_TYPE_CLASSES = frozenset(
    {"Bool", "Int", "UInt", "Float", "BFloat", "Complex", "String", "Number", "TypeNone", "TensorType"}
)
#: what sparse tensors consist of
_SPARSE = {
    "COOTensor": ("indices", "values", "shape"),
    "CSRTensor": ("indptr", "indices", "values", "shape"),
    "RowTensor": ("indices", "values", "dense_shape"),
    "RowTensorInner": ("indices", "values", "dense_shape"),
}
#: digits that are kept of an element
DIGITS = {"float16": 4, "bfloat16": 3}
#: what MindSpore says where the CPU has no kernel for an operation or an element type
NO_KERNEL = re.compile(
    r"Select CPU operator|[Uu]nsupported op \[|kernel \w+ unregistered|Create kernelmod for op|"
    r"not supported on this device|"
    r"Unsupported data type|not support(?:ed)? (?:on |in |by )?(?:the )?CPU|Not implement exception|"
    r"unsupported reduce operation for bool|"
    r"bad_function_call|Not found op |KernelMod Init Failed|does not support this kernel data type|"
    r"Framework Unexpected|"
    r"For Round only support|CPU Device is not supported|has no attr:__infer__|[Oo]nly support\w* .{0,20}Ascend"
)


def _number(value: Any, digits: int) -> Any:
    if isinstance(value, complex):
        return [_number(value.real, digits), _number(value.imag, digits)]
    if isinstance(value, float):
        return float(f"{value:.{digits}g}") if math.isfinite(value) else str(value)
    return value


def _elements(found: np.ndarray[Any, Any], name: str) -> Any:
    flat = found.ravel()
    if flat.size > KEPT:
        flat = flat[np.linspace(0, flat.size - 1, KEPT).astype(int)]
    if name == "bfloat16":
        flat = flat.astype(np.float32)
    return [_number(each, DIGITS.get(name, 6)) for each in flat.tolist()]


def _type_name(dtype: Any) -> str:
    """``float32``, whatever class stands for element types."""
    return re.sub(r"^mindspore\.|^tensor_type\.|_$", "", str(dtype)).lower().replace("bool_", "bool")


def _tensor(value: Any, kind: str, elements: bool) -> Any:
    found = value.asnumpy()  # waits for the computation, which may fail
    name = _type_name(value.dtype)
    answer = [kind, name, list(value.shape)]
    return [*answer, _elements(found, name)] if elements else answer


def encoded(value: Any, names: dict[str, Any], elements: bool = True) -> Any:
    """An answer as lists, texts and numbers."""
    if isinstance(value, ShapeOnly):
        return encoded(value.value, names, elements=False)
    ms = names["ms"]
    sparse = _SPARSE.get(type(value).__name__)
    if sparse is not None:
        return ["tuple", [encoded(getattr(value, each), names, elements) for each in sparse]]
    if isinstance(value, ms.Parameter):
        return _tensor(value, "Parameter", elements)
    if isinstance(value, ms.Tensor):
        return _tensor(value, "Tensor", elements)
    if isinstance(value, (tuple, list)):
        kind = "list" if isinstance(value, list) else "tuple"
        return [kind, [encoded(each, names, elements) for each in value]]
    if isinstance(value, dict):
        return ["dict", [[str(key), encoded(each, names, elements)] for key, each in value.items()]]
    if isinstance(value, np.floating):
        value = float(value)
    if value is None or isinstance(value, (bool, int, float, complex)):
        return [type(value).__name__, _number(value, 6) if elements else None]
    if isinstance(value, str):
        return ["str", value[:60]]
    if isinstance(value, (np.ndarray, np.generic)):
        found = np.asarray(value)
        return [
            "ndarray",
            str(found.dtype),
            list(found.shape),
            _elements(found, str(found.dtype)) if elements else None,
        ]
    if "dtype" in type(value).__module__ or type(value).__name__ in _TYPE_CLASSES:
        return ["dtype", _type_name(value)]
    return ["object", "method" if inspect.isbuiltin(value) else type(value).__name__]


def _nearest(kind: type) -> list[str]:
    """Python's own classes that an exception is of: the nearest one, and others that it does not derive from."""
    found: list[type] = []
    for each in kind.__mro__:
        if vars(builtins).get(each.__name__) is each and not any(issubclass(known, each) for known in found):
            found.append(each)
    return [each.__name__ for each in found]


def answer(call: str, names: dict[str, Any]) -> Any:
    """What a call gives, or the classes of what it raises."""
    try:
        return encoded(eval(call, dict(names)), names)
    except Exception as error:
        if isinstance(error, AttributeError) and error.name and re.search(rf"\.{error.name}\b", call):
            return ["no name", error.name]
        return ["no kernel" if NO_KERNEL.search(str(error)) else "raises", *_nearest(type(error))]


def _close(found: Any, expected: Any, tolerance: float, scale: float) -> bool:
    if isinstance(expected, list) and isinstance(found, list):
        return _close(complex(*map(float, found)), complex(*map(float, expected)), tolerance, scale)
    if isinstance(expected, complex):
        if not cmath.isfinite(expected) or not cmath.isfinite(found):
            return not cmath.isfinite(expected) and not cmath.isfinite(found)
        return abs(found - expected) <= tolerance * max(abs(expected), scale)
    found, expected = float(found), float(expected)
    if math.isnan(expected) or math.isnan(found):
        return math.isnan(expected) and math.isnan(found)
    return found == expected or abs(found - expected) <= tolerance * max(abs(expected), scale)


def _elements_differ(found: Any, expected: Any, name: str) -> bool:
    """Float results agree up to the tolerance of the type, relative to the element or to a tenth of the largest one."""
    if name not in TOLERANCE:
        return bool(found != expected)
    sizes = [abs(complex(*map(float, e)) if isinstance(e, list) else float(e)) for e in expected]
    scale = max([size for size in sizes if math.isfinite(size)], default=0.0) / 10
    return not all(_close(f, e, TOLERANCE[name], max(scale, 1e-3)) for f, e in zip(found, expected, strict=True))


def difference(found: Any, expected: Any) -> str:
    """In a word, how an answer differs from what MindSpore answers, "" where it does not."""
    if "raises" in (found[0], expected[0]):
        return _raised(found, expected)
    if found[0] != expected[0]:
        return f"kind: {found[0]}, not {expected[0]}"
    if found[0] in ("tuple", "list"):
        if len(found[1]) != len(expected[1]):
            return f"length: {len(found[1])}, not {len(expected[1])}"
        return next(filter(None, map(difference, found[1], expected[1])), "")
    if found[0] in ("Tensor", "Parameter", "ndarray"):
        if found[1] != expected[1]:
            return f"dtype: {found[1]}, not {expected[1]}"
        if found[2] != expected[2]:
            return f"shape: {found[2]}, not {expected[2]}"
        if len(expected) > 3 and expected[3] is not None and _elements_differ(found[3], expected[3], found[1]):
            return "values"
        return ""
    if found[0] == "float" and expected[1] is not None:
        return "" if _close(found[1], expected[1], 1e-4, 1e-3) else "values"
    return "" if found == expected else "values"


def _raised(found: Any, expected: Any) -> str:
    """Whether a handler that names the class that MindSpore raises catches the one that was raised."""
    if found[0] != "raises":
        return f"answers, where {expected[1]} is raised"
    if expected[0] != "raises":
        return f"raises {found[1]}"
    theirs = getattr(builtins, expected[1])
    # kernels of MindSpore raise RuntimeError for whatever is wrong
    fits = any(issubclass(getattr(builtins, mine), theirs) for mine in found[1:]) or theirs is RuntimeError
    return "" if fits else f"raises {found[1]}, not {expected[1]}"


def table() -> list[tuple[str, str, Any]]:
    """Group, call and MindSpore's answer, in the order of the table."""
    lines = (HERE / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    return [tuple(json.loads(line)) for line in lines]
