"""Model: the loops, their callbacks, metrics and loss scaling."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weft import dtypes, nn
from weft.core.tensor import Parameter, Tensor
from weft.ops.random import set_seed
from weft.train import (
    Accuracy,
    Callback,
    CheckpointConfig,
    DynamicLossScaleManager,
    EarlyStopping,
    FixedLossScaleManager,
    History,
    LambdaCallback,
    Loss,
    LossMonitor,
    Metric,
    Model,
    ModelCheckpoint,
    TimeMonitor,
    auto_mixed_precision,
    load_checkpoint,
    load_param_into_net,
)  # fmt: skip

GENERATOR = np.random.default_rng(0)
X = GENERATOR.standard_normal((64, 3)).astype(np.float32)
CLASSES = (X @ GENERATOR.standard_normal((3, 4))).argmax(1).astype(np.int32)
DATA = [(X[i : i + 16], CLASSES[i : i + 16]) for i in range(0, 64, 16)]


def model(**settings: Any) -> Model:
    net = nn.SequentialCell(nn.Dense(3, 16), nn.Tanh(), nn.Dense(16, 4))
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    settings.setdefault("metrics", {"accuracy", "loss"})
    return Model(net, loss, nn.Adam(net.trainable_params(), 0.05), **settings)


def test_training_learns_and_evaluation_says_so() -> None:
    one = model()
    before = one.eval(DATA)
    one.train(40, DATA)
    after = one.eval(DATA)
    assert after["accuracy"] > 0.95 > before["accuracy"]
    assert after["loss"] < before["loss"]
    out = one.predict(Tensor(X))
    assert Accuracy()(out, Tensor(CLASSES)) == after["accuracy"]


def test_callbacks_see_every_moment_in_order() -> None:
    seen: list[str] = []

    class Watch(Callback):
        def begin(self, run_context: Any) -> None:
            seen.append("begin")

        def epoch_begin(self, run_context: Any) -> None:
            seen.append(f"epoch {run_context.original_args().cur_epoch_num}")

        def on_train_step_end(self, run_context: Any) -> None:
            facts = run_context.original_args()
            seen.append(f"step {facts.cur_step_num} of {facts.batch_num}")
            if facts.cur_step_num == 6:
                run_context.request_stop()

        def end(self, run_context: Any) -> None:
            seen.append("end")

    model().train(3, DATA, [Watch()])
    steps = [f"step {n} of 4" for n in range(1, 7)]
    assert seen == ["begin", "epoch 1", *steps[:4], "epoch 2", *steps[4:], "end"]


def test_runs_are_within_their_callbacks() -> None:
    seen: list[str] = []

    class Opening(Callback):
        def __enter__(self) -> Callback:
            seen.append("enter")
            return self

        def __exit__(self, *error: object) -> None:
            seen.append("exit" if error[0] is None else "failed")

        def on_eval_end(self, run_context: Any) -> None:
            seen.append("evaluated")

    one, callback = model(), Opening()
    one.train(1, DATA, callback)
    one.fit(2, DATA, DATA, callbacks=callback)
    one.eval(DATA, callback)
    assert seen == ["enter", "exit", "enter", "evaluated", "evaluated", "exit", "enter", "evaluated", "exit"]
    seen.clear()
    failing = LambdaCallback(on_train_step_end=lambda context: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        one.train(1, DATA, [callback, failing])
    assert seen == ["enter", "failed"]


def test_lambda_callback_and_fit() -> None:
    epochs: list[Any] = []
    history = History()
    callbacks = [LambdaCallback(on_train_epoch_end=lambda c: epochs.append(c.original_args().eval_results)), history]
    model().fit(3, DATA, DATA, callbacks=callbacks)
    assert len(epochs) == 3
    assert all(set(e) == {"accuracy", "loss"} for e in epochs)
    assert history.epoch["epoch"] == [1, 2, 3]
    assert len(history.history["eval_accuracy"]) == 3


def test_monitors_print(capsys: pytest.CaptureFixture[str]) -> None:
    model().train(2, DATA, [LossMonitor(3), TimeMonitor()])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines if "loss is" in line] == ["epoch: 1 step: 3", "epoch: 2 step: 2"]
    assert sum("per step time" in line for line in lines) == 2


def test_a_loss_that_is_no_number_ends_training() -> None:
    bad = [(np.full((2, 3), np.nan, np.float32), np.zeros(2, np.int32))]
    with pytest.raises(ValueError, match="the loss is nan"):
        model().train(1, bad, LossMonitor())


def test_early_stopping_waits_for_its_patience() -> None:
    seen: list[int] = []
    still = nn.Dense(3, 4)
    one = Model(still, nn.CrossEntropyLoss(), nn.SGD(still.trainable_params(), 0.0))
    watch = LambdaCallback(on_train_epoch_end=lambda c: seen.append(c.original_args().cur_epoch_num))
    one.train(10, DATA, [watch, EarlyStopping(patience=3)])
    assert seen == [1, 2, 3, 4]


@pytest.mark.parametrize("form", ["ckpt", "safetensors"])
def test_checkpoints_are_saved_and_pruned(tmp_path: Path, form: str) -> None:
    pytest.importorskip("safetensors")
    append = ["epoch_num", {"tag": "x"}]
    config = CheckpointConfig(3, keep_checkpoint_max=2, append_info=append, crc_check=True, format=form)
    callback = ModelCheckpoint("net", str(tmp_path), config)
    one = model()
    one.train(2, DATA, callback)
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"net-2_2.{form}", f"net-2_4.{form}"]
    found = load_checkpoint(callback.latest_ckpt_file_name)
    assert (found["epoch_num"], found["tag"]) == (2, "x")
    np.testing.assert_array_equal(found["0.weight"].asnumpy(), one.predict_network[0].weight.asnumpy())


class Counting(nn.Cell):
    """A layer with a buffer, inside of another one."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.SequentialCell(nn.Dense(3, 4))
        self.inner.register_buffer("shift", Tensor(np.full(4, 2, np.float32)))

    def construct(self, x: Tensor) -> Tensor:
        return self.inner(x) + self.inner.shift


