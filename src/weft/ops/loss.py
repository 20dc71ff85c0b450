"""Loss functions."""

from __future__ import annotations

import functools
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from weft import dtypes
from weft.core import Primitive, Tensor, apply, as_operator, check_bounds, described, op, shows
from weft.core.conversion import converted
from weft.core.run_number import shown
from weft.ops._kinks import magnitude, rectified, vector_norm
from weft.ops._rules import floating, mean_of, of_one_type, operands, promoted, wide

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cosine_embedding_loss", "cross_entropy",
    "gaussian_nll_loss", "hinge_embedding_loss", "huber_loss", "kl_div", "l1_loss", "margin_ranking_loss", "mse_loss",
    "nll_loss", "smooth_l1_loss", "soft_margin_loss", "triplet_margin_loss",
]  # fmt: skip


def _reduced(name: str, loss: Any, reduction: str, weight: Any = None) -> Any:
    """A loss summed, averaged (over the weights' sum, if given) or left as it is."""
    if reduction == "none":
        return loss
    if reduction == "sum":
        return jnp.sum(loss)
    if reduction == "mean":
        return mean_of(loss) if weight is None else jnp.sum(loss) / jnp.sum(weight)
    raise ValueError(f"{name}: reduction must be 'none', 'mean' or 'sum', not {reduction!r}")


def _same_shape(name: str, a: Any, b: Any) -> None:
    if tuple(a.shape) != tuple(b.shape):
        raise ValueError(f"{name}: input and target need the same shape, got {tuple(a.shape)} and {tuple(b.shape)}")


_REDUCED: Final = described(reduction='``"mean"``, ``"sum"`` or ``"none"``.')


@op("MSELoss", classes=(), promotes=True, describe=_REDUCED)
@shows("mse_loss(Tensor([1.0, 2.0]), Tensor([1.0, 4.0]))", "2.0")
def mse_loss(input: Any, target: Any, *, reduction: str = "mean") -> Any:
    """Squared differences.

    Args:
        input: floating tensor.
        target: tensor that broadcasts with it.
    """
    input, target = operands("mse_loss", input, target)
    squares = jnp.square(input - target)
    return _reduced("mse_loss", floating(squares) if reduction == "mean" else squares, reduction)


@op("L1Loss", classes=(), promotes=True)
@shows("l1_loss(Tensor([1.0, 2.0]), Tensor([1.0, 4.0]))", "1.0")
def l1_loss(input: Any, target: Any, *, reduction: str = "mean") -> Any:
    """Absolute differences."""
    input, target = operands("l1_loss", input, target)
    if input.dtype == jnp.bool_:
        return _reduced("l1_loss", input ^ target, reduction) if reduction == "none" else jnp.any(input ^ target)
    return _reduced("l1_loss", magnitude(input - target), reduction)


@op("SmoothL1Loss", init="beta=1.0, reduction='none'", describe=_REDUCED)
@shows("smooth_l1_loss(Tensor([1.0, 2.0]), Tensor([1.5, 4.0]))", "[0.125 1.5  ]")
def smooth_l1_loss(input: Any, target: Any, *, beta: float = 1.0, reduction: str = "none") -> Any:
    """Differences, squared where they are below `beta`.

    Args:
        input: floating tensor.
        target: tensor of the same shape.
        beta: where the square ends.
    """
    _same_shape("smooth_l1_loss", input, target)
    if beta < 0:
        raise ValueError(f"smooth_l1_loss: beta must not be negative, got {beta}")
    input, target = operands("smooth_l1_loss", input, target)
    gap = floating(input - target)
    far = magnitude(gap)
    loss = far if beta == 0 else jnp.where(far < beta, 0.5 * jnp.square(gap) / beta, far - 0.5 * beta)
    return _reduced("smooth_l1_loss", loss, reduction)


