"""The shape of the source tree: who may import whom, how long a file may be, where JAX internals may be."""

from __future__ import annotations

import ast
import tomllib
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "weft"
#: modules and folders of weft, each importing only from those before it (those in one tuple from one another)
LAYERS = (
    ("collecting", "lazily", "errors", "_jax_compat", "dtypes", "cuts", "context"),
    ("cache",),
    ("ir",),
    ("core",),
    ("parallel",),
    ("ops",),
    ("autodiff",),
    ("passes",),
    ("compile",),
    ("vectorize",),
    ("capture",),
    ("nn",),
    ("mint",),
    ("jit",),
    ("data",),
    ("train",),
    ("mindir",),
    ("rewrite",),
    ("explain",),
    ("testing",),
    ("mindspore",),
    ("demo", "cli", "__main__", "__init__"),
)
#: the one that may use what is internal to JAX
INTERNALS = "_jax_compat"
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}
FILES = sorted(SOURCE.rglob("*.py"))
#: the rooms of `weft.capture`, in the same order, and what stands below them all
ROOMS = (
    "code", "python", "state", "sources", "meaning", "branching", "machine", "leaving", "writing", "keeping",
    "attempt", "capture", "whole",
)  # fmt: skip
#: no file of capture is longer
ROOM_LIMIT = 600


def part_of(file: Path) -> str:
    """The folder of `weft` that a file stands in, or its own name at the top."""
    return file.relative_to(SOURCE).parts[0].removesuffix(".py")


