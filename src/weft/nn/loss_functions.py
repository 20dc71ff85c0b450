"""Losses that are one function of `ops`, or a short formula, with its settings."""

from __future__ import annotations

import math
from typing import Any

from weft.core.tensor import Tensor
from weft.nn.loss import LossBase
from weft.ops import loss as ops
from weft.ops.activation import log_sigmoid
from weft.ops.elementwise import exp, log
from weft.ops.select import where
from weft.ops.sequences import ctc_loss


class CTCLoss(LossBase):
    """How unlikely sequences of labels are where each may take several steps, or none: see `ops.ctc_loss`.

    Args:
        blank: the class that stands for no label.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        zero_infinity: zero in place of losses that are infinite.

    Example:
        >>> scores = Tensor([[[0.0, 0.0]], [[0.0, 0.0]]]).log_softmax(-1)
        >>> lengths = Tensor([2]), Tensor([1])
        >>> round(CTCLoss()(scores, Tensor([[1]]), *lengths).item(), 4)
        0.2877
    """

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def construct(self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any) -> Any:  # type: ignore[override]
        loss, _ = ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )
        return loss


class HingeEmbeddingLoss(LossBase):
    """Small distances of what is alike (label 1), large ones of what is not (label -1).

    Args:
        margin: how far apart is enough.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Example:
        >>> print(HingeEmbeddingLoss()(Tensor([0.5, 0.25]), Tensor([1.0, -1.0])))
        0.625
    """

    def __init__(self, margin: float = 1.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = margin

    def construct(self, logits: Tensor, labels: Tensor) -> Any:
        return ops.hinge_embedding_loss(logits, labels, margin=self.margin, reduction=self.reduction)


class PoissonNLLLoss(LossBase):
    """The negative log-likelihood of numbers under Poisson distributions.

    Args:
        log_input: inputs are logarithms of rates, and not rates.
        full: add Stirling's formula for the term that does not depend on the input.
        eps: added to rates of which the logarithm is taken.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Example:
        >>> print(PoissonNLLLoss()(Tensor([0.0, 0.0]), Tensor([1.0, 2.0])))
        1.0
    """

    def __init__(self, log_input: bool = True, full: bool = False, eps: float = 1e-8, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def construct(self, input: Tensor, target: Tensor) -> Any:
        if self.log_input:
            loss = exp(input) - target * input
        else:
            loss = input - target * log(input + self.eps)
        if self.full:
            above = target > 1
            stirling = target * log(target + self.eps) - target + 0.5 * log(2 * math.pi * (target + self.eps))
            loss = loss + where(above, stirling, 0.0)
        return self.get_loss(loss)


class GaussianNLLLoss(LossBase):
    """The negative log-likelihood of numbers under normal distributions.

    Args:
        full: add the term that does not depend on the input.
        eps: the least variance.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Example:
        >>> print(GaussianNLLLoss()(Tensor([1.0]), Tensor([3.0]), Tensor([1.0])))
        2.0
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.full = full
        self.eps = eps

    def construct(self, logits: Tensor, labels: Tensor, var: Any) -> Any:  # type: ignore[override]
        return ops.gaussian_nll_loss(logits, labels, var, full=self.full, eps=self.eps, reduction=self.reduction)


class TripletMarginLoss(LossBase):
    """Rows nearer to positive than to negative examples, by a margin: see `ops.triplet_margin_loss`.

    Args:
        p: the degree of the norm.
        swap: count the distance of positive and negative examples too, where it is smaller.
        eps: added to differences.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        margin: the margin.

    Example:
        >>> loss = TripletMarginLoss()(Tensor([[0.0]]), Tensor([[1.0]]), Tensor([[1.5]]))
        >>> round(loss.item(), 4)
        0.5
    """

    def __init__(
        self, p: int = 2, swap: bool = False, eps: float = 1e-6, reduction: str = "mean", margin: float = 1.0
    ) -> None:
        super().__init__(reduction)
        self.p = p
        self.swap = swap
        self.eps = eps
        self.margin = margin

    def construct(self, x: Tensor, positive: Tensor, negative: Tensor, margin: Any = None) -> Any:  # type: ignore[override]
        margin = self.margin if margin is None else margin
        return ops.triplet_margin_loss(
            x, positive, negative, margin=margin, p=self.p, eps=self.eps, swap=self.swap, reduction=self.reduction
        )


class MultiLabelSoftMarginLoss(LossBase):
    """One binary decision for each class, averaged over classes.

    Args:
        weight: factors of classes.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Example:
        >>> print(MultiLabelSoftMarginLoss()(Tensor([[0.0, 0.0]]), Tensor([[1.0, 0.0]])))
        0.6931472
    """

    def __init__(self, weight: Any = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight

    def construct(self, x: Tensor, target: Tensor) -> Any:
        loss = -(target * log_sigmoid(x) + (1 - target) * log_sigmoid(-x))
        if self.weight is not None:
            loss = loss * self.weight
        return self.get_loss(loss.mean(-1))
