"""Metrics: numbers that say how good predictions are, gathered over batches."""

from __future__ import annotations

import functools
import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from weft.core.tensor import Tensor


class Metric(ABC):
    """Base of the metrics: `clear`, then `update` for each batch, then `eval`.

    Example:
        >>> class Count(Metric):
        ...     def clear(self):
        ...         self.seen = 0
        ...     def update(self, *inputs):
        ...         self.seen += len(inputs[0])
        ...     def eval(self):
        ...         return self.seen
        >>> count = Count()
        >>> count.clear()
        >>> count(Tensor([1.0, 2.0]))
        2
    """

    def __init__(self) -> None:
        self._indexes: list[int] | None = None

    @property
    def indexes(self) -> list[int] | None:
        """Which of the evaluation's outputs `update` gets; None for the usual ones."""
        return getattr(self, "_indexes", None)

    def set_indexes(self, indexes: list[int]) -> Metric:
        """Choose which of the evaluation's outputs `update` gets.

        Args:
            indexes: their positions.
        """
        if not isinstance(indexes, list) or not all(isinstance(i, int) for i in indexes):
            raise ValueError(f"set_indexes takes a list of ints, not {indexes!r}")
        self._indexes = indexes
        return self

    def _convert_data(self, data: Any) -> np.ndarray[Any, Any]:
        """A tensor, array or number as a NumPy array."""
        if isinstance(data, Tensor):
            return np.array(data)
        if isinstance(data, (list, tuple, np.ndarray, int, float, np.generic)):
            return np.asarray(data)
        raise TypeError(f"{type(self).__name__} takes tensors, arrays or numbers, not {type(data).__name__}")

    def __call__(self, *inputs: Any) -> Any:
        """Take one batch and evaluate."""
        self.update(*inputs)
        return self.eval()

    @abstractmethod
    def clear(self) -> None:
        """Forget all batches."""

    @abstractmethod
    def update(self, *inputs: Any) -> None:
        """Take one batch.

        Args:
            inputs: usually predictions and labels.
        """

    @abstractmethod
    def eval(self) -> Any:
        """The result over all batches."""


def rearrange_inputs(func: Callable[..., Any]) -> Callable[..., Any]:
    """Let the `update` of a metric get the outputs that `Metric.set_indexes` chose.

    Args:
        func: the method.

    Returns:
        The method that gets them.

    Example:
        >>> class First(Metric):
        ...     def clear(self):
        ...         self.seen = None
        ...     @rearrange_inputs
        ...     def update(self, *inputs):
        ...         self.seen = inputs
        ...     def eval(self):
        ...         return self.seen
        >>> metric = First().set_indexes([1, 0])
        >>> metric("a", "b")
        ('b', 'a')
    """

    @functools.wraps(func)
    def update(self: Any, *inputs: Any) -> Any:
        indexes = self.indexes
        return func(self, *inputs) if indexes is None else func(self, *[inputs[place] for place in indexes])

    return update


class _Counting(Metric):
    """A ratio of two running sums."""

    def __init__(self) -> None:
        super().__init__()
        self.clear()

    def clear(self) -> None:
        self._sum = 0.0
        self._count = 0

    def eval(self) -> Any:
        if not self._count:
            raise RuntimeError(f"{type(self).__name__} has seen no samples; call update first")
        return self._sum / self._count

    def _pair(self, inputs: tuple[Any, ...]) -> list[np.ndarray[Any, Any]]:
        if len(inputs) != 2:
            raise ValueError(f"{type(self).__name__}.update takes predictions and labels, got {len(inputs)} values")
        return [self._convert_data(value) for value in inputs]


def _classes(name: str, predictions: Any, labels: Any) -> tuple[Any, Any]:
    """Predicted and true classes of scores (N, C, ...) and labels (N, ...) or one-hot labels."""
    if labels.ndim == predictions.ndim and labels.shape == predictions.shape and predictions.ndim > 1:
        labels = labels.argmax(1)
    if predictions.ndim != labels.ndim + 1 or predictions.shape[:1] + predictions.shape[2:] != labels.shape:
        raise ValueError(
            f"{name}: predictions of shape {predictions.shape} do not fit labels of shape {labels.shape}; "
            "they are (N, C, ...) and (N, ...)"
        )
    return predictions.argmax(1), labels


