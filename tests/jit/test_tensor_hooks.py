"""Hooks on tensors of a compiled function: registered, kept, taken back, several of one tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import weft
from weft import Tensor


def _kept(compiler: Callable[[Any], Any]) -> Any:
    handles: list[Any] = []
    seen: list[Any] = []

    def double(g: Any) -> Any:
        seen.append(g.asnumpy().tolist())
        return g * 2

    def f(x: Any) -> Any:
        y = x * 2
        handles.append(y.register_hook(double))
        return (y * y).sum()

    gradient, found = weft.grad(compiler(f)), []
    for turn in range(5):
        found.append(str(gradient(Tensor([1.0, 2.0 + turn]))))
        if turn == 1:
            for handle in handles:
                handle.remove()
            handles.clear()
    return found, seen, len(handles)


def _taken_back(compiler: Callable[[Any], Any]) -> Any:
    def f(x: Any) -> Any:
        y = x * 2
        handle = y.register_hook(lambda g: g * 100)
        handle.remove()
        handle.remove()
        return (y * y).sum()

    compiled = compiler(f)
    inputs = [Tensor([1.0, 2.0 + turn]) for turn in range(3)]
    return [str(compiled(x)) for x in inputs], [str(weft.grad(compiled)(x)) for x in inputs]


def _several(compiler: Callable[[Any], Any]) -> Any:
    seen: list[Any] = []

    def record(g: Any) -> Any:
        seen.append(g.asnumpy().tolist())
        return g * 10

    def f(x: Any) -> Any:
        y = x * 2
        y.register_hook(record)
        y.register_hook(lambda g: g + 1)
        z = y + 1
        z.register_hook(lambda g: g * 3)
        return (y * z).sum()

    compiled = compiler(f)
    outside = [str(weft.grad(compiled)(Tensor([1.0, 2.0]))) for _ in range(2)]
    return outside, str(compiler(lambda x: weft.grad(f)(x))(Tensor([1.0, 2.0]))), seen


def _returned(compiler: Callable[[Any], Any]) -> Any:
    def f(x: Any) -> Any:
        y = x * 2
        handle = y.register_hook(lambda g: g * 10)
        return (y * y).sum(), handle

    compiled = compiler(f)
    handles = [compiled(Tensor([1.0]))[1] for _ in range(2)]
    handles[0].remove()
    return str(weft.grad(lambda x: compiled(x)[0])(Tensor([3.0]))), handles[0] is handles[1]


@pytest.mark.parametrize("program", [_kept, _taken_back, _several, _returned])
@pytest.mark.parametrize("policy", ["auto", "PIJit"])
def test_hooks_are_those_of_each_call(program: Callable[[Any], Any], policy: str) -> None:
    compiled = program(lambda f: weft.jit(f) if policy == "auto" else weft.jit(f, mode=policy))
    assert compiled == program(lambda f: f)
