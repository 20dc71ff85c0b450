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

#: what divides the inverse of a transform that is not divided
_SWAPPED: Final = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def _described(lengths: str, root: str, wrong: str, **own: str) -> Any:
    """What the functions along one axis share, and those along several."""
    return described(
        input="tensor of numbers.",
        norm=f'what is divided by {lengths}: ``"backward"`` (or None) the inverse, ``"forward"`` the transform, '
        f'``"ortho"`` both by {root}.',
        returns="Tensor: in single precision, in double precision of float64 and complex128.",
        raises="TypeError: `input` is no tensor of numbers, or an argument is no int.\n"
        f"ValueError: there is no such axis or norm, {wrong}.",
        **own,
    )


_ONE: Final = _described(
    "the length", "its root", "or the length is less than 1", dim="the axis.",
    n="length along the axis: longer inputs are cut off, shorter ones filled with zeros; None for their own.",
)  # fmt: skip
_SEVERAL: Final = _described(
    "the lengths", "their root", "an axis comes twice, or the lengths are not one for each axis",
    s="lengths along the axes; None for those of the input.",
    dim="the axes; None for all, or for as many of the last as `s` has lengths.",
)  # fmt: skip


@op("FourierTransform", classes=())
def _transform(x: Any, *, kind: str, n: int, axis: int, norm: str) -> Any:
    """A transform along one axis."""
    double = x.dtype in (jnp.float64, jnp.complex128)
    if kind == "rfft":
        x = x.astype(jnp.float64 if double else jnp.float32)
    else:
        x = x.astype(jnp.complex128 if double else jnp.complex64)
    return getattr(jnp.fft, kind)(x, n, axis, norm)


def _axes(name: str, ndim: int, dim: Any) -> tuple[int, ...]:
    """Axes that are given as one or several; None for all."""
    axes = range(ndim) if dim is None else dim if isinstance(dim, (list, tuple)) else (dim,)
    return tuple([one_axis(name, axis, ndim) for axis in axes])


def _by_axes(name: str, x: Any, s: Any, dim: Any, norm: Any) -> Tensor:
    """The transform that a name says, along several axes.

    A transform of real numbers comes first, along the last axis, and one to real numbers last. Those of spectra that
    are Hermitian are the opposite ones of the conjugates, which are divided where the others are not.
    """
    tensors(name, input=x)
    if x.dtype is dtypes.bool_:
        raise TypeError(f"{name}: the input must be a tensor of numbers, not of bools")
    if 0 in x.shape:
        raise ValueError(f"{name}: there is nothing to transform in a tensor of shape {x.shape}")
    one_of(name, (None, *_SWAPPED), norm=norm)
    kind, way = name.rstrip("2n"), norm or "backward"
    if s is not None and not isinstance(s, (list, tuple)):
        s = (s,)
    if dim is None and s is not None:
        dim = tuple(range(x.ndim - len(s), x.ndim))
    axes = _axes(name, x.ndim, dim)
    if len(set(axes)) != len(axes):
        raise ValueError(f"{name}: the axes {dim} name one twice")
    if s is not None and len(s) != len(axes):
        raise ValueError(f"{name}: {len(s)} lengths are given for {len(axes)} axes")
    if not axes:
        raise ValueError(f"{name}: there is no axis to transform along")
    lengths = [x.shape[axis] for axis in axes] if s is None else s
    if s is None and kind in ("irfft", "hfft"):
        lengths[-1] = 2 * (lengths[-1] - 1)
    for n in lengths:
        positive_ints(name, n=n)
    *steps, last = zip(axes, lengths, strict=True)
    way = _SWAPPED[way] if kind in ("hfft", "ihfft") else way
    if kind in ("irfft", "hfft"):
        order = [*((step, "ifft") for step in steps), (last, "irfft")]
        return _steps(x.conj() if kind == "hfft" else x, order, way)
    if kind in ("rfft", "ihfft"):
        if x.is_complex():
            raise TypeError(f"{name}: the input must be a tensor of real numbers, not {x.dtype}")
        found = _steps(x, [(last, "rfft"), *((step, "fft") for step in reversed(steps))], way)
        return found.conj() if kind == "ihfft" else found
    return _steps(x, [(step, kind) for step in (*steps, last)], way)


def _steps(x: Tensor, steps: list[tuple[tuple[int, int], str]], way: str) -> Tensor:
    """Transforms one after another: of axes and lengths, by their kinds."""
    for (axis, n), kind in steps:
        x = _transform(x, kind, n, axis, way)
    return x


def _three(name: str, sentence: str, given: str, printed: str) -> Any:
    """The functions of a transform along one axis, along the last two, or others, and along all, or some.

    Args:
        name: of the first one.
        sentence: what they give, where ``{0}`` is along what, and ``{1}`` the lengths.
        given: what is transformed in the example.
        printed: what that gives.
    """

    def along_one(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
        return _by_axes(name, input, None if n is None else (n,), (dim,), norm)

    def along_two(input: Any, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Any:
        return _by_axes(f"{name}2", input, s, dim, norm)

    def along_several(input: Any, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
        return _by_axes(f"{name}n", input, s, dim, norm)

    def with_doc(function: Any, own: str, where: str, lengths: str, brackets: str) -> Any:
        shown, result = (f"{brackets}{each}{brackets.replace('[', ']')}" for each in (given, printed))
        example = f"Example:\n    >>> print({own}(Tensor({shown})))\n    {result}"
        return told(function, own, f"{sentence.format(where, lengths)}.\n\n{example}")

    return (
        _ONE(with_doc(along_one, name, "an axis", "n", "[")),
        _SEVERAL(with_doc(along_two, f"{name}2", "two axes", "s", "[[")),
        _SEVERAL(with_doc(along_several, f"{name}n", "several axes", "s", "[[")),
    )


fft, fft2, fftn = _three("fft", "The Fourier transform along {0}", "1.0, 2.0", " 3.+0.j -1.+0.j")
ifft, ifft2, ifftn = _three("ifft", "The inverse of the Fourier transform along {0}", "3.0, -1.0", "1.+0.j 2.+0.j")
rfft, rfft2, rfftn = _three("rfft", "The half of the Fourier transform of real numbers that says all of it, along {0}",
    "1.0, 2.0", " 3.+0.j -1.+0.j")  # fmt: skip
irfft, irfft2, irfftn = _three("irfft",
    "The real numbers that have a half of a Fourier transform, along {0}; without `{1}` of even length", "3.0, -1.0",
    "1. 2.")  # fmt: skip
hfft, hfft2, hfftn = _three("hfft",
    "The Fourier transform, which is real, of the numbers of which a Hermitian half is given, along {0}", "1.0, 2.0",
    " 3. -1.")  # fmt: skip
ihfft, ihfft2, ihfftn = _three("ihfft",
    "The half of the inverse Fourier transform of real numbers that says all of it, along {0}", "3.0, -1.0",
    "1.-0.j 2.-0.j")  # fmt: skip


def _frequencies(name: str, n: Any, d: Any, dtype: Any, make: Any) -> Tensor:
    reals(name, d=d)
    positive_ints(name, n=n)
    return Tensor(make(n, float(d)), dtypes.float32 if dtype is None else dtype)


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
    axes = _axes(name, input.ndim, dim)
    shifts = tuple([sign * (input.shape[axis] // 2) for axis in axes])
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
