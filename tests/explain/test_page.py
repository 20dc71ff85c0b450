"""The page: parsed always, rendered where a headless Chromium is installed."""

from __future__ import annotations

import html
import linecache
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from tests.explain import explained as programs
from tests.explain.explained import a_break
from weft import Tensor
from weft.capture.state.events import FIRST, BreakSite, Captured, History
from weft.errors import Location
from weft.explain import FunctionReport, Report
from weft.explain.source import ranges

X = Tensor(np.ones((2, 3), np.float32))
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"))), None
)
#: elements without an end
VOID = {"meta", "link", "br", "img", "input", "hr"}


class Element:
    """An element of a parsed page."""

    def __init__(self, tag: str, attributes: dict[str, str]) -> None:
        self.tag = tag
        self.attributes = attributes
        self.children: list[Element | str] = []

    @property
    def classes(self) -> set[str]:
        return set(self.attributes.get("class", "").split())

    @property
    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def all(self, tag: str = "", kind: str = "") -> list[Element]:
        """The elements below this one with a tag and a class."""
        found = []
        for child in self.children:
            if isinstance(child, Element):
                if (not tag or child.tag == tag) and (not kind or kind in child.classes):
                    found.append(child)
                found += child.all(tag, kind)
        return found


class Page(HTMLParser):
    """Parses a page, and checks that its elements nest."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.root = Element("", {})
        self.open = [self.root]
        self.feed(html)
        self.close()
        assert self.open == [self.root], "an element is not closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def page(report: Report) -> Element:
    """The parsed page of a report."""
    html = report.to_html()
    assert html.startswith("<!DOCTYPE html>")
    root = Page(html).root
    assert_stands_alone(root)
    return root


def assert_stands_alone(root: Element) -> None:
    """The page loads nothing and runs nothing, and its links lead somewhere."""
    for element in root.all():
        assert element.tag not in ("script", "link", "img", "iframe", "object")
        assert not [name for name in element.attributes if name.startswith("on") or name == "src"]
    style = "".join(element.text for element in root.all("style"))
    assert "url(" not in style
    assert "@import" not in style
    assert "prefers-color-scheme: dark" in style
    names = [element.attributes["id"] for element in root.all() if "id" in element.attributes]
    assert len(names) == len(set(names))
    for link in root.all("a"):
        assert link.attributes["href"].removeprefix("#") in names


def lines_of(root: Element) -> dict[int, Element]:
    """The shown lines by number; each shows its source exactly."""
    found = {}
    for line in root.all("li", "line"):
        number = int(line.all("span", "number")[0].text)
        assert line.all("pre")[0].text == linecache.getline(programs.__file__, number).rstrip("\n")
        found[number] = line
    return found


def test_lines_are_coloured_by_where_they_ran() -> None:
    compiled = weft.jit(programs.closures)
    compiled(X)
    report = compiled.report()
    shown = lines_of(page(report))
    ran = {line for _, line in report.graphs[0].lines}
    for number, line in shown.items():
        assert ("ran" in line.classes) == (number in ran)
        assert bool(line.all("a", "chip")) == (number in ran)
    first = programs.closures.__code__.co_firstlineno
    assert sorted(shown) == list(range(first, max(shown) + 1))
    assert shown[max(shown)].all("pre")[0].text == "    return total.sum()"


def test_source_of_all_functions_that_ran_and_of_no_other() -> None:
    net = programs.Net()
    step = weft.jit(lambda batch: net(batch))
    step({"x": X})
    root = page(step.report())
    files = {heading.text for heading in root.all("h3", "path")}
    assert files == {programs.__file__, __file__}
    assert "def construct(self, batch" in root.text
    shown = "".join(line.text for line in root.all("li", "line"))
    assert "step = weft.jit(lambda batch: net(batch))" in shown
    assert "step.report()" not in shown
    assert "def closures" not in shown


def test_graphs_are_folded_with_counts_and_text() -> None:
    compiled = weft.jit(programs.polynomial)
    compiled(X)
    compiled(Tensor(np.ones((4, 3), np.float32)))
    report = compiled.report()
    root = page(report)
    graphs = root.all("details", "graph")
    assert len(graphs) == 2
    for graph, element in zip(report.graphs, graphs, strict=True):
        assert element.all("pre", "text")[0].text == graph.text
        names = [span.text for span in element.all("div", "bars")[0].all("span")]
        shown = dict(zip(names[::2], names[1::2], strict=True))
        assert shown == {name: str(count) for name, count in graph.operations.items()}
        for what in graph.event.guards.values():
            assert what in element.text


def test_a_recompile_stands_in_the_margin_where_the_function_begins() -> None:
    compiled = weft.jit(programs.polynomial)
    for kind in (np.float32, np.float64, np.float16):
        compiled(Tensor(np.ones((2, 3), kind)))
    report = compiled.report()
    line = lines_of(page(report))[programs.polynomial.__code__.co_firstlineno]
    assert [note.all("a")[0].text for note in line.all("div", "again")] == ["graph 2", "graph 3"]
    assert report.recompiles[0].event.reason in line.text


def test_many_recompiles_do_not_fill_the_page() -> None:
    compiled = weft.jit(programs.polynomial)
    for rank in range(1, 13):
        compiled(Tensor(np.ones((1,) * rank, np.float32)))
    root = page(compiled.report())
    shown = lines_of(root)
    assert len(shown[programs.polynomial.__code__.co_firstlineno].all("div", "again")) == 5
    assert "6 earlier recompiles" in root.text
    assert max(len(line.all("a", "chip")) for line in shown.values()) < 12
    assert len(root.all("details", "graph")) == 12


def test_a_refusal_is_marked_in_the_source() -> None:
    function = weft.jit(programs.leaves, fullgraph=True)
    (refusal,) = weft.explain(function)(X).refusals
    location = refusal.site.location
    line = lines_of(page(function.report()))[location.line]
    assert "py" in line.classes
    source = linecache.getline(location.file, location.line).encode()
    assert [mark.text for mark in line.all("span", "at")] == [source[location.column : location.end_column].decode()]
    (note,) = line.all("div", "note")
    assert refusal.site.kind in note.text
    assert refusal.site.why in note.text
    assert refusal.site.do in note.text


def broken_report() -> Report:
    """A function with two graphs and the break between them, recompiled once."""
    compiled = weft.jit(programs.polynomial)
    compiled(X)
    graph = compiled.report().graphs[0].graph
    site: BreakSite = a_break()
    history = History("leaves <&>", Location(programs.__file__, programs.leaves.__code__.co_firstlineno))
    before, after = site.location.line - 1, site.location.line
    file = programs.__file__
    history.add(Captured(graph, {}, FIRST, None, site, frozenset({(file, before), (file, after)})))
    history.ran_break(site)
    history.add(Captured(graph, {}, FIRST, site.location, None, frozenset({(file, after)})))
    history.add(Captured(graph, {}, "argument x: shape (2,) -> (3,)", site.location, None, frozenset({(file, after)})))
    return Report([FunctionReport.of(history)])


def test_a_break_is_underlined_and_explained_beside_its_line() -> None:
    root = page(broken_report())
    site = a_break()
    line = lines_of(root)[site.location.line]
    assert [mark.text for mark in line.all("span", "at")] == ["np.sin(y.asnumpy())"]
    assert [chip.text for chip in line.all("a", "chip")][:3] == ["1", "2", "3"]
    notes = [note.text for note in line.all("div", "note")]
    assert any("argument x: shape (2,) -> (3,)" in note for note in notes)  # where the second graph begins
    assert any(site.why in note and site.do in note for note in notes)
    graphs = root.all("details", "graph")
    colours = [next(kind for kind in graph.classes if re.fullmatch(r"c\d", kind)) for graph in graphs]
    assert colours[0] != colours[1] == colours[2]


def test_source_that_is_not_there() -> None:
    namespace: dict[str, Any] = {}
    exec(compile("def made(x):\n    return x * 2\n", "<not a file>", "exec"), namespace)
    root = page(weft.explain(namespace["made"])(X))
    assert len(root.all("li", "line")) == 2
    assert "<not a file>" in root.text


@pytest.mark.parametrize(
    ("text", "wanted", "found"),
    [
        ("def f():\n  x = 1\n\ndef g():\n  y = 2\n", [2], [(1, 2)]),
        ("def f():\n  x = 1\n\ndef g():\n  y = 2\n", [5, 2], [(1, 2), (4, 5)]),
        ("def f():\n  def g():\n    x = 1\n  g()\n", [3], [(2, 3)]),
        ("def f():\n  def g():\n    x = 1\n  g()\n", [3, 4], [(1, 4)]),
        ("@a\n@b\ndef f():\n  pass\n", [1], [(1, 4)]),
        ("class A:\n  x = 1\n  def f(self): pass\n", [2], [(2, 2)]),
        ("f = lambda x: (\n  x)\n", [2], [(1, 2)]),
        ("def f():\n  g = lambda: 1\n  return g\n", [2], [(2, 2)]),
        ("def f():\n  g = lambda: 1\n  return g\n", [2, 3], [(1, 3)]),
        ("x = = 1\n", [1], [(1, 1)]),
        ("", [7], [(7, 7)]),
    ],
)
def test_functions_around_lines(text: str, wanted: list[int], found: list[tuple[int, int]]) -> None:
    assert ranges(text.splitlines(keepends=True), wanted) == found


def test_a_notebook_shows_the_page_in_a_frame() -> None:
    compiled = weft.jit(lambda x: x * 2)
    compiled(Tensor([1.0]))
    report = compiled.report()
    found = re.fullmatch(r'<iframe srcdoc="([^"<>]*)" style="[^"<>]*"></iframe>', report._repr_html_())
    assert found is not None
    assert html.unescape(found[1]) == report.to_html()


def test_a_page_is_written_to_a_file(tmp_path: Path) -> None:
    report = broken_report()
    html = report.to_html(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == html


@pytest.mark.skipif(CHROMIUM is None, reason="needs a headless Chromium")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_chromium_shows_the_page(dark: bool, tmp_path: Path) -> None:
    assert CHROMIUM is not None
    pillow = pytest.importorskip("PIL.Image")
    broken_report().to_html(tmp_path / "page.html")
    image = tmp_path / "page.png"
    flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        f"--user-data-dir={tmp_path / 'profile'}",
    ]
    scheme = ["--blink-settings=preferredColorScheme=0"] if dark else []
    url = (tmp_path / "page.html").as_uri()
    command = [CHROMIUM, *flags, *scheme, "--window-size=900,700", f"--screenshot={image}", url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
    assert "Refused" not in done.stderr  # the page asks for nothing that its own policy forbids
    shown = pillow.open(image).convert("RGB")
    assert shown.size == (900, 700)
    colours = {f"#{red:02x}{green:02x}{blue:02x}" for _, (red, green, blue) in shown.getcolors(900 * 700)}
    style = (tmp_path / "page.html").read_text()
    tints = re.findall(r"--(?:page|card|g0|g1|py): (#\w{6})", style)
    light, night = tints[:5], tints[5:]
    wanted, other = (night, light) if dark else (light, night)
    assert set(wanted) <= colours
    assert other[0] not in colours