class Accuracy(_Counting):
    """The share of right predictions.

    Args:
        eval_type: ``"classification"``: one class of each sample; ``"multilabel"``: all labels of a sample.

    Example:
        >>> Accuracy()(Tensor([[0.2, 0.8], [0.9, 0.1]]), Tensor([1, 1]))
        0.5
    """

    def __init__(self, eval_type: str = "classification") -> None:
        if eval_type not in ("classification", "multilabel"):
            raise TypeError(f"Accuracy: eval_type must be 'classification' or 'multilabel', not {eval_type!r}")
        self._type = eval_type
        super().__init__()

    def update(self, *inputs: Any) -> None:
        predictions, labels = self._pair(inputs)
        if self._type == "classification":
            predictions, labels = _classes("Accuracy", predictions, labels)
            right = predictions == labels
        else:
            if predictions.shape != labels.shape:
                raise ValueError(f"Accuracy: shapes {predictions.shape} and {labels.shape} differ")
            right = (np.round(predictions) == labels).reshape(len(labels), -1).all(1)
        self._sum += float(right.sum())
        self._count += right.size

    def eval(self) -> float:
        return float(super().eval())


class TopKCategoricalAccuracy(_Counting):
    """The share of samples whose class is among the `k` best scores.

    Args:
        k: how many.

    Example:
        >>> TopKCategoricalAccuracy(2)(Tensor([[0.1, 0.3, 0.6]]), Tensor([1]))
        1.0
    """

    def __init__(self, k: int) -> None:
        if isinstance(k, bool) or not isinstance(k, int) or k < 1:
            raise ValueError(f"{type(self).__name__}: k must be a positive int, not {k!r}")
        self.k = k
        super().__init__()

    def update(self, *inputs: Any) -> None:
        predictions, labels = self._pair(inputs)
        _, labels = _classes(type(self).__name__, predictions, labels)
        best = np.argsort(-predictions, axis=1, kind="stable")[:, : self.k]
        self._sum += float((best == labels[:, None]).any(1).sum())
        self._count += len(labels)


class Top1CategoricalAccuracy(TopKCategoricalAccuracy):
    """The share of samples whose class has the best score.

    Example:
        >>> Top1CategoricalAccuracy()(Tensor([[0.1, 0.3, 0.6]]), Tensor([2]))
        1.0
    """

    def __init__(self) -> None:
        super().__init__(1)


class Top5CategoricalAccuracy(TopKCategoricalAccuracy):
    """The share of samples whose class is among the five best scores.

    Example:
        >>> Top5CategoricalAccuracy()(Tensor([[0.1, 0.3, 0.6]]), Tensor([0]))
        1.0
    """

    def __init__(self) -> None:
        super().__init__(5)


class MAE(_Counting):
    """Mean absolute error over the samples.

    Example:
        >>> MAE()(Tensor([1.0, 4.0]), Tensor([1.0, 2.0]))
        1.0
    """

    def update(self, *inputs: Any) -> None:
        predictions, labels = self._pair(inputs)
        self._sum += float(np.abs(labels.reshape(predictions.shape) - predictions).sum())
        self._count += len(labels)


class MSE(_Counting):
    """Mean squared error over the samples.

    Example:
        >>> MSE()(Tensor([1.0, 4.0]), Tensor([1.0, 2.0]))
        2.0
    """

    def update(self, *inputs: Any) -> None:
        predictions, labels = self._pair(inputs)
        self._sum += float(np.square(labels.reshape(predictions.shape) - predictions).sum())
        self._count += len(labels)


