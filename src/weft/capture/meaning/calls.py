"""Calls: which callables are entered, which run natively at capture time, and which are refused."""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NoReturn

from weft.capture.meaning import (  # noqa: F401 - most fill the table
    builtins,
    class_statements,
    custom,
    getters,
    host_functions,
    iterating,
    iterator_functions,
    mapping,
    table,
)
from weft.capture.meaning.gate import DEFAULT, row_of
from weft.capture.meaning.generators import InterpretedGenerator
from weft.capture.meaning.lookers import refuse_lifetimes
from weft.capture.meaning.parts import Machine, Part
from weft.capture.python.classes import (
    MISSING,
    class_attribute,
    hides_class,
    is_changeable,
    is_stateful,
    mark_of,
    of_hidden_class,
)
from weft.capture.python.exceptions import raise_as_it_is
from weft.capture.python.packages import (
    DEBUGGERS,
    ENTERED,
    NATIVE_PACKAGES,
    PURE_MODULES,
    is_ours,
    module_of,
    module_of_function,
)
from weft.capture.python.users import is_asked, refuse_callbacks
from weft.capture.python.values import PARTIAL
from weft.capture.state.frame import Await, Frame, Raise, Return, Yield, check_init, slots_for
from weft.capture.state.journal import Journaled
from weft.core.transparency import PYTHON_ONLY, STAND_INS, TRANSPARENT
from weft.errors import Refusal, Unsupported

#: modules whose functions look into generators and other iterators instead of using them up
_LOOKING_MODULES: Final = frozenset({"inspect", "types", "copy", "weakref", "_weakref"})

_VARIADIC: Final = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
#: functions that keep arguments in containers, or read them when their body runs
_LATER: Final = _VARIADIC | inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


#: library modules with decorators that write to a class; those of `typing`; what in the others only reads
_CLASS_MODULES: Final = frozenset({"dataclasses", "enum"})
_OF_TYPING: Final = frozenset({"runtime_checkable", "final", "no_type_check", "override"})
_CLASS_READERS: Final = frozenset({"fields", "is_dataclass", "asdict", "astuple", "replace", "field"})


def is_of_debugger(callee: Any) -> bool:
    """Whether a callable is a debugger's, so that it looks at the frames of the program."""
    if type(callee) is types.FunctionType or isinstance(callee, type):
        module: Any = module_of(callee) if isinstance(callee, type) else callee.__module__
        return isinstance(module, str) and module.partition(".")[0] in DEBUGGERS
    return callee is breakpoint or callee is sys.breakpointhook or callee is sys.__breakpointhook__


#: for tests: says of a call (the frame and its instruction) whether it shall run in Python
forced_break: Callable[[Frame, int], bool] | None = None


