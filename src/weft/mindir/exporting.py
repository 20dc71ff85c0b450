"""`export`: a network or function with its weights as a file."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import jax
import numpy as np
import safetensors.numpy

from weft.capture.whole import Whole
from weft.compile.known_sizes import with_sizes
from weft.compile.listing import operations_of
from weft.compile.lower import lower
from weft.core.tensor import Parameter, Tensor, data_of
from weft.core.transparency import python_only
from weft.errors import Refusal, Unsupported
from weft.ir.graph import Graph
from weft.ir.sizes import atoms_of, constrained, evaluated, settled
from weft.ir.text import format_graph
from weft.mindir.samples import captured
from weft.ops.random import random_state
from weft.parallel import spanning
from weft.parallel.placement import for_one_device

#: version of the format; a program reads files of its own version only
FORMAT_VERSION: Final = 2
METADATA_KEY: Final = "weft.mindir"
_ENDINGS: Final = {"MINDIR": ".mindir", "STABLEHLO": ".stablehlo"}


@python_only
def export(net: Any, *inputs: Any, file_name: str, file_format: str = "MINDIR") -> None:
    """Write a network or function with its weights into a file that runs without its code.

    Args:
        net: a Cell or function; all that it does must fit one graph.
        inputs: sample arguments: Tensors, or tuples, lists and dictionaries of them. ``None`` in the shape of
            ``Tensor(shape=[None, 3], dtype=...)`` leaves that size open: calls bring any from 1 on.
        file_name: the file; the format's ending is added if it is missing.
        file_format: ``"MINDIR"`` (weft's own, see docs/mindir.md) or ``"STABLEHLO"``.

    Raises:
        Unsupported: the call needs Python when it runs; the message names the line and why.
        ImportError: the package safetensors is not installed, and the format is ``"MINDIR"``.
        TypeError: an input is no Tensor, or an argument is of the wrong type.
        ValueError: the format is not known.

    Example:
        >>> import tempfile, weft
        >>> from weft.mindir import GraphCell, load
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     name = f"{folder}/twice.mindir"
        ...     export(lambda x: x * 2, weft.Tensor([1.0, 2.0]), file_name=name)
        ...     print(GraphCell(load(name))(weft.Tensor([3.0, 4.0])))
        [6. 8.]
    """
    if not isinstance(file_name, (str, os.PathLike)):
        raise TypeError(f"export: file_name must be a str, not {type(file_name).__name__}")
    if file_format == "ONNX":
        raise ValueError("export: file_format 'ONNX' is not supported; use 'MINDIR' or 'STABLEHLO'")
    if file_format not in _ENDINGS:
        raise ValueError(f"export: file_format must be 'MINDIR' or 'STABLEHLO', not {file_format!r}")
    if not callable(net):
        raise TypeError(f"export: the first argument must be a Cell or a function, not {type(net).__name__}")
    path = Path(os.fspath(file_name))
    if path.suffix != _ENDINGS[file_format]:
        path = path.with_name(path.name + _ENDINGS[file_format])
    with for_one_device():
        whole, leaves, described = captured(net, inputs)
    if file_format == "MINDIR":
        content = _mindir(whole, leaves, described)
    else:
        content = _stablehlo(whole, leaves)
    _write(path, content)


def _mindir(whole: Whole, leaves: list[Tensor], described: list[Any]) -> bytes:
    """The content of a MINDIR file."""
    _check_operations(whole.graph)
    numbers = {id(leaf): number for number, leaf in enumerate(leaves)}
    names = operations_of(whole.graph) or {}
    if not numbers.keys().isdisjoint(whole.stored):
        raise Unsupported(
            Refusal.OUTPUT, "the call writes into its own input", "return the new value instead"
        )  # fmt: skip
    state: list[list[Any]] = []
    places: dict[int, int] = {}
    weights: dict[str, np.ndarray[Any, Any]] = {}

    def place(handle: Tensor) -> int:
        if id(handle) not in places:
            places[id(handle)] = len(state)
            kind = "parameter" if isinstance(handle, Parameter) else "constant"
            if handle is random_state():
                kind = "random"
            name = handle.name if isinstance(handle, Parameter) else kind
            if name in weights or name == "__metadata__" or kind != "parameter":
                name = f"{name}:{len(state)}"
            trained = isinstance(handle, Parameter) and bool(handle.requires_grad)
            state.append([name, kind, trained])
            array = np.zeros(2, np.uint32) if kind == "random" else np.array(handle)
            weights[name] = np.ascontiguousarray(array).reshape(array.shape)
        return places[id(handle)]

    params: list[list[Any]] = []
    for param in whole.graph.params:
        if param in whole.sizes:
            params.append(["size", str(whole.sizes[param])])
            continue
        handle = whole.handles[param]
        number = numbers.get(id(handle))
        params.append(["state", place(handle)] if number is None else ["input", number])
    facts = {
        "version": FORMAT_VERSION,
        "graph": format_graph(whole.graph, locations=False),
        "operations": {name: known_as for name, known_as in names.items() if name != known_as},
        "conditions": [[str(left), comparison, str(right)] for comparison, left, right in whole.conditions],
        "inputs": described,
        "params": params,
        "stored": [[output, place(handle)] for output, handle in whole.stored.values()],
        "checks": [list(check) for check in whole.checks],
        "state": state,
        "result": whole.result,
    }
    content: bytes = safetensors.numpy.save(weights, {METADATA_KEY: json.dumps(facts)})
    return content


def _check_operations(graph: Graph) -> None:
    """Refuse code of the program in operations, which other processes do not have."""
    if operations_of(graph) is not None:
        return
    for node in graph.walk():
        alone = Graph("one")
        alone.nodes = [node]
        if operations_of(alone) is None:
            raise Unsupported(
                Refusal.IMPURE_CALL,
                f"the operation {node.op.name} holds code of the program, which a file cannot",
                "use operations of the library only",
                node.where(),
            )
    raise Unsupported(Refusal.IMPURE_CALL, "code of the program takes part in an operation")


def _stablehlo(whole: Whole, leaves: list[Tensor]) -> bytes:
    """StableHLO's portable bytecode: from the inputs' arrays to the arrays of the result, weights as constants."""
    if whole.stored:
        raise Unsupported(
            Refusal.OUTPUT,
            "the call changes tensors (running statistics, or the random stream), for which StableHLO has no place",
            "export the network for inference (set_train(False)), or as MINDIR",
        )
    graph, atoms = whole.graph, dict[str, Any]()
    if whole.types:
        if any(comparison == "!=" for comparison, _, _ in whole.conditions):
            raise Unsupported(
                Refusal.DYNAMIC_SHAPE,
                "the call depends on whether sizes that are left open (None) differ, which StableHLO cannot say",
                "export for samples with all sizes, or as MINDIR",
            )
        names = atoms_of(tuple([kind.shape for kind in whole.types.values()]))
        atoms = constrained(names, graph.facts)  # JAX checks the facts where the file runs
        graph = with_sizes(graph, atoms, check=False)
    numbers = {id(leaf): number for number, leaf in enumerate(leaves)}
    run: Callable[..., Any] = lower(graph)
    outputs = _outputs(whole.result)
    handles = [whole.handles.get(param) for param in whole.graph.params]
    sizes = [None if param not in whole.sizes else evaluated(whole.sizes[param], atoms) for param in whole.graph.params]

    def operand(handle: Tensor | None, size: Any, arrays: Sequence[Any]) -> Any:
        if handle is None:
            return jax.numpy.asarray(size, np.int64)
        if id(handle) in numbers:
            return arrays[numbers[id(handle)]]
        return jax.numpy.asarray(np.asarray(spanning.whole(data_of(handle))))

    def call(*arrays: Any) -> Any:
        results = run(*[operand(handle, size, arrays) for handle, size in zip(handles, sizes, strict=True)])
        return tuple(results[output] for output in outputs)

    shapes = [settled(kind.shape, atoms) if (kind := whole.types.get(id(leaf))) else leaf.shape for leaf in leaves]
    taken = [jax.ShapeDtypeStruct(s, leaf.dtype.np_dtype) for s, leaf in zip(shapes, leaves, strict=True)]
    exported = jax.export.export(jax.jit(call, keep_unused=True))(*taken)
    return bytes(exported.mlir_module_serialized)


def _outputs(result: Any) -> list[int]:
    """The outputs of the graph that a result is made of, in order."""
    kind, content = result
    if kind in ("tensor", "number"):
        return [content]
    if kind == "plain":
        return []
    items = [item for _, item in content] if kind == "dict" else content
    return [output for item in items for output in _outputs(item)]


def _write(path: Path, content: bytes) -> None:
    """Write beside the file, then put it in place in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        temporary = Path(folder) / "new"
        temporary.write_bytes(content)
        os.replace(temporary, path)
