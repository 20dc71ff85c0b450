"""Random programs of tensors, views and NumPy arrays on one memory, compared with NumPy arrays that are all of these.

In the model each tensor is a NumPy view of the memory of its base, and so is the array that a base gives out. What is
read after a step is drawn too, since reading a tensor is what takes over the contents of an array.
"""

from __future__ import annotations

import gc
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.helpers.rounds import rounds
from weft import Parameter, Tensor, grad, jit, ops

SHAPE = (3, 2)
STEPS = 40


@jit
def read(x: Any) -> Any:
    return x * 2 + 1


@jit
def read_two(x: Any, y: Any) -> Any:
    return x.sum() * 3 + y.sum()


@jit(fullgraph=True)
def written(x: Any) -> Any:
    y = x + 1
    x.mul_(2.0)
    return y


@jit
def written_through_a_view(x: Any) -> Any:
    row = x[0]
    row.add_(5.0)
    return x * 1


@jit
def broken(x: Any, number: Any) -> Any:
    y = x * 2
    array = x.asnumpy()
    array[..., :1] = number  # a view gives a copy
    return y + x


def mixed(x: Any, array: Any) -> Any:
    y = x.sum() + array.sum()
    x.mul_(2.0)
    return y + Tensor(array).sum() * 3 + x.sum()


mixed_in_graphs = jit(mixed)


def square(x: Any) -> Any:
    return (x * x).sum()


def gradient(x: Any) -> Any:
    return grad(square)(x)


gradient_of_compiled = grad(jit(square))


class Base:
    """The memory of a tensor in the model."""

    def __init__(self, memory: np.ndarray[Any, Any]) -> None:
        self.memory = memory


class Handle:
    """A tensor, and how the model has it."""

    def __init__(self, tensor: Any, base: Base, way: tuple[Callable[[Any], Any], ...]) -> None:
        self.tensor = tensor
        self.base = base
        self.way = way

    @property
    def model(self) -> Any:
        found = self.base.memory
        for step in self.way:
            found = step(found)
        return found


