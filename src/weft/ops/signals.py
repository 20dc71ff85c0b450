"""Operator classes of signals and numbers: windows, spectra, norms, running sums of exponentials, checks."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from weft import dtypes
from weft.core import Tensor, as_operator, described, operator_class
from weft.ops import create
from weft.ops._checks import bools, float_tensors, ints, one_of
from weft.ops._rules import numbers, one_axis
from weft.ops.activation import glu, log_softmax
from weft.ops.binary import lerp
from weft.ops.cumulative import logcumsumexp
from weft.ops.elementwise import abs as absolute
from weft.ops.elementwise import sqrt
from weft.ops.fourier import fftn, ifftn, irfftn, rfftn
from weft.ops.index import getitem
from weft.ops.joining import concat
from weft.ops.reduce import reduce_sum
from weft.ops.sequences import stft
from weft.ops.shape import flip, roll
from weft.ops.statistics import norm


def _length(name: str, window_length: Any) -> int:
    if not isinstance(window_length, Tensor) or window_length.dtype.category != 1:
        raise TypeError(f"{name} takes a tensor of an integer, not {type(window_length).__name__}")
    return int(numbers(window_length)[0])


_WINDOW: Final = described(periodic="whether the window is that of a period.", dtype="element type.")


@as_operator
@_WINDOW
def BlackmanWindow(window_length: Any, *, periodic: bool = True, dtype: Any = dtypes.float32) -> Tensor:
    """The Blackman window."""
    return create.blackman_window(_length("BlackmanWindow", window_length), periodic, dtype=dtype)


@as_operator
@_WINDOW
def BartlettWindow(window_length: Any, *, periodic: bool = True, dtype: Any = dtypes.float32) -> Tensor:
    """The Bartlett window."""
    return create.bartlett_window(_length("BartlettWindow", window_length), periodic, dtype=dtype)


@as_operator
@_WINDOW
def HammingWindow(
    length: Any, *, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, dtype: Any = dtypes.float32
) -> Tensor:
    """The Hamming window.

    Args:
        alpha: its middle.
        beta: its amplitude.
    """
    if isinstance(length, Tensor) and length.ndim != 1:
        raise ValueError(f"HammingWindow takes a length of the shape (1,), not {length.shape}")
    return create.hamming_window(_length("HammingWindow", length), periodic, alpha, beta, dtype=dtype)


# -- spectra -----------------------------------------------------------------------------------------------------------


@as_operator
def FFTWithSize(
    x: Tensor, *, signal_ndim: int, inverse: bool, real: bool, norm: str = "backward", onesided: bool = True,
    signal_sizes: Any = (),
) -> Tensor:  # fmt: skip
    """Fourier transforms of the last dimensions: of complex signals, of real ones, or the inverse of either.

    Args:
        signal_ndim: how many dimensions, 1 to 3.
        inverse: whether spectra become signals.
        real: whether the signals are real.
        norm: ``"backward"``, ``"forward"`` or ``"ortho"``.
        onesided: whether the half of a spectrum that follows from the other is left out.
        signal_sizes: sizes of real signals of spectra; ``()`` for even ones.
    """
    name = "FFTWithSize"
    one_of(name, ("backward", "forward", "ortho"), norm=norm)
    ints(name, signal_ndim=signal_ndim)
    if not 1 <= signal_ndim <= 3 or x.ndim < signal_ndim:
        raise ValueError(f"{name}: a signal has 1 to 3 dimensions and not more than {x.ndim}, but not {signal_ndim}")
    axes = tuple(range(-signal_ndim, 0))
    if real and not inverse:
        if x.is_complex():
            raise TypeError(f"{name}: real signals are not of {x.dtype}")
        return (rfftn if onesided else fftn)(x, None, axes, norm)
    if not x.is_complex():
        raise TypeError(f"{name}: needs complex numbers, not {x.dtype}")
    if real and onesided:
        return irfftn(x, tuple(signal_sizes) or None, axes, norm)
    found = (ifftn if inverse else fftn)(x, None, axes, norm)
    return found.real() if real else found


@as_operator
def STFT(
    x: Tensor, window: Tensor, *, n_fft: int, hop_length: int, win_length: int, normalized: bool, onesided: bool,
    return_complex: bool,
) -> Tensor:  # fmt: skip
    """The spectra of stretches of signals.

    Args:
        n_fft: length of a stretch.
        hop_length: distance of the stretches.
        win_length: length of the window.
        normalized: whether the results are divided by the root of `n_fft`.
        onesided: whether the half that follows from the other is left out.
        return_complex: whether the result is complex, or its last dimension real and imaginary part.
    """
    return stft(x, n_fft, hop_length, win_length, window, False, "REFLECT", normalized, onesided, return_complex)


# -- sums and norms ----------------------------------------------------------------------------------------------------


@as_operator
def CumulativeLogsumexp(x: Tensor, axis: Any, *, exclusive: bool = False, reverse: bool = False) -> Tensor:
    """The logarithm of the running sum of exponentials along an axis.

    Args:
        exclusive: whether an element itself is left out.
        reverse: whether the sums run from the end.
    """
    if not isinstance(axis, Tensor):
        raise TypeError(f"CumulativeLogsumexp takes a tensor for the axis, not {type(axis).__name__}")
    at = one_axis("CumulativeLogsumexp", numbers(axis)[0], x.ndim)
    if reverse:
        x = flip(x, (at,))
    found = logcumsumexp(x, at)
    if exclusive:
        kept = getitem(found, (*[slice(None)] * at, slice(0, max(x.shape[at] - 1, 0))))
        shape = tuple([1 if i == at else size for i, size in enumerate(x.shape)])
        found = concat((create.full(shape, float(np.finfo(x.dtype.np_dtype).min), dtype=x.dtype), kept), at)
    return flip(found, (at,)) if reverse else found


@as_operator
def EuclideanNorm(x: Tensor, axes: Any, *, keep_dims: bool = False) -> Tensor:
    """The root of the sum of squares along axes.

    Args:
        keep_dims: whether the axes stay, of size 1.
    """
    if not isinstance(axes, (tuple, list, Tensor)):
        raise TypeError(f"EuclideanNorm: axes must be a tuple or Tensor of ints, not {type(axes).__name__}")
    return sqrt(reduce_sum(x * x, numbers(axes), keep_dims)).astype(x.dtype)


@as_operator
def NuclearNorm(x: Tensor, *, dim: Any = None, keepdim: bool = False) -> Tensor:
    """The sum of the singular values of matrices.

    Args:
        dim: the two dimensions of the matrices; None for a matrix.
        keepdim: whether they stay, of size 1.
    """
    bools("NuclearNorm", keepdim=keepdim)
    axes = (0, 1) if dim is None else tuple(dim)
    if len(axes) != 2 or (dim is None and x.ndim != 2):
        raise ValueError(f"NuclearNorm takes matrices, not dimensions {dim} of a shape {x.shape}")
    return norm(x, "nuc", axes, keepdim)


@as_operator
def Eps(x: Tensor) -> Tensor:
    """The smallest number that changes 1, in the shape and element type of a tensor."""
    float_tensors("Eps", x=x)
    return create.full_like(x, float(np.finfo(x.dtype.np_dtype).eps))


@as_operator
def CheckNumerics(x: Tensor) -> Tensor:
    """The same tensor, which has neither NaN nor infinity, or a RuntimeError."""
    float_tensors("CheckNumerics", x=x)
    values = np.asarray(x.concrete("CheckNumerics (whether it raises)"))
    for what, wrong in (("NaN", np.isnan(values)), ("Inf", np.isinf(values))):
        if wrong.any():
            raise RuntimeError(f"Tensor had {what} values")
    return x * 1


@as_operator
def LerpScalar(input: Tensor, end: Tensor, weight: Any) -> Tensor:
    """A point between two, by a number."""
    return lerp(input, end, weight)


@as_operator
def LogSoftmaxExt(input: Tensor, dim: Any = None, dtype: Any = None) -> Tensor:
    """The logarithms of probabilities along a dimension."""
    usual = 0 if input.ndim in (0, 1, 3) else 1
    return log_softmax(input if dtype is None else input.astype(dtype), usual if dim is None else dim)


GLU = operator_class("GLU", glu, "axis=-1")
Roll = operator_class("Roll", roll, "shifts, dims=None")
ComplexAbs = operator_class("ComplexAbs", absolute)


@as_operator
def Assert(condition: Any, input_data: Any, *, summarize: int = 3) -> None:
    """Raise a RuntimeError unless a condition holds.

    Args:
        summarize: how many elements of each tensor the message shows.
    """
    if not (isinstance(condition, bool) or (isinstance(condition, Tensor) and condition.size == 1)):
        raise TypeError(f"Assert takes a bool, not {type(condition).__name__}")
    if not condition:
        shown = [np.asarray(each.concrete("Assert")).reshape(-1)[:summarize].tolist() for each in input_data]
        raise RuntimeError(f"assert failed: {', '.join(map(str, shown))}")
