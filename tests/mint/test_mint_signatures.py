"""The functions and cells of `mindspore.mint` have the parameters that MindSpore 2.10 gives them.

`signatures.txt` holds what `inspect.signature` says there, for the names that are here.
"""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

import pytest

import weft.mindspore  # noqa: F401  (the door)

RECORDED = [
    (line[: line.index("(")], line[line.index("(") :])
    for line in (Path(__file__).parent / "signatures.txt").read_text().splitlines()
]
MODULES = ("mint", "mint.nn", "mint.nn.functional", "mint.optim", "mint.linalg", "mint.special")
#: those with several forms, which `inspect` cannot see there: each form is tested with the functions
OVERLOADED = {
    "mint": {
        "add", "addcdiv", "any", "bitwise_not", "clamp", "clip", "div", "empty", "empty_like", "eq", "flatten",
        "floor_divide", "fmod", "ge", "greater_equal", "imag", "index_add", "kthvalue", "lerp", "less", "lt", "max",
        "min", "mul", "nansum", "real", "remainder", "repeat_interleave", "reshape", "squeeze", "sub", "t", "where",
        "xlogy",
    },
    "mint.nn": {"Identity", "Mish", "SELU"},
    "mint.nn.functional": {"conv1d", "conv3d", "gelu", "pixel_shuffle"},
}  # fmt: skip


def plain(function: Any) -> str:
    """The signature without types."""
    found = inspect.signature(function)
    parameters = [one.replace(annotation=one.empty) for one in found.parameters.values()]
    return str(found.replace(parameters=parameters, return_annotation=found.empty))


@pytest.mark.parametrize(("path", "recorded"), RECORDED, ids=[path for path, _ in RECORDED])
def test_signature(path: str, recorded: str) -> None:
    module, _, name = path.rpartition(".")
    assert plain(getattr(importlib.import_module(f"mindspore.{module}"), name)) == recorded


@pytest.mark.parametrize("module", MODULES)
def test_every_name_is_recorded(module: str) -> None:
    recorded = {path.rpartition(".")[2] for path, _ in RECORDED if path.rpartition(".")[0] == module}
    # `Cell`, `F` and `Tensor` are there as in MindSpore's modules, which import them
    children = {other.rpartition(".")[2] for other in MODULES} | {"distributed", "Cell", "F", "Tensor"}
    names = {name for name in importlib.import_module(f"mindspore.{module}").__all__ if name not in children}
    assert names == recorded | OVERLOADED.get(module, set())


@pytest.mark.parametrize(
    ("statement", "near"),
    [
        ("from mindspore.mint import grid_sample", "weft has no mindspore.mint.grid_sample"),
        ("from mindspore.mint.nn import MaxUnpool2d", "weft has no mindspore.mint.nn.MaxUnpool2d"),
        ("from mindspore.mint import arg_max", "mindspore.mint.argmax"),
    ],
)
def test_a_name_that_is_missing_fails_where_it_is_imported(statement: str, near: str) -> None:
    with pytest.raises(ImportError, match=near):
        exec(statement)
