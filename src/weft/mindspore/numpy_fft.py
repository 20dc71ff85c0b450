"""`mindspore.numpy.fft`: the Fourier transforms of `weft.ops` under NumPy's signatures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from weft import ops
from weft.mint.rows import parse

_ALONG_ONE: Final = "fft hfft ifft ihfft irfft rfft"
_ALONG_TWO: Final = "fft2 hfft2 ifft2 ihfft2 irfft2 rfft2"
_ALONG_SEVERAL: Final = "fftn hfftn ifftn ihfftn irfftn rfftn"
_ROWS: Final = (
    *(f"{name}(a, n=None, axis=-1, norm=None)" for name in _ALONG_ONE.split()),
    *(f"{name}(a, s=None, axes=(-2, -1), norm=None)" for name in _ALONG_TWO.split()),
    *(f"{name}(a, s=None, axes=None, norm=None)" for name in _ALONG_SEVERAL.split()),
    "fftfreq(n, d=1.0, dtype=None)",
    "rfftfreq(n, d=1.0, dtype=None)",
    "fftshift(x, axes=None)",
    "ifftshift(x, axes=None)",
)


def _renamed(row: str) -> Callable[..., Any]:
    """The operation of a row under the signature of the row."""
    name, wanted, _ = parse(row)

    def function(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = wanted.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}() {error}") from None
        bound.apply_defaults()
        return getattr(ops, name)(*bound.args)

    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    function.__doc__ = f"`weft.ops.{name}` as ``{name}{wanted}``."
    function.__signature__ = wanted  # type: ignore[attr-defined]
    return function


_FUNCTIONS: Final = {made.__name__: made for made in map(_renamed, _ROWS)}
globals().update(_FUNCTIONS)

__all__ = list(_FUNCTIONS)
