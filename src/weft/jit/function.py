"""What a decorated function is: a real Python function that finds the entries of each call."""

from __future__ import annotations

import dis
import functools
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any, Final

from weft import context
from weft.capture.leaving.entry import MISS
from weft.capture.leaving.tracebacks import hide_runtime
from weft.capture.state import events
from weft.core import trace as trace_module
from weft.core.frames import passed_over
from weft.core.transparency import STAND_INS
from weft.jit import compiled as compiled_module
from weft.jit.compiled import Compiled, is_eager
from weft.jit.instances import Instances, owns_entries
from weft.jit.options import Options
from weft.parallel import rows


class Variants:
    """The entries of one function under one value of its `hash_args`: shared ones, and those of each instance."""

    __slots__ = ("shared", "instances", "fast_call")

    def __init__(self, make: Callable[[Any], Compiled]) -> None:
        self.shared = make(None)
        self.instances = Instances(make)
        self.fast_call = self.instances.fast_call()

    def all(self) -> list[Compiled]:
        """The shared entries and those of each instance."""
        return [self.shared, *self.instances.all()]


@passed_over
class Dispatcher:
    """Finds the entries of a call to a decorated function.

    Args:
        function: the function as the user wrote it.
        options: see `Options`.
    """

    __weft_remembers__ = ("variants", "lock", "compiled", "latest")

    def __init__(self, function: Callable[..., Any], options: Options) -> None:
        self.function = function
        self.options = options
        self.name = name_of(function)
        self.variants: dict[Any, Variants] = {}
        #: reentrant: a collection under it may run the user's `__del__`
        self.lock = threading.RLock()
        first = self.variants[self._key()] = self._variants()
        self.compiled = first.shared
        # a call that depends on more than its arguments, or checks them, takes the careful path each time
        plain = not options.hash_args and not options.compile_once and options.signature is None
        self.latest: dict[int, Callable[..., Any]] = self.compiled.latest if plain else {}
        self.plain = plain
        #: `vmap` of the function, compiled; None until it is mapped in eager code
        self.mapped: Callable[..., Any] | None = None
        if options.compile_once and isinstance(function, types.FunctionType):
            _first_of_code.setdefault(self._code_key(), self)

    def _variants(self) -> Variants:
        function, options, name = self.function, self.options, self.name

        def make(_: Any) -> Compiled:
            made = Compiled(function, options.guarded, name, fullgraph=options.fullgraph)
            if options.hash_args:
                made.program.unkept = "it also depends on hashes (hash_args), which another process need not share"
            return made

        return Variants(make)

    def _key(self) -> Any:
        return tuple(map(hash, self.options.hash_args))

    def _code_key(self) -> Any:
        return (self.function.__code__, self.options.guarded, self.options.fullgraph)

    def loaded_again(self, other: Dispatcher) -> Dispatcher:
        """Which of two to follow after a decorated function was given the attributes of another one.

        Whoever loads a module again may give them to the functions that it had before. Of functions that are not of one
        name, attributes are copied for their looks.
        """
        mine, new = self.function, other.function
        same = all(getattr(mine, n, None) == getattr(new, n, self) for n in ("__module__", "__qualname__"))
        return other if same and "<" not in getattr(mine, "__qualname__", "<") else self

    def histories(self) -> list[events.History]:
        """What happened to the entries."""
        return [compiled.history for variants in tuple(self.variants.values()) for compiled in variants.all()]

    def is_absent(self) -> bool:
        """Whether the function now runs as if it were not decorated."""
        if is_eager() or trace_module.current() is not None:
            return True
        return self.options.absent_in_graph_mode and context.MODE == context.GRAPH_MODE

    def entries_for(self, args: tuple[Any, ...]) -> Compiled:
        """The entries for calls with these positional arguments."""
        owner = self
        if self.options.compile_once and isinstance(self.function, types.FunctionType):
            first = _first_of_code[self._code_key()]
            if first is not self and _sees_the_same(first.function, self.function):  # type: ignore[arg-type]
                owner = first
        key = self._key()
        variants = owner.variants.get(key)
        if variants is None:
            with owner.lock:
                variants = owner.variants.setdefault(key, owner._variants())
        if not args or not owns_entries(type(args[0]), self.function):
            return variants.shared
        with owner.lock:
            found = variants.instances.of(args[0])
        if self.plain:
            self.latest[len(args)] = variants.fast_call
        return found

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the function: run the entry that fits, capturing one if there is none."""
        if self.is_absent():
            return self.function(*args, **kwargs)
        return rows.call(self._run, args, kwargs) if rows.MANY else self._run(args, kwargs)

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        trace_module.await_others()
        if self.options.signature is not None:
            self.options.signature.check(self.function, args, kwargs)
        return self.entries_for(args).call(args, kwargs)


#: the first function made from some code with `compile_once`
_first_of_code: dict[Any, Dispatcher] = {}
#: `id` of a function as the user wrote it -> the last dispatcher made for it, which keeps the function
original_dispatchers: weakref.WeakValueDictionary[int, Dispatcher] = weakref.WeakValueDictionary()


def _sees_the_same(one: types.FunctionType, other: types.FunctionType) -> bool:
    """Whether either of two functions of the same code could run for the other at this moment."""
    if one.__globals__ is not other.__globals__ or not _equal(one.__defaults__, other.__defaults__):
        return False
    if not _equal(one.__kwdefaults__, other.__kwdefaults__):
        return False
    if one.__closure__ == other.__closure__:
        return True
    if _writes_outer_variables(one.__code__, frozenset(one.__code__.co_freevars)):
        return False  # each function has variables of its own
    cells = zip(one.__closure__ or (), other.__closure__ or (), strict=True)
    try:
        return all(_equal(a.cell_contents, b.cell_contents) for a, b in cells)
    except ValueError:  # a variable has no value yet
        return False


def _equal(one: Any, other: Any) -> bool:
    """Whether two values are the same object, or immutable and alike."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_equal, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(map(_equal, one.values(), other.values()))
    return isinstance(one, (bool, int, float, complex, str, bytes)) and repr(one) == repr(other)


