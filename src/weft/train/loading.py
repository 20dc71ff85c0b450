"""Checkpoints are read, and networks get their values: all fit, and all processes load the same, or none does."""

from __future__ import annotations

import functools
import json
import math
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import safetensors.numpy

from weft.core.tensor import Parameter, Tensor, data_of, wrap
from weft.core.transparency import python_only
from weft.errors import CheckpointError
from weft.nn.cell import Cell
from weft.nn.state import put
from weft.parallel.processes import processes
from weft.parallel.slices import Box, assembled, held, is_spread, parts
from weft.parallel.spanning import agree, contents_of, processes_of, spans
from weft.train import ckpt, folders
from weft.train.serialization import ELEMENT_TYPES, FORMAT_VERSION, METADATA_KEY, saved_buffers, wait_for_checkpoints


class Slice(NamedTuple):
    """What a parameter is a slice of.

    Args:
        shape: shape of the whole parameter.
        box: which part of it.
    """

    shape: tuple[int, ...]
    box: Box


@python_only
def load_checkpoint(
    ckpt_file_name: Any,
    net: Cell | None = None,
    strict_load: bool = False,
    filter_prefix: str | list[str] | tuple[str, ...] | None = None,
    dec_key: bytes | None = None,
    dec_mode: str = "AES-GCM",
    specify_prefix: str | list[str] | tuple[str, ...] | None = None,
    choice_func: Callable[[str], bool] | None = None,
    crc_check: bool = False,
    remove_redundancy: bool = False,
    format: str = "ckpt",
) -> dict[str, Any]:
    """Read a checkpoint file.

    Args:
        ckpt_file_name: the file, or a folder that `save_distributed_checkpoint` wrote.
        net: a network to load the parameters into; those of its parameters that are spread over devices stay so.
        strict_load: with `net`: every parameter must be in the file, with the same element type.
        filter_prefix: leave out names that begin so.
        dec_key: must be None.
        dec_mode: accepted.
        specify_prefix: read only names that begin so.
        choice_func: called with each name; reads those for which it returns True.
        crc_check: accepted.
        remove_redundancy: accepted.
        format: accepted; the file says itself what it is.

    Returns:
        dict: Parameters by name; strings that were appended, as themselves.

    Raises:
        CheckpointError: the file is missing or damaged, nothing is left after filtering, or it does not fit `net`.

    Example:
        >>> import tempfile
        >>> from weft import nn, save_checkpoint
        >>> path = tempfile.mkdtemp() + "/net.ckpt"
        >>> save_checkpoint(nn.Dense(2, 1), path)
        >>> load_checkpoint(path)["weight"].shape
        (1, 2)
    """
    del dec_mode, crc_check, remove_redundancy, format
    if not isinstance(ckpt_file_name, (str, os.PathLike)):
        raise TypeError(f"load_checkpoint: ckpt_file_name must be a str, not {type(ckpt_file_name).__name__}")
    path = Path(ckpt_file_name)
    chosen = chooser("load_checkpoint", filter_prefix, specify_prefix, choice_func, dec_key)
    wait_for_checkpoints()
    found = from_folders([path], net, chosen) if folders.is_checkpoint(path) else from_file(path, chosen)
    if not found:
        raise CheckpointError(f"{path}: no parameter is left")
    if net is not None:
        load_param_into_net(net, found, strict_load)
    return found


def chooser(
    caller: str,
    filter_prefix: str | list[str] | tuple[str, ...] | None,
    specify_prefix: str | list[str] | tuple[str, ...] | None,
    choice_func: Callable[[str], bool] | None,
    dec_key: bytes | None,
) -> Callable[[str], bool]:
    """Whether to read a name, as the arguments of `load_checkpoint` say.

    Args:
        caller: the function that reads.
        filter_prefix: see `load_checkpoint`.
        specify_prefix: see `load_checkpoint`.
        choice_func: see `load_checkpoint`.
        dec_key: must be None.
    """
    if dec_key is not None:
        raise ValueError(f"{caller} does not decrypt; decrypt the file first")
    left_out = _prefixes(caller, "filter_prefix", filter_prefix)
    wanted = _prefixes(caller, "specify_prefix", specify_prefix)

    def chosen(name: str) -> bool:
        if left_out and name.startswith(left_out):
            return False
        if wanted and not name.startswith(wanted):
            return False
        return choice_func is None or bool(choice_func(name))

    return chosen


