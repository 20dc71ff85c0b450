"""Stages of a pipeline: parts of a network on devices of their own, through which micro batches go one by one.

The devices are cut into as many equal rows as there are stages. What a Cell with a `pipeline_stage` gets and gives is
marked in the graph with the stage, and each micro batch with its number; a mark changes no value, and its gradient is
marked alike, so that what is computed backwards is computed where it was computed forwards. The graph is cut at the
marks when it is compiled, see `weft.compile.staged`. Eagerly marks do nothing.
"""

from __future__ import annotations

from typing import Any, Final

from weft.core import trace
from weft.core.dispatch import apply
from weft.core.primitive import Primitive
from weft.core.tensor import Parameter
from weft.core.transparency import keeps
from weft.parallel import placement
from weft.parallel.spreading import whole
from weft.parallel.strategies import leaves, replaced


def _derivative(value: Any, out: Any, dout: Any, **mark: Any) -> Any:
    """The gradient is computed where the value is."""
    del value, out
    return apply(STAGE, (dout,), (mark["stage"], mark["micro"]))


#: the same elements, which belong to a stage of a pipeline, or to a micro batch; None for the one that they belong to
STAGE: Final = Primitive(
    "PipelineStage", lambda value, stage, micro: value, attr_names=("stage", "micro"), derivative=_derivative
)


@keeps
def at_stage(value: Any, stage: int | None, micro: int | None = None) -> Any:
    """Arguments or results, their tensors marked in the graph that is captured.

    Args:
        value: a tensor, or a sequence of them; parameters have places of their own.
        stage: the stage that computes with them; None for no mark.
        micro: the micro batch that they belong to; None for no mark.
    """
    if placement.stages() == 1 or trace.current() is None:
        return value
    tensors = leaves(value)
    marked = [t if isinstance(t, Parameter) else apply(STAGE, (t,), (stage, micro)) for t in tensors]
    return replaced(value, iter(marked))


@keeps
def settle(stage: int, cell: Any) -> None:
    """Let the parameters of a Cell with a stage belong to that stage; those of inner ones with a stage to theirs. One
    that several stages have in common belongs to the first that was called.

    Args:
        stage: of the Cell.
        cell: the Cell.

    Raises:
        ValueError: there are not so many stages.
    """
    stages = placement.stages()
    if stages > 1 and stage >= stages:
        name = type(cell).__name__
        raise ValueError(f"{name}.pipeline_stage={stage}: pipeline_stages={stages}, so the last one is {stages - 1}")
    if stages == 1 or trace.current() is None:
        return
    for parameter, own in _stages_of(stage, cell):
        placement.settle(parameter, own)


@keeps
def hold(stage: int, cell: Any) -> None:
    """Let the parameters of a Cell with a stage lie on the devices of that; those that no strategy has placed are whole
    on each.

    Args:
        stage: of the Cell.
        cell: the Cell, which was called.
    """
    if placement.stages() == 1 or trace.current() is None:
        return
    for parameter, _ in _stages_of(stage, cell):
        placement.adopt(parameter, whole(parameter))


def _stages_of(stage: int, cell: Any) -> list[tuple[Parameter, int]]:
    """The parameters of a Cell and of those in it, with their stages."""
    found = [(parameter, stage) for parameter in cell._params.values() if parameter is not None]
    for inner in cell._cells.values():
        if inner is not None:
            own = inner._settings.get("pipeline_stage")
            found += _stages_of(stage if own is None else own, inner)
    return found
