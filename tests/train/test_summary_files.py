"""SummaryRecord and SummaryCollector: what is in the files, read back as TensorBoard reads them."""

from __future__ import annotations

import glob
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor, nn, ops
from weft.data import NumpySlicesDataset
from weft.data.records import records_of
from weft.train import Model, SummaryCollector, SummaryRecord

X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture(scope="module")
def board() -> Any:
    return pytest.importorskip("tensorboardX")


def read(folder: Path) -> list[tuple[int, str, Any]]:
    """Step, tag and value of all summaries in a folder."""
    from tensorboardX.proto.event_pb2 import Event

    found = []
    for path in sorted(glob.glob(str(folder / "*tfevents*"))):
        for content in records_of(path):
            event = Event.FromString(content)
            for value in event.summary.value:
                kind = value.WhichOneof("value")
                found.append((event.step, value.tag, getattr(value, kind)))
    return found


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.scalar = ops.ScalarSummary()
        self.tensor = ops.TensorSummary()
        self.image = ops.ImageSummary()
        self.histogram = ops.HistogramSummary()

    def construct(self, x: Any, images: Any) -> Any:
        self.scalar("mean", x.mean())
        self.tensor("x", x)
        self.histogram("distribution", x)
        self.image("images", images)
        return x * 2


@pytest.mark.usefixtures("board")
@pytest.mark.parametrize("compiled", [False, True])
def test_what_operators_note_is_written(compiled: bool, tmp_path: Path) -> None:
    net = Net()
    call = weft.jit(net) if compiled else net
    with SummaryRecord(str(tmp_path)) as record:
        for step in (1, 2):
            call(Tensor(X * step), Tensor(np.zeros((2, 3, 4, 4), np.uint8)))
            assert record.record(step) is True
        record.add_value("scalar", "added", Tensor(3.0))
        record.set_mode("eval")
        assert record.record(3) is True
    found = read(tmp_path)
    assert [(step, tag) for step, tag, _ in found] == [
        *[(step, tag) for step in (1, 2) for tag in ("mean", "x", "distribution", "images")],
        (3, "eval/added"),
    ]
    values = {(step, tag): value for step, tag, value in found}
    assert [values[step, "mean"] for step in (1, 2)] == [2.5, 5.0]
    tensor = values[2, "x"]
    assert [dim.size for dim in tensor.tensor_shape.dim] == [2, 3]
    assert np.array_equal(np.frombuffer(tensor.tensor_content, np.float32), X.ravel() * 2)
    histogram = values[2, "distribution"]
    assert (histogram.min, histogram.max, histogram.num, histogram.sum) == (0.0, 10.0, 6.0, 30.0)
    assert (values[1, "images"].height, values[1, "images"].width) == (4, 8)
    assert values[3, "eval/added"] == 3.0


@pytest.mark.usefixtures("board")
def test_tensors_as_files_of_numpy(tmp_path: Path) -> None:
    with SummaryRecord(str(tmp_path), export_options={"tensor_format": "npy"}) as record:
        record.add_value("tensor", "a/b", Tensor(X))
        record.record(7)
    assert np.array_equal(np.load(tmp_path / "export_tensor" / "a_b_7.npy"), X)


@pytest.mark.usefixtures("board")
def test_a_file_of_the_largest_size(tmp_path: Path) -> None:
    with SummaryRecord(str(tmp_path), max_file_size=50) as record:
        record.add_value("tensor", "x", Tensor(X))
        assert record.record(1)
        record.add_value("tensor", "x", Tensor(X))
        with pytest.warns(UserWarning, match="nothing more is written"):
            assert not record.record(2)
        assert not record.record(3)
    assert [step for step, _, _ in read(tmp_path)] == [1]


@pytest.mark.usefixtures("board")
def test_plugins_that_are_left_out(tmp_path: Path) -> None:
    with SummaryRecord(str(tmp_path)) as record:
        record.add_value("scalar", "a", Tensor(1.0))
        record.add_value("tensor", "b", Tensor(X))
        record.record(1, plugin_filter=lambda plugin: plugin == "tensor")
        record.record(2)
    assert [tag for _, tag, _ in read(tmp_path)] == ["b"]


