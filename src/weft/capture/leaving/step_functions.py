"""Steps as Python functions: made of a syntax tree in the place of the user's instruction."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Sequence
from typing import Any, Final

from weft.capture.code.instructions import Decoded
from weft.capture.leaving.steps import load, op, operand
from weft.capture.python.exceptions import Contexts, contexts_before, restore_contexts

# -- the function ----------------------------------------------------------------------------------------------------


def step_function(
    decoded: Decoded, pc: int, namespace: dict[str, Any], local_names: Sequence[str], cell_names: Sequence[str],
    operands: Sequence[int], body: list[ast.stmt], outside: dict[str, Any], handling: bool,
    last_line: int | None = None,
) -> Callable[..., types.FunctionType]:  # fmt: skip
    """The function of a step.

    Args:
        decoded: the user's code.
        pc: the instruction whose place the step has.
        namespace: the user's globals.
        local_names: local variables that have a value; the first parameters of the step.
        cell_names: variables that are in closure cells.
        operands: positions of the operands that are values; the last parameters of the step.
        body: the statements.
        outside: objects that the statements name beyond the user's own.
        handling: whether the step runs while an exception is handled, which is then its parameter after the locals.
        last_line: the line of the last statement, by default that of the instruction.

    Returns:
        A function of the closure cells in the order of `cell_names`, and those of `outside`, that makes the step.
    """
    code = decoded.code
    instr = decoded.instrs[pc]
    hidden = list(outside)
    last = body[-1]
    parameters = [*local_names, *(["(handled)"] if handling else []), *[operand(i) for i in operands]]
    if cell_names:  # named, so that they are in the closure, where whoever looks at the frame finds them
        seen: ast.expr = ast.Tuple([load(name) for name in cell_names], ast.Load())
        body = [ast.If(ast.Constant(False), [ast.Expr(seen)], []), *body]
    if handling:
        body = _while_handling(body)
        hidden += _HANDLING
    define: Any = ast.FunctionDef  # of which types want more from Python 3.12 on
    inner = define(code.co_name, _arguments(parameters), body, [], None)
    binding = [ast.Assign([ast.Name(name, ast.Store()) for name in (*cell_names, *hidden)], ast.Constant(None))]
    outer = define("outer", _arguments([]), [*(binding if cell_names or hidden else []), inner], [], None)
    module = ast.Module([outer], [])
    line, end_line, column, end_column = instr.position
    line = line or code.co_firstlineno
    position = (line, column or 0, end_line or line, end_column if end_column is not None else (column or 0))
    for node in ast.walk(module):
        if isinstance(node, (ast.expr, ast.stmt, ast.arg, ast.keyword, ast.excepthandler)):
            node.lineno, node.col_offset, node.end_lineno, node.end_col_offset = position
            if hasattr(node, "type_params") or isinstance(node, ast.FunctionDef):
                node.type_params = []
    if last_line is not None:
        for node in ast.walk(last):
            if isinstance(node, (ast.expr, ast.stmt)):
                node.lineno, node.col_offset, node.end_lineno, node.end_col_offset = last_line, 0, last_line, 0
    inner.lineno = min(code.co_firstlineno, line)
    made = compile(module, code.co_filename, "exec", dont_inherit=True)
    step_code = _inner_code(_inner_code(made))
    step_code = step_code.replace(co_qualname=code.co_qualname)
    fixed = {name: types.CellType(value) for name, value in (outside | _HANDLING).items()}
    places = [fixed.get(name) or list(cell_names).index(name) for name in step_code.co_freevars]

    def make(*cells: types.CellType) -> types.FunctionType:
        closure = tuple(cells[place] if isinstance(place, int) else place for place in places)
        return types.FunctionType(step_code, namespace, code.co_name, None, closure)

    return make


def _inner_code(code: types.CodeType) -> types.CodeType:
    return next(constant for constant in code.co_consts if isinstance(constant, types.CodeType))


def _arguments(names: Sequence[str]) -> ast.arguments:
    return ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])


def _while_handling(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements with an exception being handled, as in an `except` block, itself unchanged."""
    handled = load("(handled)")
    save = ast.Assign([ast.Name("(before)", ast.Store())], ast.Call(load("(save)"), [handled], []))
    restore = ast.Expr(ast.Call(load("(restore)"), [handled, ast.Starred(load("(before)"), ast.Load())], []))
    caught = ast.ExceptHandler(load("BaseException"), None, [restore, *body])
    return [save, ast.Try([ast.Raise(handled)], [caught], [], [])]


def _save(exception: BaseException) -> tuple[types.TracebackType | None, Contexts]:
    return exception.__traceback__, contexts_before(exception)


def _restore(exception: BaseException, traceback: types.TracebackType | None, contexts: Contexts) -> None:
    exception.__traceback__ = traceback
    restore_contexts(contexts)


#: what the statements of `_while_handling` name
_HANDLING: Final = {"(save)": _save, "(restore)": _restore}


def waiting_step(
    decoded: Decoded, pc: int, namespace: dict[str, Any], local_names: Sequence[str], cell_names: Sequence[str],
    handling: bool,
) -> Callable[..., types.FunctionType]:  # fmt: skip
    """The function of a frame that waits in a call while a step of the called function runs.

    Its operands are a function to call and its arguments.
    """
    body: list[ast.stmt] = [ast.Return(ast.Call(op(0), [ast.Starred(op(1), ast.Load())], []))]
    return step_function(decoded, pc, namespace, local_names, cell_names, [0, 1], body, {}, handling)


def raising_step(decoded: Decoded, pc: int, namespace: dict[str, Any]) -> Callable[[BaseException], Any]:
    """A function that raises its argument at an instruction's place."""
    return step_function(decoded, pc, namespace, [], [], [0], [ast.Raise(op(0))], {}, False)()
