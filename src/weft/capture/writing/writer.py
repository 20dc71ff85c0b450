"""What leaves a capture: the statements of an entry that rebuild results and replay writes.

Results are written as Python source, so that a call costs what it would cost by hand. The same text serves twice: on
raw arrays in the fast function, and on tensors where a gradient follows an input.
"""

from __future__ import annotations

import copyreg
import inspect
import types
from collections import Counter, defaultdict
from collections.abc import Callable, Container
from typing import Any, Final, NoReturn

import numpy as np

from weft.capture.leaving.entries import Owner
from weft.capture.leaving.tracebacks import Place, Way
from weft.capture.meaning.generators import InterpretedGenerator
from weft.capture.meaning.native import hashed_freely
from weft.capture.meaning.ranges import SymbolicRange
from weft.capture.python.classes import mark_of
from weft.capture.python.containers import VIEWS, items_of, mapping_of, members, spelled
from weft.capture.python.exceptions import raise_chained
from weft.capture.python.namespaces import namespace_of, set_state
from weft.capture.python.packages import is_heap_type, module_of
from weft.capture.python.spelling import spelled_namespace
from weft.capture.sources.known import is_bound
from weft.capture.sources.numbers import CallNumber, ObjectId
from weft.capture.sources.rebuilding import make_function
from weft.capture.sources.sources import Sources
from weft.capture.state.frame import Lazy, MaybeUnbound
from weft.capture.state.fresh import is_of_this_call
from weft.capture.state.guards import is_long
from weft.capture.state.journal import (
    EMPTY_CELL,
    OF_EXCEPTIONS,
    OF_FUNCTIONS,
    Journal,
    Journaled,
    cell_value,
    slot_value,
    slots_of,
)
from weft.capture.state.lazytext import LazyText
from weft.capture.state.memory import is_view
from weft.capture.writing.choices import choice_of
from weft.capture.writing.iterators import iterator, range_of
from weft.capture.writing.sharing import join
from weft.core.choice import Choice
from weft.core.number import GraphNumber
from weft.core.tensor import Tensor
from weft.errors import Refusal, Unsupported
from weft.ir.graph import Value

_IMMUTABLE: Final = (
    type(None), bool, int, float, complex, str, bytes, range, type, types.BuiltinFunctionType, types.ModuleType,
    type(Ellipsis), type(NotImplemented),
)  # fmt: skip
#: the step of a refusal of an object that nobody saw being made
_UNKNOWN: Final = -1
#: immutable classes that programs derive from -> how to get the value itself from an instance, past the user's methods
_PLAIN: Final[dict[type, Callable[[Any], Any]]] = {
    int: int.__pos__, float: float.__pos__, complex: complex.__pos__, str: str.__str__,
    bytes: lambda value: bytes.__getitem__(value, slice(None)),
    tuple: lambda value: tuple.__getitem__(value, slice(None)), frozenset: frozenset,
}  # fmt: skip
_C_MEMBERS: Final = (types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType)
#: special methods that make copies: a user's would be called at another time, and more often, than in Python
_COPIED_BY: Final = (
    "__new__", "__reduce_ex__", "__reduce__", "__getnewargs__", "__getnewargs_ex__", "__getstate__", "__setstate__",
    "__setattr__", "append", "extend", "__setitem__",
)  # fmt: skip


