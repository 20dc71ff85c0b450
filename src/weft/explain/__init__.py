"""Reports on compiled functions: what went into graphs, what ran in Python, why something was compiled again."""

from weft.explain import log
from weft.explain.explain import Explainer, explain
from weft.explain.findings import BreakReport, FunctionReport, GraphReport
from weft.explain.recorder import Recorder
from weft.explain.report import Report

__all__ = ["BreakReport", "Explainer", "FunctionReport", "GraphReport", "Recorder", "Report", "explain", "log"]
