"""Memory of the program that becomes a tensor: what is written to it afterwards makes no difference."""

from __future__ import annotations

import array
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import weft
from weft import Parameter, Tensor, jit, ops

N = 4096
BUFFERS = 28  # for each of the ways and layouts: a thousand in all

X = Tensor(np.zeros(N, np.float32))
P = Parameter(Tensor(np.zeros(N, np.float32)), name="p")
POSITIONS = Tensor(np.arange(N))


def written(value: Any) -> Tensor:
    result = X * 1
    result[:] = value
    return result


def stored(value: Any) -> Tensor:
    P.set_data(value)
    return P.value()


as_argument = jit(lambda a: Tensor(a) + 0)
beside = jit(lambda x, a: x + a)
in_a_list = jit(lambda parts: parts[0] + X)


def outside() -> Callable[[Any], Tensor]:
    held: list[Any] = [None]

    @jit
    def read(x: Tensor) -> Tensor:
        return x + held[0]

    def call(value: Any) -> Tensor:
        held[0] = value
        return read(X)

    return call


WAYS: dict[str, Callable[[Any], Tensor]] = {
    "Tensor": Tensor,
    "Tensor of a dtype": lambda a: Tensor(a, weft.float32),
    "Tensor of a list": lambda a: Tensor([a])[0],
    "computed of from_numpy": lambda a: Tensor.from_numpy(a) + 0,
    "Tensor of from_numpy": lambda a: Tensor(Tensor.from_numpy(a)),
    "memoryview": lambda a: Tensor(memoryview(a)),
    "Parameter": lambda a: Parameter(a).value(),
    "set_data": stored,
    "right operand": lambda a: X + a,
    "left operand": lambda a: a + X,
    "operand of a function": lambda a: ops.maximum(X, a),
    "operator object": lambda a: ops.Add()(a, X),
    "written to a slice": written,
    "assign": lambda a: ops.assign(P, Tensor(a)) * 1,
    "index": lambda a: POSITIONS[a.astype(np.int64)].astype(weft.float32),
    "argument of a compiled function": as_argument,
    "operand in a compiled function": lambda a: beside(X, a),
    "in a container": lambda a: in_a_list([a]),
    "read by a compiled function": outside(),
}
LAYOUTS: dict[str, Callable[[int], Any]] = {
    "plain": lambda i: np.full(N, i, np.float32),
    # what starts at such an address may be shared by XLA instead of copied
    "aligned": lambda i: aligned(i),
}


def aligned(value: int) -> Any:
    memory = np.empty(4 * N + 64, np.uint8)
    start = -memory.ctypes.data % 64
    result = memory[start : start + 4 * N].view(np.float32)
    result[:] = value
    return result


@jax.jit
def long(x: Any) -> Any:
    for _ in range(6):
        x = x @ x
    return x


BIG = jnp.full((700, 700), 1e-3, jnp.float32)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("way", WAYS)
def test_a_buffer_refilled_while_the_device_is_busy(way: str, layout: str) -> None:
    make = WAYS[way]
    make(LAYOUTS[layout](0)).asnumpy()  # compiles
    tensors = []
    busy = long(BIG)
    for number in range(1, BUFFERS + 1):
        if number % 10 == 0:
            busy = long(busy)
        buffer = LAYOUTS[layout](number)
        tensors.append(make(buffer))
        buffer[:] = -1
    wrong = [i for i, tensor in enumerate(tensors, 1) if (tensor.asnumpy() != i).any()]
    assert not wrong


def test_memory_of_other_objects() -> None:
    memory = bytearray(np.arange(4, dtype=np.float32).tobytes())
    numbers = array.array("f", [1.0, 2.0])
    first = Tensor(np.frombuffer(memory, np.float32))
    second = Tensor(numbers)
    memory[:] = bytes(16)
    numbers[0] = 7.0
    assert first.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert second.tolist() == [1.0, 2.0]


def test_a_copy_that_comes_out_is_the_programs() -> None:
    tensor = Tensor(np.zeros(N, np.float32))
    for out in (np.array(tensor), np.asarray(tensor, np.float64), tensor[:].asnumpy()):
        out[:] = 1.0
        assert not tensor.asnumpy().any()
