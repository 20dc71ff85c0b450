"""What MindSpore's programs ask about functions that are compiled from bytecode, and set for them."""

from __future__ import annotations

from typing import Any

from weft.core.transparency import transparent
from weft.jit.function import original_dispatchers
from weft.jit.reporting import histories_of

__all__ = ["get_code_extra", "jit_mode_pi_disable", "jit_mode_pi_enable", "update_pijit_default_config"]


def get_code_extra(function: Any) -> dict[str, Any] | None:
    """How a function was compiled, as numbers; `weft.explain` tells more.

    Args:
        function: a decorated function, or what was decorated (its ``__wrapped__``).

    Returns:
        dict: ``stat`` ("GRAPH_CALLABLE" once there is a graph, else "NEVER_COMPILE"), ``break_count_`` (places that ran
        in Python between graphs), ``compile_count_`` (graphs made) and, once there is a graph, ``code``: the name of
        the last graph (``phase_``), and what is checked before it runs (``guard_``). None for what is not compiled.

    Example:
        >>> import weft
        >>> @weft.jit(mode="PIJit")
        ... def double(x):
        ...     return x + x
        >>> print(double(Tensor([1.0])))
        [2.]
        >>> found = get_code_extra(double)
        >>> found["stat"], found["break_count_"], found["compile_count_"]
        ('GRAPH_CALLABLE', 0, 1)
    """
    dispatcher = original_dispatchers.get(id(function))
    histories = histories_of(function) if dispatcher is None else dispatcher.histories()
    if not histories:
        return None
    captured = [event for history in histories for event in history.captured]
    extra: dict[str, Any] = {
        "stat": "GRAPH_CALLABLE" if captured else "NEVER_COMPILE",
        "break_count_": sum(len(history.breaks) for history in histories),
        "compile_count_": sum(history.forgotten + len(history.captured) for history in histories),
    }
    if captured:
        extra["code"] = {"phase_": captured[-1].graph.name, "guard_": "\n".join(captured[-1].guards)}
    return extra


@transparent
def jit_mode_pi_enable() -> bool:
    """Whether functions are compiled from bytecode from now on: they always are."""
    return True


@transparent
def jit_mode_pi_disable() -> bool:
    """Whether functions are no longer compiled from bytecode: they always are; ``weft.jit`` says when one is not."""
    return False


@transparent
def update_pijit_default_config(**config: Any) -> None:
    """Settings of MindSpore's bytecode compiler (loops to unroll, size of what is inlined): nothing here needs them.

    Args:
        config: the settings.
    """
    del config
