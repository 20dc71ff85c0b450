"""Distributions of the gamma function and bijectors give what MindSpore gives: its answers are in a file, by case."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from weft import dtypes
from weft.core.tensor import Tensor
from weft.nn.probability import bijector as B
from weft.nn.probability import distribution as D
from weft.nn.probability import gammas as G

ANSWERS: dict[str, Any] = json.loads((Path(__file__).parent / "probability_answers.json").read_text())
V = np.array([0.2, 0.5, 0.7], np.float32)
P1, P2 = Tensor([1.5, 2.5, 3.0]), Tensor([2.0, 1.5, 4.0])
DISTRIBUTIONS: dict[str, tuple[Callable[[], Any], Any]] = {
    "beta": (lambda: G.Beta(P1, P2), V),
    "beta1": (lambda: G.Beta([2.0], [3.0]), V),
    "gamma": (lambda: G.Gamma(P1, P2), V * 4),
    "poisson": (lambda: G.Poisson(P1), np.array([0.0, 1.0, 4.0], np.float32)),
    "poissonf": (lambda: G.Poisson([2.0]), V * 5 - 1),
    "half": (lambda: G.HalfNormal(0.0, P1), V * 3),
    "half2": (lambda: G.HalfNormal(0.5, P1), V),
    "t": (lambda: G.StudentT(P2, 0.5, P1), V * 3),
    "td": (lambda: G.TransformedDistribution(B.Exp(), D.Normal(0.5, 2.0)), V * 3),
    "td2": (lambda: G.TransformedDistribution(B.ScalarAffine(-2.0, 1.0), D.Normal(0.5, 2.0)), V * 3),
}
BIJECTORS: dict[str, Callable[[], Any]] = {
    "exp": lambda: B.Exp(),
    "pow": lambda: B.PowerTransform(0.5),
    "pow0": lambda: B.PowerTransform(0.0),
    "aff": lambda: B.ScalarAffine(2.0, 1.0),
    "affv": lambda: B.ScalarAffine(P1, P2),
    "soft": lambda: B.Softplus(2.0),
    "gum": lambda: B.GumbelCDF(1.0, 2.0),
    "inv": lambda: B.Invert(B.Exp()),
    "inv2": lambda: B.Invert(B.ScalarAffine(2.0, 1.0)),
}
OTHERS: dict[str, Callable[[], Any]] = {
    "beta kl": lambda: G.Beta(P1, P2).kl_loss("Beta", P2, P1),
    "beta ce": lambda: G.Beta(P1, P2).cross_entropy("Beta", P2, P1),
    "gamma kl": lambda: G.Gamma(P1, P2).kl_loss("Gamma", P2, P1),
    "gamma ce": lambda: G.Gamma(P1, P2).cross_entropy("Gamma", P2, P1),
    "poisson kl": lambda: G.Poisson(P1).kl_loss("Poisson", P2),
    "half kl": lambda: G.HalfNormal(0.0, 1.0).kl_loss("HalfNormal", 0.0, 1.0),
    "betae": lambda: G.Beta([-1.0], [1.0]),
    "gammae": lambda: G.Gamma([-1.0], [1.0]),
    "poissone": lambda: G.Poisson([-1.0]),
    "halfe": lambda: G.HalfNormal(0.0, -1.0),
    "te": lambda: G.StudentT(-1.0, 0.0, 1.0),
    "betad": lambda: G.Beta([1.0], [1.0], dtype=dtypes.int32),
    "betac": lambda: G.Beta().mean(P1, P2),
    "be1": lambda: B.PowerTransform(-1.0),
    "be2": lambda: B.PowerTransform("a"),
    "be3": lambda: B.Invert(3),  # type: ignore[arg-type]
    "be4": lambda: B.ScalarAffine("a"),
    "be5": lambda: B.Softplus("a"),
    "be6": lambda: B.GumbelCDF(1.0, -1.0),
    "be8": lambda: B.Exp().forward(3.0),
    "tde": lambda: G.TransformedDistribution(3, D.Normal(0.0, 1.0)),  # type: ignore[arg-type]
    "tde2": lambda: G.TransformedDistribution(B.Exp(), 3),  # type: ignore[arg-type]
    "tdp": lambda: G.TransformedDistribution(B.Exp(), D.Normal()).log_prob(Tensor(V), mean=P1, sd=P2),
    "tdp2": lambda: G.TransformedDistribution(B.Exp(), D.Normal()).log_prob(Tensor(V), P1, P2),
}
ERRORS = {"ValueError": ValueError, "TypeError": TypeError, "NotImplementedError": NotImplementedError}


def check(key: str, call: Callable[[], Any]) -> None:
    wanted = ANSWERS[key]
    if isinstance(wanted, str):
        with pytest.raises(ERRORS[wanted]):
            call()
    else:
        np.testing.assert_allclose(call(), wanted[0], rtol=2e-3, atol=2e-4, err_msg=key)


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distributions(name: str) -> None:
    make, values = DISTRIBUTIONS[name]
    made = make()
    known = []
    for function in ("prob", "log_prob", "cdf", "log_cdf", "survival_function", "log_survival"):
        check(f"{name} {function}", lambda function=function: getattr(made, function)(Tensor(values)))
        if not isinstance(ANSWERS[f"{name} {function}"], str):
            known.append(function)
    for function in ("mean", "sd", "var", "mode", "entropy"):
        check(f"{name} {function}", lambda function=function: getattr(made, function)())
    call = weft.jit(lambda x: [getattr(made, function)(x) for function in known])
    for x in (values, values * 0.9):
        for function, found in zip(known, call(Tensor(x)), strict=True):
            np.testing.assert_allclose(found, getattr(made, function)(Tensor(x)), rtol=1e-4, atol=1e-5)
    if name != "poisson":
        slope = weft.grad(lambda x: made.log_prob(x).sum())(Tensor(values))
        step = Tensor(np.full(3, 1e-2, np.float32))
        up, down = made.log_prob(Tensor(values) + step), made.log_prob(Tensor(values) - step)
        inside = np.isfinite(np.array(down))
        np.testing.assert_allclose(np.array(slope)[inside], np.array((up - down) / 2e-2)[inside], rtol=0.1, atol=0.02)


@pytest.mark.parametrize("name", BIJECTORS)
def test_bijectors(name: str) -> None:
    made = BIJECTORS[name]()
    for function in ("forward", "inverse", "forward_log_jacobian", "inverse_log_jacobian"):
        check(f"b {name} {function}", lambda function=function: getattr(made, function)(Tensor(V)))
        check(f"b {name} {function}", weft.jit(lambda function=function: made(function, Tensor(V))))
    there = Tensor(V)
    np.testing.assert_allclose(made.inverse(made.forward(there)), V, rtol=1e-4)
    slope = weft.grad(lambda x: made.forward(x).sum())(there)
    np.testing.assert_allclose(
        np.log(np.abs(slope)), np.broadcast_to(made.forward_log_jacobian(there), V.shape), atol=1e-4
    )


@pytest.mark.parametrize("name", OTHERS)
def test_other_calls(name: str) -> None:
    check(name, OTHERS[name])


@pytest.mark.parametrize(
    "made", [G.Beta(2.0, 3.0), G.Gamma(2.0, 3.0), G.Poisson(2.5)], ids=lambda made: type(made).__name__
)
@pytest.mark.parametrize("compiled", [False, True])
def test_what_is_drawn_has_the_moments_of_the_distribution(made: Any, compiled: bool) -> None:
    weft.set_seed(3)
    draw = weft.jit(lambda: made.sample((200, 50))) if compiled else lambda: made.sample((200, 50))
    drawn = np.array(draw(), np.float64)
    assert drawn.shape == (200, 50)
    sd = float(np.array(made.sd()))
    assert drawn.mean() == pytest.approx(float(np.array(made.mean())), abs=0.05 * sd)
    assert drawn.std() == pytest.approx(sd, rel=0.06)


def test_small_things_of_distributions_and_bijectors() -> None:
    assert G.Beta(P1, 2.0).sample((4,)).shape == (4, 3)
    assert G.Beta(P1, 2.0).concentration1 is P1
    assert G.Gamma(P1, 2.0).rate.item() == 2.0
    assert G.Poisson(2.0).rate.item() == 2.0
    made = G.TransformedDistribution(B.ScalarAffine(2.0, 1.0), D.Normal(0.0, 1.0))
    assert made.is_linear_transformation
    assert (made.bijector.name, made.distribution.name, made.batch_shape) == ("ScalarAffine", "Normal", ())
    assert made.sample((2,)).shape == (2,)
    assert B.Invert(B.Exp()).name == "InvertExp"
    assert B.Exp().is_injective
    assert B.PowerTransform(0.5).parameters == {"power": 0.5}
    with pytest.raises(ValueError, match="is none of"):
        B.Exp()("zz", Tensor(V))
    with pytest.raises(NotImplementedError, match="forward"):
        B.Bijector().forward(Tensor(V))
    for wrong in (lambda: B.Softplus(0.0), lambda: B.ScalarAffine(0.0), lambda: B.PowerTransform([0.0, 1.0])):
        with pytest.raises(ValueError, match="0"):
            wrong()

    class Cube(B.Bijector):
        def _forward(self, value: Any) -> Any:
            return value**3

        def _inverse(self, value: Any) -> Any:
            return value ** (1 / 3)

        def _forward_log_jacobian(self, value: Any) -> Any:
            return (3 * value**2).log()

    np.testing.assert_allclose(Cube().inverse_log_jacobian(Tensor([8.0])), [-np.log(12.0)], rtol=1e-5)
