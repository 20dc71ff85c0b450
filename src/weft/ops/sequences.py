"""Sequences: alignments of labels (CTC), and spectra of stretches of signals."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from weft import dtypes
from weft.core import Tensor, as_operator, check_bounds, op
from weft.ops._checks import bools, ints, one_of, tensors
from weft.ops.compare import not_equal
from weft.ops.create import arange, full, ones
from weft.ops.cumulative import cumsum
from weft.ops.elementwise import imag, real
from weft.ops.joining import cat, stack
from weft.ops.logic import logical_and
from weft.ops.padding import pad
from weft.ops.reduce import argmax
from weft.ops.select import where
from weft.ops.shape import broadcast_to
from weft.ops.sorting import masked_select

__all__ = ["ctc_greedy_decoder", "ctc_loss", "stft"]


def _log_sum(*parts: Any) -> Any:
    """The logarithm of a sum of which logarithms are given; where all are of 0, it has no slope."""
    stacked = jnp.stack(parts)
    most = jnp.max(stacked, 0)
    finite = jnp.where(jnp.isfinite(most), most, 0)
    total = jnp.sum(jnp.exp(stacked - finite), 0)
    return jnp.where(total > 0, jnp.log(jnp.where(total > 0, total, 1)) + finite, -jnp.inf)


def _alpha(log_probs: Any, targets: Any, input_lengths: Any, blank: int, merges: bool) -> Any:
    """Logarithms of the probabilities of all beginnings of alignments: (N, T, 2 S + 1)."""
    batch, size = targets.shape
    never = jnp.asarray(-jnp.inf, log_probs.dtype)
    # a blank before, between and after the labels
    states = jnp.full((batch, 2 * size + 1), blank, targets.dtype).at[:, 1::2].set(targets)
    is_label = jnp.arange(2 * size + 1) % 2 == 1
    before = jnp.pad(states, ((0, 0), (2, 0)), constant_values=-1)[:, : 2 * size + 1]
    # a label can follow another without a blank, and itself only where equal ones in a row are not one
    skips = is_label & ((states != before) | (not merges)) & (jnp.arange(2 * size + 1) > 1)
    stays = jnp.ones_like(is_label) if merges else ~is_label
    emitted = jnp.take_along_axis(log_probs, states[None].astype(jnp.int32), 2)

    def moved(alpha: Any, by: int) -> Any:
        return jnp.pad(alpha, ((0, 0), (by, 0)), constant_values=-jnp.inf)[:, : 2 * size + 1]

    def step(alpha: Any, given: Any) -> Any:
        number, scores = given
        here = jnp.where(stays, alpha, never)
        following = _log_sum(here, moved(alpha, 1), jnp.where(skips, moved(alpha, 2), never)) + scores
        following = jnp.where(number < input_lengths[:, None], following, never)
        return following, following

    first = jnp.where(jnp.arange(2 * size + 1) < 2, emitted[0], never)
    first = jnp.where(input_lengths[:, None] > 0, first, never)
    numbers = jnp.arange(1, log_probs.shape[0])
    _, rest = jax.lax.scan(step, first, (numbers, emitted[1:]))
    return jnp.moveaxis(jnp.concatenate([first[None], rest]), 0, 1)


def _losses(alpha: Any, input_lengths: Any, target_lengths: Any) -> Any:
    """The loss of each sequence: infinite where there is no alignment."""
    last = jnp.maximum(input_lengths.astype(jnp.int32) - 1, 0)
    ends = jnp.take_along_axis(alpha, last[:, None, None], 1)[:, 0]
    place = 2 * target_lengths.astype(jnp.int32)[:, None]
    blank = jnp.take_along_axis(ends, place, 1)[:, 0]
    label = jnp.take_along_axis(ends, jnp.maximum(place - 1, 0), 1)[:, 0]
    label = jnp.where(target_lengths > 0, label, -jnp.inf)
    return -_log_sum(blank, label)


@op("CTCLossV2", classes=(), multiple=True)
def _ctc(log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, *, blank: int) -> Any:
    """Losses and logarithms of probabilities of beginnings."""
    alpha = _alpha(log_probs, targets, input_lengths, blank, True)
    # labels after the last one count for nothing
    shown = jnp.arange(alpha.shape[2]) < 2 * target_lengths[:, None, None] + 1
    return _losses(alpha, input_lengths, target_lengths), jnp.where(shown, alpha, -jnp.inf)


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:
    """The loss of all alignments of sequences with labels (connectionist temporal classification).

    Args:
        log_probs: (T, N, C), of floats: logarithms of the probabilities of the classes at each time.
        targets: (N, S), of ints: the labels.
        input_lengths: (N,), of ints: how many times each sequence has.
        target_lengths: (N,), of ints: how many labels each has.
        blank: the class that stands for no label.
        reduction: ``"mean"`` of the losses divided by the numbers of labels, ``"sum"`` or ``"none"``.
        zero_infinity: whether a loss is 0 where no alignment is possible, and not infinite.

    Returns:
        tuple: the loss, and the logarithms of the probabilities of beginnings of alignments, (N, T, 2 S + 1).

    Raises:
        ValueError: there is no such reduction, or a shape does not fit.
        IndexError: a label or a length is out of bounds.

    Example:
        >>> import numpy as np
        >>> scores = Tensor(np.log(np.full((2, 1, 2), 0.5, np.float32)))
        >>> loss, _ = ctc_loss(scores, Tensor([[1]]), Tensor([2]), Tensor([1]))
        >>> print(round(loss.item(), 4))
        0.2877
    """
    one_of("ctc_loss", ("mean", "sum", "none"), reduction=reduction)
    if log_probs.ndim != 3 or targets.ndim != 2 or targets.shape[0] != log_probs.shape[1]:
        raise ValueError(f"ctc_loss: labels of shape {targets.shape} do not fit scores of shape {log_probs.shape}")
    for what, lengths in (("input_lengths", input_lengths), ("target_lengths", target_lengths)):
        if not isinstance(lengths, Tensor) or lengths.shape != (log_probs.shape[1],):
            raise ValueError(f"ctc_loss: {what} must be a Tensor of the shape ({log_probs.shape[1]},)")
    times, _, classes = log_probs.shape
    if isinstance(blank, bool) or not isinstance(blank, int) or not 0 <= blank < classes:
        raise ValueError(f"ctc_loss: blank must be a class from 0 to {classes - 1}, not {blank!r}")
    check_bounds(targets, classes, "ctc_loss: there is no class {}", least=0)
    check_bounds(input_lengths, times + 1, "ctc_loss: no sequence has the length {}", least=0)
    check_bounds(target_lengths, targets.shape[1] + 1, "ctc_loss: there are not {} labels", least=0)
    losses, alpha = _ctc(log_probs, targets, input_lengths, target_lengths, blank)
    if zero_infinity:
        losses = where(losses.isinf(), 0.0, losses)
    if reduction == "sum":
        losses = losses.sum()
    elif reduction == "mean":
        losses = (losses / target_lengths.astype(losses.dtype).clip(1.0, None)).mean()
    return losses, alpha


def _placed(indices: Any, values: Any, batch: int) -> Any:
    """Labels by sequence, (N, S), of labels with their places; -1 where there is none."""
    empty = jnp.full((batch, max(values.shape[0], 1)), -1, jnp.int32)
    return empty.at[indices[:, 0], indices[:, 1]].set(values.astype(jnp.int32), mode="drop")


def _ended(labels: Any, blank: int) -> Any:
    """Which places of ``labels`` are a blank, or stand behind one."""
    return jnp.cumsum(labels == blank, 1) > 0


@op("LabelsAfterBlank", classes=(), no_gradient="an integer")
def _after_blank(labels_indices: Any, labels_values: Any, *, batch: int, blank: int) -> Any:
    labels = _placed(labels_indices, labels_values, batch)
    wrong = _ended(labels, blank) & (labels != blank)
    return jnp.where(wrong, labels, -1)


def _labels(indices: Any, values: Any, batch: int, times: int, blank: int, collapses: bool) -> tuple[Any, Any]:
    """Labels by sequence, (N, S), and how many each has, of labels with their places; they end at the first blank."""
    labels = _placed(indices, values, batch)
    labels = jnp.where(_ended(labels, blank), -1, labels)
    most = labels.shape[1]
    if collapses:
        kept = (labels >= 0) & (labels != jnp.pad(labels, ((0, 0), (1, 0)), constant_values=-2)[:, :most])
        places = jnp.where(kept, jnp.cumsum(kept, 1) - 1, most)
        rows = jnp.broadcast_to(jnp.arange(batch)[:, None], labels.shape)
        labels = jnp.full((batch, most), -1, jnp.int32).at[rows, places].set(labels, mode="drop")
    # more labels than times have no alignment, whatever they are
    return jnp.maximum(labels[:, :times], 0), jnp.sum(labels >= 0, 1)


def _ctc_bounds(x: Any, labels_indices: Any, labels_values: Any, sequence_length: Any, *_: Any) -> None:
    check_bounds(labels_indices, (x.shape[1], max(labels_values.shape[0], 1)), "CTCLoss: there is no place {}", least=0)
    check_bounds(labels_values, x.shape[2], "CTCLoss: there is no class {}", least=0)
    following = _after_blank(labels_indices, labels_values, batch=x.shape[1], blank=x.shape[2] - 1)
    check_bounds(following, 0, "CTCLoss: the label {} follows a blank, which ends the labels of a sequence", least=-1)
    check_bounds(sequence_length, x.shape[0] + 1, "CTCLoss: no sequence has the length {}", least=0)


@op("CTCLossSparse", classes=(), multiple=True, bounds=_ctc_bounds)
def _ctc_sparse(
    x: Any, labels_indices: Any, labels_values: Any, sequence_length: Any, *, collapses: bool, merges: bool
) -> Any:
    if x.ndim != 3 or labels_indices.ndim != 2 or labels_values.ndim != 1:
        raise ValueError("CTCLoss takes scores (T, N, C), places of labels (L, 2) and labels (L,)")
    times, batch, classes = x.shape
    labels, counts = _labels(labels_indices, labels_values, batch, times, classes - 1, collapses)

    def losses(scores: Any) -> Any:
        log_probs = jax.nn.log_softmax(scores.astype(jnp.promote_types(scores.dtype, jnp.float32)), -1)
        alpha = _alpha(log_probs, labels, sequence_length, classes - 1, merges)
        found = _losses(alpha, sequence_length, jnp.minimum(counts, labels.shape[1]))
        return jnp.where(counts > labels.shape[1], jnp.inf, found)

    found, back = jax.vjp(losses, x)
    (slope,) = back(jnp.where(jnp.isfinite(found), 1, 0).astype(found.dtype))
    return found.astype(x.dtype), slope


@as_operator
def CTCLoss(
    x: Tensor,
    labels_indices: Tensor,
    labels_values: Tensor,
    sequence_length: Tensor,
    *,
    preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False,
) -> Any:
    """Losses of alignments and their slopes: ``CTCLoss()(x, indices, values, lengths)``.

    The blank is the last class; among the labels of a sequence, it fills the places behind the last one.
    """
    del ignore_longer_outputs_than_inputs  # what has no alignment has no slope, and is infinite
    return _ctc_sparse(
        x, labels_indices, labels_values, sequence_length, preprocess_collapse_repeated, ctc_merge_repeated
    )


def ctc_greedy_decoder(inputs: Any, sequence_length: Any, merge_repeated: bool = True) -> Any:
    """The labels of the best class in each step, without blanks, which are the last class.

    Args:
        inputs: scores, (steps, N, classes), of float32 or float64.
        sequence_length: how many steps each example has, (N,), of int32.
        merge_repeated: a class that comes twice without a blank between counts once.

    Returns:
        tuple[Tensor, Tensor, Tensor, Tensor]: example and place of each label, the labels, (N, most labels of an
        example), and for each example minus the sum of the best scores, (N, 1).

    Raises:
        TypeError: an argument is of another type.
        ValueError: the shapes do not fit.
        IndexError: an example has more steps than there are.

    Example:
        >>> import numpy as np
        >>> scores = Tensor([[[0.0, 1.0, 0.0]], [[0.0, 1.0, 0.0]], [[0.0, 0.0, 1.0]]])
        >>> print(ctc_greedy_decoder(scores, Tensor(np.array([3], np.int32)))[1])
        [1]
    """
    name = "ctc_greedy_decoder"
    tensors(name, inputs=inputs, sequence_length=sequence_length)
    if inputs.dtype not in (dtypes.float32, dtypes.float64) or sequence_length.dtype is not dtypes.int32:
        raise TypeError(f"{name}: inputs must be of floats and the lengths of int32")
    return decoded(name, inputs, sequence_length, merge_repeated)


def decoded(name: str, scores: Any, lengths: Any, merge_repeated: bool) -> Any:
    """What `ctc_greedy_decoder` gives; `name` is the operation that messages name."""
    bools(name, merge_repeated=merge_repeated)
    if scores.ndim != 3 or lengths.shape != scores.shape[1:2]:
        raise ValueError(f"{name}: lengths of shape {lengths.shape} do not fit scores of shape {scores.shape}")
    steps, batch, classes = scores.shape
    check_bounds(lengths, steps + 1, f"{name}: there are no {{}} steps of {steps}", least=0)
    best = argmax(scores, -1).swapaxes(0, 1)  # (N, steps)
    there = arange(steps) < lengths.expand_dims(1)
    kept = logical_and(there, not_equal(best, classes - 1))
    if merge_repeated:
        before = cat((full((batch, 1), classes, dtype=best.dtype), best[:, :-1]), 1)
        kept = logical_and(kept, not_equal(best, before))
    place = cumsum(kept.astype(dtypes.int64), 1) - 1
    example = broadcast_to(arange(batch).expand_dims(1), (batch, steps))
    indices = stack((masked_select(example, kept), masked_select(place, kept)), 1)
    labels = masked_select(best, kept).astype(dtypes.int64)
    most = kept.astype(dtypes.int64).sum(1).max()
    top = scores.max(axis=-1).swapaxes(0, 1)
    total = -where(there, top, 0).sum(1, keepdims=True)
    return indices, labels, stack((full((), batch, dtype=dtypes.int64), most)), total


@as_operator
def CTCGreedyDecoder(inputs: Tensor, sequence_length: Tensor, *, merge_repeated: bool = True) -> Any:
    """The labels of the best classes of sequences (T, N, C), of which the last is none: places, labels, shape, and the
    negative sums of the best scores.

    Args:
        merge_repeated: whether equal classes one after the other are one label.
    """
    name = "CTCGreedyDecoder"
    lengths = np.asarray(sequence_length.concrete(f"{name} (the size of its result)"))
    if inputs.ndim == 3 and lengths.size and not (lengths.min() >= 0 and lengths.max() <= inputs.shape[0]):
        raise ValueError(f"{name}: lengths must be from 0 to {inputs.shape[0]}, not {lengths}")
    return decoded(name, inputs, sequence_length, merge_repeated)


@op("ShortTimeFourier", classes=())
def _stft(x: Any, window: Any, *, n_fft: int, hop: int, onesided: bool, normalized: bool) -> Any:
    before = (n_fft - window.shape[0]) // 2
    wide = jnp.pad(window, (before, n_fft - window.shape[0] - before))
    count = 1 + (x.shape[-1] - n_fft) // hop
    places = jnp.arange(count)[:, None] * hop + jnp.arange(n_fft)
    frames = x[..., places] * wide
    real = not jnp.iscomplexobj(frames)
    found = jnp.fft.rfft(frames) if onesided and real else jnp.fft.fft(frames)
    if normalized:
        found = found / np.sqrt(n_fft)
    kind = jnp.complex128 if frames.dtype in (jnp.float64, jnp.complex128) else jnp.complex64
    return jnp.swapaxes(found, -1, -2).astype(kind)


def stft(
    x: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "REFLECT",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
) -> Tensor:
    """The spectra of stretches of signals.

    Args:
        x: (L,) or (N, L), of floats or complex numbers.
        n_fft: length of a stretch.
        hop_length: distance of the stretches; a quarter of `n_fft`, if not given.
        win_length: length of the window; `n_fft`, if not given.
        window: (win_length,), of floats: factors of a stretch; ones, if not given.
        center: whether stretches are around their places, and a border is added.
        pad_mode: the border: ``"CONSTANT"``, ``"REFLECT"``, or another mode of `pad`.
        normalized: whether the results are divided by the root of `n_fft`.
        onesided: whether the second half is left out, which for real signals is that of the first; for them, if not
            said.
        return_complex: whether the result is complex; else its last dimension is real and imaginary part. For complex
            signals, if not said.

    Returns:
        Tensor: ([N,] frequencies, stretches[, 2]).

    Raises:
        ValueError: a number is out of range, or a shape does not fit.

    Example:
        >>> import numpy as np
        >>> stft(Tensor(np.ones(16, np.float32)), 8).shape
        (5, 9, 2)
    """
    if x.ndim not in (1, 2):
        raise ValueError(f"stft: a signal has 1 or 2 dimensions, not shape {x.shape}")
    hop = n_fft // 4 if hop_length is None else hop_length
    length = n_fft if win_length is None else win_length
    ints("stft", n_fft=n_fft, hop_length=hop, win_length=length)
    complex_signal = x.is_complex()
    if center:
        border = (n_fft // 2, n_fft // 2)
        x = pad(x.reshape((-1, x.shape[-1])), border, pad_mode.lower()).reshape((*x.shape[:-1], -1))
    if not 0 < n_fft <= x.shape[-1] or hop < 1 or not 0 < length <= n_fft:
        raise ValueError(
            f"stft: n_fft must be in [1, {x.shape[-1]}], win_length in [1, n_fft] and hop_length positive, not "
            f"{n_fft}, {length} and {hop}"
        )
    if window is None:
        window = ones((length,), x.dtype)
    elif window.shape != (length,):
        raise ValueError(f"stft: the window must have the shape ({length},), not {window.shape}")
    onesided = not complex_signal if onesided is None else onesided
    if onesided and complex_signal:
        raise ValueError("stft: the spectra of complex signals have two sides")
    found = _stft(x, window, n_fft, hop, onesided, normalized)
    if return_complex or (return_complex is None and complex_signal):
        return found
    return stack((real(found), imag(found)), -1)