def from_file(path: Path, chosen: Callable[[str], bool]) -> dict[str, Any]:
    """What a file holds, as `load_checkpoint` returns it.

    Args:
        path: the file.
        chosen: whether to read a name.
    """
    arrays, texts, facts = read(path)
    found: dict[str, Any] = {}
    for name, array in arrays.items():
        if chosen(name):
            found[name] = _parameter(name, Tensor(array), name in facts["trained"])
            if name in facts["slices"]:
                found[name].slice_of = facts["slices"][name]
    found.update({name: text for name, text in texts.items() if chosen(name)})
    return found


def _parameter(name: str, value: Tensor, trained: bool) -> Parameter:
    return Parameter(value, name=name, requires_grad=trained)


def from_folders(paths: list[Path], net: Cell | None, chosen: Callable[[str], bool]) -> dict[str, Any]:
    """What folders hold that `save_distributed_checkpoint` wrote, as `load_checkpoint` returns it. Of what the network
    has spread over devices each process reads its part only.

    Args:
        paths: the folders.
        net: the network that it is for; None for whole values.
        chosen: whether to read a name.

    Raises:
        CheckpointError: a folder is damaged.
    """
    opened = [folders.Folder(path) for path in paths]
    targets: dict[str, Any] = {}
    if net is not None:
        targets = {param.name: data_of(param) for param in net.get_parameters()}
    found: dict[str, Any] = {}
    for name, (folder, stored) in folders.merged(opened, chosen).items():
        target: Any = targets.get(name)
        if is_spread(target) and target.shape == stored.shape:
            value = wrap(assembled(target.sharding, stored.shape, stored.dtype, functools.partial(folder.read, name)))
        else:
            value = Tensor(folder.read(name))
        found[name] = _parameter(name, value, name in folder.trained)
    for folder in opened:
        found.update({name: text for name, text in folder.texts.items() if chosen(name)})
    return found


def _prefixes(caller: str, what: str, value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    found = (value,) if isinstance(value, str) else tuple(value)
    for prefix in found:
        if not isinstance(prefix, str):
            raise TypeError(f"{caller}: {what} must be a str or a list of them, not {type(prefix).__name__}")
        if not prefix:
            raise ValueError(f"{caller}: {what} must not be empty")
    return found


def read(path: Path) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, str], dict[str, Any]]:
    """The arrays of a file in the order they were saved, its strings, and the facts besides; every claim of the file is
    checked.
    """
    if not path.exists():
        raise CheckpointError(f"there is no checkpoint file {path}")
    if not path.is_file():
        raise CheckpointError(f"{path} is no file")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror or error}") from error
    if content[8:9] == b"{":  # a safetensors file begins with the length of its header
        return _read_safetensors(path, content)
    try:
        arrays, texts, noted = ckpt.decoded(content)
    except ckpt.Damaged as damage:
        raise _damaged(path, str(damage)) from None
    facts = _facts(path, noted.decode(errors="replace"), arrays)
    if facts.get("strings", list(texts)) != list(texts):
        raise _damaged(path, "it holds other strings than it lists")
    return {name: arrays[name] for name in facts["order"]}, texts, facts


def _read_safetensors(
    path: Path, content: bytes
) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, str], dict[str, Any]]:
    try:
        entries = safetensors.deserialize(content)  # type: ignore[no-untyped-call]
        # the library has checked the header; it only does not hand out the metadata
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    except (safetensors.SafetensorError, ValueError, RecursionError) as error:
        raise _damaged(path, str(error)) from None
    arrays = {name: _entry(path, name, entry) for name, entry in entries}
    metadata = header.get("__metadata__", {})
    if not isinstance(metadata, dict) or any(not isinstance(v, str) for v in metadata.values()):
        raise _damaged(path, "its metadata is no table of strings")
    facts = _facts(path, metadata.get(METADATA_KEY, ""), arrays)
    texts = facts.get("texts", {})
    if not isinstance(texts, dict) or any(not isinstance(v, str) or name in arrays for name, v in texts.items()):
        raise _damaged(path, "its appended values are no strings")
    return {name: arrays[name] for name in facts["order"]}, texts, facts


def _damaged(path: Path, what: str) -> CheckpointError:
    return CheckpointError(f"{path} is no undamaged checkpoint: {what}")


