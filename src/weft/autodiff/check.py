"""`check_grads`: compare the derivatives of a function with finite differences, to any order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.autodiff.grad import GradFunction, jvp
from weft.autodiff.tree import map_tensors, tensors_of
from weft.core.tensor import Tensor


def check_grads(
    fn: Callable[..., Any],
    args: Any,
    order: int = 2,
    modes: Sequence[str] = ("rev",),
    eps: float = 1e-5,
    rtol: float = 1e-5,
    atol: float = 1e-6,
    max_elements: int = 64,
    seed: int = 0,
) -> None:
    """Check the derivatives of a function against central differences in double precision.

    Args:
        fn: function of tensors, or of nested tuples, lists and dicts of tensors; smooth near the arguments.
        args: its arguments as a tuple, or one argument. Floating point tensors are differentiated, as float64.
        order: how many times to differentiate.
        modes: "rev" checks gradients, "fwd" products with the Jacobian.
        eps: step of the finite differences.
        rtol: tolerated error relative to the value.
        atol: tolerated absolute error.
        max_elements: at most so many elements of each tensor are checked, drawn at random.
        seed: of the random weights of the outputs and the random elements.

    Raises:
        AssertionError: a derivative differs; the message names the order, the argument and the element.
        ValueError: a mode is unknown, or there is nothing to differentiate.

    Example:
        >>> check_grads(lambda x, y: x * y * y, (Tensor([1.0, 2.0]), Tensor([0.5, -1.0])))
    """
    if not isinstance(args, tuple):
        args = (args,)
    for mode in modes:
        if mode not in ("rev", "fwd"):
            raise ValueError(f"check_grads: modes are 'rev' and 'fwd', not {mode!r}")
    exact = map_tensors(_exact, args)
    if not any(_is_real(tensor) for tensor in tensors_of(exact)):
        raise ValueError("check_grads: no argument is a floating point tensor, so there is nothing to differentiate")
    _check(fn, exact, 1, order, modes, eps, rtol, atol, max_elements, np.random.default_rng(seed))


def _check(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    current: int,
    order: int,
    modes: Sequence[str],
    eps: float,
    rtol: float,
    atol: float,
    max_elements: int,
    rng: np.random.Generator,
) -> None:
    out = fn(*args)
    weights = map_tensors(lambda tensor: Tensor(_random(rng, tensor)), out)
    weight_arrays = [np.array(tensor) for tensor in tensors_of(weights)]
    inputs = tensors_of(args)
    labels = [label for i, arg in enumerate(args) for label in _labels(arg, f"argument {i}")]

    def objective(values: Sequence[Tensor]) -> float:
        rest = iter(values)
        outputs = tensors_of(fn(*map_tensors(lambda _: next(rest), args)))
        return float(sum((np.array(o) * w).sum() for o, w in zip(outputs, weight_arrays, strict=True)))

    positions = tuple([i for i, arg in enumerate(args) if tensors_of(arg)])

    def gradient(*values: Any) -> list[Tensor]:
        found = GradFunction(fn, positions, False, None, sens=True)(*values, weights)
        return [g for g, x in zip(tensors_of(found), inputs, strict=True) if _is_real(x)]

    if "rev" in modes:
        gradients = iter(gradient(*args))
        for index, (x, label) in enumerate(zip(inputs, labels, strict=True)):
            if not _is_real(x):
                continue
            found = next(gradients)
            where = f"check_grads: order {current}, {label}"
            if found.shape != x.shape:
                raise AssertionError(f"{where}: the gradient has shape {found.shape}, the tensor {x.shape}")
            computed = np.array(found)
            for element in _elements(rng, x.shape, max_elements):
                expected = _difference(objective, inputs, index, element, eps)
                _compare(computed[element], expected, f"{where}, element {element}", rtol, atol)
    if "fwd" in modes:
        tangents = [Tensor(_random(rng, x)) for x in inputs]
        rest = iter(tangents)
        _, pushed = jvp(fn, args, map_tensors(lambda _: next(rest), args))
        computed_sum = sum((np.array(t) * w).sum() for t, w in zip(tensors_of(pushed), weight_arrays, strict=True))
        ahead, behind = (
            [Tensor(np.array(x) + sign * eps * np.array(t)) for x, t in zip(inputs, tangents, strict=True)]
            for sign in (1, -1)
        )
        expected = (objective(ahead) - objective(behind)) / (2 * eps)
        _compare(computed_sum, expected, f"check_grads: order {current}, along a random direction", rtol, atol)
    if current < order:
        _check(gradient, args, current + 1, order, modes, eps, rtol, atol, max_elements, rng)


def _difference(
    objective: Callable[[Sequence[Tensor]], float],
    inputs: Sequence[Tensor],
    index: int,
    element: tuple[int, ...],
    eps: float,
) -> float:
    values = []
    for sign in (1, -1):
        moved = np.array(inputs[index])
        moved[element] += sign * eps
        values.append(objective([*inputs[:index], Tensor(moved), *inputs[index + 1 :]]))
    return (values[0] - values[1]) / (2 * eps)


def _compare(computed: Any, expected: float, where: str, rtol: float, atol: float) -> None:
    if not abs(computed - expected) <= atol + rtol * max(abs(expected), abs(computed)):
        raise AssertionError(f"{where}: the derivative is {computed:.9g}, finite differences give {expected:.9g}")


def _is_real(tensor: Tensor) -> bool:
    return tensor.dtype.is_floating


def _exact(tensor: Tensor) -> Tensor:
    return Tensor(np.array(tensor).astype(np.float64)) if _is_real(tensor) else tensor


def _random(rng: np.random.Generator, tensor: Tensor) -> Any:
    """Random numbers in the shape and type of a tensor, zero where it is not real."""
    if not _is_real(tensor):
        return np.zeros(tensor.shape, tensor.dtype.np_dtype)
    return rng.uniform(0.5, 1.5, tensor.shape) * rng.choice([-1.0, 1.0], tensor.shape)


def _elements(rng: np.random.Generator, shape: tuple[int, ...], most: int) -> list[tuple[int, ...]]:
    every = list(np.ndindex(shape))
    if len(every) <= most:
        return every
    return [every[i] for i in rng.choice(len(every), most, replace=False)]


def _labels(value: Any, where: str) -> list[str]:
    if isinstance(value, Tensor):
        return [where]
    if isinstance(value, (tuple, list)):
        return [label for i, item in enumerate(value) for label in _labels(item, f"{where}[{i}]")]
    if isinstance(value, dict):
        return [label for key, item in value.items() for label in _labels(item, f"{where}[{key!r}]")]
    return []


__all__ = ["check_grads"]
