"""A trace: the graph that a capture is building, and where its values come from outside.

While a trace is active in a thread, `weft.core.dispatch` appends to it whatever depends on a symbolic tensor or on
a tensor that existed before. Tensors made from Python data during the trace are constants.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, NoReturn

import numpy as np

from weft import dtypes
from weft.core import tensor as tensor_module
from weft.core.primitive import READ, Primitive
from weft.core.tape import SYMBOL
from weft.core.tensor import LiteralTensor, Parameter, Tensor, data_of, settled, view, wrap
from weft.core.threads import PATIENCE
from weft.errors import Refusal, Unsupported
from weft.ir.graph import Graph, Node, Value
from weft.ir.sizes import is_open_size, open_in
from weft.ir.types import TOKEN, TensorType, ValueType

#: holds an array known while capturing; passes fold over it, an executable embeds it or takes it for an argument
CONSTANT = Primitive("Constant", lambda *, value: value.array, attr_names=("value",))
#: constants of more bytes are no part of compiled code: they are handed to it (see `weft.compile.carried`)
EMBED_LIMIT = 1 << 16


def _needs_an_argument(*, handle: Reference) -> NoReturn:
    raise TypeError(f"what {handle!r} holds is an argument of the executable")


#: reads a tensor handle when the graph runs, in graphs that have no parameters for what lies outside
OUTSIDE = Primitive("Outside", _needs_an_argument, attr_names=("handle",), effect=READ)


#: tensor classes whose instances are always constants; `weft.core.dispatch` adds that of Python numbers
EMBEDDED: set[type] = set()


class Literal:
    """An array as a graph attribute.

    A small one is compared by contents; one over `EMBED_LIMIT` stays on the device and equals itself only.

    Args:
        array: what nobody writes any more.
    """

    __slots__ = ("data", "key")

    def __init__(self, array: Any) -> None:
        if array.nbytes > EMBED_LIMIT:
            self.data = array
            self.key: tuple[Any, ...] = (id(array),)
        else:
            self.data = found = np.asarray(array)
            self.key = (found.dtype.str, found.shape, found.tobytes())

    @property
    def array(self) -> np.ndarray[Any, Any]:
        """The elements, on the host."""
        return np.asarray(self.data)

    @property
    def is_large(self) -> bool:
        """Whether it is handed to compiled code, which does not know its contents."""
        return self.data.nbytes > EMBED_LIMIT

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and self.key == other.key

    def __repr__(self) -> str:
        if self.data.size == 1:
            return str(self.array.reshape(()).item())
        return f"<{self.data.dtype.name}{list(self.data.shape)}>"


class Reference:
    """A tensor handle as a graph attribute, compared by identity.

    Args:
        tensor: the handle.
    """

    __slots__ = ("tensor",)

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor

    def __hash__(self) -> int:
        return id(self.tensor)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self.tensor is other.tensor

    def __repr__(self) -> str:
        return f"<{getattr(self.tensor, 'name', 'tensor')}>"


class Undecided(Exception):
    """What was asked depends on sizes that only the call knows."""


class Trace:
    """One capture in progress.

    Args:
        name: name of the graph.
        on_write: called with a tensor handle before it is written, so that the write can be undone or merged.
    """

    #: asked whether each call will look, before the graph runs, if a tensor from outside has indices in bounds
    looks_before: Callable[[Tensor, int, int, int | None], bool] = staticmethod(lambda *index_and_bounds: False)
    #: whether the capture looks at where an exception was raised
    looks_at_errors: ClassVar[bool] = True

    def __init__(self, name: str = "graph", on_write: Callable[[Tensor], None] | None = None) -> None:
        self.root = Graph(name)
        self.graph = self.root
        self.on_write = on_write
        #: called with a parameter of which a text is made, which shows its attributes
        self.on_shown: Callable[[Any], None] | None = None
        #: returns where in the user's code the next node comes from (a Location, or a callable that makes one)
        self.location: Any = None
        #: outside handles read by the graph, with the root parameter that carries each
        self.externals: dict[int, tuple[Tensor, Value]] = {}
        #: tensors made during this trace; they are constants, or no one else's handles
        self.created: dict[int, Tensor] = {}
        #: objects that stand for one of two, by id
        self.merged: dict[int, Any] = {}
        #: whether a gradient follows what one path computes and not what another does, where they meet
        self.partly_followed = False
        #: the IO token as a handle, so that branches and loops merge it like any tensor
        self.token: Tensor | None = None
        self._first_token: Value | None = None
        #: whether all holds that the graph assumes, as a handle like the token; None if it assumes nothing
        self.holds: Tensor | None = None
        #: whether all that the graph checks is as it must be, as a handle like the token; None if it checks nothing
        self.checked: Tensor | None = None
        #: what it checks, and where
        self.places: list[tuple[str, Any]] = []
        #: whether what a graph would check is left to Python, which raises where it is wrong
        self.leaves_checks = False
        #: whether what is traced is one example of many, for which nothing is done in order
        self.one_of_many = False
        #: the graphs of one example of the functions that are being mapped in this trace, the innermost last: regions
        self.examples: tuple[Graph, ...] = ()
        #: whether the graph may not assume anything of its run-time numbers
        self.exact = False
        #: the trace around this one
        self.outer: Trace | None = None
        #: the tape entry that computed a value, for operands of control flow, which are known as values only
        self.edges: dict[Value, tuple[Any, int]] = {}
        #: returns the items of a tuple, which are read one by one where paths meet and where iterations are compared
        self.items_of: Callable[[tuple[Any, ...]], Sequence[Any]] = lambda obj: [*tuple.__iter__(obj)]
        #: result of a branch -> whether more may be computed with the tensor that it is, where the sides besides keep
        #: what the gradient needs; see `weft.core.control.is_used_on_sides`
        self.used_on_sides: dict[Value, bool] = {}
        #: whether code of the user's that it meets is watched: this is a capture
        self.watched = False
        #: whether a gradient will follow the finished graph, so that rules in it run in later backward passes
        self.followed = False
        #: whether it has rules that were made during this capture, so that later backward passes cannot call them
        self.unrepeatable = False
        #: whether an object was made during this capture
        self.is_made: Callable[[Any], bool] = lambda obj: False
        #: told of objects of the program that a rule in the graph holds, which later backward passes need
        self.holds_objects: Callable[[Sequence[Any]], None] = lambda objects: None
        #: id of a tensor -> itself, and the handle of the hooks that it got where no gradient followed it: they are to
        #: run in each gradient that starts at it
        self.hooked: dict[int, tuple[Tensor, Any]] = {}
        #: told of tensors whose hooks are read
        self.read_hooks: Callable[[Tensor], None] = lambda tensor: None
        #: told of a tensor of which it was asked how its elements lie, and how
        self.read_layout: Callable[[Tensor, Any], None] = lambda tensor, layout: None
        #: told of a tensor whose value is replaced: NumPy arrays that share its memory keep what they hold
        self.replaces: Callable[[Tensor], None] = lambda tensor: None
        #: gives what stands in a text for a tensor or number that only the running graph knows, or refuses
        self.write_text: Callable[[Any, str], str] | None = None
        #: id of a tensor -> itself, and what is known of its views, see `weft.core.sharing`
        self.storages: dict[int, tuple[Tensor, Any]] = {}
        #: the storages of tensors from outside that were written, with these tensors
        self.written_storages: list[tuple[Any, Tensor]] = []
        #: id of a tensor from outside -> what was written to it last, and what is new of it since the trace began
        self.regions: dict[int, tuple[Any, Any]] = {}
        #: id of a tensor -> the tensors that may share elements with it where only the running graph knows
        self.groups: dict[int, list[Tensor]] = {}
        #: id of a tensor -> how it is a view of others, of which the running graph knows
        self.alternatives: dict[int, list[Any]] = {}
        #: ids of tensors whose writes are being spread to what they may be views of
        self.spreading: set[int] = set()
        #: id of a tensor that came out of a branch or loop -> how its elements lie, None where that is not known
        self.layouts: dict[int, Any] = {}
        #: id of an array from outside whose sizes are left open -> the tensor that has it, itself, and its type in the
        #: graph; whatever handle is on it has this type
        self.open_types: dict[int, tuple[Tensor, Any, TensorType]] = {}
        #: what stands in Python for a shape with such sizes
        self.shapes: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        #: what stands in Python for a size that is left open
        self.size_of: Callable[[Any], Any] = lambda size: size
        #: makes constants of what a value has of open sizes, see `weft.ir.sizes.settled`
        self.settle_sizes: Callable[[Any], Any] = _refuse_sizes
        #: whether a comparison of open sizes that depends on the call is `Undecided`, and not decided by a guard
        self.is_certain = False
        self._constants: dict[tuple[Graph, int, type | None], Value] = {}
        self._captures: dict[Graph, dict[Value, Value]] = {}

    def is_followed(self, tensor: Tensor) -> bool | None:
        """Whether a gradient from outside of the trace follows a tensor.

        Returns:
            None where that is not known yet: the gradient may be one of the finished graph.
        """
        if tensor.is_symbolic or (id(tensor) not in self.created and type(tensor) is not LiteralTensor):
            return None
        return False

    # -- reading outside values ------------------------------------------------------------------------

    def shown(self, parameter: Any) -> None:
        """Note that the text of a parameter was made."""
        if self.on_shown is not None:
            self.on_shown(parameter)

    def use(self, tensor: Tensor) -> Value:
        """The value of a tensor in the graph under construction."""
        data = data_of(tensor)
        if data.__class__ is Value:
            return data if data.graph is self.graph else self.lift(data, self.graph)
        if type(tensor) is LiteralTensor or id(tensor) in self.created:
            return self.constant(tensor)
        return self.lift(self.external(tensor), self.graph)

    def external(self, tensor: Tensor) -> Value:
        """The root parameter that stands for an outside handle."""
        found = self.externals.get(id(tensor))
        if found is None:
            if self.written_storages:
                _on_first_read(self, tensor)
            name = tensor.name if isinstance(tensor, Parameter) else ""
            found = self.externals[id(tensor)] = (tensor, self.root.add_param(tensor.type, name))
        return found[1]

    def note_region(self, tensor: Tensor, source: Tensor, region: Any) -> None:
        """A tensor is written: note what is new of it, as far as that is known (see `weft.core.sharing.Step`)."""
        held, (last, before) = data_of(tensor), self.regions.get(id(tensor), (None, None))
        if held.__class__ is Value and not (held is last and before == region):
            region = None  # more was written before, or it is not from outside
        self.regions[id(tensor)] = data_of(source), region

    def region_of(self, tensor: Tensor) -> Any:
        """What is new of a tensor from outside since this trace began; None for all, or where that is not known."""
        last, region = self.regions.get(id(tensor), (None, None))
        return region if data_of(tensor) is last else None

    @contextmanager
    def only_certain(self) -> Iterator[None]:
        """Within this block a comparison of open sizes that depends on the call raises `Undecided`."""
        before, self.is_certain = self.is_certain, True
        try:
            yield
        finally:
            self.is_certain = before

    def bring_sizes(self) -> None:
        """Give the root graph parameters for all sizes that it leaves open."""
        for tensor, _, _ in self.open_types.values():
            self.external(tensor)

    def present(self, tensor: Tensor) -> Tensor:
        """A handle of its own on what a tensor is now, which later writes leave as it is; any graph may use it."""
        if tensor.is_symbolic or type(tensor) is LiteralTensor or id(tensor) in self.created:
            return self._kept(view(tensor))
        return _followed_as(tensor, wrap(self.external(tensor)))

    def _kept(self, made: Tensor) -> Tensor:
        """A handle that was made during the trace, noted as a constant if it has an array."""
        if not made.is_symbolic:
            self.created[id(made)] = made
        return made

    def constant(self, tensor: Tensor, weak: type | None = None) -> Value:
        """A concrete tensor embedded in the current graph, as a Python number of type `weak` if given."""
        key = (self.graph, id(data_of(tensor)), weak)
        found = self._constants.get(key)
        if found is None:
            kind = tensor.type if weak is None else TensorType.of(tensor.dtype, tensor.shape, weak)
            node = self.graph.add_node(CONSTANT, (), (Literal(data_of(tensor)),), (kind,))
            found = self._constants[key] = node.outputs[0]
            self.created[id(data_of(tensor))] = tensor  # keeps the array alive, and so its id unique
        return found

    def close(self) -> None:
        """Let the complete root graph read outside handles itself, so that its parameters are those it was given."""
        outside = {param: handle for handle, param in self.externals.values()}
        if not outside:
            return
        root = self.root
        reads = []
        replaced: dict[Value, Value] = {}
        for param, handle in outside.items():
            node = Node(OUTSIDE, (), (Reference(handle),), ())
            node.outputs = (Value(param.type, root, node, 0, param.name),)
            replaced[param] = node.outputs[0]
            reads.append(node)
        get: Any = replaced.get
        for node in root.nodes:
            node.inputs = tuple([get(value, value) for value in node.inputs])
        root.nodes[:0] = reads
        root.outputs = [get(value, value) for value in root.outputs]
        root.params = [param for param in root.params if param not in outside]
        for index, param in enumerate(root.params):
            param.index = index
        self.externals = {}

    def lift(self, value: Value, graph: Graph) -> Value:
        """A value of an enclosing graph as a parameter of a region inside it."""
        if value.graph is graph:
            return value
        captures = self._captures.setdefault(graph, {})
        found = captures.get(value)
        if found is None:
            if graph.parent is None:
                raise Unsupported(
                    Refusal.OUTPUT,
                    "a value of one example is read outside of the function that vmap maps",
                    "return it from the mapped function; where a hook reads it, map the gradient: jit(vmap(grad(f)))",
                )
            self.lift(value, graph.parent)
            found = captures[value] = graph.add_param(value.type, value.name)
        return found

    def tensor_of(self, value: Value) -> Tensor:
        """A tensor on a value of the current graph, with the tape entry that computed it."""
        tensor = wrap(value)
        edge = self.edges.get(value)
        if edge is not None and edge[0].level is self.graph:
            tensor._node, tensor._index = edge
        return tensor

    def captures_of(self, region: Graph) -> list[Value]:
        """The values of enclosing graphs that a region's lifted parameters stand for."""
        return list(self._captures.get(region, {}))

    # -- regions -----------------------------------------------------------------------------------------

    @contextmanager
    def region(self, name: str) -> Iterator[Graph]:
        """Build a nested graph; afterwards the enclosing graph is current again."""
        region = Graph(name, parent=self.graph)
        self.graph = region
        try:
            yield region
        finally:
            assert region.parent is not None
            self.graph = region.parent

    def append(
        self,
        op: Any,
        inputs: tuple[Value | None, ...],
        attrs: tuple[Any, ...],
        types: tuple[ValueType, ...],
        regions: tuple[Graph, ...] = (),
    ) -> tuple[Value, ...]:
        """Append a node to the current graph at the current user location."""
        location = None if self.location is None else self.location()
        return self.graph.add_node(op, inputs, attrs, types, regions, location).outputs

    def require(self, condition: Tensor) -> None:
        """Let the results of the graph count only where a condition holds."""
        self.holds = self._and(self.holds, condition)

    def check(self, condition: Tensor, what: str = "") -> None:
        """Have the graph find out whether Python would raise an exception.

        Args:
            condition: a symbolic truth: it would not.
            what: what is checked; empty if that was noted already.

        Raises:
            Unsupported: it has to be found out in Python.
        """
        if self.leaves_checks:
            raise Unsupported(
                Refusal.OUT_OF_BOUNDS, "an index was out of bounds here before", "see to it that indices are in bounds"
            )
        if what:
            self.places.append((what, None if self.location is None else self.location()))
        self.checked = self._and(self.checked, condition)

    def take_conditions(self) -> tuple[Tensor | None, Tensor | None]:
        """What the graph assumes and checks, both of which it then does no longer."""
        found = self.holds, self.checked
        self.holds = self.checked = None
        return found

    def error(self) -> str:
        """What to say where a check fails and Python cannot find out what is wrong."""
        found = {what: place() if callable(place) else place for what, place in self.places}
        return " or ".join(what if place is None else f"{what} ({place})" for what, place in found.items())

    def _and(self, sofar: Tensor | None, condition: Tensor) -> Tensor:
        """The handle for what holds so far, with another condition; the first one makes it."""
        if sofar is None and self.graph is self.root:
            return wrap(self.use(condition))
        found = self._true() if sofar is None else sofar
        return found.rebind(found & condition)

    def _true(self) -> Tensor:
        """What holds before anything is computed."""
        location = None if self.location is None else self.location()
        kind = (TensorType.of(dtypes.bool_, ()),)
        return wrap(self.root.add_node(CONSTANT, (), (Literal(np.asarray(True)),), kind, (), location).outputs[0])

    def io_token(self) -> Tensor:
        """The handle of the token that orders IO.

        Raises:
            Unsupported: the graph assumes something, so that it cannot do what cannot be undone, or is that of one
                example of many.
        """
        if self.one_of_many:
            raise Unsupported(
                Refusal.IMPURE_CALL,
                "the function given to vmap prints or calls the host, and it runs once, for all examples",
                "print what vmap returned",
            )
        if self.holds is not None:
            raise Unsupported(
                Refusal.TENSOR_VALUE,
                "a number was computed in the graph under a condition that has to be checked before anything is shown",
                "print the tensor, or compute the number outside the compiled function",
            )
        self.exact = True
        if self.token is None:
            self.token = wrap(self.first_token())
        return self.token

    def first_token(self) -> Value:
        """The root parameter for the token, which also stands where no token is known nor read."""
        if self._first_token is None:
            self._first_token = self.root.add_param(TOKEN, "io")
        return self._first_token


