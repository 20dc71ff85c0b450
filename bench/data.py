"""Pipelines of data: records against the same pipeline by hand, and LeNet's epochs against arrays in memory."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import weft
from bench.data_peers import weft_batches
from bench.lenet import BATCH, MOMENTUM, RATE, LeNet, weft_step
from bench.measure import Result, row, seconds
from bench.records import COUNT, Records, ahead, plain
from weft import data as ds
from weft import nn, train
from weft.data import vision

IMAGES = 3200


def _in_turn(ours: Callable[[], Any], reference: Callable[[], Any], repeat: int, clock: Any) -> Result:
    """The median of the ratios of neighbouring runs, after one that does not count."""
    times: list[list[float]] = []
    for _ in range(repeat + 1):
        pair = []
        for call in (ours, reference):
            begin = clock()
            call()
            pair.append(clock() - begin)
        times.append(pair)
    best = [min(pair[side] for pair in times[1:]) for side in (0, 1)]
    return Result(statistics.median(a / b for a, b in times[1:]), seconds(best[0]), seconds(best[1]))


def _count(batches: Any) -> int:
    return sum(len(batch[0]) for batch in batches)


@row("1,000,000 records, 2 threads, over threads by hand", 1.2)
def records_by_threads(repeat: int) -> Result:
    records = Records(COUNT)
    return _in_turn(
        lambda: _count(weft_batches(COUNT, "threads")),
        lambda: plain(records, "threads"),
        min(repeat, 5),
        time.process_time,
    )


@row("1,000,000 records, 2 processes, over processes by hand", 1.2)
def records_by_processes(repeat: int) -> Result:
    records = Records(COUNT)
    return _in_turn(
        lambda: _count(weft_batches(COUNT, "processes")),
        lambda: plain(records, "stacking"),
        min(repeat, 5),
        time.perf_counter,
    )


@row("1,000,000 records in arrays, permuted and in batches, over the same by hand", 1.2)
def records_in_arrays(repeat: int) -> Result:
    records = Records(COUNT)

    def ours() -> int:
        data = ds.NumpySlicesDataset((records.x, records.y), shuffle=True).batch(BATCH)
        return _count(data.create_tuple_iterator(num_epochs=1, output_numpy=True))

    def by_hand() -> int:
        order = np.random.default_rng(0).permutation(COUNT)
        chosen = (order[begin : begin + BATCH] for begin in range(0, COUNT, BATCH))
        return _count(ahead([records.x[places], records.y[places]] for places in chosen))

    return _in_turn(ours, by_hand, min(repeat, 5), time.process_time)


def _pictures() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.integers(0, 256, (IMAGES, 32, 32, 1)).astype(np.uint8), rng.integers(0, 10, IMAGES).astype(np.int32)


def _epoch(step: Callable[[Any, Any], Any], batches: Any) -> None:
    loss = None
    for x, y in batches:
        loss = step(x, y)
    float(loss)


@row("LeNet epoch over a dataset, over arrays in memory", 1.1)
def epoch_in_memory(repeat: int) -> Result:
    pictures, labels = _pictures()
    images = np.moveaxis(pictures, 3, 1).astype(np.float32) / 255
    rng = np.random.default_rng(0)
    step = weft.jit(weft_step())
    rows = ds.NumpySlicesDataset((images, labels), shuffle=True).batch(BATCH).create_tuple_iterator()

    def arrays() -> Any:
        order = rng.permutation(IMAGES)
        for begin in range(0, IMAGES, BATCH):
            chosen = order[begin : begin + BATCH]
            yield weft.Tensor(images[chosen]), weft.Tensor(labels[chosen])

    return _in_turn(lambda: _epoch(step, rows), lambda: _epoch(step, arrays()), min(repeat, 15), time.perf_counter)


@row("LeNet epoch over a dataset with two operations, over the same by hand", 1.1)
def epoch_with_operations(repeat: int) -> Result:
    pictures, labels = _pictures()
    rng = np.random.default_rng(0)
    step = weft.jit(weft_step())
    data = ds.NumpySlicesDataset((pictures, labels), ["image", "label"], shuffle=True)
    data = data.map([vision.Rescale(1 / 255, 0.0), vision.HWC2CHW()], "image", num_parallel_workers=2)
    rows = data.batch(BATCH).create_tuple_iterator()

    def arrays() -> Any:
        order = rng.permutation(IMAGES)
        for begin in range(0, IMAGES, BATCH):
            chosen = order[begin : begin + BATCH]
            images = [(pictures[place].astype(np.float32) * np.float32(1 / 255)).transpose(2, 0, 1) for place in chosen]
            yield weft.Tensor(np.stack(images)), weft.Tensor(labels[chosen])

    return _in_turn(lambda: _epoch(step, rows), lambda: _epoch(step, arrays()), min(repeat, 15), time.perf_counter)


def _model_epoch(repeat: int, sinks: bool) -> Result:
    pictures, labels = _pictures()
    images = np.moveaxis(pictures, 3, 1).astype(np.float32) / 255
    network = LeNet()
    optimizer = nn.Momentum(network.trainable_params(), RATE, MOMENTUM)
    model = train.Model(network, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"), optimizer)
    in_memory = [(images[b : b + BATCH], labels[b : b + BATCH]) for b in range(0, IMAGES, BATCH)]
    data = ds.NumpySlicesDataset((images, labels), shuffle=True).batch(BATCH)
    return _in_turn(
        lambda: model.train(1, data, dataset_sink_mode=sinks),
        lambda: model.train(1, in_memory),
        min(repeat, 15),
        time.perf_counter,
    )


@row("LeNet epoch of Model.train over a dataset, over arrays in memory", 1.1)
def model_epoch(repeat: int) -> Result:
    return _model_epoch(repeat, False)


@row("the same with dataset_sink_mode", 1.1)
def model_epoch_sinking(repeat: int) -> Result:
    return _model_epoch(repeat, True)
