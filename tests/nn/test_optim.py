"""Optimizers against a recomputation in NumPy, and against optax where the meanings agree."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from weft import dtypes, jit, nn, ops
from weft.core.tensor import Parameter, Tensor
from weft.testing import assert_compiles

STEPS = 5
GENERATOR = np.random.default_rng(0)
START = [GENERATOR.standard_normal(s).astype(np.float32) for s in ((3, 2), (4,))]
GRADIENTS = [[GENERATOR.standard_normal(p.shape).astype(np.float32) for p in START] for _ in range(STEPS)]


def parameters(names: tuple[str, ...] = ("w", "b"), dtype: Any = dtypes.float32) -> list[Parameter]:
    return [Parameter(Tensor(v, dtype), name=n) for v, n in zip(START, names, strict=True)]


def run(optimizer: nn.Optimizer, scale: float = 1.0, gradients: Any = None) -> list[Any]:
    for step in gradients or GRADIENTS:
        assert optimizer(tuple(Tensor(g * np.float32(scale)) for g in step))
    return [np.array(p) for p in optimizer.parameters]


class Reference:
    """The recomputation of one parameter: `step` sees gradient and step number, and keeps its state in `self`."""

    def __init__(self, start: Any, **settings: Any) -> None:
        self.p = start.astype(np.float64)
        self.s: dict[str, Any] = {}
        self.settings = settings

    def get(self, name: str, initial: float = 0.0) -> Any:
        return self.s.get(name, np.full_like(self.p, initial))


def sgd(r: Reference, g: Any, t: int, lr: float) -> None:
    momentum, dampening, nesterov = (r.settings.get(k, 0) for k in ("momentum", "dampening", "nesterov"))
    if not momentum:
        r.p = r.p - lr * g
        return
    v = r.s["v"] = g if t == 0 else r.get("v") * momentum + (1 - dampening) * g
    r.p = r.p - lr * (g + momentum * v if nesterov else v)


def momentum(r: Reference, g: Any, t: int, lr: float) -> None:
    mu = r.settings["momentum"]
    v = r.s["v"] = r.get("v") * mu + g
    r.p = r.p - lr * (g + mu * v if r.settings.get("use_nesterov") else v)


def adam(r: Reference, g: Any, t: int, lr: float) -> None:
    b1, b2 = r.settings.get("beta1", 0.9), r.settings.get("beta2", 0.999)
    m = r.s["m"] = b1 * r.get("m") + (1 - b1) * g
    v = r.s["v"] = b2 * r.get("v") + (1 - b2) * g * g
    if r.settings.get("use_amsgrad"):
        v = r.s["top"] = np.maximum(r.get("top"), v)
    rate = lr * np.sqrt(1 - b2 ** (t + 1)) / (1 - b1 ** (t + 1))
    ahead = b1 * m + (1 - b1) * g if r.settings.get("use_nesterov") else m
    r.p = r.p - rate * ahead / (np.sqrt(v) + 1e-8)


def adam_weight_decay(r: Reference, g: Any, t: int, lr: float) -> None:
    m = r.s["m"] = 0.9 * r.get("m") + 0.1 * g
    v = r.s["v"] = 0.999 * r.get("v") + 0.001 * g * g
    r.p = r.p - lr * (m / (np.sqrt(v) + 1e-6) + r.settings["weight_decay"] * r.p)


def lamb(r: Reference, g: Any, t: int, lr: float) -> None:
    m = r.s["m"] = 0.9 * r.get("m") + 0.1 * g
    v = r.s["v"] = 0.999 * r.get("v") + 0.001 * g * g
    change = m / (1 - 0.9 ** (t + 1)) / (np.sqrt(v / (1 - 0.999 ** (t + 1))) + 1e-6)
    change = change + r.settings["weight_decay"] * r.p
    r.p = r.p - lr * np.linalg.norm(r.p) / np.linalg.norm(change) * change


def adagrad(r: Reference, g: Any, t: int, lr: float) -> None:
    total = r.s["sum"] = r.get("sum", 0.1) + g * g
    r.p = r.p - lr * g / np.sqrt(total)


def rmsprop(r: Reference, g: Any, t: int, lr: float) -> None:
    ms = r.s["ms"] = 0.9 * r.get("ms", 1.0) + 0.1 * g * g
    if r.settings.get("centered"):
        mg = r.s["mg"] = 0.9 * r.get("mg") + 0.1 * g
        ms = ms - mg * mg
    mom = r.s["mom"] = r.settings["momentum"] * r.get("mom") + lr * g / np.sqrt(ms + 1e-10)
    r.p = r.p - mom


def adadelta(r: Reference, g: Any, t: int, lr: float) -> None:
    total = r.s["a"] = 0.9 * r.get("a") + 0.1 * g * g
    change = np.sqrt(r.get("u") + 1e-6) / np.sqrt(total + 1e-6) * g
    r.s["u"] = 0.9 * r.get("u") + 0.1 * change * change
    r.p = r.p - lr * change


def adamax(r: Reference, g: Any, t: int, lr: float) -> None:
    m = r.s["m"] = 0.9 * r.get("m") + 0.1 * g
    v = r.s["v"] = np.maximum(0.999 * r.get("v"), np.abs(g))
    r.p = r.p - lr / (1 - 0.9 ** (t + 1)) * m / (v + 1e-8)


CASES: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "sgd": (nn.SGD, sgd, {}),
    "sgd_momentum": (nn.SGD, sgd, {"momentum": 0.9, "dampening": 0.5}),
    "sgd_nesterov": (nn.SGD, sgd, {"momentum": 0.9, "nesterov": True}),
    "momentum": (nn.Momentum, momentum, {"momentum": 0.9}),
    "momentum_nesterov": (nn.Momentum, momentum, {"momentum": 0.9, "use_nesterov": True}),
    "adam": (nn.Adam, adam, {"beta1": 0.8, "beta2": 0.95}),
    "adam_nesterov": (nn.Adam, adam, {"use_nesterov": True}),
    "adam_amsgrad": (nn.Adam, adam, {"use_amsgrad": True, "beta2": 0.5}),
    "adam_weight_decay": (nn.AdamWeightDecay, adam_weight_decay, {"weight_decay": 0.1}),
    "lamb": (nn.Lamb, lamb, {"weight_decay": 0.1}),
    "adagrad": (nn.Adagrad, adagrad, {}),
    "rmsprop": (nn.RMSProp, rmsprop, {"momentum": 0.5}),
    "rmsprop_centered": (nn.RMSProp, rmsprop, {"momentum": 0.5, "centered": True}),
    "adadelta": (nn.Adadelta, adadelta, {}),
    "adamax": (nn.AdaMax, adamax, {}),
}


def reference(step: Any, settings: dict[str, Any], lr: Any = 0.05, decay: Any = (0.0, 0.0)) -> list[Any]:
    found = []
    for i, start in enumerate(START):
        r = Reference(start, **settings)
        for t, gradients in enumerate(GRADIENTS):
            rate = lr(t) if callable(lr) else lr
            step(r, gradients[i].astype(np.float64) + decay[i] * r.p, t, rate)
        found.append(r.p)
    return found


def close(found: list[Any], wanted: list[Any], tolerance: float = 2e-5) -> None:
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, tolerance, tolerance)


@pytest.mark.parametrize("name", CASES)
def test_steps_are_those_of_the_formula(name: str) -> None:
    make, step, settings = CASES[name]
    optimizer = make(parameters(), learning_rate=0.05, **settings)
    close(run(optimizer), reference(step, settings))
    assert optimizer.global_step.asnumpy().tolist() == [STEPS]


@pytest.mark.parametrize("name", ("sgd_momentum", "momentum", "adam", "rmsprop", "adagrad"))
def test_loss_scale_divides_and_weight_decay_adds(name: str) -> None:
    make, step, settings = CASES[name]
    optimizer = make(parameters(), learning_rate=0.05, loss_scale=1024.0, weight_decay=0.3, **settings)
    close(run(optimizer, scale=1024.0), reference(step, settings, decay=(0.3, 0.3)))


def test_beta_and_gamma_do_not_decay_without_groups() -> None:
    optimizer = nn.Momentum(parameters(("w", "bn.gamma")), 0.05, 0.9, weight_decay=0.3)
    close(run(optimizer), reference(momentum, {"momentum": 0.9}, decay=(0.3, 0.0)))


@pytest.mark.parametrize("kind", ("list", "tensor", "schedule"))
def test_rates_that_change_with_the_step(kind: str) -> None:
    schedule = nn.ExponentialDecayLR(0.1, 0.5, 2)
    values = [0.1 * 0.5 ** (t / 2) for t in range(STEPS)]
    rate: Any = {"list": values, "tensor": Tensor(np.array(values, np.float32)), "schedule": schedule}[kind]
    optimizer = nn.Momentum(parameters(), rate, 0.9)
    assert optimizer.dynamic_lr
    assert float(optimizer.get_lr()) == pytest.approx(0.1)
    close(run(optimizer), reference(momentum, {"momentum": 0.9}, lr=lambda t: values[t]))
    if kind == "list":
        assert float(optimizer.get_lr()) == pytest.approx(values[-1])  # the last one stays


def test_the_rate_can_be_set_between_steps() -> None:
    optimizer = nn.SGD(parameters(), 0.5)
    optimizer.learning_rate.set_data(Tensor(0.0))
    close(run(optimizer), START)


def test_groups_have_their_own_rate_and_decay() -> None:
    w, b = parameters()
    groups = [{"params": [w], "lr": 0.2, "weight_decay": 0.3}, {"params": [b]}]
    optimizer = nn.Momentum(groups, 0.05, 0.9, weight_decay=0.1)
    assert [p.name for p in optimizer.parameters] == ["w", "b"]
    found = run(optimizer)
    close(found[:1], reference(momentum, {"momentum": 0.9}, lr=0.2, decay=(0.3, 0))[:1])
    close(found[1:], reference(momentum, {"momentum": 0.9}, lr=0.05, decay=(0, 0.1))[1:])
    assert [float(v) for v in optimizer.get_lr()] == pytest.approx([0.2, 0.05])
    assert float(optimizer.get_lr_parameter(w).asnumpy()) == pytest.approx(0.2)


def test_order_params_gives_the_order_of_gradients() -> None:
    w, b = parameters()
    groups = [{"params": [b], "lr": 0.2}, {"params": [w]}, {"order_params": [w, b]}]
    optimizer = nn.SGD(groups, 0.05)
    assert [p.name for p in optimizer.parameters] == ["w", "b"]
    found = run(optimizer)
    close(found[:1], reference(sgd, {}, lr=0.05)[:1])
    close(found[1:], reference(sgd, {}, lr=0.2)[1:])
    with pytest.raises(ValueError, match="same parameters"):
        nn.SGD([{"params": [w, b]}, {"order_params": [w]}], 0.1)


def test_gradients_are_centralised_where_a_group_asks() -> None:
    w, b = parameters()
    optimizer = nn.SGD([{"params": [w, b], "grad_centralization": True}], 1.0)
    found = run(optimizer, gradients=GRADIENTS[:1])
    g = GRADIENTS[0][0]
    close(found, [START[0] - (g - g.mean(1, keepdims=True)), START[1] - GRADIENTS[0][1]])


def test_half_precision_parameters_keep_their_type() -> None:
    for dtype in (dtypes.float16, dtypes.bfloat16):
        optimizer = nn.Adam(parameters(dtype=dtype), 0.05)
        found = run(optimizer)
        assert all(p.dtype is dtype for p in optimizer.parameters)
        assert all(p.dtype is dtype for p in optimizer.moment1)
        close([f.astype(np.float32) for f in found], reference(adam, {}), 0.05)


def test_state_is_named_after_the_parameters_and_not_trained() -> None:
    optimizer = nn.Adam(parameters(), 0.1)
    names = {"moment1.w", "moment1.b", "moment2.w", "moment2.b", "beta1_power", "beta2_power", "global_step"}
    assert names | {"w", "b", "learning_rate"} == set(optimizer.parameters_dict())
    assert {p.name for p in optimizer.trainable_params()} == {"w", "b"}


class Fading(nn.LearningRateSchedule):
    """A schedule of the program's own."""

    def construct(self, step: Any) -> Any:
        return 0.1 / (1 + step.astype(dtypes.float32))


