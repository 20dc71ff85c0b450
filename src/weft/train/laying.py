"""How networks lie on devices before they have run, and the strategy files that settings ask for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from weft import context
from weft.capture.whole import follow
from weft.core.tensor import data_of
from weft.nn.cell import Cell
from weft.parallel import placement, rows
from weft.train import strategies
from weft.train.strategies import SliceLayout
from weft.train.transforming import layouts_of


def lay_out(network: Cell, inputs: Sequence[Any]) -> None:
    """Put the parameters of a network where its first call as a graph puts them; nothing is computed.

    Args:
        network: the network.
        inputs: of the call.

    Raises:
        Unsupported: a part of the call needs Python before the rest is known.
    """
    if placement.count() > 1 and context.MODE == context.GRAPH_MODE:
        rows.call(lambda args, _: follow(network, args, type(network).__name__), tuple(inputs), {})


def layouts(caller: str, network: Cell) -> dict[str, list[Any]]:
    """How the parameters that this process has are cut, as the lists that MindSpore gives; none on one device.

    Args:
        caller: who asks, for messages.
        network: the network.
    """
    if placement.count() == 1:
        return {}
    shapes = {param.name: param.shape for param in network.get_parameters()}
    return {name: _listed(layout, shapes[name]) for name, layout in layouts_of(caller, network, _held(network)).items()}


def _listed(layout: SliceLayout, shape: Sequence[int]) -> list[Any]:
    grid, along = list(layout.dev_matrix[0].dim), list(layout.tensor_map[0].dim)
    return [grid, along, list(layout.size(shape)), layout.field, layout.opt_weight_shard_step, layout.pieces]


def write_strategy(network: Cell) -> None:
    """Write the strategy file that the settings ask for, if they do.

    Args:
        network: which is laid out.
    """
    config = context.get_auto_parallel_context("strategy_ckpt_config")
    file = config.get("save_file") or context.get_auto_parallel_context("strategy_ckpt_save_file")
    if not file or placement.count() == 1:
        return
    caller, trained_only = "strategy_ckpt_config", config.get("only_trainable_params", True)
    by_stage: dict[int, list[Any]] = {}
    for param in _held(network):
        if param.requires_grad or not trained_only:
            by_stage.setdefault(_stage_of(data_of(param)), []).append(param)
    found = {stage: layouts_of(caller, network, params) for stage, params in sorted(by_stage.items())}
    if len(found) == 1:  # a process has one stage
        ((stage, own),) = found.items()
        strategies.write(Path(file), own.items(), stage)
        return
    named = [(f"{stage}-{name}", layout) for stage, one in found.items() for name, layout in one.items()]
    strategies.write(Path(file), named)


def _held(network: Cell) -> list[Any]:
    """The parameters of which this process has something."""
    return [param for param in network.get_parameters() if data_of(param).addressable_shards]


def _stage_of(array: Any) -> int:
    """The stage on whose devices an array lies; the first where all have it."""
    there = {device: number for number, device in enumerate(placement.devices())}
    first = min(there.get(device, 0) for device in array.sharding.device_set)
    return first // (placement.count() // placement.stages())
