"""Types that operations give, kept for the next process: JAX takes milliseconds to say them.

One file holds them all, as text. It is read when the first one is asked for, and written now and then, together with
what other processes have written meanwhile. It is of no use to another version of this package, or of JAX.
"""

from __future__ import annotations

import atexit
import json
import threading
import time
from typing import Any, Final, Protocol

from weft._jax_compat import on_compilation
from weft.cache.version import VERSION

#: how many are kept; beyond it the file begins anew
LIMIT: Final = 20_000
#: seconds between two writes, but for the last, and how many times as long as a write at least
_PAUSE: Final = 2.0
_SHARE: Final = 100.0


class Store(Protocol):
    """Where the file is."""

    def get(self, key: str) -> bytes | None:
        """The value of a key, or None."""

    def put(self, key: str, value: bytes) -> None:
        """Keep a value."""


class Inferred:
    """The types of operations that this process knows from earlier ones, and those that it has found.

    Args:
        store: where they are kept.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, Any] | None = None
        self._new: dict[str, Any] = {}
        #: before which nothing is written
        self._rests_until = time.monotonic() + _PAUSE
        self._lock = threading.Lock()

    def find(self, key: str) -> Any:
        """What is kept under a key, as JSON gives it back; None if nothing is."""
        known = self._known
        if known is None:
            known = self._known = self._read()
        return known.get(key)

    def note(self, key: str, value: Any) -> None:
        """Keep what was found; it is written at the end of a later compilation, or of the process."""
        self._new[key] = value

    def write(self, at_once: bool = False) -> None:
        """Write what is new."""
        begun = time.monotonic()
        if not self._new or (not at_once and begun < self._rests_until):
            return
        with self._lock:
            new, self._new = self._new, {}
            kept = {**self._read(), **new}
            self._store.put(_key(), json.dumps(new if len(kept) > LIMIT else kept, separators=(",", ":")).encode())
            ended = time.monotonic()
            self._rests_until = ended + max(_PAUSE, _SHARE * (ended - begun))

    def _read(self) -> dict[str, Any]:
        content = self._store.get(_key())
        try:
            found = {} if content is None else json.loads(content)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}


#: that of this process; None where nothing is kept
_current: Inferred | None = None


def keep_in(store: Store | None) -> None:
    """Keep types from now on in a store, or nowhere."""
    global _current
    _write_now()
    _current = None if store is None else Inferred(store)


def current() -> Inferred | None:
    """What keeps the types; None where nothing does."""
    return _current


def _write_now() -> None:
    if _current is not None:
        _current.write(at_once=True)


def _write(name: str, seconds: float) -> None:
    del name, seconds
    if _current is not None:
        _current.write()


def _key() -> str:
    """The name of the file."""
    return f"types {VERSION}"


on_compilation(_write)
atexit.register(_write_now)
