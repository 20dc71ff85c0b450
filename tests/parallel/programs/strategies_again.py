"""An operator that is given another strategy, in any mode, is compiled anew where strategies count, and only there."""

from __future__ import annotations

import os

os.environ["WEFT_DEVICES"] = "4"

import numpy as np

import weft
from weft import Tensor, explain, ops
from weft.context import set_auto_parallel_context
from weft.parallel.layout import layout_of


def main() -> None:
    x = Tensor(np.ones((8, 8), np.float32))
    for mode in (weft.PYNATIVE_MODE, weft.GRAPH_MODE):
        weft.set_context(mode=mode)
        product = ops.Mul().shard(((4, 1), (4, 1)))
        squared = weft.jit(lambda x, by=product: by(x, x))

        def cut(parallel_mode: str, function: object = squared) -> tuple[int, ...] | None:
            set_auto_parallel_context(parallel_mode=parallel_mode, dataset_strategy="full_batch")
            layout = layout_of(function(x))  # type: ignore[operator]
            return None if layout is None else tuple(layout.to_dict()["tensor_map"])

        first = cut("semi_auto_parallel")
        assert first is not None
        product.shard(((1, 4), (1, 4)))
        second = cut("semi_auto_parallel")
        assert second not in (None, first)
        assert cut("stand_alone") is None
        graphs = len(explain(squared)(x).graphs)
        product.shard(((4, 1), (4, 1)))
        assert len(explain(squared)(x).graphs) == graphs
        assert cut("semi_auto_parallel") == first
        product.shard()
        assert cut("stand_alone") is None
        assert cut("semi_auto_parallel") is None
    print("compiled anew")


if __name__ == "__main__":
    main()