def _entry(path: Path, name: str, entry: dict[str, Any]) -> np.ndarray[Any, Any]:
    kind = ELEMENT_TYPES.get(entry["dtype"])
    if kind is None:
        raise _damaged(path, f"{name!r} has the element type {entry['dtype']}, which a tensor cannot have")
    data, shape = entry["data"], tuple(entry["shape"])
    dtype = np.dtype(kind)
    if len(shape) > 32 or math.prod(shape) * dtype.itemsize != len(data):
        raise _damaged(path, f"{name!r} of shape {shape} does not fill its place of {len(data)} bytes")
    if dtype == np.bool_ and len(data) and max(data) > 1:
        raise _damaged(path, f"{name!r} holds bytes that are no bool")
    return np.frombuffer(data, dtype).reshape(shape)


def _facts(path: Path, text: str, arrays: dict[str, Any]) -> dict[str, Any]:
    """What weft noted of the parameters; a file of another program says nothing."""
    if not text:
        return {"trained": list(arrays), "order": list(arrays), "slices": {}}
    try:
        facts = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, f"its metadata is unreadable ({error})") from None
    if not isinstance(facts, dict) or facts.get("version") != FORMAT_VERSION:
        version = facts.get("version") if isinstance(facts, dict) else None
        raise CheckpointError(f"{path} has the format version {version!r:.20}; this program reads {FORMAT_VERSION}")
    order, trained = facts.get("order"), facts.get("trained")
    if not isinstance(order, list) or not all(isinstance(n, str) for n in order) or len(order) != len(arrays):
        raise _damaged(path, "its metadata does not list its tensors")
    if set(order) != set(arrays):
        raise _damaged(path, "its metadata lists other tensors than it holds")
    if not isinstance(trained, list) or not all(isinstance(n, str) and n in arrays for n in trained):
        raise _damaged(path, "its metadata does not say which parameters are trained")
    slices = facts.setdefault("slices", {})
    if not isinstance(slices, dict) or not all(name in arrays for name in slices):
        raise _damaged(path, "its metadata does not say which slices it holds")
    for name, entry in slices.items():
        slices[name] = _slice(path, name, entry, arrays[name].shape)
    return facts


def _slice(path: Path, name: str, entry: Any, size: tuple[int, ...]) -> Slice:
    """Of what a tensor in a file is a slice."""
    numbers = isinstance(entry, list) and len(entry) == 2 and all(isinstance(part, list) for part in entry)
    if not numbers or not all(type(n) is int and n >= 0 for part in entry for n in part):
        raise _damaged(path, f"its metadata does not say which slice {name!r} is")
    shape, start = map(tuple, entry)
    fits = len(shape) == len(start) == len(size)
    if not fits or any(low + n > whole_size for low, n, whole_size in zip(start, size, shape, strict=True)):
        raise _damaged(path, f"its metadata does not say which slice {name!r} is")
    return Slice(shape, Box(start, size))


# -- into a network ------------------------------------------------------------------------------------------------


def load_param_into_net(
    net: Cell, parameter_dict: dict[str, Any], strict_load: bool = False, remove_redundancy: bool = False
) -> tuple[list[str], list[str]]:
    """Give a network's parameters the values of a checkpoint; if one does not fit, none is changed.

    Args:
        net: the network.
        parameter_dict: Parameters or Tensors by name, as `load_checkpoint` returns them.
        strict_load: every parameter must be there, with the same element type.
        remove_redundancy: accepted.

    Returns:
        tuple: names of the network's parameters that were not loaded, and names in the checkpoint that were not used.

    Raises:
        TypeError: `net` is no Cell, or a value is no Tensor.
        CheckpointError: a shape or element type does not fit, or `strict_load` finds a parameter missing.

    Example:
        >>> from weft import nn
        >>> load_param_into_net(nn.Dense(2, 1), {"weight": Tensor([[1.0, 2.0]])})
        (['bias'], [])
    """
    del remove_redundancy
    if not isinstance(net, Cell):
        raise TypeError(f"load_param_into_net: net must be a Cell, not {type(net).__name__}")
    if not isinstance(parameter_dict, dict):
        raise TypeError(f"load_param_into_net: parameter_dict must be a dict, not {type(parameter_dict).__name__}")
    tensors: dict[str, Tensor] = {}
    for name, value in parameter_dict.items():
        if isinstance(value, Tensor):
            tensors[name] = value
        elif not isinstance(value, (bool, int, float, str)):  # appended values are not for the network
            raise TypeError(f"load_param_into_net: {name!r} must be a Parameter, not {type(value).__name__}")
    params = list(net.get_parameters())
    prefix = _common_prefix(params, tensors)
    missing: list[str] = []
    used: set[str] = set()
    plan: list[tuple[Tensor, Tensor]] = []
    problems: list[str] = []
    targets: list[tuple[str, Tensor]] = [(param.name, param) for param in params]
    for own, target in targets + saved_buffers(net):
        name = own if own in tensors else prefix + own
        if name not in tensors:
            if isinstance(target, Parameter):  # files of other programs have no buffers
                missing.append(own)
            continue
        used.add(name)
        value = _as_part_of(target, tensors[name])
        problem = _misfit(own, target, value, strict_load)
        if problem:
            problems.append(problem)
        else:
            plan.append((target, value))
    if problems:
        more = f" (and {len(problems) - 5} more)" if len(problems) > 5 else ""
        raise CheckpointError("the checkpoint does not fit the network: " + "; ".join(problems[:5]) + more)
    if strict_load and missing:
        raise CheckpointError(f"the checkpoint lacks parameters of the network: {_some(missing)}")
    _agree_on(plan)
    for target, value in plan:
        put(target, value)
    return missing, [name for name in parameter_dict if name not in used]


