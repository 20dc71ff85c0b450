"""A gradient in progress: where it starts, what it changes on the way, and how everything is put back.

`begin` gives the arguments and the weights leaves of the tape; the user's function then runs on the tracked arguments;
`close` restores the weights and cuts loose what outlives the gradient. Sessions of a thread nest. A leaf made inside
another gradient links to the value it stands for, so that the outer gradient flows through the inner one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from weft.autodiff.backward import Walk, start_walk, walked, whole
from weft.autodiff.starts import HANDLE_HOOKS, Start, has_hooks
from weft.autodiff.tree import map_tensors, tensors_of
from weft.context import GRADIENTS as PAUSE
from weft.core import trace as trace_module
from weft.core.choice import follow, unfollow
from weft.core.dispatch import IDENTITY, append, apply, pass_on
from weft.core.lending import lends, share_again
from weft.core.recording import Recording
from weft.core.sharing import share, share_elements
from weft.core.tape import GRADIENTS, SYMBOL, WRITES, TapeNode
from weft.core.tensor import Parameter, Tensor, data_of, present, tracked, view, wrap
from weft.core.threads import PATIENCE
from weft.core.trace import Trace, detached, is_outside
from weft.core.transparency import CALLING_BACK, keeps, unbroken
from weft.errors import Refusal, Unsupported
from weft.ir.graph import Value
from weft.ir.types import TensorType
from weft.ops import state
from weft.ops.shape import FULL


class Session:
    """One gradient in progress.

    Args:
        trace: the capture it belongs to, None for eager.
        followed: whether another gradient follows what is computed here.
    """

    __slots__ = (
        "trace", "level", "followed", "leaves", "templates", "positions", "rebound", "weights", "saved", "chosen",
        "previous_writes", "owns_writes", "keeps_tape", "args", "given", "kwargs", "request", "sens", "closed",
        "run", "tracks", "recording", "paused", "brought", "starts", "whole",
    )  # fmt: skip

    def __init__(self, trace: Trace | None, followed: bool) -> None:
        self.trace = trace
        self.level = None if trace is None else trace.graph
        self.followed = followed
        #: the leaf of each tensor of the differentiated arguments, in order
        self.leaves: list[TapeNode] = []
        #: the tensor of the caller's for which each leaf stands, those of weights included
        self.starts: dict[TapeNode, Start | Tensor] = {}
        #: the differentiated arguments as the function gets them
        self.templates: list[Any] = []
        self.positions: Sequence[int] = ()
        #: differentiated tensors of the caller, the handle that the function gets for each, and the data of both then;
        #: None for that of the caller's where both share memory with an array
        self.rebound: list[tuple[Tensor, Tensor, Any, Any]] = []
        #: the leaf of each weight
        self.weights: list[TapeNode] = []
        #: by id: weight, its leaf, the node, index and data it had before, and the data it has meanwhile
        self.saved: dict[int, tuple[Tensor, TapeNode, Any, int, Any, Any]] = {}
        #: choices that may be one of the weights, see `weft.core.choice`
        self.chosen: list[tuple[Tensor, Any, Any]] = []
        self.previous_writes: dict[int, Any] | None = None
        self.owns_writes = not followed
        #: whether the tape must survive the session (a pullback was handed out)
        self.keeps_tape = False
        self.args: Sequence[Any] = ()
        #: the arguments as the caller gave them
        self.given: Sequence[Any] = ()
        self.kwargs: dict[str, Any] = {}
        self.request: Any = None
        self.sens: Any = None
        #: what an outermost call of several processes joined
        self.brought: Any = None
        self.closed = False
        #: whether histories were paused where it began: then nothing of it leads on to another gradient
        self.paused = PAUSE.paused
        #: whether its backward pass was one call
        self.whole = False
        #: whether it keeps other threads from tracking weights
        self.tracks = False
        #: calls the differentiated function as a captured one; None to call it as it is
        self.run = CALLING_BACK.run if trace is None else None
        #: the form of its tape; None where another gradient follows, or the tape is a graph's
        self.recording = Recording() if trace is None and not followed else None

    @property
    def targets(self) -> list[TapeNode]:
        """All leaves: of the arguments, then of the weights."""
        return self.leaves + self.weights


@unbroken
def call(session: Session, fn: Callable[..., Any], kwargs: dict[str, Any]) -> Any:
    """Call the differentiated function on the tracked arguments."""
    run = session.run
    out = fn(*session.args, **kwargs) if run is None else run(fn, *session.args, **kwargs)
    refuse_shared_writes(session)
    return out


@keeps
def refuse_shared_writes(session: Session) -> None:
    """Refuse a function that wrote to elements which a differentiated argument and another tensor that it uses have.

    Inside the function each such argument is a tensor of its own, with a gradient of its own.
    """
    given: list[Tensor] = []
    for original, handle, data, before in session.rebound:
        now, inside = data_of(original), data_of(handle)
        if now is before and inside is data:
            continue
        found = before is not None and _is_changed(now, before)  # it was written under another name
        if not found and inside is not data:
            given = given or [tensor for arg in session.given for tensor in tensors_of(arg)]
            at = next(i for i, tensor in enumerate(given) if tensor is original)
            shared = any(share_elements(original, other) for other in (*given[:at], *given[at + 1 :]))
            found = shared and _is_changed(inside, data)  # elements are compared last: they come to the host
        if found:
            what = (
                "a differentiated function writes to an argument that shares elements with another tensor that it uses"
            )
            if session.trace is not None:  # the run may not come to the write
                raise Unsupported(Refusal.IMPURE_CALL, what, "pass a copy of one")
            raise ValueError(f"{what}; pass a copy of one: x.copy()")


def _is_changed(now: Any, before: Any) -> bool:
    """Whether a tensor was written: a graph gives it a new array with the old elements where a run left it alone."""
    if now is before or now.__class__ is Value or before.__class__ is Value:
        return now is not before
    return np.asarray(now).tobytes() != np.asarray(before).tobytes()


#: gradients outside of any capture that track weights in place: one thread at a time, unless it takes very long
_TRACKING: Final = threading.RLock()


def depth() -> int:
    """How many gradients are in progress in this thread."""
    return len(GRADIENTS.stack)


def unwind(count: int) -> None:
    """Abandon the gradients in progress beyond the first `count` (for a capture that stops in the middle)."""
    stack = GRADIENTS.stack
    while len(stack) > count:
        close(stack[-1])


@keeps
def begin(
    args: Sequence[Any], positions: Sequence[int], weights: Sequence[Tensor] = (), followed: bool = False
) -> Session:
    """Start a gradient: leaves for the arguments at `positions` and for the weights.

    Args:
        args: the function's positional arguments.
        positions: which of them to differentiate; each a tensor or a container of tensors.
        weights: Parameters to differentiate.
        followed: treat the computation as part of another gradient whatever else is in progress.

    Returns:
        Session: `args` holds the arguments to call the function with.
    """
    stack = GRADIENTS.stack
    trace = trace_module.current()
    nested = followed or (bool(stack) and stack[-1].trace is trace)
    session = Session(trace, nested and not PAUSE.paused)
    PAUSE.paused = False
    session.positions = positions
    if session.owns_writes:
        session.previous_writes = WRITES.handles
        WRITES.handles = {}
    stack.append(session)
    try:
        tracked_args = list(args)
        for position in positions:
            tracked_args[position] = template = _track(session, args[position])
            session.templates.append(template)
        for weight in weights:
            session.weights.append(_track_in_place(session, weight))
    except BaseException:
        close(session)
        raise
    session.args, session.given = tracked_args, args
    return session


def _leaf(session: Session, tensor: Tensor, original: Tensor) -> TapeNode:
    node = tensor._node
    level = session.level
    if node is not None and node is not SYMBOL and node.level is level and not session.paused:
        session.followed = True
        session.recording = None
        leaf = TapeNode(((node, tensor._index),), 1, pass_on, level)  # type: ignore[arg-type]
    else:
        leaf = TapeNode((), 1, None, level)
    session.starts[leaf] = original if session.trace is None else Start(original)
    if tensor._member is not None and lends(tensor):
        session.recording = None  # whose form says that a leaf has one value
    if session.recording is not None:
        session.recording.leaf(leaf, tensor._type or tensor.type)
    return leaf


def _track(session: Session, value: Any, original: Tensor | None = None) -> Any:
    """The differentiated argument with leaves in place of its tensors.

    Args:
        session: the gradient.
        value: the argument.
        original: the tensor of the caller's, where the argument is another handle on it.
    """
    if value.__class__ is Tensor:
        trace = session.trace
        leaf = _leaf(session, value, value if original is None else original)
        session.leaves.append(leaf)
        data = before = data_of(value)
        if trace is not None:
            data = _own_value(trace, value, leaf)
        handle = tracked(data, leaf, 0)
        handle._type = value._type
        if trace is None and value._member is not None and lends(value):
            share(handle, value)  # what the function writes to the array is seen by its argument
            data, before = data_of(handle), None
        session.rebound.append((value, handle, data, before))
        return handle
    if isinstance(value, Parameter):
        if id(value) not in session.saved:
            session.leaves.append(_track_in_place(session, value))
            return value
        return _track(session, view(value), value)
    if getattr(value, "__ms_mutable__", False) and isinstance(value, (bool, int, float)):
        return _track(session, Tensor(float(value) if isinstance(value, float) else int(value)))
    if isinstance(value, Tensor):
        return _track(session, detached(value) if value._node is None else view(value), value)
    if isinstance(value, (tuple, list)):
        items = [_track(session, item) for item in value]
        if isinstance(value, list):
            return items
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, dict):
        return {key: _track(session, item) for key, item in value.items()}
    return value


def _own_value(trace: Trace, tensor: Tensor, leaf: TapeNode) -> Value:
    """A value of its own for a leaf: control flow finds the tape entries of its operands by value."""
    value: Value = append(trace, IDENTITY, (tensor,), ())[0]
    trace.edges[value] = (leaf, 0)
    return value


def _track_in_place(session: Session, weight: Tensor) -> TapeNode:
    """The leaf of a Parameter; the handle itself becomes the leaf's tensor until the session closes."""
    done = session.saved.get(id(weight))
    if done is not None:
        return done[1]
    if session.trace is None and not session.tracks:
        session.tracks = _TRACKING.acquire(timeout=PATIENCE)
    leaf = _leaf(session, weight, weight)
    node = weight._node
    index = weight._index if node is not None and node is not SYMBOL else 0
    data = data_of(weight)
    trace = session.trace
    if trace is not None:
        value = _own_value(trace, weight, leaf)
        if trace.outer is None and trace.on_write is not None:  # it is to be undone to what it is outside the gradient
            trace.on_write(weight)
        weight._data = value
    session.saved[id(weight)] = weight, leaf, node, index, data, data_of(weight)
    weight._index = 0  # before the node: other threads read them in the opposite order
    weight._node = leaf
    session.chosen += follow(weight)
    return leaf


