"""`explain`: run a function once and report how it was compiled."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from weft import lazily
from weft.capture.state import events
from weft.errors import Unsupported
from weft.jit.reporting import compile_callable, histories_of

if TYPE_CHECKING:
    from weft.explain import findings, recorder
    from weft.explain import report as reports
else:
    findings, recorder = lazily.deferred("weft.explain.findings"), lazily.deferred("weft.explain.recorder")
    reports = lazily.deferred("weft.explain.report")


class Explainer:
    """Runs a function and reports how it was compiled; made by `explain`."""

    def __init__(self, fn: Any) -> None:
        if callable(fn) and hasattr(fn, "__name__"):
            functools.update_wrapper(self, fn, updated=())
        self._compiled, self._run = compile_callable(fn)

    def __call__(self, *args: Any, **kwargs: Any) -> reports.Report:
        """Run the function once with these arguments.

        Args:
            args: positional arguments of the function.
            kwargs: keyword arguments of the function.

        Returns:
            Report: everything that happened to the function so far, then what happened to other functions in this call.

        Raises:
            Exception: what the function itself raises.
        """
        with recorder.Recorder() as record:
            try:
                self._run(*args, **kwargs)
            except Unsupported as refusal:
                if refusal.location is None:
                    raise
        return record.report(self._compiled.history)


def explain(fn: Callable[..., Any]) -> Explainer:
    """Explain how a function is compiled: its graphs, where it leaves them and why, what is compiled again and why.

    Args:
        fn: a function, a method, a Cell, or what `jit` returned; it is compiled if it is not yet.

    Returns:
        Explainer: a function of the same arguments, which runs `fn` once and returns a `Report`.

    Raises:
        TypeError: `fn` cannot be compiled.

    Example:
        >>> def mean_square(x):
        ...     return (x * x).mean()
        >>> report = weft.explain(mean_square)(Tensor([1.0, 2.0]))
        >>> report
        <Report: 1 graph, 0 breaks, 0 recompiles>
        >>> report.graphs[0].operations
        {'Mul': 1, 'ReduceMean': 1}
    """
    return Explainer(fn)


def report_of(fn: Any) -> reports.Report:
    """Everything that happened to a compiled callable so far, without running it.

    Args:
        fn: what `jit` returned, a decorated method, or a Cell.

    Returns:
        Report: without functions if it was never compiled.
    """
    found = map(findings.FunctionReport.of, histories_of(fn))
    return reports.Report([report for report in found if not report.is_empty])


events.report_of = report_of
