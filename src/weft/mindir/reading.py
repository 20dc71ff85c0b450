"""`load`: a graph and its weights from a file, every claim of which is checked."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
import safetensors

from weft.compile.known_sizes import places_of
from weft.compile.listing import operation, operations_of, read_graph
from weft.core.primitive import IO, Primitive
from weft.core.transparency import python_only
from weft.dtypes import bool_, int64
from weft.errors import MindIRError
from weft.ir.graph import Graph
from weft.ir.sizes import ATOM, COMPARISONS, atoms_of, inequalities, is_open_size, parsed
from weft.ir.text import held_graph
from weft.ir.types import TensorType
from weft.ir.verifier import verify
from weft.mindir.exporting import FORMAT_VERSION, METADATA_KEY
from weft.mindir.program import GraphProgram, Tensors
from weft.train.serialization import ELEMENT_TYPES

#: safetensors reads no longer header
_HEADER_LIMIT: Final = 100_000_000


@python_only
def load(file_name: str) -> GraphProgram:
    """Read what `export` wrote as MINDIR; nothing in the file can run while it is read.

    Args:
        file_name: the file.

    Returns:
        GraphProgram: for `GraphCell`.

    Raises:
        MindIRError: there is no such file, it is damaged, or of another version.
        TypeError: `file_name` is no path.
        ImportError: the package safetensors is not installed.

    Example:
        >>> load("nowhere.mindir")
        Traceback (most recent call last):
        weft.errors.MindIRError: there is no MINDIR file nowhere.mindir
    """
    if not isinstance(file_name, (str, os.PathLike)):
        raise TypeError(f"load: file_name must be a str, not {type(file_name).__name__}")
    path = Path(os.fspath(file_name))
    if not path.is_file():
        raise MindIRError(f"there is no MINDIR file {path}")
    try:
        with path.open("rb") as file:
            return _program(_content(file))
    except MindIRError as error:
        raise MindIRError(f"{path}: {error}") from None
    except OSError as error:
        raise MindIRError(f"{path} cannot be read: {error.strerror or error}") from error
    except (Exception, RecursionError) as error:  # whatever a claim of the file leads to
        raise MindIRError(f"{path} is no undamaged MINDIR file: {type(error).__name__}: {error}"[:1000]) from None


def _content(file: BinaryIO) -> bytes:
    """The bytes of a file, read only once its header and its length fit one another."""
    length = os.fstat(file.fileno()).st_size
    start = file.read(8)
    size = int.from_bytes(start, "little")
    _need(len(start) == 8 and size <= min(length - 8, _HEADER_LIMIT), "the length of the header")
    text = file.read(size)
    ends = [0]
    for name, entry in json.loads(text).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            _need(type(begin) is int and type(end) is int and 0 <= begin <= end, "the place of a weight")
            ends.append(end)
    _need(8 + size + max(ends) == length, "the length of the file")
    return start + text + file.read(max(ends))


def _program(content: bytes) -> GraphProgram:
    entries = safetensors.deserialize(content)  # type: ignore[no-untyped-call]
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    facts = json.loads(header["__metadata__"][METADATA_KEY])
    version = facts["version"]
    if type(version) is not int or version != FORMAT_VERSION:
        raise MindIRError(f"it has the format version {version!r:.20}; this program reads {FORMAT_VERSION}")
    weights = {name: _array(entry) for name, entry in entries}
    known_as = _operations(facts["operations"])
    graph = read_graph(facts["graph"], known_as)
    _check_operations(graph, known_as)
    verify(graph)
    state = [Tensors(*entry) for entry in facts["state"]]
    conditions = [(parsed(left), comparison, parsed(right)) for left, comparison, right in facts["conditions"]]
    inputs = [_input(item) for item in facts["inputs"]]
    params = [[kind, parsed(which) if kind == "size" else which] for kind, which in facts["params"]]
    program = GraphProgram(
        graph, inputs, params, state, facts["result"], facts["stored"], facts["checks"], weights, conditions
    )
    _check(program)
    graph.facts = tuple(
        [fact for left, comparison, right in conditions for fact in inequalities(comparison, left, right)]
    )
    return program


class _Operations(dict[str, str]):
    """Names of operations in a file -> the names under which the library knows them: the same for most."""

    def __missing__(self, name: str) -> str:
        return name


def _operations(names: Any) -> _Operations:
    _need(type(names) is dict, "the list of operations")
    for name, known_as in names.items():
        _need(type(known_as) is str and known_as.startswith("weft.") and known_as in Primitive.makers, "an operation")
        _need(Primitive.named(name) is None, "the name of an operation")
    return _Operations(names)


def _input(item: Any) -> Any:
    """The structure of an input, with its open sizes read."""
    kind, *content = item
    if kind == "tensor":
        number, dtype, shape = content
        return [kind, number, dtype, tuple([parsed(size) if type(size) is str else size for size in shape])]
    if kind == "dict":
        return [kind, [[key, _input(part)] for key, part in content[0]]]
    return [kind, [_input(part) for part in content[0]]]


def _check_operations(graph: Graph, known_as: Mapping[str, str]) -> None:
    """Only the library's own operations, and none that calls the host."""
    names = operations_of(graph)
    _need(names is not None and all(known_as[name] == known for name, known in names.items()), "an operation")
    for name, known in (names or {}).items():
        if known in Primitive.makers:
            _need(Primitive.makers[known]().effect != IO, "an operation")
            continue
        base = name
        while Primitive.named(base) is None and base.startswith("Grad"):  # a derivative does what its operation does
            base = base.removeprefix("Grad")
        if IO in (operation(name).effect, operation(base).effect):
            raise MindIRError(f"it calls the host ({name}), which a file may not")


