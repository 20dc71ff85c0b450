"""Rounds of random programs: short ones always, long ones with `make slow`."""

from __future__ import annotations

from typing import Any

import pytest


def rounds(quick: int, slow: int, step: int = 1) -> list[Any]:
    """Parameters of a test that takes a seed, or `step` seeds from one on.

    Args:
        quick: how many seeds always run.
        slow: how many there are; those after the first `quick` are marked slow.
        step: how many seeds one test takes.
    """
    return [pytest.param(seed, marks=[pytest.mark.slow] * (seed >= quick)) for seed in range(0, slow, step)]
