"""Indices out of bounds raise `IndexError` in eager code and in graphs, and leave nothing wrong behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import Parameter, Tensor, context, jit, nn, ops
from weft.explain import explain

X = np.arange(12, dtype=np.float32).reshape(3, 4)
POLICIES: dict[str, dict[str, Any]] = {"auto": {}, "fullgraph": {"fullgraph": True}, "static": {"mode": "PSJit"}}
#: programs of a tensor (3, 4) and an integer tensor (2,), whose values must be in -3..2 for rows, -4..3 for columns
PROGRAMS: dict[str, Callable[..., Any]] = {
    "row": lambda x, i: x[i] * 2,
    "element": lambda x, i: x[i, i],
    "column": lambda x, i: x[:, i],
    "between": lambda x, i: x[None, i, ..., 1:],
    "gather": lambda x, i: ops.gather(x, i, 0),
    "gather of columns": lambda x, i: ops.gather(x, i, -1),
    "gather_elements": lambda x, i: ops.gather_elements(x, 1, ops.stack([i, i, i])),
    "take_along_dim": lambda x, i: ops.take_along_dim(x, i),
    "gather_nd": lambda x, i: ops.gather_nd(x, i),
    "index_select": lambda x, i: x.index_select(0, i),
    "take": lambda x, i: x.take(i, 0, mode="raise"),
    "take from all": lambda x, i: x.take(i, mode="raise"),
    "embedding": lambda x, i: ops.embedding(i, x),
    "computed": lambda x, i: x[(i + 1) * 2 - 2 - i],
    "cast": lambda x, i: x[i.astype(weft.int8)],
    "nll_loss": lambda x, i: ops.nll_loss(x[:2], i),
    "nll_loss with weights": lambda x, i: ops.nll_loss(x[:2], i, Tensor(np.ones(4, np.float32)), ignore_index=3),
    "cross_entropy": lambda x, i: ops.cross_entropy(x[:2], i, ignore_index=-1),
    "sparse loss": lambda x, i: nn.SoftmaxCrossEntropyWithLogits(sparse=True)(x[:2], i),
    "tensor_scatter_update": lambda x, i: ops.tensor_scatter_update(x, i.reshape(2, 1), x[:2] + 7),
    "tensor_scatter_add": lambda x, i: ops.tensor_scatter_add(x, i, ops.sum(x)),
    "tensor_scatter_elements": lambda x, i: ops.tensor_scatter_elements(x, i.reshape(2, 1), x[:2, :1] + 7),
    "scatter_nd": lambda x, i: ops.scatter_nd(i.reshape(2, 1), x[:2], (3, 4)),
    "index_add": lambda x, i: ops.index_add(x, i, x[:2], 0),
    "index_fill": lambda x, i: ops.index_fill(x, 1, i, 9.0),
    "unsorted_segment_sum": lambda x, i: ops.unsorted_segment_sum(x[:2], i, 3),
    "one side": lambda x, i: x[i] if i.sum() > 0 else x[:2] * 2,
    "both sides": lambda x, i: x[i] if i.sum() > 1 else x[:, i],
    "vmap": lambda x, i: weft.vmap(lambda row, k: row[k], in_axes=(0, None))(x, i),
    "vmap of positions": lambda x, i: weft.vmap(lambda k: x[k], in_axes=0)(i),
}
#: what the integer tensor is, one call after the other
INDICES = ([0, 1], [2, 0], [3, 0], [0, 1], [-3, -1], [-5, 0], [1, 1], [0, 100], [2, 2])


def outcome(function: Any, *args: Any) -> Any:
    try:
        return function(*map(Tensor, args)).asnumpy()
    except IndexError as error:
        return str(error)


def same(got: Any, wanted: Any, exact: bool = True) -> None:
    assert type(got) is type(wanted), (got, wanted)
    if isinstance(wanted, str):
        assert got == wanted or not exact
    else:
        assert got.dtype == wanted.dtype
        np.testing.assert_allclose(got, wanted, rtol=1e-6)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_graph_raises_where_eager_code_does(name: str, policy: str) -> None:
    program = PROGRAMS[name]
    compiled = jit(program, **POLICIES[policy])
    wanted = [outcome(program, X, np.array(values)) for values in INDICES]
    assert any(isinstance(found, str) for found in wanted)
    for values, found in zip(INDICES, wanted, strict=True):
        same(outcome(compiled, X, np.array(values)), found, "vmap" not in name)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in ("element", "both sides")])
def test_gradients_raise_and_go_on(name: str) -> None:
    program = PROGRAMS[name]
    for way in (weft.grad(program), weft.grad(jit(program)), jit(weft.grad(program))):
        for values in INDICES:
            wanted = outcome(weft.grad(program), X, np.array(values))
            same(outcome(way, X, np.array(values)), wanted, "vmap" not in name)


def numpy_of(x: Any, i: Any) -> Any:
    return x[i]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("size", [3, 200, 300])
def test_every_integer_dtype(dtype: str, size: int) -> None:
    x = np.arange(size)
    info = np.iinfo(dtype)
    compiled = jit(numpy_of)
    for value in (0, size - 1, size, -1, -size, -size - 1, info.min, info.max):
        if info.min <= value <= info.max:
            i = np.array([0, value], dtype)
            try:
                wanted: Any = x[i.astype(object).astype(np.int64)] if value < 1 << 63 else "out of bounds"
            except (IndexError, OverflowError):
                wanted = "out of bounds"
            for function in (numpy_of, compiled):
                found = outcome(function, x, i)
                if isinstance(wanted, str):
                    assert isinstance(found, str)
                    assert wanted in found
                else:
                    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("size", [3, 200, 300])
def test_narrow_dtypes_reach_as_far_as_they_can(size: int) -> None:
    x = np.arange(2.0 * size, dtype=np.float32).reshape(2, size)
    for dtype in (np.int8, np.uint8, np.int16):
        i = np.array([size - 1, 1]) % 100
        for program in (
            lambda x, i: ops.gather(x, i, 1),
            lambda x, i: ops.gather_elements(x, 1, i.reshape(2, 1)),
            lambda x, i: ops.embedding(i, x.T),
            lambda x, i: weft.grad(lambda x: ops.cross_entropy(x, i))(x),
            lambda x, i: ops.tensor_scatter_update(x.T, i.reshape(2, 1), x[:, :2]),
            lambda x, i: ops.index_fill(x, 1, i, 9.0),
        ):
            np.testing.assert_array_equal(outcome(program, x, i.astype(dtype)), outcome(program, x, i))


def test_no_indices_and_nothing_to_index() -> None:
    for function in (numpy_of, jit(numpy_of)):
        assert outcome(function, X, np.zeros(0, np.int64)).shape == (0, 4)
        assert outcome(function, np.zeros((0, 2)), np.zeros((0, 3), np.int64)).shape == (0, 3, 2)
        assert outcome(function, np.zeros((0, 2)), np.zeros(1, np.int64)) == (
            "index 0 is out of bounds for axis 0 with size 0"
        )


def test_what_is_assigned() -> None:
    def program(x: Any, i: Any, value: Any) -> Any:
        x = x * 1
        x[i] = value
        x[:, i] += 1
        return x

    compiled = jit(program)
    for values in INDICES:
        wanted = outcome(program, X, np.array(values), np.float32(7))
        same(outcome(compiled, X, np.array(values), np.float32(7)), wanted)


@pytest.mark.parametrize("computed", [False, True])
def test_weights_are_as_they_were(computed: bool) -> None:
    net = nn.Dense(4, 5)
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    step_of = weft.value_and_grad(
        lambda x, y: ops.cross_entropy(net(x), y * 1 if computed else y), None, optimizer.parameters
    )

    @jit
    def step(x: Any, y: Any) -> Any:
        loss, gradients = step_of(x, y)
        optimizer(gradients)
        return loss

    state = [*net.get_parameters(), *optimizer.get_parameters()]
    x = Tensor(X)
    for labels in ([0, 1, 2], [3, 4, 0], [0, 1, 5], [0, 1, 2], [-1, 1, 2], [4, 4, 4]):
        before = [parameter.asnumpy().copy() for parameter in state]
        if max(labels) < 5 and min(labels) >= 0:
            step(x, Tensor(labels))
            assert any((p.asnumpy() != b).any() for p, b in zip(state, before, strict=True))
        else:
            with pytest.raises(IndexError, match=r"there is no class (5|-1) of 5"):
                step(x, Tensor(labels))
            for parameter, value in zip(state, before, strict=True):
                np.testing.assert_array_equal(parameter.asnumpy(), value)
    report = explain(step)(x, Tensor([0, 1, 2]))
    # the step is none where a label is no class; the graph for labels that a guard looks at needs no check
    steps = [text for graph in report.graphs if "MomentumUpdate" in (text := str(graph.event.made))]
    checks = ["where it holds" in text for text in steps]
    assert checks == ([True] if computed else [False, True])
    assert "in place" in str(report)  # memory of the weights is still taken over


def test_what_python_does_before_it_raises() -> None:
    seen: list[str] = []
    state = Parameter(Tensor([0.0]), name="state")

    def program(x: Any, i: Any) -> Any:
        state.set_data(state + 1)
        seen.append("before")
        y = x[i]
        state.set_data(state + 10)
        seen.append("after")
        return y + state

    compiled = jit(program)
    for run in (program, compiled):
        seen.clear()
        state.set_data(Tensor([0.0]))
        for values in ([0], [5], [1]):
            outcome(run, X, np.array(values))
        assert seen == ["before", "after", "before", "before", "after"]
        assert state.asnumpy().tolist() == [23.0]


def test_an_exception_that_the_program_catches() -> None:
    def program(x: Any, i: Any) -> Any:
        try:
            return x[i].sum()
        except IndexError:
            return x.sum() * 100

    compiled = jit(program)
    for values in INDICES * 4:
        same(outcome(compiled, X, np.array(values)), outcome(program, X, np.array(values)))
    report = explain(compiled)(Tensor(X), Tensor([0, 0]))
    assert report.breaks[0].count > 8  # not one of few
    assert len(report.graphs) < 2 * 8 + 4


@pytest.mark.parametrize("computed", [False, True])
def test_a_graph_that_prints(computed: bool, capsys: pytest.CaptureFixture[str]) -> None:
    def program(x: Any, i: Any) -> Any:
        print("sum", x.sum())
        return x[i + 0] if computed else x[i]

    compiled = jit(program)
    for values in ([0], [3], [1]):
        wanted, printed = outcome(program, X, np.array(values)), capsys.readouterr().out
        found = outcome(compiled, X, np.array(values))
        assert capsys.readouterr().out == printed
        if isinstance(wanted, str):
            assert "out of bounds for axis 0 with size 3 (" in found
            assert "test_bounds.py:" in found
        else:
            same(found, wanted)
    assert len(explain(compiled)(Tensor(X), Tensor([0])).graphs) == (1 if computed else 2)


def test_indices_that_are_given_are_looked_at_before_the_graph_runs() -> None:
    position = Parameter(Tensor([1, 0]), name="position", requires_grad=False)
    others = [Tensor([2])]

    def program(x: Any, i: Any, written: Any) -> Any:
        rows = x[i.reshape(-1)[:1]] + x[i.astype("int64").expand_dims(1)].sum(1)[0]
        written[0] = 1
        return rows + x[position].sum() + x[others[0]] + x[written].sum()

    compiled, written = jit(program), [Tensor([9]) for _ in range(4)]
    for number, values in enumerate(([0, 1], [2, 2], [1, 5], [0, 1])):
        wanted = outcome(program, X, np.array(values), np.array([9]))
        same(outcome(compiled, X, np.array(values), written[number]), wanted)
    graphs = explain(compiled)(Tensor(X), Tensor([0, 1]), Tensor([9])).graphs
    assert sorted(path for path in graphs[0].event.guards.values() if path.startswith("indices")) == [
        "indices in i, from -3 to 2", "indices in others[0], from -3 to 2", "indices in position, from -3 to 2",
    ]  # fmt: skip
    others[0] = Tensor([7])
    assert outcome(compiled, X, np.array([0, 1]), np.array([9])) == "index 7 is out of bounds for axis 0 with size 3"
    others[0] = Tensor([0])
    position.set_data(Tensor([1, 3]))
    assert outcome(compiled, X, np.array([0, 1]), np.array([9])) == "index 3 is out of bounds for axis 0 with size 3"
    position.set_data(Tensor([1, 2]))
    same(outcome(compiled, X, np.array([0, 1]), np.array([9])), outcome(program, X, np.array([0, 1]), np.array([9])))


def test_loops_end() -> None:
    def program(x: Any, i: Any) -> Any:
        total, k = x[0] * 0, Tensor(0)
        while total < 20:
            total = total + x[i[k]]
            k = (k + 1) % 2
        return total

    compiled = jit(program)
    for values in ([0, 1], [1, 2], [7, 7], [0, 1], [1, 9]):
        x = np.array([1.0, 2.0, 3.0, 0.0])
        same(outcome(compiled, x, np.array(values)), outcome(program, x, np.array(values)))


def test_a_few_exceptions_keep_the_graph() -> None:
    compiled = jit(lambda x, i: x[i] * 2)
    for _ in range(3):
        assert outcome(compiled, X, np.array([0])).shape == (1, 4)
        assert "index 9" in outcome(compiled, X, np.array([9]))
    report = explain(compiled)(Tensor(X), Tensor([1]))
    assert all(entry.count == 3 for entry in report.breaks)  # the calls that raised
    assert not explain(compiled)(Tensor(X), Tensor([1])).breaks[1:]


def test_the_check_can_be_left_out() -> None:
    def program(x: Any, i: Any) -> Any:
        return x[i] + 1

    compiled = jit(program)
    assert "out of bounds" in outcome(compiled, X, np.array([9]))
    context.set_context(check_bounds=False)
    try:
        for function in (program, compiled):
            assert outcome(function, X, np.array([9])).shape == (1, 4)
    finally:
        context.set_context(check_bounds=True)
    assert "out of bounds" in outcome(compiled, X, np.array([9]))


def test_embedding_counts_from_the_end() -> None:
    table = nn.Embedding(3, 2)
    rows = table.embedding_table.asnumpy()
    np.testing.assert_array_equal(table(Tensor([-1, 0])).asnumpy(), rows[[-1, 0]])
    gradient = weft.grad(lambda: table(Tensor([-1, 2])).sum(), None, table.trainable_params())()
    np.testing.assert_array_equal(gradient[0].asnumpy(), [[0, 0], [0, 0], [2, 2]])
