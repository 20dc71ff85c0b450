"""Changes that are refused half way are taken back."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from weft.rewrite.node import Node


@contextlib.contextmanager
def whole_or_not(trees: Iterable[Any], new: Iterable[Node] = ()) -> Iterator[Callable[[Iterable[Node]], None]]:
    """Leave trees as they were where the block ends with an error.

    Args:
        trees: the trees (`Grown`) that may be changed.
        new: nodes that may be inserted.

    Yields:
        a function that takes more nodes that may be inserted.
    """
    undo: list[Callable[[], None]] = []

    def watch(nodes: Iterable[Node]) -> None:
        undo.extend(_restorer(vars(node)) for node in nodes)

    watch(new)
    for tree in trees:
        undo += map(_restorer, (tree._node_names, tree.kept, tree.methods, tree.project.trees, tree.project.functions))
        for block in tree._blocks():
            watch(block.nodes)
            undo += map(_restorer, (block.nodes, block.body, block.locals))
            if (given := block.arguments) is not None:
                lists: list[list[Any]] = [given.posonlyargs, given.args, given.defaults, given.kwonlyargs]
                undo += map(_restorer, (*lists, given.kw_defaults))
            undo.append(block.forget)
    try:
        yield watch
    except BaseException:
        for each in reversed(undo):
            each()
        raise


def _restorer(container: Any) -> Callable[[], None]:
    """A function that gives a list, set or dict the items back that it has now."""
    items = container.copy()

    def restore() -> None:
        container.clear()
        (container.extend if isinstance(container, list) else container.update)(items)

    return restore
