"""Make a program smaller while it still fails in the same way."""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Iterator
from typing import Final

from tests.random_programs.compare import Checked, Difference, check

_SUITES: Final = ("body", "orelse", "finalbody", "handlers")
#: statements that a program needs
_KEPT: Final = ("step", "drive", "Model", "construct")


def shrink(source: str, difference: Difference, seconds: float) -> tuple[str, Difference]:
    """The smallest program found that differs in the same way, and how it differs.

    Args:
        source: the program.
        difference: what is kept: its policy and sort.
        seconds: how long to try, in time of this process.
    """
    end = time.process_time() + seconds

    def fails(text: str) -> Difference | None:
        try:
            checked: Checked = check(text, (difference.policy,))
        except SyntaxError:
            return None
        if any(step.label == "drive" for step in checked.eager.steps):
            return None
        return next((found for found in checked.differences if found.sort == difference.sort), None)

    best, found = ast.unparse(ast.parse(source)) + "\n", difference
    for make in (_deletions, _unwrappings, _deletions, _simplifications, _deletions):
        position = 0
        without = _without_unused(best)
        best, found = (without, still) if without != best and (still := fails(without)) else (best, found)
        while time.process_time() < end:
            tree = ast.parse(best)
            changes = make(tree)
            if position >= len(changes):
                break
            changed = changes[position](tree)
            text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
            still = fails(text) if changed and len(text) < len(best) else None
            if still is None:
                position += 1
            else:
                best, found = text, still
    return best, found


def _suites(tree: ast.AST) -> Iterator[tuple[int, str, list[ast.stmt]]]:
    for number, node in enumerate(ast.walk(tree)):
        for name in _SUITES:
            suite = getattr(node, name, None)
            if isinstance(suite, list) and suite:
                yield number, name, suite


Change = Callable[[ast.Module], bool]


def _node(tree: ast.Module, number: int) -> ast.AST:
    return next(node for i, node in enumerate(ast.walk(tree)) if i == number)


def _deletions(tree: ast.Module) -> list[Change]:
    """Whole suites, halves, then one statement at a time; the last first."""
    found: list[tuple[int, Change]] = []
    for number, name, suite in _suites(tree):
        spans = {(0, len(suite)), (0, len(suite) // 2), (len(suite) // 2, len(suite))}
        spans |= {(i, i + 1) for i in range(len(suite))}
        for first, last in spans:
            if first < last and not any(getattr(node, "name", "") in _KEPT for node in suite[first:last]):
                found.append((last - first, _deletion(number, name, first, last)))
    return [change for _, change in sorted(found, key=lambda pair: -pair[0])]


def _deletion(number: int, name: str, first: int, last: int) -> Change:
    def change(tree: ast.Module) -> bool:
        node = _node(tree, number)
        suite = getattr(node, name)
        if first == 0 and last == len(suite):
            if name == "body":
                if all(isinstance(statement, ast.Pass) for statement in suite):
                    return False
                suite[:] = [ast.Pass()]
                return True
            if name == "handlers" and not getattr(node, "finalbody", []):
                return False
            if name == "finalbody" and not getattr(node, "handlers", []):
                return False
        del suite[first:last]
        return True

    return change


def _unwrappings(tree: ast.Module) -> list[Change]:
    """A statement with suites gives way to one of them."""
    found: list[Change] = []
    for number, name, suite in _suites(tree):
        for index, node in enumerate(suite):
            if isinstance(node, (ast.If, ast.For, ast.While, ast.With, ast.Try)):
                inner = [part for part in _SUITES[:3] if getattr(node, part, None)]
                found += [_unwrapping(number, name, index, part) for part in inner]
    return found


def _unwrapping(number: int, name: str, index: int, part: str) -> Change:
    def change(tree: ast.Module) -> bool:
        suite = getattr(_node(tree, number), name)
        suite[index : index + 1] = getattr(suite[index], part)
        return True

    return change


def _parts(item: ast.expr) -> list[ast.expr]:
    """The parts that may stand for an expression; a tensor stays one."""
    if isinstance(item, ast.Call):
        if isinstance(item.func, ast.Name) and item.func.id in ("Tensor", "Parameter"):
            return []
        return [*([item.func.value] if isinstance(item.func, ast.Attribute) else []), *item.args]
    return [part for part in ast.iter_child_nodes(item) if isinstance(part, ast.expr)]


def _without_unused(source: str) -> str:
    """A program without the definitions that nothing names, and without the attributes that nothing reads."""
    while True:
        tree = ast.parse(source)
        used = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
        kept = [node for node in tree.body if _bound(node) is None or _bound(node) in (*used, *_KEPT)]
        tree.body = kept
        text = ast.unparse(tree) + "\n"
        if text == source:
            return text
        source = text


def _bound(node: ast.stmt) -> str | None:
    """The name that a definition at the top of a module binds."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return node.name
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return node.names[0].asname or node.names[0].name
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    return None


def _simplifications(tree: ast.Module) -> list[Change]:
    """An expression gives way to a part of it."""
    found: list[Change] = []
    for number, node in enumerate(ast.walk(tree)):
        for name, value in ast.iter_fields(node):
            items = value if isinstance(value, list) else [value]
            for index, item in enumerate(items):
                if isinstance(
                    item, (ast.BinOp, ast.IfExp, ast.Call, ast.BoolOp, ast.Subscript, ast.Tuple, ast.List, ast.Dict)
                ):
                    parts = len(_parts(item))
                    at = index if isinstance(value, list) else None
                    found += [_simplification(number, name, at, part) for part in range(parts)]
    return found


def _simplification(number: int, name: str, index: int | None, part: int) -> Change:
    def change(tree: ast.Module) -> bool:
        node = _node(tree, number)
        value = getattr(node, name)
        item = value if index is None else value[index]
        parts = _parts(item)
        if part >= len(parts):
            return False
        if index is None:
            setattr(node, name, parts[part])
        else:
            value[index] = parts[part]
        return True

    return change