def _array(entry: dict[str, Any]) -> np.ndarray[Any, Any]:
    dtype, shape = np.dtype(ELEMENT_TYPES[entry["dtype"]]), tuple(entry["shape"])
    _need(len(shape) <= 32 and math.prod(shape) * dtype.itemsize == len(entry["data"]), "a weight's size")
    _need(dtype != np.bool_ or not entry["data"] or max(entry["data"]) <= 1, "bytes of a bool")
    return np.frombuffer(entry["data"], dtype).reshape(shape)


def _need(holds: bool, what: str) -> None:
    if not holds:
        raise MindIRError(f"it is damaged: {what} is wrong")


def _check(program: GraphProgram) -> None:
    """Whether the parts of a file fit one another."""
    graph, state = program.graph, program.state
    types: list[tuple[str, tuple[Any, ...]]] = []
    for item in program.inputs:
        _check_input(item, types)
    _check_sizes(program, types)
    names = [entry.name for entry in state]
    _need(len(set(names)) == len(names) and set(names) == set(program.weights), "the list of weights")
    for entry in state:
        _need(entry.kind in ("parameter", "constant", "random"), "the kind of a weight")
        _need(type(entry.trained) is bool and type(entry.name) is str and entry.name != "", "a weight's description")
        array = program.weights[entry.name]
        _need(entry.kind != "random" or (array.shape, array.dtype.name) == ((2,), "uint32"), "the random state")
    kept = [(program.weights[name].dtype.name, program.weights[name].shape) for name in names]
    _need(len(program.params) == len(graph.params), "the number of the graph's parameters")
    for (kind, number), param in zip(program.params, graph.params, strict=True):
        if kind == "size":
            _need(param.type is TensorType.of(int64, (), int), "the type of a parameter")
            continue
        _need(kind in ("input", "state"), "the kind of a parameter")
        known = types if kind == "input" else kept
        _need(_is_place(number, known) and _type_of(param.type) == known[number], "the type of a parameter")
    for output, message in program.checks:
        _need(_is_place(output, graph.outputs) and type(message) is str, "what is checked")
        kind = graph.outputs[output].type
        _need(isinstance(kind, TensorType) and kind.dtype is bool_ and kind.shape == (), "the type of what is checked")
    for output, number in program.stored:
        _need(_is_place(output, graph.outputs) and _is_place(number, state), "what is stored")
        _need(_type_of(graph.outputs[output].type) == kept[number], "the type of what is stored")
    _check_result(program.result, graph)


def _check_sizes(program: GraphProgram, types: list[tuple[str, tuple[Any, ...]]]) -> None:
    """Whether the calls bring all sizes that the graph leaves open."""
    brought = {str(size) for _, shape in types for size in shape if is_open_size(size)}
    for left, comparison, right in program.conditions:
        _need(comparison in COMPARISONS and brought.issuperset(atoms_of((left, right))), "a condition on sizes")
    for kind, size in program.params:
        _need(kind != "size" or brought.issuperset(atoms_of((size,))), "a size")
    places = places_of(program.graph)
    _need(brought.issuperset(places), "the sizes of the inputs")
    stack: list[Any] = [program.graph]
    seen: set[int] = set()
    while stack:
        graph = stack.pop()
        if id(graph) in seen:
            continue
        seen.add(id(graph))
        kinds = [value.type for value in graph.params]
        for node in graph.nodes:
            kinds += [value.type for value in node.outputs]
            held = [held_graph(value) for value in node.attrs]
            stack += [*node.regions, *[inner for inner in held if inner is not None]]
            _need(places.keys() >= set(atoms_of(node.attrs)), "an open size")
        shapes = tuple([kind.shape for kind in kinds if isinstance(kind, TensorType) and kind.is_open])
        _need(places.keys() >= set(atoms_of(shapes)), "an open size")


def _check_input(item: Any, types: list[tuple[str, tuple[Any, ...]]]) -> None:
    if item[0] == "tensor":
        _, number, dtype, shape = item
        _need(type(number) is int and number == len(types), "the number of an input")
        for size in shape:
            known = size is None or (type(size) is int and size >= 0)
            _need(known or (is_open_size(size) and ATOM.fullmatch(str(size)) is not None), "the shape of an input")
        types.append((dtype, shape))
        return
    kind, content = item
    _need(kind in ("tuple", "list", "dict"), "the structure of the inputs")
    for part in content:
        if kind == "dict":
            _need(len(part) == 2 and type(part[0]) is str, "a key of the inputs")
        _check_input(part[1] if kind == "dict" else part, types)


def _check_result(item: Any, graph: Graph) -> None:
    kind, content = item
    if kind in ("tensor", "number"):
        _need(_is_place(content, graph.outputs), "an output")
        kind_of = graph.outputs[content].type
        _need(isinstance(kind_of, TensorType) and (kind == "tensor" or kind_of.shape == ()), "the type of an output")
    elif kind == "plain":
        _need(content is None or type(content) in (bool, int, float, str), "a plain result")
    else:
        _need(kind in ("tuple", "list", "dict"), "the structure of the result")
        for part in content:
            if kind == "dict":
                _need(len(part) == 2 and type(part[0]) is str, "a key of the result")
            _check_result(part[1] if kind == "dict" else part, graph)


def _is_place(number: Any, items: Any) -> bool:
    return type(number) is int and 0 <= number < len(items)


def _type_of(kind: Any) -> tuple[str, tuple[int, ...]] | None:
    return (kind.dtype.np_dtype.name, kind.shape) if isinstance(kind, TensorType) else None
