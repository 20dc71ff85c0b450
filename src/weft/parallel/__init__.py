"""Parallel programs as far as one process makes sense of them: who takes part, groups, settings, layouts.

A program is rank 0 of 1. What needs another process is refused with one error, `SeveralProcesses`.
"""

from typing import TYPE_CHECKING

from weft import lazily

if TYPE_CHECKING:
    from weft.parallel.pictures import picture
else:
    __getattr__, __dir__ = lazily.lazily(__name__, {"weft.parallel.pictures": "picture"})

__all__ = ["picture"]
