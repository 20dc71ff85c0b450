"""Forced breaks change nothing: at all calls of each program of the corpus at once, and at single ones."""

from __future__ import annotations

import random
from typing import Any

import pytest
from forced import check_forced, check_sites, corpus

CORPUS = dict(corpus())


@pytest.mark.parametrize("name", CORPUS)
def test_breaks_at_all_calls(name: str) -> None:
    check_forced(CORPUS[name], lambda frame, pc: True)


def test_breaks_are_forced() -> None:
    forced: list[Any] = []

    def note(frame: Any, pc: int) -> bool:
        forced.append(frame.decoded.instrs[pc].name)
        return True

    check_forced(CORPUS["containers::list_methods"], note)
    assert len(forced) >= 9


@pytest.mark.parametrize("name", random.Random(0).sample(list(CORPUS), 60))
def test_breaks_at_single_calls(name: str) -> None:
    assert check_sites(CORPUS[name], random.Random(name), 2) == []
