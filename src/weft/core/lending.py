"""Tensors that share their memory with NumPy arrays.

A device array never changes, so a tensor cannot lie in the memory of a NumPy array. While the program holds an array
that a tensor gave out or was made of, that array says what the elements are. The base of a `Storage` and its views
then have no device array at hand (the slot `_data` is not set), and whatever reads one of them comes here
(`weft.core.tensor.data_of`): where the array holds something else than it did, its contents are copied to a new device
array. A write to one of the tensors is copied to the array. What was computed before has device arrays of its own and
stays as it is, as do the values that a gradient keeps.

When nobody else holds the array any more, as its reference count tells, the tensors take their device arrays back at
the next use. So tensors that share with no array cost nothing, and an array that was only read is forgotten.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from weft import dtypes
from weft._jax_compat import Array, computes_on_host, eagerly, lies_on_host, to_device
from weft.core import sharing
from weft.core import tensor as tensor_module
from weft.core import trace as trace_module
from weft.core.sharing import Member, Step, Storage
from weft.core.tape import GRADIENTS, TapeNode
from weft.core.tensor import LiteralTensor, Tensor, data_of, wrap
from weft.dtypes import DType
from weft.ir.graph import Value
from weft.ir.types import TensorType

_count = sys.getrefcount
_new = object.__new__
#: held while something is changed here; other threads may read and write tensors and arrays
_lock: Final = sharing.WRITING
#: what a tensor holds whose array was never read
_UNREAD: Final = object()
#: bytes that are compared as a whole, and beyond them pieces of eight that are compared at once
_FEW: Final = 1 << 14
_BLOCK: Final = 1 << 16


# -- giving out and taking in ------------------------------------------------------------------------------------------


def lend(tensor: Tensor) -> np.ndarray[Any, Any]:
    """The elements of a tensor as a NumPy array that can be written: on its memory, or a copy (see `_is_lendable`).

    Args:
        tensor: the tensor.
    """
    if trace_module.current() is not None:
        return np.array(tensor.concrete("asnumpy()"))
    while True:
        known = tensor._member
        if known is not None and known.held is not None and known.base is None and not tensor.is_symbolic:
            with _lock:
                storage, memory = known.storage, known.storage.memory
                if memory is not None:
                    if _is_open(tensor):  # written by another thread while it was lent
                        _close(tensor, storage)
                    return memory.view()
        data = tensor.concrete("asnumpy()")
        elements = np.array(data)
        if not _is_lendable(tensor, data):
            return elements
        kind = tensor.type
        with _lock:
            known = tensor._member
            if known is None or known.storage.trace is not None:
                known = Member(Storage(None), None, (), None)
            storage = known.storage
            if storage.memory is None and _is_open(tensor) and tensor._data is data:
                storage.memory = elements
                if storage.views:
                    _take_away(tensor, storage)
                else:
                    known.held = data
                    tensor._type = kind
                    tensor._member = known
                    del tensor._data
                if storage.views or type(tensor._node) is TapeNode:
                    for session in GRADIENTS.stack:
                        if session.recording is not None:
                            session.recording.form = None  # which says that a leaf has one value
                return elements.view()


def _is_lendable(tensor: Tensor, data: Any) -> bool:
    """Whether a tensor may share its memory: it is no view and no constant, and lies on the host as a whole."""
    known = tensor._member
    is_view = known is not None and known.base is not None and known.storage.trace is None
    own = getattr(tensor, "_data", data)  # of a tensor that spans processes `data` was fetched
    if is_view or type(tensor) is LiteralTensor:
        return False
    return all(isinstance(array, Array) and lies_on_host(array) for array in (data, own))


def borrow(array: np.ndarray[Any, Any]) -> Tensor:
    """A tensor on the memory of a NumPy array; of one on whose memory no tensor can be, a tensor with its contents.

    Args:
        array: the array.
    """
    flags, dtype = array.flags, _element_type(array)
    if (
        dtype is None
        or not (flags.c_contiguous and flags.writeable and flags.aligned)
        or trace_module.current() is not None
        or not computes_on_host()
    ):
        return Tensor(array)
    tensor: Tensor = _new(Tensor)
    tensor._node = None
    tensor._type = TensorType.of(dtype, array.shape)
    tensor._member = known = Member(Storage(None), None, (), None)
    known.held = _UNREAD
    known.storage.memory = array.view(np.ndarray)
    return tensor


def _element_type(array: np.ndarray[Any, Any]) -> DType | None:
    """The type of the tensor that has the elements of an array as they lie there; None if there is none."""
    if not array.dtype.isnative:
        return None
    try:
        return dtypes.of_np(array.dtype)
    except TypeError:
        return None


def _is_alone(storage: Storage) -> bool:
    """Whether nobody else can reach the memory of a storage: no array, view or buffer on it is held."""
    array = storage.memory
    if _count(array) > _ONLY_HERE:
        return False
    while (owner := array.base) is not None:
        if not isinstance(owner, np.ndarray) or _count(owner) > _ONLY_HERE:
            return False
        array = owner
    return True


def _held_once() -> int:
    """What `getrefcount` says, on this Python, of an object that one other object and a variable hold."""
    holder = [object()]
    item = holder[0]
    return _count(item)


_ONLY_HERE: Final = _held_once()


# -- reading -------------------------------------------------------------------------------------------------------


def look(tensor: Tensor) -> Any:
    """The device array with what a tensor that shares its memory holds now.

    Args:
        tensor: a tensor without a device array at hand.
    """
    with _lock:
        known = tensor._member
        if known is None or known.held is None:  # it has ended meanwhile
            return tensor._data
        base = tensor if known.base is None else known.base
        if _refresh(base, known.storage):
            return tensor._data
        return _renewed(tensor, known, base)


def _refresh(base: Tensor, storage: Storage) -> bool:
    """Take over what the array of a storage holds; returns whether the sharing has ended, as nobody else holds it."""
    known = base._member
    ended = _is_alone(storage)  # asked first: from then on nobody writes to it
    if not _holds(known.held, storage.memory):
        known.held = to_device(storage.memory)
        storage.version += 1
    if not ended or any(_is_open(tensor) for tensor, _ in _members(base, storage)):
        return False  # what has its device array was written by a trace, which will put it back
    _end(base, storage)
    return True


def _holds(data: Any, memory: np.ndarray[Any, Any]) -> bool:
    """Whether a device array has the same bits as a NumPy array."""
    if data is _UNREAD or data.is_deleted():
        return False
    elements = np.asarray(data)
    if memory.nbytes <= _FEW:
        return elements.tobytes() == memory.tobytes()
    one, other = _bits(elements), _bits(memory)
    for start in range(0, one.size, _BLOCK):
        if not np.array_equal(one[start : start + _BLOCK], other[start : start + _BLOCK]):
            return False
    return True


def _bits(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    whole = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return whole if whole.size % 8 else whole.view(np.uint64)


def _renewed(tensor: Tensor, known: Member, base: Tensor) -> Any:
    """The device array of a tensor, of a view made again where the base has another one than it was made of."""
    version = known.storage.version
    if known.base is not None and (known.version != version or known.held.is_deleted()):  # a graph took it over
        with trace_module.suspended(), eagerly():
            known.held = sharing.read(wrap(base._member.held), known.way)._data
        known.version = version
    return known.held


# -- writing -------------------------------------------------------------------------------------------------------


def write(tensor: Tensor, source: Tensor, region: Step | None) -> bool:
    """Write a tensor that shares its memory, see `Tensor.rebind`. Returns whether it was written here.

    Args:
        tensor: the tensor; where it is `source`, it has its new device array already.
        source: its new value.
        region: what is new of it, None for all.
    """
    data_of(source).block_until_ready()  # while nothing is held that a function called by the graph may wait for
    with _lock:
        known = tensor._member
        if known is None:  # it has ended meanwhile
            return False
        storage = known.storage
        base = tensor if known.base is None else known.base
        if storage.memory is None:
            return sharing.write_all(tensor, source, region, known)
        if source is not tensor:
            source = tensor_module.view(source)  # it may be a view of this very storage
        if not _is_open(base):
            _refresh(base, storage)
        elif base._data.__class__ is not Value:  # a graph wrote it
            base._member.held = base._data
            storage.version += 1
        memory = storage.memory
        if memory is not None and source.type is not tensor.type:
            _end(base, storage)  # the array stays what it is
            memory = None
        if memory is None:
            known = tensor._member
            return known is not None and sharing.write_all(tensor, source, region, known)
        _give_back(base, storage)
        try:
            return sharing.write_all(tensor, source, region, known)
        finally:
            _close(base, storage)


def part(tensor: Tensor) -> None:
    """The value of a tensor is about to be replaced: arrays that share its memory keep what they hold.

    Args:
        tensor: the tensor.
    """
    trace = trace_module.current()
    if trace is not None:
        trace.replaces(tensor)
    elif lends(tensor):
        with _lock:
            known = tensor._member
            if known is not None and known.storage.memory is not None:
                base = tensor if known.base is None else known.base
                if not _refresh(base, known.storage):
                    _end(base, known.storage)


def lends(tensor: Tensor) -> bool:
    """Whether a tensor shares its memory with a NumPy array that somebody holds.

    Args:
        tensor: a tensor.
    """
    known = tensor._member
    if known is None or known.storage.memory is None:
        return False
    with _lock:
        known = tensor._member
        if known is None or known.storage.memory is None:
            return False
        base = tensor if known.base is None else known.base
        return _is_open(base) or not _is_alone(known.storage) or not _refresh(base, known.storage)


def share_again(tensor: Tensor) -> None:
    """The device array of a tensor was set back to what it was before.

    Args:
        tensor: the tensor.
    """
    known = tensor._member
    if known is not None and known.held is not None:
        with _lock:
            if known.held is not None and _is_open(tensor) and tensor._data is known.held:
                del tensor._data


def overlap(tensors: tuple[Tensor, ...], arrays: tuple[Any, ...]) -> bool:
    """Whether one of some tensors may share memory with one of some arrays.

    Args:
        tensors: the tensors.
        arrays: NumPy arrays and other owners of memory.
    """
    members = [tensor._member for tensor in tensors if lends(tensor)]
    lent = [known.storage.memory for known in members if known is not None]
    return any(
        one is not None and (not isinstance(a, np.ndarray) or np.may_share_memory(a, one))
        for one in lent
        for a in arrays
    )


# -- the slots of the tensors of a storage -------------------------------------------------------------------------


def _is_open(tensor: Tensor) -> bool:
    """Whether a tensor has its device array, or the value that a trace gave it, at hand."""
    return hasattr(tensor, "_data")


def _members(base: Tensor, storage: Storage) -> Iterator[tuple[Tensor, Member]]:
    """The base of a storage and its living views."""
    for tensor in (base, *storage.living()):
        known = tensor._member
        if known is not None and known.storage is storage:
            yield tensor, known


def _take_away(base: Tensor, storage: Storage) -> None:
    """The tensors of a storage have no device arrays at hand from now on, but keep those that they have."""
    for tensor, known in _members(base, storage):
        if _is_open(tensor) and tensor._data.__class__ is not Value:
            tensor._type = tensor.type
            known.held, known.version = tensor._data, storage.version
            del tensor._data


def _give_back(base: Tensor, storage: Storage) -> None:
    """The tensors of a storage have their device arrays at hand again."""
    for tensor, known in _members(base, storage):
        if not _is_open(tensor):
            tensor._data = _renewed(tensor, known, base)


def _close(base: Tensor, storage: Storage) -> None:
    """Tensors of a storage were written: the array gets the elements of the base."""
    data = base._data
    if data.__class__ is not Value:
        np.copyto(storage.memory, np.asarray(data))
        storage.version += 1
        _take_away(base, storage)


def _end(base: Tensor, storage: Storage) -> None:
    """The tensors of a storage share with no array any more."""
    known = base._member
    if not storage.views and not _is_open(base):
        base._data = known.held
        storage.memory = known.held = base._member = None
        return
    _give_back(base, storage)
    storage.memory = None
    for _, known in _members(base, storage):
        known.held = None
    if next(storage.living(), None) is None:
        base._member = None


def _join(view: Tensor) -> None:
    """A new view of a tensor that shares its memory; it may have been made of what the array held before."""
    known = view._member
    view._type = view.type
    known.held, known.version = view._data, -1
    del view._data


tensor_module.install_lending(lend, borrow, look, part)
sharing.install_lending(write, _join)