def test_a_checkpoint_has_the_state_of_the_optimizer(tmp_path: Path) -> None:
    def trained(epochs: int, saved: str = "") -> tuple[str, nn.Cell]:
        set_seed(3)
        net = Counting()
        optimizer = nn.Adam(net.trainable_params(), 0.1)
        if saved:
            found = load_checkpoint(saved)
            assert load_param_into_net(net, found)[0] == [] == load_param_into_net(optimizer, found)[0]
        callback = ModelCheckpoint("net", str(tmp_path), CheckpointConfig(save_checkpoint_steps=4))
        Model(net, nn.CrossEntropyLoss(), optimizer).train(epochs, DATA, callback)
        return callback.latest_ckpt_file_name, net

    saved, _ = trained(1)
    found = load_checkpoint(saved)
    assert {"inner.0.weight", "moment1.inner.0.weight", "global_step", "inner.shift"} <= set(found)
    assert not [name for name in found if "network" in name]
    np.testing.assert_array_equal(
        trained(1, saved)[1].inner[0].weight.asnumpy(), trained(2)[1].inner[0].weight.asnumpy()
    )


@pytest.mark.parametrize(
    "manager",
    [FixedLossScaleManager(8.0), FixedLossScaleManager(8.0, False), DynamicLossScaleManager(8.0, 2, 2)],
    ids=["fixed", "plain", "dynamic"],
)
def test_loss_scale_changes_nothing_but_the_range(manager: Any) -> None:
    results = []
    for settings in ({}, {"loss_scale_manager": manager}):
        net = nn.Dense(3, 4, "ones", "zeros")
        scaled = bool(settings) and not manager.get_drop_overflow_update()
        optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9, loss_scale=8.0 if scaled else 1.0)
        Model(net, nn.CrossEntropyLoss(), optimizer, **settings).train(2, DATA)
        results.append(net.weight.asnumpy())
    np.testing.assert_allclose(*results, 1e-4, 1e-6)


