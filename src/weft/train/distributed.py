"""Checkpoints of networks that are spread over devices and processes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from weft.core.tensor import Tensor, data_of
from weft.errors import CheckpointError
from weft.parallel.processes import processes
from weft.train import folders
from weft.train.serialization import collected, wait_for_checkpoints, write_later


def save_distributed_checkpoint(
    save_obj: Any,
    folder: Any,
    append_dict: dict[str, Any] | None = None,
    choice_func: Callable[[str], bool] | None = None,
    async_save: bool = False,
) -> None:
    """Write a network that is spread over devices and processes to a folder; an interrupted write leaves what was there.

    All processes call it, with the parameters that they have: slices of the same ones, the same ones, or others, as
    the stages of a pipeline do. Each writes its part, and what several have is written once. `load_checkpoint` and
    `load_distributed_checkpoint` read the folder, into networks that are spread in any way.

    Args:
        save_obj: see `save_checkpoint`.
        folder: the folder. A checkpoint in it is replaced; it should hold nothing else.
        append_dict: see `save_checkpoint`.
        choice_func: see `save_checkpoint`.
        async_save: write in a thread of its own; the values are those of the call. Several processes wait all the same.

    Raises:
        TypeError: something is no Cell, list or dict of tensors.
        ValueError: two parameters have the same name.
        CheckpointError: the folder cannot be written, or processes have different elements under one name.

    Example:
        >>> import tempfile
        >>> from weft import nn
        >>> from weft.train import load_checkpoint
        >>> folder = tempfile.mkdtemp() + "/step_10"
        >>> save_distributed_checkpoint(nn.Dense(2, 1), folder, {"step": 10})
        >>> int(load_checkpoint(folder)["step"])
        10
    """
    caller = "save_distributed_checkpoint"
    path = _folder(caller, "folder", folder)
    tensors, trained, texts = collected(caller, save_obj, append_dict, choice_func)
    arrays = {name: data_of(value if isinstance(value, Tensor) else Tensor(value)) for name, value in tensors.items()}

    def work() -> None:
        folders.write(path, arrays, trained, texts)

    if async_save and processes().count == 1:
        write_later(path, work)
    else:
        wait_for_checkpoints()
        work()


def _folder(caller: str, what: str, value: Any) -> Path:
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{caller}: {what} must be a str, not {type(value).__name__}")
    path = Path(value)
    if path.exists() and not path.is_dir():
        raise CheckpointError(f"{caller}: {path} is no folder")
    return path
