"""Cell: registration, names, calling, modes, hooks, custom derivatives, printing."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import weft
from weft import dtypes, nn
from weft.autodiff.grad import GradOperation, grad
from weft.core.parameters import ParameterTuple
from weft.core.tensor import Parameter, Tensor


class Linear(nn.Cell):
    def __init__(self, size: int = 2) -> None:
        super().__init__()
        self.w = Parameter(Tensor(np.eye(size, dtype=np.float32)))
        self.act = nn.ReLU()

    def construct(self, x: Any, scale: Any = 1.0) -> Any:
        return self.act(x * self.w) * scale


class Block(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.bn = nn.BatchNorm2d(2)

    def construct(self, x: Any) -> Any:
        return self.bn(self.conv(x))


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 1, 3, has_bias=True)
        self.layer = nn.CellList([Block(), Block()])
        self.head = nn.SequentialCell(OrderedDict([("fc", nn.Dense(4, 2)), ("norm", nn.LayerNorm((2,)))]))
        self.table = nn.Embedding(3, 2)


NAMES = [
    "conv1.weight", "conv1.bias",
    "layer.0.conv.weight", "layer.0.bn.moving_mean", "layer.0.bn.moving_variance", "layer.0.bn.gamma",
    "layer.0.bn.beta",
    "layer.1.conv.weight", "layer.1.bn.moving_mean", "layer.1.bn.moving_variance", "layer.1.bn.gamma",
    "layer.1.bn.beta",
    "head.fc.weight", "head.fc.bias", "head.norm.gamma", "head.norm.beta", "table.embedding_table",
]  # fmt: skip


# -- names and registration ------------------------------------------------------------------------------------------


def test_parameters_are_named_by_their_paths() -> None:
    net = Net()
    assert [p.name for p in net.get_parameters()] == NAMES
    assert [path for path, _ in net.parameters_and_names()] == NAMES
    assert list(net.parameters_dict()) == NAMES
    trained = [p.name for p in net.trainable_params()]
    assert trained == [n for n in NAMES if "moving" not in n]
    assert [p.name for p in net.untrainable_params()] == [n for n in NAMES if "moving" in n]


def test_a_given_name_holds_until_a_parent_adds_its_path() -> None:
    class Inner(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.w = Parameter(Tensor([1.0]), name="weights")

    inner = Inner()
    assert inner.w.name == "weights"

    class Outer(nn.Cell):
        def __init__(self, auto_prefix: bool) -> None:
            super().__init__(auto_prefix)
            self.inner = Inner()

    assert Outer(True).inner.w.name == "inner.w"
    assert Outer(False).inner.w.name == "weights"


def test_update_parameters_name_puts_a_prefix_before_the_paths() -> None:
    net = Block()
    net.update_parameters_name("backbone.")
    assert net.conv.weight.name == "backbone.conv.weight"
    with pytest.raises(TypeError, match="prefix must be a str"):
        net.update_parameters_name(3)  # type: ignore[arg-type]


def test_a_shared_parameter_is_listed_once() -> None:
    class Tied(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.a = nn.Dense(2, 2)
            self.b = nn.Dense(2, 2)
            self.b.weight = self.a.weight

    assert len(Tied().trainable_params()) == 3


def test_registries_follow_the_attributes() -> None:
    net = Linear()
    version = net._version
    assert net._params == {"w": net.w}
    assert net._cells == {"act": net.act}
    net.extra = 3
    assert net._version == version + 2
    net.extra = net.extra
    assert net._version == version + 2
    del net.w
    assert net._version == version + 4
    assert "w" not in net._params
    with pytest.raises(AttributeError, match="Linear has no attribute 'w'"):
        _ = net.w
    net.act = None
    assert net._cells == {"act": None}
    assert list(net.cells()) == []


def test_a_tensor_assigned_to_a_parameter_becomes_its_value() -> None:
    net = Linear()
    w = net.w
    net.w = Tensor(np.full((2, 2), 7.0, np.float32))
    assert net.w is w
    np.testing.assert_array_equal(w.asnumpy(), 7.0)
    with pytest.raises(ValueError, match="shape"):
        net.w = Tensor([1.0])
    for wrong in (3, "a", (1.0,)):
        with pytest.raises(TypeError, match="can become another Parameter"):
            net.w = wrong
    with pytest.raises(TypeError, match="is a cell"):
        net.act = 3


class Counting(nn.Cell):
    def __init__(self, start: Any) -> None:
        super().__init__()
        self.count = Parameter(start, name="count")

    def construct(self, x: Any, restart: Any) -> Any:
        self.count += 1
        if self.count >= 5:
            self.count = restart
        return x + self.count


@pytest.mark.parametrize("compiled", [False, True])
def test_a_number_assigned_to_a_parameter_without_dimensions_becomes_its_value(compiled: bool) -> None:
    net = Counting(Tensor(3, weft.int32))
    count = net.count
    run = weft.jit(lambda x, restart: net(x, restart)) if compiled else net
    found = [run(Tensor(0.0), restart).item() for restart in (0, 0, 0, 0, 0, 2, 2, 1, True)]
    assert found == [4, 0, 1, 2, 3, 4, 2, 3, 4]
    assert net.count is count
    assert count.dtype is weft.int32
    with pytest.raises(TypeError, match="lose information"):
        run(Tensor(0.0), 1.5)


def test_replacing_a_parameter_moves_it_between_registries() -> None:
    net = Linear()
    net.w = nn.ReLU()
    assert "w" not in net._params
    assert "w" in net._cells
    net.w = Parameter(Tensor([1.0]))
    assert "w" not in net._cells


def test_lists_of_cells_are_left_alone_and_parameter_tuples_registered() -> None:
    class Holder(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.plain = [nn.Dense(2, 2)]
            self.group = ParameterTuple([Parameter(Tensor([1.0]), name="a"), Parameter(Tensor([2.0]), name="b")])

    assert [p.name for p in Holder().get_parameters()] == ["a", "b"]


@pytest.mark.parametrize("value", (Parameter(Tensor([1.0])), nn.ReLU()), ids=["parameter", "cell"])
def test_forgetting_super_init_says_so(value: Any) -> None:
    class Broken(nn.Cell):
        def __init__(self) -> None:
            self.x = value

    with pytest.raises(AttributeError, match=r"did not call super\(\).__init__\(\)"):
        Broken()


def test_forgetting_super_init_without_parameters_says_so_at_the_call() -> None:
    class Broken(nn.Cell):
        def __init__(self) -> None:
            self.x = 3

        def construct(self, x: Any) -> Any:
            return x * self.x

    with pytest.raises(AttributeError, match=r"did not call super\(\).__init__\(\)"):
        Broken()(Tensor([1.0]))


def test_insert_checks_names() -> None:
    net = Linear()
    net.insert_param_to_cell("bias", Parameter(Tensor([1.0])))
    net.insert_child_to_cell("sub", nn.Dense(1, 1))
    assert net.bias.name == "bias"
    assert net.sub.weight.name == "weight"
    with pytest.raises(KeyError, match="dot"):
        net.insert_param_to_cell("a.b", Parameter(Tensor([1.0])))
    with pytest.raises(KeyError, match="already has"):
        net.insert_child_to_cell("construct", nn.ReLU())
    with pytest.raises(TypeError, match="must be a Parameter"):
        net.insert_param_to_cell("c", 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="must be a Cell"):
        net.insert_child_to_cell("d", 3)  # type: ignore[arg-type]


def test_walking_visits_each_cell_once_parents_first() -> None:
    net = Block()
    net.again = net.conv
    paths = [path for path, _ in net.cells_and_names()]
    assert paths == ["", "conv", "bn"]
    assert list(net.name_cells()) == ["conv", "bn"]
    seen: list[str] = []
    net.apply(lambda cell: seen.append(type(cell).__name__))
    assert seen == ["Conv2d", "BatchNorm2d", "Block"]


def test_check_names_finds_two_of_a_name() -> None:
    net = Linear()
    net.other = Parameter(Tensor([1.0]), name="w")
    with pytest.raises(ValueError, match="two parameters are named 'w'"):
        net.check_names()


# -- calling ---------------------------------------------------------------------------------------------------------


def test_wrong_argument_counts_are_type_errors() -> None:
    net = Linear()
    x = Tensor([1.0, 2.0])
    with pytest.raises(TypeError, match=r"Linear takes 1 to 2 arguments but 0 were given: Linear\(x"):
        net()
    with pytest.raises(TypeError, match="but 3 were given"):
        net(x, 1, 2)
    with pytest.raises(TypeError, match="unexpected keyword argument 'nope'"):
        net(x, nope=1)
    assert net(x, scale=2.0).shape == (2, 2)
    assert net(x=x).shape == (2, 2)


def test_a_cell_without_construct_says_so() -> None:
    class Empty(nn.Cell):
        pass

    with pytest.raises(AttributeError, match="Empty defines no construct"):
        Empty()(Tensor([1.0]))


def test_graph_call_runs_in_graph_mode_only(monkeypatch: pytest.MonkeyPatch) -> None:
    from weft import context
    from weft.nn import cell as module

    calls: list[Any] = []
    monkeypatch.setattr(module, "graph_call", lambda cell, args, kwargs: calls.append((cell, args, kwargs)) or "graph")
    net = Linear()
    x = Tensor([1.0, 2.0])
    monkeypatch.setattr(context, "MODE", context.PYNATIVE_MODE)
    assert net(x).shape == (2, 2)
    monkeypatch.setattr(context, "MODE", context.GRAPH_MODE)
    assert net(x, scale=3) == "graph"
    assert calls == [(net, (x,), {"scale": 3})]


def test_training_mode_reaches_every_cell() -> None:
    net = Net()
    assert not net.training
    assert net.phase == "train"
    assert net.set_train() is net
    assert all(cell.training for _, cell in net.cells_and_names())
    net.set_train(False)
    assert not any(cell.training for _, cell in net.cells_and_names())
    assert net.phase == "predict"


def test_flags_become_attributes() -> None:
    net = nn.Cell(flags={"fast": True})
    assert net.fast
    net.add_flags(slow=False)
    assert net.get_flags() == {"fast": True, "slow": False}
    outer = Block()
    outer.add_flags_recursive(mark=1)
    assert outer.conv.mark == 1


def test_copies_are_independent() -> None:
    net = Net()
    other = copy.deepcopy(net)
    assert [p.name for p in other.get_parameters()] == NAMES
    other.conv1.weight.set_data(other.conv1.weight.value() * 0)
    assert net.conv1.weight.asnumpy().any()
    assert other.layer[0].bn.gamma is not net.layer[0].bn.gamma
    again = pickle.loads(pickle.dumps(net))
    for a, b in zip(net.get_parameters(), again.get_parameters(), strict=True):
        assert (a.name, a.requires_grad) == (b.name, b.requires_grad)
        np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())


# -- hooks -----------------------------------------------------------------------------------------------------------


def test_forward_hooks_see_and_replace() -> None:
    net = nn.ReLU()
    seen: list[Any] = []

    def before(cell: Any, inputs: Any) -> Any:
        seen.append((cell, inputs))
        return inputs[0] + 1

    def after(cell: Any, inputs: Any, output: Any) -> Any:
        seen.append((cell, inputs, output))
        return output * 10

    handles = [net.register_forward_pre_hook(before), net.register_forward_hook(after)]
    np.testing.assert_array_equal(net(Tensor([1.0, -3.0])).asnumpy(), [20.0, 0.0])
    assert seen[0][0] is net
    np.testing.assert_array_equal(seen[1][1][0].asnumpy(), [2.0, -2.0])
    for handle in handles:
        handle.remove()
        handle.remove()
    np.testing.assert_array_equal(net(Tensor([1.0, -3.0])).asnumpy(), [1.0, 0.0])
    assert len(seen) == 2
    with pytest.raises(TypeError, match="callable"):
        net.register_forward_hook(3)  # type: ignore[arg-type]


def test_backward_hooks_see_and_replace_gradients() -> None:
    class Square(nn.Cell):
        def construct(self, x: Any) -> Any:
            return x * x

    net = Square()
    seen: list[Any] = []

    def hook(cell: Any, grad_input: Any, grad_output: Any) -> Any:
        seen.append((cell, grad_input[0].asnumpy().tolist(), grad_output[0].asnumpy().tolist()))
        return (grad_input[0] * 100,)

    handle = net.register_backward_hook(hook)
    pre = net.register_backward_pre_hook(lambda cell, grad_output: (grad_output[0] * 2,))
    gradient = grad(lambda x: net(x) * 5)(Tensor([3.0]))
    np.testing.assert_array_equal(gradient.asnumpy(), [6000.0])
    assert seen == [(net, [60.0], [10.0])]
    handle.remove()
    pre.remove()
    np.testing.assert_array_equal(grad(lambda x: net(x) * 5)(Tensor([3.0])).asnumpy(), [30.0])


# -- custom derivatives and casts ------------------------------------------------------------------------------------


def test_bprop_replaces_the_derivative() -> None:
    class Custom(nn.Cell):
        def construct(self, x: Any, y: Any) -> Any:
            return x * y

        def bprop(self, x: Any, y: Any, out: Any, dout: Any) -> Any:
            return dout * 100 + out, x * 0

    gradients = GradOperation(get_all=True)(Custom())(Tensor([2.0]), Tensor([3.0]))
    np.testing.assert_array_equal([g.asnumpy() for g in gradients], [[106.0], [0.0]])
    np.testing.assert_array_equal(Custom()(Tensor([2.0]), Tensor([3.0])).asnumpy(), [6.0])
    with pytest.raises(TypeError, match="by position"):
        Custom()(Tensor([2.0]), y=Tensor([3.0]))


def test_to_float_casts_inputs_and_weights_and_gives_them_back() -> None:
    net = nn.SequentialCell(nn.Dense(2, 2, "ones"), nn.ReLU())
    net.to_float(dtypes.float16)
    out = net(Tensor([[1.0, 2.0]]))
    assert out.dtype is dtypes.float16
    assert net[0].weight.dtype is dtypes.float32
    assert isinstance(net[0].weight, Parameter)
    gradient = GradOperation(get_by_list=True)(net, net.trainable_params())(Tensor([[1.0, 2.0]]))
    assert [g.dtype for g in gradient] == [dtypes.float32, dtypes.float32]
    assert any(g.asnumpy().any() for g in gradient)
    net.to_float(None)
    assert net(Tensor([[1.0, 2.0]])).dtype is dtypes.float32
    with pytest.raises(ValueError, match="float16"):
        net.to_float(dtypes.int32)


# -- printing --------------------------------------------------------------------------------------------------------


def test_printing_nests() -> None:
    net = nn.SequentialCell(nn.Dense(2, 3), nn.SequentialCell(nn.ReLU()))
    assert repr(net) == (
        "SequentialCell(\n"
        "  (0): Dense(input_channels=2, output_channels=3, has_bias=True)\n"
        "  (1): SequentialCell(\n"
        "    (0): ReLU()\n"
        "  )\n"
        ")"
    )


# -- containers ------------------------------------------------------------------------------------------------------


def test_sequential_runs_in_order_and_slices() -> None:
    net = nn.SequentialCell([nn.Dense(2, 3), nn.ReLU(), nn.Dense(3, 1)])
    x = Tensor([[1.0, -1.0]])
    np.testing.assert_allclose(net(x).asnumpy(), net[2](net[1](net[0](x))).asnumpy())
    assert len(net) == 3
    assert [type(c).__name__ for c in net[:2]] == ["Dense", "ReLU"]
    del net[1]
    assert [p.name for p in net.get_parameters()] == ["0.weight", "0.bias", "1.weight", "1.bias"]
    net.append(nn.Dense(1, 1))
    assert net[-1].weight.name == "2.weight"
    net[1] = nn.Identity()
    assert isinstance(net[1], nn.Identity)
    with pytest.raises(IndexError):
        net[5]
    with pytest.raises(TypeError, match="holds Cells"):
        nn.SequentialCell(lambda x: x)


def test_cell_list_grows_and_names() -> None:
    cells = nn.CellList([nn.Dense(1, 1)])
    cells.append(nn.Dense(1, 1))
    cells.extend([nn.Dense(1, 1)])
    cells.insert(0, nn.ReLU())
    assert [p.name for p in cells.get_parameters()] == [f"{i}.{w}" for i in (1, 2, 3) for w in ("weight", "bias")]
    cells += [nn.ReLU()]
    assert len(cells) == 5
    assert len(cells[1:3]) == 2
    with pytest.raises(NotImplementedError, match="call its cells"):
        cells(Tensor([1.0]))


def test_cell_dict_is_a_dict() -> None:
    cells = nn.CellDict({"a": nn.Dense(1, 1), "b": nn.ReLU()})
    assert list(cells) == ["a", "b"]
    assert cells["a"].weight.name == "a.weight"
    assert "b" in cells
    cells.pop("b")
    cells.update([("c", nn.ReLU())])
    assert list(cells.keys()) == ["a", "c"]
    with pytest.raises(KeyError):
        cells["construct"] = nn.ReLU()


# -- parameter tuples ------------------------------------------------------------------------------------------------


def test_parameter_tuple_clones_with_prefix() -> None:
    group = ParameterTuple([Parameter(Tensor([1.0, 2.0]), name="w")])
    copy_ = group.clone(prefix="moments", init="zeros")
    assert copy_[0].name == "moments.w"
    np.testing.assert_array_equal(copy_[0].asnumpy(), [0.0, 0.0])
    np.testing.assert_array_equal(group.clone(prefix="x")[0].asnumpy(), [1.0, 2.0])
    with pytest.raises(TypeError, match="item 0"):
        ParameterTuple([3])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="named 'w'"):
        ParameterTuple([group[0], Parameter(Tensor([1.0]), name="w")])
    assert weft.ParameterTuple is ParameterTuple