@op("HuberLoss", classes=(), promotes=True)
@shows("huber_loss(Tensor([1.0, 2.0]), Tensor([1.0, 4.0]))", "0.75")
def huber_loss(input: Any, target: Any, *, reduction: str = "mean", delta: float = 1.0) -> Any:
    """Differences, half squared where they are below `delta` and scaled by it above."""
    if delta <= 0:
        raise ValueError(f"huber_loss: delta must be positive, got {delta}")
    input, target = operands("huber_loss", input, target)
    gap = floating(input - target)
    far = magnitude(gap)
    loss = jnp.where(far <= delta, 0.5 * jnp.square(gap), delta * (far - 0.5 * delta))
    return _reduced("huber_loss", loss, reduction)


def _tiny(x: Any) -> float:
    return 1e-12 if x.dtype.itemsize >= 4 else 1e-4


@jax.custom_jvp
def _cross_entropy_of(probability: Any, label: Any) -> Any:
    """Cross entropy of each probability, finite at 0 and 1."""
    tiny = _tiny(probability)
    logs = (jnp.log(jnp.maximum(p, tiny)) for p in (probability, 1 - probability))
    return -(label * next(logs) + (1 - label) * next(logs))


@_cross_entropy_of.defjvp
def _cross_entropy_of_jvp(primals: tuple[Any, Any], tangents: tuple[Any, Any]) -> tuple[Any, Any]:
    """The slope does not vanish where the logarithm was bounded: a wrong certainty can be unlearned."""
    (probability, label), (by_probability, by_label) = primals, tangents
    tiny = _tiny(probability)
    slope = (probability - label) / jnp.maximum(probability * (1 - probability), tiny)
    by_logs = jnp.log(jnp.maximum(1 - probability, tiny)) - jnp.log(jnp.maximum(probability, tiny))
    return _cross_entropy_of(probability, label), by_probability * slope + by_label * by_logs


@op("BinaryCrossEntropyLoss", classes="BinaryCrossEntropy", init="reduction='mean'", describe=_REDUCED)
@shows("binary_cross_entropy(Tensor([0.5]), Tensor([1.0]))", "0.6931472")
def binary_cross_entropy(logits: Any, labels: Any, weight: Any = None, *, reduction: str = "mean") -> Any:
    """Cross entropy of probabilities of one event each.

    Args:
        logits: probabilities, between 0 and 1.
        labels: true probabilities, of the same shape.
        weight: factor of each element, or None.
    """
    _same_shape("binary_cross_entropy", logits, labels)
    of_one_type("binary_cross_entropy", logits, labels)
    loss = _cross_entropy_of(logits, labels)
    if weight is not None:
        loss = loss * weight.astype(loss.dtype)
    return _reduced("binary_cross_entropy", loss, reduction)


@op("BCEWithLogits", classes="BCEWithLogitsLoss", init="reduction='mean'", describe=_REDUCED)
@shows("binary_cross_entropy_with_logits(Tensor([0.0]), Tensor([1.0]))", "0.6931472")
def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, pos_weight: Any = None, *, reduction: str = "mean"
) -> Any:
    """Cross entropy of the sigmoid of scores, computed without overflow.

    Args:
        input: scores.
        target: true probabilities, of the same shape.
        weight: factor of each element, or None.
        pos_weight: factor of the positive part, or None.
    """
    _same_shape("binary_cross_entropy_with_logits", input, target)
    input, target = operands("binary_cross_entropy_with_logits", input, target)
    factor = target if pos_weight is None else target * pos_weight.astype(input.dtype)
    loss = -(factor * jax.nn.log_sigmoid(input) + (1 - target) * jax.nn.log_sigmoid(-input))
    if weight is not None:
        loss = loss * weight.astype(loss.dtype)
    return _reduced("binary_cross_entropy_with_logits", loss, reduction)


