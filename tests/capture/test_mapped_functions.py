"""vmap of functions that decide by the values of an example: as a loop over the examples does, example by example."""

from __future__ import annotations

import gc
import traceback
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from tests.capture.mapped_programs import PROGRAMS, Odd, asserted, checked, counter, raised_after_a_change
from tests.helpers.values import close
from weft import Parameter, Tensor, grad, nn, ops, vmap
from weft.errors import Unsupported
from weft.testing import assert_compiles

#: batches of examples of three numbers
BATCHES = (
    np.array([[3.2, 0.4, 0.5], [0.1, 0.2, 0.1]], np.float32),
    np.array([[0.1, 0.2, 0.1], [0.3, 0.1, 0.6], [2.5, 1.5, 0.7]], np.float32),
)

WAYS: dict[str, Callable[[Any], Any]] = {
    "called": lambda f: weft.jit(lambda z: vmap(f)(z), fullgraph=True),
    "static": lambda f: weft.jit(lambda z: vmap(f)(z), mode="PSJit", fullgraph=True),
    "mapping compiled": lambda f: weft.jit(vmap(f), fullgraph=True),
    "function compiled": lambda f: vmap(weft.jit(f, fullgraph=True)),
}


def flat(value: Any) -> list[Any]:
    """The tensors and numbers in a structure."""
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in flat(item)]
    if isinstance(value, dict):
        return flat(list(value.values()))
    return [value if isinstance(value, Tensor) else Tensor(value)]


def looped(f: Any) -> Callable[[Any], Any]:
    """A function of a batch that goes through the examples in Python."""
    return lambda z: [ops.stack(list(column)) for column in zip(*[flat(f(z[i])) for i in range(len(z))], strict=True)]


def total(f: Any) -> Callable[[Any], Any]:
    return lambda z: sum((x * x).sum() for x in flat(f(z)) if x.dtype.is_floating)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_each_example_decides(program: Any, way: str) -> None:
    compiled = WAYS[way](program)
    for batch in BATCHES * 2:
        expected, found = looped(program)(Tensor(batch)), flat(compiled(Tensor(batch)))
        for one, other in zip(found, expected, strict=True):
            assert one.dtype is other.dtype
            close(one, other)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_gradients(program: Any) -> None:
    outside = grad(total(weft.jit(vmap(program))))
    inside = weft.jit(grad(total(vmap(program))))
    for batch in BATCHES:
        expected = grad(total(looped(program)))(Tensor(batch))
        close(outside(Tensor(batch)), expected)
        close(inside(Tensor(batch)), expected)


def test_a_mapping_in_a_mapping() -> None:
    def inner(s: Any) -> Any:
        n = 0
        while s > 0.3:
            s = s * 0.5
            n += 1
        return s * n

    def outer(a: Any, by: Any) -> Any:
        halved = by(a)
        if halved.sum() > 0.2:
            halved[0] = 5.0
        return halved

    def by_python(z: Any) -> Any:
        return ops.stack([outer(row, lambda a: ops.stack([inner(s) for s in a])) for row in z])

    for batch in BATCHES:
        close(weft.jit(vmap(lambda a: outer(a, vmap(inner))))(Tensor(batch)), by_python(Tensor(batch)))


def test_within_branches_and_loops() -> None:
    def program(z: Any, mapped: Any) -> Any:
        n = 0
        while z.sum() > 1:
            z = mapped(z) * 0.5 if z[0, 0] > 0.2 else mapped(z * 0.7)
            n += 1
        return z, n

    compiled = weft.jit(lambda z: program(z, vmap(counter)))
    for batch in BATCHES:
        found = compiled(Tensor(batch))
        expected = program(Tensor(batch), lambda z: looped(counter)(z)[0])
        close(found[0], expected[0])
        assert found[1] == expected[1]


RAISING = [
    np.array(rows, np.float32)
    for rows in (
        [[0.2, 0.4, 0.5], [0.1, 0.2, 0.1]],
        [[0.2, 0.4, 0.5], [3.1, 0.2, 0.1]],
        [[-1, -2, 0.5], [30.1, 0.2, 0.1]],
        [[20, -2, 0.5], [-30.1, 0.2, 0.1]],
    )
]