class Calls(Part):
    """The part of the interpreter that calls."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        #: objects of the library, by id, and whether they hold code of the user's, while nothing outside is written
        self._asked: dict[int, tuple[Any, bool]] = {}

    def call_and_push(self, frame: Frame, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Call and push the result; a call with several outcomes ends the handler with them."""
        if forced_break is not None and not self.machine.inside_step and forced_break(frame, frame.pc - 1):
            raise Unsupported(Refusal.FORCED, "a test asks for a break here")
        if (
            isinstance(callee, type)
            and table.handler_for(callee) is None
            and not is_of_debugger(callee)
            and (
                not any(module_of(cls).startswith("weft.") for cls in callee.__mro__)  # a Cell half made cannot wait
            )
        ):
            obj, init = self.make_instance(callee, args, kwargs)
            frame.stack.append(obj)
            return None if init is None else self.end_by(frame, Await.NONE, init, [obj, *args], kwargs)
        return self.end_by(frame, Await.VALUE, callee, args, kwargs)

    def end_by(self, frame: Frame, awaits: Await, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Call as the last act of an instruction, so that the capture may end inside of the call.

        Args:
            frame: the running frame.
            awaits: what it does with the result.
            callee: what is called.
            args: positional arguments.
            kwargs: keyword arguments.

        Returns:
            None, or how the call ended if it did not return: what the instruction's handler returns.
        """
        frame.awaits = awaits
        result = self.call_outcome(callee, args, kwargs)
        if type(result) is not Return:
            return result
        frame.receive(result.value)
        return None

    def call(
        self, callee: Any, args: list[Any], kwargs: dict[str, Any], several: Callable[[Any], Any] | None = None
    ) -> Any:
        """Call where only one outcome can be handled (from inside another operation).

        Args:
            callee: what is called.
            args: positional arguments.
            kwargs: keyword arguments.
            several: makes one value of several outcomes, or refuses them.
        """
        given, before = self.machine.given, len(self.machine.given)
        given += (callee, *args, *kwargs.values())
        try:
            return self._only_outcome(lambda: self.call_outcome(callee, args, kwargs), several or _refuse_several)
        finally:
            del given[before:]

    def run_body(self, body: types.FunctionType, names: dict[str, Any]) -> None:
        """Run the body of a class, which fills a namespace."""
        frame = Frame(body, slots_for(body, []), self.machine.frame, names)
        self._only_outcome(lambda: self.machine.run_call(frame), _refuse_several)

    def _only_outcome(self, run: Callable[[], Any], several: Callable[[Any], Any]) -> Any:
        self.machine.inside_step += 1
        try:
            result = run()
        finally:
            self.machine.inside_step -= 1
        if type(result) is Return:
            return result.value
        return several(result)

    def call_outcome(self, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Call; returns `Return`, or `Alternatives` if the running graph decides how the call ends."""
        kind = type(callee)
        if is_of_debugger(callee):
            raise Unsupported(Refusal.DEBUGGER, "a debugger stops here", "take the call out when it is not needed")
        if kind is types.FunctionType:
            if callee.__code__ in STAND_INS:
                function = self.sources.part(callee, "__weft_inline__", callee.__weft_inline__)
                return self.call_outcome(function, args, kwargs)
            if callee.__code__ in PYTHON_ONLY:
                if module_of_function(callee).startswith("weft.mindir."):
                    raise Unsupported(Refusal.IMPURE_CALL, f"{callee.__qualname__} writes or reads a file")
                raise Unsupported(
                    Refusal.DISABLED,
                    f"{callee.__qualname__} is decorated with jit_disable, so it runs in Python",
                    "call it outside the compiled function, or take the decorator away",
                )
            handler = table.handler_for(callee)
            if handler is not None:
                return Return(handler(self.machine, args, kwargs))
            if self.is_native(callee, args[0] if args else None):
                if module_of_function(callee) in _LOOKING_MODULES:
                    refuse_iterators(args)
                self._refuse_class_writers(callee, (*args, *kwargs.values()))
                ours = is_ours(callee)
                if ours:  # `natively` notices what others call, and `is_native` asked the first argument
                    refuse_callbacks(callee, args[1:] if args and is_asked(args[0]) else args, kwargs)
                args, kwargs = self.given(args, kwargs, ours)
                self.note_native(args, callee.__name__ == "construct")
                self.machine.arrays.refuse_opaque(args, kwargs)
                # without a name for the result: whether it is fresh shows in how often it is referred to
                if not ours:
                    return Return(self._made_by_library(self.machine.native.call((), callee, *args, **kwargs), args))
                stateful = [value for value in (*args, *kwargs.values()) if is_stateful(type(value))]
                with _unchanged(callee, stateful) if stateful else contextlib.nullcontext():
                    return Return(self._made_by_library(callee(*args, **kwargs), args))
            return self.enter(callee, args, kwargs)
        if kind is types.MethodType:
            instance = self.sources.part(callee, "__self__", callee.__self__)
            return self.call_outcome(callee.__func__, [instance, *args], kwargs)
        handler = table.handler_for(callee)
        if handler is not None:
            if not row_of(callee).arrays:
                self.machine.arrays.refuse_opaque(args, kwargs)
            return Return(self.handle(handler, callee, args, kwargs))
        if kind is functools.partial:
            function, first, named = [self.sources.part(callee, n, getattr(callee, n)) for n in PARTIAL]
            return self.call_outcome(function, [*first, *args], {**named, **kwargs})
        if kind in getters.GETTERS:
            return getters.call(self.machine, callee, args, kwargs)
        if isinstance(callee, type):
            return Return(self.construct(callee, args, kwargs))
        if kind is types.GenericAlias:
            made = self.call(callee.__origin__, args, kwargs)
            with contextlib.suppress(AttributeError, TypeError):  # as Python does where there is no such attribute
                self.machine.attributes.set_attr(made, "__orig_class__", callee)
            return Return(made)
        method = self.machine.objects.look_up(kind, "__call__")
        if isinstance(method, types.FunctionType):
            return self.call_outcome(method, [callee, *args], kwargs)
        if method is MISSING:
            return Return(callee(*args, **kwargs))  # Python's own error
        if not hasattr(type(method), "__get__"):
            raise Unsupported(
                Refusal.UNKNOWN_CALL, f"__call__ of {kind.__name__} is an object of class {type(method).__name__}"
            )
        return Return(self.machine.natives.call(callee, args, kwargs))

    def handle(self, handler: Any, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Run the handler of a builtin."""
        if self.machine.natives.is_pure(callee, args, kwargs):
            return self.sources.numbers.pure(callee, args)
        return handler(self.machine, *self.gate.arguments(row_of(callee), args, kwargs))

    def given(self, args: list[Any], kwargs: dict[str, Any], library: bool = False) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of a native call, which may read everything in them.

        Args:
            args: positional arguments.
            kwargs: keyword arguments.
            library: whether the framework's own code is called, whose operations take the call's numbers as they are.
        """
        if library:
            for value in (*args, *kwargs.values()):
                self.sources.inside(value)
            return args, kwargs
        return self.gate.arguments(DEFAULT, args, kwargs)

    # -- entering Python code ------------------------------------------------------------------------------------------

    def is_native(self, function: types.FunctionType, first: Any) -> bool:
        """Whether a Python function runs natively: library code without user code inside."""
        if function.__code__.co_flags & inspect.CO_GENERATOR:  # it runs later, when nobody looks at what it writes
            return False
        module = module_of_function(function)
        package = module.partition(".")[0]
        if package == "weft":
            if function.__code__ in TRANSPARENT or id(function) in self.created:  # made by code that was entered
                return False
            return not self.holds_user_code(first) and not is_stateful(type(first))
        if function.__name__ in ("__setattr__", "__delattr__"):  # what they write is journaled
            return False
        name = function.__qualname__
        return package in NATIVE_PACKAGES and ENTERED.isdisjoint(((module, name), (module, name.partition(".")[0])))

    def holds_user_code(self, obj: Any) -> bool:
        """Whether a library Cell has a user's Cell, hook or function inside, so that its methods must be entered."""
        if not is_asked(obj):
            return False
        found = None if self.journal.wrote_objects else self._asked.get(id(obj))
        if found is None:
            found = obj, bool(obj.__weft_user_code__())
            if id(obj) not in self.created:
                self._asked[id(obj)] = found
        return found[1]

    def takes_variables(self, callee: Any) -> bool:
        """Whether all arguments of a callable become local variables of a function that is interpreted at once."""
        callee = callee.__func__ if type(callee) is types.MethodType else callee
        if type(callee) is not types.FunctionType or is_of_debugger(callee) or self.is_native(callee, None):
            return False
        code = callee.__code__
        if code in STAND_INS or code in PYTHON_ONLY or code in TRANSPARENT or table.handler_for(callee) is not None:
            return False
        return not code.co_flags & _LATER and set(code.co_cellvars).isdisjoint(code.co_varnames)

    def enter(self, function: types.FunctionType, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Run a Python function in the interpreter."""
        if id(function) not in self.created:
            self.sources.function(function)
        arguments = bind(function, args, kwargs)
        if function.__code__.co_flags & inspect.CO_VARKEYWORDS:
            self.machine.made(arguments[-1])
        frame = Frame(function, slots_for(function, arguments), self.machine.frame)
        if frame.decoded.is_generator:
            if frame.decoded.code.co_flags & (0x80 | 0x200):
                raise Unsupported(Refusal.UNSUPPORTED_SYNTAX, "async code cannot be part of a graph")
            while frame.instrs[frame.pc].name != "RETURN_GENERATOR":
                self.machine.execute(frame, frame.pc)  # cells are made before
                frame.pc += 1
            return Return(InterpretedGenerator(frame, self.machine))
        return self.machine.run_call(frame)

    def construct(self, cls: type, args: list[Any], kwargs: dict[str, Any], plainly: bool = False) -> Any:
        """Make an instance, entering the user's `__new__` and `__init__`; `plainly` as `type.__call__` does."""
        obj, init = self.make_instance(cls, args, kwargs, plainly)
        if init is not None:
            check_init(self.call(init, [obj, *args], kwargs))
        return obj

    def make_instance(
        self, cls: type, args: list[Any], kwargs: dict[str, Any], plainly: bool = False
    ) -> tuple[Any, Any]:
        """Make an instance up to the call of the user's `__init__`; returns both, None if there is no such call.

        Args:
            cls: the class.
            args: positional arguments.
            kwargs: keyword arguments.
            plainly: past a `__call__` of the metaclass.
        """
        if hides_class(cls):
            raise of_hidden_class(cls)
        meta_call = None if plainly else self.machine.objects.look_up(type(cls), "__call__")
        if isinstance(meta_call, types.FunctionType) and not self.is_native(meta_call, cls):
            return self.call(meta_call, [cls, *args], kwargs), None
        if isinstance(meta_call, types.FunctionType):  # e.g. an Enum lookup
            missing = class_attribute(cls, "_missing_")
            method = missing.__func__ if isinstance(missing, classmethod) else None
            if isinstance(method, types.FunctionType) and not self.is_native(method, None):
                known = cls.__dict__.get("_value2member_map_", {})
                if len(args) != 1 or kwargs or not (type(args[0]) in (int, str, float) and args[0] in known):
                    raise Unsupported(Refusal.UNKNOWN_CALL, f"{cls.__name__}() may call {method.__qualname__}()")
            args, kwargs = self.given(args, kwargs)  # a flag keeps the numbers that it is made of
            return cls(*args, **kwargs), None
        if class_attribute(cls, "__del__") is not MISSING and module_of(cls) not in PURE_MODULES:
            refuse_lifetimes(f"{cls.__name__} has __del__, which sees how long its objects live")
        new, init = self.machine.objects.look_up(cls, "__new__"), self.machine.objects.look_up(cls, "__init__")
        new = new.__func__ if isinstance(new, staticmethod) else new
        user_new = isinstance(new, types.FunctionType) and not self.is_native(new, None)
        user_init = isinstance(init, types.FunctionType) and not self.is_native(init, None)
        if not user_new and not user_init:
            obj = self.machine.natives.made_by_new(self.machine.natives.construct(cls, args, kwargs))
            if issubclass(type(obj), BaseException):
                self.journal.touch(obj)  # its arguments may be tensors, which have to come out of a branch with it
            return obj, None
        if user_new:
            obj = self.call(new, [cls, *args], kwargs)  # one made here or one that it keeps
        elif new is object.__new__:
            obj = self.machine.made(object.__new__(cls))
        else:
            obj = self.machine.made(
                self.machine.natives.call(new, [cls, *args], {} if issubclass(cls, BaseException) else kwargs)
            )
        kind = type(obj)
        if cls in kind.__mro__:
            init = self.machine.objects.look_up(kind, "__init__")
            if isinstance(init, types.FunctionType) and not self.is_native(init, None):
                return obj, init
            self.call(init, [obj, *args], kwargs)
        return obj, None

    def note_native(self, args: list[Any], computes: bool = True) -> None:
        """Library code is about to use its arguments: guard what it may read, and note what it may write.

        Args:
            args: what it is given.
            computes: whether it computes with a Cell, so that it neither changes the Cell nor asks what is trained.
        """
        first = args[0] if args else None
        versions = mark_of(type(first), "__weft_versions__")
        for cell in versions(first) if versions is not None else ():
            if self.sources.guarded:
                self.sources.library_cell(cell)
            if not computes:
                if self.sources.guarded:
                    self.sources.trained(cell)
                self.journal.touch(cell)

    # -- native callables ----------------------------------------------------------------------------------------------

    def _refuse_class_writers(self, callee: types.FunctionType, args: Sequence[Any]) -> None:
        """Refuse library code that may write to classes from outside or run code of the user's, past the journal."""
        module, name = module_of_function(callee), callee.__name__
        writes = name in _OF_TYPING if module == "typing" else module in _CLASS_MODULES and name not in _CLASS_READERS
        if not writes:
            return
        for value in args:
            if not issubclass(type(value), type):
                continue
            if id(value) not in self.created and is_changeable(value):
                raise Unsupported(
                    Refusal.IMPURE_CALL,
                    f"{callee.__module__}.{callee.__qualname__} may change the class {value.__name__}",
                    "define the class outside the compiled function",
                )
            for name, attribute in vars(value).items():
                getter = class_attribute(type(attribute), "__get__")
                native = isinstance(getter, types.FunctionType) and self.is_native(getter, attribute)
                if not native and getter is not MISSING and not isinstance(getter, types.WrapperDescriptorType):
                    raise Unsupported(
                        Refusal.UNKNOWN_CALL,
                        f"{callee.__module__}.{callee.__qualname__} may call __get__ of {value.__name__}.{name}",
                        "define the class outside the compiled function",
                    )

    def _made_by_library(self, result: Any, args: Sequence[Any]) -> Any:
        """Note what library code returned, and the functions that it put into classes made here."""
        for value in args:
            if issubclass(type(value), type) and id(value) in self.created:
                for attribute in vars(value).values():
                    if isinstance(attribute, types.FunctionType) and not self.sources.is_known(attribute):
                        self.machine.made(attribute)
        if mark_of(type(result), "__weft_parts__", ()) is None:  # it is of this call, whoever holds it
            return self.machine.made(result)
        return self.machine.natives.result_of(result, 2)

    def callback(self, function: Any) -> Any:
        """A callable that native code may call, entered by the interpreter when it does."""
        if function is None or (type(function) is types.MethodDescriptorType and function.__objclass__ is str):
            return function  # the methods of texts read nothing else
        return lambda *args, **kwargs: self.call(function, list(args), kwargs)

    def resume_generator(self, frame: Frame, exception: BaseException | None) -> tuple[bool, Any]:
        """Run a generator's frame until it yields (True, value) or returns (False, value)."""
        frame.caller = self.machine.frame
        self.machine.inside_step += 1
        try:
            result = self.machine.run_frame(frame, exception)
            if not isinstance(result, (Return, Raise, Yield)):
                raise Unsupported(
                    Refusal.TENSOR_CONDITION,
                    "how a generator goes on, or whether it raises, depends on a tensor",
                    "branch outside of the generator",
                )
        except Unsupported as refusal:
            refusal.in_generator = True
            raise
        finally:
            self.machine.inside_step -= 1
        if isinstance(result, Raise):
            raise_as_it_is(result.exception)
        return isinstance(result, Yield), result.value


def _refuse_several(ended: Any) -> NoReturn:
    """The refusal of a call that may end in several ways."""
    raises = any(outcome.label[0] == "raise" for outcome in ended.outcomes)
    what = "whether this call raises" if raises else "which objects this call returns, or leaves changed,"
    raise Unsupported(
        Refusal.TENSOR_CONDITION,
        f"{what} depends on a tensor, and it is made from inside another operation",
        "call it in a statement of its own",
    )


def refuse_iterators(values: list[Any]) -> None:
    """Refuse the capture's own iterators, which are not what they stand for to native code that looks into them."""
    for value in values:
        if isinstance(value, Journaled) and hasattr(value, "stands_for"):
            raise Unsupported(
                Refusal.UNKNOWN_CALL,
                f"a {value.stands_for.__name__} is looked into while capturing",
                "call it outside the compiled function",
            )


def bind(function: types.FunctionType, args: list[Any], kwargs: dict[str, Any]) -> list[Any]:
    """The values of a function's parameters for a call, in the order of its fast locals.

    Raises:
        TypeError: as the call itself would.
    """
    code = function.__code__
    count, keyword_only, flags = code.co_argcount, code.co_kwonlyargcount, code.co_flags
    if not kwargs and len(args) == count and not keyword_only and not flags & _VARIADIC:
        return list(args)
    values = _matched(function, args, kwargs)
    if values is None:
        function(*args, **kwargs)  # raises Python's own message before any code of the function runs
        raise TypeError(f"{function.__qualname__}() cannot be called with these arguments")
    return values


def _matched(function: types.FunctionType, args: list[Any], kwargs: dict[str, Any]) -> list[Any] | None:
    """The values of a function's parameters, None if the arguments do not fit."""
    code = function.__code__
    count, positional_only = code.co_argcount, code.co_posonlyargcount
    named = code.co_varnames[: count + code.co_kwonlyargcount]
    takes_more, takes_names = bool(code.co_flags & 4), bool(code.co_flags & 8)
    values = [*args[:count], *[MISSING] * (len(named) - min(len(args), count))]
    if len(args) > count and not takes_more:
        return None
    others: dict[str, Any] = {}
    for name, value in kwargs.items():
        position = named.index(name, positional_only) if name in named[positional_only:] else -1
        if position < 0:
            if not takes_names:
                return None
            others[name] = value
        elif values[position] is not MISSING:
            return None
        else:
            values[position] = value
    defaults = function.__defaults__ or ()
    by_name = function.__kwdefaults__ or {}
    for position, name in enumerate(named):
        if values[position] is MISSING:
            from_end = count - position
            if 0 < from_end <= len(defaults):
                values[position] = defaults[-from_end]
            elif from_end <= 0 and name in by_name:
                values[position] = by_name[name]
            else:
                return None
    if takes_more:
        values.append(tuple(args[count:]))
    if takes_names:
        values.append(others)
    return values


@contextlib.contextmanager
def _unchanged(callee: types.FunctionType, given: Sequence[Any]) -> Iterator[None]:
    """Refuse library code that writes to objects of the library that it is given, past the journal."""
    before = [(value, dict(vars(value))) for value in given]
    yield
    for value, attributes in before:
        now = vars(value)
        if now.keys() != attributes.keys() or any(now[name] is not held for name, held in attributes.items()):
            now.clear()
            now.update(attributes)
            raise Unsupported(
                Refusal.IMPURE_CALL, f"{callee.__qualname__} writes to a {type(value).__name__} that it is given"
            )
