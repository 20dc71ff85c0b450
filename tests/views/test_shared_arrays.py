"""Tensors and NumPy arrays on one memory: who shares with whom, and until when."""

from __future__ import annotations

import array
import copy
import gc
import pickle
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from weft import Parameter, Tensor, grad, jit, nn, ops, value_and_grad
from weft.core.lending import lends
from weft.errors import WeftError


def from_numpy() -> tuple[Any, Any]:
    a = np.array([1, 2, 3], np.float32)
    return Tensor.from_numpy(a), a


def given_out(tensor: Any) -> tuple[Any, Any]:
    return tensor, tensor.asnumpy()


MAKES: dict[str, Callable[[], tuple[Any, Any]]] = {
    "from_numpy": from_numpy,
    "of a tensor": lambda: given_out(Tensor([1.0, 2.0, 3.0])),
    "of a result": lambda: given_out(Tensor([0.0, 1.0, 2.0]) + 1),
    "of a Parameter": lambda: given_out(Parameter(Tensor([1.0, 2.0, 3.0]), name="p")),
    "numpy()": lambda: (lambda t: (t, t.numpy()))(Tensor([1.0, 2.0, 3.0])),
    "np.asarray": lambda: (lambda t: (t, np.asarray(t)))(Tensor([1.0, 2.0, 3.0])),
    "of the result of a compiled function": lambda: given_out(jit(lambda x: x + 1)(Tensor([0.0, 1.0, 2.0]))),
    "of a tensor that has a view": lambda: (lambda t: (t, (t[1:], t.asnumpy())[1]))(Tensor([1.0, 2.0, 3.0])),
}


def write_view(x: Any) -> None:
    x[1:].fill_(7.0)