class _Local(threading.local):
    trace: Trace | None = None
    #: how many traces this thread has begun and not ended
    begun = 0


_local = _Local()
_active = 0
_active_lock = threading.Condition()


def current() -> Trace | None:
    """The trace of this thread, if one is active."""
    return _local.trace


def active_here() -> list[Trace]:
    """The traces that are active in this thread, the innermost first."""
    found, trace = [], _local.trace
    while trace is not None:
        found.append(trace)
        trace = trace.outer
    return found


def refuse_while_captured(why: str, do: str) -> None:
    """Refuse what a graph cannot do anew in each call, if a capture is running in this thread.

    Args:
        why: what is wrong, in the user's terms.
        do: what to write instead.

    Raises:
        Unsupported: a capture is running.
    """
    trace = _local.trace
    if trace is not None and trace.watched:
        raise Unsupported(Refusal.IMPURE_CALL, why, do)


def reuse_blocks() -> None:
    """Let the graphs that this thread builds compile stretches that repeat once, whatever their size."""
    trace = _local.trace
    while trace is not None:
        trace.root.reuses_blocks = True
        trace = trace.outer


def any_active() -> int:
    """How many traces are active in all threads."""
    return _active


def await_others() -> bool:
    """Wait until no other thread traces: meanwhile tensors that this thread shares hold values of its graph, and what
    is written to them is put back. Returns whether it waited for that, and it came.
    """
    if not _active or _local.begun:
        return False
    with _active_lock:
        return _active_lock.wait_for(lambda: not _active, PATIENCE)


