"""Distributions: what is drawn has their moments, wrong arguments are refused, and programs define their own."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor, dtypes
from weft.nn.probability import distribution as D
from weft.nn.probability.gammas import Poisson


@pytest.mark.parametrize(
    "made",
    [
        D.Normal(0.5, 2.0),
        D.LogNormal(0.1, 0.3),
        D.Logistic(0.5, 2.0),
        D.Gumbel(0.5, 2.0),
        D.Uniform(-1.0, 2.0),
        D.Exponential(0.7),
        D.Bernoulli(0.3),
        D.Geometric(0.3),
        D.Categorical(Tensor([0.2, 0.3, 0.5])),
    ],
    ids=lambda made: type(made).__name__,
)
@pytest.mark.parametrize("compiled", [False, True])
def test_what_is_drawn_has_the_moments(made: Any, compiled: bool) -> None:
    weft.set_seed(3)

    def draw() -> Any:
        return made.sample((200, 100))

    drawn = (weft.jit(draw) if compiled else draw)().asnumpy().astype(np.float64)
    assert drawn.shape == (200, 100)
    sd = float(made.sd().asnumpy().ravel()[0])
    assert drawn.mean() == pytest.approx(float(made.mean().asnumpy().ravel()[0]), abs=0.05 * sd)
    assert drawn.std() == pytest.approx(sd, rel=0.06)


def test_shapes_of_what_is_drawn() -> None:
    assert D.Normal(0.0, 1.0).sample().shape == ()
    many = D.Normal(Tensor([0.0, 100.0]), Tensor([1.0, 1.0]))
    assert many.sample((3,)).shape == (3, 2)
    assert many.batch_shape == (2,)
    assert many.sample((3,)).asnumpy()[:, 1].min() > 50
    assert D.Bernoulli(0.5).sample((2,)).dtype is dtypes.int32
    rows = D.Categorical(Tensor([[1.0, 0.0], [0.0, 1.0]]))
    assert rows.sample((4,)).asnumpy().tolist() == [[0, 1]] * 4


def test_parameters_of_a_call() -> None:
    free = D.Normal()
    assert free.batch_shape is None
    assert free.mean(Tensor(3.0), Tensor(1.0)).item() == 3.0
    with pytest.raises(ValueError, match="mean must be given"):
        free.mean()
    half = D.Normal(1.0)
    assert half.sd(None, Tensor(2.0)).item() == 2.0
    assert [each.item() for each in half.get_dist_args(sd=Tensor(5.0))] == [1.0, 5.0]
    assert half("mean", None, Tensor(2.0)).item() == 1.0
    with pytest.raises(NotImplementedError, match="is none of"):
        half("zz")
    with pytest.raises(TypeError, match="must be a Tensor"):
        half.sd(None, 2.0)


def test_distributions_of_programs() -> None:
    class Triangle(D.Distribution):
        def __init__(self) -> None:
            super().__init__(0, dtypes.float32, "Triangle", {})

        def _prob(self, value: Any) -> Any:
            return 2.0 * value

        def _cdf(self, value: Any) -> Any:
            return value**2

    made = Triangle()
    value = Tensor(0.5)
    functions = {"log_prob": 0.0, "log_cdf": np.log(0.25), "survival_function": 0.75, "log_survival": np.log(0.75)}
    for name, expected in functions.items():
        for call in (getattr(made, name), weft.jit(lambda v, name=name: getattr(made, name)(v))):
            assert call(value).item() == pytest.approx(expected, abs=1e-6)
    with pytest.raises(NotImplementedError, match="mean is not implemented for Triangle"):
        made.mean()


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: D.Normal(0.0, -1.0), ValueError),
        (lambda: D.Normal("a", 1.0), TypeError),
        (lambda: D.Normal(0.0, 1.0, name=5), TypeError),
        (lambda: D.Uniform(2.0, 1.0), ValueError),
        (lambda: D.Bernoulli(1.5), ValueError),
        (lambda: D.Exponential(0.0), ValueError),
        (lambda: D.Categorical(0.5), TypeError),
        (lambda: D.Categorical(Tensor([0.5, 0.1])), ValueError),
        (lambda: D.Normal(0.0, 1.0).kl_loss("Uniform", 0.0, 1.0), ValueError),
        (lambda: D.Cauchy(0.0, 1.0).mean(), ValueError),
        (lambda: D.Laplace(0.0, 1.0).mean(), NotImplementedError),
    ],
)
def test_wrong_arguments(make: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        make()


def test_gumbel_takes_its_parameters_only_when_it_is_made() -> None:
    gumbel = D.Gumbel(0.5, 2.0)
    with pytest.raises(TypeError, match="when the distribution is made"):
        gumbel.prob(Tensor([1.0]), Tensor(0.0))
    with pytest.raises(TypeError, match="when the distribution is made"):
        gumbel.mean(Tensor(0.0))
    with pytest.raises(TypeError, match="when the distribution is made"):
        gumbel.kl_loss("Gumbel", *map(Tensor, (0.0, 1.0, 0.0)))
    with pytest.raises(TypeError, match="must be a Tensor"):
        gumbel.kl_loss("Gumbel", 0.0, 1.0)
    assert gumbel.kl_loss("Gumbel", Tensor(0.0), Tensor(1.0)).item() == pytest.approx(0.59713, rel=1e-5)
    assert gumbel.kl_loss("Gumbel", Tensor(0.5), Tensor(2.0)).item() == pytest.approx(0.0, abs=1e-6)


def test_the_other_distribution_is_given_by_name_too() -> None:
    normal = D.Normal(0.5, 2.0)
    mean, sd = Tensor(0.0), Tensor(1.0)
    wanted = normal.kl_loss("Normal", mean, sd).item()
    assert normal.kl_loss("Normal", mean_b=mean, sd_b=sd).item() == wanted
    assert normal.kl_loss("Normal", mean, sd_b=sd).item() == wanted
    assert normal.kl_loss("Normal", mean, sd, Tensor(0.5), Tensor(2.0)).item() == wanted


class _Doubled(D.Normal):
    """A program's own: another mean, and another divergence."""

    def _mean(self, mean: Any, sd: Any) -> Any:
        return super()._mean(mean, sd) * 2.0  # type: ignore[misc]

    def _kl_loss(self, mean_b: Any, sd_b: Any, mean: Any, sd: Any) -> Any:
        return mean_b - mean + sd_b - sd


@pytest.mark.parametrize("compiled", [False, True])
def test_formulas_give_way_to_those_of_subclasses(compiled: bool) -> None:
    run: Any = weft.jit if compiled else (lambda f: f)
    own = _Doubled(3.0, 1.0)
    for shift in (1.0, 2.0):
        mean = run(lambda m: own.mean(m))
        assert mean(Tensor(shift)).item() == 2 * shift
        assert run(lambda m: own.var(m))(Tensor(shift)).item() == 1.0
        divergence = run(lambda m: own.kl_loss("_Doubled", m, sd_b=Tensor(2.0)))
        assert divergence(Tensor(shift)).item() == shift - 3.0 + 1.0


def test_constructors_follow_from_the_parameters() -> None:
    wanted = "(rate: 'Any' = None, seed: 'Any' = None, dtype: 'Any' = None, name: 'str' = 'Poisson') -> 'None'"
    assert str(inspect.signature(Poisson)) == wanted
    assert Poisson(2.0).rate.item() == 2.0
    with pytest.raises(TypeError):
        Poisson(2.0, other=1)
