"""Modules of networks that are written by a test, and what tests do with networks."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from pathlib import Path
from typing import Any

import numpy as np

from weft import Tensor
from weft.rewrite import ScopedValue

_count = itertools.count()
HEAD = "import functools\nfrom weft import Parameter, Tensor, nn, ops\n"
#: the argument of networks
X = Tensor(np.array([[1.0, -2.0]], np.float32))


def written(folder: Path, text: str) -> Any:
    """A module of a text."""
    name = f"written_{next(_count)}"
    file = folder / f"{name}.py"
    file.write_text(HEAD + text)
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def same(one: Any, other: Any) -> None:
    """Check that two tensors have the same values."""
    np.testing.assert_allclose(one.asnumpy(), other.asnumpy(), rtol=1e-6)


def names(*each: str) -> list[ScopedValue]:
    """Values that are names."""
    return ScopedValue.create_name_values(each)


def lines(tree: Any) -> list[str]:
    """The lines of the code of a tree, without the spaces before them."""
    return [line.strip() for line in tree.get_code().split("\n")]


def named(network: Any) -> list[str]:
    """The names of the parameters of a network."""
    return [each.name for each in network.get_parameters()]
