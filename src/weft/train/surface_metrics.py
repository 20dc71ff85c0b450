"""Metrics that compare segmented images: overlap, and distances between surfaces."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from weft import lazily
from weft.train.counted_metrics import checked, one_of, taken
from weft.train.metrics import Metric, rearrange_inputs

_Array = np.ndarray[Any, Any]
_distance = lazily.deferred("scipy.spatial.distance")
_ndimage = lazily.deferred("scipy.ndimage")


class Dice(Metric):
    """Twice the overlap over the sum of squares of each batch, summed and divided by the number of samples.

    Args:
        smooth: added below, a float.

    Raises:
        TypeError: `smooth` is no float.
        ValueError: it is not positive.

    Example:
        >>> metric = Dice()
        >>> round(metric(np.array([[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]]), np.array([[0, 1], [1, 0], [0, 1]])), 5)
        0.20468
    """

    def __init__(self, smooth: float = 1e-5) -> None:
        super().__init__()
        if checked(self, "smooth", smooth, float) <= 0:
            raise ValueError(f"Dice: smooth must be positive, not {smooth}")
        self.smooth = smooth
        self.clear()

    def clear(self) -> None:
        self._sum = 0.0
        self._count = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take one batch.

        Args:
            inputs: predictions and labels of one shape.

        Raises:
            ValueError: there are not two inputs, or their shapes differ.
        """
        given = taken(self, inputs, "predictions", "labels")
        predictions, labels = (self._convert_data(each) for each in given)
        if predictions.shape != labels.shape:
            raise ValueError(f"Dice: shapes {predictions.shape} and {labels.shape} differ")
        overlap = float(np.dot(predictions.ravel(), labels.ravel()))
        below = float(np.square(predictions).sum() + np.square(labels).sum())
        self._sum += 2 * overlap / (below + self.smooth)
        self._count += len(labels)

    def eval(self) -> float:
        """The coefficient.

        Raises:
            RuntimeError: there was no batch.
        """
        if not self._count:
            raise RuntimeError("Dice has seen no samples; call update first")
        return self._sum / self._count


_DISTANCES: Final = {"euclidean": "euclidean", "chessboard": "chebyshev", "taxicab": "cityblock"}


