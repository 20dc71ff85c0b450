"""Tensors and arrays that tests begin with, and results spelled out or compared."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core.tensor import Parameter, Tensor

#: how closely two computations of one program agree
TOLERANCE = 1e-5


def f32(*values: Any) -> np.ndarray[Any, Any]:
    """A float32 array; one number gives a 0-dimensional one."""
    return np.asarray(values[0] if len(values) == 1 else values, np.float32)


def f64(*values: Any) -> np.ndarray[Any, Any]:
    """A float64 array; one number gives a 0-dimensional one."""
    return np.asarray(values[0] if len(values) == 1 else values, np.float64)


def i64(*values: Any) -> np.ndarray[Any, Any]:
    """An int64 array; one number gives a 0-dimensional one."""
    return np.asarray(values[0] if len(values) == 1 else values, np.int64)


def i32(*values: Any) -> np.ndarray[Any, Any]:
    """An int32 array; one number gives a 0-dimensional one."""
    return np.asarray(values[0] if len(values) == 1 else values, np.int32)


def b(*values: Any) -> np.ndarray[Any, Any]:
    """A bool array; one value gives a 0-dimensional one."""
    return np.asarray(values[0] if len(values) == 1 else values, np.bool_)


def x(*values: float) -> Tensor:
    """A vector of single precision, by default of two elements."""
    return Tensor(np.asarray(values or (1.0, 2.0), np.float32))


def normals(seed: int = 0) -> Callable[..., np.ndarray[Any, Any]]:
    """A function that draws float32 arrays of given sizes, the same ones in each run."""
    generator = np.random.default_rng(seed)

    def normal(*shape: int) -> np.ndarray[Any, Any]:
        return generator.standard_normal(shape).astype(np.float32)

    return normal


def tensors(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments with fresh tensors in place of arrays, containers included."""

    def convert(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return Tensor(value)
        if type(value) in (list, tuple):
            return type(value)(convert(item) for item in value)
        if type(value) is dict:
            return {key: convert(item) for key, item in value.items()}
        return value

    return tuple(convert(arg) for arg in args)


def snapshot(value: Any) -> Any:
    """A value as it is now, whatever the program writes later; waits for what was dispatched, prints included."""
    if isinstance(value, Parameter):
        return Parameter(Tensor(value.asnumpy()), name=value.name, requires_grad=value.requires_grad)
    if isinstance(value, Tensor):
        return Tensor(value.asnumpy())
    if type(value) in (list, tuple, set, frozenset):
        return type(value)(snapshot(item) for item in value)
    if type(value) is dict:
        return {key: snapshot(item) for key, item in value.items()}
    return value


def plain(value: Any, decimals: int | None = None) -> Any:
    """A value spelled out, so that `==` compares it: tensors, containers and objects with all that is in them.

    Args:
        value: what to spell out.
        decimals: how many decimals of a tensor's floats count; None compares every bit but the sign of NaN.

    Returns:
        Any: tensors as their element type and lists, objects as their class and attributes, each NaN as the same one.
    """
    if isinstance(value, Tensor):
        array = np.array(value)
        if decimals is not None:
            array = array.astype(np.float64).round(decimals) + 0.0  # what rounds to zero has no sign
        return str(value.dtype), plain(array.tolist())
    if isinstance(value, float) and math.isnan(value):
        return math.nan
    if type(value) in (list, tuple):
        return type(value)(plain(item, decimals) for item in value)
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [plain(item, decimals) for item in value]
    if isinstance(value, dict):
        return type(value).__name__, {key: plain(item, decimals) for key, item in value.items()}
    if hasattr(value, "__dict__") and not isinstance(value, type) and not callable(value):
        return type(value).__name__, {key: plain(item, decimals) for key, item in vars(value).items()}
    return value


def values(tensor: Tensor) -> Any:
    """The elements of a tensor as nested lists."""
    return tensor.asnumpy().tolist()


def close(found: Any, wanted: Any, rtol: float = 1e-6, atol: float = 0.0) -> None:
    """Assert that a tensor has a value with the shape of an array and nearly its elements."""
    wanted = np.asarray(wanted)
    assert isinstance(found, Tensor)
    assert found._node is None, "the tensor stands for a value of a graph"
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found.asnumpy(), wanted, rtol, atol)


def same(
    found: Any, expected: Any, where: str = "result", tolerance: float = TOLERANCE, seen: set[int] | None = None
) -> None:
    """Assert that two results are equal in structure, types and values."""
    seen = set() if seen is None else seen
    if isinstance(expected, Tensor):
        assert isinstance(found, Tensor), f"{where}: {type(found).__name__} {found!r}, not a Tensor {expected!r}"
        assert isinstance(found, Parameter) == isinstance(expected, Parameter), f"{where}: {type(found).__name__}"
        assert found.dtype == expected.dtype, f"{where}: dtype {found.dtype}, not {expected.dtype}"
        assert found.shape == expected.shape, f"{where}: shape {found.shape}, not {expected.shape}"
        np.testing.assert_allclose(
            found.asnumpy(), expected.asnumpy(), rtol=tolerance, atol=tolerance, err_msg=where, equal_nan=True
        )
        return
    kinds = type(found), type(expected)
    assert kinds[0] is kinds[1] or kinds[0].__qualname__ == kinds[1].__qualname__, (
        f"{where}: {kinds[0].__name__} {found!r}, not {kinds[1].__name__} {expected!r}"
    )
    if id(expected) in seen:
        return
    if isinstance(expected, (list, tuple)):
        seen.add(id(expected))
        assert len(found) == len(expected), f"{where}: {len(found)} items, not {len(expected)}"
        for index, (a, e) in enumerate(zip(found, expected, strict=True)):
            same(a, e, f"{where}[{index}]", tolerance, seen)
    elif isinstance(expected, dict):
        seen.add(id(expected))
        assert list(found) == list(expected), f"{where}: keys {list(found)}, not {list(expected)}"
        for key, e in expected.items():
            same(found[key], e, f"{where}[{key!r}]", tolerance, seen)
    elif isinstance(expected, float):
        assert math.isclose(found, expected, rel_tol=tolerance, abs_tol=tolerance) or found != found != expected, (
            f"{where}: {found}, not {expected}"
        )
    elif hasattr(expected, "__dict__") and not callable(expected) and not isinstance(expected, enum.Enum):
        seen.add(id(expected))
        same(vars(found), vars(expected), where + ".__dict__", tolerance, seen)
    elif not callable(expected):
        assert found == expected, f"{where}: {found!r}, not {expected!r}"
