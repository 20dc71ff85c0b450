"""Strategies of the operators that layers have say how the layers are spread."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Callable
from typing import Any

os.environ["WEFT_DEVICES"] = "2"

import numpy as np
import pytest

import weft
from weft import Tensor, nn
from weft.context import set_auto_parallel_context
from weft.parallel.layout import layout_of

RANDOM = np.random.default_rng(0)
ROWS, BATCHES = RANDOM.standard_normal((8, 4)), RANDOM.standard_normal((2, 4, 4))
IMAGES, VOLUMES = RANDOM.standard_normal((4, 4, 6, 6)), RANDOM.standard_normal((2, 4, 3, 3, 3))
IDS = RANDOM.integers(0, 8, (4, 2))
ONES = ((1,),) * 4
#: a layer, the operator, its strategy, an input, and whether the weight is cut
CASES: list[tuple[Callable[[], nn.Cell], str, Any, Any, bool]] = [
    (lambda: nn.Dense(4, 8), "matmul", ((1, 1), (2, 1)), ROWS, True),
    (lambda: nn.Dense(4, 8, activation="relu"), "matmul", ((1, 1), (2, 1)), BATCHES, True),
    (lambda: nn.Dense(4, 8, has_bias=False), "matmul", ((1, 2), (1, 2)), ROWS, True),
    (lambda: nn.Dense(4, 8), "matmul", ((2, 1), (1, 1)), ROWS, False),
    (lambda: nn.Dense(4, 8), "bias_add", ((1, 2), (2,)), ROWS, False),
    (lambda: nn.Conv2d(4, 8, 3, has_bias=True), "conv2d", ((1, 1, 1, 1), (2, 1, 1, 1)), IMAGES, True),
    (lambda: nn.Conv2d(4, 8, 3), "conv2d", ((2, 1, 1, 1), (1, 1, 1, 1)), IMAGES, False),
    (lambda: nn.Conv3d(4, 8, 2), "conv3d", ((1,) * 5, (2, 1, 1, 1, 1)), VOLUMES, True),
    (lambda: nn.BatchNorm2d(4).set_train(), "bn_train", ((2, 1, 1, 1), *ONES), IMAGES, False),
    (lambda: nn.MaxPool2d(2, 2), "max_pool", ((2, 1, 1, 1),), IMAGES, False),
    (lambda: nn.AvgPool2d(2, 2), "avg_pool", ((1, 2, 1, 1),), IMAGES, False),
    (lambda: nn.ReLU(), "relu", ((2, 1),), ROWS, False),
    (lambda: nn.GELU(), "gelu", ((1, 2),), ROWS, False),
    (lambda: nn.Softmax(-1), "softmax", ((2, 1),), ROWS, False),
    (lambda: nn.LogSoftmax(), "log_softmax", ((2, 1),), ROWS, False),
    (lambda: nn.LeakyReLU(0.5), "leaky_relu", ((2, 1, 1),), BATCHES, False),
    (lambda: nn.Embedding(8, 4), "gather", ((2, 1), (1,)), IDS, True),
    (lambda: nn.Embedding(8, 4), "gather", ((1, 1), (2, 1)), IDS, False),
    (lambda: nn.Embedding(8, 4, padding_idx=1), "gather", ((1, 2), (1, 1)), IDS, True),
    (lambda: nn.Embedding(8, 4, use_one_hot=True), "gather", ((2, 1), (1,)), IDS, True),
    (lambda: nn.EmbeddingLookup(8, 4), "gatherv2", ((2, 1), (1, 1)), IDS, True),
]


def main() -> None:
    set_auto_parallel_context(parallel_mode="semi_auto_parallel", dataset_strategy="full_batch")
    for mode in (weft.PYNATIVE_MODE, weft.GRAPH_MODE):
        weft.set_context(mode=mode)
        for number, (make, name, strategy, values, cuts) in enumerate(CASES):
            weft.set_seed(number)
            layer, x = make(), Tensor(values.astype(np.int32 if values is IDS else np.float32))
            weight = "embedding_table" if values is IDS else "weight"
            before = layer(x).asnumpy()
            assert not cuts or layout_of(getattr(layer, weight)) is None
            getattr(layer, name).shard(strategy)
            for one in (layer, copy.deepcopy(layer)):
                result = one(x)
                np.testing.assert_allclose(result.asnumpy(), before, 1e-5, 1e-5)
                assert layout_of(result) is not None, (number, name)
                if cuts:
                    assert "'d0'" in str(layout_of(getattr(one, weight))), (number, name)
            if name == "matmul":
                getattr(layer, name).shard(((1, 1), (3, 1)))
                with pytest.raises(ValueError, match="3 parts"):
                    layer(x)
    table = nn.Embedding(8, 4)
    table.gather.shard(((1, 1), (1,)), ((2, 1),))
    assert layout_of(table(Tensor(IDS.astype(np.int32)))) is not None
    dropped = nn.Dropout(p=0.5).set_train()
    dropped.dropout.shard(((2, 1),))
    assert layout_of(dropped(Tensor(ROWS.astype(np.float32)))) is not None
    loss = nn.SoftmaxCrossEntropyWithLogits()
    with pytest.warns(UserWarning, match=r"SoftmaxCrossEntropyWithLogits\.one_hot\.shard says nothing"):
        loss.one_hot.shard(((1, 1), (), ()))

    class Own(nn.Dense):
        def construct(self, x: Any) -> Any:
            return self.bias_add(self.matmul(x, self.weight), self.bias)

    own = Own(4, 8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        own.matmul.shard(((1, 1), (2, 1)))
    own(Tensor(ROWS.astype(np.float32)))
    assert "'d0'" in str(layout_of(own.weight))
    print("all agree")


main()
