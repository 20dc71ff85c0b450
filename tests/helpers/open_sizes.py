"""A mode of the suite in which every capture leaves all sizes open from the first on (`make open-sizes`).

What is only known of the sizes that a call brings then shows at once: a shape that was taken for a constant, a handler
of the program that catches what the capture raised itself, a value that stands in an array of another type.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from weft.capture.leaving import entries

#: tests of how many graphs, operations or compilations there are, and of what a second capture sees
COUNTS = (
    "test_decorator.py::test_one_entry_for_each_type_and_python_value",
    "test_decorator.py::test_static_keeps_globals",
    "test_policies.py::test_pijit_counts_as_absent_in_graph_mode",
    "test_loops_left_early.py::test_one_loop_node_however_many_iterations",
    "test_buckets.py::test_a_transformer_at_random_sizes",
    "test_buckets.py::test_sizes_that_were_equal_are_one_until_they_differ",
    "test_buckets.py::test_a_step_that_writes_weights",
    "test_bounds.py::test_a_graph_that_prints",  # its message names the size
)


class _Every(dict[str, int]):
    """All paths of sizes: each is open, and equal to no other."""

    def get(self, path: str, default: Any = None) -> Any:
        return hash(path)

    def __getitem__(self, path: str) -> int:
        return hash(path)

    def __contains__(self, path: object) -> bool:
        return True

    def __bool__(self) -> bool:
        return True

    def values(self) -> Any:
        return [0]


def pytest_configure() -> None:
    """Leave all sizes open in what is captured from now on."""
    made = entries.Owner.__init__

    def make(self: entries.Owner, *args: Any, **kwargs: Any) -> None:
        made(self, *args, **kwargs)
        self.sizes = _Every()

    entries.Owner.__init__ = make  # type: ignore[method-assign]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what counts."""

    def counts(item: pytest.Item) -> bool:
        return any(part in item.nodeid for part in COUNTS)

    left: Iterable[pytest.Item] = [item for item in items if counts(item)]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if not counts(item)]
