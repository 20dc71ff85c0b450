"""Leaves of merged values: tensors and numbers, their types, and what stands for them after a branch or a loop."""

from __future__ import annotations

import types
from collections.abc import Callable, Collection
from typing import Any, Final

from weft.capture.meaning.native import hashed_freely
from weft.capture.state.frame import UNBOUND, MaybeUnbound
from weft.capture.state.journal import EMPTY_CELL
from weft.capture.state.lazytext import LazyText
from weft.core.choice import Case
from weft.core.number import STORAGE, GraphNumber, apply_constant, as_number
from weft.core.run_number import KINDS, RunNumber
from weft.core.tensor import Tensor, data_of, wrap
from weft.core.trace import Trace
from weft.errors import Refusal, Unsupported
from weft.ir.graph import Graph, Value
from weft.ir.types import TOKEN, TensorType, ValueType
from weft.ops.shape import FULL

#: what one side has where only the other side reaches this outcome
ABSENT: Final = object()


#: id -> (object, contents) of what was written
Heap = dict[int, tuple[Any, Any]]
#: what holds values besides tuples, instances and cells
_MAPPED: Final = (list, dict, slice, LazyText, types.MethodType, types.FunctionType)


class MergeError(Exception):
    """Two values that must become one cannot: the message names what differs."""


class LoopChange(Exception):
    """A loop body changes something that a `while` of the graph cannot carry."""


def is_leaf(value: Any) -> bool:
    """Whether a value can be carried by the graph: a tensor or a Python number."""
    kind = type(value)
    return issubclass(kind, (Tensor, RunNumber)) or kind in KINDS


def leaf_key(leaf: Any) -> Any:
    """What two leaves have in common that are one value in every call.

    A tensor of the graph is its value there. One that has an array is only itself: that another has the same array may
    be so in this call only.
    """
    if isinstance(leaf, Tensor):
        data = data_of(leaf)
        return ("tensor", id(data) if type(data) is Value else id(leaf), id(leaf._node))
    if type(leaf) is GraphNumber:
        return ("number", leaf_key(leaf.tensor))
    if issubclass(type(leaf), RunNumber):
        return ("number of the call", id(leaf))
    return ("absent",) if leaf is ABSENT else (type(leaf), repr(leaf))


def same_leaf(a: Any, b: Any) -> bool:
    """Whether two leaves are the same value in every call."""
    return a is b or leaf_key(a) == leaf_key(b)


def leaf_type(value: Any) -> ValueType:
    """The type of a leaf as a graph value; a Python number is weak."""
    if isinstance(value, Tensor):
        data = data_of(value)
        return data.type if type(data) is Value else value.type
    if type(value) is GraphNumber:
        return leaf_type(value.tensor)
    kind = value.kind if issubclass(type(value), RunNumber) else type(value)
    return TensorType.of(STORAGE[kind], (), kind)


def common_type(a: Any, b: Any, name: str) -> ValueType:
    """The type that both leaves fit.

    Raises:
        MergeError: they differ in shape, dtype or kind of number.
    """
    if a is ABSENT or b is ABSENT:
        return leaf_type(b if a is ABSENT else a)
    first, second = leaf_type(a), leaf_type(b)
    if first is not second:
        raise MergeError(f"{name} is {describe(a)} on one path and {describe(b)} on the other")
    return first


def value_in(trace: Trace, region: Graph, leaf: Any, wanted: ValueType) -> Value:
    """A leaf as a value of a region."""
    before, trace.graph = trace.graph, region
    try:
        if leaf is ABSENT:
            if wanted is TOKEN:
                return trace.lift(trace.first_token(), region)
            assert isinstance(wanted, TensorType)
            attrs = (wanted.shape, 0, wanted.dtype)
            zero = trace.append(FULL, (), attrs, (TensorType.of(wanted.dtype, wanted.shape),))[0]
            return zero if wanted.weak is None else trace.use(as_number(wrap(zero), wanted.weak))
        if issubclass(type(leaf), RunNumber):
            leaf = leaf.operand()
        if isinstance(leaf, Case):
            leaf = leaf.truth()
        if not isinstance(leaf, Tensor):
            leaf = apply_constant(leaf, type(leaf))
        if isinstance(wanted, TensorType) and wanted.weak is not None:
            leaf = as_number(leaf, wanted.weak)
        return trace.use(leaf)
    finally:
        trace.graph = before


def standing_for(tensor: Any, kind: ValueType | None = None) -> Any:
    """What captured code has for a leaf that the graph gives: a number where its type says so.

    Args:
        tensor: the leaf.
        kind: its type, for one that the graph does not have yet.
    """
    if not isinstance(tensor, Tensor):
        return tensor
    kind = leaf_type(tensor) if kind is None else kind
    weak = kind.weak if isinstance(kind, TensorType) else None
    return tensor if weak is None else GraphNumber(weak, tensor)


def is_handle(value: Any) -> bool:
    """Whether a leaf is a tensor of the program, which has an identity, and no run-time number or token."""
    if not isinstance(value, Tensor):
        return False
    kind = leaf_type(value)
    return isinstance(kind, TensorType) and kind.weak is None


class MergedTensor:
    """Merged contents of a tensor handle, final once the `if` exists."""

    __slots__ = ("tensor", "namespace")

    def __init__(self, tensor: Tensor, namespace: Any) -> None:
        self.tensor = tensor
        self.namespace = namespace

    def settled(self) -> Any:
        """Contents in the form of the journal."""
        t = self.tensor
        return ((data_of(t), t._node, getattr(t, "_index", 0), t._type), self.namespace)


