"""Functions of one example that decide by its values; their `assert` is Python's own."""

from __future__ import annotations

from typing import Any

import weft
from weft import Parameter, Tensor, ops

WEIGHT = Parameter(Tensor([1.0, 2.0, 3.0]), name="weight")


def counter_of_tensors(a: Any) -> Any:
    n = ops.zeros((), weft.int64)
    while (a * a).sum() > 0.1:
        a = a * 0.7
        n = n + 1
    return a * n


def counter(a: Any) -> Any:
    n = 0
    while (a * a).sum() > 0.1:
        a = a * 0.7
        n += 1
    return a * n


def numbers(a: Any) -> Any:
    whole, part = 2 if a.sum() > 1 else 3, 2.0
    if a.sum() > 1:
        part = 3.0
    return a * whole + part


def numbers_returned(a: Any) -> Any:
    n, total = 0, float(a.sum())
    while total > 0.3:
        total, n = total / 2, n + 1
    return {"n": n, "total": total, "large": bool(a[0] > 1)}, a * n


def written_item(a: Any) -> Any:
    out = a * 1
    if a[0] > 0.5:
        out[0] = a[0] * 2
    return out


def written_zeros(a: Any) -> Any:
    out = ops.zeros((3,), weft.float32)
    if a[0] > 0.5:
        out[0] = a[0] * 2
    return out


def written_constant(a: Any) -> Any:
    out = Tensor([1.0, 2.0, 3.0])
    out[0] = a[0] * 2
    if a[1] > 0.3:
        out += a
    return out


def written_always(a: Any) -> Any:
    out = ops.zeros((3,), weft.float32)
    for i in range(3):
        out[i] = a[i] * 2
    return out


def written_in_place(a: Any) -> Any:
    out = a * 1
    if a[0] > 0.5:
        out += 1
    else:
        out *= WEIGHT
    return out


def written_in_a_loop(a: Any) -> Any:
    out, n = ops.zeros((3,), weft.float32), 0
    while n < 3 and out.sum() < a.sum():
        out += a * 0.4
        n += 1
    return out, n


def written_elements(a: Any) -> Any:
    s = a * 1
    for i in range(3):
        s[i] = s[i] - 0.4 if s[i] > 0.4 else s[i]
    return s


def going_on(a: Any) -> Any:
    s = a * 0
    for i in range(3):
        if a[i] > 0.5:
            s = s + a * 2
            continue
        s = s + a
    return s


def returning_early(a: Any) -> Any:
    for i in range(3):
        if a[i] > 0.45:
            return a * 2
    return a


def growing_list(a: Any) -> Any:
    found = [a]
    if a.sum() > 1:
        found.append(a * 2)
    return sum(found)


class Holder:
    def __init__(self, value: Any) -> None:
        self.items, self.named = [value], {}


def growing_objects(a: Any) -> Any:
    holder = Holder(a)
    if a.sum() > 1:
        holder.items.append(a * 2)
        holder.named["x"] = a * 3
    else:
        holder.extra = 3
    return sum(holder.items) + sum(holder.named.values())


def text(a: Any) -> Any:
    name = "large" if a.sum() > 1 else "small"
    return a * {"large": 2, "small": 3}[name]


def asserting(a: Any) -> Any:
    assert a[0] < 10, "an example is too large"
    return a * 2


def caught(a: Any) -> Any:
    try:
        if a[0] > 1:
            raise ValueError("large")
        return a
    except ValueError:
        return a * 7


PROGRAMS = (
    counter_of_tensors, counter, numbers, numbers_returned, written_item, written_zeros, written_constant,
    written_always, written_in_place, written_in_a_loop, written_elements, going_on, returning_early, growing_list,
    growing_objects, text, asserting, caught,
)  # fmt: skip


class Odd(Exception):
    """An exception of the program."""


def check(s: Any) -> Any:
    if s > 3:
        raise ValueError("large")
    if s < 0:
        raise KeyError("negative", 3)
    return s


def checked(a: Any) -> Any:
    return a * check(a.sum())


def asserted(a: Any) -> Any:
    n = 0
    while a.sum() > 1:
        a = a * 0.5
        n += 1
        assert n < 4, "too often"
    return a * n


def raised_after_a_change(a: Any) -> Any:
    found = [a]
    if a[0] > 3:
        found.append(a * 2)
        raise Odd(len(found))
    return sum(found)
