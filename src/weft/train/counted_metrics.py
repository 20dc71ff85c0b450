"""Metrics of counts of right and wrong classes: confusion matrices and what follows from them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from weft.train.metrics import Metric, rearrange_inputs

_Array = np.ndarray[Any, Any]


def checked(metric: Any, what: str, value: Any, kind: type) -> Any:
    """An argument of exactly one type.

    Args:
        metric: whose.
        what: its name.
        value: the argument.
        kind: the type.

    Raises:
        TypeError: it has another one.
    """
    if type(value) is not kind:
        name = type(metric).__name__
        raise TypeError(f"{name}: {what} must be of the type {kind.__name__}, not {type(value).__name__}")
    return value


def one_of(metric: Any, what: str, value: Any, known: tuple[str, ...]) -> str:
    """An argument that is one of several texts.

    Raises:
        TypeError: it is no text.
        ValueError: it is another one.
    """
    if checked(metric, what, value, str) not in known:
        raise ValueError(f"{type(metric).__name__}: {what} must be one of {known}, not {value!r}")
    found: str = value
    return found


def taken(metric: Any, inputs: tuple[Any, ...], *names: str) -> tuple[Any, ...]:
    """The inputs of `update`, which must be so many.

    Raises:
        ValueError: they are not.
    """
    if len(inputs) != len(names):
        raise ValueError(f"{type(metric).__name__}.update takes {', '.join(names)}, got {len(inputs)} values")
    return inputs


class ConfusionMatrix(Metric):
    """How often which class (rows) was taken for which (columns).

    Args:
        num_classes: how many classes there are.
        normalize: ``"no_norm"``, or what the counts are divided by: the sum of the row (``"target"``), of the column
            (``"prediction"``) or of everything (``"all"``).
        threshold: of predictions between 0 and 1, those above are class 1.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: `normalize` is something else.

    Example:
        >>> metric = ConfusionMatrix(2)
        >>> metric(np.array([1, 0, 1, 0]), np.array([1, 0, 0, 1]))
        array([[1., 1.],
               [1., 1.]])
    """

    def __init__(self, num_classes: int, normalize: str = "no_norm", threshold: float = 0.5) -> None:
        super().__init__()
        self.num_classes = checked(self, "num_classes", num_classes, int)
        self.normalize = one_of(self, "normalize", normalize, ("no_norm", "target", "prediction", "all"))
        self.threshold = checked(self, "threshold", threshold, float)
        self.clear()

    def clear(self) -> None:
        self.confusion_matrix = np.zeros((self.num_classes, self.num_classes))
        self._updated = False

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take one batch.

        Args:
            inputs: predictions, (N, classes, ...) or (N, ...), and labels, (N, ...).

        Raises:
            ValueError: there are not two inputs, or their shapes or classes do not fit.
        """
        given = taken(self, inputs, "predictions", "labels")
        predictions, labels = (self._convert_data(each) for each in given)
        if predictions.ndim == labels.ndim + 1:
            predictions = predictions.argmax(1)
        elif predictions.ndim != labels.ndim:
            raise ValueError(f"ConfusionMatrix: shapes {predictions.shape} and {labels.shape} do not fit")
        elif predictions.dtype.kind == "f":
            predictions = predictions > self.threshold
        if predictions.shape != labels.shape:
            raise ValueError(f"ConfusionMatrix: shapes {predictions.shape} and {labels.shape} do not fit")
        found, wanted = predictions.astype(int).ravel(), labels.astype(int).ravel()
        for classes in (found, wanted):
            if classes.size and not 0 <= classes.min() <= classes.max() < self.num_classes:
                raise ValueError(f"ConfusionMatrix: there are {self.num_classes} classes, but a class {classes.max()}")
        np.add.at(self.confusion_matrix, (wanted, found), 1)
        self._updated = True

    def eval(self) -> _Array:
        """The matrix.

        Raises:
            RuntimeError: there was no batch.
        """
        if not self._updated:
            raise RuntimeError("ConfusionMatrix needs update before eval")
        counts = self.confusion_matrix
        if self.normalize == "no_norm":
            return counts
        axis = {"target": 1, "prediction": 0, "all": None}[self.normalize]
        below = counts.sum(axis, keepdims=True)
        return np.divide(counts, below, out=np.zeros_like(counts), where=below != 0)