def is_put_back(tensors: Iterable[Any], datas: Iterable[Any]) -> bool:
    """Whether operands of something that failed were values of another thread's graph, and are arrays again: who reads
    tensors does not look whether another thread traces, which would cost each call, but reads them again then.

    Args:
        tensors: the operands; what is no Tensor is passed over.
        datas: what was read of them.

    Raises:
        Unsupported: they are values of a graph that is complete, or of one in progress that cannot hold what failed.
    """
    if Value not in [data.__class__ for data in datas]:
        return False
    if Value in [settled(t).__class__ for t in tensors if isinstance(t, Tensor)]:
        raise Unsupported(
            Refusal.TENSOR_VALUE,
            "a tensor that only a running graph knows is used where there is an array only",
            "return it from the function that is mapped or compiled, and compute with what that returns; where a "
            "gradient reads it, take the gradient inside: vmap(grad(f))",
        )
    return True


def _on_write(tensor: Tensor, source: Tensor) -> Tensor:
    """Tell the trace of a write; what is written becomes a value of the graph, so that a handle with an array is one
    that the trace has not written.
    """
    trace = _local.trace
    if trace is None:
        await_others()
        return source
    if trace.on_write is not None:
        trace.on_write(tensor)
    if not source.is_symbolic:
        written = wrap(trace.use(source))
        if source._node is not None:
            written._node = source._node
            written._index = source._index
        source = written
    _spread(trace, tensor, source)
    return source