class Loss(_Counting):
    """The mean of the batches' losses.

    Example:
        >>> Loss()(Tensor(0.5))
        0.5
    """

    def update(self, *inputs: Any) -> None:
        if len(inputs) != 1:
            raise ValueError(f"Loss.update takes the loss, got {len(inputs)} values")
        self._sum += float(self._convert_data(inputs[0]).mean())
        self._count += 1


class _PerClass(Metric):
    """Counts of right, predicted and true samples of each class."""

    def __init__(self, eval_type: str = "classification") -> None:
        super().__init__()
        if eval_type not in ("classification", "multilabel"):
            raise TypeError(
                f"{type(self).__name__}: eval_type must be 'classification' or 'multilabel', not {eval_type!r}"
            )
        self._type = eval_type
        self.clear()

    def clear(self) -> None:
        self._right: Any = None
        self._predicted: Any = None
        self._true: Any = None

    def update(self, *inputs: Any) -> None:
        if len(inputs) != 2:
            raise ValueError(f"{type(self).__name__}.update takes predictions and labels, got {len(inputs)} values")
        predictions, labels = (self._convert_data(value) for value in inputs)
        count = predictions.shape[1]
        if self._type == "classification":
            found, labels = _classes(type(self).__name__, predictions, labels)
            if labels.size and not 0 <= labels.min() <= labels.max() < count:
                raise ValueError(
                    f"{type(self).__name__}: there are scores of {count} classes, but a class {labels.max()}"
                )
            found, labels = np.eye(count)[found.ravel()], np.eye(count)[labels.ravel().astype(int)]
        else:  # what is counted are the labels of each place of each sample
            found, labels = (each.swapaxes(0, 1).reshape(count, -1) for each in (np.round(predictions), labels))
        if self._right is None:
            self._right, self._predicted, self._true = (np.zeros(found.shape[1]) for _ in range(3))
        self._right += (found * labels).sum(0)
        self._predicted += found.sum(0)
        self._true += labels.sum(0)

    def _ratio(self, average: bool, below: Any) -> Any:
        if self._right is None:
            raise RuntimeError(f"{type(self).__name__} has seen no samples; call update first")
        result = np.divide(self._right, below, out=np.zeros_like(self._right), where=below > 0)
        return float(result.mean()) if average else result


class Precision(_PerClass):
    """Of the samples predicted in a class, the share that is in it.

    Args:
        eval_type: ``"classification"`` or ``"multilabel"``.

    Example:
        >>> Precision()(Tensor([[0.2, 0.8], [0.1, 0.9]]), Tensor([1, 0]))
        array([0. , 0.5])
    """

    def eval(self, average: bool = False) -> Any:
        return self._ratio(average, self._predicted)


class Recall(_PerClass):
    """Of the samples in a class, the share predicted so.

    Args:
        eval_type: ``"classification"`` or ``"multilabel"``.

    Example:
        >>> Recall()(Tensor([[0.2, 0.8], [0.1, 0.9]]), Tensor([1, 0]))
        array([0., 1.])
    """

    def eval(self, average: bool = False) -> Any:
        return self._ratio(average, self._true)


class Fbeta(_PerClass):
    """The weighted harmonic mean of precision and recall.

    Args:
        beta: by how much recall counts more, a positive number.

    Raises:
        ValueError: `beta` is not positive.

    Example:
        >>> Fbeta(2)(Tensor([[0.2, 0.8], [0.9, 0.1], [0.6, 0.4]]), Tensor([1, 0, 1])).round(3)
        array([0.833, 0.556])
    """

    def __init__(self, beta: float) -> None:
        super().__init__("classification")
        if not beta > 0:
            raise ValueError(f"{type(self).__name__}: beta must be greater than 0, not {beta}")
        self.beta = beta

    def eval(self, average: bool = False) -> Any:
        """The score of each class.

        Args:
            average: their mean instead.
        """
        if self._right is None:
            return self._ratio(average, None)
        square = self.beta**2
        return self._ratio(average, (self._predicted + square * self._true) / (1 + square))


