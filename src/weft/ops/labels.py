"""Operator classes of losses by labels, of sequences of labels, and of boxes that overlap."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from weft import dtypes
from weft.core import Tensor, as_operator, check_bounds, op, operator_class
from weft.ops._checks import bools, ints, one_of, only
from weft.ops._rules import numbers, tensor
from weft.ops.cumulative import cumprod
from weft.ops.loss import triplet_margin_loss
from weft.ops.margins import REDUCTIONS, margin_of_class, margin_of_labels, reduced
from weft.ops.sequences import ctc_loss


def _number(name: str, value: Any) -> float:
    return float(value.concrete(name)) if isinstance(value, Tensor) else float(value)


# -- losses ------------------------------------------------------------------------------------------------------------


@as_operator
def MultiMarginLoss(
    x: Tensor, target: Tensor, weight: Any = None, *, p: int = 1, margin: float = 1.0, reduction: str = "mean"
) -> Any:
    """Ask that the score of the right class be larger than all others, by a margin.

    Args:
        p: power of what is lacking, 1 or 2.
        margin: the margin.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.
    """
    one_of("MultiMarginLoss", REDUCTIONS, reduction=reduction)
    one_of("MultiMarginLoss", (1, 2), p=p)
    if x.ndim != 2 or target.shape != x.shape[:1] or (weight is not None and weight.shape != x.shape[1:]):
        raise ValueError(f"MultiMarginLoss: classes of shape {target.shape} do not fit scores of shape {x.shape}")
    return reduced(margin_of_class(x, target, weight, p=p, margin=float(margin)), reduction)


def _are_labels(target: Tensor) -> Tensor:
    """Which classes are among the labels of each row, 1 or 0; the first negative one ends the labels."""
    given = cumprod((target >= 0).astype(dtypes.int32), -1)
    classes = Tensor(np.arange(target.shape[-1], dtype=np.int32))
    hot = (target.expand_dims(-1) == classes).astype(dtypes.int32) * given.expand_dims(-1)
    return (hot.sum(-2) > 0).astype(dtypes.int32)


@as_operator
def MultilabelMarginLoss(x: Tensor, target: Tensor, *, reduction: str = "mean") -> Any:
    """Ask that the scores of the labels be larger by 1 than those of other classes; -1 ends the labels of a row.

    Args:
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.
    """
    one_of("MultilabelMarginLoss", REDUCTIONS, reduction=reduction)
    if x.shape != target.shape or x.ndim not in (1, 2):
        raise ValueError(f"MultilabelMarginLoss: labels of shape {target.shape} do not fit scores of shape {x.shape}")
    if target.dtype != dtypes.int32:
        raise TypeError(f"MultilabelMarginLoss: labels are int32, not {target.dtype}")
    check_bounds(target, x.shape[-1], "MultilabelMarginLoss: there is no class {}", least=-1)
    return reduced(margin_of_labels(x, target), reduction), _are_labels(target)


def _triplet_margin_loss(x: Tensor, positive: Tensor, negative: Tensor, margin: Any, **settings: Any) -> Tensor:
    """Ask that a row be nearer to a positive than to a negative, by a margin.

    Args:
        p: order of the norm.
        swap: whether the distance of positive and negative counts if it is smaller.
        eps: a small number added to differences.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.
    """
    one_of("TripletMarginLoss", REDUCTIONS, reduction=settings["reduction"])
    gap = _number("TripletMarginLoss (the margin)", margin)
    return triplet_margin_loss(x, positive, negative, margin=gap, **settings)


operator_class("TripletMarginLoss", _triplet_margin_loss, "p=2, swap=False, eps=1e-06, reduction='mean'")


@as_operator
def CTCLossV2(
    log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any, *, blank: int = 0,
    reduction: str = "none", zero_infinity: bool = False,
) -> Any:  # fmt: skip
    """The losses of all alignments of sequences with labels, and the logarithms of those of beginnings.

    Args:
        blank: the class that stands for no label.
        reduction: ``"none"``.
        zero_infinity: whether a loss is 0 where no alignment is possible.
    """
    only("CTCLossV2", "none", reduction=reduction)
    return ctc_loss(log_probs, targets, tensor(input_lengths), tensor(target_lengths), blank, reduction, zero_infinity)


# -- sequences ---------------------------------------------------------------------------------------------------------


def _distance(one: list[Any], other: list[Any]) -> int:
    """How many insertions, deletions and replacements make one sequence of another (Levenshtein)."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        former, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            former, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, former + (a != b))
    return row[-1]