@pytest.mark.parametrize("rate", [0.1, Fading()], ids=["a number", "a schedule of the program's"])
def test_all_steps_have_one_graph(rate: Any) -> None:
    compiled_optimizer, eager = nn.Adam(parameters(), rate), nn.Adam(parameters(), rate)
    step = jit(compiled_optimizer)
    with assert_compiles(max=1):
        for gradients in GRADIENTS:
            step(tuple(map(Tensor, gradients)))
    for mine, other in zip(compiled_optimizer.parameters, run(eager), strict=True):
        np.testing.assert_allclose(mine.asnumpy(), other, rtol=1e-6)


def test_one_step_is_one_executable() -> None:
    optimizer = nn.Adam(parameters(), 0.1)
    run(optimizer)
    primitive = type(optimizer)._primitive
    assert primitive is not None
    before = dict(primitive.executables)
    run(optimizer)
    assert primitive.executables == before


@pytest.mark.parametrize("name", ("adam", "adagrad_like", "lamb", "sgd"))
def test_agrees_with_optax(name: str) -> None:
    optax = pytest.importorskip("optax")
    make, theirs = {
        # the same steps at eps = 0, where the place of eps makes no difference
        "adam": (lambda p: nn.Adam(p, 0.05, eps=0.0), optax.adam(0.05, eps=0.0)),
        "adagrad_like": (lambda p: nn.Adagrad(p, 0.1, 0.05), optax.adagrad(0.05, 0.1, eps=0.0)),
        "lamb": (lambda p: nn.Lamb(p, 0.05, weight_decay=0.1), optax.lamb(0.05, weight_decay=0.1)),
        "sgd": (lambda p: nn.SGD(p, 0.05, momentum=0.9, nesterov=True), optax.sgd(0.05, 0.9, nesterov=True)),
    }[name]
    values = [jnp.asarray(p) for p in START]
    state = theirs.init(values)
    for gradients in GRADIENTS:
        updates, state = theirs.update([jnp.asarray(g) for g in gradients], state, values)
        values = optax.apply_updates(values, updates)
    close(run(make(parameters())), [np.asarray(v) for v in values])


