"""Every layout of a network saved and loaded into every other, on eight devices: equal bits, and equal next steps."""

import itertools
import sys
from pathlib import Path

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import weft
from weft import Tensor, jit, nn
from weft.core.tensor import Parameter, data_of, wrap
from weft.parallel.slices import box_of
from weft.train import (
    load_checkpoint,
    load_distributed_checkpoint,
    load_param_into_net,
    save_checkpoint,
    save_distributed_checkpoint,
    save_param_strategy_file,
    strategies,
)

FOLDER = Path(sys.argv[1])
DEVICES = np.array(jax.devices())
assert len(DEVICES) == 8
random = np.random.default_rng(0)
X = random.standard_normal((3, 16, 8)).astype(np.float32)
Y = random.standard_normal((3, 16, 8)).astype(np.float32)


def place(tensor, mesh, *spec):
    if mesh is not None:
        tensor.rebind(wrap(jax.device_put(data_of(tensor), NamedSharding(mesh, PartitionSpec(*spec)))))


def mesh(**axes):
    count = int(np.prod(list(axes.values())))
    return Mesh(DEVICES[:count].reshape(*axes.values()), tuple(axes))


class First(nn.Cell):
    def __init__(self):
        super().__init__()
        self.up = nn.Dense(8, 16)
        self.half = Parameter(Tensor(np.linspace(0, 1, 16), weft.bfloat16), name="half")
        self.phase = Parameter(Tensor(np.full((8, 2), 1 - 2j)), name="phase", requires_grad=False)

    def construct(self, x):
        return nn.ReLU()(self.up(x)) * self.half.astype(weft.float32)


class Last(nn.Cell):
    def __init__(self):
        super().__init__()
        self.down = nn.Dense(16, 8)

    def construct(self, x):
        return self.down(x)


