"""Discrete Fourier transforms along one axis and several, their frequencies and the order of those."""

from __future__ import annotations

from typing import Any, Final

import jax.numpy as jnp
import numpy as np

from weft import dtypes
from weft.core import Tensor, described, op, shows, told
from weft.ops._checks import one_of, positive_ints, reals, tensors
from weft.ops._rules import one_axis
from weft.ops.shape import roll

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn", "ifft", "ifft2", "ifftn", "ifftshift",
    "ihfft", "ihfft2", "ihfftn", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip

_NORMS: Final = {None: "backward", "backward": "backward", "ortho": "ortho", "forward": "forward"}
#: what divides the inverse of a transform that is not divided
_SWAPPED: Final = {"backward": "forward", "ortho": "ortho", "forward": "backward"}
_TRANSFORMS: Final[dict[str, Any]] = {
    "fft": jnp.fft.fft, "ifft": jnp.fft.ifft, "rfft": jnp.fft.rfft, "irfft": jnp.fft.irfft,
}  # fmt: skip
_ONE: Final = described(
    input="tensor of numbers.",
    n="length along the axis: longer inputs are cut off, shorter ones filled with zeros; None for their own.",
    dim="the axis.",
    norm='what is divided by the length: ``"backward"`` (or None) the inverse, ``"forward"`` the transform, '
    '``"ortho"`` both by its root.',
    returns="Tensor: in single precision, in double precision of float64 and complex128.",
    raises="TypeError: `input` is no tensor of numbers, or an argument is no int.\n"
    "ValueError: there is no such axis or norm, or the length is less than 1.",
)
_SEVERAL: Final = described(
    input="tensor of numbers.",
    s="lengths along the axes; None for those of the input.",
    dim="the axes; None for all, or for as many of the last as `s` has lengths.",
    norm='what is divided by the lengths: ``"backward"`` (or None) the inverse, ``"forward"`` the transform, '
    '``"ortho"`` both by their root.',
    returns="Tensor: in single precision, in double precision of float64 and complex128.",
    raises="TypeError: `input` is no tensor of numbers, or an argument is no int.\n"
    "ValueError: there is no such axis or norm, an axis comes twice, or the lengths are not one for each axis.",
)


@op("FourierTransform", classes=())
def _transform(x: Any, *, kind: str, n: int, axis: int, norm: str) -> Any:
    """A transform along one axis."""
    double = x.dtype in (jnp.float64, jnp.complex128)
    if kind == "rfft":
        x = x.astype(jnp.float64 if double else jnp.float32)
    else:
        x = x.astype(jnp.complex128 if double else jnp.complex64)
    return _TRANSFORMS[kind](x, n, axis, norm)


def _numbers(name: str, input: Any) -> Tensor:
    tensors(name, input=input)
    if input.dtype is dtypes.bool_:
        raise TypeError(f"{name}: the input must be a tensor of numbers, not of bools")
    if 0 in input.shape:
        raise ValueError(f"{name}: there is nothing to transform in a tensor of shape {input.shape}")
    return input


def _length(name: str, n: Any) -> int:
    positive_ints(name, n=n)
    return n


def _norm(name: str, norm: Any) -> str:
    one_of(name, _NORMS, norm=norm)
    return _NORMS[norm]