def test_lars_scales_before_the_step() -> None:
    params = parameters(("w", "bias"))
    optimizer = nn.LARS(nn.SGD(params, 1.0, weight_decay=0.1), coefficient=0.01)
    optimizer(tuple(map(Tensor, GRADIENTS[0])))
    w, g = START[0], GRADIENTS[0][0]
    ratio = 0.01 * np.linalg.norm(w) / (np.linalg.norm(g) + 0.1 * np.linalg.norm(w) + 1e-5)
    close([params[0].asnumpy()], [w - ratio * (g + 0.1 * w)])
    close([params[1].asnumpy()], [START[1] - (GRADIENTS[0][1] + 0.1 * START[1])])


def test_a_user_optimizer_uses_the_parts() -> None:
    class Plain(nn.Optimizer):
        def construct(self, gradients: Any) -> Any:
            gradients = self.scale_grad(self.decay_weight(self.flatten_gradients(gradients)))
            rate = self.get_lr()
            for param, gradient in zip(self.parameters, gradients, strict=True):
                param.set_data(param - rate * gradient)
            self.assignadd(self.global_step, self.global_step_increase_tensor)
            return True

    optimizer = Plain(0.05, parameters(), 0.3, 4.0)
    close(run(optimizer, scale=4.0), reference(sgd, {}, decay=(0.3, 0.3)))
    assert optimizer.global_step.asnumpy().tolist() == [STEPS]

    class Nothing(nn.Optimizer):
        pass

    with pytest.raises(NotImplementedError, match="must define construct"):
        Nothing(0.1, parameters())(tuple(map(Tensor, GRADIENTS[0])))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    (
        (lambda p: nn.SGD([], 0.1), ValueError, "at least one parameter"),
        (lambda p: nn.SGD(p[0], 0.1), TypeError, "iterable of Parameters"),
        (lambda p: nn.SGD([Tensor([1.0])], 0.1), TypeError, "takes Parameters"),
        (lambda p: nn.SGD([p[0], p[0]], 0.1), RuntimeError, "listed twice"),
        (lambda p: nn.SGD([p[0], Parameter(Tensor([1.0]), name="w")], 0.1), RuntimeError, "named 'w'"),
        (lambda p: nn.SGD(p, -0.1), ValueError, r"not be negative, got -0\.1$"),
        (lambda p: nn.SGD(p, True), TypeError, "bool"),
        (lambda p: nn.SGD(p, "fast"), TypeError, "not str"),
        (lambda p: nn.SGD(p, []), ValueError, "must not be empty"),
        (lambda p: nn.SGD(p, 0.1, weight_decay=-1.0), ValueError, "weight_decay"),
        (lambda p: nn.SGD(p, 0.1, loss_scale=0.0), ValueError, "loss_scale"),
        (lambda p: nn.SGD(p, 0.1, nesterov=True), ValueError, "nesterov"),
        (lambda p: nn.Adam(p, beta1=1.0), ValueError, "beta1"),
        (lambda p: nn.Adam(p, nope=1), TypeError, "nope"),
        (lambda p: nn.SGD([{"params": p, "momentum": 1}], 0.1), KeyError, "unknown keys"),
        (lambda p: nn.SGD(p, 0.1)((Tensor([1.0]),)), ValueError, "1 gradients for 2 parameters"),
        (lambda p: nn.SGD(p, 0.1)((Tensor([1.0]), Tensor([1.0]))), ValueError, "gradient 0 has shape"),
    ),
)
def test_mistakes_are_named(call: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        call(parameters())


@pytest.mark.parametrize("compiled", [False, True])
def test_a_setting_that_is_a_tensor_is_named(compiled: bool) -> None:
    net = nn.Dense(3, 1)
    optimizer = nn.Adam(net.trainable_params(), 0.1)
    optimizer.beta1 = Tensor(0.5)
    gradients = tuple(ops.ones_like(p) for p in optimizer.parameters)
    step = jit(lambda *found: optimizer(found)) if compiled else lambda *found: optimizer(found)
    with pytest.raises(TypeError, match=r"Adam\.beta1 must be a Python number, not a Tensor"):
        step(*gradients)


@pytest.mark.parametrize("compiled", [False, True])
def test_lars_within_a_step_with_loss_scale(compiled: bool) -> None:
    net = nn.Dense(4, 3)
    optimizer = nn.LARS(nn.Momentum(net.trainable_params(), 0.1, 0.9))
    step = nn.TrainOneStepWithLossScaleCell(
        nn.WithLossCell(net, nn.CrossEntropyLoss()), optimizer, nn.DynamicLossScaleUpdateCell(1024.0, 2, 2)
    )
    run = jit(step) if compiled else step
    x, y = Tensor(np.ones((2, 4), np.float32)), Tensor(np.array([0, 1], np.int32))
    losses = [float(run(x, y)[0]) for _ in range(3)]
    assert losses[2] < losses[1] < losses[0]
    before = net.weight.asnumpy().copy()
    assert run(Tensor(np.full((2, 4), np.inf, np.float32)), y)[1]
    np.testing.assert_array_equal(net.weight.asnumpy(), before)
