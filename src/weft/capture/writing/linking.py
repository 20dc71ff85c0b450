"""The code of an entry, as text, made a function with the objects that it names."""

from __future__ import annotations

import types
from typing import Any, Final

from weft.autodiff.histories import is_left_alone
from weft.capture.leaving.entry import MISS, Code, Entry, Failed
from weft.capture.leaving.generators import Yielded
from weft.capture.leaving.steps import raised_again
from weft.capture.leaving.suspension import Suspension, drive
from weft.capture.state.guards import Guard
from weft.compile.executable import Executable
from weft.compile.segment import Segment
from weft.compile.sized import SizedExecutable, SizedSegment
from weft.core.frames import PASSED_OVER
from weft.core.sharing import share, spread
from weft.core.tensor import Tensor, data_of, view, wrap
from weft.core.trace import is_put_back
from weft.ops.random import draws_in_turn


def entry_of(
    code: Code,
    segment: Segment | SizedSegment,
    guards: list[Guard],
    names: dict[str, Any],
    needed: dict[str, Any],
    computes: bool,
    compiled: types.CodeType | None = None,
) -> Entry:
    """An entry from its code.

    Args:
        code: the code as text.
        segment: the graph with its executables.
        guards: what the code checks.
        names: the objects from outside that it uses.
        needed: what else it uses, besides what every entry may use.
        computes: whether something is computed with tensors.
        compiled: the code as `compiled_code` made it; None where that has to be done yet.
    """
    scope = {**_ALWAYS, **needed, "segment": segment}
    if "draws_in_turn" in code.needs:
        scope["draws_in_turn"] = draws_in_turn
    failed = scope["failed"] = Failed() if code.assumes else None
    _put_calls(scope, segment.executable)
    scope |= names
    exec(compiled or compiled_code(code.source, segment.name), scope)
    return Entry(scope["entry"], segment, guards, code, names, computes, failed)


def compiled_code(source: str, name: str) -> types.CodeType:
    """The code of an entry as Python runs it.

    Args:
        source: the code as text.
        name: that of the graph.
    """
    return compile(source, f"<weft entry {name}>{PASSED_OVER}", "exec")


#: what the code of every entry may use
_ALWAYS: Final[dict[str, Any]] = {
    "Tensor": Tensor, "new": object.__new__, "MISS": MISS, "copy": view, "again": raised_again, "leaf_of": wrap,
    "Suspension": Suspension, "drive": drive, "Yielded": Yielded, "share": share, "spread": spread,
    "data_of": data_of, "is_put_back": is_put_back, "is_left_alone": is_left_alone,
}  # fmt: skip


def _put_calls(scope: dict[str, Any], executable: Executable | SizedExecutable) -> None:
    """Put the calls of an executable into an entry's scope; what runs it is another function after its first call."""

    def run_first(*arrays: Any) -> Any:
        result = executable.run(*arrays)
        scope["run"] = executable.run
        return result

    scope["run"] = run_first
    scope["call"] = executable.call
