"""Checkpoints of networks that are spread over devices and processes: a folder into which each process writes its part.

The folder holds safetensors files, of each process one, and ``index.json``, which says of what parts of which files a
tensor is made. The index is put in place in one step when all files are on disk, and it names the files of one save, so
that a folder is what it was before or what it is afterwards. What it says is checked when it is read, sums of the
elements included.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import re
import secrets
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import ml_dtypes
import numpy as np
import safetensors
import safetensors.numpy

from weft.errors import CheckpointError
from weft.parallel.groups import Group
from weft.parallel.processes import processes
from weft.parallel.slices import Box, grid, parts, whole
from weft.parallel.spanning import is_in_part, spans
from weft.train import files

INDEX: Final = "index.json"
_FORMAT: Final = "weft distributed checkpoint"
_VERSION: Final = 1
_FILE: Final = re.compile(r"part_\d+\.[0-9a-f]{16}\.safetensors")
#: what an interrupted save of the index leaves
_LEFT: Final = re.compile(r"index\.json\..*\.tmp")
#: characters of a text that processes tell each other at a time
_PIECE: Final = 1 << 19
#: the element types that a checkpoint can hold, by name
_TYPES: Final = {
    np.dtype(kind).name: np.dtype(kind)
    for kind in (
        np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float16,
        np.float32, np.float64, np.complex64, np.complex128, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn,
        ml_dtypes.float8_e5m2,
    )
}  # fmt: skip
#: those that a safetensors file holds as bytes, since readers for NumPy do not know them
_AS_BYTES: Final = frozenset({"complex128", "float8_e4m3fn", "float8_e5m2"})


class _Part(NamedTuple):
    """A part of a tensor in a file."""

    file: str
    key: str
    box: Box
    crc: int


class Stored(NamedTuple):
    """A tensor in a folder.

    Args:
        dtype: its element type.
        shape: its shape.
        parts: what it is made of.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    parts: tuple[_Part, ...]


# -- writing -----------------------------------------------------------------------------------------------------


def write(folder: Path, values: Mapping[str, Any], trained: list[str], texts: Mapping[str, str]) -> None:
    """Write arrays to a folder. Where there are several processes, all of them call it.

    Args:
        folder: made if there is none; a checkpoint in it is replaced.
        values: device arrays by name. Of those that are spread over processes each writes its part; others are written
            once, and must be the same in all processes that have them.
        trained: names of those that are trained.
        texts: strings by name.

    Raises:
        CheckpointError: a process has other values than another, or cannot write.
    """
    together = _Together()
    said = {name: _described(array, together.count > 1) for name, array in values.items()}
    mine = {"values": said, "trained": trained, "texts": dict(texts), "token": secrets.token_hex(8)}
    mine["folder"] = os.path.abspath(folder)
    told = together.tell("save_distributed_checkpoint", mine)
    token: str = told[0]["token"]
    problem = _disagreement(told)
    if problem:
        raise CheckpointError(f"save_distributed_checkpoint: {problem}")
    chosen = _shared_out(told)[together.rank]
    file = f"part_{together.rank}.{token}.safetensors"
    with together.all_or_none("save_distributed_checkpoint", folder) as report:
        folder.mkdir(parents=True, exist_ok=True)
        report.append(_write_part(folder / file, {name: values[name] for name in chosen}))
    written = {f"part_{rank}.{token}.safetensors": found for rank, found in enumerate(report) if found["tensors"]}
    with together.all_or_none("save_distributed_checkpoint", folder) as report:
        if not together.rank:
            _write_index(folder, _index_of(told, written))
        report.append(None)


def _described(array: Any, compare: bool) -> list[Any]:
    """What the other processes must know of an array: type, shape, and by what they see that they have the same."""
    if spans(array) or is_in_part(array):
        return [array.dtype.name, list(array.shape), None]
    if not compare:
        return [array.dtype.name, list(array.shape), ""]
    content = np.ascontiguousarray(whole(array)).reshape(-1).view(np.uint8)
    return [array.dtype.name, list(array.shape), hashlib.blake2b(content.data, digest_size=16).hexdigest()]


def _disagreement(told: list[Any]) -> str:
    """What processes have under one name and not alike, or write elsewhere; nothing if all is well."""
    first: dict[str, tuple[int, Any]] = {}
    for rank, mine in enumerate(told):
        if mine["folder"] != told[0]["folder"]:
            return (
                f"process {rank} writes to {mine['folder']!r} and process 0 to {told[0]['folder']!r}; each writes its "
                "part, so the folder must be the same"
            )
        for name, value in [*mine["values"].items(), *mine["texts"].items()]:
            before, other = first.setdefault(name, (rank, value))
            if value != other:
                what = "other elements" if value[:2] == other[:2] else "another type or shape"
                return f"{name!r} has {what} in process {rank} than in process {before}"
    return ""


