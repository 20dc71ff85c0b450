"""Entries with views are kept for other processes, which find them and get the same sharing."""

from __future__ import annotations

import pytest

from tests.cache.edited import check_found_again

PROGRAMS = {
    "returned": "def f(x):\n    v = x.reshape(-1)[1:]\n    v.add_(1.0)\n    x[0] = 3.0\n    return v, x",
    "of one made here": "def f(x):\n    h = x * 2\n    a, b = h[0:1], h[:]\n    a.zero_()\n    return a, b",
    "on a condition": "def f(x):\n    v = x[1:] if x.sum() > 0 else x[:-1]\n    v.mul_(2.0)\n    return v, x",
    "written state": (
        "from weft import Parameter\nW = Parameter(Tensor([1.0, 2.0]))\n"
        "def f(x):\n    W[:1].add_(x.sum())\n    return W * 1"
    ),
}


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize("name", PROGRAMS)
def test_found_again(name: str) -> None:
    check_found_again("from weft import Tensor\n" + PROGRAMS[name], "(T,)")
