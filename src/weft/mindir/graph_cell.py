"""`GraphCell`: a graph from a file as a Cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from weft.compile.known_sizes import with_sizes
from weft.compile.replay import replay
from weft.compile.segment import Segment
from weft.compile.sized import SizedSegment, segment_of
from weft.core import trace as trace_module
from weft.core.bounds import check
from weft.core.number import as_number
from weft.core.tensor import Parameter, Tensor
from weft.ir.sizes import COMPARISONS, Size, evaluated
from weft.mindir.program import GraphProgram
from weft.nn.cell import Cell
from weft.ops.random import draws_in_turn, random_state

#: numbers above may not fit the graph
_LARGEST: Final = 2**31 - 1


class GraphCell(Cell):
    """Run a graph that `load` has read; its weights are parameters of this Cell.

    Args:
        graph: what `load` returned.
        params_init: values that replace weights, by name.

    Raises:
        TypeError: `graph` or a value in `params_init` has the wrong type.
        ValueError: `params_init` names no weight, or a value has another shape or element type.

    Example:
        >>> import tempfile, weft
        >>> from weft.mindir import export, load
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     export(weft.nn.Dense(2, 3), weft.Tensor([[1.0, 2.0]]), file_name=f"{folder}/dense")
        ...     net = GraphCell(load(f"{folder}/dense.mindir"))
        >>> sorted(p.name for p in net.trainable_params())
        ['bias', 'weight']
    """

    def __init__(self, graph: GraphProgram, params_init: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        if not isinstance(graph, GraphProgram):
            raise TypeError(f"GraphCell: graph must be what load returns, not {type(graph).__name__}")
        if params_init is not None and not isinstance(params_init, Mapping):
            raise TypeError(f"GraphCell: params_init must be a dict, not {type(params_init).__name__}")
        given = dict(params_init or {})
        self._program = graph
        self._segment = segment_of(graph.graph)
        handles: list[Tensor] = []
        for entry in graph.state:
            array = graph.weights[entry.name].copy()
            if entry.kind == "random":
                handles.append(random_state())
            elif entry.kind == "constant":
                handles.append(Tensor(array))
            else:
                if entry.name in given:
                    array = _replacing(entry.name, array, given.pop(entry.name))
                made = Parameter(Tensor(array), name=entry.name, requires_grad=entry.trained)
                self.insert_param_to_cell(entry.name, made, check_name_contain_dot=False)
                handles.append(made)
        if given:
            raise ValueError(f"GraphCell: params_init names {sorted(given)[0]!r}, which is no weight of the graph")
        self._handles = tuple(handles)

    def construct(self, *args: Any) -> Any:
        """Run the graph on arguments of the structure, shapes and element types it was exported with."""
        program = self._program
        leaves: list[Tensor] = []
        if len(args) != len(program.inputs):
            raise TypeError(f"GraphCell: the graph takes {len(program.inputs)} arguments, not {len(args)}")
        sizes: dict[str, int] = {}
        for place, (value, expected) in enumerate(zip(args, program.inputs, strict=True)):
            _gather(value, expected, leaves, f"argument {place}", sizes)
        if program.conditions:
            _check_conditions(program, sizes)
        with draws_in_turn():
            operands: list[Tensor] = []
            for kind, number in program.params:
                if kind == "size":
                    operands.append(_number(number, sizes))
                else:
                    operands.append(leaves[number] if kind == "input" else self._handles[number])
            outputs = _run(program, self._segment, operands, sizes)
            for output, message in program.checks:
                check(outputs[output], message)
            for output, number in program.stored:
                self._handles[number].rebind(outputs[output])
        return _rebuilt(program.result, outputs)


def _replacing(name: str, array: np.ndarray[Any, Any], value: Any) -> np.ndarray[Any, Any]:
    if not isinstance(value, Tensor):
        raise TypeError(f"GraphCell: params_init[{name!r}] must be a Tensor, not {type(value).__name__}")
    found = np.array(value)
    if (found.shape, found.dtype) != (array.shape, array.dtype):
        raise ValueError(
            f"GraphCell: params_init[{name!r}] is {found.dtype.name} of shape {found.shape}, the graph needs "
            f"{array.dtype.name} of shape {array.shape}"
        )
    return np.array(found)


def _run(
    program: GraphProgram, segment: Segment | SizedSegment, operands: Sequence[Tensor], sizes: Mapping[str, int]
) -> Sequence[Any]:
    """Run the graph, or append it to what is traced: a trace is looked up where nothing can end it."""
    trace = trace_module.current()
    if trace is None:
        return segment.follow(operands)
    graph = with_sizes(program.graph, sizes) if program.graph.is_open else program.graph
    return replay(trace, graph, [trace.present(tensor) for tensor in operands])


def _number(expression: Size, sizes: Mapping[str, int]) -> Tensor:
    """A size as an operand of the graph."""
    size = evaluated(expression, sizes)
    if size > _LARGEST:
        raise ValueError(f"GraphCell: the size {size}, of which the graph makes a number, is too large")
    return Tensor(np.int64(size)) if trace_module.current() is None else as_number(size, int)


def _check_conditions(program: GraphProgram, sizes: Mapping[str, int]) -> None:
    """Whether what the graph relies on holds for the sizes of a call."""
    for left, comparison, right in program.conditions:
        try:
            holds = COMPARISONS[comparison](evaluated(left, sizes), evaluated(right, sizes))
        except ZeroDivisionError:
            holds = False
        if not holds:
            found = ", ".join(f"{name} = {size}" for name, size in sizes.items())
            raise ValueError(
                f"GraphCell: the graph holds for {left} {comparison} {right}, as the sample was, and not for "
                f"arguments with {found}; it takes {_described(program)}"
            )


def _described(program: GraphProgram) -> str:
    """What a graph takes, with the names of its open sizes."""

    def one(item: Any) -> str:
        if item[0] == "tensor":
            return f"{item[2]}[{', '.join('any' if size is None else str(size) for size in item[3])}]"
        parts = [f"{part[0]!r}: {one(part[1])}" if item[0] == "dict" else one(part) for part in item[1]]
        return f"{item[0]}({', '.join(parts)})"

    return ", ".join(map(one, program.inputs))


def _fits(shape: tuple[Any, ...], sizes: dict[str, int], found: tuple[int, ...]) -> bool:
    """Whether a shape is the expected one; notes the sizes that are met first."""
    if len(found) != len(shape):
        return False
    for size, is_now in zip(shape, found, strict=True):
        if type(size) is int:
            expected = size
        elif is_now < 1:
            return False
        elif size is None:
            continue
        else:
            expected = sizes.setdefault(str(size), int(is_now))
        if is_now != expected:
            return False
    return True


def _shown(shape: tuple[Any, ...], sizes: Mapping[str, int]) -> str:
    """A shape, with what other arguments say of its open sizes."""
    if all(type(size) is int for size in shape):
        return str(shape)
    known = {str(size): sizes[str(size)] for size in shape if type(size) is not int and str(size) in sizes}
    text = ", ".join("any" if size is None else str(size) for size in shape)
    here = "".join(f", {name} = {size} here" for name, size in known.items())
    return f"({text}{',' if len(shape) == 1 else ''}), sizes from 1 on{here}"


def _gather(value: Any, expected: Any, leaves: list[Tensor], where: str, sizes: dict[str, int]) -> None:
    """Check an argument and take its tensors and the sizes that the graph leaves open."""
    kind = expected[0]
    if kind == "tensor":
        if not isinstance(value, Tensor):
            raise TypeError(f"GraphCell: {where} must be a Tensor, not {type(value).__name__}")
        dtype, shape = expected[2], tuple(expected[3])
        if value.dtype.np_dtype.name != dtype or not _fits(shape, sizes, tuple(value.shape)):
            raise ValueError(
                f"GraphCell: {where} is {value.dtype.np_dtype.name} of shape {tuple(value.shape)}, the graph was "
                f"exported for {dtype} of shape {_shown(shape, sizes)}"
            )
        leaves.append(value)
        return
    if type(value).__name__ != kind or len(value) != len(expected[1]):
        raise TypeError(f"GraphCell: {where} must be a {kind} of {len(expected[1])} items")
    if kind == "dict":
        for key, part in expected[1]:
            if key not in value:
                raise TypeError(f"GraphCell: {where} must have the key {key!r}")
            _gather(value[key], part, leaves, f"{where}[{key!r}]", sizes)
        return
    for place, (item, part) in enumerate(zip(value, expected[1], strict=True)):
        _gather(item, part, leaves, f"{where}[{place}]", sizes)


def _rebuilt(result: Any, outputs: Sequence[Any]) -> Any:
    kind, content = result
    if kind == "tensor":
        return outputs[content]
    if kind == "number":
        return outputs[content].item()
    if kind == "plain":
        return content
    if kind == "dict":
        return {key: _rebuilt(item, outputs) for key, item in content}
    items = [_rebuilt(item, outputs) for item in content]
    return tuple(items) if kind == "tuple" else items
