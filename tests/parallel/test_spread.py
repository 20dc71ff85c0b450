"""Networks over the devices of one process: layouts, strategies and parallel modes, on eight simulated devices."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import weft
from tests.parallel.test_processes import launched
from weft import Parameter, Tensor, nn, ops
from weft.context import reset_auto_parallel_context
from weft.nn.parallel import shard
from weft.parallel.layout import Layout, layout_of, place, reshard
from weft.parallel.placement import Place

PROGRAMS = Path(__file__).parent / "programs"


def run(program: str, *arguments: str) -> str:
    """What a program says; it must end well."""
    environment = {name: value for name, value in os.environ.items() if name not in ("RANK_SIZE", "WORLD_SIZE")}
    command = [sys.executable, str(PROGRAMS / f"{program}.py"), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=3000, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def equal_to_one_process(
    tmp_path: Path, workers: int, program: str, arguments: tuple[str, ...], rtol: float, atol: float
) -> None:
    """What a program writes to a file in each of several processes is what it writes in one."""
    status, _, said = launched(tmp_path, 1, program, *arguments, str(tmp_path / "alone"))
    assert status == 0, said
    status, _, said = launched(tmp_path, workers, program, *arguments, str(tmp_path / "several"))
    assert status == 0, said
    expected = np.load(tmp_path / "alone_0.npz")
    for rank in range(workers):
        found = np.load(tmp_path / f"several_{rank}.npz")
        for name in expected.files:
            np.testing.assert_allclose(found[name], expected[name], rtol=rtol, atol=atol, err_msg=f"{rank}: {name}")


@pytest.mark.parametrize(
    ("network", "combinations", "steps", "ways"),
    [
        ("recommender", 4, 3, "jit,eager"),
        ("lenet", 1, 2, "jit"),
        pytest.param("lenet", 20, 100, "jit,graph", marks=pytest.mark.slow),
        pytest.param("transformer", 20, 100, "jit,graph", marks=pytest.mark.slow),
        pytest.param("recommender", 20, 100, "jit,graph,eager", marks=pytest.mark.slow),
        pytest.param("transformer", 3, 20, "eager", marks=pytest.mark.slow),
        pytest.param("lenet", 3, 20, "eager", marks=pytest.mark.slow),
    ],
)
def test_training_in_each_mode_equals_one_device(network: str, combinations: int, steps: int, ways: str) -> None:
    assert "all agree" in run("spread", network, str(combinations), str(steps), ways)


def test_layouts_of_tensors_parameters_and_gradients() -> None:
    assert "all agree" in run("layouts")


@pytest.mark.parametrize(
    ("first", "count", "devices"),
    [
        (0, 32, 8),
        (166, 1, 8),
        (366, 1, 8),
        pytest.param(100, 400, 8, marks=pytest.mark.slow),
        pytest.param(600, 200, 6, marks=pytest.mark.slow),
    ],
)
def test_random_strategies_of_operators(first: int, count: int, devices: int) -> None:
    assert f"all agree: {count} fit" in run("strategies", str(first), str(count), str(devices))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: ops.MatMul().shard(5), TypeError, "MatMul.shard: in_strategy must be a tuple"),
        (lambda: ops.MatMul().shard([(1, 1), (1, 1)]), TypeError, "in_strategy must be a tuple"),
        (lambda: ops.MatMul().shard(((1, 1), (1, 1)), 5), TypeError, "out_strategy must be a tuple"),
        (lambda: ops.MatMul().shard((4, 1)), TypeError, "4 is no strategy"),
        (lambda: ops.MatMul().shard(((4, 1.5), (1, 1))), TypeError, "not float"),
        (lambda: ops.MatMul().shard(((4, True), (1, 1))), TypeError, "not bool"),
        (lambda: ops.MatMul().shard(((4, 0), (1, 1))), ValueError, "at least 1 part"),
        (lambda: nn.Dense(2, 2).shard(5), TypeError, "Dense.shard: in_strategy must be a tuple"),
        (lambda: shard(nn.Dense(2, 2), ((1,), 5)), TypeError, "5 is no strategy"),
        (lambda: shard(nn.Dense(2, 2), None, None, {"wieght": (1, 1)}), ValueError, "did you mean 'weight'"),
        (lambda: nn.Dense(2, 2).shard(None, None, {"wieght": (1, 1)}), ValueError, "did you mean 'weight'"),
        (lambda: shard(nn.Dense(2, 2), None, None, {"weight": (1,)}), ValueError, "has 2 dimensions"),
        (lambda: shard(nn.Dense(2, 2), None, None, {"weight": 1}), TypeError, "1 is no strategy"),
        (lambda: shard(nn.Dense(2, 2), None, None, {1: (1, 1)}), TypeError, "names of parameters"),
        (lambda: shard(ops.relu, None, None, {"weight": (1, 1)}), TypeError, "for a Cell"),
        (lambda: shard(ops.relu, ((1,),))(Tensor([[1.0]])), ValueError, "shard: input 0 .* has 2 dimensions"),
        (lambda: weft.context.set_auto_parallel_context(dataset_strategy=(4, 1)), TypeError, "4 is no strategy"),
        (lambda: weft.context.set_auto_parallel_context(dataset_strategy=None), ValueError, "'full_batch'"),
    ],
)
def test_what_can_be_no_strategy(call: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()  # type: ignore[operator]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("strategy", "words"),
    [
        (((1, 1), (1, 1), (1,)), r"3 strategies, .* for 2 tensors"),
        (((1, 1),), r"1 strategies, .* for 2 tensors"),
        (((1,), (1, 1)), r"dataset_strategy: input 0 of shape \(4, 2\) has 2 dimensions"),
    ],
)
def test_strategies_of_data_fit_the_inputs(compiled: bool, strategy: object, words: str) -> None:
    net = nn.WithLossCell(nn.Dense(2, 2), nn.MSELoss())
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1))
    x = Tensor(np.ones((4, 2), np.float32))
    try:
        weft.context.set_auto_parallel_context(parallel_mode="semi_auto_parallel", dataset_strategy=((1, 1), (1, 1)))
        step(x, x)
        weft.context.set_auto_parallel_context(dataset_strategy=strategy)
        with pytest.raises(ValueError, match=words):
            (weft.jit(step) if compiled else step)(x, x)
    finally:
        reset_auto_parallel_context()


def test_tensors_on_different_devices_are_mixed() -> None:
    assert "all agree" in run("mixing")


def test_on_one_device_layouts_are_checked_and_change_nothing() -> None:
    grid = Layout((4, 2), ("dp", "mp"))
    x = Tensor([[1.0, 2.0]] * 4)
    assert reshard(x, grid("dp", "mp")) is x
    weight = Parameter(x, name="weight")
    assert place(weight, grid("dp")) is weight
    assert weight.place is None
    assert layout_of(weight) is None
    assert repr(grid("dp", ("mp",), "None")) == "Layout((4, 2), ('dp', 'mp'))('dp', 'mp', 'None')"


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x, grid: reshard(x, grid("dp", "None", "mp")), ValueError, "3 dimensions"),
        (lambda x, grid: reshard(x, grid("None", "dp")), ValueError, "dimension 1 .* 4 equal parts"),
        (lambda x, grid: reshard(x, grid("mp", "mp")), ValueError, "one dimension only"),
        (lambda x, grid: reshard(x, grid), ValueError, "call the layout"),
        (lambda x, grid: reshard(x, (2, 1)), TypeError, "must be a Layout"),
        (lambda x, grid: reshard(1.0, grid("dp")), TypeError, "must be a Tensor"),
        (lambda x, grid: place(x, grid("dp")), TypeError, "must be a Parameter"),
        (lambda x, grid: layout_of([1.0]), TypeError, "must be a Tensor"),
    ],
)
def test_wrong_layouts(call: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call(Tensor([[1.0, 2.0]] * 4), Layout((4, 2), ("dp", "mp")))  # type: ignore[operator]


def test_strategies_change_nothing_on_one_device() -> None:
    weft.set_context(mode=weft.PYNATIVE_MODE)
    try:
        weft.context.set_auto_parallel_context(parallel_mode="semi_auto_parallel")
        product = ops.MatMul().shard(((4, 1), (1, 2)))
        x, y = Tensor([[1.0, 2.0]]), Tensor([[1.0], [2.0]])
        assert float(product(x, y)) == float(weft.jit(product)(x, y)) == 5.0
    finally:
        reset_auto_parallel_context()


def test_parts_of_a_place() -> None:
    where = Place((2, 4), ("dp", "mp"), tuple(range(8)), (("dp", "mp"), ()))
    assert where.parts == (8, 1)
    assert where.fits((16, 3))
    assert not where.fits((12, 3))
    assert not where.fits((16,))


@pytest.mark.parametrize(
    ("workers", "kind"),
    [
        (2, ("jit", "data_parallel", "2")),
        pytest.param(4, ("graph", "data_parallel", "0"), marks=pytest.mark.slow),
        pytest.param(4, ("eager", "full_batch", "0"), marks=pytest.mark.slow),
        pytest.param(4, ("eager", "data_parallel", "3"), marks=pytest.mark.slow),
        pytest.param(4, ("jit", "full_batch", "1"), marks=pytest.mark.slow),
    ],
)
def test_networks_spread_over_processes_equal_one(tmp_path: Path, workers: int, kind: tuple[str, ...]) -> None:
    equal_to_one_process(tmp_path, workers, "spanning", kind, rtol=1e-5, atol=1e-6)


def disagree(tmp_path: Path, program: Path, line: int, differences: Sequence[str]) -> None:
    """Two processes of a program come to different operations in one of its lines, which all logs name, and with it
    what is different.
    """
    status, logs, said = launched(tmp_path, 2, str(program.with_suffix("")))
    assert status != 0
    assert "different operations" in said
    for log in logs:
        assert f"{program.name}:{line}" in log
        told = log.partition("the first difference:")[2]
        assert all(difference in told for difference in differences), log


def test_operators_of_layers() -> None:
    assert "all agree" in run("operators_of_layers")


def test_strategies_that_are_given_again() -> None:
    assert "compiled anew" in run("strategies_again")


def test_an_exchange_of_the_program_in_a_spread_network(tmp_path: Path) -> None:
    status, logs, said = launched(tmp_path, 2, "exchanging_spread")
    assert status == 0, said
    assert all("all agree" in log for log in logs)


def test_values_that_should_be_the_same_in_all_processes(tmp_path: Path) -> None:
    program = tmp_path / "differ.py"
    program.write_text(
        "import weft\n"
        "from weft import Parameter, Tensor, nn, ops\n"
        "from weft.parallel import communication as comm\n"
        "comm.init()\n"
        "weft.context.set_auto_parallel_context(parallel_mode='semi_auto_parallel', dataset_strategy='full_batch')\n"
        "w = Parameter(Tensor([[1.0, 2.0], [3.0, 4.0 + comm.get_rank()]]), name='w')\n"
        "print(ops.MatMul().shard(((2, 1), (1, 1)))(Tensor([[1.0, 2.0], [3.0, 4.0]]), w))\n"
    )
    disagree(tmp_path, program, 7, ("[[1.0, 2.0], [3.0, 4.0]]", "[[1.0, 2.0], [3.0, 5.0]]"))


def test_a_layout_in_a_graph_is_agreed_on(tmp_path: Path) -> None:
    program = tmp_path / "other_layout.py"
    program.write_text(
        "import numpy as np\n"
        "from weft import Tensor, jit\n"
        "from weft.parallel import communication as comm\n"
        "from weft.parallel.layout import Layout, reshard\n"
        "comm.init()\n"
        "grid = Layout((2,), ('a',))\n"
        "x = Tensor(np.arange(32, dtype=np.float32).reshape(8, 4))\n"
        "same = jit(lambda a: reshard(a * 2, grid('a')))(x)\n"
        "assert same.asnumpy().sum() == 992.0\n"
        "mine = grid('None', 'a') if comm.get_rank() == 0 else grid('a')\n"
        "print(jit(lambda a: reshard(a * 2, mine))(x))\n"
    )
    disagree(tmp_path, program, 11, ("ShardingConstraint",))


def test_what_differs_in_steps_of_training_is_named(tmp_path: Path) -> None:
    program = tmp_path / "steps.py"
    lines = [
        "import sys",
        "import numpy as np",
        "from weft import GRAPH_MODE, Tensor, nn, set_context, set_seed",
        "from weft.parallel import communication as comm",
        "from weft import context",
        "comm.init()",
        "context.set_auto_parallel_context(parallel_mode='semi_auto_parallel')",
        "set_context(mode=GRAPH_MODE)",
        "set_seed(1)",
        "net = nn.SequentialCell(nn.Dense(8, 16), nn.Dense(16, 4))",
        "optimizer = nn.Adam(net.trainable_params(), {rate}, eps={eps})",
        "step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer)",
        "x, y = Tensor(np.ones((4, 8), np.float32)), Tensor(np.ones((4, 4), np.float32))",
        "for _ in range(2): step(x, y)",
    ]
    mine = "0.5 if comm.get_rank() else 0.25"
    program.write_text("\n".join(lines).format(rate=mine, eps=0.5))
    disagree(tmp_path, program, 14, ("(%learning_rate)", "which is 0.25", "which is 0.5"))
    program.write_text("\n".join(lines).format(rate=0.5, eps=mine))
    disagree(tmp_path, program, 14, ("AdamUpdate", "0.9, 0.999, 0.25", "0.9, 0.999, 0.5"))


def test_tensors_on_grids_of_different_processes_are_not_mixed(tmp_path: Path) -> None:
    program = tmp_path / "mixed.py"
    program.write_text(
        "import numpy as np\n"
        "from weft import Tensor, jit\n"
        "from weft.parallel import communication as comm\n"
        "from weft.parallel.layout import Layout, reshard\n"
        "comm.init()\n"
        "x = Tensor(np.arange(32, dtype=np.float32).reshape(8, 4))\n"
        "straight = reshard(x, Layout((2,), ('a',))('a'))\n"
        "turned = reshard(x, Layout((2,), ('a',), [1, 0])('a'))\n"
        "try:\n"
        "    straight + turned\n"
        "except ValueError as error:\n"
        "    assert '[0, 1] and [1, 0]' in str(error) and 'reshard' in str(error), error\n"
        "else:\n"
        "    raise AssertionError('not refused')\n"
        "print((straight * 2).sum())\n"
    )
    status, _, said = launched(tmp_path, 2, str(program.with_suffix("")))
    assert status == 0, said


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"dataset_strategy": "all"}, "must be 'data_parallel', 'full_batch'"),
        ({"parallel_optimizer_config": {"optimizer_level": "level9"}}, "optimizer_level"),
        ({"parallel_optimizer_config": {"parallel_optimizer_threshold": -1}}, "at least 0"),
        ({"parallel_optimizer_config": {"optimizer_weight_shard_size": "a"}}, "an int"),
        ({"parallel_optimizer_config": {"sizes": 3}}, "no option 'sizes'"),
    ],
)
def test_wrong_settings(settings: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        weft.context.set_auto_parallel_context(**settings)