def _shared_out(told: list[Any]) -> list[list[str]]:
    """The names of what each process writes: its parts of what is spread, of the rest everything once, each by the one
    that has written least so far.
    """
    chosen: list[list[str]] = [[] for _ in told]
    load = [0] * len(told)
    for name, having in _owners(told).items():
        dtype, shape, digest = told[having[0]]["values"][name]
        takers = having if digest is None else [min(having, key=lambda rank: load[rank])]
        for rank in takers:
            chosen[rank].append(name)
            load[rank] += math.prod(shape) * _TYPES[dtype].itemsize // len(takers)
    return chosen


def _owners(told: list[Any]) -> dict[str, list[int]]:
    """The processes that have a value, by name."""
    found: dict[str, list[int]] = {}
    for rank, mine in enumerate(told):
        for name in mine["values"]:
            found.setdefault(name, []).append(rank)
    return found


def _write_part(path: Path, values: Mapping[str, Any]) -> dict[str, Any]:
    """Write what a process keeps; says what that is."""
    content: dict[str, np.ndarray[Any, Any]] = {}
    found: dict[str, list[Any]] = {}
    for name, array in values.items():
        for box, data in parts(array):
            elements = np.ascontiguousarray(np.asarray(data)).reshape(box.size)
            key = _key(name, box, array.shape, content)
            as_bytes = elements.reshape(-1).view(np.uint8)
            crc = zlib.crc32(as_bytes.data)
            if elements.dtype.name in _AS_BYTES:
                elements = as_bytes.reshape(*box.size, elements.itemsize)
            content[key] = elements
            found.setdefault(name, []).append([key, box.start, box.size, crc])
    if not content:
        return {"tensors": {}, "size": 0}
    try:
        safetensors.numpy.save_file(content, path)
        files.sync(path)
    except BaseException:
        with contextlib.suppress(OSError):
            path.unlink()
        raise
    return {"tensors": found, "size": path.stat().st_size}


def _key(name: str, box: Box, shape: tuple[int, ...], taken: Mapping[str, Any]) -> str:
    """What a part is called in a file: as its tensor, if it is all of it."""
    key = name
    if box.size != shape:
        key += "[" + ", ".join(f"{low}:{low + size}" for low, size in zip(*box, strict=True)) + "]"
    while key in taken or key == "__metadata__":
        key += "'"
    return key


def _index_of(told: list[Any], written: Mapping[str, Any]) -> dict[str, Any]:
    tensors: dict[str, Any] = {}
    for name, having in _owners(told).items():
        dtype, shape, _ = told[having[0]]["values"][name]
        tensors[name] = {"dtype": dtype, "shape": shape, "parts": []}
    named = list(written)
    for number, file in enumerate(named):
        for name, found in written[file]["tensors"].items():
            tensors[name]["parts"] += [[number, *part] for part in found]
    trained = {name for mine in told for name in mine["trained"]}
    return {
        "tensors": tensors,
        "trained": [name for name in tensors if name in trained],
        "texts": {name: text for mine in told for name, text in mine["texts"].items()},
        "files": [[file, written[file]["size"]] for file in named],
    }


def _canonical(content: Any) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()


def _write_index(folder: Path, content: dict[str, Any]) -> None:
    """Make the files of a save the checkpoint, and take away those of others."""
    index = {"format": _FORMAT, "version": _VERSION, "crc": zlib.crc32(_canonical(content)), "content": content}
    files.sync(folder)
    files.write(folder / INDEX, [json.dumps(index).encode()])
    files.sync(folder.parent)
    kept = {file for file, _ in content["files"]}
    for path in folder.iterdir():
        if _LEFT.fullmatch(path.name) or (_FILE.fullmatch(path.name) and path.name not in kept):
            with contextlib.suppress(OSError):
                path.unlink()


