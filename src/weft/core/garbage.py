"""Garbage in cycles is freed where it is made."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def freed_after() -> Iterator[None]:
    """Free at the end of a block what it made and left behind in cycles, as it would be freed without them.

    Python would find it some time later; until then it would keep alive what it refers to, of the program, too. The
    collector does not run in the block, so that all of it is in the youngest generation then. It is left alone where
    the program has turned it off, and while a debugger runs, which would stop in what it calls.
    """
    if not gc.isenabled() or sys.gettrace() is not None:
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.collect(0)
