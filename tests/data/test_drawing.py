"""Which functions are seen to draw from no global generator."""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft.data import transforms, vision
from weft.data.drawing import may_draw

FACTOR = 3
TABLE = np.arange(4)
TABLES = {"a": TABLE}


def doubled(x: Any) -> Any:
    return x * FACTOR


def noisy(x: Any) -> Any:
    return x + np.random.rand()


class Stored:
    """A source; what its constructor draws does not matter."""

    def __init__(self) -> None:
        self.x = np.random.rand(4)
        self.change = doubled

    def __getitem__(self, place: int) -> Any:
        return self.change(self.x[place]), self._label(place)

    def _label(self, place: int) -> int:
        return place % 2


class Noisy(Stored):
    def _label(self, place: int) -> int:
        return random.randrange(2)


class Given(Stored):
    def __init__(self, change: Callable[[Any], Any]) -> None:
        super().__init__()
        self.change = change


class Attributes(Stored):
    def __getattr__(self, name: str) -> Any:
        return getattr(random, name)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * 2 + 1,
        lambda x: (np.clip(x, 0, 1), math.sqrt(len(x)), TABLE[0], TABLES["a"]),
        lambda x: [doubled(each) for each in x],
        doubled,
        np.negative,
        np.mean,
        functools.partial(lambda scale, x: scale * x, 2),
        Stored(),
        Stored().__getitem__,
        Given(lambda x: x.astype(np.float16)),
        vision.HWC2CHW(),
        transforms.Compose([vision.Rescale(1.0, 0.0), doubled]),
        [doubled, vision.HWC2CHW()],
    ],
)
def test_functions_that_reach_none(function: Any) -> None:
    assert not may_draw(function)


def importing(x: Any) -> Any:
    from random import random as draw

    return draw() * x


@pytest.mark.parametrize(
    "function",
    [
        noisy,
        importing,
        lambda x: noisy(x),
        lambda x: random.random(),
        lambda x: [np.random.rand() for _ in range(2)],
        lambda x: getattr(np, "ran" + "dom").rand(),
        lambda x: eval("noisy")(x),
        lambda x: np.__dict__["ran" + "dom"],
        lambda x, draw=random.random: draw(),
        functools.partial(noisy),
        random.random,
        np.random.rand,
        np.random.default_rng(0).normal,
        Noisy(),
        Noisy().__getitem__,
        Given(noisy),
        Given(lambda x, change=noisy: change(x)),
        Attributes(),
        transforms.Compose([vision.HWC2CHW(), noisy]),
        [doubled, noisy],
        {"a": [noisy]},
        np.array([noisy], object),
    ],
)
def test_functions_that_may(function: Any) -> None:
    assert may_draw(function)


def test_a_closure_is_read() -> None:
    def over(inner: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda x: inner(x)

    assert not may_draw(over(doubled))
    assert may_draw(over(noisy))