#: told of each write while a trace is active, and of the beginning and end of traces; installed by `weft.core.choice`
_spread: Callable[[Trace, Tensor, Tensor], None]
_exchange: Callable[[Any], Any]


def install_choices(spread: Callable[[Trace, Tensor, Tensor], None], exchange: Callable[[Any], Any]) -> None:
    """Set what is told of each write (the trace, the handle, the new value), and what gives a trace choices of its own
    (called with None) and takes them away (called with what it returned).
    """
    global _spread, _exchange
    _spread, _exchange = spread, exchange


#: told of tensors from outside when they are read first, and something was written; installed by `weft.core.sharing`
_on_first_read: Callable[[Trace, Tensor], None]


def install_sharing(on_first_read: Callable[[Trace, Tensor], None]) -> None:
    """Set what is told of a tensor from outside that a trace reads for the first time after it has written others."""
    global _on_first_read
    _on_first_read = on_first_read


def _hole(tensor: Tensor, spec: str) -> str | None:
    trace = _local.trace
    return None if trace is None or trace.write_text is None else trace.write_text(tensor, spec)


def _is_runtime(tensor: Tensor) -> bool:
    """Whether a tensor existed before this thread's trace, so that its value may change between calls."""
    trace = _local.trace
    return trace is not None and type(tensor) not in EMBEDDED and id(tensor) not in trace.created


