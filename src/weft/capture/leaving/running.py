"""The frames on Python's stack while a step runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from weft.capture.leaving.step_functions import step_function, waiting_step
from weft.capture.leaving.steps import VALUE, Step
from weft.capture.leaving.tracebacks import OURS
from weft.core.transparency import FRAMELESS

if TYPE_CHECKING:
    from weft.capture.leaving.shapes import FrameShape

#: how many of the frames of a call stand on Python's stack while a step runs
_NESTED_FRAMES: Final = 40


def run_text(shapes: Sequence[FrameShape], step: Step, names: Sequence[str], scope: dict[str, Any]) -> str:
    """The expression that runs a step: each frame calls the next, as the user's did.

    Of a deep recursion only the innermost frames are there.

    Args:
        shapes: the frames, the outermost first.
        step: what runs in the innermost.
        names: what the values of the frames are called in the expression.
        scope: gets the objects that the expression names.

    Returns:
        The text of an expression, whose value is the step's.
    """
    outer = sum(shape.size for shape in shapes[:-1])
    function, arguments = _call_text(shapes[-1], step, names[outer:], "step", scope)
    return nested_text(shapes[:-1], names, function, arguments, scope)


def standing(waiting: Sequence[FrameShape], count: int) -> int:
    """How many of the outermost frames show in the traceback of what a step inside of all that wait raises.

    Args:
        waiting: the frames, the outermost first.
        count: how many of them are looked at.
    """
    codes = [shape.function.__code__ for shape in waiting[max(0, len(waiting) - _NESTED_FRAMES + 1) : count]]
    return sum(code not in FRAMELESS and not code.co_filename.startswith(OURS) for code in codes)


def nested_text(
    waiting: Sequence[FrameShape], names: Sequence[str], function: str, arguments: Sequence[str], scope: dict[str, Any]
) -> str:
    """The expression that calls a function inside frames that wait for it, each calling the next.

    Args:
        waiting: the frames, the outermost first.
        names: what their values are called in the expression.
        function: names the function.
        arguments: its arguments.
        scope: gets the objects that the expression names.
    """
    end = sum(shape.size for shape in waiting)
    for depth in range(len(waiting) - 1, max(-1, len(waiting) - _NESTED_FRAMES), -1):
        shape = waiting[depth]
        if shape.function.__code__ in FRAMELESS:
            end -= shape.size
            continue
        given = names[end - shape.size : end]
        outer, others = _call_text(shape, None, given, f"f{depth}", scope)
        function, arguments = outer, [*others, function, f"({''.join(name + ', ' for name in arguments)})"]
        end -= shape.size
    return f"{function}({', '.join(arguments)})"


def _call_text(
    shape: FrameShape, step: Step | None, names: Sequence[str], function: str, scope: dict[str, Any]
) -> tuple[str, list[str]]:
    """A frame's function, and its arguments up to the function and the arguments that a waiting frame calls."""
    local_names, cell_names = shape.names()
    place = {shape.decoded.slot_names[slot]: name for slot, name in zip(shape.slots, names, strict=False)}
    namespace = shape.function.__globals__
    if step is None:
        made = waiting_step(shape.decoded, shape.pc - 1, namespace, local_names, cell_names, shape.handling)
        given = []
    else:
        taken = shape.stack[len(shape.stack) - step.operands :]
        operands = [i for i, kind in enumerate(taken) if kind is VALUE]
        made = step_function(
            shape.decoded, shape.pc, namespace, local_names, cell_names, operands, step.body, step.outside,
            shape.handling, step.last_line,
        )  # fmt: skip
        end = len(names) - shape.handling
        given = list(names[end - len(operands) : end])
    if cell_names:
        scope[function] = made
        function += f"({', '.join(place[name] for name in cell_names)})"
    else:
        scope[function] = made()
    handled = [names[-1]] if shape.handling else []
    return function, [*[place[name] for name in local_names], *handled, *given]
