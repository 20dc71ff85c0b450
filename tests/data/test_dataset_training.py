"""Models and loops of the program take datasets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from tests.helpers.data_settings import settings_of_pipelines  # noqa: F401
from weft import data as ds
from weft import nn
from weft.train import Callback, DatasetHelper, Model, connect_network_with_dataset, data_sink


def samples(shuffle: bool = False) -> Any:
    x = np.linspace(-1, 1, 32, dtype=np.float32)[:, None]
    return ds.NumpySlicesDataset({"x": x, "y": 3 * x}, shuffle=shuffle).batch(8)


class Seen(Callback):
    """Notes the batches of each epoch."""

    def __init__(self) -> None:
        self.epochs: list[list[Any]] = []

    def on_train_epoch_begin(self, run_context: Any) -> None:
        self.epochs.append([])

    def on_train_step_begin(self, run_context: Any) -> None:
        batch = run_context.original_args().train_dataset_element
        self.epochs[-1].append(batch[0].asnumpy().ravel().tolist())


def trained(**more: Any) -> tuple[Any, Seen]:
    network = nn.Dense(1, 1)
    model = Model(network, nn.MSELoss(), nn.SGD(network.trainable_params(), 0.3), metrics={"mse"})
    seen = Seen()
    model.train(more.pop("epochs", 20), more.pop("data", samples()), callbacks=seen, **more)
    return model, seen


@pytest.mark.parametrize("sinks", [False, True])
def test_a_model_learns(sinks: bool) -> None:
    model, seen = trained(dataset_sink_mode=sinks)
    assert [len(epoch) for epoch in seen.epochs] == [4] * 20
    assert model.eval(samples(), dataset_sink_mode=sinks)["mse"] < 1e-3


def test_each_epoch_is_shuffled_by_itself() -> None:
    ds.config.set_seed(2)
    _, seen = trained(epochs=2, data=samples(shuffle=True))
    first, second = (np.ravel(epoch).tolist() for epoch in seen.epochs)
    assert first != second
    assert sorted(first) == sorted(second)


def test_sinks_go_on_where_they_ended() -> None:
    whole = [row[0].asnumpy().ravel().tolist() for row in samples()]
    _, seen = trained(epochs=3, dataset_sink_mode=True, sink_size=3)
    assert seen.epochs == [whole[:3], [whole[3], *whole[:2]], [*whole[2:], whole[0]]]
    _, seen = trained(epochs=1, sink_size=3)
    assert seen.epochs == [whole]


def test_helpers_of_loops() -> None:
    network = nn.ReLU()
    helper = DatasetHelper(samples(), dataset_sink_mode=False)
    plain = [network(x).asnumpy().sum() for x, _ in helper]
    assert connect_network_with_dataset(network, helper) is network
    only = ds.NumpySlicesDataset(np.linspace(-1, 1, 32, dtype=np.float32)[:, None], shuffle=False).batch(8)
    helper = DatasetHelper(only)
    connected = connect_network_with_dataset(network, helper)
    assert [connected().asnumpy().sum() for _ in helper] == plain
    with pytest.raises(RuntimeError, match="once in each round"):
        connected()
    step = data_sink(lambda x, y: x.sum() * 0 + y.sum(), samples(), sink_size=2)
    sums = [row[1].asnumpy().sum() for row in samples()]
    assert [float(step()) for _ in range(3)] == pytest.approx([sums[1], sums[3], sums[1]], abs=1e-5)


def test_in_graph_mode() -> None:
    weft.set_context(mode=weft.GRAPH_MODE)
    model, _ = trained()
    assert model.eval(samples())["mse"] < 1e-3
