"""Calls: which callables are entered, which run natively at capture time, and which are refused."""

from __future__ import annotations

import copyreg
import functools
import inspect
import types
from collections import deque
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from weft.capture import builtins as table
from weft.capture.access import MISSING, class_attribute
from weft.capture.frame import Frame, Raise, Return, slots_for
from weft.capture.iterators import InterpretedGenerator
from weft.capture.journal import Journaled
from weft.capture.lazytext import LazyText
from weft.core.primitive import Primitive
from weft.core.tensor import Tensor
from weft.core.transparency import TRANSPARENT
from weft.errors import Refusal, Unsupported

if TYPE_CHECKING:
    from weft.capture.interpreter import Interpreter

#: packages whose Python functions run natively: they hold no code that must be captured
_NATIVE_PACKAGES: Final = frozenset(
    {
        "numpy", "jax", "jaxlib", "scipy", "re", "enum", "abc", "typing", "types", "string",
        "textwrap", "json", "fractions", "decimal", "numbers", "collections", "dataclasses", "inspect", "reprlib",
        "operator", "math", "warnings", "linecache", "keyword", "weakref", "_weakrefset", "_collections_abc",
        "importlib", "ml_dtypes", "builtins", "heapq", "bisect", "statistics",
    }
)  # fmt: skip
#: modules of C functions that depend on nothing but their arguments
_PURE_MODULES: Final = frozenset(
    {
        "builtins", "math", "cmath", "_operator", "operator", "itertools", "functools", "_functools", "collections",
        "_collections", "_collections_abc", "re", "_sre", "string", "_string", "struct", "_struct", "binascii",
        "unicodedata", "_bisect", "_heapq", "copy", "types", "typing", "_typing", "_abc", "enum", "numpy",
        "ml_dtypes", "weakref", "_weakref", "_thread", "_stat", "array", "_statistics",
    }
)  # fmt: skip
_MUTABLE: Final = (list, dict, set, deque, bytearray)
_PARTIAL: Final = ("func", "args", "keywords")
_NEW_ARGUMENTS: Final = ("__getnewargs__", "__getnewargs_ex__")
_METHOD_KINDS: Final = (types.BuiltinMethodType, types.MethodWrapperType)
_DESCRIPTOR_KINDS: Final = (
    types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType
)  # fmt: skip