class Writer:
    """Writes the statements that rebuild values from the results of a graph.

    Args:
        sources: how to load outside objects again.
        journal: knows the objects made during the capture.
        outputs: graph values so far; new ones are appended as they are needed.
        use: the root graph's value of a tensor.
        is_constant: whether a concrete tensor was made during the capture.
        owner: the compiled callable.
        last_fork: the last step that was a branch on a tensor.
        raised: the exceptions that were raised during the capture, with the step that raised each, by id.
        once: whether the statements run in the captured call only, so that outside objects are not loaded again.
    """

    def __init__(
        self, sources: Sources, journal: Journal, use: Any, is_constant: Any, owner: Owner, last_fork: int,
        raised: dict[int, tuple[BaseException, int, BaseException | None]], once: bool = False,
    ) -> None:  # fmt: skip
        self.once = once
        self.owner = owner
        self.raised = raised
        self.last_fork = last_fork
        self.sources = sources
        self.journal = journal
        self.created = journal.created
        self.use = use
        self.is_constant = is_constant
        self.outputs: list[Value] = []
        #: how often a tensor can be reached from what the capture leaves, by its id
        self.reached: Callable[[], Counter[int]] = Counter
        #: ids of the tuples that stand in the program's code, each of which is one object in all calls
        self.literal_tuples: Callable[[], frozenset[int]] = frozenset
        #: tensors with hooks, see `Trace.hooked`
        self.hooked: dict[int, tuple[Tensor, Any]] = {}
        #: what the statements use besides outside objects
        self.scope: dict[str, Any] = {}
        self.lines: list[str] = []
        self._positions: dict[Value, int] = {}
        self._names: dict[int, str] = {}
        #: positions of the outputs of which tensors were made
        self._leaves: set[int] = set()
        #: expression of an outside object -> the local name that it is loaded into
        self._loads: dict[str, str] = {}
        self._alive: list[Any] = []
        #: position of an output that is a number -> the local name that it is loaded into
        self._numbers: dict[int, str] = {}
        #: positions of the outputs that say whether what the graph assumes and checks held, with what to do if not
        self.conditions: dict[int, str] = {}
        #: parameters of the graph for written tensors that stay what they were where a condition does not hold, with
        #: the positions of the outputs that say so
        self.unchanged: dict[Value, int] = {}
        #: whether outcomes of the call have conditions of their own
        self.has_further_conditions = False
        #: objects that are being reduced
        self._open: set[int] = set()
        self._count = 0

    @property
    def written(self) -> Container[int]:
        """The ids of the objects that were written so far."""
        return self._names

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
        if type(value) in (bool, int, str, type(None)):
            is_itself = type(value) is not str or (value.isascii() and value.isidentifier())  # it is interned
            return repr(value) if is_itself and not is_long(value) else self.outside(value)
        if type(value) is CallNumber:
            return self.sources.numbers.name_of(value)
        if type(value) is GraphNumber:
            return self._number(value)
        found = self._names.get(id(value))
        if found is not None:
            return found
        self._alive.append(value)
        try:
            text = self._build(value)
        except Unsupported as refusal:
            if refusal.step == _UNKNOWN:  # it came with what holds it
                refusal.step = self.journal.births.get(id(value), _UNKNOWN)
            raise
        if not text.isidentifier():  # it is one object, wherever it stands
            text = self._assigned(text)
        self._names[id(value)] = text
        return text

    def outside(self, value: Any) -> str:
        known = self.sources.known.get(id(value))
        unknown = (known is None or id(value) in self.sources.found) and (
            self.sources.guarded or self.journal.original(value) is None
        )
        if unknown and is_of_this_call(value, self.sources.known, self.created, self.was_outside):
            self.refuse(value)
        expression = self.sources.place(value)
        if expression is None or (self.once and not expression.isidentifier()):
            return self.constant(value)
        return expression if expression.isidentifier() else self._loads.setdefault(expression, f"o{len(self._loads)}")

    def load_first(self) -> None:
        """Put the loads of outside objects before the writes, which may replace what the expressions go through."""
        self.lines[:0] = [f"{name} = {expression}" for expression, name in self._loads.items()]

    def _build(self, value: Any) -> str:
        kind = type(value)  # `isinstance` would also ask the user's `__class__`
        if issubclass(kind, Tensor):
            return self._tensor(value)
        if kind is ObjectId:
            return f"id({self.expression(value.obj)})"
        if issubclass(kind, LazyText):
            return self._text(value)
        if issubclass(kind, Lazy):  # code that took it for the value would have computed something else with it
            raise SystemError(f"what {value.expression} stands for has left its variable unread")
        if issubclass(kind, SymbolicRange):
            return range_of(self, value)
        if issubclass(kind, Journaled):
            return iterator(self, value)
        if issubclass(kind, super):
            made: Any = value
            return self._assigned(f"super({self.expression(made.__thisclass__)}, {self.expression(made.__self__)})")
        if issubclass(kind, types.MethodType) and isinstance(value.__self__, Journaled):
            return self._assigned(f"{self.expression(value.__self__)}.{value.__func__.__name__}")
        if issubclass(kind, types.MethodType) and id(value) not in self.sources.known:
            function, owner = self.expression(value.__func__), self.expression(value.__self__)
            return self._assigned(f"{self.constant(types.MethodType)}({function}, {owner})")
        if is_bound(value) and id(value) not in self.sources.known:
            return self._assigned(self._builtin_method(value))
        if kind in VIEWS and id(value) not in self.sources.known:
            view = ("keys", "values", "items")[VIEWS.index(kind) % 3]
            return self._assigned(f"{self.expression(mapping_of(value))}.{view}()")
        if issubclass(kind, (BaseException, types.TracebackType, types.FrameType)):
            self._check_raised(value)
        if kind is slice and id(value) not in self.sources.known:
            parts = (value.start, value.stop, value.step)
            return self._assigned(f"slice({', '.join(self.expression(part) for part in parts)})")
        made_here = id(value) in self.created
        is_view = issubclass(kind, np.ndarray) and isinstance(value.base, np.ndarray)  # what is written to it is shared
        if made_here and (mark_of(kind, "__weft_parts__", ()) is None or is_view):
            self.refuse(value)
        if kind is dict and value is namespace_of(of := self.journal.namespaces.get(id(value))):
            return self.namespace(type(of), self.expression(of))
        if made_here and issubclass(kind, (dict, set, frozenset)) and not hashed_freely(value):
            self.refuse(value)
        if issubclass(kind, tuple(_PLAIN)) and made_here and _is_of_python(kind):
            return self._object(value)
        if (issubclass(kind, _IMMUTABLE) and not (made_here and issubclass(kind, type))) or not (
            made_here or issubclass(kind, tuple)
        ):
            return self.outside(value)
        if issubclass(kind, tuple):
            return self.outside(value) if self.sources.is_known(value) else self._tuple(value)
        if kind is frozenset:
            return self._assigned(f"frozenset({', '.join(self._steps(value))})")
        if issubclass(kind, types.FunctionType):
            return self._function(value)
        if issubclass(kind, type):
            self.refuse(value)
        if issubclass(kind, (types.CellType, list, dict, set)) or _is_of_python(kind):
            return self._object(value)
        return self._reduced(value)

    def _builtin_method(self, value: Any) -> str:
        """A bound method of a built-in class."""
        owner, name = value.__self__, value.__name__
        found = inspect.getattr_static(type(owner), name, None)
        if isinstance(found, types.FunctionType):  # what `super()` found below a method of the user's
            found = next(c.__dict__[name] for c in type(owner).__mro__ if not _is_python(c.__dict__.get(name)))
            return f"{self.constant(found)}.__get__({self.expression(owner)})"
        return f"({self.expression(owner)}).{name}"

    def _reduced(self, value: Any) -> str:
        """An object of a class without Python code, made anew as `copy` would."""
        kind = type(value)
        users = any(isinstance(getattr(kind, name, None), types.FunctionType) for name in _COPIED_BY)
        if users or is_view(value) or module_of(kind) == "itertools":  # which is not copied from Python 3.14 on
            self.refuse(value)
        try:
            reduced = value.__reduce_ex__(4)
        except Exception:  # whatever a class in C has against copies of it
            self.refuse(value)
        if isinstance(reduced, str) or id(value) in self._open:  # known by a name; holds itself
            self.refuse(value)
        self._open.add(id(value))
        make, args, state, items, pairs = (*reduced, None, None, None)[:5]
        for part in args:
            if type(part) in (list, dict, set) and id(part) not in self.sources.known:
                self.journal.born(part)  # it is the object's own
        if make is copyreg.__newobj__:  # type: ignore[attr-defined]
            make = args[0].__new__
        name = self.fresh()
        given = "".join(f"{self.expression(argument)}, " for argument in args)
        self.lines.append(f"{name} = {self.constant(make)}({given.removesuffix(', ')})")
        self._names[id(value)] = name
        if items is not None:
            self.lines += [f"{name}.append({self.expression(item)})" for item in items]
        if pairs is not None:
            self.lines += [f"{name}[{self.expression(key)}] = {self.expression(item)}" for key, item in pairs]
        if state is not None:
            self.lines.append(f"{self.constant(set_state)}({name}, {self.expression(self._state(value, state))})")
        if isinstance(value, BaseException):
            self._raised(name, value)
        if issubclass(kind, np.ndarray) and not value.flags.writeable:
            self.lines.append(f"{name}.setflags(write=False)")
        return name

    def _raised(self, name: str, value: BaseException) -> None:
        """What an exception got where it was raised: what it is chained to, and its traceback."""
        made = dict(zip(OF_EXCEPTIONS, (value.args, None, None, False), strict=True))
        self.exception(name, made, {part: getattr(value, part) for part in OF_EXCEPTIONS})
        places = [
            Place(frame.decoded, pc, frame.globals)
            for frame, pc in self.journal.ways.get(id(value), ())
            if not str(frame.globals.get("__name__")).startswith("weft.")
        ]
        if places:
            self.lines.append(f"{self.constant(Way(places))}.mark({name})")
        elif value.__traceback__ is not None and id(value) not in self.raised:
            self.lines.append(f"{name}.__traceback__ = {self.expression(value.__traceback__)}")

    def _state(self, value: Any, state: Any) -> Any:
        """The state of an object, its namespace as a dictionary of its own."""
        if type(state) is tuple:
            parts = [self._state(value, part) for part in state]
            return state if all(new is old for new, old in zip(parts, state, strict=True)) else tuple(parts)
        own = namespace_of(value)
        if own is not None and state is own:
            namespace = dict(own)
            self.journal.born(namespace)
            return namespace
        if type(state) in (list, dict, set) and id(state) not in self.sources.known:
            self.journal.born(state)  # it is the object's own
        return state

    def state(self, value: Any) -> str:
        """An expression for a value of a frame that goes on later."""
        if type(value) is MaybeUnbound:
            refusal = Unsupported(Refusal.TENSOR_CONDITION, "whether a variable is bound depends on a tensor")
            refusal.step = self.last_fork
            raise refusal
        return self.expression(value)

    def variable(self, value: Any) -> str:
        """An expression for what a variable of such a frame holds, which nobody may have read yet."""
        return value.expression if type(value) is Lazy else self.state(value)

    def _check_raised(self, value: Any) -> None:
        """Refuse what has to have frames of the program: then it is raised in Python."""
        if id(value) in self.sources.known:
            return
        if isinstance(value, BaseException):
            steps = [self.raised[id(value)][1]] if id(value) in self.raised and value.__traceback__ else []
        else:
            steps = [noted[1] for noted in self.raised.values()]
        if steps:
            refusal = Unsupported(Refusal.OUTPUT, f"the traceback of a {type(value).__name__} is still needed")
            refusal.step, refusal.quiet = max(steps), True
            raise refusal

    def refuse(self, value: Any) -> NoReturn:
        """Refuse an object that cannot be rebuilt: the attempt ends before the step that made it."""
        what = "a generator" if isinstance(value, InterpretedGenerator) else f"an object of type {type(value).__name__}"
        refusal = Unsupported(
            Refusal.OUTPUT, f"{what} made here is still needed outside the graph, which cannot hold it",
            "return or keep lists and tensors instead",
        )  # fmt: skip
        refusal.step = self.journal.births.get(id(value), _UNKNOWN)
        refusal.in_callback = mark_of(type(value), "__weft_parts__", ()) is None  # a transform made it
        raise refusal

    def was_outside(self, tensor: Tensor) -> bool:
        """Whether a tensor existed before the capture, as far as it shows without a source."""
        return self.journal.data_before(tensor).__class__ is not Value and not self.is_constant(tensor)

    def _tensor(self, tensor: Tensor) -> str:
        if type(tensor) is Choice:
            return choice_of(self, tensor)
        if not tensor.is_symbolic:
            if id(tensor) in self.created or self.is_constant(tensor):
                return self._joined(tensor, self._assigned(f"copy({self.constant(tensor)})"))
            return self.outside(tensor)
        if id(tensor) in self.hooked:
            self._refuse_hooked(tensor)
        if self.was_outside(tensor) or id(tensor) in self.sources.known:
            return self.outside(tensor)  # it was written: the write is replayed on the handle itself
        position = self.output(self.use(tensor))
        name = self._assigned(f"leaf({position})")
        if position in self._leaves:  # of another tensor with the same value
            name = self._assigned(f"copy({name})")
        self._leaves.add(position)
        return self._joined(tensor, name)

    def _refuse_hooked(self, tensor: Tensor) -> NoReturn:
        """Hooks of a tensor run in each gradient that starts at it: the attempt ends before the step that adds them."""
        refusal = Unsupported(
            Refusal.OUTPUT,
            "a tensor with hooks leaves the graph, and later gradients that start at it run them",
            "keep the tensor inside the compiled function, or register the hooks outside of it",
        )
        births = self.journal.births
        refusal.step = births.get(id(self.hooked[id(tensor)][1]), births.get(id(tensor), _UNKNOWN))
        raise refusal

    def _joined(self, tensor: Tensor, name: str) -> str:
        self._names[id(tensor)] = name
        join(self, tensor, name)
        return name

    def is_outside(self, tensor: Tensor) -> bool:
        """Whether a tensor exists outside of the graph."""
        if type(tensor) is Choice:
            return any(self.is_outside(case.handle) for case in tensor.cases)
        if not tensor.is_symbolic and (id(tensor) in self.created or self.is_constant(tensor)):
            return False
        return id(tensor) in self.sources.known or self.was_outside(tensor)

    def truth(self, case: Any) -> str:
        """A name for whether a case holds."""
        return self._assigned(f"number({self.output(self.use(case.truth()))})")

    def _number(self, number: GraphNumber) -> str:
        """A number of the graph, read once."""
        position = self.output(self.use(number.tensor))
        found = self._numbers.get(position)
        if found is None:
            found = self._numbers[position] = self.fresh()
            self.lines.append(f"{found} = number({position})")
        return found

    def _text(self, value: LazyText) -> str:
        parts = [
            repr(part) if isinstance(part, str) else self._hole(self.expression(part[0]), part[1])
            for part in value.parts
        ]
        return f"''.join(({', '.join(parts)},))"

    def _hole(self, value: str, spec: str) -> str:
        return f"repr({value})" if spec == "!r" else f"format({value}, {spec!r})"

    def _tuple(self, value: tuple[Any, ...]) -> str:
        if id(value) in self.literal_tuples():
            return self.constant(value)
        items = [self.expression(item) for item in value]
        inside = ", ".join(items) + ("," if len(items) == 1 else "")
        if type(value) is tuple:
            folded = value and not any(map(str.isidentifier, items))  # the compiler would make it a constant
            return self._assigned(f"(*({inside}),)" if folded else f"({inside})")
        if hasattr(value, "_fields"):
            return self._assigned(f"{self.constant(type(value))}({inside})")
        return self._assigned(f"{self.constant(type(value))}(({inside}))")

    def _assigned(self, text: str) -> str:
        """A name for what an expression makes, which is one object wherever it is used."""
        name = self.fresh()
        self.lines.append(f"{name} = {text}")
        return name

    def _function(self, value: types.FunctionType) -> str:
        name = self.fresh()
        cells = [self.expression(cell) for cell in value.__closure__ or ()]
        defaults = self.expression(value.__defaults__)
        make = self.constant(make_function)
        self.lines.append(f"{name} = {make}({self.constant(value)}, {defaults}, ({''.join(c + ', ' for c in cells)}))")
        self._names[id(value)] = name
        plain = types.FunctionType(value.__code__, value.__globals__, closure=value.__closure__)
        for attribute in OF_FUNCTIONS:
            item = getattr(value, attribute)
            if attribute != "__defaults__" and item is not getattr(plain, attribute) and item != {}:
                self.lines.append(f"{name}.{attribute} = {self.expression(item)}")
        self._fill_namespace(name, value)
        return name

    def _fill_namespace(self, name: str, value: Any) -> None:
        """Give an object that was made anew its attributes."""
        namespace = namespace_of(value)
        if namespace:
            for key, item in tuple(namespace.items()):
                place = f"{self.namespace(type(value), name)}[{self.expression(key)}]"
                self.lines.append(f"{place} = {self.expression(item)}")

    def _object(self, value: Any) -> str:
        """A container, a value or an instance made during the capture: made anew, then filled (it may hold itself)."""
        name, kind = self.fresh(), type(value)
        if id(kind) in self.created:
            self.refuse(kind)
        self._names[id(value)] = name
        if issubclass(kind, types.CellType):
            self.lines.append(f"{name} = {self.constant(types.CellType)}()")
            contents = cell_value(value)
            if contents is not EMPTY_CELL:
                self.lines.append(f"{name}.cell_contents = {self.state(contents)}")
            return name
        base: Any = next((b for b in (list, dict, set) if issubclass(kind, b)), None)
        if issubclass(kind, defaultdict):
            self.lines.append(f"{name} = {self.constant(kind)}({self.expression(value.default_factory)})")
        elif kind is base:
            self.lines.append(f"{name} = {base.__name__}()")
        else:
            native = next(c.__dict__["__new__"] for c in kind.__mro__ if _is_native_new(c.__dict__.get("__new__")))
            needed = value.args[:2] if issubclass(kind, BaseExceptionGroup) else self._plain(value)
            given = "".join(f", {self.expression(argument)}" for argument in needed)
            self.lines.append(f"{name} = {self.constant(native)}({self.constant(kind)}{given})")
        if base is list:
            items = [self.expression(item) for item in members(value)]
            self.write(kind, "extend", name, f"[{', '.join(items)}]")
        elif base is dict:
            for key, item in items_of(value):
                self.write(kind, "__setitem__", name, self.expression(key), self.expression(item))
        elif base is set:
            for given in self._steps(value):
                self.write(kind, "update", name, given)
        self._fill_namespace(name, value)
        for member in slots_of(kind):
            item = slot_value(value, member)
            if item is not EMPTY_CELL:
                self.lines.append(f"{self.constant(member)}.__set__({name}, {self.expression(item)})")
        if issubclass(kind, BaseException):
            self.lines.append(f"{name}.args = {self.expression(value.args)}")
            self._raised(name, value)
        return name

    def _steps(self, value: Any) -> list[str]:
        """What a set made here is given, one after the other, so that its members get their order."""
        steps = self.journal.sets.steps(value)
        if steps is None:
            self.refuse(value)
        written = []
        for make, given in steps:
            items = f"({''.join(self.expression(item) + ', ' for item in given)})"
            written.append(items if make is tuple else f"{self.constant(make)}({items})")
        return written

    def _plain(self, value: Any) -> tuple[Any, ...]:
        """What an immutable value of a user's class is as one of the built-in class, to make another from."""
        for base, plain in _PLAIN.items():
            if issubclass(type(value), base):
                made = plain(value)
                if base is frozenset:  # its items may be other ones in each call
                    self.journal.born(made)
                return (made,)
        return ()

    def raise_created(self, error: BaseException) -> None:
        """Raise an exception that the capture made."""
        made = self.expression(error)
        chained = error.__context__ is not None
        self.lines.append(f"{self.constant(raise_chained)}({made})" if chained else f"raise {made}")

    def exception(self, target: str, before: dict[str, Any], after: dict[str, Any]) -> None:
        """Replay what an exception has: its arguments, its cause and its context, by name."""
        for name, new in after.items():
            caused = name == "__suppress_context__" and before["__cause__"] is not after["__cause__"]
            if new is not before[name] or caused:
                self.lines.append(f"{target}.{name} = {self.expression(new)}")

    def write(self, kind: type, method: str, target: str, *args: str) -> None:
        """Change a container by a method of Python's own."""
        self.lines.append(spelled(kind, method, lambda native, _: self.constant(native), target, *args))

    def namespace(self, kind: type, target: str) -> str:
        """The expression for the dictionary of an object's attributes."""
        return spelled_namespace(kind, target, self.sources.name)


def _is_of_python(kind: type) -> bool:
    """Whether instances of a class are what their attributes, and their items or arguments, say."""
    return (
        all(
            cls in (object, list, dict, set, *_PLAIN)
            or (module_of(cls) == "builtins" and issubclass(cls, BaseException) and cls is not kind)
            or (is_heap_type(cls) and not _is_of_c(cls))
            for cls in kind.__mro__
        )
        and module_of(kind) != "builtins"
    )


def _is_of_c(cls: type) -> bool:
    """Whether a class that can be changed comes from code in C, which may keep more than attributes show."""
    if isinstance(vars(cls).get("__new__"), types.BuiltinFunctionType):
        return True
    return any(isinstance(m, _C_MEMBERS) and m.__objclass__ is cls for m in vars(cls).values())


def _is_native_new(new: Any) -> bool:
    return isinstance(new, types.BuiltinFunctionType)


def _is_python(attribute: Any) -> bool:
    return attribute is None or isinstance(attribute, types.FunctionType)
