from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cache.edited import Memory
from weft.cache import configure, executables


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """A compile cache for entries alone."""
    store = Memory()
    monkeypatch.setattr(executables, "_current", store)
    monkeypatch.setattr(executables, "keeps_entries", lambda: True)
    monkeypatch.setattr("weft.capture.capture.keeps_entries", lambda: True)
    yield store
    monkeypatch.undo()
    configure()
