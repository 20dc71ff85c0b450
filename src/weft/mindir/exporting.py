"""`export`: a network or function with its weights as a file."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import jax
import numpy as np

from weft.capture.whole import Whole, capture_whole
from weft.compile.listing import operations_of
from weft.compile.lower import lower
from weft.core.tensor import Parameter, Tensor
from weft.core.transparency import python_only
from weft.errors import Refusal, Unsupported
from weft.ir.graph import Graph
from weft.ir.text import format_graph
from weft.ops.random import random_state
from weft.train.serialization import safetensors_library

#: version of the format; a program reads files of its own version only
FORMAT_VERSION: Final = 1
METADATA_KEY: Final = "weft.mindir"
_ENDINGS: Final = {"MINDIR": ".mindir", "STABLEHLO": ".stablehlo"}


@python_only
def export(net: Any, *inputs: Any, file_name: str, file_format: str = "MINDIR") -> None:
    """Write a network or function with its weights into a file that runs without its code.

    Args:
        net: a Cell or function; all that it does must fit one graph.
        inputs: sample arguments: Tensors, or tuples, lists and dictionaries of them.
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
    leaves: list[Tensor] = []
    described: list[Any] = []
    copies = [_copied(value, leaves, described) for value in inputs]
    name = getattr(net, "__name__", type(net).__name__)
    whole = capture_whole(net, copies, name)
    if file_format == "MINDIR":
        content = _mindir(whole, leaves, described)
    else:
        content = _stablehlo(whole, leaves)
    _write(path, content)


def _copied(value: Any, leaves: list[Tensor], described: list[Any] | None) -> Any:
    """An argument with new handles for its tensors, so that none of them is a weight; notes the structure."""
    if isinstance(value, Tensor):
        copy = Tensor(value.asnumpy())
        if described is not None:
            described.append(["tensor", len(leaves), copy.asnumpy().dtype.name, list(copy.shape)])
        leaves.append(copy)
        return copy
    if type(value) in (tuple, list):
        items: list[Any] = []
        made = [_copied(item, leaves, items) for item in value]
        if described is not None:
            described.append([type(value).__name__, items])
        return tuple(made) if type(value) is tuple else made
    if type(value) is dict and all(type(key) is str for key in value):
        items = []
        made_dict = {key: _copied(item, leaves, items) for key, item in value.items()}
        if described is not None:
            described.append(["dict", [[key, item] for key, item in zip(value, items, strict=True)]])
        return made_dict
    raise TypeError(
        f"export: an input must be a Tensor, or a tuple, list or dict of Tensors, not {type(value).__name__}"
    )


def _mindir(whole: Whole, leaves: list[Tensor], described: list[Any]) -> bytes:
    """The content of a MINDIR file."""
    _check_operations(whole.graph)
    numbers = {id(leaf): number for number, leaf in enumerate(leaves)}
    written = {output: handle for output, handle in whole.stored.items() if id(handle) not in numbers}
    if len(written) != len(whole.stored):
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
            array = np.zeros(2, np.uint32) if kind == "random" else handle.asnumpy()
            weights[name] = np.ascontiguousarray(array).reshape(array.shape)
        return places[id(handle)]

    params = []
    for param in whole.graph.params:
        handle = whole.handles[param]
        number = numbers.get(id(handle))
        params.append(["state", place(handle)] if number is None else ["input", number])
    facts = {
        "version": FORMAT_VERSION,
        "graph": format_graph(whole.graph, locations=False),
        "inputs": described,
        "params": params,
        "stored": [[output, place(handle)] for output, handle in written.items()],
        "checks": [list(check) for check in whole.checks],
        "state": state,
        "result": whole.result,
    }
    content: bytes = safetensors_library("MINDIR files").numpy.save(weights, {METADATA_KEY: json.dumps(facts)})
    return content


def _check_operations(graph: Graph) -> None:
    """Refuse code of the program in operations, which other processes do not have."""
    names = operations_of(graph)
    if names is not None and all(name == known for name, known in names.items()):
        return
    for node in graph.walk():
        alone = Graph("one")
        alone.nodes = [node]
        found = operations_of(alone)
        if found is None or any(name != known for name, known in found.items()):
            raise Unsupported(
                Refusal.IMPURE_CALL,
                f"the operation {node.op.name} holds code of the program or of an optimizer, which a file cannot",
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
    numbers = {id(leaf): number for number, leaf in enumerate(leaves)}
    run: Callable[..., Any] = lower(whole.graph)
    outputs = _outputs(whole.result)
    handles = [whole.handles[param] for param in whole.graph.params]

    def call(*arrays: Any) -> Any:
        operands = [arrays[numbers[id(h)]] if id(h) in numbers else h._data for h in handles]
        results = run(*operands)
        return tuple(results[output] for output in outputs)

    exported = jax.export.export(jax.jit(call, keep_unused=True))(*[leaf._data for leaf in leaves])
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