def _refuse_sizes(value: Any) -> NoReturn:
    raise Unsupported(
        Refusal.DYNAMIC_SHAPE,
        f"shapes follow from {', '.join(map(str, open_in(value))) or 'sizes'} only where these are known",
        "compile for one size",
    )


def has_another_type(tensor: Tensor, source: Tensor) -> bool:
    """Whether what a tensor is to become has another type than it.

    Raises:
        Unsupported: that depends on sizes that are left open.
    """
    old, new = tensor.type, source.type
    if old is new:
        return False
    alike = (old.dtype, old.weak, len(old.shape)) == (new.dtype, new.weak, len(new.shape))
    if alike and not any(isinstance(a - b, int) and a != b for a, b in zip(old.shape, new.shape, strict=True)):
        raise Unsupported(
            Refusal.DYNAMIC_SHAPE,
            f"whether a tensor of type {old} keeps its shape where it becomes {new} is only known in the call",
            "compile for one size",
        )
    return True


def leave_open(trace: Trace, tensor: Tensor, kind: TensorType) -> None:
    """Leave sizes of a tensor from outside open in a trace.

    Args:
        trace: the trace.
        tensor: the tensor.
        kind: its type in the graph.
    """
    trace.open_types[id(data_of(tensor))] = (tensor, data_of(tensor), kind)
    tensor_module._open_type = _open_type


