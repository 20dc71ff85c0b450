"""Names found along a chain of classes, of which the call itself writes some; attributes that library code leads to."""

from __future__ import annotations

import collections
import heapq
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.helpers.compiled import compiler
from weft import Tensor, nn, ops

Decorate = Callable[[Any], Any]


def inherited_beside_a_written_one(decorate: Decorate) -> Any:
    class Base:
        t = 1

    class Derived(Base):
        last: Any = None

    @decorate
    def program(x: Any) -> Any:
        Derived.last = x
        return x * Derived.t

    found = []
    for _ in range(4):
        found.append(program(Tensor([1.0])).item())
        Base.t += 1
    return found


def counters_along_the_chain(decorate: Decorate) -> Any:
    class Base:
        n = k = 0

    class Derived(Base):
        pass

    @decorate
    def program(x: Any, number: int) -> Any:
        if number % 2:
            Base.n += 1
        Derived.k += 1
        return x * Derived.n

    return [program(Tensor([1.0]), number).item() for number in range(12)]


def counter_that_an_instance_hides(decorate: Decorate) -> Any:
    class Model(nn.Cell):
        steps = 0

        def construct(self, x: Any) -> Any:
            Model.steps += 1
            return x * self.steps

    model = Model()
    program, found = decorate(model), []
    for number in range(8):
        if number == 5:
            model.steps = 100
        found.append(program(Tensor([1.0])).item())
    return found


def hidden_on_one_side_of_a_branch(decorate: Decorate) -> Any:
    class Base:
        tag = 0

    obj: Any = Base()

    @decorate
    def program(x: Any) -> Any:
        Base.tag = 5
        if x.sum() > 2:
            obj.tag = 7
        return x * obj.tag

    return [program(Tensor([value])).item() for value in (1.0, 1.0, 3.0, 1.0, 1.0)]


def method_that_an_instance_hides(decorate: Decorate) -> Any:
    class Plain:
        def method(self, x: Any) -> Any:
            return x

    def doubled(self: Any, x: Any) -> Any:
        return x * 2

    obj: Any = Plain()

    @decorate
    def program(x: Any) -> Any:
        Plain.method = doubled  # type: ignore[method-assign]
        return obj.method(x)

    first = program(Tensor([1.0])).item()
    obj.method = lambda x: x * 40
    return [first, program(Tensor([1.0])).item()]


def counter_of_a_base_beside_a_branch(decorate: Decorate) -> Any:
    class Base:
        n = 0

    class Derived(Base):
        pass

    obj: Any = Derived()

    @decorate
    def program(x: Any) -> Any:
        Base.n += 1
        if x.sum() > 2:
            obj.n = 1
        return x + 1

    return [(program(Tensor([1.0 + number % 3])).item(), Base.n, obj.n) for number in range(12)]


def deleted_methods_of_a_class(decorate: Decorate) -> Any:
    class Plain:
        def method(self) -> int:
            return 1

    obj = Plain()

    @decorate
    def program(x: Any) -> Any:
        before = hasattr(obj, "method"), hasattr(Plain, "method")
        del Plain.method
        return x * 2, before, hasattr(obj, "method"), hasattr(Plain, "method")

    found = []
    for _ in range(3):
        found.append(program(Tensor([1.0]))[1:])
        Plain.method = lambda self: 2  # type: ignore[method-assign]
    return found


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.SequentialCell(nn.Dense(2, 2, has_bias=False))
        self.body[0].weight.set_data(Tensor([[1.0, 2.0], [3.0, 4.0]]))

    def construct(self, x: Any) -> Any:
        weight = self.body[0].weight
        return ops.matmul(x, (weight * weight.mask).T)


def masks_of_weights(decorate: Decorate) -> Any:
    net = Net()
    program, found = decorate(lambda x: net(x)), []
    for mask in ([[1.0, 1.0], [1.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]):
        net.body[0].weight.mask = Tensor(mask)
        found.append(program(Tensor([1.0, 1.0])).asnumpy().tolist())
    return found


def attributes_of_trainable_params(decorate: Decorate) -> Any:
    net = nn.Dense(2, 1)

    @decorate
    def program(x: Any) -> Any:
        return x, [
            (p.name, getattr(p, "lr_mult", 1.0), getattr(p, "frozen", False), p.requires_grad)
            for p in (*net.trainable_params(), *net.get_parameters(), *net.parameters_dict().values())
        ]

    def change(number: int) -> None:
        if number == 1:
            net.weight.lr_mult = 0.5
        if number == 2:
            net.weight.name = "renamed"
        if number == 3:
            net.bias.frozen = True
        if number == 4:
            net.weight.requires_grad = False

    found = []
    for number in range(6):
        change(number)
        found.append(program(Tensor([1.0]))[1])
    return found


def bytearrays(decorate: Decorate) -> Any:
    data = bytearray(b"abcd")

    @decorate
    def program(x: Any, number: int) -> Any:
        data[0] = 65 + number
        data.append(number)
        return x * data[0], np.frombuffer(data, dtype=np.uint8).sum()

    return [(int(program(Tensor([1.0]), number)[1]), bytes(data)) for number in range(4)]


def items_put_back_beside_a_queue(decorate: Decorate) -> Any:
    items, queue = {"n": 0}, collections.deque([1], maxlen=3)

    @decorate
    def program(x: Any, number: int) -> Any:
        if x.sum() > 0:
            items["n"] = 5
            items["n"] = 0
            queue.append(number)
        return x * 1

    return [(program(Tensor([1.0 + number % 3]), number).item(), list(queue), dict(items)) for number in range(16)]


def tuples_made_and_tuples_of_the_code(decorate: Decorate) -> Any:
    heap: list[Any] = []
    kept: list[Any] = []

    @decorate
    def program(x: Any, number: int) -> Any:
        heapq.heappush(heap, ("h", number))
        kept.append((0, (1, 2)))
        return x * 2

    for _ in range(14):
        program(Tensor([1.0]), 3)
    return len({id(item) for item in heap}), len({id(item) for item in kept}), len({id(item[1]) for item in kept})


PROGRAMS: list[Callable[[Decorate], Any]] = [
    inherited_beside_a_written_one, counters_along_the_chain, counter_that_an_instance_hides,
    hidden_on_one_side_of_a_branch, method_that_an_instance_hides, counter_of_a_base_beside_a_branch,
    deleted_methods_of_a_class, masks_of_weights, attributes_of_trainable_params, bytearrays,
    items_put_back_beside_a_queue, tuples_made_and_tuples_of_the_code,
]  # fmt: skip


@pytest.mark.parametrize("mode", ["auto", "PIJit"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_each_call_finds_what_python_finds(program: Callable[[Decorate], Any], mode: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = program(compiler(mode))
    assert found == program(lambda f: f)
