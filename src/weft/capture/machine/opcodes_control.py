"""What the instructions of calls, jumps, exceptions and `match` do to a frame."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from weft.capture.code.instructions import Instr
from weft.capture.machine.handlers import HANDLERS, handles
from weft.capture.meaning import matching
from weft.capture.meaning.iterators import OutsideIterator
from weft.capture.python.exceptions import function_text, set_context
from weft.capture.state.frame import NULL, Await, Fork, Frame, Return, Yield
from weft.errors import Refusal, Unsupported

if TYPE_CHECKING:
    from weft.capture.meaning.parts import Machine

# -- functions and calls -------------------------------------------------------------------------------------------


@handles("MAKE_FUNCTION")
def _make_function(machine: Machine, frame: Frame, instr: Instr) -> None:
    stack, flags = frame.stack, instr.arg or 0
    code = stack.pop()
    closure = stack.pop() if flags & 8 else None
    annotations = stack.pop() if flags & 4 else None
    keyword_defaults = stack.pop() if flags & 2 else None
    defaults = stack.pop() if flags & 1 else None
    if closure is None and code.co_freevars:  # SET_FUNCTION_ATTRIBUTE gives the closure
        closure = tuple(types.CellType() for _ in code.co_freevars)
    function = types.FunctionType(code, frame.globals, code.co_name, defaults, closure)
    function.__kwdefaults__ = keyword_defaults
    if annotations:
        function.__annotations__ = machine.made(dict(zip(annotations[::2], annotations[1::2], strict=True)))
    function.__qualname__ = code.co_qualname
    stack.append(machine.made(function))


@handles("SET_FUNCTION_ATTRIBUTE")
def _set_function_attribute(machine: Machine, frame: Frame, instr: Instr) -> None:
    function = frame.stack.pop()
    value = frame.stack.pop()
    match instr.arg:
        case 1:
            function.__defaults__ = value
        case 2:
            function.__kwdefaults__ = value
        case 4:
            function.__annotations__ = machine.made(dict(zip(value[::2], value[1::2], strict=True)))
        case 8:
            made = types.FunctionType(
                function.__code__, function.__globals__, function.__name__, function.__defaults__, value
            )
            made.__kwdefaults__ = function.__kwdefaults__
            made.__annotations__ = function.__annotations__
            made.__qualname__ = function.__qualname__
            function = made
    frame.stack.append(machine.made(function))


def _callee(frame: Frame, arguments: list[Any]) -> Any:
    """Pop what stands below the arguments: a callable with an absent or present first argument, in either order."""
    second = frame.stack.pop()
    first = frame.stack.pop()
    if first is NULL:
        return second
    if second is not NULL:
        arguments.insert(0, second)
    return first


@handles("CALL")
def _call(machine: Machine, frame: Frame, instr: Instr) -> Any:
    count, names = instr.arg
    arguments = frame.take(count)
    keywords: dict[str, Any] = {}
    if names:
        keywords = dict(zip(names, arguments[-len(names) :], strict=True))
        del arguments[-len(names) :]
    return machine.calls.call_and_push(frame, _callee(frame, arguments), arguments, keywords)


@handles("CALL_FUNCTION_EX")
def _call_function_ex(machine: Machine, frame: Frame, instr: Instr) -> Any:
    keywords = {}
    if instr.arg & 1:
        machine.sources.contents(frame.stack[-1])
        keywords = dict(frame.stack.pop())
        if not all(isinstance(key, str) for key in keywords):
            raise TypeError("keywords must be strings")
    starred = frame.stack.pop()
    if not isinstance(starred, (tuple, list)) and not machine.iteration.is_iterable(starred):
        callee = frame.stack[-1] if frame.stack[-2] is NULL else frame.stack[-2]
        raise TypeError(f"{function_text(callee)} argument after * must be an iterable, not {type(starred).__name__}")
    arguments = list(machine.iteration.listed(starred))
    return machine.calls.call_and_push(frame, _callee(frame, arguments), arguments, keywords)


@handles("RETURN_VALUE")
def _return_value(machine: Machine, frame: Frame, instr: Instr) -> Return:
    return Return(frame.stack.pop())


@handles("YIELD_VALUE")
def _yield_value(machine: Machine, frame: Frame, instr: Instr) -> Yield:
    return Yield(frame.stack.pop(), frame)


@handles("RETURN_GENERATOR")
def _return_generator(machine: Machine, frame: Frame, instr: Instr) -> None:
    frame.stack.append(None)  # generators start here: the call itself made the generator object


@handles("GET_YIELD_FROM_ITER")
def _get_yield_from_iter(machine: Machine, frame: Frame, instr: Instr) -> None:
    frame.stack[-1] = machine.iteration.iterator(frame.stack[-1])


@handles("SEND")
def _send(machine: Machine, frame: Frame, instr: Instr) -> None:
    value = frame.stack.pop()
    receiver = frame.stack[-1]
    try:
        if value is None or isinstance(receiver, OutsideIterator):
            result = machine.calls.call(next, [receiver], {})
        else:
            result = machine.calls.call(machine.attributes.get_attr(receiver, "send"), [value], {})
    except StopIteration as stop:
        if instr.arg:
            frame.stack.pop()
        frame.stack.append(stop.value)
        frame.pc = instr.target
        return
    frame.stack.append(result)


@handles("END_SEND")
def _end_send(machine: Machine, frame: Frame, instr: Instr) -> None:
    value = frame.stack.pop()
    frame.stack[-1] = value


@handles("CLEANUP_THROW")
def _cleanup_throw(machine: Machine, frame: Frame, instr: Instr) -> None:
    exception = frame.stack.pop()
    if not isinstance(exception, StopIteration):
        raise exception
    frame.stack.pop()
    frame.stack.pop()
    frame.stack.extend((None, exception.value))


@handles("STOPITERATION_ERROR")
def _stop_iteration_error(machine: Machine, frame: Frame, instr: Instr) -> None:
    exception = frame.stack[-1]
    if isinstance(exception, StopIteration):
        replaced = RuntimeError("generator raised StopIteration")
        replaced.__cause__ = replaced.__context__ = exception
        frame.stack[-1] = replaced


# -- jumps ---------------------------------------------------------------------------------------------------------


@handles("JUMP")
def _jump(machine: Machine, frame: Frame, instr: Instr) -> None:
    frame.pc = instr.target


def _conditional(jump_when: bool, keep: bool) -> Callable[[Any, Frame, Instr], Any]:
    """A jump on the truth of the top of the stack; `keep` leaves it there when the jump is taken."""

    def handler(machine: Machine, frame: Frame, instr: Instr) -> Any:
        value = frame.stack.pop()
        truth = value if type(value) is bool else machine.objects.truth(value)
        following = frame.pc
        if type(truth) is not bool:

            def jump() -> int:
                if keep:
                    frame.stack.append(value)
                return instr.target

            def fall() -> int:
                return following

            if jump_when:
                return Fork(truth, jump, fall, instr.target, following)
            return Fork(truth, fall, jump, following, instr.target)
        if truth is jump_when:
            if keep:
                frame.stack.append(value)
            frame.pc = instr.target
        return None

    return handler


for _name, _when, _keep in (
    ("POP_JUMP_IF_TRUE", True, False),
    ("POP_JUMP_IF_FALSE", False, False),
    ("JUMP_IF_TRUE_OR_POP", True, True),
    ("JUMP_IF_FALSE_OR_POP", False, True),
):
    HANDLERS[_name] = _conditional(_when, _keep)


@handles("POP_JUMP_IF_NONE")
def _pop_jump_if_none(machine: Machine, frame: Frame, instr: Instr) -> None:
    if frame.stack.pop() is None:
        frame.pc = instr.target


@handles("POP_JUMP_IF_NOT_NONE")
def _pop_jump_if_not_none(machine: Machine, frame: Frame, instr: Instr) -> None:
    if frame.stack.pop() is not None:
        frame.pc = instr.target


@handles("GET_ITER")
def _get_iter(machine: Machine, frame: Frame, instr: Instr) -> None:
    frame.stack[-1] = machine.iteration.own_iter(frame.stack[-1])


@handles("FOR_ITER")
def _for_iter(machine: Machine, frame: Frame, instr: Instr) -> Any:
    iterator = machine.iteration.resumed(frame.stack[-1])
    header, following = frame.pc - 1, frame.pc
    known: Any = None
    if frame.unrolled.get(~header) == 1:  # a tensor decides whether it is left: a `while`, if it can be one
        known, iterator = iterator, machine.iteration.decided_by_the_graph(iterator)
        frame.stack[-1] = iterator
    more = getattr(iterator, "symbolic_test", None)
    if more is not None:

        def proceed() -> int:
            frame.stack.append(machine.iteration.advance(iterator))
            return following

        def leave() -> int:
            frame.stack.pop()
            return instr.target

        def unrolled() -> int:
            frame.unrolled[~header] = 2
            frame.stack[-1] = known
            frame.stack.append(next(known))
            return following

        condition = more()
        if type(condition) is bool:
            frame.pc = proceed() if condition else leave()
            return None
        otherwise = None if known is None or known is iterator else unrolled
        return Fork(condition, proceed, leave, following, instr.target, otherwise)
    try:
        value = next(iterator)
    except StopIteration:
        frame.stack.pop()
        frame.pc = instr.target
        return None
    frame.stack.append(value)
    return None


# -- exceptions and with -------------------------------------------------------------------------------------------


@handles("PUSH_EXC_INFO")
def _push_exc_info(machine: Machine, frame: Frame, instr: Instr) -> None:
    exception = frame.stack.pop()
    frame.stack.append(frame.exception)
    frame.stack.append(exception)
    frame.exception = exception


@handles("POP_EXCEPT")
def _pop_except(machine: Machine, frame: Frame, instr: Instr) -> None:
    frame.exception = frame.stack.pop()


@handles("CHECK_EXC_MATCH")
def _check_exc_match(machine: Machine, frame: Frame, instr: Instr) -> None:
    kinds = frame.stack.pop()
    machine.sources.inside(kinds)
    for kind in kinds if isinstance(kinds, tuple) else (kinds,):
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            raise TypeError("catching classes that do not inherit from BaseException is not allowed")
    mro = type(frame.stack[-1]).__mro__
    frame.stack.append(any(kind in mro for kind in (kinds if isinstance(kinds, tuple) else (kinds,))))


@handles("RAISE_VARARGS")
def _raise_varargs(machine: Machine, frame: Frame, instr: Instr) -> None:
    if instr.arg == 0:
        handled = machine.handled(frame)
        if handled is None:
            raise RuntimeError("No active exception to reraise")
        _raise_again(machine, frame, handled)
        return
    cause: Any = frame.stack.pop() if instr.arg == 2 else None
    exception: Any = frame.stack.pop()
    if isinstance(exception, type) and issubclass(exception, BaseException):
        exception = _new_exception(machine, exception)
    if not isinstance(exception, BaseException):
        raise TypeError("exceptions must derive from BaseException")
    machine.journal.about_to_raise(exception)
    if instr.arg == 2:
        if isinstance(cause, type) and issubclass(cause, BaseException):
            cause = _new_exception(machine, cause)
        if not isinstance(cause, BaseException | None):
            raise TypeError("exception causes must derive from BaseException")
        exception.__cause__ = cause
    if machine.sources.is_known(exception):
        refusal = Unsupported(Refusal.UNSUPPORTED_SYNTAX, "an exception from outside is raised, which notes the place")
        refusal.quiet = True
        raise refusal
    set_context(exception, machine.handled(frame))
    machine.propagating = exception
    raise exception


def _new_exception(machine: Machine, kind: type[BaseException]) -> BaseException:
    made = machine.calls.call(kind, [], {})
    if not isinstance(made, BaseException):
        raise TypeError(f"calling {kind!r} should have returned an instance of BaseException, not {type(made)!r}")
    return made


def _raise_again(machine: Machine, frame: Frame, exception: BaseException) -> None:
    """Raise without a trace of it in the exception: neither its context nor its traceback change in this frame."""
    machine.journal.about_to_raise(exception)
    machine.propagating = exception
    machine.unwind(frame, frame.pc - 1, exception)


@handles("RERAISE")
def _reraise(machine: Machine, frame: Frame, instr: Instr) -> None:
    _raise_again(machine, frame, frame.stack.pop())


@handles("BEFORE_WITH")
def _before_with(machine: Machine, frame: Frame, instr: Instr) -> Any:
    manager = frame.stack.pop()
    enter, leave = (
        machine.attributes.special_method(manager, "__enter__"),
        machine.attributes.special_method(manager, "__exit__"),
    )
    if enter is None or leave is None:
        missed = "" if enter is None else " (missed __exit__ method)"
        name = type(manager).__name__
        raise TypeError(f"'{name}' object does not support the context manager protocol{missed}")
    frame.stack.append(leave)
    return machine.calls.end_by(frame, Await.VALUE, enter, [], {})


@handles("WITH_EXCEPT_START")
def _with_except_start(machine: Machine, frame: Frame, instr: Instr) -> Any:
    exception = frame.stack[-1]
    leave = frame.stack[-4]
    return machine.calls.end_by(frame, Await.VALUE, leave, [type(exception), exception, exception.__traceback__], {})


@handles("CHECK_EG_MATCH")
def _check_eg_match(machine: Machine, frame: Frame, instr: Instr) -> None:
    kinds = frame.stack.pop()
    exception = frame.stack.pop()
    machine.sources.inside(kinds)
    for kind in kinds if isinstance(kinds, tuple) else (kinds,):
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            raise TypeError("catching classes that do not inherit from BaseException is not allowed")
        if issubclass(kind, BaseExceptionGroup):
            raise TypeError("catching ExceptionGroup with except* is not allowed. Use except instead.")
    if isinstance(exception, kinds):
        wrapped = isinstance(exception, BaseExceptionGroup)
        matching_part, rest = exception if wrapped else machine.made(BaseExceptionGroup("", [exception])), None
        if not wrapped:
            matching_part.__traceback__ = exception.__traceback__
    elif isinstance(exception, BaseExceptionGroup):
        parts = machine.calls.call(machine.attributes.get_attr(exception, "split"), [kinds], {})
        if not isinstance(parts, tuple):
            raise TypeError(f"{type(exception).__name__}.split must return a tuple, not {type(parts).__name__}")
        if len(parts) < 2:
            raise TypeError(f"{type(exception).__name__}.split must return a 2-tuple, got tuple of size {len(parts)}")
        matching_part, rest = parts[:2]
    else:
        matching_part, rest = None, exception
    if matching_part is None:
        frame.stack.extend((exception, None))
        return
    for part in (matching_part, rest):
        if isinstance(part, BaseException):
            machine.journal.came_the_way_of(part, exception)
    frame.exception = matching_part
    frame.stack.extend((rest, matching_part))


@handles("PREP_RERAISE_STAR")
def _prep_reraise_star(machine: Machine, frame: Frame, instr: Instr) -> None:
    """What a try statement with `except*` raises in the end (PEP 654, "Raising exceptions in an except* block")."""
    ended = [e for e in frame.stack.pop() if e is not None]
    original = frame.stack.pop()
    if not ended or not isinstance(original, BaseExceptionGroup):
        frame.stack.append(ended[0] if ended else None)
        return
    parts = [e for e in ended if _same_origin(e, original)]
    raised = [e for e in ended if not _same_origin(e, original)]
    leaves = {id(leaf) for part in parts for leaf in _leaves(part)}
    kept = machine.natives.made_by_exception(original.subgroup(lambda e: id(e) in leaves)) if leaves else None
    if kept is not None:
        machine.journal.came_the_way_of(kept, original)
    if not raised:
        frame.stack.append(kept)
        return
    if kept is not None:
        raised.append(kept)
    frame.stack.append(raised[0] if len(raised) == 1 else machine.made(BaseExceptionGroup("", raised)))


def _same_origin(exception: BaseException, original: BaseException) -> bool:
    names = ("__notes__", "__traceback__", "__cause__", "__context__")
    return isinstance(exception, BaseExceptionGroup) and all(
        getattr(exception, name, None) is getattr(original, name, None) for name in names
    )


def _leaves(exception: BaseException) -> list[BaseException]:
    if isinstance(exception, BaseExceptionGroup):
        return [leaf for part in exception.exceptions for leaf in _leaves(part)]
    return [exception]


# -- match ---------------------------------------------------------------------------------------------------------


@handles("GET_LEN")
def _get_len(machine: Machine, frame: Frame, instr: Instr) -> None:
    frame.stack.append(machine.calls.call(len, [frame.stack[-1]], {}))


@handles("MATCH_MAPPING")
def _match_mapping(machine: Machine, frame: Frame, instr: Instr) -> None:
    frame.stack.append(matching.is_mapping(frame.stack[-1]))


@handles("MATCH_SEQUENCE")
def _match_sequence(machine: Machine, frame: Frame, instr: Instr) -> None:
    frame.stack.append(matching.is_sequence(frame.stack[-1]))


@handles("MATCH_KEYS")
def _match_keys(machine: Machine, frame: Frame, instr: Instr) -> None:
    machine.sources.taken_over(frame.stack[-2])
    frame.stack.append(matching.keys(machine, frame.stack[-2], frame.stack[-1]))


@handles("MATCH_CLASS")
def _match_class(machine: Machine, frame: Frame, instr: Instr) -> None:
    names = frame.stack.pop()
    cls = frame.stack.pop()
    subject = frame.stack.pop()
    frame.stack.append(matching.class_pattern(machine, subject, cls, instr.arg, names))


# -- refused -------------------------------------------------------------------------------------------------------


def _refused(what: str) -> Callable[[Any, Frame, Instr], Any]:
    def handler(machine: Machine, frame: Frame, instr: Instr) -> None:
        raise Unsupported(
            Refusal.UNSUPPORTED_SYNTAX, f"{what} cannot be part of a graph", "move it out of the compiled function"
        )

    return handler


for _names, _what in (
    (("GET_AWAITABLE", "GET_AITER", "GET_ANEXT", "BEFORE_ASYNC_WITH", "END_ASYNC_FOR"), "async code"),
    (("IMPORT_STAR",), "import *"),
):
    for _refused_name in _names:
        HANDLERS[_refused_name] = _refused(_what)