def _agree_on(plan: Sequence[tuple[Tensor, Tensor]]) -> None:
    """The processes among which parameters are spread all load them, with the same values, or none does: else each
    would have parts of another network.
    """
    loaded: dict[tuple[int, ...], list[str]] = {}
    for target, value in plan:
        data, given = data_of(target), data_of(value)
        if spans(data):
            content = "its slice" if spans(given) else contents_of(given)
            name = getattr(target, "name", "a buffer")
            loaded.setdefault(processes_of([data]), []).append(f"loads %{name}: {content}")
    for group, lines in sorted(loaded.items()):
        if len(group) == 1 or processes().rank not in group:
            continue  # parameters of one stage are loaded by its processes
        digest = contents_of(np.frombuffer("".join(lines).encode(), np.uint8))
        agree(f"load_param_into_net({len(lines)} parameters, {digest})", group, told=functools.partial(list, lines))


def _as_part_of(target: Tensor, value: Tensor) -> Tensor:
    """A slice as the spread parameter of which this process holds that slice; other values as they are. A file that
    does not say which slice it has, as those made for a rank by a strategy, has that of the process which reads it.
    """
    own = getattr(value, "slice_of", None)
    data = data_of(target)
    if value.shape == target.shape or not spans(data) or not data.addressable_shards:
        return value
    here = held(data)[0]
    if own is None and value.shape == here.size:
        own = Slice(target.shape, here)
    if not isinstance(own, Slice) or own.shape != target.shape or here != own.box:
        return value
    elements = np.array(value)
    return wrap(
        assembled(data.sharding, own.shape, elements.dtype, lambda box: np.array(elements[box.within(own.box.start)]))
    )


def _common_prefix(params: list[Parameter], tensors: dict[str, Tensor]) -> str:
    """What stands before every name of the network in a checkpoint of a cell that contained it; else nothing."""
    if not params or any(param.name in tensors for param in params):
        return ""
    longest = max((param.name for param in params), key=len)
    for name in tensors:
        if name.endswith("." + longest):
            prefix = name[: -len(longest)]
            if all(prefix + param.name in tensors for param in params):
                return prefix
    return ""


def _misfit(name: str, param: Tensor, value: Tensor, strict: bool) -> str:
    if value.shape != param.shape:
        own = getattr(value, "slice_of", None)
        if isinstance(own, Slice):
            return f"{name!r} has shape {param.shape}, in the checkpoint a slice {value.shape} of {own.shape}"
        return f"{name!r} has shape {param.shape}, in the checkpoint {value.shape}"
    if value.dtype is param.dtype:
        return ""
    floats = param.dtype.is_floating and value.dtype.is_floating
    integers = param.dtype.category == 1 and value.dtype.category == 1
    if strict or not (floats or integers):
        return f"{name!r} is {param.dtype}, in the checkpoint {value.dtype}"
    if integers:
        limits = np.iinfo(param.dtype.np_dtype)
        data = data_of(value)
        arrays = [np.asarray(part) for _, part in parts(data)] if spans(data) else [np.array(value)]
        if any(a.size and (int(a.min()) < limits.min or int(a.max()) > limits.max) for a in arrays):
            return f"{name!r} is {param.dtype}, which cannot hold the {value.dtype} values of the checkpoint"
    return ""


def _some(names: Iterable[str]) -> str:
    listed = list(names)
    text = ", ".join(repr(name) for name in listed[:5])
    return f"{text} and {len(listed) - 5} more" if len(listed) > 5 else text or "nothing"
