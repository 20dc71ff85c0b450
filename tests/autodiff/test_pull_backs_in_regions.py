"""Pull-backs of `vjp` that are called in another region than they were made in."""

import numpy as np
import pytest

from weft import Tensor, grad, jit, vjp, vmap
from weft.autodiff.recompute import recompute
from weft.errors import Unsupported

X = [[1.0, 2.0], [3.0, -1.0]]
V = [[1.0, 0.0], [2.0, 1.0]]


def _conditional(x):
    return x * x if x.sum() > 0 else x * 3


FUNCTIONS = {
    "plain": lambda x: x * x,
    "recomputed": lambda x: recompute(lambda q: q * q, x),
    "recomputed twice": lambda x: recompute(lambda q: recompute(lambda r: r * r, q), x),
    "compiled": jit(lambda x: x * x),
    "compiled and recomputed": lambda x: recompute(jit(lambda q: q * q), x),
    "compiled with a branch": jit(_conditional),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("wrap", [lambda f: f, jit], ids=["eager", "jit"])
def test_a_mapped_pull_back_gives_the_gradients(name, wrap):
    for start in X:
        x = Tensor(start)
        _, pull = vjp(FUNCTIONS[name], x)
        for scale in (1.0, 3.0):
            given = Tensor(V) * scale
            found = wrap(vmap(lambda v, pull=pull: pull(v)[0]))(given)
            np.testing.assert_allclose(found.asnumpy(), 2 * np.array(start) * np.array(V) * scale)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_mapped_pull_back_has_derivatives(name):
    def of_given(v, x):
        _, pull = vjp(FUNCTIONS[name], x)
        return (vmap(lambda u: pull(u)[0])(v) ** 2).sum()

    for start in X:
        v, x = np.array(V), np.array(start)
        by_given, by_start = grad(of_given, (0, 1))(Tensor(V), Tensor(start))
        np.testing.assert_allclose(by_given.asnumpy(), 8 * x * x * v)
        np.testing.assert_allclose(by_start.asnumpy(), (8 * x * v * v).sum(0))


@pytest.mark.parametrize("wrap", [lambda f: f, jit], ids=["eager", "jit"])
def test_a_tensor_of_one_example_that_was_kept_is_refused(wrap):
    kept = []
    wrap(vmap(lambda x: (kept.append(x * 2), x)[1]))(Tensor(V))
    for use in (lambda t: t + 1, lambda t: 1 - t, lambda t: bool(t.sum() > 0), lambda t: t.asnumpy(), lambda t: t @ t):
        with pytest.raises(Unsupported):
            use(kept[0])


def test_a_pull_back_in_a_branch_or_loop_of_a_graph():
    @jit
    def looped(x, v):
        _, pull = vjp(FUNCTIONS["recomputed"], x)
        while v.sum() < 40:
            v = pull(v)[0]
        return v.sum()

    @jit
    def branched(x, v):
        _, pull = vjp(FUNCTIONS["recomputed"], x)
        if v.sum() > 0:
            v = pull(v)[0]
        return v.sum()

    one = Tensor([1.0, 1.0])
    assert float(looped(Tensor([1.0, 2.0]), one)) == 72
    by_x, by_v = grad(looped, (0, 1))(Tensor([1.0, 2.0]), one)
    assert by_x.tolist() == [24, 96]
    assert by_v.tolist() == [8, 64]
    for sign, expected in ((1.0, [2, 2]), (-1.0, [0, 0])):
        assert grad(branched)(Tensor([1.0, 2.0]), one * sign).tolist() == expected
