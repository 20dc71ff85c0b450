"""Decoding: every instruction that real code contains is known; where branches join."""

from __future__ import annotations

import argparse
import asyncio.base_events
import collections
import contextlib
import dataclasses
import dis
import functools
import inspect
import json.decoder
import statistics
import textwrap
import types
from collections.abc import Iterator
from typing import Any

import pytest

from weft.capture.code.flow import flow_of
from weft.capture.code.instructions import CONDITIONAL, Decoded, decode
from weft.capture.machine.interpreter import HANDLERS

MODULES = [
    argparse, asyncio.base_events, collections, contextlib, dataclasses, functools, inspect, json.decoder, statistics,
    textwrap,
]  # fmt: skip


def code_objects(code: types.CodeType) -> Iterator[types.CodeType]:
    """A code object and those inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from code_objects(constant)


def codes_of(module: types.ModuleType) -> list[types.CodeType]:
    """The functions of a module (bodies of modules and classes run natively)."""
    with open(str(module.__file__), encoding="utf-8") as file:
        code = compile(file.read(), str(module.__file__), "exec")
    return [found for found in code_objects(code) if found.co_flags & inspect.CO_OPTIMIZED]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_instruction_has_a_handler(module: types.ModuleType) -> None:
    unknown = {instr.name for code in codes_of(module) for instr in Decoded(code).instrs if instr.name not in HANDLERS}
    assert not unknown


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_jumps_and_handlers_point_to_instructions(module: types.ModuleType) -> None:
    for code in codes_of(module):
        decoded = Decoded(code)
        count = len(decoded.instrs)
        for index in range(count):
            assert all(0 <= follower < count for follower in decoded.successors(index)), (code, index)
            assert (decoded.instrs[index].target >= 0) == (
                decoded.instrs[index].name in CONDITIONAL or decoded.instrs[index].name == "JUMP"
            ), (code, decoded.instrs[index])
        for handler in decoded.handlers:
            assert 0 <= handler.target < count


@pytest.mark.parametrize("module", MODULES[:4], ids=lambda module: module.__name__)
def test_exception_ranges_agree_with_python(module: types.ModuleType) -> None:
    for code in codes_of(module):
        decoded = Decoded(code)
        entries = dis._parse_exception_table(code)  # type: ignore[attr-defined]
        for index, instr in enumerate(decoded.instrs):
            expected = [e for e in entries if e.start <= instr.offset * 2 < e.end]
            found = decoded.handler_at(index)
            assert (found is not None) == bool(expected), (code, instr)
            if found is not None:
                assert (found.depth, found.push_lasti) == (expected[-1].depth, expected[-1].lasti)
                assert decoded.instrs[found.target].offset * 2 >= expected[-1].target


@pytest.mark.parametrize("module", MODULES[:4], ids=lambda module: module.__name__)
def test_joins_are_the_nearest_common_followers(module: types.ModuleType) -> None:
    """A join lies on every path from the branch to the function's end, and no other such place comes before it."""
    for code in codes_of(module):
        decoded = Decoded(code)
        if len(decoded.instrs) > 250:
            continue
        flow = flow_of(decoded)
        for index, instr in enumerate(decoded.instrs):
            if instr.name not in CONDITIONAL:
                continue
            join = flow.join(index)
            if join is not None:
                assert not reaches_end(flow.successors, index, without=join), (code, index, join)


def reaches_end(successors: list[list[int]], start: int, without: int) -> bool:
    """Whether the function's end can be reached from an instruction without passing another."""
    seen = {without}
    stack = [follower for follower in successors[start] if follower != without]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if not successors[node]:
            return True
        stack.extend(successors[node])
    return False


def branch_of(function: Any, number: int = 0) -> tuple[Decoded, int]:
    decoded = decode(function.__code__)
    found = [i for i, instr in enumerate(decoded.instrs) if instr.name.startswith("POP_JUMP_IF")]
    return decoded, found[number]


def line_of(decoded: Decoded, index: int) -> int:
    return decoded.location(index).line - decoded.code.co_firstlineno


def test_join_of_if_else() -> None:
    def f(x: Any) -> Any:
        if x:
            y = 1
        else:
            y = 2
        y = y * 2 + x  # long enough for the compiler to keep one copy of what follows
        return y

    decoded, branch = branch_of(f)
    join = flow_of(decoded).join(branch)
    assert join is not None
    assert line_of(decoded, join) == 5


def test_join_of_if_without_else() -> None:
    def f(x: Any, y: Any) -> Any:
        if x:
            y = 1
        y = y * 2 + x
        return y

    decoded, branch = branch_of(f)
    join = flow_of(decoded).join(branch)
    assert join is not None
    assert line_of(decoded, join) == 3


def test_no_join_of_two_returns() -> None:
    def f(x: Any) -> Any:
        if x:
            return 1
        return 2

    decoded, branch = branch_of(f)
    assert flow_of(decoded).join(branch) is None


def test_join_of_nested_branches() -> None:
    def f(x: Any, z: Any) -> Any:
        y = 0
        if x:
            if z:
                y = 1
            else:
                y = 2
            y = y + 1 * x
        y = y * 2 + x
        return y

    decoded, outer = branch_of(f, 0)
    _, inner = branch_of(f, 1)
    joins = [flow_of(decoded).join(outer), flow_of(decoded).join(inner)]
    assert [line_of(decoded, j) for j in joins if j is not None] == [8, 7]


def test_loops_of_nested_whiles() -> None:
    def f(x: Any, y: Any) -> Any:
        while x:
            while y:
                y = y - 1
            x = x - 1
        return x

    decoded, _ = branch_of(f)
    loops = flow_of(decoded).loops
    assert loops
    inner = [i for i, instr in enumerate(decoded.instrs) if instr.name == "STORE_FAST" and line_of(decoded, i) == 3]
    outer = [i for i, instr in enumerate(decoded.instrs) if instr.name == "STORE_FAST" and line_of(decoded, i) == 4]
    assert len(flow_of(decoded).loops_around(inner[0])) > len(flow_of(decoded).loops_around(outer[0])) >= 1


def test_location_has_line_and_column() -> None:
    def f(x: Any) -> Any:
        y = x + 1
        return y

    decoded = decode(f.__code__)
    index = next(i for i, instr in enumerate(decoded.instrs) if instr.name == "BINARY_OP")
    location = decoded.location(index)
    assert location.file == __file__
    assert location.line == f.__code__.co_firstlineno + 1
    assert location.column == 12
    assert location.end_column == 17
    assert location.scope.endswith("f")


def test_decoding_is_remembered() -> None:
    def f() -> None:
        pass

    assert decode(f.__code__) is decode(f.__code__)


def test_slots_follow_python() -> None:
    def outer(a: Any, b: Any) -> Any:
        c = a

        def inner() -> Any:
            return b, c

        return inner

    decoded = decode(outer.__code__)
    assert set(decoded.slot_names) == {"a", "b", "c", "inner"}
    assert decode(outer(1, 2).__code__).slot_names[-2:] == ("b", "c")


def test_generators_are_recognised() -> None:
    def generator() -> Any:
        yield 1

    def plain() -> Any:
        return 1

    assert decode(generator.__code__).is_generator
    assert not decode(plain.__code__).is_generator