def _open_type(array: Any) -> TensorType | None:
    trace = _local.trace
    while trace is not None:
        found = trace.open_types.get(id(array))
        if found is not None:
            return found[2]
        trace = trace.outer
    return None


def _sizes(shape: tuple[Any, ...]) -> tuple[Any, ...]:
    """What stands in Python for dimensions of which some are open."""
    trace = _local.trace
    if trace is None:
        return shape
    found = trace.shapes.get(shape)
    if found is None:  # one object for each shape, as without open sizes
        found = tuple([trace.size_of(size) if is_open_size(size) else size for size in shape])
        trace.shapes[shape] = found
    return found


tensor_module._sizes = _sizes


def _set_runtime_test(active: bool) -> None:
    if not active:
        tensor_module._open_type = None
    tensor_module._is_runtime = _is_runtime if active else None
    tensor_module._hole = _hole if active else None
    tensor_module._on_shown = _on_shown if active else None
    tensor_module._on_reshape = _on_reshape if active else None
    tensor_module._await_others = await_others if active else None


def _on_shown(parameter: Tensor) -> None:
    if _local.trace is not None:
        _local.trace.shown(parameter)


def _on_reshape() -> None:
    refuse_while_captured(
        "a parameter gets another shape, which a graph cannot do anew in each call",
        "give it the shape outside the compiled function",
    )


