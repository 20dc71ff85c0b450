"""Loss layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft import dtypes
from weft.core import Tensor
from weft.nn.cell import Cell
from weft.nn.declared import Described, declared, flag, number, real, with_operators
from weft.nn.layer.activation import get_activation
from weft.ops import loss as ops
from weft.ops import operations
from weft.ops._checks import floats, ints, one_of
from weft.ops.activation import log_softmax
from weft.ops.gather import gather_elements


@with_operators(
    cast=lambda loss: operations.Cast(),
    mul=lambda loss: operations.Mul(),
    reduce_mean=lambda loss: operations.ReduceMean(),
    reduce_sum=lambda loss: operations.ReduceSum(),
)
class LossBase(Described, Cell):
    """Base of losses: computes in `construct`, reduces with `get_loss`.

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Example:
        >>> import weft
        >>> class Absolute(LossBase):
        ...     def construct(self, base, target):
        ...         return self.get_loss((base - target).abs())
        >>> print(Absolute()(weft.Tensor([1.0, 3.0]), weft.Tensor([0.0, 0.0])))
        2.0
    """

    _example = """
        >>> print({})
        {}
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        one_of(type(self).__name__, ("mean", "sum", "none"), reduction=reduction)
        self.reduction = reduction
        self.average = reduction == "mean"
        self.reduce = reduction != "none"

    def get_axis(self, x: Tensor) -> tuple[int, ...]:
        """All axes of a tensor.

        Args:
            x: the tensor.
        """
        return tuple(range(x.ndim))

    def get_loss(self, x: Any, weights: Any = 1.0) -> Any:
        """The loss weighted and reduced.

        Args:
            x: loss of each element.
            weights: factors, a tensor or a number.
        """
        x = x * weights
        if self.reduction == "mean":
            return x.mean()
        if self.reduction == "sum":
            return x.sum()
        return x

    def construct(self, logits: Any, labels: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define construct(self, logits, labels)")


def _need_tensors(name: str, *values: Any) -> None:
    for value in values:
        if not isinstance(value, Tensor):
            raise TypeError(f"{name}: logits and labels must be Tensors, not {type(value).__name__}")


class _Compared(LossBase):
    """Base of the losses that an operation computes: ``class MSELoss(_Compared, operation=ops.mse_loss)``.

    The operation is given what the constructor keeps, by the names of its further parameters, in their order.

    Args:
        weight: factor of each class, or None.
        ignore_index: a class that does not count.
    """

    _example = """
        >>> print({name}({})(Tensor({}), Tensor({})))
        {}
    """

    def __init_subclass__(cls, operation: Callable[..., Any] | None = None, **kwargs: Any) -> None:
        if operation is not None:
            given: Any = cls.__init__
            kept = given.__code__.co_varnames[: given.__code__.co_argcount]
            names = [name for name in operation.__code__.co_varnames[2:] if name in kept]

            def construct(self: LossBase, logits: Tensor, labels: Tensor) -> Tensor:
                _need_tensors(type(self).__name__, logits, labels)
                own = type(self).get_loss is not LossBase.get_loss  # the program's, which reduces
                settings = ["none" if own and name == "reduction" else getattr(self, name) for name in names]
                found = operation(logits, labels, *settings)
                return self.get_loss(found) if own else found

            construct.__qualname__ = f"{cls.__qualname__}.construct"
            cls.construct = construct  # type: ignore[method-assign]
        super().__init_subclass__(**kwargs)


class MSELoss(_Compared, operation=ops.mse_loss, shows=("", "[1.0, 2.0]", "[1.0, 4.0]", "2.0")):
    """Mean of squared differences."""


class L1Loss(_Compared, operation=ops.l1_loss, shows=("", "[1.0, 2.0]", "[1.0, 4.0]", "1.0")):
    """Mean of absolute differences."""


class SmoothL1Loss(_Compared, operation=ops.smooth_l1_loss, shows=("", "[1.0, 2.0]", "[1.5, 4.0]", "[0.125 1.5  ]")):
    """Differences, squared where they are below `beta`.

    Args:
        beta: where the square ends.
    """

    @declared(beta=number)
    def __init__(self, beta: float = 1.0, reduction: str = "none") -> None: ...


class HuberLoss(_Compared, operation=ops.huber_loss, shows=("", "[1.0, 2.0]", "[1.0, 4.0]", "0.75")):
    """Differences, half squared where they are below `delta`.

    Args:
        delta: where the square ends.
    """

    @declared(delta=real)
    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None: ...


class BCELoss(_Compared, operation=ops.binary_cross_entropy, shows=('reduction="mean"', "[0.5]", "[1.0]", "0.6931472")):
    """Binary cross entropy of probabilities.

    Args:
        weight: factor of each element, or None.
    """

    @declared()
    def __init__(self, weight: Tensor | None = None, reduction: str = "mean") -> None: ...


class BCEWithLogitsLoss(
    _Compared, operation=ops.binary_cross_entropy_with_logits, shows=("", "[0.0]", "[1.0]", "0.6931472")
):
    """Binary cross entropy of the sigmoid of scores.

    Args:
        weight: factor of each element, or None.
        pos_weight: factor of the positive part, or None.
    """

    @declared()
    def __init__(
        self, reduction: str = "mean", weight: Tensor | None = None, pos_weight: Tensor | None = None
    ) -> None: ...


class CrossEntropyLoss(_Compared, operation=ops.cross_entropy, shows=("", "[[0.0, 0.0]]", "[1]", "0.6931472")):
    """Cross entropy between the softmax of scores and true classes.

    Args:
        label_smoothing: share of the uniform distribution in the target.
    """

    @declared(label_smoothing=real)
    def __init__(
        self,
        weight: Tensor | None = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None: ...


class NLLLoss(_Compared, operation=ops.nll_loss, shows=("", "[[-1.0, -2.0]]", "[1]", "2.0")):
    """Negative log-likelihood of true classes."""

    @declared()
    def __init__(self, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean") -> None: ...


class KLDivLoss(_Compared, operation=ops.kl_div, shows=("", "[0.0]", "[1.0]", "0.0")):
    """Kullback-Leibler divergence of log-probabilities from probabilities.

    Args:
        reduction: ``"mean"``, ``"batchmean"``, ``"sum"`` or ``"none"``.
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__("mean" if reduction == "batchmean" else reduction)
        self.reduction = reduction


@with_operators(
    softmax_cross_entropy=lambda loss: operations.SoftmaxCrossEntropyWithLogits(),
    sparse_softmax_cross_entropy=lambda loss: operations.SparseSoftmaxCrossEntropyWithLogits(),
    one_hot=lambda loss: operations.OneHot(),
    on_value=lambda loss: Tensor(1.0, dtypes.float32),
    off_value=lambda loss: Tensor(0.0, dtypes.float32),
)
class SoftmaxCrossEntropyWithLogits(
    LossBase, shows=("SoftmaxCrossEntropyWithLogits(sparse=True)(Tensor([[0.0, 0.0]]), Tensor([1]))", "[0.6931472]")
):
    """Cross entropy between the softmax of scores and labels.

    Args:
        sparse: labels are class indices (N,); otherwise probabilities (N, C).
    """

    @declared(sparse=flag)
    def __init__(self, sparse: bool = False, reduction: str = "none") -> None: ...

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        name = "SoftmaxCrossEntropyWithLogits"
        _need_tensors(name, logits, labels)
        if self.sparse:
            if labels.dtype.category != 1:
                raise TypeError(f"{name}(sparse=True) takes integer class labels, not {labels.dtype}")
            return ops.cross_entropy(logits, labels, None, ops.NO_CLASS, self.reduction)
        if labels.shape != logits.shape:
            raise ValueError(
                f"{name}: labels of shape {labels.shape} do not fit logits of {logits.shape}; use sparse=True for "
                "class indices"
            )
        if not labels.dtype.is_floating:
            labels = labels.astype(logits.dtype)
        return self.get_loss(ops.softmax_cross_entropy_with_logits(logits, labels)[0])


class CosineEmbeddingLoss(
    LossBase, shows=("CosineEmbeddingLoss()(Tensor([[1.0, 0.0]]), Tensor([[2.0, 0.0]]), Tensor([-1]))", "1.0")
):
    """Pushes rows towards each other or apart, by the cosine of their angle.

    Args:
        margin: cosine below which rows that should be apart are left alone.
    """

    @declared(margin=real)
    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None: ...

    def construct(self, logits_x1: Tensor, logits_x2: Tensor, labels: Tensor) -> Tensor:  # type: ignore[override]
        return ops.cosine_embedding_loss(logits_x1, logits_x2, labels, self.margin, self.reduction)


class MarginRankingLoss(LossBase, shows=("MarginRankingLoss()(Tensor([1.0]), Tensor([3.0]), Tensor([1.0]))", "2.0")):
    """Asks that the first input be larger or smaller than the second.

    Args:
        margin: by how much.
    """

    @declared(margin=real)
    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None: ...

    def construct(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:  # type: ignore[override]
        return ops.margin_ranking_loss(input1, input2, target, self.margin, self.reduction)


class SoftMarginLoss(_Compared, operation=ops.soft_margin_loss, shows=("", "[0.0]", "[1.0]", "0.6931472")):
    """Logistic loss of targets 1 and -1."""


class FocalLoss(LossBase, shows=("FocalLoss(gamma=0.0)(Tensor([[0.0, 0.0]]), Tensor([[1]]))", "0.6931472")):
    """Cross entropy that counts well-classified examples less.

    Scores are (N, C, ...), labels classes (N, 1, ...) or probabilities of the shape of the scores. The loss is the mean
    over the dimensions behind the second: (N,) for classes, (N, C) for probabilities, before the reduction.

    Args:
        weight: factor of each class, or None.
        gamma: how much less.
    """

    @declared(gamma=real)
    def __init__(self, weight: Tensor | None = None, gamma: float = 2.0, reduction: str = "mean") -> None: ...

    def construct(self, logits: Any, labels: Any) -> Any:
        _need_tensors("FocalLoss", logits, labels)
        rows, classes = logits.shape[:2]
        scores = log_softmax(logits.reshape((rows, classes, -1)), 1)
        if labels.ndim < logits.ndim:
            labels = labels.expand_dims(1)
        labels = labels.reshape((rows, labels.shape[1], -1))
        if labels.shape[1] == 1:  # classes by number
            log_p = gather_elements(scores, 1, labels)
            factor = None if self.weight is None else self.weight.gather(labels, 0)
        else:
            log_p = scores
            factor = labels if self.weight is None else labels * self.weight.reshape((1, classes, 1))
        loss = -((1 - log_p.exp()) ** self.gamma) * log_p
        loss = (loss if factor is None else loss * factor).mean(-1)
        if labels.shape[1] == 1:
            loss = loss.squeeze(1)
        return self.get_loss(loss)


class RMSELoss(LossBase, shows=("RMSELoss()(Tensor([1.0, 3.0]), Tensor([1.0, 1.0]))", "1.4142135")):
    """The root of the mean of the squared differences."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, logits: Any, label: Any) -> Any:
        return ((logits - label) ** 2).mean().sqrt()


class DiceLoss(LossBase, shows=("DiceLoss(1e-5)(Tensor([[1.0, 0.0]]), Tensor([[1.0, 0.0]])).round(4)", "0.0")):
    """One minus twice the overlap, as a part of the sizes of both.

    Args:
        smooth: added to the denominator and the numerator.

    Raises:
        TypeError: `smooth` is no float.
        ValueError: `smooth` is not positive, or the shapes differ (raised when called).
    """

    def __init__(self, smooth: float = 1e-5) -> None:
        super().__init__()
        floats("DiceLoss", smooth=smooth)
        if smooth <= 0:
            raise ValueError(f"DiceLoss: smooth must be positive, not {smooth}")
        self.smooth = smooth

    def construct(self, logits: Any, label: Any) -> Any:
        if logits.shape != label.shape:
            raise ValueError(f"DiceLoss: logits have shape {logits.shape}, labels {label.shape}")
        overlap = (logits * label).sum()
        return 1 - 2 * overlap / ((logits * logits).sum() + (label * label).sum() + self.smooth)


class MultiClassDiceLoss(
    LossBase, shows=("MultiClassDiceLoss()(Tensor([[9.0, -9.0]]), Tensor([[1.0, 0.0]])).item() < 1", "True")
):
    """The mean of `DiceLoss` over classes.

    Args:
        weights: (classes, N), of floats: factors of the losses of classes.
        ignore_indiex: a class that is left out.
        activation: what is done to the logits before: ``"softmax"``, the name of another activation, or a Cell.

    Raises:
        ValueError: an argument has not that form, or the shapes differ (raised when called).
    """

    def __init__(self, weights: Any = None, ignore_indiex: int | None = None, activation: Any = "softmax") -> None:
        super().__init__()
        if weights is not None and (not isinstance(weights, Tensor) or weights.ndim != 2):
            raise ValueError("MultiClassDiceLoss: weights must be a Tensor of 2 dimensions")
        if ignore_indiex is not None:
            ints("MultiClassDiceLoss", ignore_indiex=ignore_indiex)
        if isinstance(activation, str):
            activation = get_activation(activation)
        if activation is not None and not isinstance(activation, Cell):
            raise TypeError("MultiClassDiceLoss: activation must be the name of one, or a Cell")
        self.weights = weights
        self.ignore_indiex = ignore_indiex
        self.activation = activation
        self.binary_dice_loss = DiceLoss(1e-5)

    def construct(self, logits: Any, label: Any) -> Any:
        if logits.shape != label.shape or logits.ndim < 2:
            raise ValueError(f"MultiClassDiceLoss: logits have shape {logits.shape}, labels {label.shape}")
        if self.weights is not None and self.weights.shape[0] != label.shape[1]:
            raise ValueError(f"MultiClassDiceLoss: weights of {self.weights.shape[0]} classes, labels {label.shape[1]}")
        if self.activation is not None:
            logits = self.activation(logits)
        total: Any = 0.0
        for place in range(label.shape[1]):
            if place != self.ignore_indiex:
                loss = self.binary_dice_loss(logits[:, place], label[:, place])
                total = total + (loss if self.weights is None else loss * self.weights[place])
        return total / label.shape[1]
