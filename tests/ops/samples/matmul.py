"""Samples of the primitives of `weft.ops.matmul`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import A, B, Sample, one

_BT = np.ascontiguousarray(B.T)


def _product_samples() -> list[Sample]:
    batch_a, batch_b = np.stack([A, B]), np.stack([_BT, A.T])
    return [
        Sample((A, _BT), {"transpose_a": False, "transpose_b": False}),
        Sample((A, B), {"transpose_a": True, "transpose_b": False}),
        Sample((A, B), {"transpose_a": False, "transpose_b": True}),
        Sample((A, _BT), {"transpose_a": True, "transpose_b": True}),
        Sample((batch_a, batch_b), {"transpose_a": False, "transpose_b": False}),
        Sample((batch_a, _BT), {"transpose_a": False, "transpose_b": False}),
    ]


def _dense_samples() -> list[Sample]:
    x = np.array([[[1.0, -2.0, 3.0]], [[0.5, 4.0, -1.0]]], np.float32)
    w = np.array([[1.0, 0.5, -1.0], [2.0, -0.25, 0.75]], np.float32)
    return [Sample((x, w, np.array([1.0, 2.0], np.float32)), vmap=False), Sample((x[0, 0], w, None), vmap=False)]


SAMPLES: Final[dict[str, list[Sample]]] = {
    "MatMul": _product_samples(),
    "TensorDot": one(A, B, axes=((0, 1), (0, 1))),
    "Einsum": one(A, B, equation="ij,kj->ik"),
    "Kron": one(A, B),
    "Cross": one(A, B, dim=-1),
    "Dense": _dense_samples(),
}
