"""Every collective in several processes against NumPy, which knows what all of them have."""

import random
import sys

import numpy as np

import weft
from weft import Tensor, grad, jit, ops
from weft.ops import distributed, exchanges
from weft.parallel import communication as comm

comm.init()
RANK, COUNT = comm.get_rank(), comm.get_group_size()
SEQUENCES = int(sys.argv[1])
DTYPES = ("float32", "float64", "float16", "bfloat16", "int8", "int32", "int64", "uint8", "bool_", "complex64")
GROUPS = {"": tuple(range(COUNT)), "pair": (0, 1), "odd": tuple(range(1, COUNT))}
for name, ranks in GROUPS.items():
    if name:
        comm.create_group(name, list(ranks))


def data(seed, shape, dtype="float32"):
    """What each process has: an array of small whole numbers, which sums keep exact in every type."""
    found = [np.random.default_rng(1000 * seed + rank).integers(0, 4, shape) for rank in range(COUNT)]
    return [Tensor(x, getattr(weft, dtype)).asnumpy() for x in found]


def reduced(arrays, op):
    kind = arrays[0].dtype
    stack = np.stack(arrays)
    if kind.kind == "b":
        return stack.any(0) if op in ("sum", "max") else stack.all(0)
    wide = stack.astype(np.complex128 if kind.kind == "c" else np.float64)
    found = {"sum": wide.sum, "prod": wide.prod, "avg": wide.mean, "max": wide.max, "min": wide.min}[op](0)
    return found.astype(kind)


def check(found, wanted, what):
    found = found.asnumpy() if isinstance(found, Tensor) else found
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype), what
    np.testing.assert_allclose(
        found.astype(np.complex128 if found.dtype.kind == "c" else np.float64), wanted, rtol=1e-2, err_msg=str(what)
    )


def one(kind, group, dtype, seed, run):
    """A collective of a group; processes outside of it do nothing."""
    ranks = GROUPS[group]
    if RANK not in ranks:
        return
    here, n = ranks.index(RANK), len(ranks)
    name = group or comm.HCCL_WORLD_COMM_GROUP
    root = seed % n
    every = [data(seed, (2 * n, 3), dtype)[r] for r in ranks]
    x, what = Tensor(every[here]), (kind, group, dtype, seed)
    if kind.startswith("all_reduce"):
        op = kind.removeprefix("all_reduce_")
        check(run(ops.AllReduce(op, name))(x), reduced(every, op), what)
    elif kind == "reduce":
        check(run(ops.Reduce(root, "sum", name))(x), reduced(every, "sum") if here == root else every[here], what)
    elif kind == "all_gather":
        check(run(ops.AllGather(name))(x), np.concatenate(every), what)
    elif kind.startswith("reduce_scatter"):
        op = kind.removeprefix("reduce_scatter_")
        check(run(ops.ReduceScatter(op, name))(x), reduced(every, op)[2 * here : 2 * here + 2], what)
    elif kind == "broadcast":
        check(run(ops.Broadcast(ranks[root], name))((x,))[0], every[root], what)
    elif kind == "gather":
        whole = np.concatenate(every)
        check(run(ops.CollectiveGather(ranks[root], name))(x), whole if here == root else np.zeros_like(whole), what)
    elif kind == "scatter":
        check(run(ops.CollectiveScatter(ranks[root], name))(x), every[root][2 * here : 2 * here + 2], what)
    elif kind == "all_to_all":
        parts = [np.split(a, n)[here] for a in every]
        check(run(ops.AlltoAll(n, 0, 1, name))(x), np.concatenate(parts, 1), what)
    elif kind == "uneven":
        rows = [[(seed + i + j) % 3 for j in range(n)] for i in range(n)]
        sent = [np.arange(3 * sum(row)).reshape(-1, 3).astype(every[0].dtype) + i for i, row in enumerate(rows)]
        starts = [np.cumsum([0, *row]) for row in rows]
        parts = [sent[i][starts[i][here] : starts[i][here + 1]] for i in range(n)]
        coming = [row[here] for row in rows]
        out = Tensor(np.zeros((sum(coming), 3), sent[0].dtype))
        distributed.all_to_all_single(out, Tensor(sent[here]), coming, rows[here], group=name)
        check(out, np.concatenate(parts), what)
    elif kind == "ring":
        got = Tensor(np.zeros_like(every[here]))
        coming = distributed.irecv(got, ranks[(here - 1) % n], name)
        going = distributed.isend(x, ranks[(here + 1) % n], name)
        coming.wait()
        going.wait()
        check(got, every[(here - 1) % n], what)
    elif kind == "neighbours":
        to, come = ranks[(here + 1) % n], ranks[(here - 1) % n]
        passed = ops.NeighborExchange([to], [come], ([2 * n, 3],), ([2 * n, 3],), x.dtype, name)
        check(passed((x,))[0], every[(here - 1) % n], what)
    elif kind == "objects":
        found = [None] * n
        distributed.all_gather_object(found, {"rank": RANK, "text": "x" * RANK}, name)
        assert found == [{"rank": r, "text": "x" * r} for r in ranks], what
        exchanges.barrier(name)


