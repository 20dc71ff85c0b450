"""When two runs of a model agree.

A deep network can make much of a rounding error: a mean over two images, a variance that is nearly 0. So the first run
is repeated with images that differ by about a rounding error, and what that changes is the measure for what a
change of mode may change.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray[Any, Any]]
#: the least difference that counts, and how many times the effect of a rounding error counts
LEAST, TIMES = 2e-4, 10.0
#: a tensor much smaller than the largest of its kind is compared with this part of that one
SMALL = 0.01
#: by about how much a rounding error changes a number, and how many other images decide where modes seem to differ
NUDGE, OTHERS = 1e-6, 5


@dataclass(slots=True)
class Outcome:
    """What a run gave, by the names of parameters.

    Args:
        scores: results of the forward pass.
        loss: the loss.
        gradients: gradients of the parameters.
        changes: new values of the parameters less the old ones.
    """

    scores: Arrays
    loss: Arrays
    gradients: Arrays
    changes: Arrays


def distance(expected: Arrays, found: Arrays) -> tuple[float, str]:
    """The largest difference of two sets of arrays, by the Euclidean norm relative to their sizes, and whose it is.

    A single activation near 0 may be on the other side of it, which changes a gradient in one place by much; so it is
    the norm that counts.
    """
    largest = max((rms(a) for a in expected.values()), default=0.0)
    worst, where = 0.0, ""
    for name, a in expected.items():
        b = found[name]
        if a.shape != b.shape:
            return float("inf"), f"{name}: shapes {a.shape} and {b.shape}"
        if np.array_equal(a, b, equal_nan=True):
            continue
        difference = rms(a - b) / max(rms(a), SMALL * largest, 1e-30)
        if not difference <= worst:  # NaN counts
            worst, where = difference if difference == difference else float("inf"), name
    return worst, where


def rms(values: np.ndarray[Any, Any]) -> float:
    """The root of the mean square."""
    return float(np.sqrt(np.mean(np.square(values, dtype=np.float64)))) if values.size else 0.0


def compare(expected: Outcome, found: Outcome, nudged: Outcome) -> dict[str, Any]:
    """For each part of an outcome the difference, the effect of a rounding error on it, and whether they agree.

    Args:
        expected: the run to compare with.
        found: the run in another mode.
        nudged: as `expected`, with images that differ by a rounding error.
    """
    result: dict[str, Any] = {}
    for part in fields(Outcome):
        difference, where = distance(getattr(expected, part.name), getattr(found, part.name))
        rounding, _ = distance(getattr(expected, part.name), getattr(nudged, part.name))
        agrees = difference <= max(LEAST, TIMES * rounding)
        result[part.name] = {"difference": difference, "rounding": rounding, "agrees": agrees, "where": where}
    return result


def agree(compared: dict[str, Any]) -> bool:
    """Whether all parts of what `compare` gives agree."""
    return all(part["agrees"] for part in compared.values())
