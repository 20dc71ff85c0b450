"""Cutting, padding, norms, traces and positions of `mindspore.numpy`, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
import weft.mindspore

M = np.arange(12, dtype=np.float32).reshape(3, 4) - 5
V = np.arange(7, dtype=np.float32)
CASES = (
    ("split", (M, 2, 1), {}),
    ("split", (V, (2, 5)), {}),
    ("array_split", (V, 3), {}),
    ("array_split", (M, [1, 2]), {"axis": 1}),
    ("copy", (M,), {}),
    ("amax", (M, 1, ), {"keepdims": True}),
    ("amax", (M,), {"axis": (0, 1)}),
    ("amax", (M, 1), {"initial": 3}),
    ("amax", (M, 1), {"initial": -9, "where": M < 0}),
    ("amin", (M, 0), {"initial": -2}),
    ("amin", (M.astype(np.int32), 0), {"initial": 50, "where": M > 0}),
    ("trace", (M,), {"offset": 1}),
    ("trace", (M[None],), {"axis1": 1, "axis2": 2}),
    ("round", (M / 7, 1), {}),
    ("pad", (M, 1), {}),
    ("pad", (M, (1, 2)), {"constant_values": 3}),
    ("pad", (M, ((0, 1), (2, 0))), {"mode": "edge"}),
    ("pad", (M, ((2, 1), (3, 2))), {"mode": "reflect"}),
    ("pad", (M, 2), {"mode": "symmetric"}),
    ("pad", (M, 3), {"mode": "wrap"}),
    ("pad", (M, ((2, 1), (0, 3))), {"mode": "linear_ramp", "end_values": ((9, 10), (11, 12))}),
    ("pad", (M, 2), {"mode": "maximum"}),
    ("pad", (M, ((2, 1), (0, 3))), {"mode": "minimum", "stat_length": 1}),
    ("pad", (M, 1), {"mode": "mean", "stat_length": ((1, 2), (2, 1))}),
)  # fmt: skip


def as_tensors(values: Any) -> Any:
    return [weft.Tensor(v) if isinstance(v, np.ndarray) else v for v in values]


@pytest.mark.parametrize(("name", "args", "kwargs"), CASES)
def test_against_numpy(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    import mindspore.numpy as mnp

    named = dict(zip(kwargs, as_tensors(kwargs.values()), strict=True))

    def run(first: Any) -> Any:
        return getattr(mnp, name)(first, *as_tensors(args[1:]), **named)

    expected = getattr(np, name)(*args, **kwargs)
    for function in (run, weft.jit(run)):
        found = function(weft.Tensor(args[0]))
        pairs = zip(found, expected, strict=True) if isinstance(expected, list) else [(found, expected)]
        for f, e in pairs:
            np.testing.assert_allclose(f.asnumpy(), e, rtol=1e-6)


@pytest.mark.parametrize(
    "kwargs", [{}, {"ord": 1}, {"ord": "fro"}, {"axis": 1}, {"ord": 1, "axis": 0, "keepdims": True}, {"ord": np.inf}]
)
def test_norms(kwargs: dict[str, Any]) -> None:
    import mindspore.numpy as mnp

    expected = np.linalg.norm(M, **kwargs)
    for function in (mnp.norm, weft.jit(lambda x: mnp.norm(x, **kwargs))):
        found = function(weft.Tensor(M), **kwargs) if function is mnp.norm else function(weft.Tensor(M))
        np.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-6)


def test_positions() -> None:
    import mindspore.numpy as mnp

    flat = np.array([1, 5, 7, 11])
    for order in ("C", "F"):
        expected = np.unravel_index(flat, (3, 4), order)  # type: ignore[call-overload]
        for f, e in zip(mnp.unravel_index(weft.Tensor(flat), (3, 4), order), expected, strict=True):
            np.testing.assert_array_equal(f.asnumpy(), e)
    for name in ("tril_indices", "triu_indices"):
        for args in ((3,), (3, 1), (2, 1, 3), (3, -1, 2)):
            for f, e in zip(getattr(mnp, name)(*args), getattr(np, name)(*args), strict=True):
                assert f.dtype == weft.int32
                np.testing.assert_array_equal(f.asnumpy(), e)


def test_what_is_refused() -> None:
    import mindspore.numpy as mnp

    with pytest.raises(ValueError, match="equal pieces"):
        mnp.split(weft.Tensor(V), 2)
    with pytest.raises(ValueError, match="mode"):
        mnp.pad(weft.Tensor(V), 1, mode="nonesuch")
    with pytest.raises(ValueError, match="order"):
        mnp.unravel_index(1, (2, 2), "K")
    with pytest.raises(ValueError, match="initial"):
        mnp.amax(weft.Tensor(V), where=weft.Tensor(V > 2))


def test_gradients() -> None:
    import mindspore.numpy as mnp

    def loss(x: Any) -> Any:
        return (mnp.pad(x, 2, mode="reflect") ** 2).sum() + mnp.norm(mnp.split(x, 2)[1]) + mnp.trace(x.reshape(2, 2))

    x = weft.Tensor(np.array([1.0, 2.0, 3.0, 4.0], np.float32))
    found = weft.grad(loss)(x).asnumpy()
    np.testing.assert_allclose(
        found, [2 + 1, 8, 12 + 3 / 5, 8 + 4 / 5 + 1] + np.array([0, 4, 6, 0]) - [0, 0, 0, 0], rtol=1e-5
    )
    np.testing.assert_allclose(weft.jit(weft.grad(loss))(x).asnumpy(), found, rtol=1e-6)


def test_what_is_made_can_be_written_and_shares_with_nothing() -> None:
    import mindspore.numpy as mnp

    value = weft.Tensor([1.0, 2.0])
    makers = (
        lambda: mnp.full((3, 2), 0.5),
        lambda: mnp.full((2,), value),
        lambda: mnp.full((3, 2), value),
        lambda: mnp.full_like(value, 3.0),
        lambda: mnp.zeros((3, 2)),
        lambda: mnp.ones((3, 2)),
    )

    def written(make: Any) -> Any:
        made = make()
        made[0] = 9.0
        return made

    for make in makers:
        for function in (written, weft.jit(written)):
            made = function(make)
            assert (made[0] == 9.0).all()
            assert not (made[1:] == 9.0).any()
    assert value.tolist() == [1.0, 2.0]
