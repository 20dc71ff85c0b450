"""A graph from a file gives what `jit` gives, bit by bit, and does what the call does."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import weft
from tests.mindir.networks import Block, Flow, LeNet, Structures, Trained, Twins, tensor
from weft import Tensor, nn, ops
from weft.autodiff.grad import value_and_grad
from weft.mindir import GraphCell, export, load

pytest.importorskip("safetensors")


def flat(value: Any) -> Any:
    """Tensors as arrays, all else as it is."""
    if isinstance(value, Tensor):
        return value.dtype, value.shape, value.asnumpy().tobytes()
    if isinstance(value, dict):
        return {key: flat(item) for key, item in value.items()}
    return type(value)(map(flat, value)) if isinstance(value, (tuple, list)) else value


def numbers(cell: nn.Cell) -> dict[str, Any]:
    return {parameter.name: flat(parameter) for parameter in cell.get_parameters()}


def from_file(folder: Path, net: Any, *inputs: Any) -> GraphCell:
    export(net, *inputs, file_name=str(folder / "net"))
    return GraphCell(load(str(folder / "net.mindir")))


def made(make: Callable[[], nn.Cell], train: bool) -> nn.Cell:
    weft.set_seed(7)
    net = make()
    net.set_train(train)
    return net


CASES: list[tuple[Callable[[], nn.Cell], bool, Callable[[int], tuple[Any, ...]]]] = [
    (LeNet, False, lambda seed: (tensor(2, 1, 28, 28, seed=seed),)),
    (Block, False, lambda seed: (tensor(2, 3, 16, seed=seed),)),
    (Block, True, lambda seed: (tensor(2, 3, 16, seed=seed),)),
    (Flow, False, lambda seed: (tensor(3, 3, seed=seed),)),
    (Trained, True, lambda seed: (tensor(5, 4, seed=seed),)),
    (Trained, False, lambda seed: (tensor(5, 4, seed=seed),)),
    (Twins, False, lambda seed: (tensor(2, seed=seed),)),
    (
        Structures,
        False,
        lambda seed: (
            {"a": tensor(2, seed=seed), "b": tensor(2, seed=seed + 50)},
            (tensor(2, seed=seed + 100), [tensor(2), tensor(2, seed=seed)]),
        ),
    ),
]


@pytest.mark.parametrize(("make", "train", "inputs"), CASES, ids=lambda v: getattr(v, "__name__", str(v)))
def test_a_graph_from_a_file_is_the_compiled_call(make: Any, train: bool, inputs: Any, tmp_path: Path) -> None:
    net = made(make, train)
    before = numbers(net)
    graph = from_file(tmp_path, net, *inputs(0))
    assert numbers(net) == before, "export changes nothing"
    compiled = weft.jit(net)
    outcomes = []
    for run in (compiled, graph):
        weft.set_seed(11)
        outcomes.append([flat(run(*inputs(seed))) for seed in range(4)])
    assert outcomes[0] == outcomes[1]
    after = numbers(net)
    assert numbers(graph) == {name: after[name] for name in numbers(graph)}
    assert {p.name for p in graph.trainable_params()} == {p.name for p in net.trainable_params()}


@pytest.mark.parametrize("make", [LeNet, Trained])
def test_gradients_go_through_a_graph(make: Any, tmp_path: Path) -> None:
    net = made(make, True)
    x = tensor(2, 1, 28, 28) if make is LeNet else tensor(5, 4)
    graph = from_file(tmp_path, net, x)
    outcomes = []
    for cell in (net, graph):
        weights = {p.name: p for p in cell.trainable_params()}
        names = sorted(weights)

        def loss(value: Any, cell: Any = cell) -> Any:
            return (cell(value) ** 2).sum()

        weft.set_seed(3)
        value, (dx, dw) = value_and_grad(loss, 0, [weights[name] for name in names])(x)
        outcomes.append([names, *[t.asnumpy() for t in (value, dx, *dw)]])
    assert outcomes[0][0] == outcomes[1][0]
    for eager, read in zip(outcomes[0][1:], outcomes[1][1:], strict=True):
        np.testing.assert_allclose(eager, read, rtol=1e-4, atol=1e-5)


def test_a_graph_runs_inside_compiled_functions(tmp_path: Path) -> None:
    net = made(Trained, True)
    first = from_file(tmp_path, net, tensor(5, 4))
    second = GraphCell(load(str(tmp_path / "net.mindir")))

    @weft.jit
    def around(x: Any) -> Any:
        return second(x * 2) + 1

    outcomes = []
    for run in (lambda x: first(x * 2) + 1, around):
        weft.set_seed(5)
        outcomes.append([run(tensor(5, 4, seed=seed)).asnumpy() for seed in range(3)])
    np.testing.assert_allclose(outcomes[0], outcomes[1], rtol=1e-5, atol=1e-6)
    for one, other in zip(first.get_parameters(), second.get_parameters(), strict=True):
        np.testing.assert_allclose(one.asnumpy(), other.asnumpy(), rtol=1e-5, atol=1e-6)
    assert next(p for p in second.get_parameters() if p.name == "calls").asnumpy() == 3


def test_a_graph_is_exported_again(tmp_path: Path) -> None:
    graph = from_file(tmp_path, made(Block, False), tensor(2, 3, 16))
    again = from_file(tmp_path, graph, tensor(2, 3, 16))
    assert flat(again(tensor(2, 3, 16, seed=4))) == flat(graph(tensor(2, 3, 16, seed=4)))
    assert numbers(again) == numbers(graph)


def test_values_replace_weights(tmp_path: Path) -> None:
    export(nn.Dense(2, 1), Tensor([[1.0, 2.0]]), file_name=str(tmp_path / "d.mindir"))
    program = load(str(tmp_path / "d.mindir"))
    bias, weight = Tensor(np.array([5.0], np.float32)), Tensor(np.array([[1.0, 1.0]], np.float32))
    net = GraphCell(program, {"bias": bias, "weight": weight})
    assert net(Tensor(np.array([[1.0, 2.0]], np.float32))).asnumpy().tolist() == [[8.0]]
    with pytest.raises(ValueError, match="names 'other', which is no weight"):
        GraphCell(program, {"other": bias})
    with pytest.raises(ValueError, match=r"'bias'\] is float32 of shape \(1, 2\), the graph needs float32 of shape"):
        GraphCell(program, {"bias": weight})
    with pytest.raises(TypeError, match="must be a Tensor, not list"):
        GraphCell(program, {"bias": [1.0]})
    with pytest.raises(TypeError, match="graph must be what load returns"):
        GraphCell(nn.Dense(2, 1))


def test_cells_of_one_file_have_weights_of_their_own(tmp_path: Path) -> None:
    first = from_file(tmp_path, made(Trained, True), tensor(5, 4))
    program = load(str(tmp_path / "net.mindir"))
    second, third = GraphCell(program), GraphCell(program)
    before = numbers(third)
    second(tensor(5, 4))
    assert numbers(third) == before
    assert numbers(first) == before


def test_stablehlo_gives_the_arrays(tmp_path: Path) -> None:
    net = made(LeNet, False)
    export(net, tensor(2, 1, 28, 28), file_name=str(tmp_path / "net"), file_format="STABLEHLO")
    x = tensor(2, 1, 28, 28, seed=2).asnumpy()
    other = jax.export.export(jax.jit(lambda x: (jax.numpy.zeros((2, 10), x.dtype) * x.sum(),)))(x)
    module = (tmp_path / "net.stablehlo").read_bytes()
    (found,) = dataclasses.replace(other, mlir_module_serialized=module).call(x)
    np.testing.assert_allclose(found, weft.jit(net)(tensor(2, 1, 28, 28, seed=2)).asnumpy(), rtol=1e-5, atol=1e-6)


def test_functions_are_exported(tmp_path: Path) -> None:
    weight = Tensor(np.arange(3, dtype=np.float32))
    graph = from_file(tmp_path, lambda x: ops.exp(x) * weight, tensor(3))
    assert flat(graph(tensor(3, seed=1))) == flat(weft.jit(lambda x: ops.exp(x) * weight)(tensor(3, seed=1)))
    assert not list(graph.get_parameters())


@pytest.mark.parametrize("file_format", ["MINDIR", "STABLEHLO"])
def test_compiled_functions_export_and_load_at_each_call(file_format: str, tmp_path: Path) -> None:
    net, sample = made(LeNet, False), tensor(2, 1, 28, 28)
    name = tmp_path / f"net.{file_format.lower()}"

    @weft.jit
    def own(x: Any) -> Any:
        export(net, x, file_name=str(name), file_format=file_format)
        return x * 2

    @weft.jit
    def outside(x: Any) -> Any:
        export(net, sample, file_name=str(name), file_format=file_format)
        return x * 2

    @weft.jit
    def loads(x: Any) -> Any:
        return GraphCell(load(str(name)))(x) * 2

    for function in (own, outside):
        for seed in range(3):
            x = tensor(2, 1, 28, 28, seed=seed)
            assert flat(function(x)) == flat(x * 2)
            assert name.is_file()
            name.unlink()
    if file_format == "MINDIR":
        for scale in (1.0, 3.0, 5.0):
            weight = Tensor(np.full(3, scale, np.float32))
            export(lambda x, weight=weight: x * weight, tensor(3), file_name=str(name))
            assert flat(loads(tensor(3))) == flat(tensor(3) * weight * 2)
