"""Metrics of texts, of what is like what, and of which part of an image counts."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np

from weft.core.tensor import Tensor
from weft.train.counted_metrics import checked, taken
from weft.train.metrics import Metric, rearrange_inputs

_Array = np.ndarray[Any, Any]


def _n_grams(words: Any, longest: int) -> Counter[tuple[Any, ...]]:
    words = list(words)
    return Counter(
        tuple(words[start : start + length])
        for length in range(1, longest + 1)
        for start in range(len(words) - length + 1)
    )


class BleuScore(Metric):
    """How much of translations stands in reference translations.

    Args:
        n_gram: up to how many words in a row are compared, 1 to 4.
        smooth: whether one is added to the counts of two and more words.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: `n_gram` is out of range.

    Example:
        >>> metric = BleuScore()
        >>> found = "i have a pen on my desk".split()
        >>> wanted = ["i have a pen in my desk".split(), "there is a pen on the desk".split()]
        >>> round(float(metric([found], [wanted])), 4)
        0.5946
    """

    def __init__(self, n_gram: int = 4, smooth: bool = False) -> None:
        super().__init__()
        if not 1 <= checked(self, "n_gram", n_gram, int) <= 4:
            raise ValueError(f"BleuScore: n_gram must be from 1 to 4, not {n_gram}")
        self.n_gram = n_gram
        self.smooth = checked(self, "smooth", smooth, bool)
        self.clear()

    def clear(self) -> None:
        self._found = np.zeros(self.n_gram)
        self._all = np.zeros(self.n_gram)
        self._length = 0.0
        self._wanted = 0.0
        self._updated = False

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take translations.

        Args:
            inputs: translations, each a list of words, and for each a list of reference translations.

        Raises:
            ValueError: there are not two inputs, or they are not equally long.
        """
        candidates, references = taken(self, inputs, "translations", "references")
        if len(candidates) != len(references):
            raise ValueError(f"BleuScore: {len(candidates)} translations, but references of {len(references)}")
        for candidate, known in zip(candidates, references, strict=True):
            self._length += len(candidate)
            lengths = [len(each) for each in known]
            self._wanted += min(lengths, key=lambda length: abs(len(candidate) - length))
            counts = _n_grams(candidate, self.n_gram)
            best: Counter[tuple[Any, ...]] = Counter()
            for each in known:
                best |= _n_grams(each, self.n_gram)
            for words, count in counts.items():
                self._found[len(words) - 1] += min(count, best[words])
                self._all[len(words) - 1] += count
        self._updated = True

    def eval(self) -> Any:
        """The score.

        Raises:
            RuntimeError: there was no update.
        """
        if not self._updated:
            raise RuntimeError("BleuScore needs update before eval")
        if self._found.min() == 0:
            return np.array(0.0)
        added = np.where(np.arange(self.n_gram) > 0, float(self.smooth), 0.0)
        score = np.exp(np.log((self._found + added) / (self._all + added)).mean())
        penalty = 1.0 if self._length > self._wanted else np.exp(1 - self._wanted / self._length)
        return score * penalty


class CosineSimilarity(Metric):
    """How alike the rows of a matrix are.

    Args:
        similarity: ``"cosine"``, or ``"dot"`` for products.
        reduction: ``"none"``, or the ``"sum"`` or ``"mean"`` of each row of the result.
        zero_diagonal: whether the diagonal becomes zero.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: an argument is no such text.

    Example:
        >>> metric = CosineSimilarity("dot")
        >>> metric.clear()
        >>> metric.update(np.array([[1, 3], [2, 4]]))
        >>> metric.eval()
        array([[ 0, 14],
               [14,  0]])
    """

    def __init__(self, similarity: str = "cosine", reduction: str = "none", zero_diagonal: bool = True) -> None:
        super().__init__()
        for what, value, known in (
            ("similarity", similarity, ("dot", "cosine")),
            ("reduction", reduction, ("none", "sum", "mean")),
        ):
            if value not in known:
                raise ValueError(f"CosineSimilarity: {what} must be one of {known}, not {value!r}")
        self.similarity, self.reduction = similarity, reduction
        self.zero_diagonal = checked(self, "zero_diagonal", zero_diagonal, bool)
        self.clear()

    def clear(self) -> None:
        self._matrix: Any = None

    @rearrange_inputs
    def update(self, inputs: Any) -> None:
        """Take a matrix.

        Args:
            inputs: (N, features).
        """
        rows = self._convert_data(inputs)
        if self.similarity == "cosine":
            rows = rows / np.linalg.norm(rows, ord=2, axis=1)[:, None]
        self._matrix = rows @ rows.T

    def eval(self) -> Any:
        """The likenesses.

        Raises:
            RuntimeError: there was no update.
        """
        if self._matrix is None:
            raise RuntimeError("CosineSimilarity needs update before eval")
        found = self._matrix.copy()
        if self.zero_diagonal:
            np.fill_diagonal(found, 0)
        if self.reduction == "none":
            return found
        return found.mean(-1) if self.reduction == "mean" else found.sum(-1)