def _by_axes(name: str, input: Any, s: Any, dim: Any, norm: Any) -> Tensor:
    """The transform that a name says, along several axes.

    A transform of real numbers comes first, along the last axis, and one to real numbers last. Those of spectra that
    are Hermitian are the opposite ones of the conjugates, which are divided where the others are not.
    """
    x, way = _numbers(name, input), _norm(name, norm)
    kind = name.rstrip("2n")
    if s is not None and not isinstance(s, (list, tuple)):
        s = (s,)
    if dim is None:
        axes = tuple(range(x.ndim - (x.ndim if s is None else len(s)), x.ndim))
    else:
        axes = tuple(dim) if isinstance(dim, (list, tuple)) else (dim,)
    axes = tuple(one_axis(name, axis, x.ndim) for axis in axes)
    if len(set(axes)) != len(axes):
        raise ValueError(f"{name}: the axes {dim} name one twice")
    if s is not None and len(s) != len(axes):
        raise ValueError(f"{name}: {len(s)} lengths are given for {len(axes)} axes")
    if not axes:
        raise ValueError(f"{name}: there is no axis to transform along")
    halved = kind in ("irfft", "hfft")
    if s is not None:
        lengths = [_length(name, n) for n in s]
    else:
        lengths = [x.shape[axis] for axis in axes]
        if halved:
            lengths[-1] = _length(name, 2 * (lengths[-1] - 1))
    *steps, last = zip(axes, lengths, strict=True)
    if kind == "hfft":
        return _to_real(x.conj(), "ifft", steps, last, _SWAPPED[way])
    if kind == "irfft":
        return _to_real(x, "ifft", steps, last, way)
    if kind == "ihfft":
        return _from_real(name, x, steps, last, _SWAPPED[way]).conj()
    if kind == "rfft":
        return _from_real(name, x, steps, last, way)
    for axis, n in (*steps, last):
        x = _transform(x, kind, n, axis, way)
    return x


def _to_real(x: Tensor, kind: str, steps: Any, last: tuple[int, int], way: str) -> Tensor:
    for axis, n in steps:
        x = _transform(x, kind, n, axis, way)
    return _transform(x, "irfft", last[1], last[0], way)


def _from_real(name: str, x: Tensor, steps: Any, last: tuple[int, int], way: str) -> Tensor:
    if x.is_complex():
        raise TypeError(f"{name}: the input must be a tensor of real numbers, not {x.dtype}")
    x = _transform(x, "rfft", last[1], last[0], way)
    for axis, n in reversed(steps):
        x = _transform(x, "fft", n, axis, way)
    return x