class Program:
    """A random program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.handles: list[Handle] = []
        self.arrays: list[tuple[Any, Any]] = []
        self.log: list[str] = []
        self.make()

    def number(self) -> float:
        return float(self.random.randint(-4, 4))

    def values(self) -> Any:
        return np.array([[self.number() for _ in range(SHAPE[1])] for _ in range(SHAPE[0])], np.float32)

    def handle(self) -> Handle:
        return self.random.choice(self.handles)

    # -- what a step may be -------------------------------------------------------------------------------------

    def make(self) -> None:
        values = self.values()
        memory = values.copy()
        kind = self.random.randrange(4)
        if kind == 0:
            tensor: Any = Tensor.from_numpy(values)
            self.arrays.append((values, memory))
        elif kind == 1:
            tensor = Tensor(values)
        elif kind == 2:
            tensor = Parameter(Tensor(values), name="p")
        else:
            tensor = Tensor.from_numpy(values.copy()) * 1
        self.handles.append(Handle(tensor, Base(memory), ()))

    def view(self) -> None:
        handle = self.handle()
        shape = handle.model.shape
        steps: list[Callable[[Any], Any]] = [lambda x: x[None]]
        if len(shape) > 1:
            steps.append(lambda x: x.T)
        if shape and shape[0] > 1:
            steps += [lambda x: x[1:], lambda x: x[::-1], lambda x: x[0, ...], lambda x: x[-1:]]
        step = self.random.choice(steps)
        self.handles.append(Handle(step(handle.tensor), handle.base, (*handle.way, step)))

    def give_out(self) -> None:
        handle = self.handle()
        ways: list[Any] = [lambda t: t.asnumpy(), lambda t: t.numpy(), np.asarray, np.array]
        way = self.random.choice(ways)
        model = handle.model if not handle.way and way is not np.array else handle.model.copy()
        self.arrays.append((way(handle.tensor), model))

    def view_of_array(self) -> None:
        if self.arrays:
            array, model = self.random.choice(self.arrays)
            if not model.ndim:
                return
            step = self.random.choice([lambda a: a[:1], lambda a: a.T, lambda a: a[..., 0:1], lambda a: a.reshape(-1)])
            if np.shares_memory(step(model), model) and np.shares_memory(step(array), array):
                self.arrays.append((step(array), step(model)))

    def write_array(self) -> None:
        if self.arrays:
            number = self.number()
            one, other = self.random.choice(self.arrays)
            kind = self.random.randrange(3) if one.ndim else 0
            for array in (one, other):
                if kind == 0:
                    array[...] = number
                elif kind == 1:
                    array[:1] += number
                else:
                    np.negative(array, out=array)

    def write_tensor(self) -> None:
        handle, number = self.handle(), self.number()
        tensor, model = handle.tensor, handle.model
        kind = self.random.randrange(6)
        if kind == 0:
            tensor[...] = number
            model[...] = number
        elif kind == 1 and model.ndim:
            tensor[:1] = number
            model[:1] = number
        elif kind == 2:
            tensor.add_(number)
            model += number
        elif kind == 3:
            tensor.mul_(tensor)
            model *= model.copy()
            np.clip(model, -100, 100, out=model)
            tensor[...] = ops.clamp(tensor, -100.0, 100.0)
        elif kind == 4:
            ops.assign(tensor, Tensor(np.full(model.shape, number, np.float32)))
            model[...] = number
        elif (source := self.handle()).model.shape == model.shape:
            tensor[...] = source.tensor
            model[...] = source.model.copy()

    def replace(self) -> None:
        handle = self.handle()
        base = handle.base
        base.memory = base.memory.copy()
        new = np.full(handle.model.shape, self.number(), np.float32)
        handle.model[...] = new
        handle.tensor.set_data(Tensor(new))

    def compute(self) -> None:
        handle, other = self.handle(), self.handle()
        model = handle.model
        kind = self.random.randrange(9)
        if kind > 6 and self.arrays and abs(model).max() < 1000:
            array, values = self.random.choice(self.arrays)
            before = model.sum() + values.sum()
            model *= 2
            found = (mixed, mixed_in_graphs)[kind - 7](handle.tensor, array)
            self.compare(found, before + values.sum() * 3 + model.sum())
        elif kind == 0:
            self.compare(read(handle.tensor), model * 2 + 1)
        elif kind == 1:
            self.compare(read_two(handle.tensor, other.tensor), model.sum() * 3 + other.model.sum())
        elif kind == 2 and abs(model).max() < 1000:
            self.compare(written(handle.tensor), model + 1)
            model *= 2
        elif kind == 3 and model.ndim:
            model[0] += 5
            self.compare(written_through_a_view(handle.tensor), model)
        elif kind == 4 and model.ndim:
            number, before = self.number(), model.copy()
            if not handle.way:
                model[..., :1] = number
            self.compare(broken(handle.tensor, number), before * 2 + model)
        elif kind == 5:
            self.compare(gradient(handle.tensor), 2 * model)
        elif kind == 6:
            self.compare(gradient_of_compiled(handle.tensor), 2 * model)

    def keep_result(self) -> None:
        handle = self.handle()
        self.handles.append(Handle(handle.tensor + 1, Base(np.array(handle.model + 1, order="C")), ()))

    def drop_array(self) -> None:
        if self.arrays:
            self.arrays.pop(self.random.randrange(len(self.arrays)))
            if not self.random.randrange(4):
                gc.collect()

    def drop_tensor(self) -> None:
        if len(self.handles) > 2:
            self.handles.pop(self.random.randrange(len(self.handles)))

    def check(self) -> None:
        for handle in self.handles:
            if self.random.random() < 0.3:
                way = self.random.choice([np.array, lambda t: (t + 0).asnumpy(), lambda t: t.asnumpy().copy()])
                self.compare(way(handle.tensor), handle.model)
        for array, model in self.arrays:
            self.compare(array, model)

    def compare(self, found: Any, wanted: Any) -> None:
        found = np.array(found)
        assert found.shape == np.shape(wanted), self.log
        assert np.allclose(found, wanted, rtol=1e-5), (self.log, found, wanted)

    def run(self) -> None:
        steps = [
            self.make, *[self.view] * 3, *[self.give_out] * 3, self.view_of_array, *[self.write_array] * 4,
            *[self.write_tensor] * 4, self.replace, *[self.compute] * 4, self.keep_result, *[self.drop_array] * 3,
            self.drop_tensor,
        ]  # fmt: skip
        for _ in range(STEPS):
            step = self.random.choice(steps)
            self.log.append(step.__name__)
            step()
            if self.random.random() < 0.5:
                self.check()
        self.check()


@pytest.mark.parametrize("group", rounds(10, 1000, 10))
def test_arrays_and_tensors_are_one_memory(group: int) -> None:
    for seed in range(group, group + 10):
        Program(seed).run()
