"""The state of a Cell: buffers, and parameters and buffers together as dicts.

A buffer is an ordinary attribute that holds a Tensor; the Cell notes only which names are buffers and whether they are
saved. So a graph reads it in each call, writes it and watches it like any tensor that an object holds.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Self

from weft.core import CAST, Parameter, Tensor, apply, transparent
from weft.dtypes import DType
from weft.nn.hooks import HookHandle, registers
from weft.parallel.slices import placed_as

_EXTRA = "_extra_state"
_DEVICES = ("CPU", "GPU", "TPU", "Ascend")
#: attributes with the hooks of `state_dict` and `load_state_dict`
STATE_HOOKS = ("_state_pre_hooks", "_state_post_hooks", "_load_pre_hooks", "_load_post_hooks")


class IncompatibleKeys(NamedTuple):
    """What `load_state_dict` found no use or no value for."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


def buffer_error(owner: Any, name: str, value: Any) -> Exception | None:
    """Why an attribute that is a buffer cannot get a value; None if it can."""
    if value is None or (isinstance(value, Tensor) and not isinstance(value, Parameter)):
        return None
    where = f"{type(owner).__name__}.{name} is a buffer"
    if isinstance(value, Parameter) or hasattr(value, "_params"):
        return KeyError(f"{where}; delete it before the name becomes a {type(value).__name__}")
    return TypeError(f"{where}; it can become another Tensor or None, not a {type(value).__name__}")


def check_name(caller: str, cell: Any, name: Any, registry: str, refuse_dot: bool = True) -> None:
    """Refuse what cannot be the name of a parameter, a sub-cell or a buffer; `registry` has those of its kind."""
    kind = {"_params": "parameter", "_cells": "sub-cell", "_buffer_names": "buffer"}[registry]
    if not isinstance(name, str):
        raise TypeError(f"{caller}: the name of a {kind} must be a str, not {type(name).__name__}")
    if not name:
        raise KeyError(f"{caller}: the name of a {kind} must not be empty")
    if refuse_dot and "." in name:
        raise KeyError(f"{caller}: the name of a {kind} must not contain a dot: {name!r}")
    if hasattr(cell, name) and name not in getattr(cell, registry):
        taken = f"{type(cell).__name__} already has an attribute {name!r}"
        raise KeyError(f"{caller}: {taken}; choose another name for the {kind}")


