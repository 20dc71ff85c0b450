"""The functional forms, by name: ``functional.add(x, y)``."""

from __future__ import annotations

from weft import lazily, ops

__all__ = [name for name in ops.__all__ if not name[0].isupper()]
__getattr__, __dir__ = lazily.lazily(__name__, {"weft.ops": " ".join(__all__)})