@pytest.mark.parametrize("level", ["O1", "O2", "O3"])
def test_mixed_precision_trains(level: str) -> None:
    one = model(amp_level=level)
    one.train(40, DATA)
    assert one.eval(DATA)["accuracy"] > 0.9
    out = one.predict(Tensor(X))
    assert out.dtype is (dtypes.float16 if level == "O3" else dtypes.float32)
    assert all(p.dtype is dtypes.float32 for p in one.predict_network.get_parameters())


def test_mixed_precision_keeps_norms_wide() -> None:
    seen: dict[str, Any] = {}

    class Watch(nn.Cell):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

        def construct(self, x: Any) -> Any:
            seen[self.name] = x.dtype
            return x

    net = nn.SequentialCell(nn.Dense(3, 4), nn.LayerNorm((4,)), nn.Dense(4, 2))
    net[1].register_forward_pre_hook(lambda cell, inputs: seen.setdefault("into norm", inputs[0].dtype) and None)
    net[1].register_forward_hook(lambda cell, inputs, out: seen.setdefault("out of norm", out.dtype) and None)
    out = auto_mixed_precision(net, "O2", dtypes.bfloat16)(Tensor(X))
    assert seen == {"into norm": dtypes.bfloat16, "out of norm": dtypes.float32}
    assert out.dtype is dtypes.float32
    assert auto_mixed_precision(net, "O0") is net
    with pytest.raises(ValueError, match="amp_level"):
        auto_mixed_precision(net, "O9")


def test_a_network_that_trains_itself() -> None:
    class Counter(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.seen = Parameter(Tensor(0.0), requires_grad=False)

        def construct(self, x: Any, y: Any) -> Any:
            self.seen.set_data(self.seen + 1)
            return self.seen

    net = Counter()
    Model(net).train(2, DATA)
    assert float(net.seen.asnumpy()) == 8


def test_datasets_may_give_dicts_and_iterators() -> None:
    class Dataset:
        def create_tuple_iterator(self) -> Any:
            return iter(DATA)

        def get_dataset_size(self) -> int:
            return len(DATA)

    one = model()
    wanted = one.eval(DATA)
    assert one.eval(Dataset()) == wanted
    assert one.eval([{"x": x, "y": y} for x, y in DATA]) == wanted
    assert one.eval(iter(DATA)) == wanted
    with pytest.raises(ValueError, match="only once"):
        one.train(2, iter(DATA))


def test_metrics_of_the_user_choose_their_outputs() -> None:
    class Largest(Metric):
        def clear(self) -> None:
            self.value = -np.inf

        def update(self, *inputs: Any) -> None:
            assert len(inputs) == 1
            self.value = max(self.value, float(inputs[0].asnumpy().max()))

        def eval(self) -> float:
            return self.value

    one = model(metrics={"largest": Largest().set_indexes([2]), "loss": Loss()})
    assert one.eval(DATA)["largest"] == CLASSES.max()


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: Model(3), TypeError, "must be a Cell"),
        (lambda: model(nope=1), ValueError, "unknown settings: nope"),
        (lambda: model(metrics={"nope"}), KeyError, "is no metric"),
        (lambda: model(metrics=None).eval(DATA), ValueError, "needs metrics"),
        (lambda: model().train(0, DATA), ValueError, "positive int"),
        (lambda: model().train(1, DATA, [3]), TypeError, "must be Callbacks"),
        (lambda: Model(nn.Dense(1, 1), nn.MSELoss()).train(1, DATA), ValueError, "needs an optimizer"),
        (lambda: CheckpointConfig(0, 0), ValueError, "needs save_checkpoint_steps"),
        (lambda: CheckpointConfig(format="x"), ValueError, "format must be"),
    ],
)
def test_mistakes_are_named(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()
