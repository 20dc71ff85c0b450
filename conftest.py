"""What every test and every example in a docstring or page starts from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft

#: the operator classes carry the docstrings of their functions, whose examples run where the functions are; the
#: programs have objects that answer whatever the collection of examples asks, or need devices and processes
collect_ignore = [
    "src/weft/ops/operations.py",
    "tests/capture/object_programs.py",
    "tests/explain/programs",
    "tests/parallel/programs",
]


@pytest.fixture(autouse=True)
def _fresh_settings() -> Iterator[None]:
    """Each test starts in eager mode and leaves the mode as it was."""
    mode = weft.get_context("mode")
    weft.set_context(mode=weft.PYNATIVE_MODE)
    yield
    weft.set_context(mode=mode)


@pytest.fixture(autouse=True, scope="session")
def _names_of_examples(doctest_namespace: dict[str, Any]) -> None:
    """Names that examples use without importing them."""
    doctest_namespace.update(np=np, weft=weft, Tensor=weft.Tensor, Parameter=weft.Parameter, nn=weft.nn, ops=weft.ops)