class _Surfaces(Metric):
    """Base of the metrics of distances between the surfaces of what two images show.

    A surface is the elements that have a neighbour outside.
    """

    distance_metric: str

    def clear(self) -> None:
        self._found: Any = None
        self._true: Any = None

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take one pair of images.

        Args:
            inputs: prediction, truth, and which number in them is meant.

        Raises:
            ValueError: there are not three inputs, the shapes differ, or no image has the number.
        """
        name = type(self).__name__
        given = taken(self, inputs, "prediction", "truth", "label")
        found, true = self._convert_data(given[0]), self._convert_data(given[1])
        label = given[2]
        if not isinstance(label, (int, float)):
            raise self._label_error(f"{name}: the label must be an int or a float, not {type(label).__name__}")
        if found.size == 0 or found.shape != true.shape:
            raise ValueError(f"{name}: shapes {found.shape} and {true.shape} differ, or are empty")
        self._found, self._true = found == label, true == label
        if not (self._found.any() or self._true.any()):
            raise ValueError(f"{name}: {label} is in neither image")

    _label_error: type[Exception] = ValueError

    def _distances(self, one: _Array, other: _Array) -> _Array:
        """How far each element of a surface is from another surface."""
        points, others = (np.argwhere(_surface(mask)) for mask in (one, other))
        if not len(points):
            return np.zeros(0)
        if not len(others):
            return np.full(len(points), np.inf)
        rows = max(1, 2**22 // len(others))  # so that few distances are in memory at once
        parts = [
            _distance.cdist(points[start : start + rows], others, _DISTANCES[self.distance_metric]).min(1)
            for start in range(0, len(points), rows)
        ]
        found = np.concatenate(parts)
        return found if self.distance_metric == "euclidean" else found.astype(np.int32)


def _surface(mask: _Array) -> _Array:
    found: _Array = mask & ~_ndimage.binary_erosion(mask)
    return found


class HausdorffDistance(_Surfaces):
    """How far an element of one surface is at most from the other surface.

    Args:
        distance_metric: ``"euclidean"``, ``"chessboard"`` or ``"taxicab"``.
        percentile: between 0 and 100: the distance that so many percent do not exceed, in place of the largest.
        directed: only from the prediction to the truth.
        crop: accepted.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: an argument is out of range.

    Example:
        >>> metric = HausdorffDistance()
        >>> one, other = np.array([[3, 0, 1], [1, 3, 0], [1, 0, 2]]), np.array([[0, 2, 1], [1, 2, 1], [0, 0, 1]])
        >>> round(float(metric(one, other, 0)), 4)
        1.4142
    """

    def __init__(
        self,
        distance_metric: str = "euclidean",
        percentile: float | None = None,
        directed: bool = False,
        crop: bool = True,
    ) -> None:
        super().__init__()
        self.distance_metric = one_of(self, "distance_metric", distance_metric, tuple(_DISTANCES))
        if percentile is not None and not 0 <= checked(self, "percentile", percentile, float) <= 100:
            raise ValueError(f"HausdorffDistance: percentile must be between 0 and 100, not {percentile}")
        self.percentile = percentile
        self.directed = checked(self, "directed", directed, bool)
        self.crop = checked(self, "crop", crop, bool)
        self.clear()

    def eval(self) -> Any:
        """The distance.

        Raises:
            RuntimeError: there was no update.
        """
        if self._found is None:
            raise RuntimeError("HausdorffDistance needs update before eval")
        pairs = [(self._found, self._true)] + [(self._true, self._found)] * (not self.directed)
        return max(self._largest(self._distances(*pair)) for pair in pairs)

    def _largest(self, distances: _Array) -> Any:
        if not distances.size:
            return np.float64(np.inf)
        with np.errstate(invalid="ignore"):  # between infinite ones
            return distances.max() if self.percentile is None else np.percentile(distances, self.percentile)


class MeanSurfaceDistance(_Surfaces):
    """How far the elements of the prediction's surface are from the truth's on average.

    Args:
        symmetric: also from the truth to the prediction.
        distance_metric: ``"euclidean"``, ``"chessboard"`` or ``"taxicab"``.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: `distance_metric` is something else.

    Example:
        >>> metric = MeanSurfaceDistance()
        >>> one, other = np.array([[3, 0, 1], [1, 3, 0], [1, 0, 2]]), np.array([[0, 2, 1], [1, 2, 1], [0, 0, 1]])
        >>> round(float(metric(one, other, 0)), 4)
        0.8047
    """

    def __init__(self, symmetric: bool = False, distance_metric: str = "euclidean") -> None:
        super().__init__()
        self.distance_metric = one_of(self, "distance_metric", distance_metric, tuple(_DISTANCES))
        self.symmetric = checked(self, "symmetric", symmetric, bool)
        self.clear()

    def eval(self) -> Any:
        """The distance; infinite where there is no surface.

        Raises:
            RuntimeError: there was no update.
        """
        if self._found is None:
            raise RuntimeError(f"{type(self).__name__} needs update before eval")
        there = self._mean(self._distances(self._found, self._true))
        return (there + self._mean(self._distances(self._true, self._found))) / 2 if self.symmetric else there

    def _mean(self, distances: _Array) -> Any:
        return distances.mean() if distances.size else np.float64(np.inf)


class RootMeanSquareDistance(MeanSurfaceDistance):
    """The mean square of how far the elements of the prediction's surface are from the truth's.

    Args:
        symmetric: the root of the mean of that and of its counterpart from the truth to the prediction.
        distance_metric: ``"euclidean"``, ``"chessboard"`` or ``"taxicab"``.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: `distance_metric` is something else.

    Example:
        >>> metric = RootMeanSquareDistance()
        >>> one, other = np.array([[3, 0, 1], [1, 3, 0], [1, 0, 2]]), np.array([[0, 2, 1], [1, 2, 1], [0, 0, 1]])
        >>> round(float(metric(one, other, 0)), 4)
        1.0
    """

    _label_error = TypeError

    def eval(self) -> Any:
        """The distance; infinite where there is no surface.

        Raises:
            RuntimeError: there was no update.
        """
        found = super().eval()
        return np.sqrt(found) if self.symmetric else found

    def _mean(self, distances: _Array) -> Any:
        return super()._mean(np.square(distances))
