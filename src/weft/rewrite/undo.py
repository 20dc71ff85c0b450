"""Changes that are refused half way are taken back."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any


class Journal:
    """How to take back what a change has done so far. All that can change in trees is changed with it."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], object]] = []
        #: how many changes, each a part of the one before, are being made
        self._open = 0

    @contextlib.contextmanager
    def whole_or_not(self) -> Iterator[None]:
        """Take back what was changed in the block where that ends with an error."""
        begin = len(self._undo)
        self._open += 1
        try:
            yield
        except BaseException:
            while len(self._undo) > begin:
                self._undo.pop()()
            raise
        finally:
            self._open -= 1
            if not self._open:
                self._undo.clear()

    def note(self, undo: Callable[[], object]) -> None:
        """Note what takes back something that is done now."""
        if self._open:
            self._undo.append(undo)

    def keep(self, changing: Any) -> None:
        """Note the attributes of an object that is to change."""
        if self._open:
            held = vars(changing).copy()
            self.note(lambda: (vars(changing).clear(), vars(changing).update(held)))

    def add(self, names: set[str], new: set[str]) -> None:
        """Add to a set."""
        new = new - names
        names |= new
        self.note(lambda: names.difference_update(new))

    def put(self, table: dict[Any, Any], key: Any, value: Any) -> None:
        """Put something into a dict under a new key."""
        held = {key: table[key]} if key in table else None
        table[key] = value
        self.note(lambda: table.pop(key) if held is None else table.update(held))

    def insert(self, items: list[Any], index: int, item: Any) -> None:
        """Insert into a list."""
        items.insert(index, item)
        self.note(lambda: items.pop(index))

    def delete(self, items: list[Any], index: int) -> None:
        """Delete from a list."""
        item = items.pop(index)
        self.note(lambda: items.insert(index, item))