class Calls:
    """The part of the interpreter that calls."""

    def call_and_push(self: Interpreter, frame: Frame, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Call and push the result; a call with several outcomes ends the handler with them."""
        result = self.call_outcome(callee, args, kwargs)
        if result.__class__ is Return:
            frame.stack.append(result.value)
            return None
        return result

    def call(self: Interpreter, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Call where only one outcome can be handled (from inside another operation)."""
        result = self.call_outcome(callee, args, kwargs)
        if result.__class__ is Return:
            return result.value
        raise Unsupported(
            Refusal.TENSOR_CONDITION,
            "whether this call raises depends on a tensor, and it is made from inside another operation",
            "call it in a statement of its own",
        )

    def call_outcome(self: Interpreter, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Call; returns `Return`, or `Alternatives` if the running graph decides how the call ends."""
        kind = type(callee)
        if kind is types.FunctionType:
            if self.is_native(callee, args[0] if args else None):
                handler = table.handler_for(callee)
                if handler is not None:
                    return Return(handler(self, args, kwargs))
                self.note_native(args)
                return Return(callee(*args, **kwargs))
            return self.enter(callee, args, kwargs)
        if kind is types.MethodType:
            instance = self.sources.part(callee, "__self__", callee.__self__)
            return self.call_outcome(callee.__func__, [instance, *args], kwargs)
        handler = table.handler_for(callee)
        if handler is not None:
            return Return(handler(self, args, kwargs))
        if kind is functools.partial:
            function, first, named = [self.sources.part(callee, n, getattr(callee, n)) for n in _PARTIAL]
            return self.call_outcome(function, [*first, *args], {**named, **kwargs})
        if isinstance(callee, type):
            return Return(self.construct(callee, args, kwargs))
        inlined = getattr(callee, "__weft_inline__", None)
        if inlined is not None:
            return self.call_outcome(self.sources.part(callee, "__weft_inline__", inlined), args, kwargs)
        method = class_attribute(kind, "__call__")
        if isinstance(method, types.FunctionType):
            return self.call_outcome(method, [callee, *args], kwargs)
        return Return(self.call_native(callee, args, kwargs))

    # -- entering Python code ------------------------------------------------------------------------------------------

    def is_native(self: Interpreter, function: types.FunctionType, first: Any) -> bool:
        """Whether a Python function runs natively: library code without user code inside."""
        module = function.__module__
        if module is None:
            return False
        package = module.partition(".")[0]
        if package == "weft":
            if function.__code__ in TRANSPARENT:
                return False
            return not self.holds_user_code(first)
        return package in _NATIVE_PACKAGES

    def holds_user_code(self: Interpreter, obj: Any) -> bool:
        """Whether a library Cell has a user's Cell, hook or function inside, so that its methods must be entered."""
        marker = getattr(type(obj), "__weft_user_code__", None)
        return marker is not None and bool(marker(obj))

    def enter(self: Interpreter, function: types.FunctionType, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Run a Python function in the interpreter."""
        if id(function) not in self.created:
            self.sources.function(function)
        arguments = bind(function, args, kwargs)
        frame = Frame(function, slots_for(function, arguments), self.frame)
        if frame.decoded.is_generator:
            if frame.decoded.code.co_flags & (0x80 | 0x200):
                raise Unsupported(Refusal.UNSUPPORTED_SYNTAX, "async code cannot be part of a graph")
            while frame.instrs[frame.pc].name != "RETURN_GENERATOR":
                self.execute(frame, frame.pc)  # cells are made before
                frame.pc += 1
            return Return(InterpretedGenerator(frame, self.resume_generator, self.journal))
        return self.run_call(frame)

    def construct(self: Interpreter, cls: type, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Make an instance, entering the user's `__new__` and `__init__`."""
        meta_call = class_attribute(type(cls), "__call__")
        if isinstance(meta_call, types.FunctionType) and not self.is_native(meta_call, cls):
            return self.call(meta_call, [cls, *args], kwargs)
        if isinstance(meta_call, types.FunctionType):  # e.g. an Enum lookup
            return cls(*args, **kwargs)
        new, init = class_attribute(cls, "__new__"), class_attribute(cls, "__init__")
        new = new.__func__ if isinstance(new, staticmethod) else new
        user_new = isinstance(new, types.FunctionType) and not self.is_native(new, None)
        user_init = isinstance(init, types.FunctionType) and not self.is_native(init, None)
        if not user_new and not user_init:
            obj = self.made(self.call_native_class(cls, args, kwargs))
            if isinstance(obj, BaseException):
                self.journal.touch(obj)  # its arguments may be tensors, which have to come out of a branch with it
            return obj
        if user_new:
            obj = self.call(new, [cls, *args], kwargs)
        elif new is object.__new__:
            obj = object.__new__(cls)
        elif issubclass(cls, BaseException):
            obj = cls.__new__(cls, *args)
        else:
            obj = cls.__new__(cls, *args, **kwargs)
        self.made(obj)
        if isinstance(obj, cls):
            if user_init:
                if self.call(init, [obj, *args], kwargs) is not None:
                    raise TypeError("__init__() should return None")
            else:
                type(obj).__init__(obj, *args, **kwargs)
        return obj

    def call_native_class(self: Interpreter, cls: type, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Make an instance of a class without Python code of the user's in its construction."""
        package = (cls.__module__ or "").partition(".")[0]
        if (
            cls.__flags__ & (1 << 9)
            or package == "weft"
            or package in _NATIVE_PACKAGES
            or cls.__module__ in _PURE_MODULES
        ):
            return cls(*[self.iterable_argument(a) for a in args], **kwargs)
        raise Unsupported(
            Refusal.UNKNOWN_CALL,
            f"weft cannot look into {cls.__module__}.{cls.__qualname__}()",
            "create the object outside the compiled function and pass it in",
        )

    def note_native(self: Interpreter, args: list[Any]) -> None:
        """Library code is about to read from its arguments: guard what it may read."""
        first = args[0] if args else None
        versions = getattr(type(first), "__weft_versions__", None)
        if versions is not None and self.sources.guarded:
            for cell in versions(first):
                self.sources.version(cell)

    # -- native callables ----------------------------------------------------------------------------------------------

    def iterable_argument(self: Interpreter, value: Any) -> Any:
        """An argument that native code may iterate: user-defined iterables are entered through an iterator."""
        if self.user_method(value, "__iter__") is not None or self.user_method(value, "__next__") is not None:
            return self.get_iter(value)
        return value

    def call_native(self: Interpreter, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Call a C function or method at capture time if it is known to be harmless."""
        owner = getattr(callee, "__self__", None)
        if isinstance(callee, _DESCRIPTOR_KINDS):
            return self._call_descriptor(callee, args, kwargs)
        if isinstance(callee, _METHOD_KINDS) and owner is not None and not isinstance(owner, types.ModuleType):
            return self._call_method(callee, owner, args, kwargs)
        if isinstance(callee, (np.ufunc, Primitive)) or isinstance(owner, type):
            result = callee(*args, **kwargs)
            return self.made(result) if getattr(callee, "__name__", "") == "__new__" else result
        module: Any = getattr(callee, "__module__", None) or getattr(type(callee), "__module__", "")
        if module in _PURE_MODULES or (
            (module or "").partition(".")[0] in ("numpy", "weft") and "random" not in module
        ):
            self._refuse_lazy_text(args)
            return self.made_if_fresh(callee(*[self.iterable_argument(a) for a in args], **kwargs))
        if not callable(callee):
            raise TypeError(f"'{type(callee).__name__}' object is not callable")
        raise Unsupported(
            Refusal.UNKNOWN_CALL,
            f"weft cannot look into {_describe(callee)}: it does not know what the call depends on or changes",
            "call it outside the compiled function and pass the result in",
        )

    def _call_descriptor(self: Interpreter, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if callee.__name__ == "__setattr__" and len(args) == 3:
            return self.set_attr_plainly(*args)
        if args and isinstance(args[0], _MUTABLE):
            self.journal.touch(args[0])
        return self.made_if_fresh(callee(args[0], *[self.iterable_argument(a) for a in args[1:]], **kwargs))

    def _call_method(self: Interpreter, callee: Any, owner: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        name = callee.__name__
        if name == "__setattr__":
            return self.set_attr_plainly(owner, *args)
        if name == "__init__":
            self.touch_if_mutable(owner)
            return callee(*args, **kwargs)
        if name in ("__reduce_ex__", "__reduce__") and not isinstance(owner, Tensor):
            return self._reduce(callee, owner, args)
        if isinstance(owner, _MUTABLE):
            self.journal.touch(owner)
            if name == "sort" and kwargs.get("key") is not None:
                kwargs = {**kwargs, "key": self.callback(kwargs["key"])}
        elif isinstance(owner, str):
            if name == "join" and len(args) == 1:
                return LazyText.join(list(self.get_iter(args[0])), owner)
            if name == "format" and any(
                isinstance(a, Tensor) and self.is_runtime(a) for a in (*args, *kwargs.values())
            ):
                return table.format_text(self, owner, args, kwargs)
        elif not isinstance(owner, (Tensor, Journaled)) and type(owner).__module__ not in _PURE_MODULES:
            package = (type(owner).__module__ or "").partition(".")[0]
            if package not in _NATIVE_PACKAGES or "random" in type(owner).__module__:
                raise Unsupported(
                    Refusal.UNKNOWN_CALL,
                    f"weft cannot look into {_describe(callee)}: it does not know what the call depends on or changes",
                    "call it outside the compiled function and pass the result in",
                )
        return self.made_if_fresh(callee(*[self.iterable_argument(a) for a in args], **kwargs))

    def _reduce(self: Interpreter, callee: Any, owner: Any, args: list[Any]) -> Any:
        """What an object is copied from: its own `__reduce__`, or all its attributes."""
        own = self.user_method(owner, "__reduce__")
        if own is not None:
            return self.call(own, [owner], {})
        for attribute, value in getattr(owner, "__dict__", {}).items():
            self.sources.attribute(owner, attribute, value)
        state = self.user_method(owner, "__getstate__")
        if state is None:
            return callee(*args)
        arguments = any(class_attribute(type(owner), n) is not MISSING for n in _NEW_ARGUMENTS)
        if arguments or isinstance(owner, (list, dict)):
            raise Unsupported(
                Refusal.UNKNOWN_CALL,
                f"{type(owner).__name__} is copied by __getstate__ together with other special methods",
                "define __copy__ and __deepcopy__",
            )
        return copyreg.__newobj__, (type(owner),), self.call(state, [owner], {})  # type: ignore[attr-defined]

    def _refuse_lazy_text(self: Interpreter, args: list[Any]) -> None:
        for value in args:
            if isinstance(value, LazyText):
                str(value)

    def callback(self: Interpreter, function: Any) -> Any:
        """A callable that native code may call, entered by the interpreter when it does."""
        if function is None or isinstance(function, (types.BuiltinFunctionType, type(str.lower))):
            return function
        return lambda *args, **kwargs: self.call(function, list(args), kwargs)

    def resume_generator(self: Interpreter, frame: Frame, exception: BaseException | None) -> tuple[bool, Any]:
        """Run a generator's frame until it yields (True, value) or returns (False, value)."""
        frame.caller = self.frame
        result = self.run_frame(frame, exception)
        if isinstance(result, Return):
            return False, result.value
        if isinstance(result, Raise):
            raise result.exception
        value = getattr(result, "value", None)
        return True, value


def bind(function: types.FunctionType, args: list[Any], kwargs: dict[str, Any]) -> list[Any]:
    """The values of a function's parameters for a call, in the order of its fast locals.

    Raises:
        TypeError: as the call itself would.
    """
    code = function.__code__
    count = code.co_argcount
    if not kwargs and len(args) == count and not code.co_kwonlyargcount and not code.co_flags & 12:
        return list(args)
    try:
        bound = _signature(function).bind(*args, **kwargs)
    except TypeError:
        function(*args, **kwargs)  # raises Python's own message before any code of the function runs
        raise
    bound.apply_defaults()
    given = bound.arguments
    names = code.co_varnames[: count + code.co_kwonlyargcount]
    values = [given[_valid(name)] for name in names]
    position = len(names)
    for flag in (4, 8):
        if code.co_flags & flag:
            values.append(given[code.co_varnames[position]])
            position += 1
    return values


def _signature(function: types.FunctionType) -> inspect.Signature:
    """The signature from the code and defaults alone (`__wrapped__` and `__signature__` do not matter here)."""
    code = function.__code__
    names = code.co_varnames
    count, keyword_only = code.co_argcount, code.co_kwonlyargcount
    defaults = function.__defaults__ or ()
    keyword_defaults = function.__kwdefaults__ or {}
    parameters = []
    for i, name in enumerate(names[:count]):
        kind = (
            inspect.Parameter.POSITIONAL_ONLY
            if i < code.co_posonlyargcount
            else inspect.Parameter.POSITIONAL_OR_KEYWORD
        )
        from_end = count - i
        default = defaults[-from_end] if from_end <= len(defaults) else inspect.Parameter.empty
        parameters.append(inspect.Parameter(_valid(name), kind, default=default))
    position = count + keyword_only
    if code.co_flags & 4:
        parameters.append(inspect.Parameter(names[position], inspect.Parameter.VAR_POSITIONAL))
        position += 1
    for name in names[count : count + keyword_only]:
        default = keyword_defaults.get(name, inspect.Parameter.empty)
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default))
    if code.co_flags & 8:
        parameters.append(inspect.Parameter(names[position], inspect.Parameter.VAR_KEYWORD))
    return inspect.Signature(parameters)


def _valid(name: str) -> str:
    """Comprehensions and generator expressions name their argument `.0`."""
    return name.replace(".", "implicit")


def _describe(callee: Any) -> str:
    name = getattr(callee, "__qualname__", None) or type(callee).__qualname__
    module = getattr(callee, "__module__", None) or type(getattr(callee, "__self__", callee)).__module__
    return f"{module}.{name}" if module and module != "builtins" else str(name)
