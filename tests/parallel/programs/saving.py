"""Checkpoints of several processes: slices, what all have, stages; read by as many processes as there are now."""

import json
import os
import signal
import sys
from pathlib import Path

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import weft
from weft import Tensor, nn
from weft.core.tensor import Parameter, data_of, wrap
from weft.errors import CheckpointError
from weft.parallel import communication as comm
from weft.train import (
    load_checkpoint,
    load_distributed_checkpoint,
    load_param_into_net,
    save_checkpoint,
    save_distributed_checkpoint,
)

what, FOLDER = sys.argv[1], Path(sys.argv[2])
comm.init()
RANK, COUNT = comm.get_rank(), comm.get_group_size()
#: shapes and types, and how they are spread
LAID = {
    "rows": ((8, 6), "float32", ("r",)),
    "columns": ((4, 8), "bfloat16", (None, "r")),
    "all": ((5,), "complex128", ()),
    "one": ((), "int64", ()),
}


def elements(name, seed=0):
    shape, dtype, _ = LAID[name]
    found = np.random.default_rng(seed).integers(-100, 100, shape).astype(np.float64)
    return np.asarray(Tensor(found, getattr(weft, dtype)))


class Net(nn.Cell):
    def __init__(self, seed=None, spread=True):
        super().__init__()
        grid = Mesh(np.array(jax.devices()), ("r",))
        for name, (shape, dtype, spec) in LAID.items():
            values = np.zeros(shape, elements(name).dtype) if seed is None else elements(name, seed)
            parameter = Parameter(Tensor(values), name=name, requires_grad=dtype != "int64")
            if spread and spec:
                placed = NamedSharding(grid, PartitionSpec(*spec))
                array = jax.make_array_from_callback(shape, placed, lambda index, values=values: values[index])
                parameter.rebind(wrap(array))
            setattr(self, name, parameter)


def check(net, seed):
    for name in LAID:
        data = data_of(net.parameters_dict()[name])
        for shard in data.addressable_shards:
            wanted = elements(name, seed)[shard.index]
            assert np.asarray(shard.data).tobytes() == np.ascontiguousarray(wanted).tobytes(), name


def refused(call, message):
    found = "nothing"
    try:
        call()
    except (CheckpointError, ValueError) as error:
        found = str(error)
    assert message in found, found


if what == "save":
    net = Net(3)
    save_distributed_checkpoint(net, FOLDER / "spread", {"step": 7, "who": "all"})
    save_distributed_checkpoint(net, FOLDER / "spread", {"step": 8, "who": "all"})  # replaces it
    index = json.loads((FOLDER / "spread" / "index.json").read_text())["content"]
    assert len(index["tensors"]["rows"]["parts"]) == COUNT
    assert len(index["tensors"]["all"]["parts"]) == 1
    assert len(list((FOLDER / "spread").iterdir())) == COUNT + 1
    # a stage of its own in each process, and something that all have
    stage = {f"stage{RANK}.weight": Tensor(np.full(3, RANK, np.float32)), "count": Tensor(5)}
    save_distributed_checkpoint(stage, FOLDER / "stages")
    # whole values in a file, and slices in a file of each
    save_checkpoint(net, FOLDER / f"whole_{RANK}.ckpt")
    save_checkpoint(net, FOLDER / f"rank_{RANK}" / "net.ckpt", integrated_save=False)
    assert load_checkpoint(FOLDER / f"rank_{RANK}" / "net.ckpt")["rows"].shape == (8 // COUNT, 6)
    empty = Net()
    load_param_into_net(empty, load_checkpoint(FOLDER / f"rank_{RANK}" / "net.ckpt"))
    check(empty, 3)
    comm_done = weft.ops.AllReduce()(Tensor([1.0]))  # all have written their first slices
    # what is not the same in all, and slices in one file
    other = {"x": Tensor([float(RANK)])}
    refused(lambda: save_distributed_checkpoint(other, FOLDER / "spread"), "'x' has other elements in process 1 than")
    if RANK:
        refused(lambda: save_checkpoint(net, FOLDER / "rank_0/net.ckpt", integrated_save=False), "writes its slices")
    # what cannot be written is an error in all, and the checkpoint before stays
    bad = FOLDER / "file"
    if not RANK:
        bad.write_text("no folder")
    weft.ops.AllReduce()(Tensor([1.0]))
    refused(lambda: save_distributed_checkpoint(net, bad / "in"), "cannot be written by process")
    check_again = Net()
    load_checkpoint(FOLDER / "spread", check_again)
    check(check_again, 3)
if what in ("save", "load"):
    for net in (Net(), Net(spread=False)):
        found = load_checkpoint(FOLDER / "spread", net)
        check(net, 3)
        assert int(found["step"]) == 8
        assert found["who"] == "all"
    for net in (Net(), Net(spread=False)):
        assert load_distributed_checkpoint(net, unified_safetensors_dir=str(FOLDER / "spread"))[0] == []
        check(net, 3)
if what == "load":
    found = load_checkpoint(FOLDER / "stages")
    assert int(found.pop("count")) == 5
    assert {name: value.asnumpy().tolist() for name, value in found.items()} == {
        f"stage{rank}.weight": [float(rank)] * 3 for rank in range(int(sys.argv[3]))
    }
    net = Net()
    load_checkpoint(FOLDER / "whole_0.ckpt", net)
    check(net, 3)
    slices = [str(FOLDER / f"rank_{rank}" / "net.ckpt") for rank in range(int(sys.argv[3]))]
    net = Net()
    assert load_distributed_checkpoint(net, slices) == ([], [])
    check(net, 3)
if what == "killed":
    net = Net(4)
    if RANK == 1:
        from weft.train import folders

        folders._write_part = lambda *given: os.kill(os.getpid(), signal.SIGKILL)
    save_distributed_checkpoint(net, FOLDER / "spread")
print("all agree")
