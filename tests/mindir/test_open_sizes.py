"""Networks exported with sizes left open run for any sizes, within what the graph relies on."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import weft
from tests.mindir.networks import Block, Flow, LeNet, Trained, tensor
from tests.mindir.test_equal import flat, from_file, made
from weft import Parameter, Tensor, nn, ops
from weft.autodiff.grad import value_and_grad
from weft.errors import Unsupported
from weft.mindir import GraphCell, export, load

pytest.importorskip("safetensors")


def free(*shape: int | None) -> Tensor:
    return Tensor(shape=list(shape), dtype=weft.float32)


class Positions(nn.Cell):
    """A transformer block with learned positions and a causal mask."""

    def __init__(self) -> None:
        super().__init__()
        self.block = Block()
        self.position = Parameter(Tensor(tensor(64, 16, seed=5).asnumpy()), name="position")

    def construct(self, x: Any) -> Any:
        t = x.shape[1]
        x = self.block(x + self.position[:t])
        scores = ops.matmul(x, x.transpose(0, 2, 1))
        mask = ops.tril(ops.ones((t, t), x.dtype))
        return ops.matmul(ops.softmax(scores * mask, -1), x)


CASES: list[tuple[Callable[[], nn.Cell], bool, tuple[Any, ...], Callable[[int], tuple[Any, ...]]]] = [
    (LeNet, False, (free(None, 1, 28, 28),), lambda n: (tensor(n, 1, 28, 28, seed=n),)),
    (Block, True, (free(None, None, 16),), lambda n: (tensor(n, n + 2, 16, seed=n),)),
    (Positions, False, (free(None, None, 16),), lambda n: (tensor(n, n + 2, 16, seed=n),)),
    (Flow, False, (free(3, None),), lambda n: (tensor(3, n, seed=n),)),
    (Trained, False, (free(None, 4),), lambda n: (tensor(n + 1, 4, seed=n),)),
]


@pytest.mark.parametrize(("make", "train", "samples", "inputs"), CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_the_first_sizes_are_the_compiled_call(
    make: Any, train: bool, samples: Any, inputs: Any, tmp_path: Path
) -> None:
    net = made(make, train)
    graph = from_file(tmp_path, net, *samples)
    compiled = weft.jit(net)
    outcomes = []
    for run in (compiled, graph):
        weft.set_seed(11)
        outcomes.append([flat(run(*inputs(n))) for n in (3, 1, 2, 3)])
    assert outcomes[0] == outcomes[1]
    for one, other in zip(
        sorted(graph.get_parameters(), key=_name), sorted(net.get_parameters(), key=_name), strict=True
    ):
        assert flat(one) == flat(other)


def _name(parameter: Parameter) -> str:
    return str(parameter.name)


def _close(found: Any, expected: Any) -> None:
    if isinstance(found, tuple):
        for one, other in zip(found, expected, strict=True):
            _close(one, other)
        return
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(found.asnumpy(), expected.asnumpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("make", "samples", "inputs"), [(c[0], c[2], c[3]) for c in CASES if not c[1]])
def test_many_sizes_are_those_of_the_eager_call(make: Any, samples: Any, inputs: Any, tmp_path: Path) -> None:
    net = made(make, False)
    graph = from_file(tmp_path, net, *samples)
    for n in [*range(1, 40 if make is Flow else 15), 2, 50]:
        _close(graph(*inputs(n)), net(*inputs(n)))


def test_a_hundred_sizes(tmp_path: Path) -> None:
    net = made(lambda: nn.SequentialCell(nn.Dense(3, 8), nn.ReLU(), nn.Dense(8, 2)), False)
    graph = from_file(tmp_path, net, free(None, 3))
    for n in range(1, 101):
        _close(graph(tensor(n, 3, seed=n)), net(tensor(n, 3, seed=n)))
    assert len(graph._segment.compilations.made) < 20


def test_gradients_for_many_sizes(tmp_path: Path) -> None:
    net = made(Positions, False)
    graph = from_file(tmp_path, net, free(None, None, 16))
    for n in (1, 2, 5, 6, 7, 9):
        found = []
        for cell in (net, graph):
            weights = {p.name: p for p in cell.trainable_params()}

            def loss(x: Any, cell: Any = cell) -> Any:
                return (cell(x) ** 2).mean()

            value, (dx, dw) = value_and_grad(loss, 0, [weights[name] for name in sorted(weights)])(tensor(n, n + 1, 16))
            found.append((value, dx, *dw))
        _close(found[1], found[0])


def test_inside_of_compiled_functions(tmp_path: Path) -> None:
    graph = from_file(tmp_path, lambda x, y: (x + y) / x.shape[0], free(None, 3), free(None, 3))
    around = weft.jit(lambda x: graph(x * 2, x) + 1)
    gradient = weft.jit(weft.grad(lambda x: (graph(x * 2, x) ** 2).sum()))
    for n in (2, 3, 4, 5, 6, 7, 2):
        x = tensor(n, 3, seed=n)
        _close(around(x), x * 3 / n + 1)
        _close(gradient(x), x * 18 / (n * n))


def test_sizes_that_must_be_equal_are_one(tmp_path: Path) -> None:
    graph = from_file(tmp_path, lambda x, y: x + y, free(None, 3), free(None, 3))
    assert flat(graph(tensor(4, 3), tensor(4, 3))) == flat(tensor(4, 3) * 2)
    with pytest.raises(ValueError, match=r"argument 1 is float32 of shape \(5, 3\).*\(s0, 3\).*s0 = 4 here"):
        graph(tensor(4, 3), tensor(5, 3))
    apart = from_file(tmp_path, lambda x, y: (x.sum(0), y * 2), free(None, 3), free(None, 3))
    first, second = apart(tensor(4, 3), tensor(5, 3))
    assert (first.shape, second.shape) == ((3,), (5, 3))


def test_what_a_graph_relies_on_is_checked(tmp_path: Path) -> None:
    net = made(Positions, False)
    graph = from_file(tmp_path, net, free(None, None, 16))
    assert graph(tensor(1, 64, 16)).shape == (1, 64, 16)

    graph = from_file(tmp_path, lambda x: x * 2 if x.shape[0] <= 64 else x, free(None, 3))
    assert graph(tensor(64, 3)).shape == (64, 3)
    with pytest.raises(ValueError, match=r"the graph holds for s0 <= 64.* with s0 = 65; it takes float32\[s0, 3\]"):
        graph(tensor(65, 3))
    graph = from_file(tmp_path, lambda x: x * 2 if x.shape[0] % 4 else x, free(None, 3))
    graph(tensor(6, 3))
    with pytest.raises(ValueError, match=r"mod\(s0, 4\) != 0"):
        graph(tensor(8, 3))


def test_other_calls_are_refused(tmp_path: Path) -> None:
    graph = from_file(tmp_path, lambda x, y: x * 2, free(None, 3), free(None))
    for x, y in (
        (tensor(0, 3), tensor(2)),
        (tensor(2, 4), tensor(2)),
        (tensor(2), tensor(2)),
        (tensor(2, 3), tensor(0)),
    ):
        with pytest.raises(ValueError, match="was exported for float32 of shape"):
            graph(x, y)
    assert graph(tensor(2, 3), tensor(9)).shape == (2, 3)


def _rows(x: Any) -> Any:
    total = ops.zeros((3,), x.dtype)
    for row in x:
        total = total + row
    return total


@pytest.mark.parametrize(
    "function",
    [
        _rows,
        lambda x: x * (x.shape[0] ** 0.5),
        lambda x: x * float(x.shape[0]),
        lambda x: x * list(range(20))[x.shape[0]],
    ],
)
def test_sizes_that_must_be_one_value_are_refused_with_the_line(function: Any, tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match=r"x\.shape\[0\]") as caught:
        export(function, free(None, 3), file_name=str(tmp_path / "net"))
    assert "test_open_sizes.py" in str(caught.value)
    assert not list(tmp_path.iterdir())


_ALONE = """
import sys
import numpy as np
from weft import Tensor
from weft.mindir import GraphCell, load
graph = GraphCell(load(sys.argv[1]))
arrays = np.load(sys.argv[2])
for key in arrays:
    sys.stdout.write(graph(Tensor(arrays[key])).asnumpy().tobytes().hex() + "\\n")
