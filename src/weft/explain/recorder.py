"""What happens to compiled functions while a block of code runs."""

from __future__ import annotations

from types import TracebackType

from weft.capture.state import events
from weft.capture.state.events import Event, History
from weft.compile import compilations
from weft.compile.compilations import Compilation
from weft.explain.findings import FunctionReport, Mark
from weft.explain.report import Report


class Recorder:
    """Within the block, notes which functions were compiled, broke or were refused, in every thread.

    Example:
        >>> double = weft.jit(lambda x: x * 2)
        >>> with Recorder() as recorder:
        ...     y = double(Tensor([1.0]))
        >>> recorder.report()
        <Report: 1 graph, 0 breaks, 0 recompiles>
        >>> with recorder:
        ...     y = double(Tensor([3.0]))
        >>> recorder.report()
        <Report: 0 graphs, 0 breaks, 0 recompiles>
    """

    def __init__(self) -> None:
        self._marks: dict[History, Mark] = {}
        #: holds the histories of functions that die within the block
        self._seen: dict[History, None] = {}
        self._functions: dict[History, FunctionReport] = {}
        self._eager: list[Compilation] = []
        self._running = False

    def __enter__(self) -> Recorder:
        self._marks = {history: Mark.of(history) for history in tuple(events.histories)}
        self._seen = {}
        self._eager = []
        self._running = True
        events.listeners.append(self._note)
        compilations.listeners.append(self._note_eager)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        events.listeners.remove(self._note)
        compilations.listeners.remove(self._note_eager)
        self._functions = self._collect()
        self._running = False
        self._marks, self._seen = {}, {}

    def _note(self, history: History, event: Event) -> None:
        self._seen[history] = None

    def _note_eager(self, compilation: Compilation) -> None:
        self._eager.append(compilation)

    def _collect(self) -> dict[History, FunctionReport]:
        histories = dict.fromkeys([*self._seen, *self._marks, *tuple(events.histories)])
        reports = {history: FunctionReport.of(history, self._marks.get(history)) for history in histories}
        return {history: report for history, report in reports.items() if not report.is_empty}

    def report(self, whole: History | None = None) -> Report:
        """What happened in the block so far; functions to which nothing happened are left out.

        Args:
            whole: a function that comes first, with what happened before the block too.

        Returns:
            Report: the functions in the order in which something first happened to them.
        """
        found = dict(self._collect() if self._running else self._functions)
        if whole is not None:
            found = {whole: FunctionReport.of(whole), **{h: report for h, report in found.items() if h is not whole}}
        return Report(found.values(), self._eager)