class F1(Fbeta):
    """The harmonic mean of precision and recall.

    Example:
        >>> F1()(Tensor([[0.2, 0.8], [0.9, 0.1]]), Tensor([1, 0]))
        array([1., 1.])
    """

    def __init__(self) -> None:
        super().__init__(1.0)


#: metrics in files of their own
_ELSEWHERE: Final = {
    "bleu_score": "likeness_metrics.BleuScore", "confusion_matrix": "counted_metrics.ConfusionMatrix",
    "confusion_matrix_metric": "counted_metrics.ConfusionMatrixMetric",
    "cosine_similarity": "likeness_metrics.CosineSimilarity", "dice": "surface_metrics.Dice",
    "hausdorff_distance": "surface_metrics.HausdorffDistance",
    "mean_surface_distance": "surface_metrics.MeanSurfaceDistance",
    "occlusion_sensitivity": "likeness_metrics.OcclusionSensitivity", "perplexity": "likeness_metrics.Perplexity",
    "root_mean_square_distance": "surface_metrics.RootMeanSquareDistance",
}  # fmt: skip
_BY_NAME: Final[dict[str, Any]] = {
    "accuracy": Accuracy, "acc": Accuracy, "precision": Precision, "recall": Recall, "F1": F1, "mae": MAE, "mse": MSE,
    "loss": Loss, "topk": TopKCategoricalAccuracy,
    "top_1_accuracy": Top1CategoricalAccuracy, "top_5_accuracy": Top5CategoricalAccuracy,
}  # fmt: skip


def names() -> list[str]:
    """The names that `get_metric_fn` knows.

    Example:
        >>> "accuracy" in names()
        True
    """
    return sorted([*_BY_NAME, *_ELSEWHERE, "auc", "roc"])


def get_metric_fn(name: str, *args: Any, **kwargs: Any) -> Metric:
    """A metric by name.

    Args:
        name: such as ``"accuracy"``.
        args: passed on.
        kwargs: passed on.

    Raises:
        KeyError: the name is unknown.

    Example:
        >>> type(get_metric_fn("mse")).__name__
        'MSE'
    """
    made: Any
    if name in _ELSEWHERE:
        file, _, kind = _ELSEWHERE[name].partition(".")
        made = getattr(importlib.import_module(f"weft.train.{file}"), kind)
    elif name in ("auc", "roc"):
        made = auc if name == "auc" else ROC
    elif name in _BY_NAME:
        made = _BY_NAME[name]
    else:
        raise KeyError(f"{name!r} is no metric; known: {', '.join(names())}")
    found: Metric = made(*args, **kwargs)
    return found


def get_metrics(metrics: Any) -> dict[str, Metric] | None:
    """Metrics by name, as a `Model` takes them.

    Args:
        metrics: ``{"acc": Accuracy()}``, ``{"accuracy", "loss"}``, or None.

    Returns:
        dict: the metrics; None for None.

    Raises:
        TypeError: they are something else.

    Example:
        >>> sorted(get_metrics({"accuracy", "loss"}))
        ['accuracy', 'loss']
    """
    return None if metrics is None else metrics_of(metrics)


def metrics_of(metrics: Any) -> dict[str, Metric]:
    """Metrics by name, from a dict of them or a set of names.

    Args:
        metrics: ``{"acc": Accuracy()}``, ``{"accuracy", "loss"}``, or None for none.
    """
    if metrics is None:
        return {}
    if isinstance(metrics, dict):
        for name, metric in metrics.items():
            if not isinstance(name, str) or not isinstance(metric, Metric):
                raise TypeError(f"metrics must map names to Metrics, not {name!r} to {type(metric).__name__}")
        return dict(metrics)
    if isinstance(metrics, (set, list, tuple)):
        return {name: get_metric_fn(name) for name in metrics}
    raise TypeError(f"metrics must be a dict or a set of names, not {type(metrics).__name__}")


