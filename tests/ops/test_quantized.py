"""Integers of 8 bits in place of floats, rewards to come, and other single operators, against NumPy."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
import weft.mindspore
from weft import Parameter, Tensor, jit, ops
from weft.ops import operations as P

RANDOM = np.random.default_rng(11)


def normal(*shape: int) -> np.ndarray[Any, Any]:
    return RANDOM.standard_normal(shape).astype(np.float32)


def whole(*shape: int) -> np.ndarray[Any, Any]:
    return RANDOM.integers(-128, 128, shape).astype(np.int8)


@pytest.mark.parametrize("kind", (weft.float32, weft.float16, weft.bfloat16))
def test_rows_become_integers(kind: Any) -> None:
    x, smooth = Tensor(normal(3, 4)).astype(kind), Tensor(normal(4)).astype(kind)
    quantize = P.DynamicQuantExt()
    for run in (quantize, jit(lambda *given: quantize(*given))):
        for given in ((x,), (x, smooth), (0 * x,)):
            found, scale = run(*given)
            product = given[0] if len(given) == 1 else x * smooth
            rows = product.asnumpy().astype(np.float32)
            largest = np.abs(rows).max(-1) / 127
            assert (found.dtype, scale.dtype) == (weft.int8, weft.float32)
            np.testing.assert_allclose(scale.asnumpy(), largest, rtol=1e-6)
            wanted = np.round(rows / np.where(largest == 0, 1, largest)[:, None])
            assert np.abs(found.asnumpy() - wanted).max() <= 1
    with pytest.raises(TypeError):
        quantize(1.0)
    with pytest.raises(ValueError, match="1 dimension"):
        quantize(Tensor(1.0))


def test_elements_become_integers() -> None:
    quantize = importlib.import_module("mindspore.ops.operations._infer_ops").QuantV2()
    x, scale, offset = map(Tensor, ([100.0, 150.0], [80.0, 40.0], [0.0, 2.0]))
    for run in (quantize, jit(lambda *given: quantize(*given))):
        assert run(x, scale, offset).tolist() == [127, 127]
        assert run(x / 100, scale, offset).tolist() == [80, 62]
        assert run(-x, scale, offset).tolist() == [-128, -128]
    assert quantize(Tensor([0.5, 1.5]), Tensor([1.0]), Tensor([0.0])).tolist() == [0, 2]
    assert quantize(Tensor([2.0]), Tensor([3.0]), Tensor([1.0]), True).tolist() == [19]
    for bad, error in (
        ((1, scale, offset), TypeError),
        ((x, scale, offset, False, "FLOOR"), ValueError),
        ((x, scale, offset, False, "ROUND", weft.int32), ValueError),
        ((x, Tensor([1.0, 2.0, 3.0]), offset), ValueError),
    ):
        with pytest.raises(error):
            quantize(*bad)


def test_products_of_integers() -> None:
    a, b = whole(2, 3), whole(3, 4)
    scale, offset, rows, bias = normal(4), normal(4), normal(2), RANDOM.integers(-99, 99, 4).astype(np.int32)
    exact = a.astype(np.int32) @ b.astype(np.int32)
    product = P.QuantBatchMatmul(dtype=weft.float32)
    x, y, s = Tensor(a), Tensor(b), Tensor(scale)
    for run in (product, jit(lambda *given: product(*given))):
        for given, wanted in (
            ((s,), exact * scale),
            ((s, Tensor(offset)), exact * scale + offset),
            ((s, None, Tensor(bias)), (exact + bias) * scale),
            ((s, None, Tensor(offset)), exact * scale + offset),
            ((s, None, None, Tensor(rows)), exact * scale * rows[:, None]),
        ):
            np.testing.assert_allclose(run(x, y, *given).asnumpy(), wanted, rtol=1e-5, atol=1e-3)
    turned = P.QuantBatchMatmul(True, True)
    found = turned(x.T, y.T, s * 1e-3)
    assert found.dtype is weft.float16
    np.testing.assert_allclose(found.asnumpy(), exact * scale * 1e-3, rtol=2e-3, atol=1e-2)
    for bad, error in (
        ((x, Tensor(normal(3, 4)), s), TypeError),
        ((x, y, 1.0), TypeError),
        ((x, y, Tensor([1])), NotImplementedError),
    ):
        with pytest.raises(error):
            product(*bad)


def test_products_with_weights_of_integers() -> None:
    x, w = normal(2, 3), whole(3, 4)
    scale, offset, bias = normal(4), normal(4), normal(4)
    plain, turned = P.WeightQuantBatchMatmul(), P.WeightQuantBatchMatmul(True, True)
    wanted = x @ ((w + offset) * scale) + bias

    def loss(x: Tensor) -> Tensor:
        return plain(x, Tensor(w), Tensor(scale)).sum()

    for run in (plain, jit(lambda *given: plain(*given))):
        found = run(Tensor(x), Tensor(w), Tensor(scale), Tensor(offset), None, None, Tensor(bias))
        np.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-4, atol=1e-3)
    found = turned(Tensor(x.T), Tensor(w.T), Tensor(scale), Tensor(offset), bias=Tensor(bias))
    np.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(weft.grad(loss)(Tensor(x)).asnumpy()[0], (w * scale).sum(1), rtol=1e-4, atol=1e-3)
    with pytest.raises(NotImplementedError):
        plain(Tensor(x), Tensor(w), Tensor(scale), quant_scale=Tensor(1.0))


@pytest.mark.parametrize("shape", ((5, 2), (5, 2, 3), (1, 1)))
def test_rewards_to_come(shape: tuple[int, ...]) -> None:
    gamma = 0.9
    operator = importlib.import_module("mindspore.ops.operations._rl_inner_ops").DiscountedReturn(gamma)
    reward, last = normal(*shape), normal(*shape[1:])
    done = RANDOM.random(shape[:2]) < 0.4
    wanted, later = np.zeros_like(reward), last
    for t in reversed(range(shape[0])):
        goes_on = 1 - done[t].reshape(*done[t].shape, *(1,) * (reward.ndim - 2))
        later = wanted[t] = reward[t] + gamma * goes_on * later

    def loss(reward: Tensor, last: Tensor) -> Tensor:
        return operator(reward, Tensor(done), last)[0].sum()

    for run in (operator, jit(lambda *given: operator(*given))):
        found = run(Tensor(reward), Tensor(done), Tensor(last))
        np.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-5, atol=1e-6)
    of_reward, of_last = weft.grad(loss, (0, 1))(Tensor(reward), Tensor(last))
    share = np.cumprod(gamma * (1 - done), 0)
    weights = np.concatenate((np.ones((1, shape[1])), share[:-1]))
    grow = (*shape[:2], *(1,) * (len(shape) - 2))
    np.testing.assert_allclose(of_reward.asnumpy(), np.broadcast_to(weights.reshape(grow), shape), rtol=1e-5)
    np.testing.assert_allclose(of_last.asnumpy(), np.broadcast_to(share[-1].reshape(grow[1:]), shape[1:]), rtol=1e-5)
    with pytest.raises(TypeError):
        operator(Tensor(reward), Tensor(reward), Tensor(last))
    with pytest.raises(ValueError, match="does not fit"):
        operator(Tensor(reward), Tensor(done[:, :0]), Tensor(last))


def test_networks_take_over_weights() -> None:
    operator = importlib.import_module("mindspore.ops.operations._rl_inner_ops").BatchAssign(lock=True)
    for wrap in (lambda f: f, jit):
        written = [Parameter(Tensor([float(i)] * 2), name=f"w{i}") for i in range(2)]
        run = wrap(lambda a, b, written=written: operator(written, (a, b)))
        run(Tensor([1.0, 2.0]), Tensor([3.0, 4.0]))
        assert [p.tolist() for p in written] == [[1.0, 2.0], [3.0, 4.0]]
    with pytest.raises(ValueError, match="1 values for 2"):
        operator(written, (Tensor([1.0, 2.0]),))


def test_tensors_as_files(tmp_path: Path) -> None:
    dump = P.TensorDump()

    def step(x: Tensor) -> Tensor:
        ops.tensordump(str(tmp_path / "inner" / "x.npy"), x)
        dump(str(tmp_path / "y"), x * 2)
        return x + 1

    for run in (step, jit(step)):
        for value in (1.0, 2.0):
            run(Tensor([value]))
    ops.tensordump(str(tmp_path / "z"), Tensor([1.0], weft.bfloat16), "in")
    loaded = [
        float(np.load(p)[0]) for p in sorted(tmp_path.glob("y_float32_*.npy"), key=lambda p: p.stat().st_mtime_ns)
    ]
    assert sorted(loaded) == [2.0, 2.0, 4.0, 4.0]
    assert len(list((tmp_path / "inner").glob("x_float32_*.npy"))) == 4
    (last,) = tmp_path.glob("z_in_bfloat16_*.npy")
    assert np.load(last).dtype == np.float32
    for bad, error in (((1, Tensor(1.0)), TypeError), (("", Tensor(1.0)), ValueError), (("x", 1.0), TypeError)):
        with pytest.raises(error):
            ops.tensordump(*bad)
    with pytest.raises(ValueError, match="mode"):
        ops.tensordump(str(tmp_path / "x"), Tensor(1.0), "all")


def test_single_operators() -> None:
    x = Tensor([[1.0, 2.0]])
    generated = importlib.import_module("mindspore.ops.auto_generate")
    for run in (generated.format_cast, jit(lambda x, to: generated.format_cast(x, to))):
        assert run(x, 29).tolist() == x.tolist()
    with pytest.raises(TypeError):
        generated.format_cast(x, "ND")
    for run in (P.DynamicShape(), jit(lambda x: P.DynamicShape()(x))):
        assert run(x).tolist() == [1, 2]
    for run in (P.MoveTo(), jit(lambda x, to: P.MoveTo()(x, to))):
        assert run(x, "CPU").tolist() == x.tolist()
    solve = importlib.import_module("mindspore.scipy.ops").SolveTriangular
    a, b = Tensor([[2.0, 0.0], [1.0, 4.0]]), Tensor([[2.0, 4.0], [8.0, 4.0]])
    for settings, wanted in (
        ({"lower": True}, [[1.0, 2.0], [1.75, 0.5]]),
        ({}, [[1.0, 2.0], [2.0, 1.0]]),
        ({"lower": True, "trans": "T"}, [[0.0, 1.5], [2.0, 1.0]]),
        ({"lower": True, "unit_diagonal": True}, [[2.0, 4.0], [6.0, 0.0]]),
    ):
        operator = solve(**settings)
        for run in (operator, jit(lambda a, b, operator=operator: operator(a, b))):
            assert run(a, b).tolist() == wanted