def is_weight(tensor: Tensor) -> bool:
    """Whether a gradient in progress starts at a Parameter itself, as it is now: the program's, not another handle."""
    return any(session.saved.get(id(tensor), (None, None))[1] is tensor._node for session in GRADIENTS.stack)


def keep_tapes() -> None:
    """A pullback is handed out: no gradient in progress may take the tape apart."""
    for session in GRADIENTS.stack:
        session.keeps_tape = True


@keeps
def is_differentiable(value: Any) -> bool:
    """Whether an argument holds tensors (or run-time numbers) to differentiate."""
    if isinstance(value, Tensor):
        return True
    if isinstance(value, (tuple, list)):
        return any(is_differentiable(item) for item in value)
    if isinstance(value, dict):
        return any(is_differentiable(item) for item in value.values())
    return bool(getattr(value, "__ms_mutable__", False)) and isinstance(value, (int, float))


@keeps
def close(session: Session) -> None:
    """End a session, and any that an exception left open inside it: weights are themselves again."""
    if session.closed:
        return
    stack = GRADIENTS.stack
    while stack:
        top = stack.pop()
        _restore(top)
        if top is session:
            return


def _restore(session: Session) -> None:
    session.closed = True
    PAUSE.paused = session.paused
    for weight, leaf, node, index, data, during in session.saved.values():
        if data_of(weight) is during and weight._node is leaf:
            weight._data = data
            share_again(weight)
            weight._index = index
            weight._node = node
        elif not session.followed and (data_of(weight) is not data or weight._node is not node):
            cut(weight)  # written meanwhile; otherwise a capture that was given up has put it back
    if session.chosen:
        unfollow(session.chosen, None if session.followed else cut)
    for original, handle, data, _ in session.rebound:
        if data_of(handle) is not data:  # written, by whatever way: also by a branch or a loop of a graph
            original.rebind(handle)
    if session.owns_writes:
        if WRITES.handles and not session.followed:
            for handle in list(WRITES.handles.values()):
                cut(handle)
        WRITES.handles = session.previous_writes
    if session.tracks:
        _TRACKING.release()