def names_in(source: str) -> list[tuple[int, str]]:
    """Line and dotted name of everything a module imports, inside functions and for types too."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: imports are absolute"
            found += [(node.lineno, f"{node.module}.{alias.name}") for alias in node.names]
    return found


def imports_of(file: Path) -> list[tuple[int, str]]:
    """Line and dotted name of everything a file imports."""
    return names_in(file.read_text(encoding="utf-8"))


def module_of(file: Path) -> str:
    """The dotted name of a file's module."""
    return ".".join(file.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")


def module_graph() -> dict[str, set[str]]:
    """The modules of weft, each with those that it imports, for types and inside functions too."""
    modules = {module_of(file): file for file in FILES}
    found: dict[str, set[str]] = {}
    for module, file in modules.items():
        names = [name for _, name in imports_of(file) if name.partition(".")[0] == "weft"]
        # `from weft.nn import Cell` imports the module weft.nn, `from weft.ir import text` the module weft.ir.text
        found[module] = {name if name in modules else name.rpartition(".")[0] for name in names} - {module}
        assert found[module] <= set(modules), f"{module} imports {found[module] - set(modules)}"
    return found


def parts_graph(folder: str, modules: dict[str, set[str]]) -> dict[str, set[str]]:
    """What stands directly in a folder, modules and folders, each with what it imports of the others."""

    def part(module: str) -> str | None:
        if module == folder:
            return f"{folder}.__init__"
        inside = module.startswith(f"{folder}.")
        return f"{folder}.{module[len(folder) + 1 :].partition('.')[0]}" if inside else None

    found: dict[str, set[str]] = {}
    for module, imported in modules.items():
        here = part(module)
        if here is not None:
            found.setdefault(here, set()).update(filter(None, map(part, imported)))
    return {name: imported - {name} for name, imported in found.items()}


def cycle_in(graph: dict[str, set[str]]) -> list[str]:
    """A way through a graph that ends where it begins, [] if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1]
        return cycle[::-1]
    return []


MODULES = module_graph()
FOLDERS = sorted({module_of(file) for file in FILES if file.name == "__init__.py"})


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_parts_of_a_folder_import_one_another_downwards(folder: str) -> None:
    """No part of a folder is imported by what it imports, so that the folder can be read in one order.

    Where this holds for all folders no module takes part in a cycle: the smallest folder that holds the whole cycle
    would have one among its parts.
    """
    cycle = cycle_in(parts_graph(folder, MODULES))
    assert not cycle, " imports ".join(cycle)


def test_each_room_of_capture_imports_from_those_above_it() -> None:
    for part, imported in parts_graph("weft.capture", MODULES).items():
        name = part.removeprefix("weft.capture.")
        above = {f"weft.capture.{room}" for room in ROOMS[: ROOMS.index(name)]} if name in ROOMS else set()
        assert imported <= above, f"{part} imports {imported - above}, which stands below it"


def test_cycles_are_found() -> None:
    """The checks above see imports for types, imports of a folder by its own modules, and cycles of folders."""
    tree = {"p": {"p.a"}, "p.a": {"p.f.x"}, "p.f": set(), "p.f.x": set(), "p.f.y": {"p.b"}, "p.b": set()}
    assert cycle_in(parts_graph("p", tree)) == []
    tree["p.b"] = {"p.a"}  # a -> f.x, f.y -> b, b -> a: no cycle of modules, but one of the parts of p
    assert set(cycle_in(parts_graph("p", tree))) == {"p.a", "p.f", "p.b"}
    assert cycle_in(tree) == []
    tree["p.a"].add("p")
    assert set(cycle_in(parts_graph("p", tree))) >= {"p.a"}
    typing = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from weft.nn import Cell\n"
    assert names_in(typing)[-1] == (3, "weft.nn.Cell")


def test_every_part_has_a_layer() -> None:
    assert {part_of(file) for file in FILES} - set(LEVEL) == set()


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_imports_point_upwards(file: Path) -> None:
    level = LEVEL[part_of(file)]
    for line, name in imports_of(file):
        head, _, rest = name.partition(".")
        if head == "weft" and rest:
            part = rest.split(".")[0]
            target = LEVEL.get(part, LEVEL["__init__"])  # `from weft import Tensor` is the root
            assert target <= level, f"{file.relative_to(ROOT)}:{line} imports {name}, which stands below it"


@pytest.mark.parametrize("parts", [p for p in LAYERS if p != LAYERS[-1]], ids=lambda parts: parts[0])
def test_ruff_knows_the_layers(parts: tuple[str, ...]) -> None:
    """Each folder's ruff.toml bans exactly what stands below the folder."""
    below = {f"weft.{part}" for part in LEVEL if LEVEL[part] > LEVEL[parts[0]] and not part.startswith("__")}
    for part in parts:
        if (SOURCE / part).is_dir():
            rules = tomllib.loads((SOURCE / part / "ruff.toml").read_text())
            banned = set(rules["lint"]["flake8-tidy-imports"]["banned-api"])
            assert {name for name in banned if name.startswith("weft.")} == below
            assert ({"jax._src", "jax.interpreters"} <= banned) == (part != INTERNALS)


@pytest.mark.parametrize("room", [room for room in ROOMS if (SOURCE / "capture" / room).is_dir()])
def test_ruff_knows_the_rooms(room: str) -> None:
    """Each room's ruff.toml bans the rooms below it, besides what capture/ bans."""
    folder = SOURCE / "capture"
    below = {f"weft.capture.{other}" for other in ROOMS[ROOMS.index(room) + 1 :]}
    everywhere = tomllib.loads((folder / "ruff.toml").read_text())["lint"]["flake8-tidy-imports"]["banned-api"]
    banned = tomllib.loads((folder / room / "ruff.toml").read_text())["lint"]["flake8-tidy-imports"]["banned-api"]
    assert set(banned) == below | set(everywhere)


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_no_file_is_too_long(file: Path) -> None:
    limit = ROOM_LIMIT if part_of(file) == "capture" else 800
    assert len(file.read_text(encoding="utf-8").splitlines()) <= limit


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_every_module_says_what_it_is(file: Path) -> None:
    assert ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))), "a module starts with a docstring"


def test_names_of_test_files_are_their_own() -> None:
    """pytest imports files of folders that are no packages by their names alone."""
    alone = [file for file in (ROOT / "tests").rglob("test_*.py") if not (file.parent / "__init__.py").exists()]
    names = Counter(file.name for file in alone)
    assert [name for name, count in names.items() if count > 1] == []


def test_jax_internals_stay_in_one_folder() -> None:
    for file in FILES:
        if part_of(file) != INTERNALS:
            for line, name in imports_of(file):
                assert not name.startswith(("jax._src", "jax.interpreters", "jaxlib")), f"{file}:{line} imports {name}"
