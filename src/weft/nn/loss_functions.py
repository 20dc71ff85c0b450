"""Losses that are one function of `ops`, or a short formula, with its settings."""

from __future__ import annotations

import math
from typing import Any

from weft import ops as all_operations
from weft.core import Tensor, transparent
from weft.dtypes import float32, int32, int64
from weft.nn.declared import declared, flag, positive_int
from weft.nn.loss import LossBase
from weft.ops import cat, clamp, exp, full, log, log_sigmoid, log_softmax, matmul, minimum, randperm, sqrt, where
from weft.ops import loss as ops
from weft.ops._checks import floats, lists
from weft.ops.sequences import ctc_loss

#: looked up when they are called
functions: Any = all_operations


class CTCLoss(LossBase):
    """How unlikely sequences of labels are where each may take several steps, or none: see `ops.ctc_loss`.

    Args:
        blank: the class that stands for no label.
        zero_infinity: zero in place of losses that are infinite.

    Example:
        >>> scores = Tensor([[[0.0, 0.0]], [[0.0, 0.0]]]).log_softmax(-1)
        >>> lengths = Tensor([2]), Tensor([1])
        >>> round(CTCLoss()(scores, Tensor([[1]]), *lengths).item(), 4)
        0.2877
    """

    @declared()
    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None: ...

    def construct(self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any) -> Any:  # type: ignore[override]
        if log_probs.ndim == 2:  # one sequence by itself
            lengths = input_lengths.reshape(1), target_lengths.reshape(1)
            return self.construct(log_probs.expand_dims(1), targets.reshape(1, -1), *lengths).reshape(())
        settings = self.blank, self.reduction, self.zero_infinity
        return ctc_loss(log_probs, targets, input_lengths, target_lengths, *settings)[0]


class HingeEmbeddingLoss(LossBase, shows=("HingeEmbeddingLoss()(Tensor([0.5, 0.25]), Tensor([1.0, -1.0]))", "0.625")):
    """Small distances of what is alike (label 1), large ones of what is not (label -1).

    Args:
        margin: how far apart is enough.
    """

    @declared()
    def __init__(self, margin: float = 1.0, reduction: str = "mean") -> None: ...

    def construct(self, logits: Tensor, labels: Tensor) -> Any:
        return ops.hinge_embedding_loss(logits, labels, self.margin, self.reduction)


class PoissonNLLLoss(LossBase, shows=("PoissonNLLLoss()(Tensor([0.0, 0.0]), Tensor([1.0, 2.0]))", "1.0")):
    """The negative log-likelihood of numbers under Poisson distributions.

    Args:
        log_input: inputs are logarithms of rates, and not rates.
        full: add Stirling's formula for the term that does not depend on the input.
        eps: added to rates of which the logarithm is taken.
    """

    @declared()
    def __init__(
        self, log_input: bool = True, full: bool = False, eps: float = 1e-8, reduction: str = "mean"
    ) -> None: ...

    def construct(self, input: Tensor, target: Tensor) -> Any:
        loss = exp(input) - target * input if self.log_input else input - target * log(input + self.eps)
        if self.full:
            stirling = target * log(target + self.eps) - target + 0.5 * log(2 * math.pi * (target + self.eps))
            loss = loss + where(target > 1, stirling, 0.0)
        return self.get_loss(loss)


class GaussianNLLLoss(LossBase, shows=("GaussianNLLLoss()(Tensor([1.0]), Tensor([3.0]), Tensor([1.0]))", "2.0")):
    """The negative log-likelihood of numbers under normal distributions.

    Args:
        full: add the term that does not depend on the input.
        eps: the least variance.
    """

    @declared()
    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None: ...

    def construct(self, logits: Tensor, labels: Tensor, var: Any) -> Any:  # type: ignore[override]
        return ops.gaussian_nll_loss(logits, labels, var, full=self.full, eps=self.eps, reduction=self.reduction)


class TripletMarginLoss(
    LossBase, shows=("TripletMarginLoss()(Tensor([[0.0]]), Tensor([[1.0]]), Tensor([[1.5]])).round(4)", "0.5")
):
    """Rows nearer to positive than to negative examples, by a margin: see `ops.triplet_margin_loss`.

    Args:
        p: the degree of the norm.
        swap: count the distance of positive and negative examples too, where it is smaller.
        eps: added to differences.
        margin: the margin.
    """

    @declared()
    def __init__(
        self, p: int = 2, swap: bool = False, eps: float = 1e-6, reduction: str = "mean", margin: float = 1.0
    ) -> None: ...

    def construct(self, x: Tensor, positive: Tensor, negative: Tensor, margin: Any = None) -> Any:  # type: ignore[override]
        margin = self.margin if margin is None else margin
        return ops.triplet_margin_loss(x, positive, negative, margin, self.p, self.eps, self.swap, self.reduction)


class MultiLabelSoftMarginLoss(
    LossBase, shows=("MultiLabelSoftMarginLoss()(Tensor([[0.0, 0.0]]), Tensor([[1.0, 0.0]]))", "0.6931472")
):
    """One binary decision for each class, averaged over classes.

    Args:
        weight: factors of classes.
    """

    @declared()
    def __init__(self, weight: Any = None, reduction: str = "mean") -> None: ...

    def construct(self, x: Tensor, target: Tensor) -> Any:
        loss = -(target * log_sigmoid(x) + (1 - target) * log_sigmoid(-x))
        if self.weight is not None:
            loss = loss * self.weight
        return self.get_loss(loss.mean(-1))


