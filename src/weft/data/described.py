"""Pipelines as data: what each source and operation was made with, as JSON and back."""

from __future__ import annotations

import enum
import importlib
import inspect
import json
import logging
import warnings
from typing import Any

import numpy as np

from weft.data.dataset import Dataset
from weft.data.node import Node
from weft.data.operation import Operation
from weft.data.samplers import BuiltinSampler


def _arguments(made: Any) -> dict[str, Any]:
    """What an object was made with, by name."""
    args, kwargs = made.made_with
    bound = inspect.signature(type(made)).bind(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)


def _where(kind: type[Any]) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def _named(where: str) -> Any:
    """What stands under a name in weft."""
    module, _, name = where.partition(":")
    if module != "weft" and not module.startswith("weft."):
        raise RuntimeError(f"deserialize: {where} is no part of a pipeline that can be made anew")
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _written(value: Any) -> Any:
    """A value as JSON can hold it."""
    if isinstance(value, enum.Enum):
        return {"enum": _where(type(value)), "value": value.value}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_written(each) for each in value]
    if isinstance(value, np.ndarray):
        return {"array": value.tolist(), "dtype": value.dtype.str}
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return {"dtype": np.dtype(value).name}
    if isinstance(value, dict) and all(isinstance(each, str) for each in value):
        return {"dict": {key: _written(each) for key, each in value.items()}}
    if isinstance(value, (Operation, BuiltinSampler)) and type(value).__module__.startswith("weft."):
        arguments = {key: _written(each) for key, each in _arguments(value).items()}
        child = getattr(value, "child_sampler", None)
        return {
            "made": _where(type(value)),
            "arguments": arguments,
            **({} if child is None else {"child": _written(child)}),
        }
    warnings.warn(f"serialize: {value!r} is of the program, and cannot be made anew of the description", stacklevel=2)
    return {"object": type(value).__name__}


def _read(value: Any) -> Any:
    """A value of what `_written` made of it."""
    if isinstance(value, list):
        return [_read(each) for each in value]
    if not isinstance(value, dict):
        return value
    if "enum" in value:
        return _named(value["enum"])(value["value"])
    if "array" in value:
        return np.asarray(value["array"], value["dtype"])
    if "dtype" in value:
        return np.dtype(value["dtype"])
    if "dict" in value:
        return {key: _read(each) for key, each in value["dict"].items()}
    if "made" in value:
        kind = _named(value["made"])
        if not (isinstance(kind, type) and issubclass(kind, (Operation, BuiltinSampler))):
            raise RuntimeError(f"deserialize: {value['made']} is no operation and no sampler")
        made: Any = kind(**{key: _read(each) for key, each in value["arguments"].items()})
        if "child" in value:
            made.add_child(_read(value["child"]))
        return made
    raise RuntimeError(f"deserialize: {value.get('object')} is of a program, and cannot be made anew")


def _children(node: Node) -> tuple[dict[str, Any], list[str]]:
    """The arguments of a node, and which of them are those that it reads from."""
    arguments = _arguments(node)
    reads = [name for name, value in arguments.items() if _is_pipeline(value)]
    return arguments, reads


def _is_pipeline(value: Any) -> bool:
    return isinstance(value, Node) or (
        isinstance(value, (list, tuple)) and bool(value) and all(isinstance(each, Node) for each in value)
    )


def serialize(dataset: Any, json_filepath: str = "") -> dict[str, Any]:
    """A pipeline as plain data.

    Args:
        dataset: its last operation.
        json_filepath: a file that it is written to; none, if empty.

    Returns:
        dict: the data, with a dict in ``children`` for each that it reads from.

    Raises:
        OSError: the file cannot be written.
    """
    if not isinstance(dataset, Dataset):
        raise TypeError(f"serialize: expected a dataset, not {type(dataset).__name__}")
    found = _described(dataset)
    if json_filepath:
        with open(json_filepath, "w", encoding="utf-8") as stream:
            json.dump(found, stream, indent=2)
    return found


def _described(node: Node) -> dict[str, Any]:
    arguments, reads = _children(node)
    children: list[dict[str, Any]] = []
    places: dict[str, Any] = {}
    for name in reads:
        value = arguments.pop(name)
        listed = [value] if isinstance(value, Node) else list(value)
        places[name] = {"first": len(children), "count": None if isinstance(value, Node) else len(listed)}
        children += [_described(each) for each in listed]
    said = {name: _written(value) for name, value in arguments.items()}
    return {"op_type": type(node).__name__, "arguments": said, "reads": places, "children": children}


def deserialize(input_dict: dict[str, Any] | None = None, json_filepath: str | None = None) -> Any:
    """A pipeline of what `serialize` made of it.

    Args:
        input_dict: the data.
        json_filepath: a file of it instead.

    Returns:
        Dataset: the pipeline; None where neither is given.

    Raises:
        OSError: there is no such file.
        RuntimeError: something in it was of a program.
    """
    if json_filepath:
        with open(json_filepath, encoding="utf-8") as stream:
            input_dict = json.load(stream)
    return None if input_dict is None else _made(input_dict)


def _made(said: dict[str, Any]) -> Any:
    kind = Node.kinds.get(said.get("op_type", ""))
    if kind is None or not kind.__module__.startswith("weft."):
        raise RuntimeError(f"deserialize: there is no operation {said.get('op_type')}")
    arguments = {name: _read(value) for name, value in said["arguments"].items()}
    children = [_made(each) for each in said["children"]]
    for name, place in said["reads"].items():
        first, count = place["first"], place["count"]
        arguments[name] = children[first] if count is None else tuple(children[first : first + count])
    return kind(**arguments)


def compare(pipeline1: Any, pipeline2: Any) -> bool:
    """Whether two pipelines are made of the same sources and operations.

    Args:
        pipeline1: a pipeline.
        pipeline2: the other.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return serialize(pipeline1) == serialize(pipeline2)


def show(dataset: Any, indentation: int | None = 2) -> None:
    """Write a pipeline to the log.

    Args:
        dataset: its last operation.
        indentation: by how many places what is in another stands further right.
    """
    logging.getLogger("weft").info(json.dumps(serialize(dataset), indent=indentation))
