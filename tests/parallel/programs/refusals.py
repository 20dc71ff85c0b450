"""Where an exchange may not stand, and that all else is the same compiled as eagerly."""

import numpy as np
import pytest

from weft import Tensor, grad, jit, ops, vmap
from weft.errors import Unsupported
from weft.parallel import communication as comm
from weft.testing import assert_no_breaks

comm.init()
rank, count = comm.get_rank(), comm.get_group_size()
x = Tensor(np.arange(6, dtype=np.float32).reshape(3, 2) + rank)
reduce = ops.AllReduce()


def refused(call):
    with pytest.raises(Unsupported, match="AllReduce meets other processes"):
        call()


def in_branch(x):
    if x.sum() > 0:
        return reduce(x)
    return x


def in_while(x):
    while x.sum() < 1000:
        x = reduce(x)
    return x


def unused(x):
    reduce(x)
    return x + 1


def in_loop(x):
    for i in range(70):
        x = reduce(x * (rank + i)) / 200
    return x


refused(lambda: vmap(reduce)(x))
refused(lambda: jit(lambda x: vmap(reduce)(x))(x))
refused(lambda: jit(in_branch, fullgraph=True)(x))
for function in (in_branch, in_while, unused, in_loop):
    compiled = jit(function)
    for step in range(3):
        given = Tensor(x.asnumpy() + step)
        np.testing.assert_allclose(compiled(given).asnumpy(), function(given).asnumpy(), rtol=1e-5)
for function in (unused, in_loop):  # what nobody reads is exchanged, too: the counts agree
    with assert_no_breaks():
        jit(function)(x)


def cube(x):
    return (reduce(x) ** 3).sum()


def slope(x):
    return grad(cube)(x).sum()


np.testing.assert_allclose(jit(grad(slope))(x).asnumpy(), grad(slope)(x).asnumpy(), rtol=1e-5)
total = sum(np.arange(6.0).reshape(3, 2) + r for r in range(count))
np.testing.assert_allclose(grad(slope)(x).asnumpy(), 6 * total * count * count, rtol=1e-5)
print("all agree")
