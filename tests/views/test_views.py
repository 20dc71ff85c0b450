"""What is a view of what, and what a write to one reaches; NumPy is the oracle where it has the same operation."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.helpers.values import same
from weft import Parameter, Tensor, ops, vmap
from weft.jit import jit
from weft.testing import assert_no_breaks


def base() -> np.ndarray[Any, Any]:
    return np.arange(24, dtype=np.float64).reshape(2, 3, 4)


#: a view in weft, and the same in NumPy
VIEWS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "item": (lambda x: x[1], lambda x: x[1]),
    "element": (lambda x: x[1, 2, -1], lambda x: x[1, 2, -1, ...]),
    "slices": (lambda x: x[:, 1:, ::2], lambda x: x[:, 1:, ::2]),
    "backwards": (lambda x: x[::-1, ..., ::-2], lambda x: x[::-1, ..., ::-2]),
    "new axis": (lambda x: x[None, 0, ..., None], lambda x: x[None, 0, ..., None]),
    "all": (lambda x: x[...], lambda x: x[...]),
    "view of a view": (lambda x: x[1][0][2:], lambda x: x[1][0][2:]),
    "reshape": (lambda x: ops.reshape(x, (6, 4)), lambda x: x.reshape(6, 4)),
    "reshape method": (lambda x: x.reshape(4, -1), lambda x: x.reshape(4, -1)),
    "view": (lambda x: x.view(3, 8), lambda x: x.reshape(3, 8)),
    "view_as": (lambda x: x.view_as(Tensor(np.zeros((8, 3)))), lambda x: x.reshape(8, 3)),
    "ravel": (lambda x: x.ravel(), lambda x: x.ravel()),
    "flatten": (lambda x: x.flatten(), lambda x: x.reshape(-1)),
    "reshape of a permuted one": (
        lambda x: x.transpose(1, 2, 0).reshape(12, 2),
        lambda x: x.transpose(1, 2, 0).reshape(12, 2),
    ),
    "reshape that copies": (lambda x: x.transpose(2, 1, 0).reshape(-1), lambda x: x.transpose(2, 1, 0).reshape(-1)),
    "transpose": (lambda x: ops.transpose(x, (2, 0, 1)), lambda x: x.transpose(2, 0, 1)),
    "permute": (lambda x: x.permute(1, 0, 2), lambda x: x.transpose(1, 0, 2)),
    "T": (lambda x: x.T, lambda x: x.T),
    "mT": (lambda x: x.mT, lambda x: x.swapaxes(-1, -2)),
    "t": (lambda x: x[0].t(), lambda x: x[0].T),
    "swapaxes": (lambda x: x.swapaxes(0, 2), lambda x: x.swapaxes(0, 2)),
    "moveaxis": (lambda x: ops.movedim(x, 0, 2), lambda x: np.moveaxis(x, 0, 2)),
    "expand_dims": (lambda x: x.expand_dims(1), lambda x: np.expand_dims(x, 1)),
    "unsqueeze": (lambda x: x.T.unsqueeze(-1), lambda x: x.T[..., None]),
    "squeeze": (lambda x: x[:1].squeeze(), lambda x: x[:1].squeeze()),
    "diagonal": (lambda x: x.diagonal(1, 2, 1), lambda x: _writable(x.diagonal(1, 2, 1))),
    "split": (lambda x: x.split(2, 2)[1], lambda x: np.split(x, 2, 2)[1]),
    "chunk": (lambda x: x.chunk(2, 1)[0], lambda x: x[:, :2]),
    "tensor_split": (lambda x: x.tensor_split((1, 2), 1)[1], lambda x: x[:, 1:2]),
    "unbind": (lambda x: x.unbind(1)[2], lambda x: x[:, 2]),
    "unstack": (lambda x: ops.unstack(x, -1)[0], lambda x: x[..., 0]),
    "narrow": (lambda x: x.narrow(2, 1, 2), lambda x: x[..., 1:3]),
    "select": (lambda x: x.select(1, 2), lambda x: x[:, 2]),
    "slice": (lambda x: ops.slice(x, (0, 1, 1), (1, 2, 2)), lambda x: x[:1, 1:3, 1:3]),
    "strided_slice": (lambda x: ops.strided_slice(x, (0, 0, 0), (2, 3, 4), (1, 2, 3)), lambda x: x[:, ::2, ::3]),
    "detach": (lambda x: x.detach(), lambda x: x[...]),
    "one axis more": (lambda x: ops.broadcast_to(x, (1, 2, 3, 4)), lambda x: x[None]),
    "list index": (lambda x: x[[1, 0]], lambda x: x[[1, 0]]),
    "mask": (lambda x: x[x > 5], lambda x: x[x > 5]),
    "tensor index": (lambda x: x[Tensor(1)], lambda x: x[1].copy()),
    "array index": (lambda x: x[np.array(1)], lambda x: x[np.array(1)]),
    "true": (lambda x: x[True], lambda x: x[True]),
    "copy": (lambda x: x.copy(), lambda x: x.copy()),
    "sum with itself": (lambda x: x + 0, lambda x: x + 0),
    "row of an iteration": (lambda x: next(iter(x)), lambda x: x[0].copy()),
    "copy.copy": (copy.copy, copy.copy),
    "new tensor": (lambda x: Tensor(x), lambda x: x.copy()),
}


def _writable(array: Any) -> Any:
    array.flags.writeable = True
    return array


def written(x: Any, view: Any) -> list[Any]:
    """The values of two tensors while one and the other are written."""
    found = []
    for number, target in enumerate((x, view, x)):
        target[...] = np.arange(target.size, dtype=np.float64).reshape(target.shape) * (number + 1)
        found += [np.array(x).tolist(), np.array(view).tolist()]
    return found


@pytest.mark.parametrize("name", VIEWS)
def test_sharing_is_that_of_numpy(name: str) -> None:
    make, oracle = VIEWS[name]
    array = base()
    wanted = written(array, oracle(array))
    x = Tensor(base())
    assert written(x, make(x)) == wanted
    x = Tensor(base())
    if name != "mask":
        assert written(x, jit(make)(x)) == wanted
    x = Tensor(base())

    def inside(x: Any) -> Any:
        view = make(x)
        first = view * 1
        x.add_(1.0)
        return view, first, view * 2

    view, first, double = inside(x)
    y = Tensor(base())
    for found, expected in zip(jit(inside)(y), (view, first, double), strict=True):
        same(found, expected)
    same(x, y)


def test_elements_of_elements() -> None:
    t = Tensor(np.array([[1, 2, 3], [2, 3, 4]], np.float32))
    b = t.view((3, 2))
    b[0][0] = 100
    assert t[0][0] == 100


def test_a_repeated_element_cannot_be_written() -> None:
    x = Tensor([1.0, 2.0])
    wide = x.broadcast_to((2, 2))
    for function in (lambda w: w.add_(1.0), jit(lambda w: w.add_(1.0))):
        with pytest.raises(ValueError, match="repeats the elements"):
            function(wide)
    x[0] = 5.0
    assert wide.tolist() == [[5.0, 2.0], [5.0, 2.0]]
    own = wide.copy()
    own[0, 0] = 7.0
    assert x.tolist() == [5.0, 2.0]


def test_rows_of_an_iteration_are_copies() -> None:
    x = Tensor(np.zeros((2, 2), np.float32))
    for row in x:
        row.add_(1)
    assert x.tolist() == [[0, 0], [0, 0]]


def test_augmented_assignment_of_an_item_is_a_write_and_of_a_variable_makes_a_tensor() -> None:
    x = Tensor([1.0, 2.0])
    view = x[:]
    x[0] += 5
    y = x
    y += 1
    assert (view.tolist(), x.tolist(), y.tolist()) == ([6, 2], [6, 2], [7, 3])


def test_parameters_have_views() -> None:
    p = Parameter(Tensor([[1.0, 2.0], [3.0, 4.0]]))
    row, column = p[0], p[:, 1]
    p.set_data(Tensor([[5.0, 6.0], [7.0, 8.0]]))
    assert (row.tolist(), column.tolist()) == ([5, 6], [6, 8])
    row[1] = 9
    p += 1
    assert p.value().tolist() == [[6, 10], [8, 9]]
    assert column.tolist() == [10, 9]


def test_another_shape_ends_the_sharing() -> None:
    p = Parameter(Tensor([1.0, 2.0]))
    first, second = p[:1], p[:]
    p.set_data(Tensor([3.0]), slice_shape=True)
    assert second.tolist() == [1, 2]
    second[0] = 8
    assert (first.tolist(), p.value().tolist()) == ([8], [3])


def test_is_contiguous_and_contiguous() -> None:
    x = Tensor(base())
    for text in ("x", "x[1]", "x[:, 1]", "x.T", "x[:1].transpose(1, 0, 2)", "x.T.T", "x[..., ::2]", "x.T.copy()"):
        wanted = eval(text, {"x": base()}).flags.c_contiguous if "copy" not in text else True
        view = eval(text, {"x": x})
        assert view.is_contiguous() is wanted, text
        assert jit(lambda v: v.is_contiguous())(view) is wanted
        assert (view.contiguous() is view) is wanted
        assert view.contiguous().is_contiguous()


def test_copies_of_all_kinds_are_apart() -> None:
    x = Tensor([1.0, 2.0])
    v = x[:]
    copies = [copy.deepcopy(v), copy.copy(v), pickle.loads(pickle.dumps(v)), v.copy(), Tensor(v), Parameter(v)]
    v.zero_()
    assert [c.asnumpy().tolist() for c in copies] == [[1, 2]] * 6


def test_views_keep_no_one_alive_but_their_base() -> None:
    x = Tensor([1.0, 2.0])
    v = x[:]
    base_alive, view_alive = weakref.ref(x), weakref.ref(v)
    gc.disable()
    try:
        del x
        assert base_alive() is not None
        del v
        assert base_alive() is None
        assert view_alive() is None
    finally:
        gc.enable()


def test_many_views_cost_little_memory() -> None:
    x = Tensor(np.zeros(4))
    for _ in range(1000):
        x[1:]
    assert len(x._member.storage.views) < 20


def test_mapped_functions_see_views() -> None:
    def program(x: Any) -> Any:
        y = x * 1
        y[0].add_(y[1])
        y.reshape(-1)[-1] = 5.0
        return y

    x = np.arange(24, dtype=np.float64).reshape(2, 3, 4)
    wanted = [program(Tensor(row)).tolist() for row in x]
    assert vmap(program)(Tensor(x)).tolist() == wanted
    assert jit(lambda t: vmap(program)(t))(Tensor(x)).tolist() == wanted


def test_a_view_of_the_argument_is_returned() -> None:
    @jit(fullgraph=True)
    def function(x: Any) -> Any:
        return x.reshape(-1)[1:], x * 2

    for _ in range(3):
        x = Tensor(np.zeros((2, 2)))
        view, double = function(x)
        view[0] = 3.0
        double[0] = 1.0
        assert x.tolist() == [[0, 3], [0, 0]]


def test_views_of_what_the_call_made_share_among_themselves() -> None:
    @jit(fullgraph=True)
    def function(x: Any) -> Any:
        h = x * 2
        return h[0], {"rest": h[:, 1]}

    row, rest = (lambda r: (r[0], r[1]["rest"]))(function(Tensor(np.ones((2, 2)))))
    row[1] = 9.0
    assert rest.tolist() == [9, 2]


def test_a_graph_that_writes_a_view_reaches_the_base_outside() -> None:
    @jit
    def function(v: Any) -> None:
        v.add_(1.0)

    x = Tensor(np.zeros((2, 2)))
    views = x[0], x.T, x[1]
    with assert_no_breaks():
        function(views[0])
        function(views[2])
    assert x.tolist() == [[1, 1], [1, 1]]
    assert views[1].tolist() == [[1, 1], [1, 1]]


def test_tensors_that_share_and_tensors_that_do_not_need_a_graph_each() -> None:
    def program(a: Any, b: Any) -> Any:
        a.add_(1.0)
        return a + b

    compiled = jit(program)
    for function in (program, compiled, compiled):
        x = Tensor(np.zeros((2, 2)))
        assert function(x[0], x[1]).tolist() == [1, 1]
        assert function(x[0], x[0]).tolist() == [4, 4]
        assert function(x[0], x[:, 0]).tolist() == [6, 3]
        assert function(x[1], Tensor([5.0, 5.0])).tolist() == [6, 6]
        y = x[0]
        assert function(y, y).tolist() == [8, 8]


def test_views_of_weights_in_a_step() -> None:
    def step(weight: Any, x: Any) -> Any:
        weight.set_data(weight - 0.5 * x)
        return (weight * x).sum()

    compiled = jit(step)
    for function in (step, compiled):
        weight = Parameter(Tensor([1.0, 2.0]))
        held = weight[0]
        losses = [function(weight, Tensor([1.0, 1.0])).item() for _ in range(3)]
        assert losses == [2, 1, 0]
        assert held.item() == -0.5
        held.fill_(7.0)
        assert function(weight, Tensor([1.0, 1.0])).item() == 6.5