def outcome(call: Callable[[], Any]) -> Any:
    try:
        return [x.asnumpy().tolist() for x in flat(call())]
    except (ValueError, KeyError, AssertionError, Odd) as error:
        lines = [(frame.name, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
        return type(error), error.args, [line for line in lines if line[0] in ("checked", "check", "asserted")]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("program", (checked, asserted, raised_after_a_change))
def test_the_first_example_that_raises(program: Any, way: str) -> None:
    compiled = WAYS[way](program)
    for batch in RAISING * 2:
        assert outcome(lambda b=batch: compiled(Tensor(b))) == outcome(lambda b=batch: looped(program)(Tensor(b)))


def test_a_handler_around_the_mapping() -> None:
    def program(z: Any, mapped: Any) -> Any:
        try:
            return mapped(z)
        except (ValueError, KeyError) as error:
            return z * 0 - len(error.args)

    compiled = weft.jit(lambda z: program(z, vmap(checked)), fullgraph=True)
    for batch in RAISING:
        close(compiled(Tensor(batch)), program(Tensor(batch), lambda z: looped(checked)(z)[0]))


LOG: list[Any] = []


def printing(a: Any) -> Any:
    if a[0] > 1:
        print("large")
    return a


def logging(a: Any) -> Any:
    if a[0] > 1:
        LOG.append(1)
    return a


def of_other_shape(a: Any) -> Any:
    return a[:2] if a[0] > 1 else a


def list_returned(a: Any) -> Any:
    found = [a]
    if a[0] > 1:
        found.append(a)
    return found


def raising_with_a_value(a: Any) -> Any:
    if a[0] > 10:
        raise ValueError(f"{float(a[0])} is too large")
    return a


def raising_after_a_write(a: Any) -> Any:
    LOG.append(1)
    if a[0] > 10:
        raise Odd
    return a


@pytest.mark.parametrize(
    ("program", "message"),
    (
        (printing, r"prints or calls the host, and it runs once"),
        (logging, "return, or change, objects of different kinds"),
        (of_other_shape, "return, or change, objects of different kinds"),
        (list_returned, "return, or change, objects of different kinds"),
        (raising_with_a_value, "depends on the example, and the exception holds more than plain values"),
        (raising_after_a_write, "depends on the example, and it changes what was there before"),
    ),
)
@pytest.mark.parametrize("way", ("fullgraph", "breaks", "eager"))
def test_what_no_batch_can_do_is_refused(program: Any, message: str, way: str, capfd: Any) -> None:
    mapped = vmap(program) if way == "eager" else weft.jit(vmap(program), fullgraph=way == "fullgraph")
    LOG.clear()
    with pytest.raises(Unsupported, match=r"vmap\(jit\(function\)\)" if way == "eager" else message) as caught:
        mapped(Tensor(BATCHES[0]))
    assert (caught.value.location is None) == (way == "eager")
    assert not capfd.readouterr().out
    if way == "fullgraph":
        assert not LOG


def test_values_of_an_example_stay_inside() -> None:
    outside = Parameter(Tensor(1.0), name="outside")

    def conditional(a: Any) -> Any:
        if a[0] > 1:
            outside.set_data(a.sum())
        return a

    def always(a: Any) -> Any:
        outside.set_data(a.sum())
        return a

    message = "a value that differs between examples is written to a tensor outside"
    with pytest.raises(Unsupported, match=message):
        weft.jit(vmap(conditional))(Tensor(BATCHES[0]))
    with pytest.raises(ValueError, match=message):
        weft.jit(vmap(always))(Tensor(BATCHES[0]))
    with pytest.raises(Unsupported, match="out_axes is 4"):
        weft.jit(vmap(counter, out_axes=4))(Tensor(BATCHES[0]))
    assert outside.item() == 1.0


def test_numbers_out_of_range_are_refused() -> None:
    def large(a: Any) -> Any:
        number = int(a[0] * 10) * (1 << 40)
        return a * (number * number)

    compiled = weft.jit(vmap(large))
    small = Tensor([[0.01, 1.0], [0.02, 2.0]])
    close(compiled(small), looped(large)(small)[0])
    with pytest.raises(Unsupported, match="fits"):
        compiled(Tensor(BATCHES[0]))


class Network(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.weight = Parameter(Tensor([1.0, 2.0, 3.0]), name="weight")

    def construct(self, a: Any) -> Any:
        return counter(a) * self.weight


class CompiledNetwork(Network):
    @weft.jit
    def construct(self, a: Any) -> Any:
        return Network.construct(self, a)


class Scaling:
    def __init__(self, scale: float) -> None:
        self.scale = scale

    @weft.jit
    def apply(self, a: Any) -> Any:
        return a * self.scale if a.sum() > 1 else a


@pytest.mark.parametrize(
    "make", (Network, CompiledNetwork, lambda: weft.jit(Network()), lambda: Scaling(3.0).apply), ids=lambda make: ""
)
def test_what_is_compiled_is_mapped_compiled(make: Any, request: Any) -> None:
    function = make()
    if type(function) is Network and "construct" not in function.__dict__:
        mode = weft.get_context("mode")
        request.addfinalizer(lambda: weft.set_context(mode=mode))
        weft.set_context(mode=weft.GRAPH_MODE)
    for batch in BATCHES:
        expected = looped(function)(Tensor(batch))[0]
        close(vmap(function)(Tensor(batch)), expected)
        close(vmap(function, 1, 1)(Tensor(batch.T)), expected.T)
        close(vmap(function)(Tensor(batch)), expected)
        with assert_compiles(max=0):
            close(vmap(function)(Tensor(batch)), expected)
    owner = weakref.ref(function if isinstance(function, nn.Cell) else function.__self__)
    del function
    gc.collect()
    assert owner() is None