@pytest.mark.usefixtures("board")
@pytest.mark.parametrize(
    ("plugin", "name", "value", "error", "text"),
    [
        ("zz", "x", Tensor(3.0), ValueError, "no such \"plugin\" of 'zz'"),
        ("scalar", "x", 3.0, TypeError, "expect to be Tensor, but got float"),
        ("scalar", "x", Tensor(X), ValueError, "the v rank must be less than or equal to 1, but got 2"),
        ("image", "x", Tensor(X), ValueError, "seems not to hold a valid image"),
        ("tensor", "x", Tensor(1.0), ValueError, "the value should not be empty"),
        ("histogram", "x", Tensor(1.0), ValueError, "the value should not be empty"),
        ("scalar", "", Tensor(1.0), ValueError, 'the parameter "name" type should be str'),
        ("scalar", 5, Tensor(1.0), ValueError, 'the parameter "name" type should be str'),
    ],
)
def test_wrong_values(plugin: str, name: Any, value: Any, error: type[Exception], text: str, tmp_path: Path) -> None:
    with SummaryRecord(str(tmp_path)) as record:
        with pytest.raises(error, match=text):
            record.add_value(plugin, name, value)
        with pytest.raises(TypeError, match="The type of 'step' should be 'int'"):
            record.record("a")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="is not a recognized mode"):
            record.set_mode("zz")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"log_dir": ""}, ValueError),
        ({"log_dir": 5}, TypeError),
        ({"file_prefix": 5}, TypeError),
        ({"file_suffix": 5}, TypeError),
        ({"max_file_size": "a"}, TypeError),
        ({"raise_exception": 5}, TypeError),
        ({"export_options": 5}, TypeError),
        ({"export_options": {"zz": "npy"}}, ValueError),
        ({"export_options": {"tensor_format": "csv"}}, ValueError),
    ],
)
def test_wrong_arguments_of_a_record(options: dict[str, Any], error: type[Exception], tmp_path: Path) -> None:
    with pytest.raises(error):
        SummaryRecord(**{"log_dir": str(tmp_path), **options})


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"summary_dir": 5}, TypeError, "summary_dir"),
        ({"collect_freq": 0}, ValueError, "`collect_freq` should be greater than 0, but got `0`"),
        ({"collect_freq": "a"}, TypeError, r"valid type of \['int'\], but got str"),
        ({"collect_specified_data": 5}, TypeError, r"valid type of \['dict', 'NoneType'\], but got int"),
        ({"collect_specified_data": {"zz": True}}, ValueError, "the keys {'zz'} of `collect_specified_data`"),
        ({"collect_specified_data": {"collect_metric": 5}}, TypeError, r"`collect_metric` .* \['bool'\]"),
        ({"keep_default_action": 5}, TypeError, "`keep_default_action`"),
        ({"custom_lineage_data": {"a": [1]}}, TypeError, "the value of custom_lineage_data -> a"),
        ({"collect_tensor_freq": -1}, ValueError, "`collect_tensor_freq` should be greater than 0, but got `-1`"),
        ({"max_file_size": "a"}, TypeError, "`max_file_size`"),
    ],
)
def test_wrong_arguments_of_a_collector(options: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        SummaryCollector(**{"summary_dir": "s", **options})


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from weft.lazily import deferred
    from weft.train import summary

    monkeypatch.setitem(sys.modules, "tensorboardX.event_file_writer", None)
    monkeypatch.setattr(summary, "files", deferred("tensorboardX.event_file_writer"))
    with pytest.raises(ImportError, match=r"pip install \"weft\[summary\]\""):
        SummaryRecord(str(tmp_path))


class Noting(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.flatten = nn.Flatten()
        self.dense = nn.Dense(12, 1)
        self.note = ops.ScalarSummary()
        self.tensor = ops.TensorSummary()

    def construct(self, x: Any) -> Any:
        found = self.dense(self.flatten(x))
        self.note("mean", found.mean())
        self.tensor("found", found)
        return found


def train(collector: SummaryCollector) -> None:
    images = np.random.default_rng(0).random((12, 3, 2, 2), dtype=np.float32)
    data = NumpySlicesDataset((images, np.ones((12, 1), np.float32)), shuffle=False).batch(2)
    net = Noting()
    Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.01)).train(1, data, callbacks=[collector])


@pytest.mark.usefixtures("board")
def test_a_collector(tmp_path: Path) -> None:
    train(SummaryCollector(str(tmp_path), collect_freq=4))
    found = read(tmp_path)
    tags = ["mean", "found", "loss/auto", "input_data/auto", "dense.weight/auto", "dense.bias/auto"]
    assert [(step, tag) for step, tag, _ in found] == [(step, tag) for step in (1, 4) for tag in tags]
    losses = [value for _, tag, value in found if tag == "loss/auto"]
    assert all(np.isfinite(losses))


@pytest.mark.usefixtures("board")
def test_what_a_collector_is_asked_for(tmp_path: Path) -> None:
    asked = {"collect_metric": False, "histogram_regular": "dense.w.*"}
    train(SummaryCollector(str(tmp_path), 3, collect_specified_data=asked, keep_default_action=False))
    assert {tag for _, tag, _ in read(tmp_path)} == {"mean", "found", "dense.weight/auto"}


@pytest.mark.usefixtures("board")
def test_tensors_have_steps_of_their_own(tmp_path: Path) -> None:
    train(SummaryCollector(str(tmp_path), 10, keep_default_action=False, collect_tensor_freq=2))
    found = [(step, tag) for step, tag, _ in read(tmp_path)]
    assert [step for step, tag in found if tag == "found"] == [1, 2, 4, 6]
    assert [step for step, tag in found if tag == "mean"] == [1]
