"""Runs one model in all modes and reports what it finds, a line of JSON for each stage.

The parent (`tests.zoo.runner`) kills it when it takes too long, and knows the stage then.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tests.zoo.comparing import NUDGE, OTHERS, Outcome, agree, compare
from weft.explain.recorder import Recorder
from weft.mindspore import install

#: sizes of images, smallest first: what a model cannot take it refuses in its first call
SIZES = (64, 96, 128, 160, 192, 224, 240, 256, 299, 384, 448)
MODES = ("eager", "graph", "jit")
CLASSES = 10
#: steps behind the first, for the steady time, while they take less than so many seconds in all
STEADY, SLOW = 3, 3.0


class Reporter:
    """Writes records for the parent."""

    def __init__(self) -> None:
        self._file = os.fdopen(os.dup(1), "w", buffering=1)
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 1)

    def put(self, **record: Any) -> None:
        """Write one record."""
        print(json.dumps(record), file=self._file)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """A part of the work, which the parent names when it does not end."""
        self.put(stage=name)
        try:
            yield
        except BaseException as error:
            self.put(failed=name, error=f"{type(error).__name__}: {error}"[:1500])
            raise


def build(name: str) -> Any:
    """A model of the zoo with few classes, untrained."""
    models = importlib.import_module("mindcv.models")
    try:
        return models.create_model(name, num_classes=CLASSES)
    except TypeError:  # it is no classifier
        return models.create_model(name)


def loss_of(results: Any, labels: Any) -> Any:
    """A number from whatever a model gives: cross entropy of class scores, squares of anything else."""
    from mindspore import ops

    if isinstance(results, (tuple, list)):
        return sum((loss_of(result, labels) for result in results[1:]), loss_of(results[0], labels))
    if results.ndim == 2 and results.shape[-1] == CLASSES:
        return ops.cross_entropy(results, labels)
    return (results * results).mean()


class Trial:
    """A model with what is needed to train it, put back to its beginning before each mode.

    Args:
        model: the network.
        batch: number of images.
    """

    def __init__(self, model: Any, batch: int) -> None:
        import mindspore as ms
        from mindspore import nn

        self.model, self.batch = model, batch
        self.optimizer = nn.Momentum(model.trainable_params(), learning_rate=0.01, momentum=0.9)
        self.parameters = {p.name: p for p in (*model.get_parameters(), *self.optimizer.get_parameters())}
        self.begun = {name: p.asnumpy().copy() for name, p in self.parameters.items()}
        self.labels = ms.Tensor(np.arange(batch) % CLASSES, ms.int32)
        self.images: Any = None

    def sized(self, size: int, seed: int = 0) -> None:
        """Make images of a size."""
        import mindspore as ms

        shape = (self.batch, 3, size, size)
        self.images = ms.Tensor(np.random.default_rng(seed).normal(size=shape), ms.float32)

    def put_back(self) -> None:
        """Everything as it was at the beginning, random numbers too."""
        import mindspore as ms

        for name, parameter in self.parameters.items():
            parameter.set_data(ms.Tensor(self.begun[name]))
        ms.set_seed(1)

    def outcome(self, scores: Any, loss: Any, gradients: Any) -> Outcome:
        """What a run gave, as arrays: scores, loss, gradients, and how the step changed each parameter."""
        changed = {name: p.asnumpy() - self.begun[name] for name, p in self.parameters.items()}
        names = [p.name for p in self.optimizer.parameters]
        return Outcome(
            {"scores": arrays(scores)},
            {"loss": arrays(loss)},
            dict(zip(names, (arrays(gradient) for gradient in gradients), strict=True)),
            {name: change for name, change in changed.items() if change.dtype != bool},
        )


def arrays(value: Any) -> np.ndarray[Any, Any]:
    """A result as one flat array."""
    if isinstance(value, (tuple, list)):
        return np.concatenate([arrays(part).ravel() for part in value])
    found = np.asarray(value.asnumpy() if hasattr(value, "asnumpy") else value)
    return found.astype(np.float64)


def programs(trial: Trial, mode: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Forward and training step, as a program has them in a mode."""
    import mindspore as ms
    from mindspore import nn

    model, optimizer = trial.model, trial.optimizer

    class WithLoss(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def construct(self, images: Any, labels: Any) -> Any:
            return loss_of(self.model(images), labels)

    with_loss = WithLoss()

    class Step(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.optimizer = optimizer
            self.value_and_grad = ms.value_and_grad(with_loss, None, optimizer.parameters)

        def construct(self, images: Any, labels: Any) -> Any:
            loss, gradients = self.value_and_grad(images, labels)
            self.optimizer(gradients)
            return loss, gradients

    ms.set_context(mode=ms.GRAPH_MODE if mode == "graph" else ms.PYNATIVE_MODE)
    step = Step()
    if mode != "jit":
        return model, step

    def forward(images: Any) -> Any:
        return model(images)

    def train(images: Any, labels: Any) -> Any:
        return step(images, labels)

    # a graph has the name of its function, and one of the same name and contents is compiled once
    forward.__name__, train.__name__ = type(model).__name__, type(step).__name__
    return ms.jit(forward), ms.jit(train)


class Run:
    """A model in a mode.

    Args:
        trial: the model.
        mode: one of `MODES`.
    """

    def __init__(self, trial: Trial, mode: str) -> None:
        self.trial = trial
        self.forward, self.step = programs(trial, mode)
        #: seconds of processor time of the first calls
        self.times: dict[str, float] = {}

    def outcome(self, nudge: float = 0.0) -> Outcome:
        """Forward, gradient and one step from the beginning.

        Args:
            nudge: by how much, relatively, the images are changed.
        """
        import mindspore as ms

        trial, images = self.trial, self.trial.images
        if nudge:
            noise = np.random.default_rng(2).normal(scale=nudge, size=images.shape)
            images = ms.Tensor(images.asnumpy() * (1.0 + noise), ms.float32)
        trial.put_back()
        trial.model.set_train(False)
        begun = time.process_time()
        scores = arrays(self.forward(images))
        self.times.setdefault("first_forward", time.process_time() - begun)
        trial.model.set_train(True)
        begun = time.process_time()
        loss, gradients = self.step(images, trial.labels)
        loss.asnumpy()
        self.times.setdefault("first_step", time.process_time() - begun)
        return trial.outcome(scores, loss, gradients)

    def measure(self) -> None:
        """The time of a step behind the first ones."""
        steady: list[float] = []
        while len(steady) <= STEADY and sum(steady) < SLOW:
            begun = time.process_time()
            self.step(self.trial.images, self.trial.labels)[0].asnumpy()
            steady.append(time.process_time() - begun)
        # what is compiled at the second call is in the first of them
        self.times["steady_step"] = statistics.median(steady[1:] or steady)


def fitting(trial: Trial, sizes: tuple[int, ...]) -> int:
    """The smallest size of images that the model takes in eager code, evaluating and training."""
    for size in sizes:
        trial.sized(size)
        try:
            for training in (False, True):
                trial.model.set_train(training)
                results = trial.model(trial.images)
                if not all(np.isfinite(arrays(results)).ravel()):
                    raise FloatingPointError("a score is not finite")
            return size
        except Exception:
            if size == sizes[-1]:
                raise
    raise ValueError("no sizes")


def same_for(first: Run, second: Run, size: int, seed: int) -> bool:
    """Whether two modes agree for other images."""
    first.trial.sized(size, seed)
    try:
        expected, found, nudged = first.outcome(), second.outcome(), first.outcome(NUDGE)
    finally:
        first.trial.sized(size)
    return agree(compare(expected, found, nudged))


def main(argv: list[str]) -> None:
    """Run ``child NAME BATCH CACHE SIZES MODES``."""
    name, batch, cache, sizes, modes = argv[0], int(argv[1]), argv[2], argv[3], argv[4].split(",")
    reporter = Reporter()
    warnings.simplefilter("ignore")
    install()
    with reporter.stage("import"):
        import mindspore as ms
    ms.set_context(compile_cache_path=cache)
    with reporter.stage("build"):
        ms.set_seed(0)
        trial = Trial(build(name), batch)
        reporter.put(parameters=int(sum(p.size for p in trial.model.get_parameters())))
    with reporter.stage("size"):
        size = fitting(trial, tuple(int(size) for size in sizes.split(",")))
        reporter.put(size=size)
    graphs = tempfile.mkdtemp()
    first: Run | None = None
    for mode in modes:
        with reporter.stage(mode):
            # operations of eager code may come from runs of other models; graphs are compiled in the first mode that
            # has them, and `jit` finds those of Graph mode
            ms.set_context(compile_cache_path=cache if mode == "eager" else graphs)
            with Recorder() as recorder:
                running = Run(trial, mode)
                outcome = running.outcome()
                running.measure()
            report = recorder.report()
            breaks = [f"{found.site.location}: {found.site.why}" for found in report.breaks]
            record = {"graphs": len(report.graphs), "breaks": breaks, "times": running.times}
            if first is None:
                first, expected, nudged = running, outcome, running.outcome(NUDGE)
            else:
                record["compared"] = compare(expected, outcome, nudged)
                if not agree(record["compared"]):
                    record["other_images"] = sum(same_for(first, running, size, seed) for seed in range(1, OTHERS + 1))
            reporter.put(mode=mode, **record)
    shutil.rmtree(graphs)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
