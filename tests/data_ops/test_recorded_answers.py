"""Operations on data answer as MindSpore 2.10 does: values, element types, shapes, images, classes of errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft.mindspore  # noqa: F401
from tests.data_ops.answers import CALLS, HERE, answer, kept, names
from tests.data_ops.inputs import inputs

ANSWERS, JPG = kept(HERE / "answers.npz")


@pytest.fixture(scope="module")
def known() -> dict[str, Any]:
    return names()


def check(found: Any, expected: Any) -> None:
    """Integers may differ by 1: releases of OpenCV and of processors round halves differently."""
    if isinstance(expected, np.ndarray):
        assert isinstance(found, np.ndarray)
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
        if expected.dtype.kind in "biu":
            assert expected.size == 0 or np.abs(found.astype(np.int64) - expected.astype(np.int64)).max() <= 1
        elif expected.dtype.kind == "f":
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 if found.dtype.itemsize > 2 else 1e-3)
        else:
            assert found.tolist() == expected.tolist()
    elif isinstance(expected, (list, tuple)):
        assert len(found) == len(expected)
        for each, other in zip(found, expected, strict=True):
            check(each, other)
    else:
        assert found == expected


def test_all_calls_are_recorded() -> None:
    assert set(CALLS) == set(ANSWERS)


@pytest.mark.parametrize("call", CALLS)
def test_answer(call: str, known: dict[str, Any]) -> None:
    check(answer(call, known, inputs(JPG)), ANSWERS[call])
