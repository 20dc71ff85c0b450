"""Calls from Python into compiled code whose arguments are the rows that each process brings of one batch.

In the modes that spread networks over processes a compiled function computes for all of them at once. With the strategy
of data `data_parallel` a process loads its own rows: the outermost call joins them to the batch of all, and what it
returns for as many rows is split up again, so that the process goes on with the results of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from weft.core import trace
from weft.core.frames import passed_over
from weft.core.tape import GRADIENTS
from weft.core.tensor import Parameter, Tensor, data_of, wrap
from weft.core.transparency import keeps
from weft.parallel import placement, spanning
from weft.parallel.crossing import here
from weft.parallel.processes import processes
from weft.parallel.spreading import CALLS, data_is_rows, data_is_whole, is_on, joined, places_of_batch, rows_of
from weft.parallel.strategies import leaves, replaced

#: whether there are processes that bring rows to one batch
MANY: Final = processes().count > 1


class Brought(NamedTuple):
    """What a call joined: each tensor that the program gave, and the one of all processes in its place."""

    pairs: list[tuple[Tensor, Tensor, Any]]

    @property
    def counts(self) -> set[int]:
        """The numbers of rows of the batches."""
        return {whole.shape[0] for _, whole, _ in self.pairs}


def are_brought() -> bool:
    """Whether a call at this moment is an outermost one to which processes bring rows."""
    if not MANY or CALLS.joined or GRADIENTS.stack or trace.current() is not None:
        return False
    return is_on() and not data_is_whole()


@keeps
def bring(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any], Brought]:
    """The arguments of an outermost call with the rows of all processes.

    Args:
        args: tensors, and sequences of them; others stay as they are, and so do parameters.
        kwargs: the same by name.
    """
    given = (*args, *kwargs.values())
    tensors = leaves(given)
    found, pairs = [], []
    for tensor, place in zip(tensors, places_of_batch(tensors), strict=True):
        whole = tensor if place is None else joined(tensor, place)
        if whole is not tensor:
            pairs.append((tensor, whole, data_of(whole)))
        found.append(whole)
    if not pairs:
        return args, kwargs, Brought([])
    values = replaced(given, iter(found))
    return values[: len(args)], dict(zip(kwargs, values[len(args) :], strict=True)), Brought(pairs)


@keeps
def own(result: Any, brought: Brought) -> Any:
    """Results with the rows of this process.

    Args:
        result: tensors, and sequences of them.
        brought: what the call joined.

    Raises:
        RuntimeError: the call wrote to an argument, of which the process has no rows.
    """
    for _, whole, data in brought.pairs:
        if data_of(whole) is not data:
            raise RuntimeError(
                "a compiled function wrote to an argument that holds the rows which this process has of a batch: write "
                'to a copy, or set dataset_strategy="full_batch"'
            )
    counts = brought.counts if data_is_rows() else set()
    if not counts:
        return result
    tensors = leaves(result)
    return replaced(result, iter([_own(t) if _has_rows(t, counts) else t for t in tensors]))


def _has_rows(tensor: Tensor, counts: set[int]) -> bool:
    if isinstance(tensor, Parameter) or tensor.is_symbolic or not tensor.ndim:
        return False
    # all processes got what a stage of a pipeline computed
    return tensor.shape[0] in counts and (spanning.spans(data_of(tensor)) or placement.stages() > 1)


def _own(tensor: Tensor) -> Tensor:
    place = rows_of(tensor)
    assert place is not None
    array, where = data_of(tensor), placement.sharding(place.at(here()))
    if not spanning.spans(array):
        (rows,) = where.addressable_devices_indices_map(array.shape).values()
        return wrap(array[rows])
    array = placement.moved(array, spanning.for_any(where) if spanning.is_for_any(array) else where)
    return wrap(array.addressable_data(0))


@passed_over
def call(run: Callable[[tuple[Any, ...], dict[str, Any]], Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call compiled code from outside.

    Args:
        run: takes the arguments.
        args: those by position.
        kwargs: those by name.
    """
    if not are_brought():
        return run(args, kwargs)
    args, kwargs, brought = bring(args, kwargs)
    CALLS.joined = True
    try:
        result = run(args, kwargs)
    finally:
        CALLS.joined = False
    return own(result, brought)
