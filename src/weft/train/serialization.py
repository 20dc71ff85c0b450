"""Checkpoints: parameters in one file, written whole or not at all.

The file is MindSpore's (see `weft.train.ckpt`) or what safetensors defines: a JSON header, then raw little-endian data.
Nothing in either can run. Facts beyond shape and element type (which parameters are trained, their order) stand where
other readers pass over them.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import ml_dtypes
import numpy as np
import safetensors.numpy

from weft._jax_compat import noted_first
from weft.core.tensor import Parameter, Tensor, settled
from weft.core.transparency import python_only
from weft.nn.cell import Cell
from weft.parallel.processes import processes
from weft.parallel.slices import held, whole
from weft.parallel.spanning import is_in_part, spans
from weft.train import ckpt, files

METADATA_KEY: Final = "weft"
FORMAT_VERSION: Final = 2
ELEMENT_TYPES: Final[dict[str, Any]] = {
    "BOOL": np.bool_, "U8": np.uint8, "I8": np.int8, "U16": np.uint16, "I16": np.int16, "U32": np.uint32,
    "I32": np.int32, "U64": np.uint64, "I64": np.int64, "F16": np.float16, "BF16": ml_dtypes.bfloat16,
    "F32": np.float32, "F64": np.float64, "C64": np.complex64,
}  # fmt: skip
_STORABLE: Final = {
    "ckpt": frozenset(np.dtype(kind) for kind in ckpt.ELEMENT_TYPES.values()),
    "safetensors": frozenset(np.dtype(kind) for kind in ELEMENT_TYPES.values()),
}


#: by file: the thread that writes it last
_pending: dict[str, threading.Thread] = {}
_pending_lock = threading.Lock()


@python_only
def save_checkpoint(
    save_obj: Any,
    ckpt_file_name: Any,
    integrated_save: bool = True,
    async_save: bool | str = False,
    append_dict: dict[str, Any] | None = None,
    enc_key: bytes | None = None,
    enc_mode: str = "AES-GCM",
    choice_func: Callable[[str], bool] | None = None,
    crc_check: bool = False,
    format: str = "ckpt",
    **kwargs: Any,
) -> None:
    """Write parameters to a checkpoint file; an interrupted write leaves the old file.

    Args:
        save_obj: a Cell, a list of ``{"name": str, "data": Tensor}``, or a dict of Tensors by name.
        ckpt_file_name: the file; without an ending it gets ``.ckpt`` (or ``.safetensors``, by `format`).
        integrated_save: write whole parameters also where processes hold slices of them, which all call this then;
            else each file holds the slices of the process that writes it, and nothing of the parameters that other
            stages of a pipeline have.
        async_save: write in a thread of its own; the values are those of the call, and the last call for a file wins.
        append_dict: further Tensors, Parameters, numbers or strings by name. A number becomes a tensor: an int an
            int64, a float a float32.
        enc_key: must be None.
        enc_mode: accepted.
        choice_func: called with each name; saves those for which it returns True.
        crc_check: whether a checksum follows the content of a ``ckpt`` file.
        format: ``"ckpt"`` (MindSpore's own) or ``"safetensors"``: what the file is, unless its name ends in
            ``.safetensors``, and the ending that a name without one gets.
        kwargs: accepted: `incremental`, `remove_redundancy`, `global_step_num`.

    Raises:
        TypeError: something is no Cell, list or dict of tensors.
        ValueError: two parameters have the same name, or encryption is asked for.

    Example:
        >>> import tempfile
        >>> from weft import nn, load_checkpoint
        >>> folder = tempfile.mkdtemp()
        >>> save_checkpoint(nn.Dense(2, 1), folder + "/net.ckpt")
        >>> sorted(load_checkpoint(folder + "/net.ckpt"))
        ['bias', 'weight']
    """
    del enc_mode, kwargs
    if enc_key is not None:
        raise ValueError("save_checkpoint does not encrypt; encrypt the file with a tool made for it")
    path = _path_to_write(ckpt_file_name, format)
    kind = "safetensors" if path.suffix == ".safetensors" else format
    tensors, trained, texts = collected("save_checkpoint", save_obj, append_dict, choice_func)
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    slices: dict[str, Any] = {}
    for name, value in tensors.items():
        data: Any = settled(value) if isinstance(value, Tensor) else None
        if not integrated_save and is_in_part(data) and not data.addressable_shards:
            continue
        if not integrated_save and spans(data):
            box, held_here = held(data)
            slices[name] = [list(data.shape), list(box.start)]
            arrays[name] = _array(name, held_here, kind)
        elif not integrated_save and is_in_part(data):  # all of it is here
            arrays[name] = _array(name, held(data)[1], kind)
        else:
            arrays[name] = _array(name, whole(data) if spans(data) else value, kind)
    trained = [name for name in trained if name in arrays]
    facts: dict[str, Any] = {"version": FORMAT_VERSION, "trained": trained, "order": list(arrays)}
    if slices:
        facts["slices"] = slices
        _claim(path)

    def content() -> Iterable[bytes]:
        if kind == "safetensors":
            metadata = {METADATA_KEY: json.dumps({**facts, "texts": texts})}
            return (safetensors.numpy.save(arrays, metadata),)
        pieces = ckpt.encoded(arrays, texts, json.dumps({**facts, "strings": list(texts)}).encode())
        return ckpt.with_checksum(pieces) if crc_check else pieces

    if async_save:
        write_later(path, lambda: files.write(path, content()))
    else:
        wait_for_checkpoints()
        files.write(path, content())


def collected(
    caller: str, save_obj: Any, append_dict: dict[str, Any] | None, choice_func: Callable[[str], bool] | None
) -> tuple[dict[str, Any], list[str], dict[str, str]]:
    """What is to be saved: tensors by name, the names of those that are trained, and strings by name.

    Args:
        caller: the function that saves.
        save_obj: see `save_checkpoint`.
        append_dict: see `save_checkpoint`.
        choice_func: see `save_checkpoint`.
    """
    tensors: dict[str, Any] = {}
    trained: list[str] = []
    texts: dict[str, str] = {}
    for name, value in _named_values(caller, save_obj):
        _check_name(caller, name)
        if choice_func is not None and not choice_func(name):
            continue
        if name in tensors:
            raise ValueError(f"{caller}: two parameters are named {name!r}")
        tensors[name] = _checked(caller, name, value)
    for name, value in (append_dict or {}).items():
        if not isinstance(name, str):
            raise TypeError(f"{caller}: a key of append_dict must be a str, not {type(name).__name__}")
        _check_name(caller, name)
        if name in tensors:
            raise ValueError(f"{caller}: append_dict holds {name!r}, which is the name of a parameter")
        if isinstance(value, str):
            texts[name] = value
            continue
        if isinstance(value, (bool, int, float)):
            value = Tensor(value)
        tensors[name] = _checked(caller, name, value)
    for name, value in tensors.items():
        if isinstance(value, Parameter) and value.requires_grad:
            trained.append(name)
    return tensors, trained, texts


def _claim(path: Path) -> None:
    """Refuse to write slices where another process of this machine does, whose slices would be lost."""
    mine = processes()
    if mine.attendance is None:
        return
    place = f"{socket.gethostname()}:{os.path.realpath(path)}"
    key = f"weft/slices/{hashlib.blake2b(place.encode(), digest_size=16).hexdigest()}"
    owner = noted_first(key, str(mine.rank))
    if owner != str(mine.rank):
        raise ValueError(
            f"save_checkpoint: process {owner} writes its slices to {path}, too; with integrated_save=False each "
            "process needs a file of its own, as in a folder with its rank in the name"
        )


def _check_name(caller: str, name: Any) -> None:
    if not isinstance(name, str):
        raise TypeError(f"{caller}: a parameter name must be a str, not {type(name).__name__}")
    if name == "__metadata__":
        raise ValueError(f"{caller}: '__metadata__' cannot be the name of a parameter")


def _checked(caller: str, name: str, value: Any) -> Any:
    if not isinstance(value, (Tensor, np.ndarray, np.generic)):
        raise TypeError(f"{caller}: {name!r} must be a Tensor, not {type(value).__name__}")
    return value


@python_only
def wait_for_checkpoints() -> None:
    """Wait until every checkpoint that is written in the background is on disk.

    Example:
        >>> wait_for_checkpoints()
    """
    while True:
        with _pending_lock:
            threads = list(_pending.values())
        if not threads:
            return
        for thread in threads:
            thread.join()
        _forget_finished()


@python_only
def is_writing() -> bool:
    """Whether a checkpoint is being written in the background.

    Example:
        >>> is_writing()
        False
    """
    _forget_finished()
    return bool(_pending)


def write_later(path: Path, work: Callable[[], None]) -> None:
    """Write in the background, after what was asked for earlier for the same file.

    Args:
        path: the file.
        work: writes it.
    """
    file = os.path.realpath(path)
    _forget_finished()
    with _pending_lock:
        earlier = _pending.get(file)

        def write() -> None:
            if earlier is not None:
                earlier.join()
            work()

        thread = _pending[file] = threading.Thread(target=write, name="weft-checkpoint")
        thread.start()


def _forget_finished() -> None:
    with _pending_lock:
        for file in [file for file, thread in _pending.items() if not thread.is_alive()]:
            del _pending[file]


def _path_to_write(name: Any, format: str) -> Path:
    if not isinstance(name, (str, os.PathLike)):
        raise TypeError(f"save_checkpoint: ckpt_file_name must be a str, not {type(name).__name__}")
    if format not in ("ckpt", "safetensors"):
        raise ValueError(f"save_checkpoint: format must be 'ckpt' or 'safetensors', not {format!r}")
    path = Path(name)
    if not path.name:
        raise ValueError("save_checkpoint: ckpt_file_name must not be empty")
    if path.is_dir():
        raise IsADirectoryError(f"save_checkpoint: {path} is a folder")
    return path if path.suffix or path.name.endswith(format) else path.with_name(path.name + "." + format)


def _named_values(caller: str, save_obj: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(save_obj, Cell):
        return [(param.name, param) for param in save_obj.get_parameters()] + saved_buffers(save_obj)
    if isinstance(save_obj, dict):
        return list(save_obj.items())
    if isinstance(save_obj, (list, tuple)):
        pairs = []
        for item in save_obj:
            if isinstance(item, Parameter):
                pairs.append((item.name, item))
                continue
            if not isinstance(item, dict) or not {"name", "data"} <= set(item):
                raise TypeError(f'{caller}: a list must hold dicts {{"name": ..., "data": ...}} or Parameters')
            pairs.append((item["name"], item["data"]))
        return pairs
    raise TypeError(f"{caller} takes a Cell, a list or a dict of tensors, not {type(save_obj).__name__}")


def saved_buffers(net: Cell) -> list[tuple[str, Tensor]]:
    """The buffers of a network that are part of what is saved, by their paths."""
    found: dict[int, tuple[str, Tensor]] = {}
    for path, cell in net.cells_and_names():
        for name, buffer in cell._buffers.items():
            if buffer is not None and cell._buffer_names[name]:
                found.setdefault(id(buffer), (f"{path}.{name}" if path else name, buffer))
    return [*found.values()]


def _array(name: str, value: Any, kind: str) -> np.ndarray[Any, Any]:
    array = np.array(value)  # a copy: others may go on writing to theirs
    if array.dtype not in _STORABLE[kind]:
        raise TypeError(f"save_checkpoint: {name!r} is {array.dtype.name}, which a {kind} file cannot hold")
    return np.ascontiguousarray(array).reshape(array.shape)