def _along_one(name: str, sentence: str, given: str, printed: str) -> Any:
    """The function that a name says, along one axis."""

    def transform(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
        return _by_axes(name, input, None if n is None else (_length(name, n),), (dim,), norm)

    example = f"Example:\n    >>> print({name}(Tensor([{given}])))\n    [{printed}]"
    return _ONE(told(transform, name, f"{sentence.format('an axis', 'n')}.\n\n{example}"))


def _along_axes(name: str, sentence: str, given: str, printed: str) -> Any:
    """The function that a name says, along the last two axes, or all, unless it is told others."""
    usual, where = ((-2, -1), "two axes") if name.endswith("2") else (None, "several axes")

    def transform(input: Any, s: Any = None, dim: Any = usual, norm: str | None = None) -> Any:
        return _by_axes(name, input, s, dim, norm)

    example = f"Example:\n    >>> print({name}(Tensor([[{given}]])))\n    [[{printed}]]"
    return _SEVERAL(told(transform, name, f"{sentence.format(where, 's')}.\n\n{example}"))


# what each transform gives, and the example that each of its three functions shows
_FFT: Final = ("The Fourier transform along {0}", "1.0, 2.0", " 3.+0.j -1.+0.j")
_IFFT: Final = ("The inverse of the Fourier transform along {0}", "3.0, -1.0", "1.+0.j 2.+0.j")
_RFFT: Final = (
    "The half of the Fourier transform of real numbers that says all of it, along {0}", "1.0, 2.0", " 3.+0.j -1.+0.j"
)  # fmt: skip
_IRFFT: Final = (
    "The real numbers that have a half of a Fourier transform, along {0}; without `{1}` of even length", "3.0, -1.0",
    "1. 2.",
)  # fmt: skip
_HFFT: Final = (
    "The Fourier transform, which is real, of the numbers of which a Hermitian half is given, along {0}", "1.0, 2.0",
    " 3. -1.",
)  # fmt: skip
_IHFFT: Final = (
    "The half of the inverse Fourier transform of real numbers that says all of it, along {0}", "3.0, -1.0",
    "1.-0.j 2.-0.j",
)  # fmt: skip
fft, fft2, fftn = _along_one("fft", *_FFT), _along_axes("fft2", *_FFT), _along_axes("fftn", *_FFT)
ifft, ifft2, ifftn = _along_one("ifft", *_IFFT), _along_axes("ifft2", *_IFFT), _along_axes("ifftn", *_IFFT)
rfft, rfft2, rfftn = _along_one("rfft", *_RFFT), _along_axes("rfft2", *_RFFT), _along_axes("rfftn", *_RFFT)
irfft, irfft2 = _along_one("irfft", *_IRFFT), _along_axes("irfft2", *_IRFFT)
irfftn = _along_axes("irfftn", *_IRFFT)
hfft, hfft2, hfftn = _along_one("hfft", *_HFFT), _along_axes("hfft2", *_HFFT), _along_axes("hfftn", *_HFFT)
ihfft, ihfft2, ihfftn = (_along_one("ihfft", *_IHFFT), _along_axes("ihfft2", *_IHFFT), _along_axes("ihfftn", *_IHFFT))


def _frequencies(name: str, n: Any, d: Any, dtype: Any, make: Any) -> Tensor:
    reals(name, d=d)
    return Tensor(make(_length(name, n), float(d)), dtypes.float32 if dtype is None else dtype)


_FREQUENCIES: Final = described(
    d="distance of the samples.",
    dtype="element type; float32 by default.",
    raises="TypeError: `n` is no int.\nValueError: `n` is less than 1.",
)


@_FREQUENCIES
@shows("fftfreq(4)", "[ 0.    0.25 -0.5  -0.25]")
def fftfreq(n: int, d: float = 1.0, dtype: Any = None) -> Any:
    """The frequencies of a Fourier transform, in its order.

    Args:
        n: its length.

    Returns:
        Tensor: (n,).
    """
    return _frequencies("fftfreq", n, d, dtype, np.fft.fftfreq)


@_FREQUENCIES
@shows("rfftfreq(4)", "[0.   0.25 0.5 ]")
def rfftfreq(n: int, d: float = 1.0, dtype: Any = None) -> Any:
    """The frequencies of a Fourier transform of real numbers, in its order.

    Args:
        n: length of the real numbers.

    Returns:
        Tensor: (n // 2 + 1,).
    """
    return _frequencies("rfftfreq", n, d, dtype, np.fft.rfftfreq)


def _shifted(name: str, input: Any, dim: Any, sign: int) -> Tensor:
    tensors(name, input=input)
    axes = range(input.ndim) if dim is None else dim if isinstance(dim, (list, tuple)) else (dim,)
    axes = tuple(one_axis(name, axis, input.ndim) for axis in axes)
    shifts = tuple(input.shape[axis] // 2 if sign > 0 else -(input.shape[axis] // 2) for axis in axes)
    return roll(input, shifts, axes) if axes else input


_SHIFTED: Final = described(
    input="tensor.",
    dim="the axis, or axes; None for all.",
    returns="Tensor: like `input`.",
    raises="TypeError: `input` is no tensor.\nValueError: there is no such axis.",
)


@_SHIFTED
@shows("fftshift(Tensor([0, 1, 2, -2, -1]))", "[-2 -1  0  1  2]")
def fftshift(input: Any, dim: Any = None) -> Any:
    """A spectrum with the frequency zero in the middle."""
    return _shifted("fftshift", input, dim, 1)


@_SHIFTED
@shows("ifftshift(Tensor([-2, -1, 0, 1, 2]))", "[ 0  1  2 -2 -1]")
def ifftshift(input: Any, dim: Any = None) -> Any:
    """A spectrum in the order of a transform, of one with the frequency zero in the middle."""
    return _shifted("ifftshift", input, dim, -1)
