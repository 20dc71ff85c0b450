"""The single door: every computation on tensors goes through `apply`.

Three interpreters stand behind it. *Eager* runs the primitive's compiled executable. *Graph* appends a node when an
operand is symbolic, or when a trace is active and an operand existed before it. *Constant* runs eagerly during a
trace because everything is known. Eager and graph alike leave a tape entry when a gradient follows an operand.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from marshal import dumps
from typing import Any

import numpy as np

from weft import dtypes
from weft._jax_compat import Array, to_device
from weft.context import GRADIENTS
from weft.core import trace as trace_module
from weft.core.conversion import converted
from weft.core.primitive import ACROSS, IO, PACKED, PURE, Primitive, exact
from weft.core.recording import PrimitiveNode, recorded
from weft.core.run_number import RunNumber, attributes
from weft.core.tape import GRADIENTS as IN_PROGRESS
from weft.core.tape import SYMBOL, Edge, TapeNode
from weft.core.tensor import LiteralTensor, Tensor, data_of, settled, tracked, view, wrap
from weft.core.trace import Trace
from weft.core.tracebacks import hide_operation
from weft.dtypes import DType
from weft.errors import NoTensor, Refusal, Unsupported
from weft.ir.graph import Value
from weft.ir.sizes import has_open
from weft.ir.types import TensorType

_new = object.__new__
#: whether any thread is capturing or watching; a plain global because the eager fast path reads it
_careful = False
_capturing = False
_watches: list[Watch] = []


def _set_capturing(active: bool) -> None:
    global _capturing, _careful
    _capturing = active
    _careful = _capturing or bool(_watches)


trace_module.on_activity(_set_capturing)


class Watch:
    """Notices, within a block, whether this thread computes something eagerly.

    Example:
        >>> from weft import Tensor
        >>> x = Tensor([1.0])
        >>> with Watch() as watch:
        ...     y = x + x
        >>> watch.noticed
        True
    """

    __slots__ = ("thread", "noticed")

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self.noticed = False

    def __enter__(self) -> Watch:
        _watches.append(self)
        _set_capturing(_capturing)
        return self

    def __exit__(self, *_: object) -> None:
        _watches.remove(self)
        _set_capturing(_capturing)


def _notice() -> None:
    thread = threading.get_ident()
    for watch in _watches:
        if watch.thread == thread:
            watch.noticed = True


_SCALARS: dict[tuple[Any, ...], Tensor] = {}
_NUMBERS: tuple[Any, ...] = (bool, int, float, complex)


def apply(primitive: Primitive, inputs: tuple[Any, ...], attrs: tuple[Any, ...] = ()) -> Any:
    """Compute a primitive.

    Args:
        primitive: what to compute.
        inputs: Tensors; None for an optional operand left out; Python numbers and arrays are converted.
        attrs: attribute values in the order of `primitive.attr_names`.

    Returns:
        Tensor, or a tuple of them if the primitive has several outputs.
    """
    plain = not _careful
    followed = False
    foreign = False
    datas = []
    for t in inputs:
        try:
            datas.append(t._data)
            if t._node is not None:
                followed = True
        except AttributeError:
            if t is None:
                if len(datas) < primitive.required:
                    raise NoTensor(f"{primitive.name} takes tensors and numbers, not None") from None
                datas.append(None)
            elif isinstance(t, Tensor):  # it shares memory with a NumPy array
                datas.append(data_of(t))
                followed = followed or t._node is not None
            else:
                foreign = True
                break
    if foreign:
        return apply(primitive, coerce(primitive, inputs), attrs)
    if not plain:
        return _apply_general(primitive, inputs, attrs, datas)
    try:
        key = dumps(attrs, PACKED) if attrs and primitive.packs else attrs and exact(attrs)
        run = primitive.executables.get(key) or primitive.executable(attrs)
    except ValueError:  # the first attributes that cannot be packed
        run = primitive.executable(attrs)
        key = primitive.key(attrs)
    try:
        result = run(*datas)
    except Exception:
        if trace_module.is_put_back(inputs, datas):
            return apply(primitive, inputs, attrs)
        raise
    if followed and not primitive.no_gradient:
        outputs = recorded(primitive, attrs, key, inputs, datas, result if primitive.multiple else (result,))
        if outputs is not None:
            return outputs if primitive.multiple else outputs[0]
    if not primitive.multiple:
        tensor = _new(Tensor)
        tensor._data = result
        tensor._node = None
        tensor._type = None
        tensor._member = None
        return tensor
    return tuple([wrap(data) for data in result])


def _apply_general(primitive: Primitive, inputs: tuple[Any, ...], attrs: tuple[Any, ...], datas: list[Any]) -> Any:
    trace = trace_module.current()
    if trace is not None and attrs:
        attrs = attributes(attrs)
    if trace is None:
        if _watches:
            _notice()
        if Value in [d.__class__ for d in datas]:
            datas = [None if t is None else settled(t) for t in inputs]
        results = primitive.executable(attrs)(*datas)
        if not primitive.multiple:
            results = (results,)
        level = None
    elif Value in [d.__class__ for d in datas] or _needs_graph(trace, primitive, inputs) or has_open(attrs):
        results = append(trace, primitive, inputs, attrs)
        level = trace.graph
    else:
        results = primitive.executable(attrs)(*datas)
        if not primitive.multiple:
            results = (results,)
        outputs = tuple([wrap(data) for data in results])
        return outputs if primitive.multiple else outputs[0]
    outputs = record(primitive, attrs, inputs, results, level)
    return outputs if primitive.multiple else outputs[0]


def _needs_graph(trace: Trace, primitive: Primitive, inputs: tuple[Any, ...]) -> bool:
    """Whether concrete operands must still be read by the graph at run time."""
    if primitive.effect in (IO, ACROSS):
        return True
    created = trace.created
    return any(t is not None and id(t) not in created and type(t) is not LiteralTensor for t in inputs)


def append(trace: Trace, primitive: Primitive, inputs: Sequence[Tensor | None], attrs: tuple[Any, ...]) -> Any:
    """Append a primitive to the graph under construction; returns its values (a tuple)."""
    if primitive.effect == ACROSS and trace.graph is not trace.root:
        raise meets_others(primitive)
    if primitive.asks:
        refuse_in_regions(
            trace, getattr(attrs[0] if attrs else None, "label", "") or f"the derivative of {primitive.name}"
        )
    attrs = attributes(attrs)
    use = trace.use
    values = tuple([None if t is None else use(t) for t in inputs])
    types: Any = tuple([None if v is None else v.type for v in values])
    if primitive.promotes and any(t is not None and t.weak is not None for t in types):
        values, types = _settle_weak(trace, inputs, values, types)
    try:
        results = primitive.infer(attrs, types)
    except Exception:
        if not has_open(attrs) and not any(t is not None and t.is_open for t in types):
            raise
        attrs = trace.settle_sizes(attrs)  # the shapes follow from the sizes only where these are known
        types = tuple([
            t and TensorType.of(t.dtype, trace.settle_sizes(t.shape), t.weak) for t in types
        ])  # fmt: skip
        results = primitive.infer(attrs, types)
    return trace.append(primitive, values, attrs, results)


def meets_others(primitive: Any) -> Unsupported:
    """The refusal of an operation that meets other processes where it may run otherwise than once."""
    return Unsupported(
        Refusal.TENSOR_CONDITION,
        f"{primitive.name.removesuffix('Across')} meets other processes, which must come to it as often as this one",
        "take it out of the branch, loop or mapped function",
    )


def refuse_in_regions(trace: Trace, what: str) -> None:
    """Refuse code of the program's that would run in backward passes over a branch, loop or mapped function.

    Args:
        trace: the trace in progress.
        what: a name of the code.
    """
    if not trace.watched or trace.graph is trace.root:
        return
    if trace.one_of_many:
        raise Unsupported(
            Refusal.TENSOR_CONDITION,
            f"{what} is the program's own, in a function that vmap maps, and would run in a gradient from outside",
            "map the whole gradient, as in jit(vmap(grad(f))) or, for second derivatives, jit(vmap(grad(grad(f)))); "
            "not in a branch or loop of its own",
        )
    raise Unsupported(
        Refusal.TENSOR_CONDITION,
        f"{what} is the program's own and runs in the backward pass, as often as its place ran",
        "take it out of the branch or loop, or take the gradient inside of that",
    )


def stays_in_region(trace: Trace) -> bool:
    """Whether only gradients that start in the branch, loop or mapped function under construction pass what is on the
    tape there: none in progress around it in the capture, and none of the finished graph, or it is captured anew.
    """
    if not trace.watched or trace.graph is trace.root or trace.followed:
        return False
    if any(session.trace is trace and session.level is not trace.graph for session in IN_PROGRESS.stack):
        return False
    trace.unrepeatable = True
    return True


def _settle_weak(
    trace: Trace, inputs: Sequence[Any], values: tuple[Any, ...], types: tuple[Any, ...]
) -> tuple[Any, Any]:
    """Give run-time Python numbers the dtype that the tensors beside them ask for; literals beside nothing but
    run-time numbers are numbers too, so that the result is one.
    """
    settled = list(values)
    strong = [
        t.dtype
        for t, x in zip(types, inputs, strict=True)
        if t is not None and t.weak is None and type(x) is not LiteralTensor
    ]
    if not strong:
        for i, x in enumerate(inputs):
            if type(x) is LiteralTensor:
                settled[i] = trace.constant(x, dtypes.to_python(x.dtype))
    else:
        widest = _widest(strong)
        for i, t in enumerate(types):
            if t is not None and t.weak is not None:
                target = dtypes.promote_scalar(widest, t.weak)
                new_type = TensorType.of(target, t.shape)
                settled[i] = trace.append(CAST, (values[i],), (target,), (new_type,))[0]
    return tuple(settled), tuple([None if v is None else v.type for v in settled])


def _cast(x: Any, *, dtype: DType) -> Any:
    return converted(x, dtype.np_dtype)


def _cast_rule(x: Tensor, out: Tensor, dout: Tensor, *, dtype: DType) -> tuple[Tensor]:
    return (apply(CAST, (dout,), (x.dtype,)),)


class _CastPrimitive(Primitive):
    __slots__ = ()

    def _infer(self, attrs: tuple[Any, ...], inputs: tuple[TensorType | None, ...]) -> tuple[TensorType, ...]:
        assert inputs[0] is not None
        return (TensorType.of(attrs[0], inputs[0].shape),)  # a number that is cast is a plain tensor


#: conversion of the element type; declared here because every number that meets a tensor needs it
CAST = _CastPrimitive("Cast", _cast, attr_names=("dtype",), elementwise=True, derivative=_cast_rule)


#: the operand itself as a value of its own, so that a leaf of a gradient differs from what it stands for
IDENTITY = Primitive("Identity", lambda x: x, elementwise=True, derivative=lambda x, out, dout: (dout,))


def _widest(found: list[DType]) -> DType:
    result = found[0]
    for dtype in found[1:]:
        result = dtypes.promote(result, dtype)
    return result


trace_module.EMBEDDED.add(LiteralTensor)


def literal(value: Any, dtype: DType) -> Tensor:
    """The shared constant tensor of a Python number."""
    spelled = repr(value) if value == 0 or value.__class__ is complex else None  # 0.0 == -0.0, but differ
    key = (value, value.__class__, dtype, spelled)
    found = _SCALARS.get(key)
    if found is None:
        if len(_SCALARS) > 4096:
            _SCALARS.clear()
        found = _new(LiteralTensor)
        found._data = to_device(value, dtype.np_dtype)
        found._node = None
        found._member = None
        found._type = TensorType.of(dtype, ())
        _SCALARS[key] = found
    return found


def coerce(primitive: Primitive, inputs: tuple[Any, ...]) -> tuple[Tensor | None, ...]:
    """Turn the operands that are not tensors into tensors.

    A Python number beside tensors takes their dtype (see `dtypes.promote_scalar`) if the primitive promotes;
    alone, it gets the dtype of its kind. Arrays and lists become tensors.
    """
    converted: list[Any] = []
    for value in inputs:
        if value is None or isinstance(value, Tensor) or type(value) in _NUMBERS or issubclass(type(value), RunNumber):
            converted.append(value)
        elif isinstance(value, _NUMBERS):  # enums, numpy.float64 (a float: what numpy.sqrt(2) gives)...
            converted.append(next(kind(value) for kind in _NUMBERS if isinstance(value, kind)))
        elif isinstance(value, (np.ndarray, np.generic, list, tuple, Array)):
            converted.append(Tensor(value))
        else:
            raise NoTensor(f"{primitive.name} takes tensors and numbers, not {type(value).__name__} ({value!r:.60})")
    tensors = [v for v in converted if isinstance(v, Tensor)]
    strong = [t.dtype for t in tensors if t.type.weak is None]
    widest = _widest(strong) if strong and primitive.promotes else None
    for i, value in enumerate(converted):
        kind: Any = type(value)
        if issubclass(kind, RunNumber):
            dtype = dtypes.of_python(value.kind) if widest is None else dtypes.promote_scalar(widest, value.kind)
            operand = value.operand(dtype)
            converted[i] = apply(CAST, (operand,), (dtype,)) if isinstance(operand, Tensor) else literal(operand, dtype)
        elif kind in _NUMBERS:
            if widest is not None:
                dtype = dtypes.promote_scalar(widest, kind)
            elif kind is float and tensors and not strong:
                dtype = dtypes.float64  # a number beside run-time numbers stays a Python float
            else:
                dtype = dtypes.of_python(kind)
            converted[i] = literal(value, dtype)
    return tuple(converted)


# -- recording -----------------------------------------------------------------------------------------------


def edges_of(inputs: Sequence[Any], level: Any) -> list[Edge] | None:
    """The producers of the operands that a gradient follows at this level, None if there are none."""
    if level is None and GRADIENTS.paused:
        return None
    found = False
    edges: list[Edge] = []
    for t in inputs:
        node = None if t is None else t._node
        if node is not None and node is not SYMBOL and node.level is level:
            edges.append((node, t._index))
            found = True
        else:
            edges.append(None)
    return edges if found else None


def record(primitive: Primitive, attrs: tuple[Any, ...], inputs: tuple[Any, ...], results: Any, level: Any) -> Any:
    """Wrap results as tensors, leaving a tape entry if a gradient follows an operand."""
    edges = None if primitive.no_gradient else edges_of(inputs, level)
    if edges is not None and level is None:
        datas = [None if t is None else data_of(t) for t in inputs]
        return recorded(primitive, attrs, primitive.key(attrs), inputs, datas, results)
    if edges is None:
        return tuple([wrap(data) for data in results])
    # the handles may be written later, so the entry keeps what they stand for now
    frozen = tuple([t if t is None or type(t) is LiteralTensor else _freeze(t) for t in inputs])
    node = PrimitiveNode(primitive, attrs, frozen, edges, results, level)
    note_edges(node, results)
    return tuple([tracked(data, node, i) for i, data in enumerate(results)])


def pass_on(douts: list[Any], needs: list[bool], record: bool) -> list[Any]:
    """The rule of a tape entry that returns its operands."""
    return douts


def separate(tensor: Tensor) -> Tensor:
    """A new handle on the same elements with a tape entry of its own, so that its hooks are not those of the other; in
    a graph on a value of its own.
    """
    trace = trace_module.current()
    if trace is not None:
        made: Tensor = record(IDENTITY, (), (tensor,), append(trace, IDENTITY, (tensor,), ()), trace.graph)[0]
        return made
    node = tensor._node
    if not isinstance(node, TapeNode):
        return view(tensor)
    return tracked(data_of(tensor), TapeNode(((node, tensor._index),), 1, pass_on, node.level), 0)


def note_edges(node: TapeNode, results: Sequence[Any]) -> None:
    """Let the active trace find the tape entry of symbolic results by value."""
    trace = trace_module.current()
    assert trace is not None
    for index, value in enumerate(results):
        trace.edges[value] = (node, index)


def _freeze(tensor: Tensor) -> Tensor:
    """A handle on the value that a tensor has in the graph under construction."""
    trace = trace_module.current()
    assert trace is not None
    frozen = wrap(trace.use(tensor))
    node = tensor._node
    if node is not None and node is not SYMBOL:
        frozen._node = node
        frozen._index = tensor._index
    return frozen


#: what tensors compute with; run-time numbers pass for numbers
_OPERANDS: Any = (Tensor, *_NUMBERS, np.ndarray, np.generic, list, tuple)


def binary_method(primitive: Primitive) -> Any:
    """The operator method of a two-operand primitive, with the eager case inline."""
    recordable = not primitive.no_gradient

    def run(*arrays: Any) -> Any:  # until its first call: `jax.jit` costs more than the rest of the declaration
        nonlocal run
        run = primitive.executable(())
        return run(*arrays)

    def method(self: Tensor, other: Any) -> Any:
        try:
            if type(other) is Tensor and not _careful:
                try:
                    data, beside = self._data, other._data
                except AttributeError:  # one shares memory with a NumPy array
                    data, beside = data_of(self), data_of(other)
                try:
                    if self._node is None and other._node is None:
                        tensor = _new(Tensor)
                        tensor._data = run(data, beside)
                        tensor._node = None
                        tensor._type = None
                        tensor._member = None
                        return tensor
                    if recordable:
                        result = run(data, beside)
                        outputs = recorded(primitive, (), (), (self, other), [data, beside], (result,))
                        return wrap(result) if outputs is None else outputs[0]
                except Exception:
                    if not trace_module.is_put_back((self, other), (data, beside)):
                        raise
            if isinstance(other, _OPERANDS):
                return apply(primitive, (self, other))
            return NotImplemented
        except Exception as error:
            hide_operation(error)
            raise

    return method


def reflected_method(primitive: Primitive) -> Any:
    """The right-hand operator method of a two-operand primitive."""

    def method(self: Tensor, other: Any) -> Any:
        try:
            if isinstance(other, _OPERANDS):
                return apply(primitive, (other, self))
            return NotImplemented
        except Exception as error:
            hide_operation(error)
            raise

    return method


def is_pure(primitive: Primitive) -> bool:
    """Whether a primitive does nothing but compute its result."""
    return primitive.effect == PURE
