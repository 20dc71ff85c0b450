"""Trains a small model of `mindcv` on generated images, as its users' scripts do, eagerly and in Graph mode.

Run with MindSpore's names served: ``weft run tests/zoo/programs/training.py``. The last line is a JSON object: the
losses of both modes.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
from mindcv.data import create_dataset, create_loader, create_transforms
from mindcv.loss import create_loss
from mindcv.models import create_model
from mindcv.optim import create_optimizer
from mindcv.scheduler import create_scheduler
from mindcv.utils import StateMonitor, create_trainer
from mindspore import Model
from mindspore.train import Callback
from PIL import Image

CLASSES, IMAGES, EPOCHS, BATCH = 3, 16, 2, 8


class Losses(Callback):  # type: ignore[misc]
    """Keeps the loss of each step."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[float] = []

    def on_train_step_end(self, run_context: Any) -> None:
        """After a step."""
        outputs = run_context.original_args().net_outputs
        self.found.append(float((outputs[0] if isinstance(outputs, (tuple, list)) else outputs).asnumpy()))


def make_images(folder: Path) -> None:
    """A folder of images for each class, each class of a colour of its own."""
    random = np.random.default_rng(0)
    for split in ("train", "val"):
        for label in range(CLASSES):
            place = folder / split / f"class{label}"
            place.mkdir(parents=True)
            for number in range(IMAGES):
                pixels = random.integers(0, 120, (72, 72, 3), np.uint8)
                pixels[:, :, label] += 120
                Image.fromarray(pixels).save(place / f"{number}.png")


def loader(folder: Path, split: str) -> Any:
    """The batches of a split."""
    training = split == "train"
    data = create_dataset(name="", root=str(folder), split=split, shuffle=training, num_parallel_workers=1)
    transforms = create_transforms(dataset_name="", image_resize=64, is_training=training)
    return create_loader(
        data, batch_size=BATCH, drop_remainder=training, is_training=training, transform=transforms,
        num_parallel_workers=1, num_classes=CLASSES,
    )  # fmt: skip


def train(folder: Path, mode: int, model: str, optimizer: str, trainer: dict[str, Any]) -> dict[str, Any]:
    """Train in a mode.

    Args:
        folder: the images.
        mode: the mode.
        model: name of the model.
        optimizer: name of the optimizer.
        trainer: settings for `mindcv`'s own training step; none trains with MindSpore's.
    """
    ms.set_context(mode=mode)
    ms.set_seed(1)
    np.random.seed(1)
    batches, others = loader(folder, "train"), loader(folder, "val")
    steps = batches.get_dataset_size()
    network = create_model(model, num_classes=CLASSES)
    loss = create_loss("CE", label_smoothing=0.1)
    rates = create_scheduler(
        steps, scheduler="cosine_decay", lr=0.01, min_lr=0.001, warmup_epochs=1, decay_epochs=EPOCHS - 1,
        num_epochs=EPOCHS,
    )  # fmt: skip
    update = create_optimizer(
        network.trainable_params(), opt=optimizer, lr=rates, weight_decay=1e-4, momentum=0.9, nesterov=True,
        weight_decay_filter="norm_and_bias", loss_scale=1.0,
    )  # fmt: skip
    metrics = {"acc": ms.train.Accuracy()}
    losses = Losses()
    callbacks: list[Any] = [losses]
    if trainer:
        (folder / f"ckpt{mode}").mkdir()
        running = create_trainer(
            network, loss, update, metrics, amp_level="O0", amp_cast_list="[]", loss_scale_type="fixed", **trainer
        )
        callbacks.append(
            StateMonitor(
                running,
                model_name=model,
                dataset_sink_mode=False,
                dataset_val=others,
                metric_name=list(metrics),
                ckpt_save_dir=str(folder / f"ckpt{mode}"),
                summary_dir=str(folder / f"summary{mode}"),
                log_interval=1,
                rank_id=0,
                device_num=1,
            )
        )
    else:
        running = Model(network, loss, update, metrics=metrics)
    running.train(EPOCHS, batches, callbacks=callbacks, dataset_sink_mode=False)
    return {"losses": losses.found, "accuracy": running.eval(others, dataset_sink_mode=False)["acc"]}


def main() -> None:
    """Train in both modes and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="mobilenet_v1_025")
    parser.add_argument("--optimizer", default="momentum")
    parser.add_argument("--trainer", default="{}", help="settings for mindcv's own step, as JSON")
    options = parser.parse_args()
    found = {}
    for mode, name in ((ms.PYNATIVE_MODE, "eager"), (ms.GRAPH_MODE, "graph")):
        with tempfile.TemporaryDirectory() as folder:
            make_images(Path(folder))
            found[name] = train(Path(folder), mode, options.model, options.optimizer, json.loads(options.trainer))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
