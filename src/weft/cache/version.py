"""A name for everything that says what an operation computes: this package's source, NumPy and Python.

The source counts as it is when the package is imported: that is what this process runs, though somebody may edit it, or
install another version, before anything is compiled.
"""

from __future__ import annotations

import hashlib
import os
import sys
from typing import Final

import numpy as np


def _sources(package: str) -> list[tuple[str, int, int]]:
    """Path in the package, size and time of every source file."""
    found = []
    folders, start = [package], len(package)
    for folder in folders:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith(".py"):
                    facts = entry.stat()
                    found.append((entry.path[start:], facts.st_size, facts.st_mtime_ns))
                elif "." not in name and name != "__pycache__" and entry.is_dir():
                    folders.append(entry.path)
    found.sort()
    return found


def _version() -> str:
    facts = [sys.version, np.__version__, *_sources(os.path.dirname(os.path.dirname(__file__)))]
    return hashlib.sha256(repr(facts).encode()).hexdigest()


VERSION: Final = _version()