class State:
    """The part of a Cell that is about what it remembers from call to call."""

    _params: dict[str, Parameter | None]
    _cells: dict[str, Any]
    #: names of the buffers, and whether they are saved
    _buffer_names: dict[str, bool]

    # -- buffers ---------------------------------------------------------------------------------------

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Make a tensor an attribute that belongs to the state of the cell and is not trained.

        Args:
            name: attribute name.
            tensor: the buffer, or None for a placeholder.
            persistent: whether `state_dict` and checkpoints have it.

        Raises:
            TypeError: `name` is no str, or `tensor` no Tensor.
            KeyError: the name is empty, contains a dot, or is taken.

        Example:
            >>> from weft import nn, Tensor
            >>> net = nn.Cell()
            >>> net.register_buffer("mask", Tensor([1.0, 0.0]))
            >>> [name for name, _ in net.named_buffers()], list(net.state_dict())
            (['mask'], ['mask'])
        """
        check_name("register_buffer", self, name, "_buffer_names")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"register_buffer: {name!r} must be a Tensor or None, not {type(tensor).__name__}")
        self._buffer_names[name] = bool(persistent)
        self.__dict__[name] = tensor
        self._count_change()

    def _count_change(self) -> None:
        """Something that a graph may have taken from the cell has changed."""

    @property
    def _buffers(self) -> OrderedDict[str, Tensor | None]:
        """The cell's own buffers by name."""
        state = self.__dict__
        return OrderedDict((name, state.get(name)) for name in self._buffer_names)

    @transparent
    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """The buffers with their paths.

        Args:
            prefix: path of this cell.
            recurse: also those of sub-cells.
            remove_duplicate: each tensor once.

        Example:
            >>> from weft import nn, Tensor
            >>> net = nn.SequentialCell(nn.ReLU())
            >>> net[0].register_buffer("mask", Tensor([1.0, 0.0]))
            >>> [name for name, _ in net.named_buffers()]
            ['0.mask']
        """
        this: Any = self
        found: list[tuple[str, Tensor]] = []
        seen: set[int] = set()
        for path, cell in this.cells_and_names(name_prefix=prefix) if recurse else [(prefix, this)]:
            for name in cell._buffer_names:
                buffer = cell.__dict__[name]
                if buffer is not None and not (remove_duplicate and id(buffer) in seen):
                    seen.add(id(buffer))
                    found.append((f"{path}.{name}" if path else name, buffer))
        return iter(found)

    @transparent
    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers, each once.

        Args:
            recurse: also those of sub-cells.
        """
        return iter([buffer for _, buffer in self.named_buffers(recurse=recurse)])

    def get_sub_cell(self, target: str) -> Any:
        """The cell at a path.

        Args:
            target: the path, with dots; empty for this cell.

        Raises:
            AttributeError: there is nothing, or no Cell.

        Example:
            >>> from weft import nn
            >>> nn.SequentialCell(nn.ReLU()).get_sub_cell("0")
            ReLU()
        """
        cell: Any = self
        for name in target.split(".") if target else ():
            found = cell._cells.get(name)
            if found is None:
                if not hasattr(cell, name):
                    raise AttributeError(f"{type(cell).__name__} has no attribute {name!r}")
                found = getattr(cell, name)
                if not isinstance(found, State):
                    raise AttributeError(f"{name!r} is no nn.Cell but a {type(found).__name__}")
            cell = found
        return cell

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a path.

        Args:
            target: the path, with dots.

        Raises:
            AttributeError: there is nothing, or no buffer.

        Example:
            >>> from weft import nn, Tensor
            >>> net = nn.SequentialCell(nn.ReLU())
            >>> net[0].register_buffer("mask", Tensor([1.0, 0.0]))
            >>> print(net.get_buffer("0.mask"))
            [1. 0.]
        """
        path, _, name = target.rpartition(".")
        cell: Any = self.get_sub_cell(path)
        if name not in cell._buffer_names:
            if not hasattr(cell, name):
                raise AttributeError(f"{type(cell).__name__} has no attribute {name!r}")
            raise AttributeError(f"{name!r} is no buffer of {type(cell).__name__}")
        return cell.__dict__[name]

    # -- the state as a dict ---------------------------------------------------------------------------

    def get_extra_state(self) -> Any:
        """What `state_dict` has of the cell besides parameters and buffers; a class may define it."""
        raise RuntimeError(f"{type(self).__name__} defines no get_extra_state")

    def set_extra_state(self, state: Any) -> None:
        """Take what `get_extra_state` gave; a class that defines that defines this too.

        Args:
            state: it.
        """
        raise RuntimeError(f"{type(self).__name__} defines no set_extra_state")

    def _saved(self) -> dict[str, Tensor]:
        """The cell's own parameters and saved buffers by name."""
        found: dict[str, Tensor] = {name: param for name, param in self._params.items() if param is not None}
        for name, persistent in self._buffer_names.items():
            buffer = self.__dict__[name]
            if persistent and buffer is not None:
                found[name] = buffer
        return found

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        """Add what this cell itself has to a dict of states; a class may do it another way."""
        del keep_vars
        destination.update({prefix + name: tensor for name, tensor in self._saved().items()})
        if type(self).get_extra_state is not State.get_extra_state:
            destination[prefix + _EXTRA] = self.get_extra_state()

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """Parameters and saved buffers by their paths: the tensors themselves, not copies.

        Args:
            args: destination, prefix and keep_vars by position.
            destination: a dict to add to; None for a new one.
            prefix: put before each path.
            keep_vars: given to the hooks.

        Returns:
            OrderedDict: the dict.

        Raises:
            RuntimeError: a hook returned something.

        Example:
            >>> from weft import nn
            >>> list(nn.Dense(2, 1).state_dict())
            ['weight', 'bias']
        """
        given = dict(zip(("destination", "prefix", "keep_vars"), args, strict=False))
        destination = given.get("destination", destination)
        prefix, keep_vars = given.get("prefix", prefix), given.get("keep_vars", keep_vars)
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        noted: dict[str, Any] = {}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = noted
        for hook in self._hooks("_state_pre_hooks"):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, cell in self._cells.items():
            if cell is not None:
                cell.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._hooks("_state_post_hooks"):
            if hook(self, destination, prefix, noted) is not None:
                raise RuntimeError("a hook after state_dict must return None; it may change the dict")
        return destination

    def _load_from_state_dict(
        self,
        state_dict: Mapping[str, Any],
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Take what this cell itself has of a dict of states; a class may do it another way."""
        for hook in self._hooks("_load_pre_hooks"):
            hook(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        saved = self._saved()
        for name, tensor in saved.items():
            key = prefix + name
            if key not in state_dict:
                if strict:
                    missing_keys.append(key)
                continue
            value = state_dict[key]
            if not isinstance(value, Tensor):
                error_msgs.append(f"{key!r} must be a Tensor, not {type(value).__name__}")
            elif value.shape != tensor.shape:
                error_msgs.append(f"size mismatch for {key}: it has shape {tensor.shape}, its new value {value.shape}")
            else:
                put(tensor, value)
        if type(self).set_extra_state is not State.set_extra_state:
            if prefix + _EXTRA in state_dict:
                self.set_extra_state(state_dict[prefix + _EXTRA])
            elif strict:
                missing_keys.append(prefix + _EXTRA)
        elif strict and prefix + _EXTRA in state_dict:
            unexpected_keys.append(prefix + _EXTRA)
        if not strict:
            return
        for key in state_dict:
            if key.startswith(prefix) and key != prefix + _EXTRA:
                head, dot, _ = key[len(prefix) :].partition(".")
                if not (self._cells.get(head) is not None if dot else head in saved):
                    unexpected_keys.append(key)

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> IncompatibleKeys:
        """Give parameters and buffers the values of a dict that `state_dict` returned, or one like it.

        Args:
            state_dict: tensors by path.
            strict: the paths must be those of the cell.

        Returns:
            A tuple of `missing_keys` and `unexpected_keys`.

        Raises:
            TypeError: `state_dict` is no mapping.
            RuntimeError: a shape does not fit, or with `strict` the paths do not.

        Example:
            >>> from weft import nn
            >>> nn.Dense(2, 1).load_state_dict(nn.Dense(2, 1).state_dict())
            <All keys matched successfully>
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"load_state_dict takes a dict, not a {type(state_dict).__name__}")
        found = IncompatibleKeys([], [])
        problems: list[str] = []
        metadata = getattr(state_dict, "_metadata", None) or {}
        _load(self, OrderedDict(state_dict), "", metadata, found, problems)
        if strict:
            for what, keys in (("Unexpected", found.unexpected_keys), ("Missing", found.missing_keys)):
                if keys:
                    problems.insert(0, f"{what} key(s) in state_dict: " + ", ".join(f'"{key}"' for key in keys) + ".")
        if problems:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(problems))
        return found

    # -- hooks of the above ----------------------------------------------------------------------------

    def _hooks(self, registry: str) -> list[Callable[..., Any]]:
        return list(self.__dict__.get(registry, {}).values())

    def _add_hook(self, registry: str, hook: Callable[..., Any]) -> HookHandle:
        this: Any = self
        self.__dict__.setdefault(registry, OrderedDict())
        return HookHandle(this, registry, hook)

    @registers
    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call ``hook(cell, prefix, keep_vars)`` before `state_dict` gathers the cell's state."""
        return self._add_hook("_state_pre_hooks", hook)

    @registers
    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call ``hook(cell, state_dict, prefix, local_metadata)`` after `state_dict` has gathered the cell's state.

        Args:
            hook: the hook, which may change the dict and returns None.
        """
        return self._add_hook("_state_post_hooks", hook)

    @registers
    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call ``hook(cell, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)``
        before `load_state_dict` writes the cell's state.

        Args:
            hook: the hook, which may change the dict and the lists.
        """
        return self._add_hook("_load_pre_hooks", hook)

    @registers
    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call ``hook(cell, incompatible_keys)`` after `load_state_dict` has written the state of the cell and below.

        Args:
            hook: the hook, which may change the two lists and returns None.
        """
        return self._add_hook("_load_post_hooks", hook)

    # -- element types and devices ---------------------------------------------------------------------

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Give all floating parameters and buffers another element type; they stay the same objects.

        Called as ``to(device=None, dtype=None, non_blocking=False)``, ``to(dtype, non_blocking=False)`` or
        ``to(tensor, non_blocking=False)``.

        Args:
            args: see above.
            kwargs: see above. All tensors are on the device that the context names; a `device` must be the name of a
                kind of them.

        Returns:
            Cell: itself.

        Raises:
            TypeError: the arguments are others, or the element type is neither floating nor complex.
            ValueError: there is no such kind of devices.

        Example:
            >>> import weft
            >>> from weft import nn
            >>> nn.Dense(2, 1).to(weft.float16).weight.dtype
            mindspore.float16
        """
        dtype = _target_of(args, kwargs)
        if dtype is None:
            return self
        if dtype.category < 2:
            raise TypeError(f"Cell.to takes a floating or complex element type, not {dtype}")
        if not dtype.is_floating:
            warnings.warn("layers that are given complex weights may not compute with them", UserWarning, stacklevel=2)
        this: Any = self
        for tensor in (*this.get_parameters(), *this.buffers()):
            if isinstance(tensor, Parameter) and tensor.dtype.category >= 2:
                tensor.set_dtype(dtype)
            elif tensor.dtype.category >= 2 and tensor.dtype is not dtype:
                tensor.assign_value(apply(CAST, (tensor,), (dtype,)))
        return self

    def to_empty(self, *, device: str | None = None, recurse: bool = True) -> Self:
        """Accepted for programs that make networks without memory first; parameters here have theirs.

        Args:
            device: the name of a kind of devices.
            recurse: also for sub-cells.

        Returns:
            Cell: itself.
        """
        del recurse
        _check_device(device)
        return self


