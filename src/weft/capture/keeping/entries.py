"""The entries that earlier processes captured: asked before a call is captured, kept after it was.

They are kept where the program has switched the compile cache on. What a process takes for given without a guard must
be the same in all of them: the hashes of texts are not, so an entry for which they count is not kept.
"""

from __future__ import annotations

import hashlib
import json
import logging
import sys
import types
from collections.abc import Sequence
from typing import Any, Final

from weft.cache import executables
from weft.cache.folder import machine
from weft.cache.version import VERSION
from weft.capture.keeping.described import code_digest
from weft.capture.keeping.records import NotKept, Record, Unfit, recorded, restored
from weft.capture.leaving.entry import Entry
from weft.core.tensor import Tensor

logger: Final = logging.getLogger("weft.cache")
#: entries kept for one callable and types of arguments, the latest first
_LIMIT: Final = 64
#: one that is used behind these is put first: what was used since half of them were made is not dropped
_RECENT: Final = _LIMIT // 2


class KeptEntries:
    """The entries of one compiled callable that other processes find, and those that they left.

    Args:
        function: the callable.
        policy: what else decides how it is captured.
        unkept: why nothing of it is kept, "" if it may be.
    """

    def __init__(self, function: Any, policy: str, unkept: str) -> None:
        self._about = _about(function)
        self.policy = policy
        self.unkept = unkept
        #: the records that became entries, each of which serves once
        self._used: set[str] = set()

    def key(self, names: Sequence[str], values: Sequence[Any]) -> str:
        """The name under which entries for a call are kept.

        Args:
            names: names of the parameters of the entry.
            values: their values.
        """
        kinds = [repr(value.type) if type(value) is Tensor else type(value).__qualname__ for value in values]
        facts = (VERSION, machine(), _libraries(), self._about, self.policy, list(names), kinds)
        return f"entries {hashlib.sha256(repr(facts).encode('utf-8', 'surrogatepass')).hexdigest()}"

    def find(self, key: str, function: Any, values: Sequence[Any]) -> Entry | None:
        """The entry of an earlier process that fits a call, None if there is none.

        Args:
            key: what `key` said of the call.
            function: the callable.
            values: the values of the parameters of the entry.
        """
        store = executables.kept_entries()
        if store is None or self.unkept:
            return None
        records = _records(store.get(key))
        for place, record in enumerate(records):
            if record["id"] in self._used:
                continue
            try:
                entry = restored(record, values, function)
            except Unfit as reason:
                logger.debug("%s: a graph of an earlier process does not fit: %s", self._about, reason)
                continue
            self._used.add(record["id"])
            if place >= _RECENT:
                store.put(key, _content([record, *records[:place], *records[place + 1 :]]))
            return entry
        return None

    def keep(self, key: str, entry: Entry, function: Any, values: Sequence[Any]) -> None:
        """Keep a new entry, while everything is as it was before the call that was captured.

        Args:
            key: what `key` said of the call before it was captured.
            entry: the entry.
            function: the callable.
            values: the values of the parameters of the entry.
        """
        store = executables.kept_entries()
        if store is None:
            return
        try:
            if self.unkept:
                raise NotKept(self.unkept)
            record = recorded(entry, values, function)
        except NotKept as reason:
            tell(entry, reason)
            return
        record["id"] = hashlib.sha256(json.dumps(record).encode()).hexdigest()
        self._used.add(record["id"])
        others = [other for other in _records(store.get(key)) if other["id"] != record["id"]]
        store.put(key, _content([record, *others[: _LIMIT - 1]]))


def tell(entry: Entry, reason: object) -> None:
    """Say in the log why an entry is not kept."""
    logger.info("%s: the graph is not kept for the next process: %s", entry.segment.name, reason)


def _libraries() -> list[str]:
    """The versions of libraries whose functions captures call, besides those that `version` knows."""
    loaded = [(name, sys.modules.get(name)) for name in ("ml_dtypes", "scipy")]
    return [f"{name} {getattr(module, '__version__', '')}" for name, module in loaded]


def _about(function: Any) -> str:
    """What a callable is, as text that is the same in all processes."""
    while isinstance(function, types.MethodType):
        function = function.__func__
    if isinstance(function, types.FunctionType):
        return f"{function.__module__} {function.__qualname__} {code_digest(function.__code__)}"
    return f"{type(function).__module__} {type(function).__qualname__}"


def _content(records: list[Record]) -> bytes:
    return json.dumps(records, separators=(",", ":")).encode()


def _records(content: bytes | None) -> list[Record]:
    return [] if content is None else json.loads(content)  # which `Files` gives whole or not at all