@as_operator
def EditDistance(
    hypothesis_indices: Tensor, hypothesis_values: Tensor, hypothesis_shape: Any, truth_indices: Tensor,
    truth_values: Tensor, truth_shape: Any, *, normalize: bool = True,
) -> Tensor:  # fmt: skip
    """The edit distances of sequences that are given as sparse tensors, as float32.

    Args:
        normalize: whether they are divided by the lengths of the true ones.
    """
    bools("EditDistance", normalize=normalize)
    if hypothesis_values.dtype != truth_values.dtype:
        raise TypeError(f"EditDistance: element types {hypothesis_values.dtype} and {truth_values.dtype} differ")
    sequences: list[dict[Any, list[Any]]] = []
    for indices, values in ((hypothesis_indices, hypothesis_values), (truth_indices, truth_values)):
        places = np.asarray(indices.concrete("EditDistance (its result)"))
        known = np.asarray(values.concrete("EditDistance (its result)"))
        if places.ndim != 2 or places.shape[0] != known.shape[0]:
            raise ValueError(f"EditDistance: places of shape {places.shape} do not fit values of shape {known.shape}")
        lines: dict[Any, list[Any]] = {}
        for place, value in zip(places.tolist(), known.tolist(), strict=True):
            lines.setdefault(tuple(place[:-1]), []).append(value)
        sequences.append(lines)
    shapes = [numbers(shape) for shape in (hypothesis_shape, truth_shape)]
    if len(shapes[0]) != len(shapes[1]):
        raise ValueError(f"EditDistance: shapes {shapes[0]} and {shapes[1]} do not fit")
    found = np.zeros(tuple(map(max, shapes[0][:-1], shapes[1][:-1])), np.float32)
    for place in np.ndindex(found.shape):
        given, true = (lines.get(place, []) for lines in sequences)
        found[place] = _distance(given, true)
        if normalize and true:
            found[place] /= len(true)
        elif normalize and given:
            found[place] = np.inf
    return Tensor(found)


@op("RepeatedStretches", classes=())
def _without_repeats(state_seq: Any, log_probs: Any, *, size: int) -> Any:
    """Scores of the next word, the lowest number for words after which a stretch of the sequence would be repeated."""
    length = state_seq.shape[-1]
    count = length - size + 1
    if count <= 0:
        return log_probs
    same = jnp.ones((*state_seq.shape[:-1], count), bool)
    for at in range(size - 1):
        last = state_seq[..., length - size + 1 + at]
        same = same & (state_seq[..., at : at + count] == last[..., None])
    following = state_seq[..., size - 1 :]
    hot = (following[..., None] == jnp.arange(log_probs.shape[-1])) & same[..., None]
    return jnp.where(hot.any(-2), np.asarray(np.finfo(log_probs.dtype).min, log_probs.dtype), log_probs)


@as_operator
def NoRepeatNGram(state_seq: Tensor, log_probs: Tensor, *, ngram_size: int = 1) -> Tensor:
    """Scores of the next word, the lowest number for words after which an n-gram would be repeated.

    Args:
        ngram_size: length of the n-grams.
    """
    ints("NoRepeatNGram", ngram_size=ngram_size)
    if ngram_size < 1 or ngram_size > state_seq.shape[-1]:
        raise ValueError(f"NoRepeatNGram: there are no n-grams of {ngram_size} words in a shape of {state_seq.shape}")
    if state_seq.ndim != 3 or log_probs.ndim != 3 or state_seq.shape[:2] != log_probs.shape[:2]:
        raise ValueError(f"NoRepeatNGram: shapes {state_seq.shape} and {log_probs.shape} do not fit")
    check_bounds(state_seq, log_probs.shape[-1], "NoRepeatNGram: there is no word {}", least=0)
    return _without_repeats(state_seq, log_probs, size=ngram_size)


# -- boxes that overlap ------------------------------------------------------------------------------------------------


def _overlaps(boxes: Any) -> Any:
    """The shares of the union that boxes, given by two corners, have in common."""
    low = np.minimum(boxes[:, :2], boxes[:, 2:])
    high = np.maximum(boxes[:, :2], boxes[:, 2:])
    areas = np.prod(high - low, 1)
    common = np.maximum(np.minimum(high[:, None], high[None]) - np.maximum(low[:, None], low[None]), 0).prod(2)
    union = areas[:, None] + areas[None] - common
    return np.where(union > 0, common / np.where(union > 0, union, 1), 0)


def _kept(overlaps: Any, scores: Any, count: int, threshold: float, least: float) -> list[int]:
    """The boxes with the largest scores that do not overlap one before them."""
    found: list[int] = []
    for at in np.argsort(-scores, kind="stable"):
        if len(found) >= count:
            break
        if scores[at] > least and all(overlaps[at, other] <= threshold for other in found):
            found.append(int(at))
    return found


