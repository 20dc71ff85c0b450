"""`vmap`: a function of one example as a function of a batch.

The function is traced once on symbolic tensors without the mapped axis. The graph becomes the attribute of one
primitive, `Vmap`, whose implementation maps the lowered graph with `jax.vmap`; so gradients, capture and compilation
see an operation like any other. Outside tensors that the function reads become operands that are not mapped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from weft.autodiff.following import is_followed_around
from weft.autodiff.perhaps import Gradient, Perhaps
from weft.autodiff.tree import map_tensors, tensors_of
from weft.compile.body import Body
from weft.compile.carried import expose, tensor_of
from weft.compile.dependence import always_followed, ever_followed
from weft.compile.lower import lower
from weft.core.bounds import check
from weft.core.dispatch import apply
from weft.core.lending import share_again
from weft.core.primitive import Primitive
from weft.core.sharing import note_read
from weft.core.tape import TapeNode
from weft.core.tensor import Tensor, data_of, view, wrap
from weft.core.trace import Trace, tracing
from weft.core.transparency import keeps, transparent, unbroken
from weft.errors import Refusal, Unsupported
from weft.ir.graph import Graph, Value
from weft.ir.types import TensorType
from weft.ops.joining import stack
from weft.ops.reduce import reduce_all, reduce_any, reduce_sum


def _mapped(*arrays: Any, body: Body, in_axes: tuple[Any, ...], out_axes: tuple[Any, ...], size: int) -> Any:
    return jax.vmap(lower(body.graph), in_axes=in_axes, out_axes=out_axes, axis_size=size)(*arrays)


def _mapped_derivative(
    *arguments: Any, body: Body, in_axes: tuple[Any, ...], out_axes: tuple[Any, ...], size: int
) -> list[Any]:
    """The gradient of a mapped function: the gradient of one example, mapped."""
    *inputs, _, douts = arguments
    followed = tuple([x.dtype.category >= 2 for x in inputs])
    gradient, places, carried = body.gradient(followed)
    # an output that is the same for all examples is one value: its gradient is shared out among them
    shared = [d if axis is not None else d / size for d, axis in zip(douts, out_axes, strict=True)]
    axes: list[int] = []
    for axis, place in zip(in_axes, places, strict=True):
        if place is not None:
            axes += [axis or 0] if place[1] is True else [axis or 0, 0]
    if not axes:
        return [None] * len(inputs)
    operands = (*map(tensor_of, carried), *inputs, *shared)
    found = apply(VMAP, operands, (gradient, (*[None] * len(carried), *in_axes, *out_axes), tuple(axes), size))
    results: list[Gradient] = []
    for place, axis in zip(places, in_axes, strict=True):
        if place is None:
            results.append(None)
            continue
        value = reduce_sum(found[place[0]], 0) if axis is None else found[place[0]]
        results.append(value if place[1] is True else Perhaps(value, reduce_any(found[place[1]], 0)))
    return results


class _Vmap(Primitive):
    __slots__ = ()

    def _infer(self, attrs: tuple[Any, ...], inputs: tuple[TensorType | None, ...]) -> tuple[TensorType, ...]:
        """Without JAX where every result has an axis of examples: the graph of one example says the rest."""
        body, in_axes, out_axes, size = attrs
        params = [value.type for value in body.graph.params]
        fits = len(params) == len(inputs) and all(map(_is_example, params, inputs, in_axes, [size] * len(params)))
        if not fits or None in out_axes or not all(isinstance(v.type, TensorType) for v in body.graph.outputs):
            return super()._infer(attrs, inputs)
        found = []
        for value, axis in zip(body.graph.outputs, out_axes, strict=True):
            shape = list(value.type.shape)
            shape.insert(axis if axis >= 0 else axis + len(shape) + 1, size)
            found.append(TensorType.of(value.type.dtype, tuple(shape)))
        return tuple(found)


def _is_example(param: Any, given: TensorType | None, axis: int | None, size: int) -> bool:
    """Whether a parameter of the graph of one example takes one example of what is given."""
    if given is None or not isinstance(param, TensorType) or param.dtype is not given.dtype:
        return False
    shape = list(given.shape)
    if axis is not None and shape.pop(axis) != size:
        return False
    return tuple(shape) == param.shape


VMAP = _Vmap(
    "Vmap", _mapped, attr_names=("body", "in_axes", "out_axes", "size"), multiple=True, derivative=_mapped_derivative
)


class _ExampleTrace(Trace):
    """A trace inside which the values of an enclosing capture count as outside tensors."""

    looks_at_errors = False

    def __init__(self, name: str) -> None:
        super().__init__(name, self._before_write)
        self.one_of_many = True
        #: a value of an enclosing graph, with the tape entry that gradients of the tensor pass -> the parameter
        self.outer_values: dict[tuple[Value, Any, int], Value] = {}
        #: for each parameter, whether a gradient outside follows what it stands for
        self.follows: dict[Value, bool | None] = {}
        #: outside handles that the function wrote, with what they stood for before
        self.written: dict[int, tuple[Tensor, Tensor]] = {}

    def use(self, tensor: Tensor) -> Value:
        data = data_of(tensor)
        if data.__class__ is Value and not data.graph.lies_in(self.root):
            node = tensor._node
            key = (data, node, tensor._index) if isinstance(node, TapeNode) else (data, None, 0)
            found = self.outer_values.get(key)
            if found is None:
                if self.written_storages:
                    note_read(self, tensor)
                found = self.outer_values[key] = self.external(view(tensor))
            return self.lift(found, self.graph)
        return super().use(tensor)

    def external(self, tensor: Tensor) -> Value:
        found = super().external(tensor)
        if found not in self.follows:  # it is read for the first time, and nothing inside has changed it
            self.follows[found] = is_followed_around(self, tensor)
        return found

    def map(self, call: VmapCall) -> None:
        """The mapped operands of the call are known."""
        for operand, param in zip(call.operands, self.root.params, strict=True):
            self.follows[param] = is_followed_around(self, operand)

    def is_followed(self, tensor: Tensor) -> bool | None:
        if super().is_followed(tensor) is False:
            return False
        data = data_of(tensor)
        if data.__class__ is not Value or not data.graph.lies_in(self.root):
            return is_followed_around(self, tensor)
        known = [self.follows.get(param) for param in self.root.params]
        if data.graph is self.root and data in always_followed(self.root, [follow is True for follow in known]):
            return True
        ever = ever_followed(self.root, [follow is not False for follow in known])
        return None if data in ever or (ever and data.graph is not self.root) else False

    def _before_write(self, tensor: Tensor) -> None:
        data = data_of(tensor)
        inside = data.graph.lies_in(self.root) if data.__class__ is Value else id(tensor) in self.created
        if not inside and id(tensor) not in self.written:
            self.written[id(tensor)] = (tensor, view(tensor))

    def put_back(self) -> list[tuple[Tensor, Tensor]]:
        """Undo the writes to outside handles; returns each with the value that was written."""
        results = []
        for handle, before in self.written.values():
            results.append((handle, view(handle)))
            handle._data = data_of(before)
            handle._node = before._node
            handle._type = before._type
            if hasattr(before, "_index"):
                handle._index = before._index
            share_again(handle)
        self.written = {}
        return results


#: what a mapped function returned, and what it may have raised for the first example without a result, each with
#: whether it did
Mapped = tuple[Any, Sequence[tuple[Any, BaseException]]]


@keeps
class VmapFunction:
    """A function mapped over axes of its arguments, as a callable. A capture does it by `weft.capture.meaning.mapping`.

    Args:
        fn: function or Cell of one example.
        in_axes: mapped axis of each argument.
        out_axes: where the mapped axis goes in each output.
    """

    __slots__ = ("fn", "in_axes", "out_axes", "__weakref__")
    #: what an instance is made of: programs make one anew for each call
    __weft_parts__ = __slots__[:-1]

    def __init__(self, fn: Callable[..., Any], in_axes: Any, out_axes: Any) -> None:
        self.fn = fn
        self.in_axes = in_axes
        self.out_axes = out_axes

    @transparent
    def __call__(self, *args: Any) -> Any:
        return _unless_raised(*self.mapped(*args))

    @unbroken
    def mapped(self, *args: Any) -> Mapped:
        """The call: what it returns, and what it raises in which case."""
        compiled = _compiled(self.fn)
        if compiled is None:
            return self.traced(*args)
        return compiled(self.in_axes, self.out_axes, self.fn, *args), ()

    @unbroken
    def traced(self, *args: Any) -> Mapped:
        """The call where nothing compiles it."""
        trace = _ExampleTrace(f"vmap_{name_of(self.fn)}")
        call = VmapCall(self.in_axes, self.out_axes, args, trace.root)
        try:
            with tracing(trace):
                trace.map(call)
                out = call.with_tensors(self.fn(*call.args))
                checks = [] if trace.checked is None else [trace.checked]
                outputs = [*tensors_of(out), *[handle for handle, _ in trace.written.values()], *checks]
                trace.root.outputs = [trace.use(tensor) for tensor in outputs]
        except Unsupported as refusal:
            _explain(refusal)
            raise
        finally:
            handles = [handle for handle, _ in trace.put_back()]
        outside = [tensor for tensor, _ in trace.externals.values()]
        result, found = call.finish(out, trace.root, outside, handles, len(checks))
        for of_examples in found:
            check(reduce_all(of_examples), trace.error())
        return result, ()

    def __repr__(self) -> str:
        return f"<vmap of {name_of(self.fn)}>"


@transparent
def call_mapped(in_axes: Any, out_axes: Any, fn: Any, *args: Any) -> Any:
    """Call a mapped function; what is compiled where the function is."""
    return _unless_raised(*VmapFunction(fn, in_axes, out_axes).traced(*args))


@transparent
def _unless_raised(result: Any, raised: Sequence[tuple[Any, BaseException]]) -> Any:
    """What a mapped function returned, unless it raised something for an example."""
    for happened, error in raised:
        if happened:
            raise error
    return result


#: gives a compiled `call_mapped` for a function that is compiled where it is called now, else None
_compiled: Callable[[Any], Callable[..., Any] | None]


def install(compiled: Callable[[Any], Callable[..., Any] | None]) -> None:
    """Set what compiles the mapping of compiled functions."""
    global _compiled
    _compiled = compiled


def _explain(refusal: Unsupported) -> None:
    """Let a refusal in eager code say that it is about one example."""
    if refusal.kind is Refusal.TENSOR_VALUE and refusal.location is None:
        refusal.why = f"vmap runs its function once, for all examples, and {refusal.why}"
        refusal.do = (
            "compile the function, `vmap(jit(function))`, or what calls vmap: conditions and numbers are then those of "
            "each example; or compute with tensors, as ops.where does"
        )
        refusal.args = (refusal.why,)


def name_of(fn: Any) -> str:
    """The name of a function or Cell in listings."""
    return str(getattr(fn, "__name__", type(fn).__name__))


class VmapCall:
    """One call of a mapped function.

    Args:
        in_axes: mapped axis of each argument.
        out_axes: where the mapped axis goes in each output.
        args: the arguments.
        graph: gets a parameter for each mapped tensor.
    """

    __slots__ = ("out_axes", "operands", "axes", "size", "graph", "args")

    def __init__(self, in_axes: Any, out_axes: Any, args: Sequence[Any], graph: Graph) -> None:
        self.out_axes = out_axes
        #: the mapped tensors and their axes
        self.operands: list[Tensor] = []
        self.axes: list[int] = []
        self.size = -1
        self.graph = graph
        axes = in_axes
        if isinstance(axes, (tuple, list)):
            if len(axes) != len(args):
                raise ValueError(
                    f"vmap: in_axes has {len(axes)} entries, but the function was called with {len(args)} arguments"
                )
        else:
            axes = (axes,) * len(args)
        #: what the function gets
        self.args = [
            self._example(arg, axis, f"argument {i}") for i, (arg, axis) in enumerate(zip(args, axes, strict=True))
        ]
        if not self.operands:
            raise ValueError("vmap: no tensor is mapped; in_axes must name an axis for at least one argument")

    def _example(self, value: Any, axis: Any, where: str) -> Any:
        """The argument with every mapped tensor replaced by the symbolic tensor of one example."""
        if axis is None:
            return value
        if isinstance(value, Tensor):
            if isinstance(axis, bool) or not isinstance(axis, int):
                raise TypeError(f"vmap: in_axes for {where} must be an int or None, not {axis!r}")
            return self._map(value, axis, where)
        if isinstance(value, (tuple, list)):
            if isinstance(axis, (tuple, list)) and len(axis) != len(value):
                raise ValueError(f"vmap: in_axes for {where} has {len(axis)} entries for {len(value)} items")
            parts = axis if isinstance(axis, (tuple, list)) else (axis,) * len(value)
            items = [self._example(v, a, f"{where}[{i}]") for i, (v, a) in enumerate(zip(value, parts, strict=True))]
            if isinstance(value, list):
                return items
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
        if isinstance(value, dict):
            if isinstance(axis, dict):
                return {key: self._example(item, axis[key], f"{where}[{key!r}]") for key, item in value.items()}
            return {key: self._example(item, axis, f"{where}[{key!r}]") for key, item in value.items()}
        return value  # a Python value is the same for every example

    def _map(self, tensor: Tensor, axis: int, where: str) -> Tensor:
        shape = tensor.shape
        if not -len(shape) <= axis < len(shape):
            raise ValueError(f"vmap: in_axes is {axis} for {where}, a tensor of {len(shape)} dimensions {shape}")
        axis %= len(shape)
        if self.size == -1:
            self.size = shape[axis]
        elif self.size != shape[axis]:
            raise ValueError(
                f"vmap: mapped axes differ in size: axis {axis} of {where} is {shape[axis]}, "
                f"an earlier one is {self.size}"
            )
        self.operands.append(tensor)
        self.axes.append(axis)
        kind = tensor.type
        example = TensorType.of(kind.dtype, kind.shape[:axis] + kind.shape[axis + 1 :])
        return wrap(self.graph.add_param(example))

    def with_tensors(self, out: Any) -> Any:
        """What the function returned, numbers as tensors."""
        return map_tensors(lambda tensor: tensor, out, _number_to_tensor)

    def finish(
        self, out: Any, graph: Graph, outside: Sequence[Tensor], handles: Sequence[Tensor], further: int = 0
    ) -> tuple[Any, list[Tensor]]:
        """Run the mapped graph on the batch: its results in the structure of what the function returned, and others.

        Args:
            out: what the function returned for one example.
            graph: computes its tensors, then the values written to `handles`, then others.
            outside: for the parameters of the graph after the mapped ones.
            handles: outside handles that the function wrote.
            further: how many others the graph computes.
        """
        axes = tuple(_spread(out, self.out_axes, "out_axes"))
        graph, carried = expose(graph)
        operands = (*map(tensor_of, carried), *self.operands, *outside)
        in_axes = (*[None] * len(carried), *self.axes, *[None] * len(outside))
        out_axes = (*axes, *[None] * len(handles), *[0] * further)
        try:
            found = apply(VMAP, operands, (Body(graph), in_axes, out_axes, self.size))
        except ValueError as error:
            if None not in out_axes or "out_axes" not in str(error):
                raise
            raise ValueError(
                "vmap: a value that differs between examples is written to a tensor outside the function"
                if None not in axes
                else "vmap: out_axes is None for an output that differs between examples"
            ) from None
        rest = iter(found)
        result = map_tensors(lambda _: next(rest), out)
        for handle in handles:
            handle.rebind(next(rest))
        return result, list(rest)


def _number_to_tensor(value: Any) -> Any:
    return Tensor(value) if isinstance(value, (bool, int, float, complex)) else value


def _spread(value: Any, axis: Any, where: str) -> list[int | None]:
    """The axis of each tensor in a structure."""
    if isinstance(value, Tensor):
        if isinstance(axis, (tuple, list)) and len(axis) == 1:
            axis = axis[0]
        if axis is not None and (isinstance(axis, bool) or not isinstance(axis, int)):
            raise TypeError(f"vmap: {where} must be an int or None for a tensor, not {axis!r}")
        if axis is not None and not -len(value.shape) - 1 <= axis <= len(value.shape):
            raise ValueError(f"vmap: {where} is {axis}, but the output has {len(value.shape)} dimensions without it")
        return [axis]
    if isinstance(value, dict):
        items: Sequence[Any] = list(value.values())
    elif isinstance(value, (tuple, list)):
        items = value
    else:
        return []
    if isinstance(axis, (tuple, list)):
        if len(axis) != len(items):
            raise ValueError(f"vmap: {where} has {len(axis)} entries for {len(items)} outputs")
        parts: Sequence[Any] = axis
    else:
        parts = (axis,) * len(items)
    return [a for item, part in zip(items, parts, strict=True) for a in _spread(item, part, where)]


@keeps
class EnsembleFunction:
    """Several cells of one structure, each applied to its own example."""

    __slots__ = ("cells", "in_axes", "out_axes", "__weakref__")
    #: what an instance is made of: programs make one anew for each call
    __weft_parts__ = __slots__[:-1]

    def __init__(self, cells: Sequence[Callable[..., Any]], in_axes: Any, out_axes: Any) -> None:
        self.cells = list(cells)
        self.in_axes = in_axes
        self.out_axes = out_axes

    @unbroken
    def __call__(self, *args: Any) -> Any:
        axes = self.in_axes if isinstance(self.in_axes, (tuple, list)) else (self.in_axes,) * len(args)
        if len(axes) != len(args):
            raise ValueError(f"vmap: in_axes has {len(axes)} entries, but there are {len(args)} arguments")
        outs = []
        for i, cell in enumerate(self.cells):
            outs.append(cell(*_slices(args, axes, i, len(self.cells))))
        return _joined(outs, self.out_axes)


@keeps
def _joined(outs: list[Any], out_axes: Any) -> Any:
    """What several cells returned, as one structure of joined tensors."""
    flat = [tensors_of(out) for out in outs]
    places = _spread(outs[0], out_axes, "out_axes")
    joined = iter(
        [flat[0][j] if place is None else stack([row[j] for row in flat], axis=place) for j, place in enumerate(places)]
    )
    return map_tensors(lambda _: next(joined), outs[0])


@keeps
def _slices(args: Sequence[Any], axes: Sequence[Any], index: int, count: int) -> list[Any]:
    return [_slice(arg, axis, index, count) for arg, axis in zip(args, axes, strict=True)]


def _slice(value: Any, axis: Any, index: int, count: int) -> Any:
    def take(tensor: Tensor) -> Tensor:
        if not -len(tensor.shape) <= axis < len(tensor.shape):
            raise ValueError(f"vmap: in_axes is {axis} for a tensor of shape {tensor.shape}")
        if tensor.shape[axis] != count:
            raise ValueError(f"vmap: {count} cells are mapped over an axis of size {tensor.shape[axis]}")
        return tensor[(slice(None),) * (axis % len(tensor.shape)) + (index,)]

    return value if axis is None else map_tensors(take, value)


@keeps
def vmap(fn: Any, in_axes: Any = 0, out_axes: Any = 0) -> Any:
    """Map a function over an axis of its arguments.

    Args:
        fn: function or Cell of one example; or a list of cells of one structure, each of which gets one example.
        in_axes: the axis to map: an int for all arguments, or a tuple with an int, None (not mapped) or nested tuple
            for each argument.
        out_axes: where the mapped axis goes in the outputs: an int, or a tuple for several outputs; None for an output
            that is the same for every example.

    Returns:
        A callable with the arguments of `fn`. Random numbers drawn inside are the same for every example. Where `fn`
        or the caller is compiled, conditions on tensors and Python numbers in `fn` are those of each example.

    Raises:
        TypeError: `fn` cannot be called, or an axis is not an int.
        ValueError: nothing is mapped, or mapped axes differ in size.

    Example:
        >>> dot = vmap(lambda a, b: a * b + 1, in_axes=(0, None))
        >>> print(dot(Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([1.0, 10.0])))
        [[ 2. 21.]
         [ 4. 41.]]
    """
    _check_axes(in_axes, "in_axes")
    _check_axes(out_axes, "out_axes")
    if isinstance(fn, (list, tuple)) or _is_cell_list(fn):
        cells = list(fn)
        if not cells or not all(callable(cell) for cell in cells):
            raise TypeError("vmap: a list of functions must hold at least one, and only functions or cells")
        return EnsembleFunction(cells, in_axes, out_axes)
    if callable(fn):
        if in_axes is None or (isinstance(in_axes, (tuple, list)) and _all_none(in_axes)):
            raise ValueError("vmap: in_axes maps nothing; give an axis for at least one argument")
        return VmapFunction(fn, in_axes, out_axes)
    raise TypeError(f"vmap: fn must be a function or a Cell, not {type(fn).__name__}")


def _is_cell_list(fn: Any) -> bool:
    return type(fn).__name__ == "CellList" and hasattr(fn, "__len__") and hasattr(fn, "__getitem__")


def _all_none(axes: Any) -> bool:
    return all(_all_none(axis) if isinstance(axis, (tuple, list)) else axis is None for axis in axes)


def _check_axes(axes: Any, name: str) -> None:
    if isinstance(axes, (tuple, list)):
        for axis in axes:
            _check_axes(axis, name)
    elif isinstance(axes, dict):
        for axis in axes.values():
            _check_axes(axis, name)
    elif axes is not None and (isinstance(axes, bool) or not isinstance(axes, int)):
        raise TypeError(f"vmap: {name} must be ints, None, or nested tuples of them, not {axes!r}")


__all__ = ["VMAP", "Body", "VmapFunction", "vmap"]


install(lambda fn: None)
