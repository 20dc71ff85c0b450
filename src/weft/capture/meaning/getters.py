"""What C code would read or call on behalf of the program, entered instead: getters of `operator`, factories, checks.

In C these read attributes and items past the interpreter, so that nothing would guard what they read.
"""

from __future__ import annotations

import abc
import functools
import inspect
import itertools
import operator
import types
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from weft.capture.meaning.iterators import BufferedIterator, refuse_look
from weft.capture.meaning.table import handles
from weft.capture.python.classes import bound_by_class, class_attribute, is_changeable
from weft.capture.python.namespaces import class_namespace
from weft.capture.sources.known import SCALARS
from weft.capture.state.frame import Return
from weft.capture.state.journal import Journaled
from weft.core.run_number import settled
from weft.errors import Refusal, Unsupported

if TYPE_CHECKING:
    from weft.capture.meaning.parts import Machine

GETTERS: Final = (operator.attrgetter, operator.itemgetter, operator.methodcaller)
#: callables in C of which `__call__` is only another way to call them
CALLED: Final = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.MethodWrapperType,
    types.MethodDescriptorType, types.WrapperDescriptorType, functools.partial, *GETTERS,
)  # fmt: skip


def call(machine: Machine, getter: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Call an `attrgetter`, `itemgetter` or `methodcaller`: the outcome, as of any call."""
    if len(args) != 1 or kwargs:
        return Return(getter(*args, **kwargs))  # Python's own error
    made, given = getter.__reduce__()[:2]
    named: dict[str, Any] = {}
    if isinstance(made, functools.partial):  # a `methodcaller` with arguments by name
        given, named = (*made.args, *given), made.keywords
    if machine.sources.is_known(getter) and not all(map(_is_constant, (*given, *named.values()))):
        raise Unsupported(
            Refusal.UNKNOWN_CALL,
            f"this {type(getter).__name__} from outside holds objects that may change",
            "make it in the compiled function",
        )
    (obj,) = args
    if type(getter) is operator.methodcaller:
        name, *others = given
        method = machine.attributes.get_attr(obj, name)
        return machine.calls.call_outcome(method, [*others], dict(named))
    by_name = type(getter) is operator.attrgetter
    found = [_attribute(machine, obj, key) if by_name else machine.objects.get_item(obj, key) for key in given]
    return Return(found[0] if len(found) == 1 else tuple(found))


def _attribute(machine: Machine, obj: Any, path: str) -> Any:
    """The attribute at a dotted path."""
    for name in path.split("."):
        obj = machine.attributes.get_attr(obj, name)
    return obj


def _is_constant(value: Any) -> bool:
    if type(value) is slice:
        return all(map(_is_constant, (value.start, value.stop, value.step)))
    return all(map(_is_constant, value)) if type(value) is tuple else isinstance(value, SCALARS)


def missing_item(machine: Machine, obj: Any, key: Any) -> Any:
    """What a dictionary with `__missing__` has for a key that it does not hold: that is called like any function."""
    own = machine.objects.user_method(obj, "__missing__")
    if own is not None:
        return machine.calls.call(own, [obj, key], {})
    if class_attribute(type(obj), "__missing__") is not _MISSING:
        return machine.made(obj[key])
    factory = machine.attributes.get_attr(obj, "default_factory")
    if factory is None:
        raise KeyError(key)
    value = machine.calls.call(factory, [], {})
    machine.objects.set_item(obj, key, value)
    return value


_MISSING: Final = defaultdict.__dict__["__missing__"]


@handles(bound_by_class)
def _bound_by_class(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    machine.objects.look_up(type(args[0]), args[1])
    found = machine.attributes.special_method(*args)
    return bound_by_class(*args) if found is None else found


# -- relations of classes --------------------------------------------------------------------------------------------


@handles(issubclass)
def _issubclass(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    value, kinds = args
    if isinstance(kinds, tuple):
        for kind in kinds:
            found = _issubclass(machine, [value, kind], {})
            if found is not False:
                return found
        return False
    machine.sources.inside(kinds)
    check = class_attribute(type(kinds), "__subclasscheck__")
    if isinstance(check, types.FunctionType) and not machine.calls.is_native(check, kinds):
        machine.objects.look_up(type(kinds), "__subclasscheck__")
        return machine.objects.truth(machine.calls.call(check, [kinds, value], {}))
    found = machine.native.call((), issubclass, value, kinds)
    machine.sources.subclass(value, kinds, found)
    return found


@handles(abc.ABCMeta.__subclasscheck__)
def _subclasscheck(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    kinds, value = args
    found = abc.ABCMeta.__subclasscheck__(kinds, value)
    machine.sources.subclass(value, kinds, found, abc.ABCMeta.__subclasscheck__)
    return found


@handles(abc.ABCMeta.__instancecheck__)
def _instancecheck(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    kinds, value = args
    kind = machine.calls.call(type, [value], {})
    return machine.calls.call(abc.ABCMeta.__subclasscheck__, [kinds, kind], {})


# -- looks at everything ---------------------------------------------------------------------------------------------


def _refuse_namespaces(name: str, args: list[Any]) -> None:
    """Refuse a function that looks at all names of a module or of a class of the program's."""
    for value in args:
        kind = type(value)
        if kind is types.ModuleType or is_changeable(value if issubclass(kind, type) else kind):
            raise Unsupported(
                Refusal.UNKNOWN_CALL,
                f"{name}() looks at all names of a {kind.__name__}, which may be given others",
                "call it outside the compiled function",
            )


@handles(dir)
def _dir(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if not args:
        return machine.made(sorted(machine.local_variables()))
    own = machine.objects.user_method(args[0], "__dir__")
    if own is not None:
        return machine.made(sorted(machine.iteration.get_iter(machine.calls.call(own, args, {}))))
    if isinstance(args[0], Journaled):
        refuse_look(args[0], "dir()")
    kind = type(args[0])
    if kind is types.ModuleType:
        _refuse_namespaces("dir", args)
    for cls in (args[0] if issubclass(kind, type) else kind).__mro__:
        if is_changeable(cls) and id(cls) not in machine.created:
            machine.sources.class_namespace(cls, "__dict__", dict(class_namespace(cls)))
    return machine.native.call(args, dir, *settled(args))


def _looking(function: Any) -> Any:
    def handler(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
        _refuse_namespaces(function.__qualname__, [*args, *kwargs.values()])
        return function(*args, **kwargs)

    return handler


for _function in (inspect.getattr_static, inspect.getmembers, inspect.getmembers_static):
    handles(_function)(_looking(_function))


# -- iterators -------------------------------------------------------------------------------------------------------


@handles(itertools.chain.from_iterable)
def _from_iterable(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if len(args) != 1 or kwargs:
        return itertools.chain.from_iterable(*args, **kwargs)  # Python's own error
    parts = map(machine.iteration.get_iter, machine.iteration.get_iter(args[0]))
    return BufferedIterator(machine, itertools.chain.from_iterable(parts))
