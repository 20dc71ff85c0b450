"""Merging what two sides of a branch left behind: equal parts stay, tensors and numbers that differ become outputs of
the `if`, everything else cannot be merged.
"""

from __future__ import annotations

import functools
import types
from typing import Any, Final

from weft.capture.branching.identities import Pairs
from weft.capture.branching.leaves import (
    ABSENT,
    Heap,
    MergeError,
    Moved,
    binding,
    common_type,
    describe,
    is_handle,
    is_leaf,
    leaf_key,
    leaf_type,
    now_in,
    same_leaf,
    standing_for,
    value_in,
)
from weft.capture.branching.sharing import Comers, Origin
from weft.capture.meaning.generators import InterpretedGenerator
from weft.capture.python.classes import class_attribute
from weft.capture.python.namespaces import namespace_of
from weft.capture.python.packages import is_heap_type
from weft.capture.state.frame import UNBOUND, MaybeUnbound
from weft.capture.state.journal import EMPTY_CELL, Journaled, contents_of
from weft.core.choice import Case, Choice, register
from weft.core.primitive import Primitive
from weft.core.tape import SYMBOL
from weft.core.tensor import Tensor, data_of, wrap
from weft.core.trace import Trace
from weft.ir.graph import Graph, Value
from weft.ir.types import ValueType

_BY_IDENTITY: Final = (object.__hash__, type.__hash__)
_EQUAL: Final = (str, bytes, int, float, bool, complex, range, slice, frozenset)


