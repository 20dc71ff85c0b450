"""Where the compile cache is, and whether it may be used: what lies there is run."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import stat
import sys
from pathlib import Path

from weft._jax_compat import JAX_VERSIONS


class Unusable(Exception):
    """A folder cannot be used; the message says why."""


def default_folder() -> Path:
    """The folder of this user's caches.

    Example:
        >>> default_folder().name
        'weft'
    """
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):  # the standard of XDG: a relative path is ignored
        base = os.path.expanduser("~/.cache")
    return Path(base) / "weft"


def opened(folder: Path) -> Path:
    """A folder for a cache, made where it is missing.

    Args:
        folder: where it is to be.

    Raises:
        Unusable: it cannot be made, or others may write there.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        facts = folder.stat()
    except (OSError, RuntimeError) as error:
        raise Unusable(str(error)) from None
    if hasattr(os, "geteuid"):
        if facts.st_uid != os.geteuid():
            raise Unusable(f"{folder} belongs to another user")
        if facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise Unusable(f"other users may write to {folder}; `chmod go-w` it")
    return folder


@functools.cache
def machine() -> str:
    """A name for what compiled code depends on besides the program and the compiler's options."""
    facts = [platform.machine(), *JAX_VERSIONS]
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            # x86 calls them flags, ARM features
            facts += sorted({line for line in file if line.startswith(("flags", "Features", "model name", "CPU part"))})
    except OSError:
        facts.append(platform.processor())  # which may start a program to find out
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:16]
