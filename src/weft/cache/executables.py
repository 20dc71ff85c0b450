"""What XLA compiled, kept in files: JAX asks for them by a key of the program, the compiler and its options."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any, Final

from weft import context
from weft._jax_compat import keep_executables
from weft.cache import inferred, programs
from weft.cache.files import LOG, Files
from weft.cache.folder import Unusable, default_folder, machine, opened

#: bytes that the files of a cache may have together
LIMIT: Final = 4 << 30


def is_on() -> bool:
    """Whether compiled programs are kept: unless the settings, or else the environment, say no."""
    chosen = context.chosen("enable_compile_cache")
    if chosen is None:
        chosen = context.environment_switch("MS_COMPILER_CACHE_ENABLE")
    return bool(chosen)


def keeps_entries() -> bool:
    """Whether what captures of functions made is kept too: only where the settings, or else the environment, say so."""
    return is_on() and (context.chosen("enable_compile_cache") is not None or "MS_COMPILER_CACHE_ENABLE" in os.environ)


def kept_entries() -> Executables | None:
    """Where captured entries are kept; None where they are not."""
    return _current if keeps_entries() else None


def folder() -> Path:
    """Where they are kept: where the settings say, or else the environment, or else among the user's caches.

    Example:
        >>> folder().is_absolute()
        True
    """
    chosen = context.chosen("compile_cache_path") or os.environ.get("MS_COMPILER_CACHE_PATH")
    return Path(chosen).absolute() / "weft-cache" if chosen else default_folder()


class Executables:
    """What JAX asks for compiled programs. The folder is opened when the first one is asked for.

    Args:
        folder: the folder of the cache.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder
        self._files: Files | None = None
        self._lock = threading.Lock()
        self._opened = False
        #: keys of programs that XLA writes and cannot read
        self._unreadable: set[str] = set()

    def get(self, key: str) -> bytes | None:
        """The compiled program of a key, or None."""
        files = self._open()
        return None if files is None else files.get(f"{machine()} {key}")

    def put(self, key: str, value: bytes) -> None:
        """Keep a compiled program."""
        files = self._open()
        if files is not None and key not in self._unreadable:
            files.put(f"{machine()} {key}", value)

    def drop(self, key: str) -> None:
        """Remove a compiled program that XLA could not read, and keep it no more."""
        self._unreadable.add(key)
        files = self._open()
        if files is not None:
            files.drop(f"{machine()} {key}")

    def _open(self) -> Files | None:
        with self._lock:
            if not self._opened:
                self._opened = True
                try:
                    self._files = Files(opened(self._path), LIMIT)
                except Unusable as error:
                    LOG.warning("there is no compile cache: %s", error)
            return self._files


#: what is asked in this process; None where nothing is kept
_current: Executables | None = None


def configure(changes: dict[str, Any] | None = None) -> None:
    """Keep what is compiled from now on where the settings say.

    Args:
        changes: settings that have just changed; None if nothing was configured yet.
    """
    if changes is None or {"enable_compile_cache", "compile_cache_path"} & changes.keys():
        global _current
        kept = _current = Executables(folder()) if is_on() else None
        keep_executables(kept)
        inferred.keep_in(kept)
        programs.keep_in(kept)


context.on_change(configure)