WRITES: dict[str, Callable[[Any], Any]] = {
    "setitem": lambda x: x.__setitem__(0, 50.0),
    "all": lambda x: x.__setitem__(..., Tensor([5.0, 6.0, 7.0])),
    "add_": lambda x: x.add_(1.0),
    "copy_": lambda x: x.copy_(Tensor([5.0, 6.0, 7.0])),
    "assign": lambda x: ops.assign(x, Tensor([5.0, 6.0, 7.0])),
    "assign_add": lambda x: ops.assign_add(x, Tensor([5.0, 6.0, 7.0])),
    "a view": write_view,
    "compiled": jit(lambda x: x.add_(1.0), fullgraph=True),
    "a view, compiled": jit(write_view, fullgraph=True),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("make", MAKES)
def test_a_write_to_either_is_seen_by_the_other(make: str, write: str) -> None:
    tensor, shared = MAKES[make]()
    for number in range(3):
        before = shared.copy()
        WRITES[write](tensor)
        assert shared.tolist() == np.array(tensor).tolist()
        if number == 0:
            assert shared.tolist() != before.tolist()
        shared[number] = -9.0
        assert (tensor + 0).tolist() == shared.tolist()
        assert tensor[number:].tolist() == shared[number:].tolist()
        assert tensor.shape == (3,)


@pytest.mark.parametrize("make", MAKES)
def test_a_replaced_value_leaves_the_array(make: str) -> None:
    for replace in ("set_data", "assign_value"):
        tensor, shared = MAKES[make]()
        shared[0] = 8.0
        view = tensor[:2]
        getattr(tensor, replace)(Tensor([4.0, 5.0, 6.0]))
        assert shared.tolist() == [8.0, 2.0, 3.0]
        assert tensor.tolist() == [4.0, 5.0, 6.0]
        assert view.tolist() == [4.0, 5.0]
        shared[1] = 9.0
        assert tensor.tolist() == [4.0, 5.0, 6.0]


VIEWS: dict[str, Callable[[Any], Any]] = {
    "row": lambda x: x[0], "all": lambda x: x[:], "reshape": lambda x: x.reshape(4), "T": lambda x: x.T,
    "detach": lambda x: x.detach(), "unsqueeze": lambda x: x.unsqueeze(0), "flatten": lambda x: x.flatten(),
}  # fmt: skip


@pytest.mark.parametrize("kind", VIEWS)
def test_views(kind: str) -> None:
    base = Tensor([[1.0, 2.0], [3.0, 4.0]])
    before = VIEWS[kind](base)
    out = base.asnumpy()
    after = VIEWS[kind](base)
    out[0, 0] = 9.0
    assert np.array(before).flat[0] == np.array(after).flat[0] == 9.0
    copied = before.asnumpy()
    copied[...] = 0.0
    assert np.array(before).flat[0] == base[0, 0] == 9.0
    before.mul_(2.0)
    assert out[0, 0] == 18.0
    assert out.tolist() == base.tolist()


NOT_SHARED: dict[str, Callable[[], Any]] = {
    "transposed": lambda: np.ones((2, 3), np.float32).T,
    "strided": lambda: np.ones((2, 4), np.float32)[:, ::2],
    "reversed": lambda: np.ones(4, np.float32)[::-1],
    "columns first": lambda: np.ones((2, 3), np.float32, order="F"),
    "another byte order": lambda: np.ones(3, ">f4"),
    "not aligned": lambda: np.zeros(13, np.uint8)[1:].view(np.float32),
}


@pytest.mark.parametrize("kind", NOT_SHARED)
def test_arrays_that_are_copied(kind: str) -> None:
    a = NOT_SHARED[kind]()
    tensor = Tensor.from_numpy(a)
    before = tensor.tolist()
    a[...] = 5.0
    assert tensor.tolist() == before


def test_an_array_that_cannot_be_written_is_copied() -> None:
    a = np.ones(3, np.float32)
    a.flags.writeable = False
    tensor = Tensor.from_numpy(a)
    tensor.add_(1.0)
    assert a.tolist() == [1.0, 1.0, 1.0]
    assert tensor.asnumpy().flags.writeable


TYPES = [
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
]  # fmt: skip


@pytest.mark.parametrize("name", [*TYPES, "bfloat16"])
def test_element_types(name: str) -> None:
    dtype = getattr(weft, name, None)
    a = np.array(Tensor([1, 0, 1], dtype)) if dtype is not None else np.array([1, 0, 1], name)
    for tensor, shared in ((Tensor.from_numpy(a), a), given_out(Tensor(a.copy()))):
        shared[0] = 0
        assert np.array(tensor).tolist() == [0, 0, 1]
        assert shared.dtype == a.dtype
        tensor[1] = 1
        assert shared.tolist() == [0, 1, 1]


def test_without_dimensions_and_without_elements() -> None:
    a = np.array(5.0, np.float32)
    tensor = Tensor.from_numpy(a)
    a[...] = 9.0
    assert tensor.shape == ()
    assert tensor.item() == 9.0
    tensor.add_(1.0)
    assert a.tolist() == 10.0
    out = tensor.asnumpy()
    out[...] = 3.0
    assert a.tolist() == tensor.item() == 3.0
    assert Tensor.from_numpy(np.ones((0, 3), np.float32)).asnumpy().shape == (0, 3)


def test_bits_count() -> None:
    a = np.array([0.0, np.nan], np.float32)
    tensor = Tensor.from_numpy(a)
    assert np.signbit(np.array(tensor)).tolist() == [False, False]
    a[0] = -0.0
    assert np.signbit(np.array(tensor)).tolist() == [True, False]
    a[1] = 1.0
    assert tensor[1] == 1.0


@pytest.mark.parametrize("size", [3, 129, 70_000, 600_001])
def test_any_element_of_any_size(size: int) -> None:
    a = np.zeros(size, np.int8)
    tensor = Tensor.from_numpy(a)
    for place in (0, size // 2, size - 1):
        assert tensor.sum() == a.sum()
        a[place] = 1
        assert tensor.sum() == a.sum()


def test_who_else_is_on_the_memory() -> None:
    whole = np.zeros(6, np.float32)
    tensor, other = Tensor.from_numpy(whole[1:4]), Tensor.from_numpy(whole)
    whole[1] = 1.0
    assert tensor.tolist() == [1.0, 0.0, 0.0]
    tensor.add_(1.0)
    assert whole.tolist() == other.tolist() == [0.0, 2.0, 1.0, 1.0, 0.0, 0.0]
    outs = tensor.asnumpy(), tensor.numpy(), np.asarray(tensor)
    for number, out in enumerate(outs):
        out[number] = 9.0
    assert np.shares_memory(outs[0], whole)
    assert whole.tolist() == [0.0, 9.0, 9.0, 9.0, 0.0, 0.0]
    assert other.tolist() == whole.tolist()


def test_memory_of_other_objects() -> None:
    memory, numbers = bytearray(8), array.array("f", [1.0, 2.0])
    one, two = Tensor.from_numpy(np.frombuffer(memory, np.float32)), Tensor.from_numpy(np.frombuffer(numbers, "f4"))
    for _ in range(2):
        memory[:] = np.ones(2, np.float32).tobytes()
        numbers[0] += 1
        assert one.tolist() == [1.0, 1.0]
        assert two.tolist() == numbers.tolist()
        one.fill_(3.0)
        assert np.frombuffer(memory, np.float32).tolist() == [3.0, 3.0]


def test_subclasses_of_arrays() -> None:
    matrix = np.ones((2, 2), np.float32).view(np.recarray)
    tensor = Tensor.from_numpy(matrix)
    kept = matrix.base
    del matrix
    tensor.sum()
    kept[0, 0] = 5.0
    assert tensor[0, 0] == 5.0


def test_what_needs_an_array() -> None:
    for given in ([1, 2], 3.0, np.float32(3), Tensor([1.0])):
        with pytest.raises(TypeError, match="from_numpy needs a numpy"):
            Tensor.from_numpy(given)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Tensor.from_numpy(np.array(["a"]))
    with pytest.raises(TypeError):
        Tensor.from_numpy(np.array([object()]))


def test_conversions() -> None:
    tensor = Tensor([1.0, 2.0])
    tensor.asnumpy()[0] = 5.0  # dies with the statement
    assert tensor.tolist() == [5.0, 2.0]
    assert np.shares_memory(np.asarray(tensor, np.float32), tensor.asnumpy())
    assert not np.shares_memory(np.array(tensor), tensor.asnumpy())
    assert not np.shares_memory(np.asarray(tensor, np.float64), tensor.asnumpy())
    assert np.shares_memory(np.array(tensor, copy=False), tensor.asnumpy())
    with pytest.raises(ValueError, match="only by a copy"):
        np.array(tensor, np.float64, copy=False)


# -- the end of the sharing ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", MAKES)
def test_an_array_that_nobody_holds_is_forgotten(make: str) -> None:
    tensor, shared = MAKES[make]()
    part = shared[1:]
    del shared
    part[0] = 7.0
    assert tensor[1] == 7.0
    assert lends(tensor)
    held = memoryview(part)
    del part
    gc.collect()
    assert tensor[1] == 7.0
    assert lends(tensor)
    np.asarray(held)[0] = 8.0
    del held
    gc.collect()
    assert tensor.tolist() == [1.0, 8.0, 3.0]
    assert not lends(tensor)
    tensor.add_(1.0)
    assert tensor.tolist() == [2.0, 9.0, 4.0]


def test_a_tensor_that_nobody_holds() -> None:
    tensor, shared = from_numpy()
    view = tensor[1:]
    del tensor
    gc.collect()
    view.add_(1.0)
    assert shared.tolist() == [1.0, 3.0, 4.0]
    shared[1] = 0.0
    assert view.tolist() == [0.0, 4.0]
    del view
    assert sys.getrefcount(shared) == 2


def test_another_shape_ends_it() -> None:
    parameter = Parameter(Tensor([1.0, 2.0]), name="p")
    shared = parameter.asnumpy()
    parameter.set_data(Tensor([1.0, 2.0, 3.0]), slice_shape=True)
    shared[0] = 9.0
    assert parameter.shape == (3,)
    assert parameter.tolist() == [1.0, 2.0, 3.0]


def test_copies_stay_apart(tmp_path: Path) -> None:
    tensor, shared = from_numpy()
    parameter = Parameter(Tensor([1.0, 2.0, 3.0]), name="p")
    out = parameter.asnumpy()
    copies = [
        Tensor(tensor), tensor.copy(), copy.copy(tensor), copy.deepcopy(tensor), pickle.loads(pickle.dumps(tensor)),
        Parameter(tensor), parameter.clone(), copy.deepcopy(parameter), parameter.value(),
    ]  # fmt: skip
    file = str(tmp_path / "saved.ckpt")
    weft.save_checkpoint([{"name": "p", "data": parameter}], file)
    shared[0] = out[0] = 9.0
    assert {tuple(np.array(found).tolist()) for found in copies} == {(1.0, 2.0, 3.0)}
    assert weft.load_checkpoint(file)["p"].tolist() == [1.0, 2.0, 3.0]
    weft.save_checkpoint([{"name": "p", "data": parameter}], file)
    assert weft.load_checkpoint(file)["p"].tolist() == [9.0, 2.0, 3.0]
    for found in copies:
        found[1] = 0.0
    assert shared.tolist() == out.tolist() == [9.0, 2.0, 3.0]


# -- networks ------------------------------------------------------------------------------------------------------

OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "SGD": lambda p: nn.SGD(p, 0.1), "Momentum": lambda p: nn.Momentum(p, 0.1, 0.9), "Adam": lambda p: nn.Adam(p, 0.1),
}  # fmt: skip


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_steps_of_optimizers_are_written_to_arrays(kind: str, compiled: bool) -> None:
    def run(share: bool) -> Any:
        net = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
        optimizer = OPTIMIZERS[kind](net.trainable_params())
        step = value_and_grad(lambda x: net(x).sum(), None, optimizer.parameters)

        def train(x: Any) -> Any:
            loss, gradients = step(x)
            optimizer(gradients)
            return loss

        call = jit(train) if compiled else train
        x = Tensor(np.ones((2, 2), np.float32))
        weights = net.weight.asnumpy() if share else None
        found = []
        for number in range(4):
            found.append(float(call(x)))
            if weights is not None:
                assert weights.tolist() == np.array(net.weight).tolist()
                weights[0, number % 2] = number
            else:
                net.weight[0, number % 2] = float(number)
        return found, np.array(net.weight).tolist()

    assert run(True) == run(False)


def test_loaded_parameters_leave_arrays() -> None:
    net = nn.Dense(2, 1)
    before = net.weight.asnumpy()
    kept = before.copy()
    weft.load_param_into_net(net, {"weight": Parameter(Tensor(np.ones((1, 2), np.float32)), name="weight")})
    assert (before == kept).all()
    assert net.weight.tolist() == [[1.0, 1.0]]


# -- gradients -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("passes", [1, 40])
def test_gradients_use_the_values_of_the_operation(passes: int) -> None:
    tensor, shared = from_numpy()

    def after(x: Any) -> Any:
        y = x * x
        shared[0] = 10.0
        return y.sum()

    def before(x: Any) -> Any:
        shared[0] = 10.0
        return (x * x).sum()

    def between(x: Any) -> Any:
        y = x * x
        shared[0] = 10.0
        return (y * x).sum()

    for _ in range(passes):
        shared[0] = 1.0
        assert grad(after)(tensor).tolist() == [2.0, 4.0, 6.0]
        shared[0] = 1.0
        assert grad(before)(tensor).tolist() == [20.0, 4.0, 6.0]
        shared[0] = 1.0
        assert grad(between)(tensor).tolist() == [1.0 + 20.0, 12.0, 27.0]


@pytest.mark.parametrize("passes", [1, 40])
def test_gradients_of_what_an_array_changed(passes: int) -> None:
    parameter = Parameter(Tensor([1.0, 2.0]), name="p")
    shared = parameter.asnumpy()

    def loss() -> Any:
        y = parameter * 3
        out = y.asnumpy()
        out[0] = 7.0  # the value that goes on; what it was computed of stays
        return (y * y).sum()

    for number in range(passes):
        shared[1] = number
        assert value_and_grad(loss, None, [parameter])()[0] == 49.0 + 9.0 * number**2
        gradients = value_and_grad(loss, None, [parameter])()[1]
        assert gradients[0].tolist() == [42.0, 18.0 * number]


# -- compiled functions --------------------------------------------------------------------------------------------


def test_an_entry_for_a_tensor_alone_is_none_for_one_that_shares_with_an_array_it_reads() -> None:
    a = np.array([1.0, 2.0], np.float32)

    def program(x: Any) -> Any:
        x.add_(1.0)
        return x * Tensor(a)

    compiled = jit(program)
    assert compiled(Tensor([1.0, 2.0])).tolist() == [2.0, 6.0]
    assert compiled(Tensor([1.0, 2.0])).tolist() == [2.0, 6.0]
    shared = Tensor.from_numpy(a)
    assert compiled(shared).tolist() == [4.0, 9.0]
    assert a.tolist() == [2.0, 3.0]
    assert compiled(shared).tolist() == [9.0, 16.0]
    assert compiled(Tensor([1.0, 2.0])).tolist() == [6.0, 12.0]


def test_an_array_argument_that_shares() -> None:
    def program(x: Any, a: Any) -> Any:
        y = x + a
        x.mul_(2.0)
        return y + Tensor(a), a

    compiled = jit(program)
    for _ in range(3):
        one, two = np.array([1.0, 2.0], np.float32), np.array([1.0, 2.0], np.float32)
        wanted, found = program(Tensor.from_numpy(one), one), compiled(Tensor.from_numpy(two), two)
        assert wanted[0].tolist() == found[0].tolist() == [4.0, 8.0]
        assert found[1] is two
        assert one.tolist() == two.tolist() == [2.0, 4.0]
        assert compiled(Tensor.from_numpy(one), two)[0].tolist() == [2.0 + 2.0 + 2.0, 12.0]


def test_replacing_in_a_compiled_function() -> None:
    def program(p: Any, x: Any) -> Any:
        p.set_data(x + 1)
        return p * 1

    compiled = jit(program)
    for share in (False, True, False, True):
        parameter = Parameter(Tensor([1.0, 2.0]), name="p")
        shared = parameter.asnumpy() if share else None
        assert compiled(parameter, Tensor([1.0, 1.0])).tolist() == [2.0, 2.0]
        assert parameter.tolist() == [2.0, 2.0]
        if shared is not None:
            assert shared.tolist() == [1.0, 2.0]


def test_an_array_that_nobody_holds_hinders_nothing() -> None:
    def program(p: Any, x: Any) -> Any:
        p.set_data(p + x)
        return p * 1

    compiled = jit(program, fullgraph=True)
    parameter = Parameter(Tensor([1.0, 2.0]), name="p")
    for number in range(1, 4):
        parameter.asnumpy()[1] = 5.0
        assert compiled(parameter, Tensor([1.0, 1.0])).tolist() == [1.0 + number, 6.0]
    assert len(compiled.report().functions[0].graphs) == 1


@pytest.mark.parametrize("fails", [False, True])
def test_breaks(fails: bool) -> None:
    def program(x: Any, y: Any) -> Any:
        z = x + y
        out = z.asnumpy()
        out[0] = 5.0
        z.add_(1.0)
        kept = out.copy()
        x.asnumpy()[1] = 7.0
        if fails and kept[0] == 6.0:
            raise ValueError("told")
        return z * x, out, Tensor.from_numpy(kept) + z

    compiled = jit(program)
    for number in range(3):
        results = []
        for function in (program, compiled):
            x, y = Tensor([1.0, 2.0]), Tensor([float(number), 1.0])
            shared = y.asnumpy()
            shared[0] += 1.0
            if fails:
                with pytest.raises(ValueError, match="told"):
                    function(x, y)
                results.append([x.tolist(), y.tolist()])
            else:
                z, out, last = function(x, y)
                out[1] = 0.0
                results.append([z.tolist(), out.tolist(), last.tolist(), x.tolist(), y.tolist(), shared.tolist()])
        assert results[0] == results[1]


def test_from_numpy_in_a_compiled_function() -> None:
    def program(a: Any, x: Any) -> Any:
        tensor = Tensor.from_numpy(a)
        tensor.add_(x)
        return tensor

    compiled = jit(program)
    for _ in range(3):
        a = np.array([1.0, 2.0], np.float32)
        tensor = compiled(a, Tensor([1.0, 1.0]))
        assert a.tolist() == [2.0, 3.0]
        a[0] = 9.0
        assert tensor.tolist() == [9.0, 3.0]
    with pytest.raises(WeftError, match="from_numpy makes a tensor on the memory of an array"):
        jit(program, fullgraph=True)(np.ones(2, np.float32), Tensor([1.0, 1.0]))


@jit(fullgraph=True)
def update(p: Any, x: Any) -> Any:
    p.mul_(2.0)
    return p.sum() + x.sum()


def test_memory_that_a_graph_takes_over() -> None:
    parameter, x = Parameter(Tensor([1.0, 2.0]), name="p"), Tensor([1.0, 1.0])
    view = parameter[:1]
    for _ in range(4):
        shared = parameter.asnumpy()
        shared[1] = 3.0
        wanted = 2 * shared.sum() + 2.0
        assert update(parameter, x) == wanted
        assert view.tolist() == shared[:1].tolist()
        assert parameter.tolist() == shared.tolist()
        del shared
        update(parameter, x)


def test_vmap_and_hooks() -> None:
    tensor, shared = from_numpy()
    shared[0] = 5.0
    assert weft.vmap(lambda row: row * 2)(tensor).tolist() == [10.0, 4.0, 6.0]
    seen: list[Any] = []
    parameter = Parameter(Tensor([1.0, 2.0]), name="p")
    out = parameter.asnumpy()
    parameter.register_hook(lambda gradient: seen.append(gradient.tolist()))
    out[0] = 4.0
    assert grad(lambda: (parameter * parameter).sum(), None, [parameter])()[0].tolist() == [8.0, 4.0]
    assert seen == [[8.0, 4.0]]
    out[0] = 1.0
    assert parameter.tolist() == [1.0, 2.0]


# -- threads -------------------------------------------------------------------------------------------------------


def test_threads() -> None:
    tensor, shared = from_numpy()
    view = tensor[1:]
    shared[...] = 0.0
    failures: list[BaseException] = []
    done = threading.Event()

    def watch(function: Callable[[], Any]) -> Callable[[], None]:
        def run() -> None:
            try:
                while not done.is_set():
                    function()
            except BaseException as error:
                failures.append(error)

        return run

    def look() -> None:
        assert 0.0 <= float(tensor[2]) <= 300.0
        assert tensor.asnumpy().shape == (3,)
        assert float(view[0]) >= 0.0

    threads = [threading.Thread(target=watch(look)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(1, 201):
        shared[1:] = number
        assert (tensor + 0).tolist() == [0.0, number, number]
        view.add_(1.0)
        assert shared.tolist() == [0.0, number + 1, number + 1]
    done.set()
    for thread in threads:
        thread.join()
    assert not failures
    assert view.tolist() == [201.0, 201.0]