class Perplexity(Metric):
    """The inverse of the geometric mean of the probabilities given to the labels.

    Args:
        ignore_label: a label that does not count.

    Raises:
        TypeError: `ignore_label` is no int.

    Example:
        >>> metric = Perplexity()
        >>> round(float(metric(np.array([[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]]), np.array([1, 0, 1]))), 4)
        2.2314
    """

    def __init__(self, ignore_label: int | None = None) -> None:
        super().__init__()
        self.ignore_label = None if ignore_label is None else checked(self, "ignore_label", ignore_label, int)
        self.clear()

    def clear(self) -> None:
        self._loss = 0.0
        self._count = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take one batch.

        Args:
            inputs: probabilities, (..., classes), and labels, (...); or lists of such.

        Raises:
            ValueError: there are not two inputs.
            RuntimeError: their lengths or shapes do not fit.
        """
        given = taken(self, inputs, "probabilities", "labels")
        pairs = [
            [self._convert_data(each)]
            if isinstance(each, (Tensor, np.ndarray))
            else list(map(self._convert_data, each))
            for each in given
        ]
        if len(pairs[0]) != len(pairs[1]):
            raise RuntimeError(f"Perplexity: {len(pairs[0])} arrays of probabilities, {len(pairs[1])} of labels")
        for probabilities, labels in zip(*pairs, strict=True):
            if probabilities.ndim == 0 or probabilities.shape[:-1] != labels.shape:
                raise RuntimeError(f"Perplexity: shapes {probabilities.shape} and {labels.shape} do not fit")
            classes = labels.ravel().astype(int)
            given_to = probabilities.reshape(-1, probabilities.shape[-1])[np.arange(classes.size), classes]
            counts = np.full(classes.shape, True) if self.ignore_label is None else classes != self.ignore_label
            self._loss -= float(np.log(np.maximum(1e-10, given_to[counts])).sum())
            self._count += int(counts.sum())

    def eval(self) -> float:
        """The perplexity.

        Raises:
            RuntimeError: there were no samples.
        """
        if not self._count:
            raise RuntimeError("Perplexity has seen no samples; call update first")
        return float(np.exp(self._loss / self._count))


class OcclusionSensitivity(Metric):
    """By how much a network's score of a class falls where a part of the image is covered.

    Args:
        pad_val: what covers it, a float.
        margin: how far the cover reaches to each side, in all dimensions or each.
        n_batch: so many covered images are given to the network at once.
        b_box: ``[min1, max1, min2, max2, ...]``: only these positions, for all dimensions but the batch.

    Raises:
        TypeError: an argument has the wrong type.

    Example:
        >>> from weft import nn
        >>> net = nn.Dense(3, 1, weight_init="ones", bias_init="zeros")
        >>> metric = OcclusionSensitivity(margin=1)
        >>> metric(net, np.array([[1.0, 2.0, 4.0]], np.float32), np.array(0))
        array([1., 3., 6.], dtype=float32)
    """

    def __init__(
        self, pad_val: float = 0.0, margin: Any = 2, n_batch: int = 128, b_box: list[int] | None = None
    ) -> None:
        super().__init__()
        self.pad_val = checked(self, "pad_val", pad_val, float)
        if type(margin) not in (int, list):
            raise TypeError(f"OcclusionSensitivity: margin must be an int or a list, not {type(margin).__name__}")
        self.margin = margin
        self.n_batch = checked(self, "n_batch", n_batch, int)
        self.b_box = None if b_box is None else checked(self, "b_box", b_box, list)
        self.clear()

    def clear(self) -> None:
        self._result: Any = None

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take an image.

        Args:
            inputs: the network, a batch of one image, and a class.

        Raises:
            ValueError: there are not three inputs, or a setting does not fit the image.
            RuntimeError: there is more than one image or class.
        """
        model, image, label = taken(self, inputs, "network", "image", "label")
        image, label = self._convert_data(image), self._convert_data(label)
        if image.shape[0] != 1:
            raise RuntimeError(f"OcclusionSensitivity takes one image, not {image.shape[0]}")
        if label.size != 1:
            raise RuntimeError(f"OcclusionSensitivity takes one label, not {label.size}")
        shape = image.shape[1:]
        margins = [self.margin] * len(shape) if isinstance(self.margin, int) else self.margin
        if len(margins) != len(shape):
            raise ValueError(f"OcclusionSensitivity: margin must have {len(shape)} items, not {len(margins)}")
        box = [bound for size in shape for bound in (0, size - 1)] if self.b_box is None else self.b_box
        if len(box) != 2 * len(shape):
            raise ValueError(f"OcclusionSensitivity: b_box must have {2 * len(shape)} items, not {len(box)}")
        ranges = [
            range(max(low, 0), (size - 1 if high < 0 else min(high, size - 1)) + 1)
            for low, high, size in zip(box[::2], box[1::2], shape, strict=True)
        ]
        chosen = int(label.ravel()[0])
        before = self._scores(model, image)[0, chosen]
        after: list[_Array] = []
        places = itertools.product(*ranges)
        while batch := list(itertools.islice(places, self.n_batch)):
            covered = np.repeat(image, len(batch), 0)
            for number, place in enumerate(batch):
                around: Any = [slice(max(at - m, 0), at + m) for at, m in zip(place, margins, strict=True)]
                covered[(number, *around)] = self.pad_val
            after.append(self._scores(model, covered)[:, chosen])
        self._result = (before - np.concatenate(after)).reshape([len(each) for each in ranges])

    def _scores(self, model: Any, images: _Array) -> _Array:
        return self._convert_data(model(Tensor(images)))

    def eval(self) -> Any:
        """By how much the score falls, for each position.

        Raises:
            RuntimeError: there was no update.
        """
        if self._result is None:
            raise RuntimeError("OcclusionSensitivity needs update before eval")
        return self._result
