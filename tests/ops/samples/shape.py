"""Samples of the primitives of `weft.ops.shape`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import A, Sample, one
from weft import dtypes

SAMPLES: Final[dict[str, list[Sample]]] = {
    "BroadcastTo": [Sample((A,), {"shape": (4, 2, 3)}), Sample((A[:, :1],), {"shape": (-1, 3)})],
    "SumTo": [Sample((A,), {"shape": (3,)}), Sample((A,), {"shape": (2, 1)}), Sample((A,), {"shape": ()})],
    "Full": [Sample((), {"shape": (2, 3), "value": 2, "dtype": dtypes.int32}, False, False)],
    "Reshape": [Sample((A,), {"shape": (3, 2)}), Sample((A,), {"shape": (-1,)}), Sample((A[:1, :1],), {"shape": ()})],
    "Transpose": [Sample((A,), {"input_perm": (1, 0)}), Sample((A[None],), {"input_perm": (2, 0, -2)})],
    "ExpandDims": [Sample((A,), {"axis": 0}), Sample((A,), {"axis": -1})],
    "Squeeze": [Sample((A[None],), {"axis": ()}, vmap=False), Sample((A[None],), {"axis": (0,)})],
    "Tile": [Sample((A,), {"dims": (2,)}), Sample((A,), {"dims": (2, 1, 2)})],
    "RepeatElements": [Sample((A,), {"rep": 2, "axis": 1}), Sample((A,), {"rep": (1, 3), "axis": 0})],
    "Flip": [Sample((A,), {"dims": (0,)}), Sample((A,), {"dims": (0, 1)})],
    "ReverseSequence": one(A, np.array([2, 3], np.int64), seq_dim=1, batch_dim=0),
    "Roll": [Sample((A,), {"shifts": 1, "dims": 1}), Sample((A,), {"shifts": 2, "dims": None})],
    "Rot90": one(A, k=1, dims=(0, 1)),
    "Tril": [Sample((A,), {"diagonal": 0}), Sample((A,), {"diagonal": 1})],
    "Triu": [Sample((A,), {"diagonal": 0}), Sample((A,), {"diagonal": 1})],
    "DiagonalV2": [Sample((A,), {"offset": 0, "dim1": 0, "dim2": 1})],
    "DiagEmbed": [Sample((A,), {"offset": 0}), Sample((A,), {"offset": 1})],
    "ViewAsReal": one(A[:, :2].astype(np.complex64), differentiable=False),
}
