"""The programs of MindSpore's public documentation of graph mode print what the documentation says they print.

Each page is a file of `tutorials/`: sections with a program and what it prints. Where weft differs, the section holds
what is documented, what weft prints, and the reason.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import traceback
import types
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import weft
import weft.mindspore

PAGES = sorted((Path(__file__).parent / "tutorials").glob("*.md"))
BLOCK = re.compile(r"^```(.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

#: how a program is run: in Python alone, as it is written (`jit` compiles), and with Graph mode on
WAYS = {"python": {"jit": False}, "written": {}, "graph": {"mode": weft.GRAPH_MODE}}


class Program(NamedTuple):
    """A section of a page."""

    page: str
    topic: str
    source: str
    printed: str
    documented: str
    reason: str


def sections(page: Path) -> Iterator[Program]:
    """The programs of a page."""
    for section in page.read_text().split("\n## ")[1:]:
        topic = section.splitlines()[0]
        blocks = dict(BLOCK.findall(section))
        source, printed = blocks.pop("python"), blocks.pop("text", "")
        documented = blocks.pop("text documented", printed)
        assert not blocks, (page, topic, blocks)
        reason = section.partition("\nReason: ")[2].strip()
        yield Program(page.stem, topic, source, printed, documented, reason)


PROGRAMS = [program for page in PAGES for program in sections(page)]


def normal(text: str) -> str:
    """The text without the spacing, which the pages do not keep."""
    return re.sub(r"\s+", " ", re.sub(r"(?<=[(\[=:]) +| +(?=[)\]])", "", text)).strip()


def printed(source: str) -> str:
    """What a program prints, and the error that ends it."""
    main = types.ModuleType("tutorial")
    sys.modules["tutorial"] = main
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            exec(compile(source, "tutorial.py", "exec"), vars(main))
    except Exception as error:
        out.write("".join(traceback.format_exception_only(error)))
    finally:
        del sys.modules["tutorial"]
    return out.getvalue()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("program", PROGRAMS, ids=[f"{p.page}-{p.topic}" for p in PROGRAMS])
def test_prints_what_is_documented(program: Program, way: str) -> None:
    before = {key: weft.get_context(key) for key in ("jit", "device_target")}
    weft.set_context(**WAYS[way])
    try:
        assert normal(printed(program.source)) == normal(program.printed)
    finally:
        weft.set_context(**before)


@pytest.mark.parametrize("program", PROGRAMS, ids=[f"{p.page}-{p.topic}" for p in PROGRAMS])
def test_a_departure_has_a_reason(program: Program) -> None:
    assert bool(program.reason) == (normal(program.documented) != normal(program.printed))