KINDS = (
    *(f"all_reduce_{op}" for op in ("sum", "max", "min", "prod", "avg")),
    *(f"reduce_scatter_{op}" for op in ("sum", "max", "prod")),
    *(
        "reduce",
        "all_gather",
        "broadcast",
        "gather",
        "scatter",
        "all_to_all",
        "uneven",
        "ring",
        "neighbours",
        "objects",
    ),
)


def fits(kind, dtype):
    if dtype == "complex64":
        return not kind.endswith(("max", "min"))
    return not (kind.endswith("avg") and dtype in ("bool_", "int8", "int32", "int64", "uint8"))


for number, kind in enumerate(KINDS):
    for dtype in DTYPES if number < 14 else DTYPES[:1]:
        if fits(kind, dtype):
            one(kind, "", dtype, number, lambda call: call)
            if dtype == "float32":
                one(kind, "odd", dtype, number + 50, lambda call: call)
                if kind not in ("ring", "objects", "uneven", "neighbours"):
                    one(kind, "", dtype, number + 100, lambda call: jit(lambda x: call(x)))

choose = random.Random(7)
for seed in range(SEQUENCES):
    kind, group, dtype = choose.choice(KINDS), choose.choice(list(GROUPS)), choose.choice(DTYPES)
    jitted = choose.random() < 0.2 and kind not in ("ring", "objects", "uneven", "neighbours")
    if fits(kind, dtype):
        one(kind, group, dtype, seed, (lambda call: jit(lambda x: call(x))) if jitted else (lambda call: call))


# gradients are those of the sum of what all compute
def loss_of(collective, weights):
    def loss(x):
        out = collective(x)
        return (out * out * weights[: out.shape[0]]).sum()

    return loss


def reference(collective, every, weights, here):
    """Finite differences of the sum of all losses by what this process has."""

    def total(changed):
        outs = collective([*every[:here], changed, *every[here + 1 :]])
        return sum((out * out * weights[: out.shape[0]]).sum() for out in outs)

    found = np.zeros_like(every[here])
    for place in np.ndindex(found.shape):
        step = np.zeros_like(found)
        step[place] = 1e-4
        found[place] = (total(every[here] + step) - total(every[here] - step)) / 2e-4
    return found


N = COUNT
EVERY = [np.random.default_rng(rank).uniform(0.5, 1.5, (2 * N, 2)) for rank in range(N)]
WEIGHTS = np.arange(1.0, 2 * N * N + 1).reshape(-1, 1) / 10
PAIRS = {
    "sum": (ops.AllReduce("sum"), lambda xs: [sum(xs)] * N),
    "avg": (ops.AllReduce("avg"), lambda xs: [sum(xs) / N] * N),
    "max": (ops.AllReduce("max"), lambda xs: [np.max(xs, 0)] * N),
    "prod": (ops.AllReduce("prod"), lambda xs: [np.prod(xs, 0)] * N),
    "gather": (ops.AllGather(), lambda xs: [np.concatenate(xs)] * N),
    "reduce_scatter": (ops.ReduceScatter(), lambda xs: [sum(xs)[2 * i : 2 * i + 2] for i in range(N)]),
    "broadcast": (lambda x: ops.Broadcast(1)((x,))[0], lambda xs: [xs[1]] * N),
    "reduce": (ops.Reduce(1), lambda xs: [sum(xs) if i == 1 else xs[i] for i in range(N)]),
    "scatter": (ops.CollectiveScatter(1), lambda xs: [xs[1][2 * i : 2 * i + 2] for i in range(N)]),
    "all_to_all": (
        ops.AlltoAll(N, 0, 0), lambda xs: [np.concatenate([np.split(x, N)[i] for x in xs]) for i in range(N)]
    ),
}  # fmt: skip
for name, (collective, model) in PAIRS.items():
    loss = loss_of(collective, Tensor(WEIGHTS))
    wanted = reference(model, EVERY, WEIGHTS, RANK)
    for function in (grad(loss), grad(jit(loss)), jit(grad(loss))):
        np.testing.assert_allclose(function(Tensor(EVERY[RANK])).asnumpy(), wanted, rtol=1e-5, atol=1e-6, err_msg=name)
print("all agree")
