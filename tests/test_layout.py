"""The shape of the source tree: who may import whom, how long a file may be, where JAX internals may be."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "weft"
#: modules and folders of weft, each importing only from those before it (those in one tuple from one another)
LAYERS = (
    ("errors", "_jax_compat", "dtypes", "context"),
    ("ir",),
    ("core",),
    ("ops",),
    ("autodiff",),
    ("passes",),
    ("compile",),
    ("vectorize",),
    ("capture",),
    ("nn",),
    ("jit",),
    ("train",),
    ("explain",),
    ("testing",),
    ("mindspore",),
    ("demo", "cli", "__main__", "__init__"),
)
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}
FILES = sorted(SOURCE.rglob("*.py"))


def part_of(file: Path) -> str:
    """The folder of `weft` that a file stands in, or its own name at the top."""
    return file.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports_of(file: Path) -> list[tuple[int, str]]:
    """Line and dotted name of everything a file imports, inside functions too."""
    found = []
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: imports are absolute"
            found += [(node.lineno, f"{node.module}.{alias.name}") for alias in node.names]
    return found


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
            assert {"jax._src", "jax.interpreters"} <= banned


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_no_file_is_over_800_lines(file: Path) -> None:
    assert len(file.read_text().splitlines()) <= 800


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_every_module_says_what_it_is(file: Path) -> None:
    assert ast.get_docstring(ast.parse(file.read_text())), "a module starts with a docstring"


def test_jax_internals_stay_in_one_file() -> None:
    for file in FILES:
        if file.name != "_jax_compat.py":
            for line, name in imports_of(file):
                assert not name.startswith(("jax._src", "jax.interpreters", "jaxlib")), f"{file}:{line} imports {name}"
