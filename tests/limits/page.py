"""The page `docs/lifted-limits.md`, made from the tables of limits."""

from __future__ import annotations

from tests.limits.limits import Limit
from tests.limits.mindspore import MINDSPORE

#: each framework with the module that has its programs
PEERS = {"mindspore": MINDSPORE}
LIMITS: list[Limit] = [limit for peer in PEERS.values() for limit in peer.limits]

_HEAD = """# Lifted limits

What the public pages of other frameworks say that their compilers cannot do, or do otherwise than Python, and for each
a program that does it. Each program runs unmodified, eagerly and under `jit`, with several inputs, and with state,
attributes or globals that change between the calls where that is the point. Values, element types, exceptions, printed
text, what was written, and (where there are floating point arguments) gradients must be equal.

*Graphs* and *breaks* are counted over all calls of a program: a graph more for a call whose Python values choose other
code, a break for each place that runs in Python between two graphs. The limits are in our own words, as a stored copy of
the page stated them; a newer version of the page, or of the framework, may have lifted one.

This page is made by `python -m tests.limits > docs/lifted-limits.md`; `tests/limits/test_limits.py` runs the programs,
compares the numbers, and checks that the page is up to date.
"""


def page() -> str:
    """The page's text, in Markdown."""
    whole = [limit for limit in LIMITS if not limit.fails and not limit.breaks]
    equal = [limit for limit in LIMITS if not limit.fails]
    lines = [
        _HEAD,
        f"**{len(equal)} of {len(LIMITS)} programs do compiled what they do eagerly**, {len(whole)} of them",
    ]
    lines += ["without leaving the graph.", ""]
    for module, peer in PEERS.items():
        lifted = sum(not limit.fails for limit in peer.limits)
        lines += [f"## {peer.name}: {lifted} of {len(peer.limits)}", ""]
        lines += [f"Programs: [tests/limits/{module}.py](../tests/limits/{module}.py).", ""]
        lines += ["| limit | page | program | graphs | breaks |", "|---|---|---|---|---|"]
        lines += [_row(limit) for limit in peer.limits]
        lines.append("")
    failing = [limit for limit in LIMITS if limit.fails]
    if failing:
        lines += ["## What differs", "", *(f"- `{limit.name}`: {limit.fails}" for limit in failing), ""]
    return "\n".join(lines).rstrip() + "\n"


def _row(limit: Limit) -> str:
    title = (
        limit.page.rstrip("/")
        .rpartition("/")[2]
        .removesuffix(".html")
        .removesuffix(".md")
        .rpartition("programming_model.")[2]
    )
    says = limit.says.replace("|", "\\|")
    numbers = "differs | " if limit.fails else f"{limit.graphs} | {limit.breaks}"
    return f"| {says} | [{title}]({limit.page}) | `{limit.name}` | {numbers} |"
