"""What the check of an entry costs: the cached call of a function with guards, and the guards of a deep network."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import weft
from bench.measure import Result, row, seconds, steady
from weft import nn
from weft.capture.state.guards import Guard, check_lines
from weft.jit import compiled_of

#: what the check of the 60-layer network may cost
_DEEP_LIMIT = 10e-6
SCALE, SHIFT, FLAG = 2.0, 1, True


def compile_check(guards: Iterable[Guard], scope: Mapping[str, Any], parameters: Iterable[str]) -> Callable[..., bool]:
    """All guards of an entry as one function of its parameters, as the entry itself checks them."""
    lines = [f"def check({', '.join(parameters)}):", *[f"    {line}" for line in check_lines(guards, "False")]]
    names = dict(scope)
    exec(compile("\n".join([*lines, "    return True"]), "<weft guards>", "exec"), names)
    found: Callable[..., bool] = names["check"]
    return found


class Settings:
    """Two attributes that the function reads."""

    gain = 1.5
    mode = "train"


SETTINGS = Settings()


@row("2 tensors and 5 guarded values under jit, cached call", 1.6)
def guarded_call(repeat: int) -> Result:
    x, y = np.ones((3, 3), np.float32), np.full((3, 3), 2, np.float32)
    a, b, c, d = weft.Tensor(x), weft.Tensor(y), jnp.asarray(x), jnp.asarray(y)

    def compute(x: Any, y: Any) -> Any:
        z = x * SCALE + y if FLAG else y
        return z * SETTINGS.gain + SHIFT if SETTINGS.mode == "train" else z

    ours, theirs = weft.jit(compute), jax.jit(lambda x, y: (x * 2.0 + y) * 1.5 + 1)
    return steady(lambda: ours(a, b), lambda: theirs(c, d), repeat)


class Deep(nn.Cell):
    """60 layers, with 120 parameters."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.CellList([nn.Dense(8, 8) for _ in range(60)])

    def construct(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x


@row("guards of a Cell with 60 layers", 1.0)
def deep_guards(repeat: int) -> Result:
    net = Deep()
    compiled = weft.jit(net.construct)
    x = weft.Tensor(np.ones((2, 8), np.float32))
    compiled(x)
    ((entry,),) = compiled_of(compiled).entries.values()
    check = compile_check(entry.guards, entry.scope, entry.parameters)
    assert check(net, x)
    best = float("inf")
    for _ in range(max(repeat, 5)):
        began = time.perf_counter()
        for _ in range(1000):
            check(net, x)
        best = min(best, (time.perf_counter() - began) / 1000)
    return Result(best / _DEEP_LIMIT, seconds(best), seconds(_DEEP_LIMIT))