class Both(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = First()
        self.last = Last()

    def construct(self, x, y):
        return ((self.last(self.first(x)) - y) ** 2).mean()


class Part(nn.Cell):
    """Cells with the names that they have."""

    def __init__(self, cells):
        super().__init__(auto_prefix=False)
        self.cells_of_it = nn.CellList(cells, auto_prefix=False)


class Spread:
    """A network and its optimizer, of one stage or two, spread in some way."""

    def __init__(self, kind):
        weft.set_seed(7)
        self.kind = kind
        self.loss = Both()
        stages = [self.loss.first, self.loss.last]
        stages = [[stage] for stage in stages] if kind == "pipeline" else [stages]
        self.optimizers = [nn.Adam([p for s in stage for p in s.trainable_params()], 0.01) for stage in stages]
        self.parts = [Part([*stage, optimizer]) for stage, optimizer in zip(stages, self.optimizers, strict=True)]
        self.data = None
        self.spread()
        grad = weft.value_and_grad(self.loss, None, [p for o in self.optimizers for p in o.parameters])
        counts = [len(o.parameters) for o in self.optimizers]

        @jit
        def step(x, y):
            loss, grads = grad(x, y)
            at = 0
            for optimizer, count in zip(self.optimizers, counts, strict=True):
                optimizer(grads[at : at + count])
                at += count
            return loss

        self.run = step

    def parameters(self):
        """Of the optimizers of two stages each has a count of steps, and so on."""
        return [(p.name, p) for part in self.parts for p in part.get_parameters()]

    def spread(self):
        everything = self.parameters()
        if self.kind == "data2":
            grid = mesh(d=2)
            self.data = (grid, "d")
            for _, p in everything:
                place(p, grid)
        elif self.kind == "data8":
            grid = mesh(d=8)
            self.data = (grid, "d")
            for name, p in everything:
                place(p, grid, *(["d"] if name.startswith("moment") and p.shape[:1] and p.shape[0] % 8 == 0 else []))
        elif self.kind == "tensor":
            grid = mesh(d=2, t=4)
            self.data = (grid, "d")
            for name, p in everything:
                spec = [] if "up" not in name and "half" not in name else ["t"]
                place(p, grid, *([None, "t"] if name.endswith("down.weight") else spec))
        elif self.kind == "mixed":
            grid = mesh(a=2, b=2, c=2)
            self.data = (grid, "a")
            for name, p in everything:
                weight = name.endswith("weight")
                place(p, grid, *([("a", "b"), "c"] if weight else ["b"] if name.endswith(("half", "bias")) else []))
        elif self.kind == "pipeline":
            self.data = None

    def save(self, form):
        if form == "folder":
            paths = [FOLDER / f"{self.kind}_{number}" for number in range(len(self.parts))]
        else:
            paths = [FOLDER / f"{self.kind}_{number}.{form}" for number in range(len(self.parts))]
        for part, path in zip(self.parts, paths, strict=True):
            values = list(part.get_parameters())
            if form == "safetensors":  # which has no complex128
                values = [p for p in values if p.name != "first.phase"]
            if form == "folder":
                save_distributed_checkpoint(values, path, {"epoch": 3, "who": "me"})
            else:
                save_checkpoint(values, path, append_dict={"epoch": 3, "who": "me"}, format=form)
        return paths

    def load(self, paths, form):
        for part in self.parts:
            if form == "folder":
                left, _ = load_distributed_checkpoint(part, [str(path) for path in paths])
                assert left == [], left
                continue
            found = {}
            for path in paths:
                found.update(load_checkpoint(str(path)))
            assert found["who"] == "me"
            assert int(found["epoch"]) == 3
            left, _ = load_param_into_net(part, found)
            assert set(left) <= {"first.phase"}, left

    def step(self, number):
        x, y = Tensor(X[number]), Tensor(Y[number])
        if self.data is not None:
            place(x, *self.data)
            place(y, *self.data)
        return self.run(x, y)

    def values(self):
        found = {}
        for name, p in self.parameters():
            value = found.setdefault(name, np.array(p))
            assert value.tobytes() == np.array(p).tobytes(), name
        return found

    def placements(self):
        return {name: data_of(p).sharding for name, p in self.parameters()}


def same(found, wanted, what):
    assert found.keys() == wanted.keys(), (what, found.keys() ^ wanted.keys())
    for name in wanted:
        a, b = found[name], wanted[name]
        assert (a.dtype, a.shape) == (b.dtype, b.shape), (what, name)
        assert a.tobytes() == b.tobytes(), (what, name)


def blank(network):
    for _, p in network.parameters():
        data = data_of(p)
        p.rebind(wrap(jax.device_put(np.zeros(data.shape, data.dtype), data.sharding)))


KINDS = ("one", "data2", "data8", "tensor", "mixed", "pipeline")
FORMS = ("folder", "ckpt", "safetensors")
networks = {kind: Spread(kind) for kind in KINDS}
saved, reached, followed = {}, {}, {}
for kind, network in networks.items():
    network.step(0)
    network.step(1)
    reached[kind] = network.values()
    for form in FORMS:
        saved[kind, form] = network.save(form)
    network.step(2)
    followed[kind] = network.values()
    if kind != "pipeline":  # a strategy file says of which part of what each device has
        for ending in ("ckpt", "json"):
            file = FOLDER / f"{kind}_strategy.{ending}"
            save_param_strategy_file(network.parts[0], file)
            layouts = strategies.read(file, "test").layouts[0]
            for name, parameter in network.parameters():
                array = data_of(parameter)
                for shard in array.addressable_shards:
                    box = layouts[name].box(shard.data.shape, shard.device.id)
                    assert shard.data.shape == layouts[name].size(array.shape), (kind, name)
                    assert box == box_of(shard.index, array.shape), (kind, name)
for source, target in itertools.product(KINDS, KINDS):
    network = networks[target]
    for form in FORMS:
        blank(network)
        if form == "safetensors":
            network.loss.first.phase.set_data(Tensor(reached[source]["first.phase"]))
        network.spread()
        before = network.placements()
        network.load(saved[source, form], form)
        same(network.values(), reached[source], (source, target, form))
        assert network.placements() == before, (source, target, form)
    network.step(2)
    after = network.values()
    for name, p in network.parameters():  # the same step from values that no file has seen
        p.rebind(wrap(jax.device_put(reached[source][name], before[name])))
    network.step(2)
    same(after, network.values(), (source, target, "step"))
    if source == target:
        same(after, followed[source], (source, "goes on"))
    for name, value in after.items():
        np.testing.assert_allclose(
            np.asarray(value, np.complex128), np.asarray(followed[source][name], np.complex128), rtol=2e-2, atol=2e-4
        )

# a compiled function loads what it is given in each call, to where the network is spread
network = networks["tensor"]
given = {}


@jit
def load(x):
    network.loss.last.load_state_dict(given)
    return x + 1


for number in range(3):
    given["down.weight"] = Tensor(np.full((8, 16), number, np.float32))
    given["down.bias"] = Tensor(np.full(8, -number, np.float32))
    before = network.placements()
    load(Tensor([1.0]))
    assert network.placements() == before
    assert np.array(network.loss.last.down.weight).max() == number == -np.array(network.loss.last.down.bias).min()
print("all agree")
