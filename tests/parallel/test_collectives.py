"""Collectives in one process: what each gives, eagerly, compiled, in gradients and mapped, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import weft
from weft import ops
from weft.ops import distributed, exchanges
from weft.parallel import communication as comm
from weft.parallel.world import SeveralProcesses

X = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], np.float32)


@pytest.fixture(autouse=True)
def _one_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("RANK_SIZE", "WORLD_SIZE", "MS_WORKER_NUM", "OMPI_COMM_WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    comm.init()
    comm.create_group("own", [0])
    yield
    comm.release()


KEPT: dict[str, Callable[[], Callable[[Any], Any]]] = {
    **{f"all_reduce_{op}": (lambda op=op: ops.AllReduce(op)) for op in ("sum", "max", "min", "prod", "avg")},
    "all_reduce_group": lambda: ops.AllReduce(group="own"),
    "reduce": lambda: ops.Reduce(0),
    "all_gather": lambda: ops.AllGather("nccl_world_group"),
    "reduce_scatter": lambda: ops.ReduceScatter(ops.ReduceOp.SUM),
    "collective_gather": lambda: ops.CollectiveGather(0),
    "collective_scatter": lambda: ops.CollectiveScatter(),
    "all_to_all": lambda: ops.AlltoAll(1, -1, 0),
    "all_to_all_v": lambda: lambda x: ops.AlltoAllV()(x, [6], [6]).reshape((2, 3)),
    "broadcast": lambda: lambda x: ops.Broadcast(0)((x,))[0],
    "neighbor_exchange": lambda: lambda x: ops.NeighborExchange([0], [0], ([2, 3],), ([2, 3],), weft.float32)((x,))[0],
    "function_all_reduce": lambda: lambda x: exchanges.all_reduce(x)[0],
    "function_all_gather": lambda: lambda x: exchanges.all_gather_into_tensor(x, "own")[0],
    "function_reduce_scatter": lambda: lambda x: exchanges.reduce_scatter_tensor(x)[0],
    "function_broadcast": lambda: exchanges.broadcast,
    "function_reduce": lambda: lambda x: exchanges.reduce(x, 0),
    "function_gather": lambda: exchanges.gather_into_tensor,
    "function_scatter": lambda: exchanges.scatter_tensor,
    "function_all_to_all": lambda: lambda x: exchanges.all_to_all_with_output_shape([x.shape], [x])[0][0],
    "function_all_to_all_single": lambda: (
        lambda x: exchanges.all_to_all_single_with_output_shape(x.shape, x, [2], [2])[0]
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_one_process_keeps_what_it_has(name: str) -> None:
    collective = KEPT[name]()

    def loss(x: weft.Tensor) -> weft.Tensor:
        return (collective(x * 2) * x).sum()

    compiled, derived = weft.jit(lambda x: collective(x * 2)), weft.jit(weft.grad(loss))
    for value in (X, X + 1, -X):
        x = weft.Tensor(value)
        np.testing.assert_array_equal(collective(x * 2).asnumpy(), value * 2)
        np.testing.assert_array_equal(compiled(x).asnumpy(), value * 2)
        np.testing.assert_array_equal(weft.grad(loss)(x).asnumpy(), value * 4)
        np.testing.assert_array_equal(derived(x).asnumpy(), value * 4)
        mapped = weft.vmap(lambda row: collective(row + 1))
        rows = weft.Tensor(np.stack([value, value]))
        np.testing.assert_array_equal(mapped(rows).asnumpy(), rows.asnumpy() + 1)


def test_several_tensors_at_once() -> None:
    found = ops.Broadcast(0)((weft.Tensor(X), weft.Tensor([1, 2])))
    assert isinstance(found, tuple)
    assert [x.shape for x in found] == [(2, 3), (2,)]
    assert ops.Broadcast(0)(()) == ()
    assert ops.NeighborExchange([], [], (), (), weft.float32)(()) == ()


def test_handles() -> None:
    x = weft.Tensor(X)
    assert exchanges.all_reduce(x)[1] is None
    handle = exchanges.all_reduce(x, async_op=True)[1]
    assert handle is not None
    handle.wait()
    assert handle.is_completed()
    with pytest.raises(TypeError, match="async_op"):
        exchanges.all_reduce(x, async_op=1)  # type: ignore[arg-type]
    ops.Barrier()()
    exchanges.barrier()


@pytest.mark.parametrize(
    "call",
    [
        lambda x: ops.Broadcast(1),
        lambda x: ops.Reduce(2),
        lambda x: ops.CollectiveScatter(3),
        lambda x: ops.AlltoAll(2, 0, 1),
        lambda x: ops.AlltoAllV()(x, [3, 3], [3, 3]),
        lambda x: ops.NeighborExchange([1], [1], ([2],), ([2],), weft.float32),
        lambda x: ops.Send(0, 1)(x),
        lambda x: ops.Receive(0, 1, [2], weft.float32)(),
        lambda x: exchanges.send(x, 1),
        lambda x: exchanges.recv(x, 1),
        lambda x: exchanges.broadcast(x, 1),
        lambda x: exchanges.batch_isend_irecv([exchanges.P2POp("isend", x, 1)]),
        lambda x: exchanges.all_to_all_with_output_shape([(2,), (2,)], [x, x]),
        lambda x: distributed.all_gather([x, x], x),
        lambda x: distributed.all_gather_object([None, None], 1),
        lambda x: distributed.init_process_group(world_size=8, rank=3),
        lambda x: distributed.new_group([0, 1]),
        lambda x: distributed.send_object_list([1], 1),
        lambda x: distributed.recv_object_list([1], 1),
    ],
)
def test_other_processes_are_refused(call: Callable[[Any], Any]) -> None:
    with pytest.raises(SeveralProcesses, match="one process, rank 0 of 1"):
        call(weft.Tensor(X))


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda x: ops.AllReduce(3), TypeError),
        (lambda x: ops.AllReduce("foo"), ValueError),
        (lambda x: ops.AllReduce(group=3), TypeError),
        (lambda x: ops.AllReduce()(3.0), TypeError),
        (lambda x: ops.AllReduce(group="nonesuch")(x), RuntimeError),
        (lambda x: ops.AllGather()(weft.Tensor(3.0)), ValueError),
        (lambda x: ops.ReduceScatter()(weft.Tensor(3.0)), ValueError),
        (lambda x: ops.Broadcast("a"), TypeError),
        (lambda x: ops.AlltoAll(1, 2, 0)(x), ValueError),
        (lambda x: ops.AlltoAll(0, 0, 0), ValueError),
        (lambda x: ops.AlltoAllV()(x, [5], [5]), ValueError),
        (lambda x: ops.AlltoAllV(block_size=0), ValueError),
        (lambda x: ops.NeighborExchange(0, 0, (), (), weft.float32), TypeError),
        (lambda x: exchanges.all_to_all_with_output_shape([(3, 2)], [x]), ValueError),
        (lambda x: exchanges.all_to_all_single_with_output_shape((2, 3), x, [1]), ValueError),
    ],
)
def test_wrong_arguments(call: Callable[[Any], Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        call(weft.Tensor(X))


WRITTEN: dict[str, Callable[[Any, Any], None]] = {
    "all_gather": lambda out, x: distributed.all_gather([out], x),
    "all_gather_into_tensor": distributed.all_gather_into_tensor,
    "all_gather_uneven": lambda out, x: distributed.all_gather_into_tensor_uneven(out, x, [2]),
    "reduce_scatter": lambda out, x: distributed.reduce_scatter(out, [x]),
    "reduce_scatter_tensor": distributed.reduce_scatter_tensor,
    "reduce_scatter_uneven": lambda out, x: distributed.reduce_scatter_tensor_uneven(out, x, [2]),
    "all_to_all": lambda out, x: distributed.all_to_all([out], [x]),
    "all_to_all_single": distributed.all_to_all_single,
    "gather": lambda out, x: distributed.gather(x, [out]),
    "scatter": lambda out, x: distributed.scatter(out, [x]),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_functions_that_write(name: str) -> None:
    def run(out: weft.Tensor, x: weft.Tensor) -> weft.Tensor:
        assert WRITTEN[name](out, x * 2) is None
        return out + 1

    compiled = weft.jit(run)
    for function in (run, compiled, compiled):
        out = weft.Tensor(np.zeros((2, 3), np.float32))
        np.testing.assert_array_equal(function(out, weft.Tensor(X)).asnumpy(), X * 2 + 1)
        np.testing.assert_array_equal(out.asnumpy(), X * 2)


def test_functions_that_write_in_place() -> None:
    for call in (distributed.all_reduce, lambda x: distributed.reduce(x, 0), lambda x: distributed.broadcast(x, 0)):

        def run(x: weft.Tensor, call: Any = call) -> weft.Tensor:
            call(x)
            return x * 3

        for function in (run, weft.jit(run)):
            x = weft.Tensor(X)
            np.testing.assert_array_equal(function(x).asnumpy(), X * 3)
            np.testing.assert_array_equal(x.asnumpy(), X)


def test_objects() -> None:
    def run(x: weft.Tensor, places: list[Any]) -> weft.Tensor:
        distributed.all_gather_object(places, {"a": 3})
        return x * places[0]["a"]

    for function in (run, weft.jit(run)):
        places = [None]
        np.testing.assert_array_equal(function(weft.Tensor(X), places).asnumpy(), X * 3)
        assert places == [{"a": 3}]
    kept = [5]
    distributed.broadcast_object_list(kept)
    assert kept == [5]
    distributed.gather_object(7, kept)
    assert kept == [7]
    distributed.scatter_object_list(kept, [9])
    assert kept == [9]


def test_groups_of_mint() -> None:
    distributed.destroy_process_group()
    assert not distributed.is_initialized()
    distributed.init_process_group()
    assert distributed.is_initialized()
    assert distributed.is_available()
    assert (distributed.get_rank(), distributed.get_world_size()) == (0, 1)
    name = distributed.new_group([0])
    assert distributed.get_process_group_ranks(name) == [0]
    assert distributed.get_global_rank(name, 0) == distributed.get_group_rank(name, 0) == 0
    assert distributed.get_world_size(name) == 1
    distributed.destroy_process_group(name)
    with pytest.raises(RuntimeError, match="no group"):
        distributed.get_rank(name)
    distributed.barrier()
    assert distributed.get_backend() in ("mccl", "nccl", "hccl")


def test_operators_say_how_they_are_placed() -> None:
    operator = ops.AllReduce()
    assert operator.shard(((1, 1),)) is operator
    assert operator.set_stage(0) is operator
    assert operator.add_prim_attr("fusion", 1).attrs["fusion"] == 1
    assert operator.attrs["op"] == "sum"