assert not any(name.startswith("tests") for name in sys.modules)
"""


def test_a_process_without_the_code_has_the_same_bits(tmp_path: Path) -> None:
    net = made(Positions, False)
    export(net, free(None, None, 16), file_name=str(tmp_path / "net"))
    inputs = {f"x{n}": tensor(n, n + 1, 16, seed=n).asnumpy() for n in (1, 2, 5)}
    np.savez(tmp_path / "inputs.npz", **inputs)
    command = [sys.executable, "-c", _ALONE, str(tmp_path / "net.mindir"), str(tmp_path / "inputs.npz")]
    lines = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout.split()
    compiled = weft.jit(net)
    assert lines == [compiled(Tensor(array)).asnumpy().tobytes().hex() for array in inputs.values()]


def test_stablehlo_with_open_sizes(tmp_path: Path) -> None:
    def relying(x: Any) -> Any:
        return x * 2 / x.shape[0] if x.shape[0] <= 64 else x

    export(relying, free(None, 3), file_name=str(tmp_path / "net"), file_format="STABLEHLO")
    (rows,) = jax.export.symbolic_shape("n", constraints=["n <= 64"])
    other = jax.export.export(jax.jit(lambda x: (x,)))(jax.ShapeDtypeStruct((rows, 3), np.float32))
    other = dataclasses.replace(other, mlir_module_serialized=(tmp_path / "net.stablehlo").read_bytes())
    for n in (1, 5, 64):
        (found,) = other.call(tensor(n, 3).asnumpy())
        np.testing.assert_allclose(found, tensor(n, 3).asnumpy() * 2 / n, rtol=1e-6)
    net = made(LeNet, False)
    export(net, free(None, 1, 28, 28), file_name=str(tmp_path / "lenet"), file_format="STABLEHLO")
    batch = jax.ShapeDtypeStruct(jax.export.symbolic_shape("n, 1, 28, 28"), np.float32)
    other = jax.export.export(jax.jit(lambda x: (x[:, 0, 0, :10],)))(batch)
    other = dataclasses.replace(other, mlir_module_serialized=(tmp_path / "lenet.stablehlo").read_bytes())
    for n in (1, 4):
        images = tensor(n, 1, 28, 28)
        np.testing.assert_allclose(other.call(images.asnumpy())[0], net(images).asnumpy(), rtol=1e-4, atol=1e-5)
    with pytest.raises(Unsupported, match="StableHLO cannot say"):
        export(
            lambda x: x * 2 if x.shape[0] % 4 else x, free(None, 3),
            file_name=str(tmp_path / "mod"), file_format="STABLEHLO",
        )  # fmt: skip


@pytest.mark.parametrize("optimizer", [nn.Momentum, nn.Adam])
def test_a_training_step_with_its_optimizer(optimizer: Any, tmp_path: Path) -> None:
    def step_of() -> tuple[Any, Any, Any]:
        weft.set_seed(1)
        net = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 1))
        rule = optimizer(net.trainable_params(), 0.1, *([0.9] if optimizer is nn.Momentum else []))
        gradient = value_and_grad(lambda x: (net(x) ** 2).mean(), None, rule.parameters)

        def step(x: Any) -> Any:
            value, gradients = gradient(x)
            rule(gradients)
            return value

        return step, net, rule

    step, _, _ = step_of()
    export(step, free(None, 4), file_name=str(tmp_path / "net"))
    graph = GraphCell(load(str(tmp_path / "net.mindir")))
    compiled = weft.jit(step_of()[0])
    for seed in range(4):
        x = tensor(6, 4, seed=seed)
        assert flat(graph(x)) == flat(compiled(x))