def settled_contents(contents: Any) -> Any:
    """The contents of a tensor handle in the form of the journal."""
    return contents.settled() if isinstance(contents, MergedTensor) else contents


def tensor_of(contents: Any) -> Tensor:
    """A tensor of its own with the contents of a handle."""
    (data, node, index, kind), _ = contents
    tensor: Tensor = object.__new__(Tensor)
    tensor._data, tensor._node, tensor._index, tensor._type = data, node, index, kind
    tensor._member = None
    return tensor


def state_of(trace: Trace, obj: Tensor, contents: Any) -> Tensor:
    """What a tensor handle stands for with these contents, as a tensor of the graph."""
    tensor = tensor_of(contents)
    if tensor.is_symbolic:
        return tensor
    if id(obj) in trace.created:
        return obj if data_of(obj) is data_of(tensor) else trace.created.setdefault(id(tensor), tensor)
    value = wrap(trace.external(obj))
    if tensor._node is not None:
        value._node, value._index = tensor._node, tensor._index
    return value


def now_in(trace: Trace, heap: Heap, value: Any) -> Any:
    """A value of a piece of code that has ended and whose writes are in a heap: tensors as they were at the end."""
    noted = heap.get(id(value)) if isinstance(value, Tensor) else None
    return value if noted is None else state_of(trace, value, settled_contents(noted[1]))


class Moved:
    """Values moved out of a region: the same values with other tensors in them.

    Args:
        created: the objects made during the capture; remade containers are added.
        written: ids of objects whose contents the journal has; they stay as they are.
    """

    def __init__(self, created: dict[int, Any], written: Collection[int]) -> None:
        self.created = created
        self.written = written
        self._made: dict[int, tuple[Any, Any]] = {}

    def map(self, value: Any, leaf: Callable[[Tensor], Any]) -> Any:
        """The value with `leaf` of every tensor in it, through containers; itself if nothing changes."""
        if isinstance(value, Tensor):
            return leaf(value)
        kind = type(value)
        if kind is GraphNumber:
            tensor = leaf(value.tensor)
            return value if tensor is value.tensor else standing_for(tensor)
        if kind is MaybeUnbound:
            return MaybeUnbound(self.map(value.value, leaf), self.map(value.bound, leaf))
        if (kind not in _MAPPED and not isinstance(value, tuple)) or id(value) in self.written:
            return value
        found = self._made.get(id(value))
        if found is None:
            found = self._made[id(value)] = (value, self._remade(value, leaf))
        return found[1]

    def _remade(self, value: Any, leaf: Callable[[Tensor], Any]) -> Any:
        if isinstance(value, dict):
            mapped = [self.map(item, leaf) for item in value.values()]
            if all(new is old for new, old in zip(mapped, value.values(), strict=True)):
                return value
            if not hashed_freely(value):
                raise Unsupported(
                    Refusal.TENSOR_CONDITION,
                    "a dictionary that a branch or a loop makes has keys with a __hash__ of the program's, which would "
                    "be asked again",
                    "make the dictionary after it",
                )
            entries = dict(zip(value, mapped, strict=True))
            self.created[id(entries)] = entries
            return entries
        if isinstance(value, slice):
            parts: Any = (value.start, value.stop, value.step)
        elif isinstance(value, LazyText):
            parts = value.parts
        elif isinstance(value, types.FunctionType):
            parts = (value.__defaults__, value.__kwdefaults__)
        else:
            parts = (value.__self__,) if isinstance(value, types.MethodType) else value
        items = [self.map(item, leaf) for item in parts]
        if all(new is old for new, old in zip(items, parts, strict=True)):
            return value
        if isinstance(value, list):
            self.created[id(items)] = items
            return items
        if isinstance(value, slice):
            return slice(*items)
        if isinstance(value, LazyText):
            return LazyText(tuple(items))
        if isinstance(value, types.MethodType):
            return types.MethodType(value.__func__, items[0])
        if isinstance(value, types.FunctionType):
            return self._function(value, *items)
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)

    def _function(self, value: types.FunctionType, defaults: Any, kwdefaults: Any) -> types.FunctionType:
        made = types.FunctionType(value.__code__, value.__globals__, value.__name__, defaults, value.__closure__)
        made.__kwdefaults__ = kwdefaults
        made.__dict__.update(value.__dict__)
        self.created[id(made)] = made
        return made


def binding(value: Any) -> tuple[Any, Any]:
    """A variable as its value, or `ABSENT`, and whether it is bound."""
    if value is UNBOUND:
        return ABSENT, False
    if type(value) is MaybeUnbound:
        return value.value, value.bound
    return value, True


def describe(value: Any) -> str:
    if value is UNBOUND or value is EMPTY_CELL:
        return "not bound"
    if issubclass(type(value), RunNumber):
        return f"a Python {value.kind.__name__}"
    if isinstance(value, Tensor):
        if data_of(value).__class__ is Value and data_of(value).type is TOKEN:
            return "printed output"
        return f"a tensor {value.dtype}{list(value.shape)}"
    if type(value) in KINDS or isinstance(value, str) or value is None:
        return f"the Python value {value!r:.40}"
    if isinstance(value, (list, tuple, dict)):
        return f"a {type(value).__name__} of {len(value)} items"
    return f"a {type(value).__name__}"