@keeps
def cut(tensor: Tensor) -> None:
    """Forget the gradient history of a handle, in place."""
    if tensor._node is not None:
        tensor._node = SYMBOL if data_of(tensor).__class__ is Value else None


@keeps
def own(tensor: Tensor, record: bool) -> Tensor:
    """A new handle on the same value, with its gradient history where it is to be recorded."""
    return present(tensor) if record else detached(tensor)


_ONES: dict[TensorType, Any] = {}


@keeps
def ones_of(tensor: Tensor) -> Tensor:
    """Ones in the type of a tensor, a new handle."""
    kind = tensor.type
    trace = trace_module.current()
    if trace is not None:
        attrs = (kind.shape, 1, kind.dtype)
        return wrap(append(trace, FULL, (), attrs)[0]) if tensor.is_symbolic else apply(FULL, (), attrs)
    data = _ONES.get(kind)
    if data is None:
        data = data_of(apply(FULL, (), (kind.shape, 1, kind.dtype)))
        if kind.size <= 4096:
            _ONES[kind] = data
    result = wrap(data)
    result._type = kind
    return result


@keeps
def zeros_like(tensor: Tensor) -> Tensor:
    """Zeros in the type of a tensor; part of the graph if the tensor is."""
    kind = tensor.type
    attrs = (kind.shape, 0, kind.dtype)
    trace = trace_module.current()
    if trace is not None and tensor.is_symbolic:
        return wrap(append(trace, FULL, (), attrs)[0])
    return apply(FULL, (), attrs)