class MultiMarginLoss(LossBase, shows=("MultiMarginLoss()(Tensor([[0.5, 1.0]]), Tensor([1]))", "0.25")):
    """The score of the right class above all others by a margin, see `ops.multi_margin_loss`.

    Args:
        p: the power of what is lacking, 1 or 2.
        margin: the margin.
        weight: factors of classes.
    """

    @declared()
    def __init__(self, p: int = 1, margin: float = 1.0, reduction: str = "mean", weight: Any = None) -> None: ...

    def construct(self, x: Tensor, target: Tensor, weight: Any = None) -> Any:
        weight = self.weight if weight is None else weight
        return functions.MultiMarginLoss(self.p, self.margin, self.reduction)(x, target, weight)


class MultilabelMarginLoss(
    LossBase, shows=("MultilabelMarginLoss()(Tensor([[0.5, 1.0]]), Tensor([[1, -1]], int32))", "0.25")
):
    """The scores of all right classes above those of all others by 1, see `ops.multilabel_margin_loss`."""

    def construct(self, x: Tensor, target: Tensor) -> Any:
        return functions.multilabel_margin_loss(x, target, self.reduction)


class TripletMarginWithDistanceLoss(LossBase):
    """Rows nearer to positive than to negative examples, by a margin, at a distance of one's own.

    Args:
        distance_function: the distance of two tensors of rows; None for the Euclidean one.
        swap: count the distance of positive and negative examples too, where it is smaller.
        margin: the margin.

    Raises:
        TypeError: `swap` is no bool, or `margin` no float.

    Example:
        >>> loss = TripletMarginWithDistanceLoss(lambda a, b: (a - b).abs().sum(-1))
        >>> print(loss(Tensor([[0.0]]), Tensor([[1.0]]), Tensor([[1.5]])))
        0.5
    """

    @declared(swap=flag)
    def __init__(
        self, distance_function: Any = None, swap: bool = False, reduction: str = "mean", margin: float = 1.0
    ) -> None: ...

    def _made(self) -> None:
        floats("TripletMarginWithDistanceLoss", margin=self.margin)

    @transparent
    def construct(self, x: Tensor, positive: Tensor, negative: Tensor) -> Any:  # type: ignore[override]
        if min(x.ndim, positive.ndim, negative.ndim) < 2:
            raise ValueError("TripletMarginWithDistanceLoss: the inputs must have 2 dimensions")
        distance = _euclidean if self.distance_function is None else self.distance_function
        near, far = distance(x, positive), distance(x, negative)
        if self.swap:
            far = minimum(far, distance(positive, negative))
        return self.get_loss(clamp(near - far + self.margin, 0))


def _euclidean(a: Any, b: Any) -> Any:
    difference = a - b + 1e-6
    return sqrt((difference * difference).sum(-1))


class SampledSoftmaxLoss(LossBase):
    """Cross-entropy of the right classes and a few drawn ones, for large numbers of classes.

    Args:
        num_sampled: how many classes are drawn.
        num_classes: how many there are.
        num_true: how many classes of each sample are right.
        sampled_values: the drawn classes, the expected numbers of draws of the right classes, and those of the drawn
            ones; None draws them, each as likely.
        remove_accidental_hits: whether drawn classes that are right for a sample do not count for it.
        seed: of the draws.

    Raises:
        TypeError: `sampled_values` is neither list nor tuple.
        ValueError: a number is larger than that of the classes, or `sampled_values` are not three.

    Example:
        >>> drawn = Tensor([1]), Tensor([[1.0]]), Tensor([1.0])
        >>> loss = SampledSoftmaxLoss(1, 2, sampled_values=drawn)
        >>> print(loss(Tensor([[1.0], [1.0]]), Tensor([0.0, 0.0]), Tensor([[0]]), Tensor([[2.0]])).round(4))
        [0.6931]
    """

    @declared(num_sampled=positive_int, num_true=positive_int)
    def __init__(
        self,
        num_sampled: int,
        num_classes: int,
        num_true: int = 1,
        sampled_values: Any = None,
        remove_accidental_hits: bool = True,
        seed: int = 0,
        reduction: str = "none",
    ) -> None: ...

    def _made(self) -> None:
        name = "SampledSoftmaxLoss"
        if max(self.num_sampled, self.num_true) > self.num_classes:
            raise ValueError(
                f"{name}: num_sampled and num_true must be at most the number of classes, {self.num_classes}, not "
                f"{self.num_sampled} and {self.num_true}"
            )
        if self.sampled_values is not None:
            lists(name, sampled_values=self.sampled_values)
            if len(self.sampled_values) != 3:
                raise ValueError(f"{name}: sampled_values must be three, not {len(self.sampled_values)}")

    def _drawn(self, labels: Tensor) -> Any:
        """Distinct classes, each as likely, and expected numbers."""
        order = randperm(self.num_classes)[: self.num_sampled]
        share = self.num_sampled / self.num_classes
        return order, full(labels.shape, share, dtype=float32), full((self.num_sampled,), share, dtype=float32)

    def construct(self, weights: Tensor, biases: Tensor, labels: Tensor, logits: Tensor) -> Any:  # type: ignore[override]
        if labels.dtype not in (int32, int64):
            raise TypeError(f"SampledSoftmaxLoss: labels must be int32 or int64, not {labels.dtype}")
        labels = labels.reshape(-1, self.num_true)
        drawn, of_right, of_drawn = self._drawn(labels) if self.sampled_values is None else self.sampled_values
        right = (weights[labels] * logits.expand_dims(1)).sum(-1) + biases[labels] - log(of_right)
        others = matmul(logits, weights[drawn].swapaxes(0, 1)) + biases[drawn] - log(of_drawn)
        if self.remove_accidental_hits:
            hits = (labels.expand_dims(-1) == drawn).any(1)
            others = where(hits, others - 3.4e38, others)
        scores = cat((right, others), 1)
        return self.get_loss(-log_softmax(scores, 1)[:, : self.num_true].mean(1))
