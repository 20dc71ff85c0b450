"""Checkpoint files of one format as files of the other, and files that are read in the background."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from weft.core.transparency import python_only
from weft.nn.cell import Cell
from weft.train.loading import load_checkpoint
from weft.train.serialization import is_writing, save_checkpoint


@python_only
def async_ckpt_thread_status() -> bool:
    """Whether a checkpoint is being written in the background.

    Example:
        >>> async_ckpt_thread_status()
        False
    """
    return is_writing()


@python_only
def load_checkpoint_async(
    ckpt_file_name: Any,
    net: Cell | None = None,
    strict_load: bool = False,
    filter_prefix: Any = None,
    dec_key: bytes | None = None,
    dec_mode: str = "AES-GCM",
    specify_prefix: Any = None,
    choice_func: Callable[[str], bool] | None = None,
) -> Future[dict[str, Any]]:
    """Read a checkpoint file in the background, see `load_checkpoint`.

    Args:
        ckpt_file_name: the file.
        net: a network to load the parameters into.
        strict_load: with `net`: every parameter must be in the file, with the same element type.
        filter_prefix: leave out names that begin so.
        dec_key: must be None.
        dec_mode: accepted.
        specify_prefix: read only names that begin so.
        choice_func: called with each name; reads those for which it returns True.

    Returns:
        Future: its ``result()`` waits for what `load_checkpoint` returns.

    Example:
        >>> import tempfile
        >>> from weft import nn
        >>> path = tempfile.mkdtemp() + "/net.ckpt"
        >>> save_checkpoint(nn.Dense(2, 1), path)
        >>> sorted(load_checkpoint_async(path).result())
        ['bias', 'weight']
    """
    pool = ThreadPoolExecutor(1, "weft-checkpoint")
    given = (net, strict_load, filter_prefix, dec_key, dec_mode, specify_prefix, choice_func)
    found = pool.submit(load_checkpoint, ckpt_file_name, *given)
    pool.shutdown(wait=False)
    return found


@python_only
def ckpt_to_safetensors(
    file_path: str,
    save_path: str | None = None,
    name_map: dict[str, str] | None = None,
    file_name_regex: str | None = None,
    processes_num: int = 1,
) -> None:
    """Write checkpoint files as safetensors files.

    Args:
        file_path: a file, or a folder with such, also in folders below.
        save_path: the folder for the new files; None for beside the old ones.
        name_map: other names of parameters.
        file_name_regex: only files with such a name.
        processes_num: accepted.

    Raises:
        ValueError: a path is no such one.

    Example:
        >>> import tempfile
        >>> from weft import nn
        >>> folder = tempfile.mkdtemp()
        >>> save_checkpoint(nn.Dense(2, 1), folder + "/net.ckpt")
        >>> ckpt_to_safetensors(folder)
        >>> sorted(os.listdir(folder))
        ['net.ckpt', 'net.safetensors']
    """
    del processes_num
    _convert("ckpt_to_safetensors", "ckpt", "safetensors", file_path, save_path, name_map, file_name_regex)


@python_only
def safetensors_to_ckpt(
    file_path: str,
    save_path: str | None = None,
    name_map: dict[str, str] | None = None,
    file_name_regex: str | None = None,
    processes_num: int = 1,
) -> None:
    """Write safetensors files as checkpoint files.

    Args:
        file_path: a file, or a folder with such, also in folders below.
        save_path: the folder for the new files; None for beside the old ones.
        name_map: other names of parameters.
        file_name_regex: only files with such a name.
        processes_num: accepted.

    Raises:
        ValueError: a path is no such one.

    Example:
        >>> import tempfile
        >>> from weft import nn
        >>> folder = tempfile.mkdtemp()
        >>> save_checkpoint(nn.Dense(2, 1), folder + "/net.safetensors")
        >>> safetensors_to_ckpt(folder + "/net.safetensors", name_map={"weight": "w"})
        >>> sorted(load_checkpoint(folder + "/net.ckpt"))
        ['bias', 'w']
    """
    del processes_num
    _convert("safetensors_to_ckpt", "safetensors", "ckpt", file_path, save_path, name_map, file_name_regex)


def _convert(
    caller: str,
    old: str,
    new: str,
    file_path: Any,
    save_path: Any,
    name_map: dict[str, str] | None,
    file_name_regex: str | None,
) -> None:
    if not isinstance(file_path, (str, os.PathLike)):
        raise ValueError(f"{caller}: file_path must be a str, not {type(file_path).__name__}")
    source = Path(file_path)
    if source.is_dir():
        files = sorted(source.rglob(f"*.{old}"))
        root = source
    elif source.is_file() and source.suffix == f".{old}":
        files, root = [source], source.parent
    else:
        raise ValueError(f"{caller}: {source} is neither a folder nor a file that ends in .{old}")
    if save_path is not None and Path(save_path).exists() and not Path(save_path).is_dir():
        raise ValueError(f"{caller}: {save_path} is no folder")
    pattern = None if file_name_regex is None else re.compile(file_name_regex)
    names = name_map or {}
    for file in files:
        if pattern is not None and pattern.search(file.name) is None:
            continue
        found = load_checkpoint(file)
        renamed = {names.get(name, name): value for name, value in found.items() if not isinstance(value, str)}
        texts = {names.get(name, name): value for name, value in found.items() if isinstance(value, str)}
        target = root if save_path is None else Path(save_path)
        save_checkpoint(renamed, target / file.relative_to(root).with_suffix(f".{new}"), append_dict=texts, format=new)
