"""What compiled code must not keep alive: classes that a function makes, and all that their methods see."""

from __future__ import annotations

import dataclasses
import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from weft import Parameter, Tensor, grad, jit, nn


class Seen:
    """Something that methods see."""


def cell(seen: Any) -> tuple[type, Callable[..., Any]]:
    class Local(nn.Cell):
        def construct(self, v: Any) -> Any:
            assert seen
            return v * 2

    net = Local()
    return Local, lambda v: net(v).sum()


def cell_that_knows_its_step(seen: Any) -> tuple[type, Callable[..., Any]]:
    class Local(nn.Cell):
        def construct(self, v: Any) -> Any:
            return step(v) if v is None else v * bool(seen)

    net = Local()

    def step(v: Any) -> Any:
        return net(v).sum()

    return Local, step


def plain(seen: Any) -> tuple[type, Callable[..., Any]]:
    class Local:
        def __init__(self, v: Any) -> None:
            self.v = v

        def run(self) -> Any:
            return self.v * bool(seen)

    return Local, lambda v: Local(v).run().sum()


def data(seen: Any) -> tuple[type, Callable[..., Any]]:
    @dataclasses.dataclass
    class Local:
        v: Any

        def run(self) -> Any:
            return self.v * bool(seen)

    return Local, lambda v: Local(v).run().sum()


def keys(seen: Any) -> tuple[type, Callable[..., Any]]:
    class Local:
        def __hash__(self) -> int:
            return 3

        def __eq__(self, other: object) -> bool:
            return type(other) is Local

    return Local, lambda v: {Local(): v, 2: seen}[Local()].sum()


def optimizer(seen: Any) -> tuple[type, Callable[..., Any]]:
    weight = Parameter(Tensor([1.0, 2.0]), name="w")

    class Local(nn.Optimizer):
        def construct(self, gradients: Any) -> Any:
            assert seen
            self.parameters[0].sub_(gradients[0])
            return True

    update = Local(0.1, [weight])

    def step(v: Any) -> Any:
        update(grad(lambda u: (u * weight).sum(), None, [weight])(v))
        return weight.sum()

    return Local, step


@pytest.mark.parametrize("make", [cell, cell_that_knows_its_step, plain, data, keys, optimizer])
@pytest.mark.parametrize("run", [lambda f: f, jit, lambda f: grad(jit(f)), lambda f: jit(grad(f))])
def test_local_classes_go_with_what_uses_them(
    make: Callable[..., Any], run: Callable[[Callable[..., Any]], Callable[..., Any]]
) -> None:
    def references() -> list[weakref.ref[Any]]:
        seen = Seen()
        kind, function = make(seen)
        compiled = run(function)
        for k in range(2):
            compiled(Tensor([1.0, 2.0 + k]))
        return [weakref.ref(seen), weakref.ref(kind), weakref.ref(function)]

    left = references()
    gc.collect()
    gc.collect()
    assert [reference() for reference in left] == [None] * 3
