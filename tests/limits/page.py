"""The page `docs/lifted-limits.md`, made from the tables of limits."""

from __future__ import annotations

from tests.limits.autograph import AUTOGRAPH
from tests.limits.jax_jit import JAX
from tests.limits.limits import Limit
from tests.limits.mindspore import MINDSPORE
from tests.limits.paddle import PADDLE
from tests.limits.torch_compile import TORCH

#: each framework with the module that has its programs
PEERS = {"mindspore": MINDSPORE, "autograph": AUTOGRAPH, "jax_jit": JAX, "torch_compile": TORCH, "paddle": PADDLE}
LIMITS: list[Limit] = [limit for peer in PEERS.values() for limit in peer.limits]

_HEAD = """# Lifted limits

What the public pages of other frameworks say that their compilers cannot do, or do otherwise than Python, and for each
a program that does it. Each program runs unmodified, eagerly and under `jit`, with several inputs, and with state,
attributes or globals that change between the calls where that is the point. Values, element types, exceptions, printed
text, what was written, and (where there are floating point arguments) gradients must be equal.

*Graphs* and *breaks* are counted over all calls of a program, with Python 3.11: a graph more for a call whose Python
values choose other code, a break for each place that runs in Python between two graphs. Where the limit is that
something breaks the graph, and it does so here too, the program is equal and the limit *remains*. The limits are in our
own words, as a stored copy of the page stated them; a newer page, or framework, may have lifted one.

This page is made by `python -m tests.limits > docs/lifted-limits.md`; `tests/limits/test_limits.py` runs the programs,
compares the numbers, and checks that the page is up to date.
"""


def page() -> str:
    """The page's text, in Markdown."""
    equal = sum(not limit.fails for limit in LIMITS)
    lifted = sum(limit.is_lifted for limit in LIMITS)
    whole = sum(limit.is_lifted and not limit.breaks for limit in LIMITS)
    lines = [
        _HEAD,
        f"**{equal} of {len(LIMITS)} programs do compiled what they do eagerly.** {lifted} of the limits are lifted,",
    ]
    lines += [f"{whole} of them without leaving the graph.", ""]
    for module, peer in PEERS.items():
        lifted = sum(limit.is_lifted for limit in peer.limits)
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
    numbers = "differs | " if limit.fails else f"{limit.graphs} | {limit.breaks}{', remains' * limit.remains}"
    return f"| {says} | [{title}]({limit.page}) | `{limit.name}` | {numbers} |"