def _load(
    cell: Any,
    state: OrderedDict[str, Any],
    prefix: str,
    metadata: Mapping[str, Any],
    found: IncompatibleKeys,
    problems: list[str],
) -> None:
    """Write the state of a cell and of those below it."""
    cell._load_from_state_dict(
        state, prefix, metadata.get(prefix[:-1], {}), True, found.missing_keys, found.unexpected_keys, problems
    )
    for name, below in cell._cells.items():
        if below is not None:
            path = f"{prefix}{name}."
            its_own = OrderedDict((key, value) for key, value in state.items() if key.startswith(path))
            _load(below, its_own, path, metadata, found, problems)
    for hook in cell._hooks("_load_post_hooks"):
        if hook(cell, found) is not None:
            raise RuntimeError("a hook after load_state_dict must return None; it may change the two lists")


def put(tensor: Tensor, value: Tensor) -> None:
    """Give a parameter or buffer the value of another tensor of its shape, in its own element type, and on the devices
    that it is spread over.
    """
    if isinstance(value, Parameter):
        value = value.value()
    if value.dtype is not tensor.dtype:
        value = apply(CAST, (value,), (tensor.dtype,))
    value = placed_as(tensor, value)
    if isinstance(tensor, Parameter):
        tensor.set_data(value)
    else:
        tensor.assign_value(value)


