"""Assignment, identity, casts, gradients stops, printing and the queries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from weft import Parameter, Tensor, ops
from weft.core.tensor import wrap
from weft.core.trace import Trace, tracing
from weft.ir.types import TensorType


def test_assign() -> None:
    p = Parameter(Tensor([1.0, 2.0]), name="w")
    stored = ops.assign(p, Tensor([3, 4]))
    assert type(stored) is Tensor
    assert p.value().tolist() == [3.0, 4.0]
    assert p.dtype is weft.float32
    ops.assign_add(p, Tensor([1.0, 1.0]))
    assert stored.tolist() == [3.0, 4.0]
    ops.assign_sub(p, 0.5)
    assert p.value().tolist() == [3.5, 4.5]
    ops.Assign()(p, Tensor([0.0, 0.0]))
    ops.AssignAdd()(p, 1.0)
    ops.AssignSub()(p, Tensor([0.0, 2.0]))
    assert p.value().tolist() == [1.0, -1.0]
    with pytest.raises(ValueError, match=r"assign: a value of shape \(3,\) does not fit parameter 'w' of shape \(2,\)"):
        ops.assign(p, Tensor([1.0, 2.0, 3.0]))
    with pytest.raises(TypeError, match="must be a Parameter"):
        ops.assign(3, Tensor([1.0]))


def test_assigned_value_is_a_copy() -> None:
    p, x = Parameter(Tensor([1.0])), Tensor([5.0])
    ops.assign(p, x)
    x[0] = 9.0
    assert p.value().tolist() == [5.0]
    q = Parameter(Tensor([0.0]))
    ops.assign(q, p)
    ops.assign(p, Tensor([7.0]))
    assert q.value().tolist() == [5.0]


def test_operators_write_parameters_but_not_tensors() -> None:
    p = Parameter(Tensor([2.0]))
    same = p
    p += 1
    p *= Tensor([2.0])
    assert p is same
    assert p.value().tolist() == [6.0]
    p -= 2
    p /= 2
    p **= 2
    assert p.value().tolist() == [4.0]
    t = Tensor([2.0])
    other = t
    t += 1
    assert other.tolist() == [2.0]
    assert t.tolist() == [3.0]


@pytest.mark.parametrize(
    ("name", "args", "wanted"),
    [
        ("add_", (1.0,), [2.0, 3.0]),
        ("sub_", (1.0,), [0.0, 1.0]),
        ("mul_", (Tensor([2.0, 3.0]),), [2.0, 6.0]),
        ("div_", (2.0,), [0.5, 1.0]),
        ("fill_", (7,), [7.0, 7.0]),
        ("zero_", (), [0.0, 0.0]),
        ("copy_", (Tensor([5, 6]),), [5.0, 6.0]),
        ("neg_", (), [-1.0, -2.0]),
        ("clamp_", (1.5, 3.0), [1.5, 2.0]),
        ("masked_fill_", (Tensor([True, False]), 0.0), [0.0, 2.0]),
    ],
)
def test_in_place_methods(name: str, args: Any, wanted: list[float]) -> None:
    x = Tensor([1.0, 2.0])
    assert getattr(x, name)(*args) is x
    assert x.tolist() == wanted
    assert x.dtype is weft.float32


def test_in_place_cannot_change_the_shape() -> None:
    with pytest.raises(ValueError, match="does not fit into shape"):
        Tensor([1.0]).add_(Tensor([1.0, 2.0]))


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("update", [4.0, 9.0, 8.0]), ("add", [4.0, 12.0, 10.0]), ("sub", [4.0, -6.0, -6.0]), ("mul", [4.0, 27.0, 16.0]),
     ("div", [4.0, 3 / 9, 2 / 8]), ("max", [4.0, 9.0, 8.0]), ("min", [4.0, 3.0, 2.0])],
)  # fmt: skip
def test_scatter_writes_the_parameter(name: str, wanted: list[float]) -> None:
    start, index, updates = Tensor([4.0, 3.0, 2.0]), Tensor([1, 2]), Tensor([9.0, 8.0])
    title = name.capitalize()
    for write in (getattr(ops, f"scatter_{name}"), getattr(ops, f"Scatter{title}")()):
        p = Parameter(start)
        np.testing.assert_allclose(write(p, index, updates).asnumpy(), wanted, 1e-6)
        np.testing.assert_allclose(p.asnumpy(), wanted, 1e-6)
    points = index.reshape(-1, 1)
    for write in (getattr(ops, f"scatter_nd_{name}"), getattr(ops, f"ScatterNd{title}")()):
        p = Parameter(start)
        write(p, points, updates)
        np.testing.assert_allclose(p.asnumpy(), wanted, 1e-6)
    for pure in (getattr(ops, f"tensor_scatter_{name}"), getattr(ops, f"TensorScatter{title}")()):
        np.testing.assert_allclose(pure(start, points, updates).asnumpy(), wanted, 1e-6)
    assert start.tolist() == [4.0, 3.0, 2.0]


def test_stop_gradient() -> None:
    x = Tensor([3.0])
    assert weft.grad(lambda x: (x * ops.stop_gradient(x)).sum())(x).tolist() == [3.0]
    assert weft.grad(lambda x: (x * x.detach()).sum())(x).tolist() == [3.0]
    inner = weft.grad(lambda x: (ops.stop_gradient(x) * x * x).sum())
    assert weft.grad(lambda x: inner(x).sum())(x).tolist() == [6.0]


def test_gradient_through_assignment_like_methods() -> None:
    def scaled(x: Tensor) -> Tensor:
        y = x * 1
        y.mul_(3.0)
        y[0] = 0.0
        return y.sum()

    assert weft.grad(scaled)(Tensor([1.0, 2.0])).tolist() == [0.0, 3.0]


def test_integers_have_gradients_too() -> None:
    x = Tensor([2, 3])
    assert weft.grad(lambda x: (x * x).sum())(x).tolist() == [4, 6]
    assert weft.grad(lambda x: x.reshape(1, 2).transpose(1, 0)[0].sum())(x).tolist() == [1, 0]
    assert weft.grad(lambda x: ops.concat([x, x]).sum())(x).tolist() == [2, 2]


def test_depend_and_load() -> None:
    x, y = Tensor([1.0]), Tensor([2.0])
    assert ops.depend(x, y) is x
    assert ops.Depend()(x, y) is x
    with pytest.raises(TypeError, match="depends on"):
        ops.depend(x)
    p = Parameter(x)
    loaded = ops.Load()(p)
    ops.assign(p, y)
    assert loaded.tolist() == [1.0]


def test_casts() -> None:
    x = Tensor([1.7, -1.2])
    assert ops.cast(x, weft.int32).tolist() == [1, -1]
    assert ops.Cast()(2, weft.float16).dtype is weft.float16
    assert x.astype("float64").dtype is weft.float64
    assert x.to(weft.int8).dtype is weft.int8
    assert (x.half().dtype, x.int().dtype, x.bool().dtype) == (weft.float16, weft.int32, weft.bool_)
    assert x.long().dtype is weft.int64
    assert x.astype(weft.float32) is x
    assert x.type_as(Tensor([1])).dtype is weft.int64
    with pytest.raises(TypeError, match="is not a tensor dtype"):
        x.astype("float31")


def test_queries() -> None:
    x = Tensor(np.zeros((2, 3), np.float32))
    assert ops.Shape()(x) == ops.shape(x) == (2, 3)
    assert ops.DType()(x) is ops.dtype(x) is weft.float32
    assert ops.Rank()(x) == ops.rank(x) == x.dim() == 2
    assert ops.Size()(x) == ops.size(x) == x.numel() == 6
    assert ops.dyn_shape(x).tolist() == [2, 3]
    assert ops.typeof(x) is weft.float32
    assert ops.is_tensor(x)


def test_printing(capsys: pytest.CaptureFixture[str]) -> None:
    x = Tensor(np.ones((2, 1), np.int32))
    ops.Print()("values:", x, 3)
    assert capsys.readouterr().out == "values:\nTensor(shape=[2, 1], dtype=Int32, value=\n[[1],\n [1]])\n3\n"


def test_printing_from_a_graph(capsys: pytest.CaptureFixture[str]) -> None:
    @weft.jit
    def f(x: Tensor) -> Tensor:
        ops.print_("a", x)
        ops.Print()("b", x + 1)
        return x * 2

    for value in (1, 2):
        f(Tensor([value])).asnumpy()
        assert capsys.readouterr().out == f"a\n{Tensor([value])!r}\nb\n{Tensor([value + 1])!r}\n"


@pytest.mark.parametrize(
    "use",
    [
        ops.nonzero,
        ops.unique,
        ops.bincount,
        lambda x: x[x > 0],
        lambda x: ops.arange(x.sum()),
        lambda x: ops.masked_select(x, x > 0),
    ],
)
def test_sizes_that_depend_on_symbolic_values_are_refused(use: Any) -> None:
    trace = Trace()
    with tracing(trace):
        x = wrap(trace.root.add_param(TensorType.of(weft.int64, (2,))))
        with pytest.raises(weft.Unsupported, match="only the running graph knows"):
            use(x)


def test_what_a_state_operation_gives_stays_as_it_was() -> None:
    p = Parameter(Tensor([1.0, 2.0]), name="w")

    def step(x: Tensor) -> Tensor:
        stored = ops.assign_add(p, x)
        ops.assign(p, x)
        return stored * 2

    for run in (step, weft.jit(step)):
        ops.assign(p, Tensor([1.0, 2.0]))
        for given, before in (([3.0, 4.0], [1.0, 2.0]), ([5.0, 6.0], [3.0, 4.0])):
            assert run(Tensor(given)).tolist() == [2 * (a + b) for a, b in zip(given, before, strict=True)]
            assert p.value().tolist() == given