class Joiner:
    """Pairs of leaves that become outputs of one `if`.

    Args:
        trace: the trace; its current graph is the one that will hold the node.
        condition: whether the first side is the one that runs.
        regions: the graphs of the two sides.
        constants: for each side, the ids of the constants made on it.
        created: the objects made during the capture; merged containers are added.
        namespaces: the objects whose `__dict__` the program holds, by its id.
    """

    def __init__(
        self, trace: Trace, condition: Any, regions: tuple[Graph, Graph], constants: tuple[set[int], set[int]],
        created: dict[int, Any], namespaces: dict[int, Any],
    ) -> None:  # fmt: skip
        self.trace = trace
        self.condition = condition
        self._constants = constants
        self.namespaces = namespaces
        self.created = created
        self.regions = regions
        self.outputs: list[tuple[Any, Any, ValueType, Tensor]] = []
        self._slots: dict[Any, Any] = {}
        self._pairs: dict[tuple[int, int], Any] = {}
        #: which mutable objects of the sides become one
        self.identities = Pairs()
        #: for each side, the tensors outside of the `if` that those made on it become, by id
        self._stands: tuple[dict[int, Tensor], dict[int, Tensor]] = ({}, {})
        #: merged tensors, and the leaves that have their values once the `if` exists
        self._pending: list[tuple[Tensor, Tensor]] = []
        self._comers = Comers(trace)
        self._alive: list[Any] = []
        #: exceptions made of two; their contents have to be part of the outcome
        self.exceptions: list[BaseException] = []
        self._heaps: tuple[Heap, Heap] = ({}, {})
        self._moved = (Moved(created, ()), Moved(created, ()))

    def begin(self, first: Heap, second: Heap) -> None:
        """Start with the values of two outcomes, whose sides wrote these objects."""
        self._heaps = (first, second)
        self._stands = ({}, {})
        self._pairs = {}
        self.identities = Pairs()
        self._moved = (Moved(self.created, first), Moved(self.created, second))

    def value(self, a: Any, b: Any, name: str) -> Any:
        """What two leaves become as values: the common one if they are the same, else a new output."""
        if a is not ABSENT and b is not ABSENT and same_leaf(a, b):
            return a
        wanted = common_type(a, b, name)
        key = (leaf_key(a), leaf_key(b))
        found = self._slots.get(key)
        if found is None:
            slot = wrap(None)
            found = self._slots[key] = standing_for(slot, wanted)
            self.outputs.append((a, b, wanted, slot))
            self._alive += (a, b)
        return found

    def leaf(self, a: Any, b: Any, name: str) -> Any:
        """What two leaves become: numbers by their value, tensors by which objects they are, see `weft.core.choice`."""
        if a is b:
            return a
        if not all(leaf is ABSENT or is_handle(leaf) for leaf in (a, b)):
            return self.value(a, b, name)
        value = self.value(self._now(0, a), self._now(1, b), name)
        stands = [None if leaf is ABSENT else self._stand_in(side, leaf) for side, leaf in enumerate((a, b))]
        one_sided = a is ABSENT or b is ABSENT
        if stands[0] is stands[1] or one_sided:
            known = stands[1] if stands[0] is None else stands[0]
            if known is not None:
                return known
        # for each candidate, the condition under which the tensor is it at the end of each side
        candidates: dict[int, tuple[Tensor, list[Any]]] = {}
        for side, (leaf, stand) in enumerate(zip((a, b), stands, strict=True)):
            if leaf is ABSENT:
                continue
            cases = [Case(stand, None)] if stand is not None else leaf.cases if type(leaf) is Choice else ()
            for case in cases:
                handle = case.handle if stand is not None else self.leaf(*self._on(side, case.handle), name)
                candidates.setdefault(id(handle), (handle, [False, False]))[1][side] = case
        made = [Case(handle, *self._condition(cases, one_sided)) for handle, cases in candidates.values()]
        new = [
            (side, leaf)
            for side, (leaf, stand) in enumerate(zip((a, b), stands, strict=True))
            if leaf is not ABSENT and stand is None
        ]
        own = any(type(leaf) is not Choice or leaf.own for _, leaf in new)
        merged = Choice(made, own, self.trace.graph) if made else wrap(None)
        self._pending.append((merged, value))
        for side, leaf in new:
            self._stands[side][id(leaf)] = merged
        origins = [
            Origin(
                leaf, self._stands[side], functools.partial(self._made, side),
                None if one_sided else (self.condition, side == 0),
            )
            for side, leaf in new
        ]  # fmt: skip
        self._comers.add(merged, origins, one_sided or len(new) == 2)
        self._alive += (a, b)
        return merged

    def _made(self, side: int, tensor: Tensor) -> bool:
        """Whether a tensor was made on a side; others existed before, or are as good as if they had."""
        data = data_of(tensor)
        if data.__class__ is Value:
            return data.graph.lies_in(self.regions[side])
        return id(tensor) in self._constants[side]

    def _now(self, side: int, leaf: Any) -> Any:
        """The value of a tensor at the end of a side."""
        return now_in(self.trace, self._heaps[side], leaf)

    def _stand_in(self, side: int, tensor: Tensor) -> Tensor | None:
        """The tensor outside of the `if` that a side's tensor is, None if there is none yet."""
        return self._stands[side].get(id(tensor)) if self._made(side, tensor) else tensor

    def _condition(self, cases: list[Any], one_sided: bool) -> tuple[Any, bool]:
        """When a tensor is a candidate that it is in a case of the first side, or of the second, or False."""
        if False in cases:
            side = 0 if cases[1] is False else 1
            if cases[side].condition is None:
                return (None, True) if one_sided else (self.condition, side == 0)
        slot = wrap(None)
        self.outputs.append((*cases, leaf_type(False), slot))
        return slot, True

    def finish(self) -> None:
        """The `if` exists: the merged tensors get their values, and writes reach them."""
        for merged, value in self._pending:
            merged._data, merged._node, merged._type = data_of(value), value._node, value._type
            if value._node is not None and value._node is not SYMBOL:
                merged._index = value._index
            if type(merged) is Choice:
                register(merged)
        self._pending = []
        self._comers.settle()

    def merge(self, a: Any, b: Any, name: str) -> Any:
        """One value for two: recursively through containers made on the sides.

        Raises:
            MergeError: the values differ in a way no graph can select between.
        """
        if a is b:
            self.identities.alone(a)
            return a
        if a is ABSENT or b is ABSENT:
            self.identities.alone(b if a is ABSENT else a)
            return self._one_sided(a, b, name)
        if a is UNBOUND or b is UNBOUND or MaybeUnbound in (a.__class__, b.__class__):
            return self._maybe(a, b, name)
        if is_leaf(a) and is_leaf(b):
            return self.leaf(a, b, name)
        found = self._pairs.get((id(a), id(b)))
        if found is not None:
            return found
        if type(a) is type(b):
            merged = self._merge_same_kind(a, b, name)
            if merged is not ABSENT:
                return merged
        raise MergeError(f"{name} is {describe(a)} on one path and {describe(b)} on the other")

    def _maybe(self, a: Any, b: Any, name: str) -> Any:
        """A variable that is not bound on all paths."""
        (value_a, bound_a), (value_b, bound_b) = binding(a), binding(b)
        if value_a is ABSENT and value_b is ABSENT:
            return UNBOUND
        return MaybeUnbound(self.merge(value_a, value_b, name), self.leaf(bound_a, bound_b, name))

    def _remember(self, a: Any, b: Any, merged: Any) -> Any:
        if not isinstance(merged, tuple):
            self.identities.add(a, b, "a variable")
        self._pairs[id(a), id(b)] = self.created[id(merged)] = self.trace.merged[id(merged)] = merged
        self._alive += (a, b)
        return merged

    def _merge_same_kind(self, a: Any, b: Any, name: str) -> Any:
        kind = type(a)
        if kind in _EQUAL and a == b:
            return a
        if isinstance(a, tuple) and len(a) == len(b):
            pairs = zip(self.trace.items_of(a), self.trace.items_of(b), strict=True)
            items = [self.merge(x, y, f"{name}[{i}]") for i, (x, y) in enumerate(pairs)]
            return self._remember(a, b, kind(*items) if hasattr(a, "_fields") else kind(items))
        if kind is list or (isinstance(a, dict) and kind.__init__ is dict.__init__):
            return self._merge_containers(a, b, name) if self._both_made(a, b) else ABSENT
        if kind is types.CellType:
            merged: Any = self._remember(a, b, types.CellType())
            contents = self.merge_contents(self._contents(0, a), self._contents(1, b), name)
            if contents is not EMPTY_CELL:
                merged.cell_contents = contents
            return merged
        if kind is types.FunctionType and a.__code__ is b.__code__ and a.__globals__ is b.__globals__:
            closure = self.merge(a.__closure__, b.__closure__, name)
            defaults = self.merge(a.__defaults__, b.__defaults__, name)
            merged = types.FunctionType(a.__code__, a.__globals__, a.__name__, defaults, closure)
            merged.__kwdefaults__ = self.merge(a.__kwdefaults__, b.__kwdefaults__, name)
            return self._remember(a, b, merged)
        if kind is types.MethodType and a.__func__ is b.__func__:
            return types.MethodType(a.__func__, self.merge(a.__self__, b.__self__, name))
        if isinstance(a, BaseException):
            return self._merge_exceptions(a, b, name)
        if isinstance(a, (Journaled, InterpretedGenerator, types.ModuleType, type, Primitive)):
            return ABSENT
        if not is_heap_type(kind):
            return ABSENT
        if namespace_of(a) is None or isinstance(a, (list, dict, set)):
            return ABSENT
        namespaces = self._attributes(0, a), self._attributes(1, b)
        if list(namespaces[0]) != list(namespaces[1]) or not self._both_made(a, b):
            return ABSENT
        merged = self._remember(a, b, object.__new__(kind))
        self._attributes(0, merged).update(self.merge_items(*namespaces, name))
        return merged

    def _merge_exceptions(self, a: BaseException, b: BaseException, name: str) -> Any:
        """One exception for two that are what their arguments and attributes say."""
        kind = type(a)
        native = next(cls for cls in kind.__mro__ if not is_heap_type(cls))
        chained = a.__cause__ is b.__cause__ and a.__context__ is b.__context__
        if not self._both_made(a, b) or native.__basicsize__ != BaseException.__basicsize__ or not chained:
            return ABSENT
        first, second = self._contents(0, a), self._contents(1, b)
        if "slots" in first:
            return ABSENT
        merged = self._remember(a, b, kind.__new__(kind))
        self.exceptions.append(merged)
        merged.args = self.merge(first["exception"]["args"], second["exception"]["args"], name)
        merged.__dict__.update(self.merge_items(self._attributes(0, a), self._attributes(1, b), name))
        merged.__cause__, merged.__context__ = a.__cause__, a.__context__
        merged.__suppress_context__ = a.__suppress_context__
        return merged

    def _both_made(self, a: Any, b: Any) -> bool:
        """Whether two objects were made during the capture; one from outside has to stay itself."""
        return id(a) in self.created and id(b) in self.created

    def _merge_containers(self, a: Any, b: Any, name: str) -> Any:
        first_owner, second_owner = self.namespaces.get(id(a)), self.namespaces.get(id(b))
        if namespace_of(first_owner) is a or namespace_of(second_owner) is b:
            if namespace_of(first_owner) is not a or namespace_of(second_owner) is not b:
                return ABSENT
            return self._namespace(self.merge(first_owner, second_owner, name))
        part = "list" if isinstance(a, list) else "dict"
        first, second = self._contents(0, a)[part], self._contents(1, b)[part]
        if len(first) != len(second) or (part == "dict" and not self._have_same_keys(first, second)):
            return ABSENT
        merged = self._remember(a, b, type(a)())
        found = self.merge_items(first, second, name)
        merged.extend(found) if part == "list" else merged.update(found)
        return merged

    def merge_contents(self, a: Any, b: Any, name: str) -> Any:
        """One for two contents of one object, as the journal notes them."""
        if a is EMPTY_CELL or b is EMPTY_CELL:  # a variable in a cell is bound on some paths only
            first, second = [UNBOUND if c is EMPTY_CELL else c for c in (a, b)]
            found = self.merge(first, second, name)
            return EMPTY_CELL if found is UNBOUND else found
        if type(a) is not dict or type(b) is not dict:
            return self.merge(a, b, name)
        return {part: self.merge_items(contents, b[part], name) for part, contents in a.items()}

    def merge_items(self, a: Any, b: Any, name: str) -> Any:
        """One for two lists or dictionaries that stand for no object of the program."""
        if a is ABSENT or b is ABSENT:
            return self.merge(a, b, name)
        if isinstance(a, list):
            if len(a) != len(b):
                raise MergeError(f"{name} has {len(a)} items on one path and {len(b)} on the other")
            return [self.merge(x, y, f"{name}[{i}]") for i, (x, y) in enumerate(zip(a, b, strict=True))]
        if isinstance(a, dict):
            if not isinstance(b, dict) or not self._have_same_keys(a, b):
                raise MergeError(f"{name} has other keys or attributes on one path than on the other")
            return {key: self.merge(value, b[key], f"{name}[{key!r}]") for key, value in a.items()}
        return self.merge(a, b, name)

    def _have_same_keys(self, a: dict[Any, Any], b: dict[Any, Any]) -> bool:
        """Whether two dictionaries have the same keys in the same order, none of which has to be asked what it holds:
        that is put back at the end of a side.
        """
        return len(a) == len(b) and all(map(self._is_same_key, a, b))

    def _is_same_key(self, a: Any, b: Any) -> bool:
        kind = type(a)
        if kind is not type(b):
            return False
        if kind is tuple:
            return len(a) == len(b) and all(map(self._is_same_key, a, b))
        if kind in _EQUAL:
            return bool(a == b)
        return a is b and (id(a) not in self.created or class_attribute(kind, "__hash__") in _BY_IDENTITY)

    def _contents(self, side: int, obj: Any) -> Any:
        """The contents of an object at the end of a side."""
        noted = self._heaps[side].get(id(obj))
        return contents_of(obj) if noted is None else noted[1]

    def is_inner(self, obj: Any) -> bool:
        """Whether an object is a tensor made on a side, for which others stand outside of the `if`."""
        return isinstance(obj, Tensor) and any(self._made(side, obj) for side in (0, 1))

    def contents(self, a: Any, b: Any, name: str) -> Any:
        """What one tensor stands for, from what it stands for at the ends of the two sides."""
        if a is ABSENT or b is ABSENT:
            side, tensor = (1, b) if a is ABSENT else (0, a)
            if not self._made(side, tensor):
                return tensor
        return self.value(a, b, name)

    def _on(self, side: int, tensor: Tensor) -> tuple[Any, Any]:
        return (ABSENT, tensor) if side else (tensor, ABSENT)

    def _namespace(self, obj: Any) -> Any:
        """The `__dict__` of an object that was made of two."""
        namespace: Any = namespace_of(obj)
        self.namespaces[id(namespace)] = obj
        self.created[id(namespace)] = namespace
        return namespace

    def _attributes(self, side: int, obj: Any) -> dict[str, Any]:
        """The attributes of an object at the end of a side."""
        namespace: Any = namespace_of(obj)
        noted = self._heaps[side].get(id(namespace))
        found: dict[str, Any] = namespace if noted is None else noted[1]["dict"]
        return found

    def _one_sided(self, a: Any, b: Any, name: str) -> Any:
        """A value for an outcome that only one side reaches: tensors of that side pass through the `if`."""
        side = 1 if a is ABSENT else 0

        def out(tensor: Tensor) -> Any:
            data = data_of(tensor)
            if type(data) is not Value or not data.graph.lies_in(self.regions[side]):
                return tensor
            return self.leaf(*self._on(side, tensor), name)

        return self._moved[side].map(b if side else a, out)

    def region_outputs(self) -> list[ValueType]:
        """Give the regions their outputs; returns the types."""
        for side, region in enumerate(self.regions):
            region.outputs = [value_in(self.trace, region, pair[side], pair[2]) for pair in self.outputs]
        return [wanted for _, _, wanted, _ in self.outputs]