def _share(part: _Array, whole: _Array) -> _Array:
    part, whole = np.asarray(part, float), np.asarray(whole, float)
    return np.divide(part, whole, out=np.full(np.broadcast(part, whole).shape, np.nan), where=whole > 0)


def _correlation(tp: _Array, fp: _Array, tn: _Array, fn: _Array) -> _Array:
    return _share(tp * tn - fp * fn, np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)))


def _threshold(tp: _Array, fp: _Array, tn: _Array, fn: _Array) -> _Array:
    tpr, tnr = _share(tp, tp + fn), _share(tn, fp + tn)
    below = tpr + tnr - 1
    return np.divide(np.sqrt(tpr * (1 - tnr)) + tnr - 1, below, out=np.full(below.shape, np.nan), where=below != 0)


#: metric: its names, and how it follows from the numbers of true and false positives, true and false negatives
_METRICS: Final[tuple[tuple[str, Any], ...]] = (
    ("sensitivity|recall|hit rate|true positive rate|tpr", lambda tp, fp, tn, fn: _share(tp, tp + fn)),
    ("specificity|selectivity|true negative rate|tnr", lambda tp, fp, tn, fn: _share(tn, fp + tn)),
    ("precision|positive predictive value|ppv", lambda tp, fp, tn, fn: _share(tp, tp + fp)),
    ("negative predictive value|npv", lambda tp, fp, tn, fn: _share(tn, tn + fn)),
    ("miss rate|false negative rate|fnr", lambda tp, fp, tn, fn: _share(fn, tp + fn)),
    ("fall out|false positive rate|fpr", lambda tp, fp, tn, fn: _share(fp, fp + tn)),
    ("false discovery rate|fdr", lambda tp, fp, tn, fn: _share(fp, fp + tp)),
    ("false omission rate|for", lambda tp, fp, tn, fn: _share(fn, fn + tn)),
    ("prevalence threshold|pt", _threshold),
    ("threat score|critical success index|ts|csi", lambda tp, fp, tn, fn: _share(tp, tp + fn + fp)),
    ("accuracy|acc", lambda tp, fp, tn, fn: _share(tp + tn, tp + fp + tn + fn)),
    ("balanced accuracy|ba", lambda tp, fp, tn, fn: (_share(tp, tp + fn) + _share(tn, fp + tn)) / 2),
    ("f1 score|f1", lambda tp, fp, tn, fn: _share(2 * tp, 2 * tp + fn + fp)),
    ("matthews correlation coefficient|mcc", _correlation),
    ("fowlkes mallows index|fm", lambda tp, fp, tn, fn: np.sqrt(_share(tp, tp + fp) * _share(tp, tp + fn))),
    ("informedness|bookmaker informedness|bm", lambda tp, fp, tn, fn: _share(tp, tp + fn) + _share(tn, fp + tn) - 1),
    ("markedness|deltap|mk", lambda tp, fp, tn, fn: _share(tp, tp + fp) + _share(tn, tn + fn) - 1),
)
_BY_NAME: Final = {name: compute for names, compute in _METRICS for name in names.split("|")}
#: reductions: over which axes of (batch, channel), and whether to the mean
_REDUCTIONS: Final[dict[str, tuple[tuple[int, ...], bool]]] = {
    "none": ((), True), "mean": ((1, 0), True), "sum": ((1, 0), False), "mean_batch": ((0,), True),
    "sum_batch": ((0,), False), "mean_channel": ((1,), True), "sum_channel": ((1,), False),
}  # fmt: skip


