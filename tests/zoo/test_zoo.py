"""The zoo's own parts: when runs agree, what is printed of them; one model of `mindcv`, where that is installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.zoo.comparing import Outcome, agree, compare, distance
from tests.zoo.page import page, verdict
from tests.zoo.runner import agrees, run_model


def outcome(scores: Any, gradient: Any = (1.0, 2.0)) -> Outcome:
    made = {"w": np.array(gradient)}
    return Outcome({"scores": np.array(scores)}, {"loss": np.array(1.0)}, made, made)


def test_distances_are_relative() -> None:
    expected = {"large": np.array([100.0, -100.0]), "small": np.array([1e-6, 0.0])}
    assert distance(expected, expected) == (0.0, "")
    assert distance(expected, expected | {"large": np.array([101.0, -101.0])}) == (0.01, "large")
    found, where = distance(expected, expected | {"small": np.array([0.0, 1e-6])})
    assert (found < 1e-5, where) == (True, "small")
    assert distance(expected, expected | {"small": np.array([np.nan, 0.0])})[0] == float("inf")
    assert distance(expected, expected | {"small": np.zeros(3)})[0] == float("inf")


def test_what_a_rounding_error_does_is_allowed() -> None:
    first = outcome([1.0, 2.0])
    assert agree(compare(first, outcome([1.0, 2.00001]), first))
    assert not agree(compare(first, outcome([1.0, 2.01]), first))
    assert agree(compare(first, outcome([1.0, 2.01]), outcome([1.0, 2.002])))
    compared = compare(first, outcome([1.0, 2.0], (1.0, 2.1)), first)
    assert [part for part, found in compared.items() if not found["agrees"]] == ["gradients", "changes"]


def result(**changes: Any) -> dict[str, Any]:
    times = {"first_forward": 1.0, "first_step": 2.0, "steady_step": 0.01}
    compared = compare(outcome([1.0]), outcome([1.0]), outcome([1.0]))
    modes: dict[str, Any] = {
        "eager": {"graphs": 0, "breaks": [], "times": times},
        "graph": {"graphs": 2, "breaks": [], "times": times, "compared": compared},
        "jit": {"graphs": 2, "breaks": ["a.py:1: why"], "times": times, "compared": compared},
    }
    return {"model": "small", "batch": 4, "size": 64, "parameters": 1e6, "modes": modes} | changes


def test_table() -> None:
    other = compare(outcome([1.0]), outcome([2.0]), outcome([1.0]))
    differing = result(model="other")
    differing["modes"]["jit"] |= {"compared": other, "other_images": 1}
    decided = result(model="third")
    decided["modes"]["jit"] |= {"compared": other, "other_images": 4}
    failed = {"model": "none", "batch": 4, "modes": {}, "failed": "build", "error": "KeyError: 'none'"}
    results = {found["model"]: found for found in (result(), differing, decided, failed)}
    assert [agrees(found) for found in results.values()] == [True, False, True, False]
    assert verdict(differing) == "jit: scores 1e+00"
    text = page(results)
    assert text.startswith("Of 4 models 2 run in all modes and agree, 0 of them without a break; for 1 other images")
    row = "| small | 1.0 M | 4x64 | yes | 2, 2 | 0, 1 | 3.0 s, 3.0 s | 10 ms, 10 ms, 10 ms | 1.0 |"
    assert row in text.splitlines()
    assert "| none | 0.0 M |  | build: KeyError: 'none' |" in text


@pytest.mark.skipif(importlib.util.find_spec("mindcv") is None, reason="mindcv is not installed")
def test_a_model(tmp_path: Path) -> None:
    found = run_model("mobilenet_v1_025", 4, str(tmp_path), "64", "eager,jit", 120.0, True)
    assert agrees(found), verdict(found)