def _suppression(
    name: str, overlaps: Any, scores: Tensor, max_output_size: Any, threshold: Any, score_threshold: Any
) -> Tensor:
    if scores.ndim != 1 or overlaps.shape[0] != scores.shape[0]:
        raise ValueError(f"{name}: scores of shape {scores.shape} do not fit {overlaps.shape[0]} boxes")
    known = np.asarray(scores.concrete(f"{name} (the size of its result)"))
    count = int(_number(name, max_output_size))
    if count < 0:
        raise ValueError(f"{name}: the number of boxes must not be negative, but is {count}")
    found = _kept(overlaps, known, count, _number(name, threshold), _number(name, score_threshold))
    return Tensor(np.array(found, np.int32))


@as_operator
def NonMaxSuppressionV3(
    boxes: Tensor, scores: Tensor, max_output_size: Any, iou_threshold: Any, score_threshold: Any
) -> Tensor:
    """The positions of boxes, best first, that overlap none before them by more than a threshold."""
    name = "NonMaxSuppressionV3"
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise ValueError(f"{name} takes boxes (N, 4), not shape {boxes.shape}")
    shares = _overlaps(np.asarray(boxes.concrete(f"{name} (the size of its result)"), np.float64))
    return _suppression(name, shares, scores, max_output_size, iou_threshold, score_threshold)


@as_operator
def NonMaxSuppressionWithOverlaps(
    overlaps: Tensor, scores: Tensor, max_output_size: Any, overlap_threshold: Any, score_threshold: Any
) -> Tensor:
    """The positions of boxes, best first, that overlap none before them by more than a threshold."""
    name = "NonMaxSuppressionWithOverlaps"
    if overlaps.ndim != 2 or overlaps.shape[0] != overlaps.shape[1]:
        raise ValueError(f"{name} takes a square matrix of overlaps, not shape {overlaps.shape}")
    known = np.asarray(overlaps.concrete(f"{name} (the size of its result)"))
    return _suppression(name, known, scores, max_output_size, overlap_threshold, score_threshold)


@as_operator
def CombinedNonMaxSuppression(
    boxes: Tensor, scores: Tensor, max_output_size_per_class: Any, max_total_size: Any, iou_threshold: Any,
    score_threshold: Any, *, pad_per_class: bool = False, clip_boxes: bool = True,
) -> Any:  # fmt: skip
    """The best boxes (batch, N, 1 or classes, 4) of all classes: boxes, scores, classes, and how many there are.

    Args:
        pad_per_class: whether the results have room for as many boxes as all classes may have.
        clip_boxes: whether corners are moved to between 0 and 1.
    """
    name = "CombinedNonMaxSuppression"
    if boxes.ndim != 4 or scores.ndim != 3 or boxes.shape[:2] != scores.shape[:2] or boxes.shape[3] != 4:
        raise ValueError(f"{name}: scores of shape {scores.shape} do not fit boxes of shape {boxes.shape}")
    if boxes.shape[2] not in (1, scores.shape[2]):
        raise ValueError(f"{name}: {boxes.shape[2]} boxes for {scores.shape[2]} classes")
    corners, known = (np.asarray(each.concrete(f"{name} (its result)")) for each in (boxes, scores))
    each, total = int(_number(name, max_output_size_per_class)), int(_number(name, max_total_size))
    threshold, least = _number(name, iou_threshold), _number(name, score_threshold)
    classes = known.shape[2]
    room = min(total, each * classes) if pad_per_class else total
    found = np.zeros((len(corners), room, 4), np.float32)
    best, kinds = np.zeros((len(corners), room), np.float32), np.zeros((len(corners), room), np.float32)
    counts = np.zeros(len(corners), np.int32)
    for row, (lines, values) in enumerate(zip(corners, known, strict=True)):
        chosen = []
        for kind in range(classes):
            own = lines[:, min(kind, lines.shape[1] - 1)]
            kept = _kept(_overlaps(own.astype(np.float64)), values[:, kind], each, threshold, least)
            chosen += [(values[at, kind], kind, own[at]) for at in kept]
        chosen = sorted(chosen, key=lambda entry: -entry[0])[:room]
        counts[row] = len(chosen)
        for at, (score, kind, box) in enumerate(chosen):
            best[row, at], kinds[row, at] = score, kind
            found[row, at] = np.clip(box, 0, 1) if clip_boxes else box
    return Tensor(found), Tensor(best), Tensor(kinds), Tensor(counts)
