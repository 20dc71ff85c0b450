"""Operator classes behind mint: each against the function of mint, and recorded answers of MindSpore 2.10."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import weft
import weft.mindspore
from weft import Parameter, Tensor, jit, mint, ops
from weft.mint import extended, functional
from weft.mint.rows import parse

X = Tensor([[3.0, 1.0, 2.0], [4.0, 6.0, 5.0]])
WHOLE = Tensor([[1, 2, 3], [4, 5, 6]], weft.int32)
FIRST = Tensor([[1, 0], [1, 1]])


def flat(found: Any) -> list[Any]:
    return [each.tolist() for each in found] if isinstance(found, (tuple, list)) else [found.tolist()]


#: what MindSpore 2.10 answered on a CPU: operator, its constructor's arguments, those of the call, the results
RECORDED: tuple[tuple[str, tuple[Any, ...], tuple[Any, ...], list[Any]], ...] = (
    ("AddExt", (), (X, X, 2), [[[9.0, 3.0, 6.0], [12.0, 18.0, 15.0]]]),
    ("AddExt", (), (X, X), [[[6.0, 2.0, 4.0], [8.0, 12.0, 10.0]]]),
    ("SubExt", (), (X, X, 3), [[[-6.0, -2.0, -4.0], [-8.0, -12.0, -10.0]]]),
    ("SumExt", (), (X,), [21.0]),
    ("SumExt", (), (X, ()), [21.0]),
    ("SumExt", (), (X, 1, True), [[[6.0], [15.0]]]),
    ("SumExt", (), (WHOLE,), [21]),
    ("MeanExt", (), (X, 1), [[2.0, 5.0]]),
    ("SplitWithSize", (), (X, (1, 2), 1), [[[3.0], [4.0]], [[1.0, 2.0], [6.0, 5.0]]]),
    ("SplitWithSize", (), (X, [1, 2], 1), [[[3.0], [4.0]], [[1.0, 2.0], [6.0, 5.0]]]),
    ("ClampScalar", (), (X, 2, 4), [[[3.0, 2.0, 2.0], [4.0, 4.0, 4.0]]]),
    ("ClampScalar", (), (X, 2.0, None), [[[3.0, 2.0, 2.0], [4.0, 6.0, 5.0]]]),
    ("SliceExt", (), (X, 1, 0, 2, 1), [[[3.0, 1.0], [4.0, 6.0]]]),
    ("SliceExt", (), (X, 1, -2, 3, 1), [[[1.0, 2.0], [6.0, 5.0]]]),
    ("Chunk", (), (X, 2, 1), [[[3.0, 1.0], [4.0, 6.0]], [[2.0], [5.0]]]),
    ("Muls", (), (X, 2.0), [[[6.0, 2.0, 4.0], [8.0, 12.0, 10.0]]]),
    ("BatchMatMulExt", (), (X[None], X[None].swapaxes(1, 2)), [[[[14.0, 28.0], [28.0, 77.0]]]]),
    ("Scatter", (), (X, 1, Tensor([[0, 1], [2, 1]]), X[:, :2]), [[[3.0, 1.0, 2.0], [4.0, 6.0, 4.0]]]),
)
#: what its documentation says of those without a kernel there
DOCUMENTED: tuple[tuple[str, tuple[Any, ...], tuple[Any, ...], list[Any]], ...] = (
    ("TopkExt", (), (X, 2), [[[3.0, 2.0], [6.0, 5.0]], [[0, 2], [1, 2]]]),
    ("CumsumExt", (), (X, 1), [[[3.0, 4.0, 6.0], [4.0, 10.0, 15.0]]]),
    ("SortExt", (), (X, 1, True), [[[3.0, 2.0, 1.0], [6.0, 5.0, 4.0]], [[0, 2, 1], [1, 2, 0]]]),
    ("StackExt", (1,), ((X[0], X[1]),), [[[3.0, 4.0], [1.0, 6.0], [2.0, 5.0]]]),
    ("StackExt", (), ([X[0], X[1]],), [[[3.0, 1.0, 2.0], [4.0, 6.0, 5.0]]]),
    ("OneHotExt", (), (Tensor([0, 2]), 3, Tensor(1), Tensor(0)), [[[1, 0, 0], [0, 0, 1]]]),
    ("OneHotExt", (0,), (Tensor([0, 2]), 3, Tensor(1), Tensor(0)), [[[1, 0], [0, 0], [0, 1]]]),
    ("Outer", (), (X[0], X[1, :2]), [[[12.0, 18.0], [4.0, 6.0], [8.0, 12.0]]]),
    ("ZerosLikeExt", (), (X, weft.int32), [[[0, 0, 0], [0, 0, 0]]]),
    ("OnesLikeExt", (), (X,), [[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]]),
    ("TrilExt", (), (X,), [[[3.0, 0.0, 0.0], [4.0, 6.0, 0.0]]]),
    ("RepeatInterleaveInt", (), (X[:, :1], 2, 1), [[[3.0, 3.0], [4.0, 4.0]]]),
    ("RepeatInterleaveTensor", (), (X[:, :1], Tensor([1, 2]), 0), [[[3.0], [4.0], [4.0]]]),
    ("IndexSelect", (), (X, 1, Tensor([0, 2])), [[[3.0, 2.0], [4.0, 5.0]]]),
    ("Arange", (), (0, 5, 2), [[0, 2, 4]]),
    ("Arange", (), (0, 5, 2, weft.float32), [[0.0, 2.0, 4.0]]),
    ("FmodScalar", (), (X, 2.0), [[[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]]),
    ("GatherNdExt", (), (X, FIRST), [[4.0, 6.0]]),
    ("EluExt", (2.0,), (Tensor([0.0, 1.0]),), [[0.0, 1.0]]),
    ("Scatter", (), (X, 1, Tensor([[0], [2]]), X[:, :1], "add"), [[[6.0, 1.0, 2.0], [4.0, 6.0, 9.0]]]),
    ("AddcmulExt", (), (X, X, X, 2), [[[21.0, 3.0, 10.0], [36.0, 78.0, 55.0]]]),
    ("AnyExt", (), (X > 5, 1), [[False, True]]),
    ("ArgMaxExt", (), (X, 1), [[0, 1]]),
    ("LinSpaceExt", (), (0, 1, 3), [[0.0, 0.5, 1.0]]),
    ("L1LossExt", (), (X, X + 1), [1.0]),
    ("MedianExt", (), (X,), [3.0]),
    ("TExt", (), (X,), [[[3.0, 4.0], [1.0, 6.0], [2.0, 5.0]]]),
    ("IndexAddExt", (), (X, 1, Tensor([0]), X[:, 1:2], 2), [[[5.0, 1.0, 2.0], [16.0, 6.0, 5.0]]]),
    ("Swiglu", (), (Tensor([[0.0, 3.0]]),), [[[0.0]]]),
)


@pytest.mark.parametrize(("name", "fixed", "arguments", "wanted"), RECORDED + DOCUMENTED)
def test_answers(name: str, fixed: tuple[Any, ...], arguments: tuple[Any, ...], wanted: list[Any]) -> None:
    operator = getattr(importlib.import_module("mindspore.ops.auto_generate"), name)(*fixed)
    assert flat(operator(*arguments)) == wanted
    tensors = [i for i, x in enumerate(arguments) if isinstance(x, Tensor)]

    def call(*given: Tensor) -> Any:
        values = list(arguments)
        for i, x in zip(tensors, given, strict=True):
            values[i] = x
        return operator(*values)

    assert flat(jit(call)(*[arguments[i] for i in tensors])) == wanted


@pytest.mark.parametrize("row", extended.OPERATORS)
def test_calls_by_place_and_by_name_are_the_same(row: str) -> None:
    fixed, _, rest = row.rpartition("] ")
    name, wanted, _ = parse(rest)
    operator = getattr(extended, name)()
    assert name in extended.__all__
    called = [p for p in wanted.parameters if p not in fixed]
    examples = {case[0]: case[2] for case in DOCUMENTED + RECORDED if not case[1]}
    if name in examples:
        by_name = dict(zip(called, examples[name], strict=False))
        assert flat(operator(**by_name)) == flat(operator(*examples[name]))
    with pytest.raises(TypeError):
        operator()
    with pytest.raises(TypeError):
        operator(no_such_parameter=1)


def test_gradients_pass() -> None:
    add, split = extended.AddExt(), extended.SplitWithSize()

    def loss(x: Tensor, y: Tensor) -> Tensor:
        a, b = split(add(x, y, 3), (1, 2), 1)
        return a.sum() + (b * b).sum()

    for grad in (weft.grad(loss, (0, 1)), jit(weft.grad(loss, (0, 1)))):
        of_x, of_y = grad(X, X)
        assert of_x.tolist() == [[1.0, 8.0, 16.0], [1.0, 48.0, 40.0]]
        assert of_y.tolist() == (3 * of_x).tolist()


def test_copies_in_place() -> None:
    def copied(x: Tensor, y: Tensor) -> Tensor:
        made = ops.zeros_like(x)
        extended.InplaceCopy()(made, y)
        return made + x

    for run in (copied, jit(copied)):
        assert run(X, X).tolist() == (2 * X).tolist()


def test_functions_are_those_of_mint() -> None:
    array_func = importlib.import_module("mindspore.ops.function.array_func")
    assert array_func.split_ext is mint.split
    assert array_func.pad_ext is functional.pad
    assert flat(array_func.split_ext(X, 2, 1)) == [[[3.0, 1.0], [4.0, 6.0]], [[2.0], [5.0]]]


@pytest.mark.parametrize("amsgrad", (False, True))
@pytest.mark.parametrize("maximize", (False, True))
def test_steps_of_adamw(amsgrad: bool, maximize: bool) -> None:
    b1, b2, rate, decay, eps = 0.9, 0.99, 0.1, 0.05, 1e-8
    operator = importlib.import_module("mindspore.ops.auto_generate").AdamW()
    for wrap in (lambda f: f, jit):
        var, m, v, largest = (Parameter(Tensor([x, x]), name=f"p{i}") for i, x in enumerate((1.0, 0.0, 0.0, 0.0)))

        def step(gradient: Tensor, count: Tensor, p: Any = (var, m, v, largest)) -> Any:
            return operator(*p, gradient, count, rate, b1, b2, decay, eps, amsgrad, maximize)

        run = wrap(step)
        p, first, second, top = np.ones(2), np.zeros(2), np.zeros(2), np.zeros(2)
        for t, gradient in enumerate(([1.0, -2.0], [0.5, 3.0], [0.0, 0.1])):
            found = run(Tensor(gradient), Tensor(t))
            g = -np.array(gradient) if maximize else np.array(gradient)
            first, second = b1 * first + (1 - b1) * g, b2 * second + (1 - b2) * g * g
            corrected = second / (1 - b2 ** (t + 1))
            top = np.maximum(top, corrected)
            root = np.sqrt(top if amsgrad else corrected) + eps
            p = p * (1 - rate * decay) - rate * first / (1 - b1 ** (t + 1)) / root
            for parameter, made, wanted in zip((var, m, v), found, (p, first, second), strict=True):
                np.testing.assert_allclose(parameter.asnumpy(), wanted, rtol=1e-4)
                np.testing.assert_allclose(made.asnumpy(), wanted, rtol=1e-4)