@keeps
def seed(output: Tensor, given: Any, what: str) -> Tensor:
    """A gradient that the user gave for an output, checked against it."""
    if not isinstance(given, Tensor):
        if not isinstance(given, (bool, int, float, complex, np.ndarray, np.generic)):
            raise TypeError(f"{what} must be a tensor for each tensor output, not {type(given).__name__}")
        given = Tensor(given)
    if given.shape != output.shape:
        if given.size == output.size == 1:
            given = given.reshape(output.shape)
        else:
            raise ValueError(
                f"{what} has shape {given.shape}; the output whose gradient it is has shape {output.shape}"
            )
    if given.dtype is not output.dtype:
        given = given.astype(output.dtype)
    return given


def gradients(
    session: Session, outputs: Sequence[Tensor], douts: Sequence[Tensor | None], record: bool | None = None
) -> list[Tensor]:
    """Gradients at all leaves of a session, zeros where no path leads to; new handles.

    Calls the user's code it meets.
    """
    return collected(session, walked(walk_of(session, outputs, douts, record=record)), record)


@keeps
def walk_of(
    session: Session,
    outputs: Sequence[Tensor],
    douts: Sequence[Tensor | None] | None,
    release: bool = False,
    record: bool | None = None,
) -> Walk:
    """The backward pass from outputs to all leaves of a session; where `douts` is None the gradients are ones."""
    record = session.followed if record is None else record
    release = release and not session.keeps_tape
    targets = session.leaves + session.weights if session.weights else session.leaves
    hooked = HANDLE_HOOKS and has_hooks(session.starts.values())
    recording = None if hooked else session.recording
    begin: Any = None if record or recording is None else whole(recording, outputs, douts, targets, release)
    if begin.__class__ is Walk:
        session.whole = True  # what it gives nobody else has
        return begin
    session.whole = False
    if douts is None:
        douts = [ones_of(output) for output in outputs]
    return start_walk(outputs, douts, targets, record, release, begin, session.starts)


@keeps
def collected(session: Session, raw: Sequence[Tensor | None], record: bool | None = None) -> list[Tensor]:
    """What a session's backward pass came to, zeros where no path leads to a leaf; new handles."""
    record = session.followed if record is None else record
    again = present if record else detached  # as `own` does
    missing = False
    results: list[Any] = []
    for gradient in raw:
        if gradient is None:
            missing = True
        elif record or not session.whole:
            gradient = again(gradient)
        results.append(gradient)
    if missing:
        likes = [*tensors_of_templates(session), *_weight_handles(session)]
        results = [zeros_like(likes[i]) if g is None else g for i, g in enumerate(results)]
    return results


@keeps
def tensors_of_templates(session: Session) -> list[Tensor]:
    """The differentiated tensors, in the order of the leaves."""
    return [tensor for template in session.templates for tensor in tensors_of(template)]


def _weight_handles(session: Session) -> list[Tensor]:
    by_leaf = {leaf: weight for weight, leaf, *_ in session.saved.values()}
    return [by_leaf[leaf] for leaf in session.weights]


@keeps
def settle(session: Session, value: Any) -> Any:
    """What the function returned, for the caller: without history unless another gradient follows it."""
    if not session.followed:
        for tensor in tensors_of(value):
            if not is_outside(tensor):  # whose history is that of another gradient
                cut(tensor)
    return value


@contextmanager
def followed() -> Iterator[None]:
    """Treat gradients inside as inner ones of a gradient that the caller runs over its own leaves."""
    session = begin((), (), (), followed=True)
    try:
        yield
    finally:
        close(session)


def stop_gradient(value: Any) -> Any:
    """Treat a value as a constant: no gradient flows through the result.

    Args:
        value: a tensor, or a nested tuple, list or dict of tensors.

    Returns:
        The same values on new tensors.

    Example:
        >>> from weft.autodiff.grad import grad
        >>> print(grad(lambda x: x * stop_gradient(x))(Tensor([3.0])))
        [3.]
    """
    return map_tensors(stopped, value)


@keeps
def stopped(tensor: Tensor) -> Tensor:
    """A new handle on the same value, a constant for every gradient, also of a graph that is finished."""
    result = detached(tensor)
    # a graph may be differentiated when it is finished, so it must remember the stop
    return state.stop_gradient(result) if result.is_symbolic else result
