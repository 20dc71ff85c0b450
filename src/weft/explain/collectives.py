"""The collectives of a compiled program, read from its text.

XLA writes an instruction a line, in computations that name one another: bodies of loops, branches, fusions. What is
read here are the instructions that move data between devices, how often they run, and how many bytes they move.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

#: the instructions that move data between devices; a begun one (``-start``) is one with its end (``-done``)
KINDS: Final = (
    "all-reduce", "all-gather", "reduce-scatter", "all-to-all", "ragged-all-to-all", "collective-permute",
    "collective-broadcast",
)  # fmt: skip

_INSTRUCTION: Final = re.compile(r"\s+(?:ROOT )?%?([\w.\-]+) = ")
_COMPUTATION: Final = re.compile(r"(ENTRY )?%?([\w.\-]+) [(].*[{]\s*$")
_OPERATION: Final = re.compile(r"([a-z][a-z0-9\-]*)\(")
_ARRAY: Final = re.compile(r"\b([a-z]+[0-9]*[a-z0-9]*)\[([0-9,<=]*)\]")
_BITS: Final = re.compile(r"[a-z]+?(\d+)")
_NAME: Final = re.compile(r'op_name="((?:[^"\\]|\\.)*)"')
_CALLED: Final = re.compile(
    r"\b(calls|to_apply|body|condition|true_computation|false_computation|async_wrapped)=%?([\w.\-]+)"
)
_BRANCHES: Final = re.compile(r"branch_computations=\{([^}]*)\}")
_TRIPS: Final = re.compile(r'"known_trip_count":(\{[^}]*\})')
_PAIRS: Final = re.compile(r"source_target_pairs=\{((?:\{\d+,\d+\},?)*)\}")
_LISTED: Final = re.compile(r"replica_groups=\{((?:\{[\d,]*\},?)*)\}")
_NUMBERED: Final = re.compile(r"replica_groups=(\[[\d,]+\]<=\[[\d,]+\](?:T\([\d,]+\))?)")
_MESH: Final = re.compile(
    r"replica_groups=mesh\[([^\]]*)\](?:,\s*device_ids=\((\[[^)]*?\](?:T\([\d,]+\))?)\))?\s*\{([^}]*)\}"
)
_AXIS: Final = re.compile(r"'([^']*)'(?:=(\d+)|:\((\d+)\)(\d+))?")


class Moved(NamedTuple):
    """What one run of a collective moves.

    Args:
        most: bytes that the device sends which sends the most.
        together: bytes that all devices send.
    """

    most: float
    together: float


@dataclass(frozen=True, slots=True)
class Instruction:
    """A collective of a compiled program.

    Args:
        kind: one of `KINDS`.
        result: what each device has afterwards, as ``f32[4,8]``; several where XLA has made one of several.
        groups: the devices that take part in it together, by their number in the program; for a permutation, from which
            device to which.
        moved: what one run moves.
        runs: how often it is run when the program is, None where a loop of unknown length runs it.
        is_sure: whether it is always run, and not in a branch.
        name: what XLA says of where it comes from.
    """

    kind: str
    result: tuple[str, ...]
    groups: tuple[tuple[int, ...], ...]
    moved: Moved
    runs: int | None
    is_sure: bool
    name: str


class _Line(NamedTuple):
    """An instruction as it is written: its operation, the text of its result, and all of it."""

    operation: str
    result: str
    text: str


class _Run(NamedTuple):
    """How often a computation is run, None for what is not known, and whether it is always."""

    times: int | None
    is_sure: bool


def collectives_of(text: str, devices: int) -> list[Instruction]:
    """The collectives of a program.

    Args:
        text: the program, as XLA writes it after all its passes.
        devices: on how many devices it computes.

    Returns:
        list: in the order in which they are written, those of loops and branches where these are.
    """
    entry, computations = _computations(text)
    return list(_walk(entry, computations, devices, _Run(1, True)))


def _computations(text: str) -> tuple[str, dict[str, list[_Line]]]:
    """The name of the first computation that runs, and the instructions of all."""
    found: dict[str, list[_Line]] = {}
    entry, current = "", []
    for line in text.splitlines():
        head = _COMPUTATION.match(line)
        if head is not None:
            current = found[head[2]] = []
            entry = head[2] if head[1] else entry
            continue
        begun = _INSTRUCTION.match(line)
        if begun is not None:
            rest = line[begun.end() :]
            result = rest[: _end_of_type(rest)]
            operation = _OPERATION.match(rest[len(result) :].lstrip())
            if operation is not None:
                current.append(_Line(operation[1], result, line))
    return entry, found


def _end_of_type(text: str) -> int:
    """Where the type ends that a text begins with."""
    if not text.startswith("("):
        end = text.find(" ")
        return len(text) if end < 0 else end
    depth = 0
    for position, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return position + 1
    return len(text)


def _walk(name: str, computations: dict[str, list[_Line]], devices: int, run: _Run) -> Iterator[Instruction]:
    for line in computations.get(name, ()):
        kind = line.operation.removesuffix("-start")
        if kind in KINDS:
            yield _collective(kind, line, devices, run)
        for called, inside in _called(line, run):
            yield from _walk(called, computations, devices, inside)


def _called(line: _Line, run: _Run) -> Iterator[tuple[str, _Run]]:
    """The computations that an instruction runs, and how often."""
    if line.operation in ("all-reduce", "reduce-scatter", "all-reduce-start"):
        return  # what adds two elements
    if line.operation.endswith(("-done", "-update")):
        return  # the computation of what was begun before
    branches = _BRANCHES.search(line.text)
    if branches is not None:
        for name in branches[1].split(","):
            yield name.strip().lstrip("%"), _Run(run.times, False)
    for what, name in _CALLED.findall(line.text):
        if what in ("body", "condition"):
            known = _TRIPS.search(line.text)
            trips = None if known is None else int(json.loads(known[1])["n"])
            times = None if run.times is None or trips is None else run.times * (trips + (what == "condition"))
            yield name, _Run(times, run.is_sure)
        else:
            yield name, _Run(run.times, run.is_sure and what not in ("true_computation", "false_computation"))


def _collective(kind: str, line: _Line, devices: int, run: _Run) -> Instruction:
    arrays = _ARRAY.findall(line.result)
    if line.operation == "all-gather-start":  # the operands, then the results
        arrays = arrays[len(arrays) // 2 :]
    elif line.operation == "collective-permute-start":  # operand and result, then what only the device needs
        arrays = arrays[1:2]
    size = sum(map(_size, arrays))
    groups = _pairs(line.text) if kind == "collective-permute" else _groups(line.text, devices)
    name = _NAME.search(line.text)
    return Instruction(
        kind,
        tuple([f"{dtype}[{shape}]" for dtype, shape in arrays]),
        groups,
        moved(kind, size, groups),
        run.times,
        run.is_sure,
        "" if name is None else name[1].replace('\\"', '"').replace("\\\\", "\\"),
    )


def _size(array: tuple[str, str]) -> float:
    """The bytes of an array of a device."""
    dtype, shape = array
    bits = _BITS.match(dtype)
    each = int(bits[1]) / 8 if bits is not None else float(dtype == "pred")
    return each * math.prod([int(size.lstrip("<=")) for size in shape.split(",") if size])


def moved(kind: str, size: float, groups: tuple[tuple[int, ...], ...]) -> Moved:
    """What a collective moves whose result has so many bytes on each device, if no more is sent than is needed."""
    if kind == "collective-permute":
        sent = [size for source, target in groups if source != target]
        return Moved(max(sent, default=0.0), sum(sent))
    each = []
    for group in groups:
        count = len(group)
        share = {
            "all-reduce": 2 * (count - 1) / count,
            "reduce-scatter": float(count - 1),
            "collective-broadcast": 1.0,
        }.get(kind, (count - 1) / count)
        each.append((size * share, count - 1 if kind == "collective-broadcast" else count))
    return Moved(max([sent for sent, _ in each], default=0.0), sum([sent * count for sent, count in each]))


def _pairs(text: str) -> tuple[tuple[int, ...], ...]:
    found = _PAIRS.search(text)
    return () if found is None else tuple([_numbers(pair) for pair in re.findall(r"\{([^}]*)\}", found[1])])


def _numbers(text: str) -> tuple[int, ...]:
    return tuple([int(number) for number in text.split(",") if number])


def _groups(text: str, devices: int) -> tuple[tuple[int, ...], ...]:
    """The groups of devices of a collective; one of all devices where it names none."""
    mesh = _MESH.search(text)
    if mesh is not None:
        return _of_mesh(mesh[1], mesh[2], mesh[3])
    numbered = _NUMBERED.search(text)
    if numbered is not None:
        return _rows(_grid(numbered[1]))
    listed = _LISTED.search(text)
    groups = () if listed is None else tuple([_numbers(group) for group in re.findall(r"\{([^}]*)\}", listed[1])])
    return groups or (tuple(range(devices)),)


def _rows(grid: np.ndarray) -> tuple[tuple[int, ...], ...]:
    return tuple([tuple(row) for row in grid.tolist()])


def _grid(text: str) -> np.ndarray:
    """The numbers of ``[4,2]<=[2,4]T(1,0)``: those from 0 in the second shape, its axes permuted, in the first."""
    shape, _, rest = text.partition("<=")
    dims, _, axes = rest.partition("T")
    source = _numbers(dims.strip("[]"))
    grid = np.arange(math.prod(source)).reshape(source)
    if axes:
        grid = grid.transpose(_numbers(axes.strip("()")))
    return grid.reshape(_numbers(shape.strip("[]")))


def _of_mesh(axes: str, numbering: str | None, along: str) -> tuple[tuple[int, ...], ...]:
    """The groups along some axes of a grid; an axis may be named in part: ``'a':(2)4`` is what has size 4 of it where
    what stands before has size 2.
    """
    sizes = {name: int(size) for name, size, _, _ in _AXIS.findall(axes)}
    shape = tuple(sizes.values())
    if numbering is None:
        grid = np.arange(math.prod(shape)).reshape(shape)
    else:
        dims, _, order = numbering.partition("T")
        whole = f"[{','.join(map(str, shape))}]<={dims}{'T' * bool(order)}{order}"
        grid = _grid(whole)
    chosen = []
    parts: list[int] = []
    wanted = {name: (int(before or 1), int(size or sizes[name])) for name, _, before, size in _AXIS.findall(along)}
    for name, size in sizes.items():
        before, inside = wanted.get(name, (size, 1))
        if name in wanted:
            chosen.append(len(parts) + 1)
        parts += [before, inside, size // before // inside]
    grid = grid.reshape(parts)
    others = [axis for axis in range(len(parts)) if axis not in chosen]
    return _rows(grid.transpose([*others, *chosen]).reshape(-1, math.prod([parts[axis] for axis in chosen])))


__all__: Final = ["KINDS", "Instruction", "Moved", "collectives_of", "moved"]
