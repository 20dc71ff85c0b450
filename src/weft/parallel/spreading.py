"""What the parallel modes spread over the devices of a program: batches, parameters, and what optimizers keep."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Final

from weft.context import SPREAD_MODES, ParallelMode, get_auto_parallel_context
from weft.core import trace
from weft.core.dispatch import apply
from weft.core.tensor import Parameter, Tensor, data_of
from weft.core.transparency import keeps
from weft.parallel import placement, spanning
from weft.parallel.crossing import here
from weft.parallel.modes import is_in_auto_parallel_mode
from weft.parallel.placement import JOINED, Place, adopt, constrained
from weft.parallel.processes import processes
from weft.parallel.strategies import check, flat, grid, leaves, places, replaced

#: bytes below which what optimizers keep of a Parameter is not worth being spread
_THRESHOLD: Final = 64 << 10


class _Calls(threading.local):
    """Whether a call from outside, which this thread is in, has joined what processes bring."""

    joined = False


CALLS: Final = _Calls()


def is_on() -> bool:
    """Whether steps of training are spread: in the parallel modes, where there are several devices. Between processes
    the data parallel modes exchange gradients instead.
    """
    mode = get_auto_parallel_context("parallel_mode")
    chosen = mode in SPREAD_MODES if processes().count > 1 else mode != ParallelMode.STAND_ALONE
    return chosen and placement.count() > 1


@keeps
def batch(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The inputs of a network as the settings spread them: along the first dimension, unless they say otherwise.

    Args:
        inputs: tensors, and sequences of them; others stay as they are.
    """
    if data_is_whole():
        return inputs
    if not is_on():
        if placement.count() == 1 and is_in_auto_parallel_mode() and not data_is_rows():
            _check_data(leaves(inputs))  # a program for many devices that runs on one
        return inputs
    if processes().count > 1 and (trace.current() is not None or CALLS.joined):
        return inputs  # the call from outside has joined what processes bring
    tensors = leaves(inputs)
    put = constrained if processes().count == 1 else joined
    found = places_of_batch(tensors)
    moved = [t if place is None else put(t, place) for t, place in zip(tensors, found, strict=True)]
    spread: tuple[Any, ...] = replaced(inputs, iter(moved))
    return spread


def data_is_whole() -> bool:
    """Whether each process, or device, has the whole batch."""
    strategy = get_auto_parallel_context("dataset_strategy")
    return strategy == "full_batch" or bool(get_auto_parallel_context("full_batch"))


def data_is_rows() -> bool:
    """Whether each process, or device, has rows of the batch."""
    return bool(get_auto_parallel_context("dataset_strategy") == "data_parallel")


def places_of_batch(tensors: Sequence[Tensor]) -> list[Place | None]:
    """Where the inputs of a network lie, as the settings say; None for those that have a place.

    Args:
        tensors: the inputs.
    """
    free = [not isinstance(tensor, Parameter) and not _is_placed(tensor) for tensor in tensors]
    if data_is_rows():
        return [rows_of(tensor) if is_free else None for tensor, is_free in zip(tensors, free, strict=True)]
    given = iter(_check_data(tensors))
    strategies = [None if isinstance(tensor, Parameter) else next(given) for tensor in tensors]
    chosen = [part if is_free else None for part, is_free in zip(strategies, free, strict=True)]
    return places("dataset_strategy", chosen, tensors)


def _check_data(tensors: Sequence[Tensor]) -> list[Any]:
    """The strategies of data, one for each input of a network that is no Parameter; single numbers need none."""
    strategies = flat(get_auto_parallel_context("dataset_strategy"))
    data = [tensor for tensor in tensors if not isinstance(tensor, Parameter)]
    if len(strategies) == sum(tensor.ndim > 0 for tensor in data):
        given = iter(strategies)
        strategies = [next(given) if tensor.ndim else None for tensor in data]
    check("dataset_strategy", strategies, data)
    return strategies


def _is_placed(tensor: Tensor) -> bool:
    return not tensor.is_symbolic and spanning.spans(data_of(tensor))


def rows_of(tensor: Tensor) -> Place | None:
    """Where a batch lies whose rows are spread over all devices; None where they are not as many for each."""
    if not tensor.ndim:
        return None
    sizes, names, ranks = grid()
    place = Place(sizes, names, ranks, (names, *[()] * (tensor.ndim - 1)))
    return place if processes().count > 1 or place.fits(tensor.shape) else None


