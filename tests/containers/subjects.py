"""The subjects: which programs there are of each, and the table of what they gave."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from tests.containers import builtins, methods, operations, statements
from tests.containers.operands import KINDS
from tests.gate.programs import Program
from tests.gate.report import Report

#: programs of a share: how many shares there are, and which one
Chosen = Callable[[int, int], Iterable[Program]]


def _of_kinds(*names: str) -> Chosen:
    return lambda share, which: [each for kind in names for each in methods.programs(kind, share, which)]


_SEQUENCES: Final = (
    "list",
    "tuple",
    "deque",
    "bounded deque",
    "UserList",
    "named tuple",
    "own list",
    "own counting list",
)
_MAPPINGS: Final = tuple(kind for kind in KINDS if "dict" in kind or "Dict" in kind or kind in ("Counter", "ChainMap"))
_ARRAYS: Final = ("array", "int array", "object array", "NumPy float", "NumPy int", "NumPy bool")
_MAPPINGS_ONLY: Final = tuple(kind for kind in _MAPPINGS if kind not in _SEQUENCES)

#: each with the words that the table has for it
SUBJECTS: Final[dict[str, Chosen]] = {
    "methods of sequences": _of_kinds(*_SEQUENCES),
    "methods of dictionaries": _of_kinds(*_MAPPINGS_ONLY),
    "methods of arrays": _of_kinds(*_ARRAYS[:3]),
    "methods of NumPy's numbers": _of_kinds(*_ARRAYS[3:]),
    "methods of sets, objects, views, texts and numbers": _of_kinds(
        *(kind for kind in KINDS if kind not in (*_SEQUENCES, *_MAPPINGS_ONLY, *_ARRAYS))
    ),
    "operators and statements": operations.of_one,
    "two containers": operations.of_two,
    "builtins": builtins.of_builtins,
    "exceptions": builtins.of_exceptions,
    "attributes": statements.of_attributes,
    "writes on sides of branches": statements.of_sides,
    "arrays, results, named operators": statements.of_statements,
}


def table(reports: dict[str, Report]) -> str:
    """A table in Markdown of how many programs do compiled what they do eagerly."""
    lines = ["| subject | equal |", "|---|---|"]
    totals = [0, 0]
    for subject, report in reports.items():
        equal = report.programs - len({(f["operation"], f["operand"]) for f in report.findings})
        totals = [totals[0] + equal, totals[1] + report.programs]
        lines.append(f"| {subject} | {equal} of {report.programs} |")
    return "\n".join([*lines, f"| all | {totals[0]} of {totals[1]} |"])