def _on_create(tensor: Tensor) -> None:
    trace = _local.trace
    if trace is not None:
        trace.created[id(tensor)] = tensor


def _on_parameter(tensor: Tensor) -> None:
    if _local.trace is not None:
        raise Unsupported(
            Refusal.STATE_CREATED,
            "a Parameter is created inside a compiled function, so every call would make a new one",
            "create it once, outside:\n"
            "           self.weight = Parameter(...)      # in __init__\n"
            "       and use it inside:\n"
            "           return x * self.weight            # in construct",
        )


def _on_read(tensor: Tensor) -> Tensor:
    trace = _local.trace
    if trace is None:
        return view(tensor)
    if not tensor.is_symbolic and id(tensor) in trace.created:
        return trace._kept(view(tensor))
    # in a region the handle has a value of the region, even of what lies outside: it is one that the region made
    return _followed_as(tensor, wrap(trace.use(tensor)))


def is_outside(tensor: Tensor) -> bool:
    """Whether a tensor was there before the capture that is in progress."""
    trace = _local.trace
    if trace is None or tensor.is_symbolic or type(tensor) is LiteralTensor:
        return False
    return id(tensor) not in trace.created


def detached(tensor: Tensor) -> Tensor:
    """A new handle on the same value without gradient history."""
    trace = _local.trace
    result = wrap(trace.use(tensor) if trace is not None and is_outside(tensor) else data_of(tensor))
    result._type = tensor._type
    return result


def _followed_as(tensor: Tensor, made: Tensor) -> Tensor:
    """A new handle, with the gradient history of another."""
    node = tensor._node
    if node is not None and node is not SYMBOL:
        made._node = node
        made._index = tensor._index
    return made


@contextmanager
def tracing(trace: Trace) -> Iterator[Trace]:
    """Make a trace the active one of this thread, when no other thread has one: each holds tensors that both reach."""
    global _active
    before = _local.trace
    with _active_lock:
        if not _local.begun:
            _active_lock.wait_for(lambda: not _active, PATIENCE)
        _active += 1
        if _active == 1:
            tensor_module.observe(_on_write, _on_create, _on_parameter, _on_read)
            _notify(True)
    _local.trace = trace
    _local.begun += 1
    trace.outer = before
    choices = _exchange(None) if before is None else None
    try:
        yield trace
    finally:
        _local.trace = before
        _local.begun -= 1
        if before is None:
            _exchange(choices)
        with _active_lock:
            _active -= 1
            if _active == 0:
                _active_lock.notify_all()
                tensor_module.observe(None, None, None, None)
                _notify(False)


@contextmanager
def suspended() -> Iterator[None]:
    """Compute as if no trace were active in this thread."""
    before = _local.trace
    _local.trace = None
    try:
        yield
    finally:
        _local.trace = before


_listeners: list[Callable[[bool], None]] = []


def _notify(active: bool) -> None:
    for listener in _listeners:
        listener(active)


def on_activity(listener: Callable[[bool], None]) -> None:
    """Call `listener(active)` when the first trace begins and the last one ends."""
    _listeners.append(listener)


on_activity(_set_runtime_test)
