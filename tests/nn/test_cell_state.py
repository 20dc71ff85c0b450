"""The state of Cells: buffers in both modes, `state_dict` and `load_state_dict`, element types, checkpoints."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import weft
from weft import nn, ops, train
from weft.core.parameters import ParameterTuple
from weft.core.tensor import Parameter, Tensor


class Counting(nn.Cell):
    def __init__(self, how: str = "read") -> None:
        super().__init__()
        self.register_buffer("count", Tensor([0.0]))
        self.how = how

    def construct(self, x: Any) -> Any:
        if self.how == "assign":
            self.count = self.count + 1
        elif self.how == "operator":
            self.count += 1
        elif self.how == "in place":
            self.count.add_(1)
        elif self.how == "ops":
            ops.assign(self.count, self.count + 1)
        elif self.how == "branch":
            if x.sum() > 0:
                self.count = self.count + 1
            else:
                self.count.add_(2)
        elif self.how == "loop":
            total = x * 0
            for buffer in self.buffers():
                total = total + buffer
            return total
        return x * self.count


class Outer(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Counting()
        self.w = Parameter(Tensor([3.0]))
        self.register_buffer("kept", Tensor([1, 2]))
        self.register_buffer("passing", Tensor([5.0]), persistent=False)
        self.register_buffer("nothing", None)

    def construct(self, x: Any) -> Any:
        return self.inner(x) * self.w + self.kept.sum()


# -- buffers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["assign", "operator", "in place", "ops", "branch", "read", "loop"])
def test_graphs_read_and_write_buffers_like_python(how: str) -> None:
    eager, compiled, graph = Counting(how), Counting(how), Counting(how)
    call = weft.jit(lambda x: compiled(x))
    for step, value in enumerate([2.0, 3.0, -1.0, 4.0, 5.0]):
        x = Tensor([value])
        wanted = eager(x)
        np.testing.assert_array_equal(call(x), wanted)
        weft.set_context(mode=weft.GRAPH_MODE)
        try:
            got = graph(x)
        finally:
            weft.set_context(mode=weft.PYNATIVE_MODE)
        np.testing.assert_array_equal(got, wanted)
        for net in (compiled, graph):
            np.testing.assert_array_equal(net.count, eager.count)
        if step == 2:
            for net in (eager, compiled, graph):
                net.count = Tensor([10.0])
        if step == 3:
            for net in (eager, compiled, graph):
                net.register_buffer("count", Tensor([20.0]))


def test_a_gradient_goes_past_buffers() -> None:
    net = Counting()
    net.count = Tensor([4.0])
    np.testing.assert_array_equal(weft.grad(net)(Tensor([2.0])), [4.0])
    np.testing.assert_array_equal(weft.jit(weft.grad(net))(Tensor([2.0])), [4.0])
    net.count = Tensor([7.0])
    np.testing.assert_array_equal(weft.jit(weft.grad(net))(Tensor([2.0])), [7.0])
    assert list(net.get_parameters()) == []


def test_buffers_are_listed_by_path() -> None:
    net = Outer()
    assert [name for name, _ in net.named_buffers()] == ["kept", "passing", "inner.count"]
    assert [name for name, _ in net.named_buffers("a", recurse=False)] == ["a.kept", "a.passing"]
    assert list(map(id, net.buffers())) == [id(net.kept), id(net.passing), id(net.inner.count)]
    net.passing = net.inner.count
    assert [name for name, _ in net.named_buffers()] == ["kept", "passing"]
    assert len(list(net.named_buffers(remove_duplicate=False))) == 3
    assert list(net._buffers) == ["kept", "passing", "nothing"]
    assert net.get_buffer("inner.count") is net.inner.count
    assert net.get_sub_cell("inner") is net.inner
    assert net.get_sub_cell("") is net
    for target in ("inner.other", "other", "inner", "w"):
        with pytest.raises(AttributeError):
            net.get_buffer(target)
    for target in ("other", "kept"):
        with pytest.raises(AttributeError):
            net.get_sub_cell(target)


def test_attributes_that_are_buffers_stay_that() -> None:
    net = Outer()
    net.nothing = Tensor([1.0])
    assert "nothing" in net.state_dict()
    net.kept = None
    assert "kept" not in net.state_dict()
    assert net.kept is None
    with pytest.raises(TypeError, match="buffer"):
        net.passing = 3
    for value in (Parameter(Tensor([1.0])), nn.ReLU()):
        with pytest.raises(KeyError, match="buffer"):
            net.passing = value
    del net.passing
    assert [name for name, _ in net.named_buffers()] == ["nothing", "inner.count"]
    net.passing = nn.ReLU()
    bad: list[tuple[type[Exception], Any, Any]] = [
        (TypeError, 3, Tensor([1.0])), (KeyError, "", Tensor([1.0])), (KeyError, "a.b", Tensor([1.0])),
        (KeyError, "inner", Tensor([1.0])), (KeyError, "w", Tensor([1.0])), (TypeError, "b", 1.0),
        (TypeError, "b", np.ones(1)),
    ]  # fmt: skip
    for kind, name, value in bad:
        with pytest.raises(kind, match="register_buffer"):
            net.register_buffer(name, value)


def test_copies_have_buffers_of_their_own() -> None:
    net = Outer()
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert other.kept is not net.kept
        assert list(other.state_dict()) == list(net.state_dict())
        other.inner.count.add_(1)
    np.testing.assert_array_equal(net.inner.count, [0.0])


@pytest.mark.parametrize("how", ["read", "assign", "in place"])
def test_to_float_casts_buffers(how: str) -> None:
    net, same = Counting(how).to_float(weft.float16), Counting(how).to_float(weft.float16)
    call = weft.jit(lambda x: same(x))
    for step in range(3):
        x = Tensor([2.0])
        out = net(x)
        assert out.dtype is weft.float16
        again = call(x)
        assert again.dtype is weft.float16
        np.testing.assert_array_equal(out, again)
        np.testing.assert_array_equal(out, [0.0 if how == "read" else 2.0 * (step + 1)])
        np.testing.assert_array_equal(net.count, same.count)
    if how == "in place":
        assert net.count.dtype is weft.float32


# -- state_dict ---------------------------------------------------------------------------------------------------


def test_the_state_is_the_tensors_by_path() -> None:
    net = Outer()
    state = net.state_dict()
    assert type(state) is OrderedDict
    assert list(state) == ["w", "kept", "inner.count"]
    assert state["w"] is net.w
    assert state["inner.count"] is net.inner.count
    assert list(net.state_dict(prefix="p.")) == ["p.w", "p.kept", "p.inner.count"]
    into: dict[str, Any] = {"a": 1}
    assert net.state_dict(into, "q.") is into
    assert list(into) == ["a", "q.w", "q.kept", "q.inner.count"]
    shared = Counting()
    assert list(nn.CellList([shared, shared]).state_dict()) == ["0.count", "1.count"]


def test_a_state_is_loaded_in_place() -> None:
    net, other = Outer(), Outer()
    other.w.set_data(Tensor([8.0]))
    other.inner.count.add_(6)
    call = weft.jit(lambda x: net(x))
    call(Tensor([1.0]))
    held = net.w, net.kept, net.inner.count
    found = net.load_state_dict(other.state_dict())
    assert found == ([], [])
    assert repr(found) == "<All keys matched successfully>"
    assert held == (net.w, net.kept, net.inner.count) or all(
        a is b for a, b in zip(held, (net.w, net.kept, net.inner.count), strict=True)
    )
    np.testing.assert_array_equal(call(Tensor([1.0])), [51.0])
    net.load_state_dict({"w": Tensor([2]), "kept": Tensor([1.0, 1.0]), "inner.count": Tensor([1])})
    assert net.w.dtype is weft.float32
    assert net.kept.dtype is weft.int64
    np.testing.assert_array_equal(call(Tensor([1.0])), [4.0])
    np.testing.assert_array_equal(other.inner.count, [6.0])


def test_what_does_not_fit_is_said() -> None:
    net = Outer()
    state = dict(net.state_dict())
    without = {name: value for name, value in state.items() if name != "kept"}
    more = {**state, "x": Tensor([1.0]), "inner.y": Tensor([1.0]), "w.z": Tensor([1.0]), "nothing": Tensor([1.0])}
    assert net.load_state_dict(without, strict=False) == (["kept"], [])
    assert net.load_state_dict(more, strict=False) == ([], ["x", "w.z", "nothing", "inner.y"])
    for wrong in (without, more, {**state, "kept": Tensor([1])}, {**state, "kept": np.ones(2)}):
        with pytest.raises(RuntimeError, match="loading state_dict for Outer"):
            net.load_state_dict(wrong)
    with pytest.raises(TypeError):
        net.load_state_dict([1])  # type: ignore[arg-type]


def test_more_state_and_hooks() -> None:
    class More(Counting):
        taken: Any = None

        def get_extra_state(self) -> Any:
            return {"a": 1}

        def set_extra_state(self, state: Any) -> None:
            self.taken = state

    net = nn.SequentialCell(More())
    events: list[Any] = []
    handles = [
        net.register_state_dict_pre_hook(lambda cell, prefix, keep: events.append(("before", prefix, keep))),
        net[0].register_state_dict_post_hook(lambda cell, state, prefix, noted: events.append((list(state), prefix))),
        net.register_load_state_dict_pre_hook(lambda cell, *given: events.append(given[1:4])),
        net[0].register_load_state_dict_post_hook(lambda cell, found: found.missing_keys.clear()),
    ]
    state = net.state_dict()
    assert list(state) == ["0.count", "0._extra_state"]
    assert events == [("before", "", False), (["0.count", "0._extra_state"], "0.")]
    events.clear()
    net.load_state_dict({"0.count": Tensor([2.0])})
    assert net[0].taken is None
    assert events == [("", {}, True)]
    net.load_state_dict(state)
    assert net[0].taken == {"a": 1}
    for handle in handles:
        handle.remove()
    with pytest.raises(RuntimeError, match="Missing"):
        net.load_state_dict({"0.count": Tensor([2.0])})
    net.register_state_dict_post_hook(lambda *given: 1)
    with pytest.raises(RuntimeError, match="must return None"):
        net.state_dict()
    with pytest.raises(RuntimeError):
        Counting().get_extra_state()


def test_to_changes_element_types_of_the_same_tensors() -> None:
    net = Outer()
    call = weft.jit(lambda x: net(x))
    assert call(Tensor([1.0])).dtype is weft.float32
    held = net.w
    assert net.to(weft.float16) is net
    assert net.w is held
    assert (net.w.dtype, net.inner.count.dtype, net.kept.dtype) == (weft.float16, weft.float16, weft.int64)
    assert call(Tensor([1.0], weft.float16)).dtype is weft.float16
    assert call(Tensor([1.0])).dtype is weft.float32
    assert net.to(Tensor([1.0])).w.dtype is weft.float32
    assert net.to("CPU", weft.float16, False).w.dtype is weft.float16
    assert net.to(device="CPU").to().to_empty(device="CPU").w.dtype is weft.float16
    with pytest.warns(UserWarning, match="complex"):
        assert net.to(dtype=weft.complex64).w.dtype is weft.complex64
    for given in ((weft.int32,), (1,), ("CPU", weft.float16, False, 1), (weft.float16, 1)):
        with pytest.raises(TypeError):
            net.to(*given)
    with pytest.raises(TypeError):
        net.to(foo=1)
    with pytest.raises(ValueError, match="device"):
        net.to("Foo")


@pytest.mark.parametrize("format", ["ckpt", "safetensors"])
def test_checkpoints_have_buffers_that_are_kept(tmp_path: Any, format: str) -> None:
    net, other = Outer(), Outer()
    net.inner.count.add_(4)
    net.kept = Tensor([7, 8])
    path = str(tmp_path / f"net.{format}")
    train.save_checkpoint(net, path)
    found = train.load_checkpoint(path)
    assert sorted(found) == ["inner.count", "kept", "w"]
    assert train.load_param_into_net(other, found) == ([], [])
    np.testing.assert_array_equal(other.inner.count, [4.0])
    np.testing.assert_array_equal(other.kept, [7, 8])
    assert train.load_param_into_net(other, {"w": Tensor([1.0])}, strict_load=True) == ([], [])
    train.save_checkpoint(net.state_dict(), path)
    assert Outer().load_state_dict(train.load_checkpoint(path)) == ([], [])
    with pytest.raises(weft.errors.CheckpointError, match="kept"):
        train.load_param_into_net(other, {"kept": Tensor([1])})


# -- the rest -----------------------------------------------------------------------------------------------------


def test_parameters_are_replaced_by_what_a_hook_makes_of_them() -> None:
    net = Outer()
    net.inner.count = Tensor([2.0])
    net.register_parameter_forward_hook([{"params": [net.w], "hook": lambda param: param * 10}])
    for call in (net, weft.jit(lambda x: net(x))):
        value, grads = weft.value_and_grad(call, None, ParameterTuple([net.w]))(Tensor([1.0]))
        np.testing.assert_array_equal(value, [63.0])
        np.testing.assert_array_equal(grads[0], [20.0])
    dense = nn.Dense(2, 1, weight_init="ones", has_bias=False)
    dense.register_parameter_forward_hook(lambda param: param + 1)
    np.testing.assert_array_equal(dense(Tensor([[1.0, 2.0]])), [[6.0]])
    for kind, hook in ((TypeError, 3), (ValueError, [{"params": []}]), (TypeError, [{"params": [1], "hook": abs}])):
        with pytest.raises(kind):
            net.register_parameter_forward_hook(hook)


def test_calls_under_other_names() -> None:
    net = nn.Dense(2, 1, weight_init="ones")
    x = Tensor([[1.0, 2.0]])
    assert net.compile(x) is None
    with pytest.raises(TypeError):
        net.compile()
    np.testing.assert_array_equal(net.compile_and_run(x), [[3.0]])
    np.testing.assert_array_equal(net.run_construct((x,), {}), [[3.0]])
    assert net.cast_inputs((x, 3), weft.float16)[0].dtype is weft.float16
    assert net.set_broadcast_flag() is net
    assert net.set_data_parallel() is None
    net.update_cell_type("quant")
    assert net.cell_type == "quant"
    assert net.exist_names == set()
    assert net.jit_config_dict == {}
    for wrong, kind in (("x", ValueError), (0, ValueError), (1.5, TypeError)):
        with pytest.raises(kind):
            net.offload(wrong)  # type: ignore[arg-type]
    net.offload(2)
    net.pipeline_segment = 1
    outer = nn.SequentialCell(net)
    outer.update_cell_prefix()
    assert outer[0].param_prefix == "0"
    assert outer.pipeline_segment is None
    assert net.get_mixed_precision_type() == 0
    net.to_float(weft.float16)
    assert net.get_mixed_precision_type() == 1
    net.set_mixed_precision_type(2)  # type: ignore[arg-type]
    assert net(x).dtype is weft.float32
    assert net.get_mixed_precision_type() == 2


def test_facts_of_parameters() -> None:
    p = Parameter(Tensor([1.0, 2.0]), name="p")
    assert (p.key, p.comm_fusion, p.sliced, p.inited_param, p.parallel_optimizer) == (-1, 1, False, None, True)
    p.add_pipeline_stage(1)
    for wrong, kind in ((-1, ValueError), ("a", TypeError)):
        with pytest.raises(kind):
            p.add_pipeline_stage(wrong)  # type: ignore[arg-type]
    assert p.init_data(layout=None, set_sliced=False) is p
    call = weft.jit(lambda: p * 2)
    assert call().dtype is weft.float32
    assert p.set_dtype(weft.float16) is weft.float16
    assert p.dtype is weft.float16
    assert call().dtype is weft.float16
    with pytest.raises(ValueError, match="name"):
        Parameter(Tensor([1.0]), name=3)  # type: ignore[arg-type]
    for what in ("requires_grad", "layerwise_parallel", "parallel_optimizer"):
        with pytest.raises(TypeError, match=what):
            Parameter(Tensor([1.0]), **{what: 3})