class ConfusionMatrixMetric(Metric):
    """A rate that follows from the numbers of true and false positives and negatives.

    Args:
        skip_channel: False leaves the first channel out.
        metric_name: such as ``"sensitivity"``, ``"precision"``, ``"f1 score"``, or an abbreviation (``"tpr"``).
        calculation_method: whether the rate of each sample is computed and then reduced; else there is one rate for all
            samples together.
        decrease: with `calculation_method`, what becomes of the rates, (batch, channel): ``"none"``, or ``"mean"`` or
            ``"sum"``, of all, or of all but one of the two (``"mean_batch"``, ``"sum_channel"``...).

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: `decrease` is something else.

    Example:
        >>> metric = ConfusionMatrixMetric(metric_name="tpr")
        >>> metric(np.array([[[0], [1]], [[1], [0]]]), np.array([[[0], [1]], [[0], [1]]]))
        array([0.5])
    """

    def __init__(
        self,
        skip_channel: bool = True,
        metric_name: str = "sensitivity",
        calculation_method: bool = False,
        decrease: str = "mean",
    ) -> None:
        super().__init__()
        self.skip_channel = checked(self, "skip_channel", skip_channel, bool)
        self.metric_name = checked(self, "metric_name", metric_name, str)
        self.calculation_method = checked(self, "calculation_method", calculation_method, bool)
        self.decrease = one_of(self, "decrease", decrease, tuple(_REDUCTIONS))
        self.clear()

    def clear(self) -> None:
        self._counts = np.zeros(4)
        self._total: Any = 0.0
        self._weight: Any = 0
        self._updated = False

    def _rate(self, counts: _Array) -> _Array:
        compute = _BY_NAME.get(self.metric_name.lower().replace("_", " "))
        if compute is None:
            raise NotImplementedError(f"ConfusionMatrixMetric knows no metric {self.metric_name!r}")
        found: _Array = compute(*np.moveaxis(counts, -1, 0))
        return found

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take one batch.

        Args:
            inputs: predictions and labels, one-hot, (N, classes) or (N, classes, ...).

        Raises:
            ValueError: there are not two inputs, or their shapes do not fit.
            NotImplementedError: no metric has the name.
        """
        given = taken(self, inputs, "predictions", "labels")
        predictions, labels = (self._convert_data(each) for each in given)
        if predictions.shape != labels.shape or predictions.ndim < 2:
            raise ValueError(f"ConfusionMatrixMetric: shapes {predictions.shape} and {labels.shape} do not fit")
        if not self.skip_channel:
            predictions, labels = predictions[:, 1:], labels[:, 1:]
        found, true = predictions.reshape(*predictions.shape[:2], -1), labels.reshape(*labels.shape[:2], -1)
        counts = np.stack(
            [(found * true).sum(2), (found * (1 - true)).sum(2), ((1 - found) * (1 - true)).sum(2),
             ((1 - found) * true).sum(2)], -1,
        )  # fmt: skip
        self._updated = True
        if not self.calculation_method:
            self._counts += counts.sum((0, 1))
            return
        rates = self._rate(counts)
        axes, to_mean = _REDUCTIONS[self.decrease]
        weight: Any = ~np.isnan(rates)
        value: Any = np.where(weight, rates, 0.0)
        for axis in axes:
            count = weight.sum(axis, keepdims=True)
            value = value.sum(axis, keepdims=True)
            if to_mean:
                value = np.divide(value, count, out=np.zeros_like(value), where=count > 0)
            weight = (count > 0).astype(int) if to_mean and axis == 1 else count
        self._total = self._total + value * weight
        self._weight = self._weight + weight

    def eval(self) -> Any:
        """The rate, or the reduced rates of the samples.

        Raises:
            NotImplementedError: no metric has the name.
        """
        if not self.calculation_method:
            return self._rate(self._counts[None])
        result = np.squeeze(_share(self._total, self._weight))
        return float(result) if result.ndim == 0 else result