@op("KLDivLoss", init="reduction='mean'")
@shows("kl_div(Tensor([0.0]), Tensor([1.0]))", "0.0")
def kl_div(logits: Any, labels: Any, *, reduction: str = "mean") -> Any:
    """Kullback-Leibler divergence of log-probabilities from probabilities.

    Args:
        logits: log-probabilities.
        labels: probabilities.
        reduction: ``"mean"``, ``"batchmean"`` (divided by the first dimension), ``"sum"`` or ``"none"``.
    """
    logits, labels = operands("kl_div", logits, labels)
    positive = labels > 0
    loss = jnp.where(positive, labels * (jnp.log(jnp.where(positive, labels, 1)) - logits), jnp.zeros((), labels.dtype))
    if reduction == "batchmean":
        return jnp.sum(loss) / loss.shape[0]
    return _reduced("kl_div", loss, reduction)


# -- classification ------------------------------------------------------------------------------------------------

#: the class to ignore where all classes count
NO_CLASS: Final = -(1 << 31)


def _class_axis(scores: Any) -> int:
    """The classes are dimension 1 of scores, and the only one of a vector."""
    return min(scores.ndim - 1, 1)


def _by_class(vector: Any, scores: Any) -> Any:
    """A number for each class, as it broadcasts with scores."""
    return vector.reshape((-1, *[1] * (scores.ndim - 2)))


def _class_loss(log_probabilities: Any, target: Any, weight: Any, ignore_index: int, smoothing: float) -> Any:
    """Loss and weight of each position."""
    axis = _class_axis(log_probabilities)
    count = log_probabilities.shape[axis]
    target = wide(target)
    ignored = jnp.zeros(target.shape, bool) if ignore_index == NO_CLASS else target == ignore_index
    safe = jnp.where(ignored | (target < 0) | (target >= count), 0, target)
    picked = -jnp.take_along_axis(log_probabilities, jnp.expand_dims(safe, axis), axis=axis).squeeze(axis)
    inside = weights = converted(~ignored, log_probabilities.dtype)
    if weight is not None:
        weights = jnp.take(weight.astype(log_probabilities.dtype), safe) * inside
    loss = picked * weights
    if smoothing:
        each = log_probabilities if weight is None else log_probabilities * _by_class(weight, log_probabilities)
        spread = -jnp.sum(each, axis=axis) * inside / count
        loss = (1 - smoothing) * loss + smoothing * spread
    return loss, weights


def _check_classes(name: str, scores: Any, target: Any, weight: Any) -> None:
    expected = () if scores.ndim == 1 else (scores.shape[0], *scores.shape[2:])
    if scores.ndim < 1 or tuple(target.shape) != tuple(expected):
        raise ValueError(
            f"{name}: scores of shape {tuple(scores.shape)} (N, C, ...) take class indices of shape {tuple(expected)}, "
            f"not {tuple(target.shape)}"
        )
    classes = scores.shape[_class_axis(scores)]
    if weight is not None and tuple(weight.shape) != (classes,):
        raise ValueError(f"{name}: weight must have shape ({classes},), not {tuple(weight.shape)}")


def _class_bounds(name: str, scores: Any, target: Any, ignore_index: int) -> None:
    """Refuses classes that there are no scores for."""
    shape = np.shape(scores)
    if shape:
        count = shape[0 if len(shape) == 1 else 1]
        ignored = None if ignore_index == NO_CLASS else ignore_index
        check_bounds(target, count, f"{name}: there is no class {{}} of {shown(count)}", least=0, ignored=ignored)


_OF_CLASSES: Final = described(
    weight="factor of each class (C,), or None.",
    ignore_index="a class that does not count.",
    reduction='``"mean"`` (over the weights\' sum), ``"sum"`` or ``"none"``.',
    label_smoothing="share of the uniform distribution in the target.",
)