@functools.cache
def _writes_outer_variables(code: types.CodeType, names: frozenset[str]) -> bool:
    """Whether code, or code inside it, writes variables of an enclosing function."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("STORE_DEREF", "DELETE_DEREF") and instruction.argval in names:
            return True
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return any(_writes_outer_variables(part, names & frozenset(part.co_freevars)) for part in inner)


def name_of(function: Any) -> str:
    """The name of a callable in graphs and reports."""
    while isinstance(function, functools.partial):
        function = function.func
    found = getattr(function, "__name__", None)
    return found if isinstance(found, str) else type(function).__name__


@passed_over
def dispatched(function: Callable[..., Any], options: Options) -> Callable[..., Any]:
    """The decorated form of a callable.

    A real function binds as a method, is pickled by reference and satisfies `inspect`, as users expect of a decorated
    function. It also costs 30 ns less a call than an object with `__call__`, and as a method 120 ns less than a
    descriptor of our own would.

    Args:
        function: a function, or another callable.
        options: see `Options`.
    """
    own = original_dispatchers[id(function)] = Dispatcher(function, options)
    in_any_mode = not options.absent_in_graph_mode

    def compiled_function(*args: Any, **kwargs: Any) -> Any:
        dispatcher = made.__weft_dispatcher__
        if dispatcher is not own:
            dispatcher = own.loaded_again(dispatcher)
        try:
            if not kwargs and not compiled_module.careful and (in_any_mode or context.MODE):
                run = dispatcher.latest.get(len(args))
                if run is not None:
                    result = run(*args)
                    if result is not MISS:
                        return result
            return dispatcher.call(args, kwargs)
        except BaseException as error:
            hide_runtime(error)
            raise

    def report() -> Any:
        """Everything that happened to this function so far: graphs, breaks, recompiles (see `weft.explain`)."""
        return events.report_of(made)

    made = stand_in(compiled_function, function, compiled=own.compiled, report=report, __weft_dispatcher__=own)
    return made


def stand_in(made: Any, function: Any, **attributes: Any) -> Any:
    """Give a function the looks of the callable that it stands for.

    Args:
        made: the function that is called instead.
        function: the callable.
        attributes: further attributes of `made`.
    """
    if isinstance(function, types.FunctionType):
        functools.update_wrapper(made, function)
        made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    else:
        functools.update_wrapper(made, function, updated=())
        made.__name__ = made.__qualname__ = name_of(function)
    made.__weft_inline__ = function
    for name, value in attributes.items():
        setattr(made, name, value)
    return made


#: the code that all decorated functions share: capture enters what they stand for
_CODE: Final = dispatched(len, Options()).__code__
STAND_INS.add(_CODE)


def is_compiled(function: Any) -> bool:
    """Whether an object is a function made by `jit` (a function that wraps one is not)."""
    return isinstance(function, types.FunctionType) and function.__code__ is _CODE


def dispatcher_of(function: Any) -> Dispatcher | None:
    """The dispatcher behind a function made by `jit`, or behind a method that is bound to it; else None."""
    if isinstance(function, types.MethodType):
        function = function.__func__
    return function.__weft_dispatcher__ if is_compiled(function) else None


def compiled_of(function: Any) -> Compiled | None:
    """The entries behind a decorated function; those of the instance for a bound method; None for anything else.

    Example:
        >>> from weft import jit
        >>> compiled_of(jit(lambda x: x)).name
        '<lambda>'
    """
    dispatcher = dispatcher_of(function)
    if dispatcher is None:
        return None
    return dispatcher.entries_for((function.__self__,) if isinstance(function, types.MethodType) else ())