def joined(tensor: Tensor, place: Place) -> Tensor:
    """What each process has of a tensor as the tensor of all of them.

    Args:
        tensor: the part of this process; one that spans processes already stays as it is.
        place: where the whole lies.
    """
    if _is_placed(tensor):
        return tensor
    found: Tensor = apply(JOINED, (tensor,), tuple(place.at(here())))
    return found


def whole(tensor: Tensor) -> Place:
    """The place of a tensor that each device has as a whole."""
    return Place(*grid(), ((),) * tensor.ndim)


@keeps
def keep_whole(parameters: Sequence[Parameter]) -> None:
    """Give parameters that have no place that of whole copies on each device.

    Args:
        parameters: the parameters.
    """
    if is_on():
        for parameter in parameters:
            adopt(parameter, whole(parameter))


@keeps
def arrange(
    parameters: Sequence[Parameter], states: Sequence[Sequence[Parameter]], others: Sequence[Parameter], gradients: Any
) -> Any:
    """Give parameters, and what an optimizer keeps of each, their places.

    Args:
        parameters: those that no strategy of an operator has placed are whole on each device.
        states: of each slot the state of each parameter; spread where the settings say so.
        others: what else the optimizer writes, which is whole on each device.
        gradients: one for each parameter.

    Returns:
        The gradients, spread where the settings say so.
    """
    if not is_on():
        return gradients
    if placement.stages() > 1 and processes().count > 1 and trace.current() is None:
        raise RuntimeError(
            "the stages of a pipeline over processes compute in compiled steps only: use weft.jit for the step, or "
            "GRAPH_MODE"
        )
    keep_whole(others)
    level, size, threshold = _optimizer_parallel()
    stages = placement.stages()
    found = list(gradients)
    for number, parameter in enumerate(parameters):
        own = parameter.place or whole(parameter).at(parameter.stage or 0)
        kept = own
        if level and parameter.parallel_optimizer and parameter.nbytes >= threshold:
            kept = cut_further(own, parameter.shape, size)
        adopt(parameter, kept if level >= 3 else own)
        for slot in states:
            if slot[number].shape == parameter.shape:
                adopt(slot[number], kept)
        if ((level >= 2 and kept != own) or stages > 1) and isinstance(found[number], Tensor):
            found[number] = constrained(found[number], kept if level >= 2 else own)
    return tuple(found)


def stages_of(parameters: Sequence[Parameter]) -> list[Sequence[int]]:
    """The positions of parameters, those on the devices of one stage of a pipeline together.

    Args:
        parameters: the parameters.
    """
    if placement.stages() == 1:
        return [range(len(parameters))]
    found: dict[int, list[int]] = {}
    for number, parameter in enumerate(parameters):
        found.setdefault(parameter.stage or 0, []).append(number)
    return [found[stage] for stage in sorted(found)]


def _optimizer_parallel() -> tuple[int, int, int]:
    """What of a step is spread (1: states, 2: gradients, 3: parameters), over how many devices, and from which size."""
    if not get_auto_parallel_context("enable_parallel_optimizer"):
        return 0, 1, 0
    config = get_auto_parallel_context("parallel_optimizer_config")
    level = int(str(config.get("optimizer_level", "level1")).removeprefix("level"))
    size = config.get("optimizer_weight_shard_size", get_auto_parallel_context("optimizer_weight_shard_size"))
    threshold = config.get("parallel_optimizer_threshold")
    return level, int(size), _THRESHOLD if threshold is None else int(threshold) << 10


def cut_further(place: Place, shape: tuple[int, ...], size: int = -1) -> Place:
    """A place whose free axes cut a tensor, too: as many parts as it can be cut into along one dimension.

    Args:
        place: where a tensor lies.
        shape: of the tensor.
        size: at most into so many parts; -1 for as many as there are devices.
    """
    used = {name for axes in place.dims for name in axes}
    free = [name for name in place.names if name not in used]
    best, parts = place, 1
    for first in range(len(free)):
        for dimension in range(len(shape)):
            dims = list(place.dims)
            dims[dimension] = (*dims[dimension], *free[first:])
            made = place._replace(dims=tuple(dims))
            count = made.parts[dimension] // place.parts[dimension]
            if made.fits(shape) and count > parts and (size < 0 or count <= size):
                best, parts = made, count
    return best