class _Together:
    """What the processes that save together tell each other."""

    def __init__(self) -> None:
        mine = processes()
        self.rank, self.count = mine.rank, mine.count
        self._attendance = mine.attendance

    def tell(self, what: str, mine: Any) -> list[Any]:
        """What all processes say, in their order."""
        if self._attendance is None:
            return [mine]
        group = Group("", tuple(range(self.count)))
        text = json.dumps(mine)
        pieces = [text[i : i + _PIECE] for i in range(0, len(text), _PIECE)]
        most = max(self._attendance.meet(group, what, len(pieces)))
        texts = [""] * self.count
        for number in range(most):
            piece = pieces[number] if number < len(pieces) else ""
            for rank, other in enumerate(self._attendance.meet(group, what, piece)):
                texts[rank] += other
        return [json.loads(text) for text in texts]

    @contextlib.contextmanager
    def all_or_none(self, what: str, folder: Path) -> Any:
        """A step that each process reports of; if it failed in one, it is an error in all."""
        report: list[Any] = []
        failed = ""
        try:
            yield report
        except OSError as error:
            failed = f"{error.strerror or error}"
        except safetensors.SafetensorError as error:
            failed = str(error)
        told = self.tell(what, [failed, report])
        for rank, (problem, _) in enumerate(told):
            if problem:
                by = f" by process {rank}" if self.count > 1 else ""
                raise CheckpointError(f"{what}: {folder} cannot be written{by}: {problem}")
        report[:] = [one for _, found in told for one in found]


# -- reading -----------------------------------------------------------------------------------------------------


def is_checkpoint(path: Path) -> bool:
    """Whether a path is a folder with a checkpoint."""
    return (path / INDEX).is_file()


