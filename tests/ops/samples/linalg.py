"""Samples of the primitives of `weft.ops.linalg`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tests.ops.samples.values import Sample, one

_SQUARE = np.array([[3.0, 1.0, 0.5], [0.25, 2.0, -0.5], [0.75, 0.5, 4.0]], np.float32)
_DEFINITE = (_SQUARE @ _SQUARE.T).astype(np.float32)
_TALL = np.array([[3.0, 1.0], [0.25, 2.0], [0.75, 0.5]], np.float32)


def _square(**attrs: Any) -> Sample:
    return [Sample((_SQUARE,), attrs), Sample((np.stack([_SQUARE, _SQUARE.T]),), attrs)]


SAMPLES: Final[dict[str, list[Sample]]] = {
    "Inverse": _square(),
    "MatrixDeterminant": _square(),
    "LogMatrixDeterminant": _square(),
    "Cholesky": one(_DEFINITE, upper=False),
    "CholeskyInverse": one(_SQUARE, upper=False),
    "CholeskySolve": one(_TALL, _SQUARE, upper=False),
    "MatrixSolve": one(_SQUARE, _TALL, adjoint=False),
    "TriangularSolve": one(_SQUARE, _TALL, lower=True, transposed=False, unit_diagonal=False),
    "LuSolve": one(_SQUARE, np.array([1, 2, 3], np.int32), _TALL),
    "LuFactors": one(_SQUARE),
    "Svd": one(_TALL, full_matrices=False),
    "SingularValues": one(_TALL),
    "Qr": one(_TALL, mode="reduced"),
    "Eigh": one(_DEFINITE),
    "Eig": one(_SQUARE, differentiable=False, vmap=False),
    "Pinv": one(_TALL),
    "MatrixPower": _square(n=3),
    "MatrixExp": one(_SQUARE * np.float32(0.1)),
    "MatrixRank": one(_SQUARE),
    "ConditionNumber": one(_SQUARE, p=None),
    "MatrixBandPart": one(_SQUARE, lower=1, upper=0),
    "Cdist": one(_TALL, _TALL + np.float32(0.5), p=2.0),
    "NormOfOrder": [
        Sample((_TALL,), {"axes": (0,), "p": 2, "keep_dims": False, "epsilon": 1e-12}),
        Sample((_TALL,), {"axes": (0, 1), "p": 3, "keep_dims": True, "epsilon": 1e-12}),
    ],
    "VectorNormOfAxes": [
        Sample((_TALL,), {"order": order, "axes": axes, "keepdims": axes == (0,)})
        for order, axes in ((3.0, (0,)), (2.0, (0, 1)), (1.0, (1,)))
    ],
}