@op(
    "NegativeLogLikelihood",
    classes=(),
    describe=_OF_CLASSES,
    bounds=lambda inputs, target, weight, ignore_index, *_: _class_bounds("nll_loss", inputs, target, ignore_index),
)
@shows("nll_loss(Tensor([[-1.0, -2.0]]), Tensor([1]))", "2.0")
def nll_loss(
    inputs: Any,
    target: Any,
    weight: Any = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """Negative log-likelihood of true classes.

    Args:
        inputs: log-probabilities (N, C, ...) or (C,).
        target: integer classes (N, ...).
    """
    _check_classes("nll_loss", inputs, target, weight)
    loss, weights = _class_loss(floating(inputs), target, weight, ignore_index, label_smoothing)
    return _reduced("nll_loss", loss, reduction, weights)


@op(
    "NLLLossWithWeight",
    classes="NLLLoss",
    init="reduction='mean', ignore_index=-100",
    multiple=True,
    bounds=lambda logits, labels, weight, reduction, ignore: _class_bounds("NLLLoss", logits, labels, ignore),
)
def _nll_with_weight(logits: Any, labels: Any, weight: Any = None, *, reduction: str, ignore_index: int) -> Any:
    """Negative log-likelihood and the weights' sum: ``NLLLoss(reduction)(logits, labels, weight)``."""
    loss, weights = _class_loss(logits, labels, weight, ignore_index, 0.0)
    return _reduced("NLLLoss", loss, reduction, weights), jnp.sum(weights)


def _cross_entropy_rule(input: Tensor, target: Tensor, weight: Any, out: Tensor, dout: Tensor, **settings: Any) -> Any:
    if target.dtype.category == 1 and weight is None and not settings["label_smoothing"]:
        return (_cross_entropy_grad(input, target, dout, settings["ignore_index"], settings["reduction"]),)
    return apply(_CROSS_ENTROPY_GENERAL_GRAD, (input, target, weight, dout), tuple(settings.values()))


@op(
    "CrossEntropy",
    classes=(),
    describe=_OF_CLASSES,
    gradient=_cross_entropy_rule,
    bounds=lambda input, target, weight, ignore_index, *_: _class_bounds("cross_entropy", input, target, ignore_index),
)
@shows("cross_entropy(Tensor([[0.0, 0.0]]), Tensor([1]))", "0.6931472")
def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """Cross entropy between the softmax of scores and true classes.

    Args:
        input: scores (N, C, ...) or (C,).
        target: integer classes (N, ...), or probabilities in the shape of the scores.
    """
    if input.ndim == 0:
        raise ValueError("cross_entropy: needs scores along a dimension, not a tensor without dimensions")
    axis = _class_axis(input)
    if not jnp.issubdtype(input.dtype, jnp.floating):
        raise TypeError(f"cross_entropy: the scores must be floating, not {dtypes.of_np(input.dtype)}")
    if jnp.issubdtype(target.dtype, jnp.floating):
        _same_shape("cross_entropy", input, target)
        input, target = promoted(input, target)
        log_probabilities = jax.nn.log_softmax(input, axis=axis)
        if label_smoothing:
            target = target * (1 - label_smoothing) + label_smoothing / input.shape[axis]
        if weight is not None:
            target = target * _by_class(weight.astype(target.dtype), input)
        return _reduced("cross_entropy", -jnp.sum(target * log_probabilities, axis=axis), reduction)
    _check_classes("cross_entropy", input, target, weight)
    if weight is not None:
        input, weight = promoted(input, weight)
    log_probabilities = jax.nn.log_softmax(input, axis=axis)
    loss, weights = _class_loss(log_probabilities, target, weight, ignore_index, label_smoothing)
    return _reduced("cross_entropy", loss, reduction, weights)


@op("CrossEntropyGrad", classes=())
def _cross_entropy_grad(input: Any, target: Any, dout: Any, *, ignore_index: int, reduction: str) -> Any:
    """The common case in closed form: softmax minus the one-hot target."""
    axis = _class_axis(input)
    target = wide(target)
    classes = _by_class(jnp.arange(input.shape[axis], dtype=target.dtype), input)
    all_count = ignore_index == NO_CLASS
    inside = target != ignore_index
    scale = dout
    if reduction == "mean":  # one over nothing is NaN, its gradients are 0
        size: Any = target.size  # where a graph leaves it open it is no int
        count = jnp.asarray(size) if all_count and isinstance(size, int) else jnp.sum(inside)
        scale = dout / jnp.maximum(count, 1).astype(dout.dtype)
    if not all_count:
        scale = jnp.where(inside, scale, jnp.zeros((), dout.dtype))
    scale = jnp.expand_dims(jnp.broadcast_to(scale, target.shape), axis)
    hot = converted(jnp.expand_dims(target, axis) == classes, input.dtype)
    return (jax.nn.softmax(input, axis=axis) - hot) * scale


def _cross_entropy_general_grad(input: Any, target: Any, weight: Any, dout: Any, **settings: Any) -> Any:
    compute = functools.partial(cross_entropy.primitive.implementation, **settings)  # type: ignore[attr-defined]
    by_input, by_target, by_weight = jax.vjp(compute, input, target, weight)[1](dout)
    if not jnp.issubdtype(target.dtype, jnp.floating):
        by_target = jnp.zeros(target.shape, jnp.float32)
    return by_input, by_target, jnp.zeros(()) if weight is None else by_weight


_CROSS_ENTROPY_GENERAL_GRAD = Primitive(
    "CrossEntropyGeneralGrad",
    _cross_entropy_general_grad,
    attr_names=("ignore_index", "reduction", "label_smoothing"),
    multiple=True,
)


@op("SoftmaxCrossEntropyWithLogits", multiple=True)
@shows("softmax_cross_entropy_with_logits(Tensor([[0.0, 0.0]]), Tensor([[0.0, 1.0]]))[1]", "[[ 0.5 -0.5]]")
def softmax_cross_entropy_with_logits(logits: Any, labels: Any) -> Any:
    """Cross entropy of each row with label probabilities, and its gradient with respect to the scores.

    Args:
        logits: scores (N, C).
        labels: probabilities (N, C).

    Returns:
        tuple: losses (N,), and softmax minus labels (N, C).
    """
    _same_shape("SoftmaxCrossEntropyWithLogits", logits, labels)
    labels = labels.astype(logits.dtype)
    loss = -jnp.sum(labels * jax.nn.log_softmax(logits, axis=-1), axis=-1)
    return loss, jax.nn.softmax(logits, axis=-1) - labels


@as_operator
def SparseSoftmaxCrossEntropyWithLogits(logits: Tensor, labels: Tensor, *, is_grad: bool = False) -> Tensor:
    """Mean cross entropy with class indices, or its gradient: ``SparseSoftmaxCrossEntropyWithLogits(is_grad)``."""
    if not is_grad:
        return cross_entropy(logits, labels)
    _class_bounds("SparseSoftmaxCrossEntropyWithLogits", logits, labels, -100)
    return _cross_entropy_grad(logits, labels, Tensor(1.0, logits.dtype), -100, "mean")


@op("SigmoidCrossEntropyWithLogits")
@shows("sigmoid_cross_entropy_with_logits(Tensor([0.0]), Tensor([1.0]))", "[0.6931472]")
def sigmoid_cross_entropy_with_logits(logits: Any, label: Any) -> Any:
    """Cross entropy of the sigmoid of scores, for each element."""
    _same_shape("SigmoidCrossEntropyWithLogits", logits, label)
    return jax.nn.softplus(logits) - logits * label


# -- ranking and distances -------------------------------------------------------------------------------------------


@op("CosineEmbeddingLoss", classes=())
@shows("cosine_embedding_loss(Tensor([[1.0, 0.0]]), Tensor([[1.0, 0.0]]), Tensor([-1]))", "1.0")
def cosine_embedding_loss(
    input1: Any, input2: Any, target: Any, *, margin: float = 0.0, reduction: str = "mean"
) -> Any:
    """Push rows towards each other (target 1) or apart (target -1), by the cosine of their angle."""
    _same_shape("cosine_embedding_loss", input1, input2)
    input1, input2 = floating(input1), floating(input2)
    dot = jnp.sum(input1 * input2, axis=1)
    norms = jnp.sum(jnp.square(input1), axis=1) * jnp.sum(jnp.square(input2), axis=1)
    cosine = dot * jax.lax.rsqrt(jnp.maximum(norms, 1e-12))
    loss = jnp.where(target == 1, 1 - cosine, jnp.where(target == -1, jnp.maximum(cosine - margin, 0), 0))
    return _reduced("cosine_embedding_loss", loss, reduction)


@op("MarginRankingLoss", classes=())
@shows("margin_ranking_loss(Tensor([1.0]), Tensor([3.0]), Tensor([1.0]))", "2.0")
def margin_ranking_loss(input1: Any, input2: Any, target: Any, *, margin: float = 0.0, reduction: str = "mean") -> Any:
    """Ask that the first input be larger (target 1) or smaller (target -1) than the second."""
    return _reduced("margin_ranking_loss", rectified(-target * (input1 - input2) + margin), reduction)


@op("HingeEmbeddingLoss", classes=())
@shows('hinge_embedding_loss(Tensor([2.0, 0.25]), Tensor([1, -1]), reduction="none")', "[2.   0.75]")
def hinge_embedding_loss(inputs: Any, targets: Any, *, margin: float = 1.0, reduction: str = "mean") -> Any:
    """The input itself (target 1), or how far it stays below a margin (target -1)."""
    loss = jnp.where(targets == 1, inputs, jnp.where(targets == -1, jnp.maximum(margin - inputs, 0), 0))
    return _reduced("hinge_embedding_loss", loss, reduction)


@op("SoftMarginLoss", init="reduction='mean'")
@shows("soft_margin_loss(Tensor([0.0]), Tensor([1.0]))", "0.6931472")
def soft_margin_loss(input: Any, target: Any, *, reduction: str = "mean") -> Any:
    """Logistic loss of targets 1 and -1."""
    _same_shape("soft_margin_loss", input, target)
    return _reduced("soft_margin_loss", -jax.nn.log_sigmoid(input * target.astype(input.dtype)), reduction)


@op("TripletMargin", classes=())
@shows("triplet_margin_loss(Tensor([[0.0]]), Tensor([[1.0]]), Tensor([[5.0]]))", "0.0")
def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    *,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """Ask that an anchor be nearer to a positive than to a negative, by a margin."""

    def distance(a: Any, b: Any) -> Any:
        return vector_norm(a - b + eps, p, (-1,))

    far = distance(anchor, negative)
    if swap:
        far = jnp.minimum(far, distance(positive, negative))
    return _reduced("triplet_margin_loss", jnp.maximum(distance(anchor, positive) - far + margin, 0), reduction)


@op("GaussianNLL", classes=(), describe=_REDUCED)
@shows("gaussian_nll_loss(Tensor([0.0]), Tensor([2.0]), Tensor([1.0]))", "2.0")
def gaussian_nll_loss(
    x: Any, target: Any, var: Any, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Any:
    """Negative log-likelihood of targets under normal distributions.

    Args:
        x: means.
        target: observed values.
        var: variances, which count as `eps` at least.
        full: keep the constant term.
        eps: smallest variance.
    """
    x, target, var = floating(x), floating(target), floating(var)
    var = var + jax.lax.stop_gradient(jnp.maximum(var, eps) - var)  # the floor is no path for gradients
    loss = 0.5 * (jnp.log(var) + jnp.square(x - target) / var)
    if full:
        loss = loss + 0.5 * np.log(2 * np.pi).astype(loss.dtype)
    return _reduced("gaussian_nll_loss", loss, reduction)