class ROC(Metric):
    """Points of the curve of true against false positives: false positive rates, true positive rates, thresholds.

    Args:
        class_num: how many classes there are; for two, it need not be said.
        pos_label: which label is positive, of two; 1, if not said.

    Example:
        >>> metric = ROC(pos_label=1)
        >>> metric.clear()
        >>> metric.update(np.array([0.1, 0.9]), np.array([0, 1]))
        >>> [part.tolist() for part in metric.eval()]
        [[0.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.9, 0.9, 0.1]]
    """

    def __init__(self, class_num: int | None = None, pos_label: int | None = None) -> None:
        super().__init__()
        for what, value in (("class_num", class_num), ("pos_label", pos_label)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
                raise TypeError(f"ROC: {what} must be an int, not {type(value).__name__}")
        self.class_num = class_num
        self.pos_label = pos_label
        self.clear()

    def clear(self) -> None:
        self._scores: list[np.ndarray[Any, Any]] = []
        self._labels: list[np.ndarray[Any, Any]] = []

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take one batch.

        Args:
            inputs: scores, (N,) or (N, classes), and labels, (N,); or both of one shape: a score of each label.

        Raises:
            ValueError: there are not two inputs, or their shapes do not fit.
        """
        if len(inputs) != 2:
            raise ValueError(f"ROC takes scores and labels, not {len(inputs)} inputs")
        scores, labels = (self._convert_data(each) for each in inputs)
        if scores.shape == labels.shape:
            scores, labels = scores.reshape(-1), labels.reshape(-1)
        if scores.ndim not in (1, 2) or labels.ndim != 1 or len(scores) != len(labels):
            raise ValueError(f"ROC: labels of shape {labels.shape} do not fit scores of shape {scores.shape}")
        if scores.ndim == 2 and self.class_num not in (None, scores.shape[1]):
            raise ValueError(f"ROC: there are scores of {scores.shape[1]} classes, not of {self.class_num}")
        self._scores.append(scores)
        self._labels.append(labels)

    def eval(self) -> Any:
        """The rates and thresholds; lists with one for each class where there are scores of classes.

        Raises:
            RuntimeError: there was no batch.
        """
        if not self._scores:
            raise RuntimeError("ROC needs update before eval")
        scores, labels = np.concatenate(self._scores), np.concatenate(self._labels)
        if scores.ndim == 1:
            return _curve(scores, labels == (1 if self.pos_label is None else self.pos_label))
        curves = [_curve(scores[:, number], labels == number) for number in range(scores.shape[1])]
        return tuple([list(parts) for parts in zip(*curves, strict=True)])


def _curve(scores: np.ndarray[Any, Any], positive: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], ...]:
    order = np.argsort(-scores, kind="stable")
    scores, positive = scores[order], positive[order]
    # equal scores are one threshold
    ends = np.append(np.flatnonzero(np.diff(scores)), len(scores) - 1)
    hits = np.cumsum(positive)[ends]
    false = ends + 1 - hits
    rates = [np.append(0, part) / max(part[-1], 1) for part in (false, hits)]
    return (*rates, np.append(scores[:1] + 1, scores[ends]))


def auc(x: Any, y: Any, reorder: bool = False) -> float:
    """The area under a curve, of trapezia.

    Args:
        x: (N,): where the points are.
        y: (N,): how high they are.
        reorder: whether the points are put in order first.

    Returns:
        float: the area.

    Raises:
        ValueError: the points are in no order.

    Example:
        >>> auc([0.0, 0.5, 1.0], [0.0, 1.0, 1.0])
        0.75
    """
    places, heights = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if places.ndim != 1 or places.shape != heights.shape:
        raise ValueError(f"auc: points of shapes {places.shape} and {heights.shape}")
    if reorder:
        order = np.lexsort((heights, places))
        places, heights = places[order], heights[order]
    steps = np.diff(places)
    if (steps < 0).any() and (steps > 0).any():
        raise ValueError(
            "For 'auc', if the argument is False, the argument 'x' array must be increasing or decreasing, but got "
            f"'x': {places}"
        )
    return float(abs(np.sum(steps * (heights[1:] + heights[:-1]) / 2)))
