"""Steps: single instructions that run in Python, in a frame that looks like the user's.

A step is a small function with the file, name, line, columns, globals, local variables and closure of the user's, so
that tracebacks, warnings and whoever looks at the frame of a caller see the user's function. It is made from a syntax
tree, which has positions of its own and does not depend on the version of Python.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, Final

from weft.capture.code.instructions import Decoded, Instr
from weft.capture.python.classes import MISSING, class_attribute
from weft.capture.python.exceptions import contexts_before, function_text, restore_contexts, unbound_local
from weft.capture.python.namespaces import imported_from
from weft.capture.state.frame import NULL

#: what a step may push: a value, or the absent half of a call pair
VALUE: Final = "value"
_BINARY: Final = (
    ast.Add, ast.BitAnd, ast.FloorDiv, ast.LShift, ast.MatMult, ast.Mult, ast.Mod, ast.BitOr, ast.Pow, ast.RShift,
    ast.Sub, ast.Div, ast.BitXor,
)  # fmt: skip
_UNARY: Final = {
    "UNARY_NEGATIVE": ast.USub,
    "UNARY_POSITIVE": ast.UAdd,
    "UNARY_INVERT": ast.Invert,
    "UNARY_NOT": ast.Not,
}
_COMPARE: Final = {"<": ast.Lt, "<=": ast.LtE, "==": ast.Eq, "!=": ast.NotEq, ">": ast.Gt, ">=": ast.GtE}
_CONVERSION: Final = {None: -1, str: ord("s"), repr: ord("r"), ascii: ord("a")}


class Outcome:
    """One way a step can go on.

    Args:
        target: the next instruction.
        pushed: what is then on the stack above the operands' place: `VALUE` or `NULL` each.
    """

    __slots__ = ("target", "pushed")

    def __init__(self, target: int, pushed: tuple[Any, ...]) -> None:
        self.target = target
        self.pushed = pushed


class Step:
    """How an instruction runs in Python.

    Args:
        operands: how many entries of the stack it takes, `NULL`s included.
        outcomes: the ways it can go on.
        body: statements that end in ``return number_of_outcome, (pushed values...)``; operands are named by `operand`.
        outside: objects that the statements name beyond the user's own, by name.
    """

    __slots__ = ("operands", "outcomes", "body", "outside", "last_line", "rebound")

    def __init__(
        self, operands: int, outcomes: Sequence[Outcome], body: list[ast.stmt], outside: dict[str, Any]
    ) -> None:
        self.operands = operands
        self.outcomes = tuple(outcomes)
        self.body = body
        self.outside = outside
        #: the line of the last statement, if it is not that of the instruction
        self.last_line: int | None = None
        #: local variables whose values it returns after those pushed, since it may change them
        self.rebound: tuple[str, ...] = ()


def operand(position: int) -> str:
    """The name of an operand: none that a program can have."""
    return f"({position})"


def load(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def op(position: int) -> ast.expr:
    return load(operand(position))


def _return(outcome: int, *values: ast.expr) -> ast.stmt:
    return ast.Return(ast.Tuple([ast.Constant(outcome), ast.Tuple(list(values), ast.Load())], ast.Load()))


def step_of(decoded: Decoded, pc: int, stack: Sequence[Any]) -> Step | None:
    """How the instruction at a place runs in Python; None if it cannot run on its own.

    Args:
        decoded: the code.
        pc: the instruction.
        stack: what is on the stack: `NULL` where that is.
    """
    instr = decoded.instrs[pc]
    if instr.name == "LOAD_DEREF":
        name = decoded.slot_names[instr.arg]
        body, outside = ([_return(0, load(name))], {}) if name in decoded.free_names else _of_own_cell(name)
        return Step(0, [Outcome(pc + 1, (VALUE,))], body, outside)
    builder = _BUILDERS.get(instr.name)
    return None if builder is None else builder(instr, pc, stack)


def _of_own_cell(name: str) -> tuple[list[ast.stmt], dict[str, Any]]:
    """The statements that return a local variable which inner functions share; in a step it is a free variable."""
    value, missing = ast.Name("(value)", ast.Store()), object()
    caught = ast.ExceptHandler(load("NameError"), None, [ast.Pass()])
    body = [
        ast.Assign([value], load("(missing)")),
        ast.Try([ast.Assign([value], load(name))], [caught], [], []),
        ast.If(
            ast.Compare(load("(value)"), [ast.Is()], [load("(missing)")]),
            [ast.Raise(ast.Call(load("(unbound)"), [], []))],
            [],
        ),
        _return(0, load("(value)")),
    ]
    return body, {"(unbound)": lambda: unbound_local(name), "(missing)": missing}


def step_of_debugger(step: Step, decoded: Decoded, pc: int, local_names: Sequence[str]) -> Step:
    """A call of a debugger, from a step that makes the call.

    The call is over before the step is, which then stands at the user's next line: there a debugger stops. Its user may
    give local variables other values.

    Args:
        step: the step.
        decoded: the user's code.
        pc: the call.
        local_names: local variables that have a value.
    """
    returned = step.body[-1]
    if not isinstance(returned, ast.Return) or not isinstance(returned.value, ast.Tuple):
        return step
    made = ast.Assign([ast.Name("(value)", ast.Store())], returned.value.elts[1])
    pushed = ast.Tuple([ast.Starred(load("(value)"), ast.Load()), *map(load, local_names)], ast.Load())
    last = ast.Return(ast.Tuple([returned.value.elts[0], pushed], ast.Load()))
    shown = Step(step.operands, step.outcomes, [*step.body[:-1], made, last], step.outside)
    shown.last_line, shown.rebound = _next_line(decoded, pc), tuple(local_names)
    return shown


def _next_line(decoded: Decoded, pc: int) -> int | None:
    """The line of the first instruction on a line of its own that may run after another."""
    seen = {pc}
    pending = [pc]
    while pending:
        for follower in decoded.successors(pending.pop(0)):
            line = decoded.instrs[follower].position[0] if follower < len(decoded.instrs) else None
            if line is not None and line != decoded.instrs[pc].position[0]:
                return line
            if follower < len(decoded.instrs) and follower not in seen:
                seen.add(follower)
                pending.append(follower)
    return None


def step_that_raises(exception: BaseException) -> Step:
    """A step that raises a new exception like one met while capturing (a variable that is not bound, say)."""
    made = ast.Call(load("(again)"), [], [])
    return Step(0, [], [ast.Raise(made)], {"(again)": lambda: raised_again(exception)})


Builder = Callable[[Instr, int, Sequence[Any]], Step]
_BUILDERS: Final[dict[str, Builder]] = {}


def _builds(*names: str) -> Callable[[Builder], Builder]:
    def register(builder: Builder) -> Builder:
        for name in names:
            _BUILDERS[name] = builder
        return builder

    return register


def _expression(pops: int, make: Callable[[Instr], ast.expr], pushed: tuple[Any, ...] = (VALUE,)) -> Builder:
    """An instruction that replaces operands by the value of an expression."""

    def build(instr: Instr, pc: int, stack: Sequence[Any]) -> Step:
        return Step(pops, [Outcome(pc + 1, pushed)], [_return(0, make(instr))], {})

    return build


def _statement(pops: int, make: Callable[[Instr], ast.stmt]) -> Builder:
    """An instruction that takes operands and pushes nothing."""

    def build(instr: Instr, pc: int, stack: Sequence[Any]) -> Step:
        return Step(pops, [Outcome(pc + 1, ())], [make(instr), _return(0)], {})

    return build


def _helper(pops: int, function: Callable[..., Any], pushes: int = 1) -> Builder:
    """An instruction done by a function of the operands, which returns what is pushed (a tuple if that is several)."""

    def build(instr: Instr, pc: int, stack: Sequence[Any]) -> Step:
        made = ast.Call(load("(helper)"), [op(i) for i in range(pops)], [])
        if instr.arg is not None:
            made.args.append(load("(argument)"))
        values = [made] if pushes == 1 else [ast.Starred(made, ast.Load())]
        return Step(
            pops, [Outcome(pc + 1, (VALUE,) * pushes)], [_return(0, *values)],
            {"(helper)": function, "(argument)": instr.arg},
        )  # fmt: skip

    return build


# -- operators -----------------------------------------------------------------------------------------------------


@_builds("BINARY_OP")
def _binary(instr: Instr, pc: int, stack: Sequence[Any]) -> Step:
    operator = _BINARY[instr.arg % len(_BINARY)]()
    if instr.arg < len(_BINARY):
        body = [_return(0, ast.BinOp(op(0), operator, op(1)))]
    else:
        body = [ast.AugAssign(ast.Name(operand(0), ast.Store()), operator, op(1)), _return(0, op(0))]
    return Step(2, [Outcome(pc + 1, (VALUE,))], body, {})


for _unary_name in _UNARY:
    _BUILDERS[_unary_name] = _expression(1, lambda instr: ast.UnaryOp(_UNARY[instr.name](), op(0)))

_BUILDERS["COMPARE_OP"] = _expression(2, lambda instr: ast.Compare(op(0), [_COMPARE[instr.arg]()], [op(1)]))
_BUILDERS["CONTAINS_OP"] = _expression(
    2, lambda instr: ast.Compare(op(0), [ast.NotIn() if instr.arg else ast.In()], [op(1)])
)
_BUILDERS["TO_BOOL"] = _expression(1, lambda instr: ast.IfExp(op(0), ast.Constant(True), ast.Constant(False)))
_BUILDERS["BINARY_SUBSCR"] = _expression(2, lambda instr: ast.Subscript(op(0), op(1), ast.Load()))
_BUILDERS["BINARY_SLICE"] = _expression(3, lambda instr: ast.Subscript(op(0), ast.Slice(op(1), op(2)), ast.Load()))
_BUILDERS["STORE_SUBSCR"] = _statement(3, lambda instr: ast.Assign([ast.Subscript(op(1), op(2), ast.Store())], op(0)))
_BUILDERS["STORE_SLICE"] = _statement(
    4, lambda instr: ast.Assign([ast.Subscript(op(1), ast.Slice(op(2), op(3)), ast.Store())], op(0))
)
_BUILDERS["DELETE_SUBSCR"] = _statement(2, lambda instr: ast.Delete([ast.Subscript(op(0), op(1), ast.Del())]))

# -- names and attributes ------------------------------------------------------------------------------------------

_BUILDERS["LOAD_ATTR"] = _expression(1, lambda instr: ast.Attribute(op(0), instr.arg, ast.Load()))
_BUILDERS["LOAD_ATTR_METHOD"] = _expression(1, lambda instr: ast.Attribute(op(0), instr.arg, ast.Load()), (VALUE, NULL))
_BUILDERS["STORE_ATTR"] = _statement(2, lambda instr: ast.Assign([ast.Attribute(op(1), instr.arg, ast.Store())], op(0)))
_BUILDERS["DELETE_ATTR"] = _statement(1, lambda instr: ast.Delete([ast.Attribute(op(0), instr.arg, ast.Del())]))
_BUILDERS["LOAD_GLOBAL"] = _BUILDERS["LOAD_NAME"] = _expression(0, lambda instr: load(instr.arg))


@_builds("LOAD_SUPER_ATTR")
def _load_super_attr(instr: Instr, pc: int, stack: Sequence[Any]) -> Step:
    name, is_method = instr.arg
    found = ast.Attribute(ast.Call(op(0), [op(1), op(2)], []), name, ast.Load())
    return Step(3, [Outcome(pc + 1, (VALUE, NULL) if is_method else (VALUE,))], [_return(0, found)], {})


@_builds("PUSH_NULL")
def _push_null(instr: Instr, pc: int, stack: Sequence[Any]) -> Step:
    return Step(0, [Outcome(pc + 1, (NULL,))], [_return(0)], {})


@_builds("STORE_GLOBAL", "DELETE_GLOBAL")
def _change_global(instr: Instr, pc: int, stack: Sequence[Any]) -> Step:
    storing = instr.name == "STORE_GLOBAL"
    change: ast.stmt
    if storing:
        change = ast.Assign([ast.Name(instr.arg, ast.Store())], op(0))
    else:
        change = ast.Delete([ast.Name(instr.arg, ast.Del())])
    return Step(int(storing), [Outcome(pc + 1, ())], [ast.Global([instr.arg]), change, _return(0)], {})


@_builds("IMPORT_NAME")
def _import_name(instr: Instr, pc: int, stack: Sequence[Any]) -> Step:
    namespace = ast.Call(load("(globals)"), [], [])
    made = ast.Call(load("__import__"), [ast.Constant(instr.arg), namespace, ast.Constant(None), op(1), op(0)], [])
    return Step(2, [Outcome(pc + 1, (VALUE,))], [_return(0, made)], {"(globals)": globals})


@_builds("IMPORT_FROM")
def _import_from(instr: Instr, pc: int, stack: Sequence[Any]) -> Step:
    names = ast.Tuple([ast.Name("(found)", ast.Store()), ast.Name("(error)", ast.Store())], ast.Store())
    tried = ast.Assign([names], ast.Call(load("(import)"), [op(0), ast.Constant(instr.arg)], []))
    failed = ast.Compare(load("(error)"), [ast.IsNot()], [ast.Constant(None)])
    body: list[ast.stmt] = [tried, ast.If(failed, [ast.Raise(load("(error)"))], []), _return(0, op(0), load("(found)"))]
    return Step(1, [Outcome(pc + 1, (VALUE, VALUE))], body, {"(import)": _try_import})


def _try_import(module: Any, name: str) -> tuple[Any, BaseException | None]:
    """What a module has under a name, or the exception that says that it has none, to be raised by whoever asks."""
    try:
        return getattr(module, name), None
    except AttributeError:
        pass  # the import knows submodules that are not attributes yet, and what else to say
    except BaseException as error:
        return None, error.with_traceback(None)
    try:
        return imported_from(module, name), None
    except BaseException as error:
        return None, error.with_traceback(None)


# -- calls ---------------------------------------------------------------------------------------------------------


def _callee(stack: Sequence[Any], below: int) -> tuple[ast.expr, list[ast.expr]]:
    """The callable and its first argument if it has one, from the pair that stands below some operands."""
    first, second = stack[-below - 2], stack[-below - 1]
    if first is NULL:
        return op(1), []
    if second is NULL:
        return op(0), []
    return op(0), [op(1)]


def _call(count: int, names: tuple[str, ...], extra: int, pc: int, stack: Sequence[Any]) -> Step:
    callee, arguments = _callee(stack, count + extra)
    given = [*arguments, *[op(2 + i) for i in range(count)]]
    positional = given[: len(given) - len(names)]
    keywords = [ast.keyword(name, value) for name, value in zip(names, given[len(positional) :], strict=True)]
    made = ast.Call(callee, positional, keywords)
    return Step(2 + count + extra, [Outcome(pc + 1, (VALUE,))], [_return(0, made)], {})


@_builds("CALL")
def _plain_call(instr: Instr, pc: int, stack: Sequence[Any]) -> Step:
    count, names = instr.arg
    return _call(count, names, 0, pc, stack)


@_builds("CALL_FUNCTION_EX")
def _call_unpacked(instr: Instr, pc: int, stack: Sequence[Any]) -> Step:
    keywords = instr.arg & 1
    callee, first = _callee(stack, 1 + keywords)
    unpacked = [*first, ast.Starred(op(2), ast.Load())]
    made = ast.Call(callee, unpacked, [ast.keyword(None, op(3))] if keywords else [])
    return Step(3 + keywords, [Outcome(pc + 1, (VALUE,))], [_return(0, made)], {})


# -- jumps and iteration -------------------------------------------------------------------------------------------


def _jump(test: Callable[[], ast.expr], keep: bool) -> Builder:
    """A jump if a test of the operand holds; `keep` leaves the operand where it jumps."""

    def build(instr: Instr, pc: int, stack: Sequence[Any]) -> Step:
        kept = [op(0)] if keep else []
        body = [ast.If(test(), [_return(1, *kept)], []), _return(0)]
        return Step(1, [Outcome(pc + 1, ()), Outcome(instr.target, (VALUE,) * keep)], body, {})

    return build


_BUILDERS["POP_JUMP_IF_TRUE"] = _jump(lambda: op(0), False)
_BUILDERS["POP_JUMP_IF_FALSE"] = _jump(lambda: ast.UnaryOp(ast.Not(), op(0)), False)
_BUILDERS["JUMP_IF_TRUE_OR_POP"] = _jump(lambda: op(0), True)
_BUILDERS["JUMP_IF_FALSE_OR_POP"] = _jump(lambda: ast.UnaryOp(ast.Not(), op(0)), True)
_BUILDERS["GET_ITER"] = _helper(1, iter)
_END: Final = object()


@_builds("FOR_ITER")
def _for_iter(instr: Instr, pc: int, stack: Sequence[Any]) -> Step:
    item = "(item)"
    body = [
        ast.Assign([ast.Name(item, ast.Store())], ast.Call(load("(next)"), [op(0), load("(end)")], [])),
        ast.If(ast.Compare(load(item), [ast.Is()], [load("(end)")]), [_return(1)], []),
        _return(0, op(0), load(item)),
    ]
    outcomes = [Outcome(pc + 1, (VALUE, VALUE)), Outcome(instr.target, ())]
    return Step(1, outcomes, body, {"(next)": next, "(end)": _END})


def _send_to(receiver: Any, value: Any) -> tuple[bool, Any]:
    try:
        return False, next(receiver) if value is None else receiver.send(value)
    except StopIteration as stop:
        return True, stop.value


@_builds("SEND")
def _send(instr: Instr, pc: int, stack: Sequence[Any]) -> Step:
    done, value = "(done)", "(value)"
    pair = ast.Tuple([ast.Name(done, ast.Store()), ast.Name(value, ast.Store())], ast.Store())
    ended = [load(value)] if instr.arg else [op(0), load(value)]
    body = [
        ast.Assign([pair], ast.Call(load("(send)"), [op(0), op(1)], [])),
        ast.If(load(done), [_return(1, *ended)], []),
        _return(0, op(0), load(value)),
    ]
    outcomes = [Outcome(pc + 1, (VALUE, VALUE)), Outcome(instr.target, (VALUE,) * len(ended))]
    return Step(2, outcomes, body, {"(send)": _send_to})


def _unpack(instr: Instr, pc: int, before: int, after: int | None) -> Step:
    names = [f"(item {i})" for i in range(before + (0 if after is None else after + 1))]
    targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in names]
    if after is not None:
        targets[before] = ast.Starred(targets[before], ast.Store())
    body = [ast.Assign([ast.List(targets, ast.Store())], op(0)), _return(0, *[load(name) for name in reversed(names)])]
    return Step(1, [Outcome(pc + 1, (VALUE,) * len(names))], body, {})


_BUILDERS["UNPACK_SEQUENCE"] = lambda instr, pc, stack: _unpack(instr, pc, instr.arg, None)
_BUILDERS["UNPACK_EX"] = lambda instr, pc, stack: _unpack(instr, pc, instr.arg & 0xFF, instr.arg >> 8)

# -- text ----------------------------------------------------------------------------------------------------------


@_builds("FORMAT_VALUE")
def _format_value(instr: Instr, pc: int, stack: Sequence[Any]) -> Step:
    conversion, with_spec = instr.arg
    spec = ast.JoinedStr([ast.FormattedValue(op(1), -1, None)]) if with_spec else None
    made = ast.JoinedStr([ast.FormattedValue(op(0), _CONVERSION[conversion], spec)])
    return Step(1 + with_spec, [Outcome(pc + 1, (VALUE,))], [_return(0, made)], {})


_BUILDERS["CONVERT_VALUE"] = _helper(1, lambda value, convert: convert(value))


@_builds("BUILD_STRING", "BUILD_SET", "BUILD_MAP")
def _build(instr: Instr, pc: int, stack: Sequence[Any]) -> Step:
    count = instr.arg * (2 if instr.name == "BUILD_MAP" else 1)
    items = [op(i) for i in range(count)]
    made: ast.expr
    if instr.name == "BUILD_MAP":
        made = ast.Dict(list(items[::2]), items[1::2])
    elif instr.name == "BUILD_SET":
        made = ast.Set(items)
    else:
        made = ast.JoinedStr([ast.FormattedValue(item, -1, None) for item in items])
    return Step(count, [Outcome(pc + 1, (VALUE,))], [_return(0, made)], {})


# -- growing containers under construction ---------------------------------------------------------------------------


def _grow(change: Callable[..., Any], values: int) -> Builder:
    """An instruction that adds its operands to a container that stays on the stack further below."""

    def build(instr: Instr, pc: int, stack: Sequence[Any]) -> Step:
        depth = instr.arg + values
        made = ast.Call(load("(change)"), [op(0), *[op(depth - values + i) for i in range(values)]], [])
        kept = [op(i) for i in range(depth - values)]
        return Step(
            depth, [Outcome(pc + 1, (VALUE,) * len(kept))], [ast.Expr(made), _return(0, *kept)], {"(change)": change}
        )

    return build


def _extend(target: Any, values: Any) -> None:
    target += [*values]  # Python's own error for what cannot be iterated


def _update(target: dict[Any, Any], values: Any) -> None:
    target.update({**values})  # Python's own error for what is no mapping


_BUILDERS["LIST_APPEND"] = _grow(list.append, 1)
_BUILDERS["SET_ADD"] = _grow(set.add, 1)
_BUILDERS["MAP_ADD"] = _grow(dict.__setitem__, 2)
_BUILDERS["LIST_EXTEND"] = _grow(_extend, 1)
_BUILDERS["SET_UPDATE"] = _grow(set.update, 1)
_BUILDERS["DICT_UPDATE"] = _grow(_update, 1)


@_builds("DICT_MERGE")
def _dict_merge(instr: Instr, pc: int, stack: Sequence[Any]) -> Step:
    """Keyword arguments of a call that stands below them: its messages name the function."""
    depth = instr.arg + 4
    callee, _ = _callee(stack, instr.arg + 2)
    made = ast.Call(load("(merge)"), [callee, op(3), op(depth - 1)], [])
    kept = [op(i) for i in range(depth - 1) if stack[i - depth] is not NULL]
    pushed = tuple(NULL if stack[i - depth] is NULL else VALUE for i in range(depth - 1))
    return Step(depth, [Outcome(pc + 1, pushed)], [ast.Expr(made), _return(0, *kept)], {"(merge)": _merge})


def _merge(function: Any, target: dict[Any, Any], values: Any) -> None:
    try:
        keys = values.keys
    except AttributeError:
        kind = type(values).__name__
        raise TypeError(f"{function_text(function)} argument after ** must be a mapping, not {kind}") from None
    for key in keys():
        if key in target:
            raise TypeError(f"{function_text(function)} got multiple values for keyword argument '{key}'")
        target[key] = values[key]


# -- exceptions and with -------------------------------------------------------------------------------------------


@_builds("RAISE_VARARGS")
def _raise(instr: Instr, pc: int, stack: Sequence[Any]) -> Step:
    operands = [op(i) for i in range(instr.arg)]
    return Step(instr.arg, [], [ast.Raise(*operands)], {})


@_builds("RERAISE")
def _reraise(instr: Instr, pc: int, stack: Sequence[Any]) -> Step:
    """The exception goes on as it is: what is being handled here does not become its context."""
    outside = {"(contexts)": contexts_before, "(put back)": restore_contexts}
    before = ast.Assign([ast.Name("(before)", ast.Store())], ast.Call(load("(contexts)"), [op(0)], []))
    keep = ast.Expr(ast.Call(load("(put back)"), [load("(before)")], []))
    return Step(1, [], [before, ast.Try([ast.Raise(op(0))], [], [], [keep])], outside)


@_builds("BEFORE_WITH")
def _before_with(instr: Instr, pc: int, stack: Sequence[Any]) -> Step:
    return _helper(1, _enter, 2)(instr, pc, stack)


def _enter(manager: Any, *_: Any) -> tuple[Any, Any]:
    kind = type(manager)
    for name, missed in (("__enter__", ""), ("__exit__", " (missed __exit__ method)")):
        if class_attribute(kind, name) is MISSING:
            raise TypeError(f"'{kind.__name__}' object does not support the context manager protocol{missed}")
    enter, leave = kind.__enter__, kind.__exit__
    bound = leave.__get__(manager, kind)
    return bound, enter.__get__(manager, kind)()


@_builds("WITH_EXCEPT_START")
def _with_except_start(instr: Instr, pc: int, stack: Sequence[Any]) -> Step:
    made = ast.Call(load("(leave)"), [op(0), op(3)], [])
    return Step(4, [Outcome(pc + 1, (VALUE,) * 5)], [_return(0, *[op(i) for i in range(4)], made)], {"(leave)": _leave})


def _leave(leave: Any, exception: BaseException) -> Any:
    return leave(type(exception), exception, exception.__traceback__)


def raised_again(exception: BaseException) -> BaseException:
    """A new exception like the one met while capturing."""
    try:
        made = type(exception)(*exception.args)
    except TypeError:
        return exception.with_traceback(None)
    if exception.__cause__ is not None:
        made.__cause__ = exception.__cause__
    made.__dict__.update(exception.__dict__)
    return made