class Folder:
    """A checkpoint that `write` wrote. What it says is checked before anything is read.

    Args:
        path: the folder.

    Raises:
        CheckpointError: it is none, or damaged.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        content = _read_index(path)
        #: strings by name
        self.texts: dict[str, str] = content["texts"]
        #: tensors by name
        self.tensors = self._tensors(content)
        #: names of those that are trained
        self.trained = frozenset(content["trained"])
        self._opened: dict[str, Any] = {}
        if not self.trained <= self.tensors.keys() or self.texts.keys() & self.tensors.keys():
            raise self._damaged("its index names other tensors than it lists")

    def _damaged(self, what: str) -> CheckpointError:
        return CheckpointError(f"{self.path} is no undamaged checkpoint: {what}")

    def _tensors(self, content: dict[str, Any]) -> dict[str, Stored]:
        known: list[str] = []
        for entry in content["files"]:
            if not _is(entry, [str, int]) or not _FILE.fullmatch(entry[0]) or entry[0] in known:
                raise self._damaged("its index does not list its files")
            file = self.path / entry[0]
            if not file.is_file():
                raise self._damaged(f"{entry[0]} is missing")
            size = file.stat().st_size
            if size != entry[1]:
                raise self._damaged(f"{entry[0]} has {size} bytes instead of {entry[1]}")
            known.append(entry[0])
        found: dict[str, Stored] = {}
        used: set[tuple[str, str]] = set()
        claimed = [0] * len(known)
        for name, tensor in content["tensors"].items():
            if not _is(tensor, {"dtype": str, "shape": list, "parts": list}) or not _sizes(tensor["shape"]):
                raise self._damaged(f"its index does not say what {name!r:.100} is")
            if tensor["dtype"] not in _TYPES:
                raise self._damaged(f"{name!r:.100} has the element type {tensor['dtype']!r:.40}")
            made: list[_Part] = []
            for part in tensor["parts"]:
                if not _is(part, [int, str, list, list, int]) or not _sizes(part[2]) or not _sizes(part[3]):
                    raise self._damaged(f"its index does not say of what {name!r:.100} is made")
                if not 0 <= part[0] < len(known) or (known[part[0]], part[1]) in used:
                    raise self._damaged(f"its index says that {name!r:.100} is made of what it cannot be")
                used.add((known[part[0]], part[1]))
                claimed[part[0]] += math.prod(part[3]) * _TYPES[tensor["dtype"]].itemsize
                made.append(_Part(known[part[0]], part[1], Box(tuple(part[2]), tuple(part[3])), part[4]))
            shape = tuple(tensor["shape"])
            if not grid([part.box for part in made], shape):
                raise self._damaged(f"the parts of {name!r:.100} do not make up its shape {shape}")
            found[name] = Stored(_TYPES[tensor["dtype"]], shape, tuple(made))
        if any(bytes_ > entry[1] for bytes_, entry in zip(claimed, content["files"], strict=True)):
            raise self._damaged("its index says that a file holds more than it can")
        return found

    def read(self, name: str, box: Box | None = None) -> np.ndarray[Any, Any]:
        """The elements of a tensor, or a part of them, in new memory.

        Args:
            name: the tensor.
            box: the part; None for all.

        Raises:
            CheckpointError: a file is damaged.
        """
        stored = self.tensors[name]
        wanted = Box((0,) * len(stored.shape), stored.shape) if box is None else box
        found: np.ndarray[Any, Any] | None = None
        for part in stored.parts:
            common = wanted.common(part.box)
            if common is None and 0 not in wanted.size:
                continue
            elements = self._elements(name, stored.dtype, part)
            if found is None:  # not before, so that no more memory is asked for than there are elements in files
                found = np.empty(wanted.size, stored.dtype)
            if common is not None:
                found[common.within(wanted.start)] = elements[common.within(part.box.start)]
        assert found is not None
        return found

    def _elements(self, name: str, dtype: np.dtype[Any], part: _Part) -> np.ndarray[Any, Any]:
        """The elements of a part, which are those that were saved."""
        try:
            if part.file not in self._opened:
                self._opened[part.file] = safetensors.safe_open(self.path / part.file, "numpy")
            found: np.ndarray[Any, Any] = self._opened[part.file].get_tensor(part.key)
        except (safetensors.SafetensorError, OSError, ValueError, AttributeError, TypeError) as error:
            raise self._damaged(f"{part.file}: {error}") from None
        shape: tuple[int, ...] = part.box.size
        raw = dtype.name in _AS_BYTES
        wanted = ((*shape, dtype.itemsize), np.dtype(np.uint8)) if raw else (shape, dtype)
        if (found.shape, found.dtype) != wanted:
            raise self._damaged(f"{part.file} holds {found.dtype}{list(found.shape)} as {part.key!r:.100}")
        as_bytes = np.ascontiguousarray(found).reshape(-1).view(np.uint8)
        if zlib.crc32(as_bytes.data) != part.crc:
            raise self._damaged(f"the elements of {name!r:.100} in {part.file} are not those that were saved")
        return as_bytes.view(dtype).reshape(shape)


def _read_index(path: Path) -> dict[str, Any]:
    file = path / INDEX
    try:
        index = json.loads(file.read_bytes())
        intact = isinstance(index, dict) and index.get("format") == _FORMAT
    except OSError as error:
        raise CheckpointError(f"{file} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError, MemoryError):
        intact = False
    if not intact:
        raise CheckpointError(f"{path} is no undamaged checkpoint: {INDEX} is not the index of one")
    if index.get("version") != _VERSION:
        version = index.get("version")
        raise CheckpointError(f"{path} has the format version {version!r:.20}; this program reads {_VERSION}")
    content = index.get("content")
    wanted: dict[str, Any] = {"tensors": dict, "trained": list, "texts": dict, "files": list}
    try:
        intact = _is(content, wanted) and index.get("crc") == zlib.crc32(_canonical(content))
    except RecursionError:
        intact = False
    if not intact:
        raise CheckpointError(f"{path} is no undamaged checkpoint: {INDEX} is not what was written")
    if not all(isinstance(x, str) for x in [*content["trained"], *content["texts"].values()]):
        raise CheckpointError(f"{path} is no undamaged checkpoint: {INDEX} holds texts that are none")
    return content


def _is(value: Any, kinds: Any) -> bool:
    """Whether a JSON value has such members."""
    if isinstance(kinds, dict):
        return isinstance(value, dict) and value.keys() == kinds.keys() and all(_is(value[k], kinds[k]) for k in kinds)
    if isinstance(kinds, list):
        return isinstance(value, list) and len(value) == len(kinds) and all(map(_is, value, kinds))
    return isinstance(value, kinds) and not isinstance(value, bool)


def _sizes(value: list[Any]) -> bool:
    """Whether a list holds numbers of elements, of no more dimensions than arrays have."""
    return len(value) <= 32 and all(isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 1 << 62 for n in value)


def merged(folders: list[Folder], chosen: Callable[[str], bool]) -> dict[str, tuple[Folder, Stored]]:
    """The tensors of several checkpoints, as of the stages of a pipeline, by name.

    Raises:
        CheckpointError: two have different tensors of one name.
    """
    found: dict[str, tuple[Folder, Stored]] = {}
    for folder in folders:
        for name, stored in folder.tensors.items():
            if not chosen(name):
                continue
            first, other = found.setdefault(name, (folder, stored))
            if first is folder:
                continue
            if (stored.dtype, stored.shape) != (other.dtype, other.shape) or not np.array_equal(
                folder.read(name).reshape(-1).view(np.uint8), first.read(name).reshape(-1).view(np.uint8)
            ):
                raise CheckpointError(f"{name!r} is another tensor in {folder.path} than in {first.path}")
    return found
