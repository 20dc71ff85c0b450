"""Reports on compiled functions: what went into graphs, what ran in Python, why something was compiled again."""

from typing import TYPE_CHECKING

from weft import lazily
from weft.explain import log
from weft.explain.explain import Explainer, explain

if TYPE_CHECKING:
    from weft.explain.findings import BreakReport, FunctionReport, GraphReport
    from weft.explain.recorder import Recorder
    from weft.explain.report import Report
else:
    __getattr__, __dir__ = lazily.lazily(
        __name__,
        {
            "weft.explain": "console findings page recorder report source style",
            "weft.explain.findings": "BreakReport FunctionReport GraphReport",
            "weft.explain.recorder": "Recorder",
            "weft.explain.report": "Report",
        },
    )

__all__ = ["BreakReport", "Explainer", "FunctionReport", "GraphReport", "Recorder", "Report", "explain", "log"]
