"""The code of an entry: one generated function that checks guards, calls the executable, and rebuilds the results.

Results are written as Python source, so that a call costs what it would cost by hand. The same text serves twice: on
raw arrays in the fast function, and on tensors where a gradient follows an input.
"""

from __future__ import annotations

import types
from typing import Any, Final

from weft.capture.iterators import InterpretedGenerator, SymbolicRange
from weft.capture.journal import EMPTY_CELL, Journaled
from weft.capture.lazytext import LazyText
from weft.capture.sources import Sources
from weft.core.tensor import Tensor
from weft.errors import Refusal, Unsupported
from weft.ir.graph import Value
from weft.ir.types import TensorType

_IMMUTABLE: Final = (
    type(None), bool, int, float, complex, str, bytes, range, type, types.BuiltinFunctionType, types.ModuleType,
    type(Ellipsis), type(NotImplemented),
)  # fmt: skip
_NEW = object.__new__


class Writer:
    """Writes the statements that rebuild values from the results of a graph.

    Args:
        sources: how to load outside objects again.
        created: objects made during the capture, by id.
        outputs: graph values so far; new ones are appended as they are needed.
        use: the root graph's value of a tensor.
        is_constant: whether a concrete tensor was made during the capture.
    """

    def __init__(self, sources: Sources, created: dict[int, Any], use: Any, is_constant: Any) -> None:
        self.sources = sources
        self.created = created
        self.use = use
        self.is_constant = is_constant
        self.outputs: list[Value] = []
        self.scope: dict[str, Any] = {"Tensor": Tensor, "new": _NEW}
        self.lines: list[str] = []
        self._positions: dict[Value, int] = {}
        self._names: dict[int, str] = {}
        #: expression of an outside object -> the local name that it is loaded into
        self._loads: dict[str, str] = {}
        self._alive: list[Any] = []
        self._count = 0

    def constant(self, value: Any) -> str:
        """A name for an object that is the same in every call."""
        return self.sources.name(value, "constant")

    def output(self, value: Value) -> int:
        """The position of a value among the graph's outputs."""
        found = self._positions.get(value)
        if found is None:
            found = self._positions[value] = len(self.outputs)
            self.outputs.append(value)
        return found

    def fresh(self) -> str:
        """A new local name."""
        self._count += 1
        return f"v{self._count}"

    def expression(self, value: Any) -> str:
        """An expression for a value in the results, after the statements written so far."""
        if isinstance(value, (bool, int, str, type(None))) and value.__class__ in (bool, int, str, type(None)):
            return repr(value)
        found = self._names.get(id(value))
        if found is not None:
            return found
        self._alive.append(value)
        text = self._build(value)
        self._names[id(value)] = text
        return text

    def _outside(self, value: Any) -> str:
        known = self.sources.known.get(id(value))
        if known is None:
            return self.constant(value)
        expression = known[1]
        return expression if expression.isidentifier() else self._loads.setdefault(expression, f"o{len(self._loads)}")

    def load_first(self) -> None:
        """Put the loads of outside objects before the writes, which may replace what the expressions go through."""
        self.lines[:0] = [f"{name} = {expression}" for expression, name in self._loads.items()]

    def _build(self, value: Any) -> str:
        if isinstance(value, Tensor):
            return self._tensor(value)
        if isinstance(value, LazyText):
            return self._text(value)
        if isinstance(value, (Journaled, SymbolicRange)):
            self._refuse(value)
        if isinstance(value, _IMMUTABLE) or (id(value) not in self.created and not isinstance(value, tuple)):
            return self._outside(value)
        if isinstance(value, tuple):
            return self._tuple(value)
        if value.__class__ is frozenset:
            return f"frozenset(({''.join(self.expression(item) + ', ' for item in value)}))"
        if isinstance(value, types.MethodType):
            return (
                f"{self.constant(types.MethodType)}({self._outside(value.__func__)}, {self.expression(value.__self__)})"
            )
        if isinstance(value, types.FunctionType):
            return self._function(value)
        return self._object(value)

    def _refuse(self, value: Any) -> None:
        what = "a generator" if isinstance(value, InterpretedGenerator) else "an iterator"
        raise Unsupported(
            Refusal.OUTPUT, f"the compiled function returns or stores {what}", "return a list or a tensor instead"
        )

    def _tensor(self, tensor: Tensor) -> str:
        if not tensor.is_symbolic:
            if id(tensor) in self.created or self.is_constant(tensor):
                return f"copy({self.constant(tensor)})"
            return self._outside(tensor)
        known = self.sources.known.get(id(tensor))
        if known is not None:  # an outside handle that was written: the write is replayed on the handle itself
            return self._outside(tensor)
        kind = tensor._data.type
        assert isinstance(kind, TensorType)
        name = self.fresh()
        self.lines.append(f"{name} = leaf({self.output(self.use(tensor))})")
        if kind.weak is not None:
            self.lines.append(f"{name} = {name}.item()")
        return name

    def _text(self, value: LazyText) -> str:
        parts = [
            repr(part) if isinstance(part, str) else self._hole(self.expression(part[0]), part[1])
            for part in value.parts
        ]
        return f"''.join(({', '.join(parts)},))"

    def _hole(self, value: str, spec: str) -> str:
        return f"repr({value})" if spec == "!r" else f"format({value}, {spec!r})"

    def _tuple(self, value: tuple[Any, ...]) -> str:
        items = [self.expression(item) for item in value]
        inside = ", ".join(items) + ("," if len(items) == 1 else "")
        if type(value) is tuple:
            return f"({inside})"
        if hasattr(value, "_fields"):
            return f"{self.constant(type(value))}({inside})"
        return f"{self.constant(type(value))}(({inside}))"

    def _function(self, value: types.FunctionType) -> str:
        name = self.fresh()
        cells = []
        for cell in value.__closure__ or ():
            cells.append(self.expression(cell))
        defaults = self.expression(value.__defaults__)
        make = self.constant(_make_function)
        self.lines.append(f"{name} = {make}({self.constant(value)}, {defaults}, ({''.join(c + ', ' for c in cells)}))")
        return name

    def _object(self, value: Any) -> str:
        """A container or an instance made during the capture: made anew, then filled (it may contain itself)."""
        name = self.fresh()
        kind = type(value)
        self._names[id(value)] = name
        if isinstance(value, types.CellType):
            self.lines.append(f"{name} = {self.constant(types.CellType)}()")
            contents = getattr(value, "cell_contents", EMPTY_CELL)
            if contents is not EMPTY_CELL:
                self.lines.append(f"{name}.cell_contents = {self.expression(contents)}")
            return name
        base: Any = next((b for b in (list, dict, set) if isinstance(value, b)), None)
        if kind is base:
            self.lines.append(f"{name} = {base.__name__}()")
        else:
            self.lines.append(f"{name} = {self.constant(kind)}.__new__({self.constant(kind)})")
        if base is list:
            items = [self.expression(item) for item in value]
            self.lines.append(f"{name}[:] = [{', '.join(items)}]")
        elif base is dict:
            for key, item in value.items():
                self.lines.append(f"{name}[{self.expression(key)}] = {self.expression(item)}")
        elif base is set:
            items = [self.expression(item) for item in value]
            if items:
                self.lines.append(f"{name}.update(({', '.join(items)},))")
        namespace = getattr(value, "__dict__", None)
        if isinstance(namespace, dict):
            for key, item in namespace.items():
                self.lines.append(f"{name}.__dict__[{key!r}] = {self.expression(item)}")
        for cls in kind.__mro__:
            slots = cls.__dict__.get("__slots__", ())
            for slot in (slots,) if isinstance(slots, str) else slots:
                if slot not in ("__dict__", "__weakref__") and hasattr(value, slot):
                    set_slot = self.constant(object.__setattr__)
                    self.lines.append(f"{set_slot}({name}, {slot!r}, {self.expression(getattr(value, slot))})")
        if isinstance(value, BaseException):
            self.lines.append(f"{name}.args = {self.expression(value.args)}")
        return name

    # -- writes --------------------------------------------------------------------------------------------------------

    def write_tensor(self, tensor: Tensor) -> int:
        """Replay the write of an outside handle; returns the position of its new value."""
        position = self.output(self.use(tensor))
        self.lines.append(f"store({self._outside(tensor)}, {position})")
        return position

    def write_object(self, obj: Any, before: Any, after: Any) -> None:
        """Replay the changes of an outside object."""
        target = self._outside(obj)
        if isinstance(obj, types.CellType):
            if after is not EMPTY_CELL:
                self.lines.append(f"{target}.cell_contents = {self.expression(after)}")
            return
        if "list" in after and _identities(after["list"]) != _identities(before["list"]):
            count = len(before["list"])
            if _identities(after["list"][:count]) == _identities(before["list"]):  # it only grew
                items = [self.expression(item) for item in after["list"][count:]]
                self.lines.append(f"{target}.extend([{', '.join(items)}])")
            else:
                items = [self.expression(item) for item in after["list"]]
                self.lines.append(f"{target}[:] = [{', '.join(items)}]")
        if "dict" in after:
            self._dictionary(target, before["dict"], after["dict"], list(before["dict"]) != list(after["dict"]))
        if "set" in after:
            items = [self.expression(item) for item in after["set"]]
            self.lines.append(f"{target}.clear(); {target}.update(({''.join(i + ', ' for i in items)}))")
        for part in ("deque", "bytes"):
            if part in after:
                restore_ = self.constant(_restore_sequence)
                self.lines.append(f"{restore_}({target}, {self.expression(list(after[part]))})")
        for part in ("attributes", "slots"):
            for key, value in after.get(part, {}).items():
                if key == "_version" or before.get(part, {}).get(key, EMPTY_CELL) is value:
                    continue
                if value is EMPTY_CELL:
                    self.lines.append(f"del {target}.{key}")
                else:
                    self.lines.append(f"setattr({target}, {key!r}, {self.expression(value)})")
            for key in before.get(part, {}):
                if key not in after.get(part, {}):
                    self.lines.append(f"delattr({target}, {key!r})")
        for name, registry in after.get("registries", {}).items():
            old = before["registries"].get(name, {})
            self._dictionary(f"{target}.{name}", old, registry, False)

    def _dictionary(self, target: str, before: dict[Any, Any], after: dict[Any, Any], reorder: bool) -> None:
        removed = [key for key in before if key not in after]
        for key in removed:
            self.lines.append(f"{target}.pop({self.expression(key)}, None)")
        kept = [key for key in before if key in after]
        if reorder and kept != list(after)[: len(kept)]:
            self.lines.append(f"{target}.clear()")
            before = {}
        for key, value in after.items():
            if key not in before or before[key] is not value:
                self.lines.append(f"{target}[{self.expression(key)}] = {self.expression(value)}")


def _identities(items: list[Any]) -> list[int]:
    return [id(item) for item in items]


def _make_function(template: types.FunctionType, defaults: Any, closure: tuple[Any, ...]) -> types.FunctionType:
    made = types.FunctionType(template.__code__, template.__globals__, template.__name__, defaults, closure or None)
    made.__kwdefaults__ = template.__kwdefaults__
    made.__dict__.update(template.__dict__)
    made.__qualname__ = template.__qualname__
    return made


def _restore_sequence(target: Any, items: list[Any]) -> None:
    target.clear()
    target.extend(items)