def _target_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> DType | None:
    """The element type that the arguments of `State.to` ask for; None for none."""
    first = args[0] if args else kwargs.get("dtype", kwargs.get("tensor"))
    names: tuple[str, ...] = ("device", "dtype", "non_blocking")
    if isinstance(first, DType) and "device" not in kwargs:
        names = ("dtype", "non_blocking")
    elif isinstance(first, Tensor):
        names = ("tensor", "non_blocking")
    given = dict(zip(names, args, strict=False)) | kwargs
    device, dtype, tensor = given.get("device"), given.get("dtype"), given.get("tensor")
    fits = len(args) <= len(names) and set(given) <= set(names) and not set(names[: len(args)]) & set(kwargs)
    if not (
        fits
        and (device is None or isinstance(device, str))
        and (dtype is None or isinstance(dtype, DType))
        and isinstance(given.get("non_blocking", False), bool)
    ):
        raise TypeError(
            "Cell.to takes (device=None, dtype=None, non_blocking=False), (dtype, non_blocking=False) or "
            f"(tensor, non_blocking=False), not {args}, {kwargs}"
        )
    _check_device(device)
    return tensor.dtype if isinstance(tensor, Tensor) else dtype


def _check_device(device: str | None) -> None:
    if device is not None and device.partition(":")[0] not in _DEVICES:
        raise ValueError(f"device must be one of {', '.join(_DEVICES)}, not {device!r}")
