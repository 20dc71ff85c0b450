"""Tensors of a running program as files, to be looked at."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any, Final

import numpy as np

from weft import dtypes
from weft.core import Tensor, as_operator
from weft.ops._checks import one_of, strings, tensors
from weft.ops.host import host_call

__all__ = ["tensordump"]

_NUMBERS: Final = itertools.count()


def _write(path: str, mode: str, tensor: Tensor) -> None:
    array = tensor.asnumpy()
    kind = tensor.dtype.np_dtype.name
    if tensor.dtype is dtypes.bfloat16:
        array = array.astype(np.float32)
    name = Path(path)
    parts = [name.stem if name.suffix == ".npy" else name.name, *([mode] if mode != "out" else [])]
    name.parent.mkdir(parents=True, exist_ok=True)
    np.save(name.with_name("_".join([*parts, kind, str(next(_NUMBERS))]) + ".npy"), array)


def tensordump(file_name: str, tensor: Any, mode: str = "out") -> None:
    """Write a tensor into a file ``{file_name}_{type}_{number}.npy``, whose number is another one each time.

    In a compiled function it is written when the graph comes to it.

    Args:
        file_name: the path, with or without ``.npy``.
        tensor: the tensor; bfloat16 is written as float32.
        mode: ``"out"``, or ``"in"``, which is then part of the name.

    Raises:
        TypeError: an argument is of another type.
        ValueError: the name is empty, or there is no such mode.

    Example:
        >>> import glob, os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     tensordump(os.path.join(folder, "x"), Tensor([1.0, 2.0]))
        ...     print(np.load(*glob.glob(os.path.join(folder, "x_float32_*.npy"))))
        [1. 2.]
    """
    strings("tensordump", file_name=file_name)
    if not file_name:
        raise ValueError("tensordump: file_name is empty")
    tensors("tensordump", tensor=tensor)
    one_of("tensordump", ("out", "in"), mode=mode)
    host_call(_write, file_name, mode, tensor)


@as_operator
def TensorDump(file: str, input_x: Any, *, input_output: str = "out") -> None:
    """Write a tensor into a file, see `tensordump`."""
    tensordump(file, input_x, input_output)
