"""The page `docs/python-coverage.md`, made from recorded runs."""

from __future__ import annotations

import collections
from typing import Any

_HEAD = """# Python under capture

The oracle of the bytecode interpreter is CPython itself: the test methods of CPython's own `test` package run twice, in
Python and under `jit(mode="PIJit")`, and must report the same successes, failures, skips and exception types. What the
interpreter itself raises while it captures is compared too, message included, although a call would run the function in
Python then.

A method is *whole* if one graph holds it, *broken* if parts of it ran in Python between graphs, *refused* if capture
declared that it cannot hold it (`Unsupported`). A refusal is never silent, and says nothing wrong; it is listed below
by reason. A method that *differs* did something else than in Python, crashed, or did not end in time. Methods that
do not repeat themselves in Python are left out.

This page is made by one run for each Python and a command that puts them together:

```
make cpython PYTHON=python3.12          # or: python -m tests.cpython --json build/cpython-3.12.json
python -m tests.cpython --page build/cpython-*.json > docs/python-coverage.md
```
"""

#: what `python -m tests.containers` prints, with Python 3.11
_CONTAINERS = """## Containers, attributes and builtins

Programs made from tables: each kind of container (lists, tuples, dictionaries, sets, deques, named tuples,
dataclasses, slots, classes of the program's derived from them, views, arrays and numbers of NumPy, texts, ranges,
None) with every method and attribute that `dir` names, operators, statements and pairs of them; tensors, numbers that
come from tensors, and None inside; made by the program, or an argument, a global, a closure variable, an attribute, a
default... that is replaced or changed between the calls. Attributes of objects, classes, Cells, functions and
modules; every builtin and exception class; writes on one side of a branch; what is returned; the operators on scalars
and sequences that MindSpore names. Four calls each, with other values and another shape, under the automatic and the
guarded policy, and under the static one where nothing outside changes. Equal are values, types, which objects are the
same ones, exceptions with their texts, what is printed, and arguments and globals afterwards.

```
python -m tests.containers              # all of them; pytest tests/containers runs a sample
```

| subject | equal |
|---|---|
| methods of sequences | 546 of 546 |
| methods of dictionaries | 593 of 593 |
| methods of arrays | 1004 of 1004 |
| methods of NumPy's numbers | 845 of 845 |
| methods of sets, objects, views, texts and numbers | 1184 of 1184 |
| operators and statements | 1688 of 1688 |
| two containers | 264 of 264 |
| builtins | 265 of 265 |
| exceptions | 177 of 177 |
| attributes | 138 of 138 |
| writes on sides of branches | 125 of 125 |
| arrays, results, named operators | 139 of 139 |
| all | 6968 of 6968 |
"""


def page(runs: list[dict[str, Any]]) -> str:
    """The page's text.

    Args:
        runs: what ``python -m tests.cpython --json`` wrote; those of one version of Python are taken together.

    Returns:
        The text, in Markdown.
    """
    together: dict[str, dict[str, Any]] = {}
    for run in runs:
        together.setdefault(run["version"], {"version": run["version"], "files": {}})["files"].update(run["files"])
    runs = sorted(together.values(), key=lambda run: [int(part) for part in run["version"].split(".")])
    versions = [run["version"] for run in runs]
    lines = [
        _HEAD,
        _CONTAINERS,
        "## By version",
        "",
        "| Python | methods | whole | broken | refused | differ | whole, share |",
    ]
    lines.append("|---|---|---|---|---|---|---|")
    for run in runs:
        counts = _counts([v for file in run["files"].values() for v in file["verdicts"]])
        share = 100 * counts["whole"] / max(1, counts["methods"])
        cells = [str(counts[name]) for name in ("methods", "whole", "broken", "refused", "differ")]
        lines.append(f"| {run['version']} | {' | '.join(cells)} | {share:.1f} % |")
    lines += ["", "## By file", "", "Each cell: whole / broken / refused / differ.", ""]
    lines.append(f"| file | {' | '.join(versions)} |")
    lines.append("|---|" + "---|" * len(versions))
    for file in sorted({name for run in runs for name in run["files"]}):
        cells = []
        for run in runs:
            counts = _counts(run["files"].get(file, {"verdicts": []})["verdicts"])
            cells.append(" / ".join(str(counts[name]) for name in ("whole", "broken", "refused", "differ")))
        lines.append(f"| `{file}` | {' | '.join(cells)} |")
    lines += ["", "## Why methods are not captured whole", "", "The most frequent reasons, all versions together.", ""]
    lines += ["| methods | reason |", "|---|---|"]
    reasons = collections.Counter(_general(v["reason"]) for run in runs for v in _verdicts(run) if v["reason"])
    lines += [f"| {count} | {reason} |" for reason, count in reasons.most_common(40)]
    different = [(run["version"], v) for run in runs for v in _verdicts(run) if v["differs"]]
    lines += ["", "## What differs", ""]
    if not different:
        lines.append("Nothing.")
    for version, verdict in different:
        lines.append(f"- {version} `{verdict['test']}`")
    return "\n".join(lines) + "\n"


def _verdicts(run: dict[str, Any]) -> list[dict[str, Any]]:
    return [v for file in run["files"].values() for v in file["verdicts"]]


def _counts(verdicts: list[dict[str, Any]]) -> dict[str, int]:
    counted = [v for v in verdicts if not v["flaky"]]
    counts = collections.Counter("differ" if v["differs"] else v["how"] for v in counted)
    return {"methods": len(counted), **{name: counts[name] for name in ("whole", "broken", "refused", "differ")}}


def _general(reason: str) -> str:
    """A reason without the names of one test."""
    kind, _, why = reason.partition(": ")
    if "cannot look into test." in why:
        why = "weft cannot look into a callable of the test's own that native code wraps"
    return f"{kind}: {why[:150]}".replace("|", "\\|")
