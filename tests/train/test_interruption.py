"""Callbacks that meet plateaus and interruptions, converted checkpoint files, and helpers of mixed precision."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import weft
from weft import context, nn, train
from weft.core.tensor import Tensor
from weft.mindspore.request_exit import OnRequestExit
from weft.train import amp


def model(rate: float = 1.0) -> tuple[Any, Any, train.Model]:
    net = nn.Dense(1, 1, "ones", "zeros")
    optimizer = nn.SGD(net.trainable_params(), rate)
    return net, optimizer, train.Model(net, nn.MSELoss(), optimizer)


DATA = [(Tensor([[1.0]]), Tensor([[3.0]]))] * 4


@pytest.mark.parametrize(
    ("values", "settings", "rates"),
    [
        ([1.0, 2.0, 2.0, 2.0, 2.0], {"patience": 2}, [1.0, 1.0, 0.1, 0.1, 0.01]),
        ([1.0, 0.5, 0.2, 0.1, 0.05], {"patience": 1}, [1.0] * 5),
        ([1.0, 2.0, 2.0, 2.0, 2.0], {"patience": 1, "cooldown": 2, "factor": 0.5}, [1.0, 0.5, 0.5, 0.25, 0.25]),
        ([1.0, 2.0, 2.0, 2.0, 2.0], {"patience": 1, "min_lr": 0.05}, [1.0, 0.1, 0.05, 0.05, 0.05]),
        ([1.0, 2.0, 3.0, 4.0, 5.0], {"patience": 1, "mode": "max"}, [1.0] * 5),
        ([0.5, 0.6, 0.6, 0.6, 0.7], {"patience": 1, "monitor": "acc"}, [1.0, 1.0, 0.1, 0.01, 0.01]),
    ],
)
def test_the_rate_falls_on_a_plateau(values: Any, settings: Any, rates: Any) -> None:
    _, optimizer, _ = model()
    callback = train.ReduceLROnPlateau(**{"monitor": "eval_loss", **settings})
    name = settings.get("monitor", "loss")
    facts = SimpleNamespace(optimizer=optimizer, net_outputs=Tensor(1.0), cur_epoch_num=0)
    run = train.RunContext(facts)
    callback.on_train_begin(run)
    found = []
    for value in values:
        facts.eval_results = {name: value}
        callback.on_train_epoch_end(run)
        found.append(float(optimizer.learning_rate.value().item()))
    np.testing.assert_allclose(found, rates, rtol=1e-5)


def test_the_rate_follows_the_loss_of_a_run() -> None:
    _, optimizer, trained = model(0.0)
    trained.train(4, DATA, callbacks=[train.ReduceLROnPlateau("loss", patience=2, verbose=True)])
    assert optimizer.learning_rate.value().item() == 0.0
    for kind, settings in (
        (ValueError, {"factor": 1.0}), (ValueError, {"mode": "q"}), (ValueError, {"patience": -1}),
        (TypeError, {"patience": "a"}), (TypeError, {"monitor": 3}), (TypeError, {"factor": 1}),
    ):  # fmt: skip
        with pytest.raises(kind, match="ReduceLROnPlateau"):
            train.ReduceLROnPlateau(**settings)  # type: ignore[arg-type]


def test_an_interrupted_run_goes_on_with_what_was_saved(tmp_path: Path) -> None:
    class Broken(train.Callback):
        def on_train_epoch_end(self, run_context: Any) -> None:
            if run_context.original_args().cur_epoch_num == 2:
                raise KeyboardInterrupt

    net, _, trained = model(0.1)
    with pytest.raises(KeyboardInterrupt):
        trained.train(3, DATA, callbacks=[train.BackupAndRestore(str(tmp_path)), Broken()])
    other, _, again = model(0.1)
    run = train.RunContext(SimpleNamespace(train_network=again.train_network))
    train.BackupAndRestore(str(tmp_path)).on_train_begin(run)
    np.testing.assert_array_equal(other.weight, net.weight)
    again.train(1, DATA, callbacks=[train.BackupAndRestore(str(tmp_path))])
    assert os.listdir(tmp_path) == []
    for wrong in ((3,), ("a", "b"), ("a", 1, 2)):
        with pytest.raises(ValueError, match="BackupAndRestore"):
            train.BackupAndRestore(*wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("how", ["signal", "file"])
def test_a_run_ends_when_it_is_asked_to(tmp_path: Path, how: str) -> None:
    config = tmp_path / "config.json"

    class Asking(train.Callback):
        steps = 0

        def on_train_step_begin(self, run_context: Any) -> None:
            self.steps += 1
            if self.steps == 2 and how == "signal":
                os.kill(os.getpid(), signal.SIGTERM)
            elif self.steps == 2:
                config.write_text(json.dumps({"GracefulExit": 1}))

    before = signal.getsignal(signal.SIGTERM)
    net, _, trained = model(0.1)
    net.set_inputs(Tensor([[1.0]]))
    asking = Asking()
    ending = OnRequestExit(file_name="net", directory=str(tmp_path), config_file=str(config))
    trained.train(3, DATA, callbacks=[asking, ending])
    assert asking.steps == 2
    assert signal.getsignal(signal.SIGTERM) is before
    found = train.load_checkpoint(tmp_path / "rank_0" / "net.ckpt")
    np.testing.assert_array_equal(found["weight"], net.weight)
    assert (tmp_path / "rank_0" / "net.mindir").exists()
    for settings in ({"save_ckpt": 1}, {"file_name": 3}, {"sig": "a"}, {"sig": signal.SIGKILL}, {"directory": 3}):
        with pytest.raises(ValueError, match="OnRequestExit"):
            OnRequestExit(**settings)  # type: ignore[arg-type]


def test_checkpoints_change_their_format(tmp_path: Path) -> None:
    net = nn.Dense(2, 1)
    train.save_checkpoint(net, tmp_path / "a" / "net.ckpt", append_dict={"note": "text", "epoch": 3})
    train.save_checkpoint(net, tmp_path / "other.ckpt")
    train.ckpt_to_safetensors(str(tmp_path), str(tmp_path / "new"), {"weight": "w"}, "net")
    assert [str(p.relative_to(tmp_path)) for p in (tmp_path / "new").rglob("*.*")] == ["new/a/net.safetensors"]
    found = train.load_checkpoint(tmp_path / "new" / "a" / "net.safetensors")
    assert sorted(found) == ["bias", "epoch", "note", "w"]
    assert found["note"] == "text"
    train.safetensors_to_ckpt(str(tmp_path / "new" / "a" / "net.safetensors"), name_map={"w": "weight"})
    back = train.load_checkpoint_async(tmp_path / "new" / "a" / "net.ckpt", nn.Dense(2, 1)).result()
    np.testing.assert_array_equal(back["weight"], net.weight)
    assert train.async_ckpt_thread_status() is False
    with pytest.raises(weft.errors.CheckpointError):
        train.load_checkpoint_async(tmp_path / "none.ckpt").result()
    for bad in ((str(tmp_path / "none"),), (3,), (str(tmp_path), str(tmp_path / "other.ckpt"))):
        with pytest.raises(ValueError, match="ckpt_to_safetensors"):
            train.ckpt_to_safetensors(*bad)  # type: ignore[arg-type]


def test_lists_say_what_computes_in_a_half_type() -> None:
    def net() -> Any:
        return nn.SequentialCell(nn.Dense(2, 2), nn.LayerNorm((2,)))

    x = Tensor([[1.0, 2.0]])
    assert amp.custom_mixed_precision(net(), white_list=[nn.Dense])[0](x).dtype is weft.float16
    black = amp.custom_mixed_precision(net(), black_list=[nn.LayerNorm], dtype=weft.bfloat16)
    assert black(x).dtype is weft.float32
    assert black[0](x).dtype is weft.bfloat16
    assert black[1](x).dtype is weft.float32
    both: Any = {"white_list": [nn.Dense], "black_list": [nn.Dense]}
    for kind, settings in (
        (ValueError, {}), (ValueError, both), (ValueError, {"white_list": [], "dtype": weft.float32}),
        (TypeError, {"white_list": [3]}), (TypeError, {"white_list": 3}),
    ):  # fmt: skip
        with pytest.raises(kind, match="custom_mixed_precision"):
            amp.custom_mixed_precision(net(), **settings)
    with pytest.raises(TypeError, match="Cell"):
        amp.custom_mixed_precision(3, white_list=[])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="abstract"):
        amp.LossScaler()  # type: ignore[abstract]
    assert isinstance(amp.StaticLossScaler(2.0), amp.LossScaler)


def test_a_model_builds_its_cells() -> None:
    _, _, trained = model()
    trained.build(DATA)
    assert trained._train_network is not None
    with pytest.raises(ValueError, match="metrics"):
        trained.build(valid_dataset=DATA)
    for call in (trained.infer_predict_layout, trained.infer_train_layout):
        with pytest.raises(RuntimeError, match="parallel mode"):
            call(DATA)
    context.set_auto_parallel_context(parallel_mode="semi_auto_parallel")
    try:
        assert trained.infer_predict_layout(Tensor([[1.0]])) == {}
    finally:
        context.reset_auto_parallel_context()
