"""Gradients that the user writes or watches: custom `bprop`, tensor hooks, cell hooks.

For the layers that call in here:

* ``call_with_bprop(bprop, fn, args)`` computes ``fn(*args)``; its gradient is ``bprop(*args, out, dout)``.
* ``hook_gradient(tensors, hook)`` is the identity; its gradient passes through ``hook``.
* ``cell_backward_hook(cell, hooks, fn, args, pre_hooks=())`` computes ``fn(*args)``; in the backward pass each hook
  gets ``hook(cell, grad_input, grad_output)`` and may return another `grad_input`, each pre-hook gets
  ``pre_hook(cell, grad_output)`` and may return another `grad_output`.

Each is a thin function around two native halves, so that a capture steps into `fn` like into any user code. What is
an entry on the tape in eager code is a mark in a graph (see `weft.autodiff.marks`).
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from weft.autodiff.backward import fit
from weft.autodiff.marks import Rule, mark
from weft.autodiff.session import HANDLE_HOOKS, cut, detached, zeros_like
from weft.autodiff.tree import map_tensors, tensors_of
from weft.core import trace as trace_module
from weft.core.choice import Choice, refuse
from weft.core.declare import add_method
from weft.core.dispatch import edges_of
from weft.core.tape import SYMBOL, TapeNode
from weft.core.tensor import LiteralTensor, Tensor, tracked, wrap
from weft.core.trace import Trace
from weft.core.transparency import transparent


def _data(tensor: Tensor) -> Any:
    trace = trace_module.current()
    return tensor._data if trace is None else trace.use(tensor)


def _plain(tensor: Tensor) -> Tensor:
    """A handle without history on what a recorded handle stands for."""
    return tensor if tensor._node is None or tensor._node is SYMBOL else wrap(tensor._data)


def _like(template: Any, tensors: Sequence[Tensor]) -> Any:
    """The structure of a value, on other tensors."""
    rest = iter(tensors)
    return map_tensors(lambda _: next(rest), template)


def _in_graph(trace: Trace, tensors: Sequence[Tensor]) -> bool:
    """Whether tensors are, or will be read by, the graph under construction."""
    return any(
        tensor.is_symbolic or (id(tensor) not in trace.created and type(tensor) is not LiteralTensor)
        for tensor in tensors
    )


def _identity_mark(tensors: Any, pull: Callable[[Any], Sequence[Any]], label: str) -> Any:
    """In a graph, the tensors of a structure behind a mark; `pull` maps the results' gradients to theirs."""
    trace = trace_module.current()
    inputs = tensors_of(tensors)
    if trace is None or not _in_graph(trace, inputs):
        return None
    rule = Rule(lambda operands, results, douts: pull(douts), len(inputs), label)
    return _like(tensors, mark(trace, inputs, rule))


def _on_node(value: Any, node: TapeNode) -> Any:
    """A structure whose tensors become the outputs of a tape entry, in order."""
    index = -1

    def attach(tensor: Tensor) -> Tensor:
        nonlocal index
        index += 1
        result = tracked(_data(tensor), node, index)
        result._type = tensor._type
        return result

    return map_tensors(attach, value)


# -- custom derivative -------------------------------------------------------------------------------------------


@transparent
def call_with_bprop(bprop: Callable[..., Any], fn: Callable[..., Any], args: Sequence[Any]) -> Any:
    """Compute a function whose derivative the user has written.

    Args:
        bprop: ``bprop(*args, out, dout)`` returns the gradient of each argument, or of the first ones; None or a
            number stands for a constant one.
        fn: the function; nothing inside it is recorded.
        args: its arguments; tensors, containers of tensors, and constants.

    Returns:
        What `fn` returns.

    Example:
        >>> from weft.autodiff.grad import grad
        >>> def square(x):
        ...     return call_with_bprop(lambda x, out, dout: (x * dout,), lambda x: x * x, (x,))
        >>> print(grad(square)(Tensor([3.0])))
        [3.]
    """
    out = fn(*map_tensors(detached, tuple(args)))
    return attach_bprop(bprop, args, out)


class _BpropNode(TapeNode):
    """An entry with a user's rule; the rule must find its entry without keeping it alive."""

    __slots__ = ("__weakref__",)


def attach_bprop(bprop: Callable[..., Any], args: Sequence[Any], out: Any) -> Any:
    """Make a computed result the output of one tape entry whose derivative is `bprop`."""
    args = tuple(args)
    inputs = tensors_of(args)
    trace = trace_module.current()
    outputs = tensors_of(out)
    if trace is not None and inputs and _in_graph(trace, outputs):
        for tensor in outputs:
            cut(tensor)

        def pull(operands: Any, results: Any, douts: Any) -> list[Any]:
            given = bprop(*_like(args, operands), _like(out, results), _like(out, douts))
            return _fitted(given, args, operands[: len(inputs)], [True] * len(inputs))

        name = getattr(bprop, "__qualname__", type(bprop).__name__)
        return _like(out, mark(trace, (*inputs, *outputs), Rule(pull, len(outputs), name)))
    edges = edges_of(inputs, None)
    if edges is None:
        for tensor in outputs:
            cut(tensor)
        return out
    frozen = map_tensors(_frozen, args)
    likes = tensors_of(frozen)
    # the rule sees the result as an output of this entry, so that a second derivative passes through the rule
    kept: list[Any] = []

    def pullback(douts: list[Any], needs: list[bool], record: bool) -> list[Any]:
        result = kept[0]
        filled = iter([zeros_like(o) if d is None else d for o, d in zip(tensors_of(result), douts, strict=True)])
        dout = map_tensors(lambda _: next(filled), result)
        node = nodes()
        given = bprop(
            *(frozen if record else map_tensors(_plain, frozen)),
            _on_node(result, node) if record and node is not None else result,
            dout,
        )
        return _fitted(given, frozen, likes, needs)

    node = _BpropNode(edges, len(outputs), pullback, None)
    nodes = weakref.ref(node)
    kept.append(map_tensors(_unlinked, out))
    return _on_node(out, node)


def _frozen(tensor: Tensor) -> Tensor:
    """A handle that keeps what a tensor stands for now, history included."""
    result = wrap(_data(tensor))
    result._type = tensor._type
    node = tensor._node
    if node is not None and node is not SYMBOL:
        result._node = node
        result._index = tensor._index
    return result


def _unlinked(tensor: Tensor) -> Tensor:
    result = wrap(_data(tensor))
    result._type = tensor._type
    return result


def _fitted(given: Any, args: tuple[Any, ...], likes: list[Tensor], needs: Sequence[bool]) -> list[Any]:
    """What the user's bprop returned, as one gradient for each tensor of the arguments."""
    if len(args) == 1 and not (isinstance(given, (tuple, list)) and len(given) == 1):
        given = (given,)
    if not isinstance(given, (tuple, list)):
        raise TypeError(
            f"bprop must return a tuple with a gradient for each of the {len(args)} inputs, not {type(given).__name__}"
        )
    if len(given) > len(args):
        raise ValueError(f"bprop returned {len(given)} gradients for {len(args)} inputs")
    raw: list[Any] = []
    for i, arg in enumerate(args):
        raw.extend(_spread(arg, given[i] if i < len(given) else None, i))
    results: list[Any] = []
    for gradient, like, need in zip(raw, likes, needs, strict=True):
        if gradient is None or not need:
            results.append(None)
            continue
        if isinstance(gradient, Tensor) and gradient.size != like.size and gradient.size < like.size:
            raise ValueError(f"bprop returned a gradient of shape {gradient.shape} for an input of shape {like.shape}")
        if not isinstance(gradient, Tensor):
            gradient = zeros_like(like) + gradient
        results.append(fit(gradient, like))
    return results


def _spread(arg: Any, gradient: Any, position: int) -> list[Any]:
    tensors = tensors_of(arg)
    if gradient is None or not tensors:
        return [None] * len(tensors)
    if isinstance(arg, Tensor):
        if isinstance(gradient, (tuple, list, dict)):
            raise TypeError(
                f"bprop must return a tensor as the gradient of input {position}, not {type(gradient).__name__}"
            )
        return [gradient]
    if isinstance(gradient, (int, float)):
        return [gradient] * len(tensors)
    if isinstance(arg, dict):
        if not isinstance(gradient, dict):
            raise TypeError(f"bprop must return a dict as the gradient of input {position}")
        return [g for key, item in arg.items() for g in _spread(item, gradient.get(key), position)]
    if not isinstance(gradient, (tuple, list)) or len(gradient) != len(arg):
        raise TypeError(f"bprop must return {len(arg)} gradients for the items of input {position}")
    return [g for item, part in zip(arg, gradient, strict=True) for g in _spread(item, part, position)]


# -- hooks on tensors --------------------------------------------------------------------------------------------


def hook_gradient(tensors: Any, hook: Callable[[tuple[Any, ...]], Any]) -> Any:
    """Return tensors unchanged, and let a function see and replace their gradients in the backward pass.

    Args:
        tensors: a tensor, or a nested tuple, list or dict of tensors.
        hook: called with the tuple of gradients; returns None to keep them, a tensor or tuple to replace them.

    Returns:
        The same values.

    Example:
        >>> from weft.autodiff.grad import grad
        >>> def f(x):
        ...     return hook_gradient(x, lambda grads: grads[0] * 2) * 3
        >>> print(grad(f)(Tensor([1.0])))
        [6.]
    """
    inputs = tensors_of(tensors)

    def pull(douts: Any) -> list[Any]:
        return _replaced(hook(tuple(douts)), douts, douts, "a gradient hook")

    marked = _identity_mark(tensors, pull, getattr(hook, "__qualname__", "hook"))
    if marked is not None:
        return marked
    edges = edges_of(inputs, None)
    if edges is None:
        return tensors
    likes = [_unlinked(tensor) for tensor in inputs]

    def pullback(douts: list[Any], needs: list[bool], record: bool) -> list[Any]:
        filled = tuple([zeros_like(like) if d is None else d for like, d in zip(likes, douts, strict=True)])
        return _replaced(hook(filled), filled, likes, "a gradient hook")

    return _on_node(tensors, TapeNode(edges, len(inputs), pullback, None))


def _replaced(given: Any, before: Sequence[Any], likes: Sequence[Tensor | None], what: str) -> list[Any]:
    """The gradients that a hook returned in place of others."""
    if given is None:
        return list(before)
    if not isinstance(given, (tuple, list)):
        given = (given,)
    if len(given) != len(before):
        raise ValueError(f"{what} returned {len(given)} gradients, it was given {len(before)}")
    results: list[Any] = []
    for new, old, like in zip(given, before, likes, strict=True):
        if new is None or like is None:
            results.append(old)
        elif not isinstance(new, Tensor):
            raise TypeError(f"{what} must return tensors or None, not {type(new).__name__}")
        elif new.shape != like.shape:
            raise ValueError(f"{what} returned a gradient of shape {new.shape} for a tensor of shape {like.shape}")
        else:
            results.append(fit(new, like))
    return results


class HookHandle:
    """A registered hook; `remove` takes it back."""

    __slots__ = ("hooks", "entry")

    def __init__(self, hooks: list[tuple[int, Any]], entry: tuple[int, Any]) -> None:
        self.hooks = hooks
        self.entry = entry

    def remove(self) -> None:
        """Take the hook back; taking it back twice is harmless."""
        for i, entry in enumerate(self.hooks):
            if entry is self.entry:
                del self.hooks[i]
                return

    def __enter__(self) -> HookHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


def register_hook(tensor: Tensor, hook: Callable[[Tensor], Any]) -> HookHandle:
    """Let a function see, and replace, the gradient of this tensor.

    Args:
        tensor: any tensor or Parameter. On one computed inside a gradient the hook lasts as long as that gradient; on
            any other it runs in every gradient that starts at this tensor.
        hook: called with the gradient; returns None to keep it, or a tensor to use in its place.

    Returns:
        HookHandle: its `remove()` takes the hook back.

    Raises:
        TypeError: `hook` cannot be called.

    Example:
        >>> from weft.autodiff.grad import grad
        >>> def f(x):
        ...     y = x * 2
        ...     y.register_hook(lambda g: g * 10)
        ...     return y * 3
        >>> print(grad(f)(Tensor([1.0])))
        [60.]
    """
    if not callable(hook):
        raise TypeError(f"a hook must be callable, not {type(hook).__name__}")
    if type(tensor) is Choice:
        refuse("a hook is registered on it")

    def checked(gradient: Tensor) -> Any:
        return _replaced(hook(gradient), (gradient,), (gradient,), "a tensor hook")[0]

    node = tensor._node
    if tensor.is_symbolic:  # what is computed from here on passes the hook
        entry = (0, checked)
        hooks: list[tuple[int, Callable[[Tensor], Any]]] = [entry]
        tensor.rebind(hook_gradient(tensor, lambda gradients: hooks[0][1](gradients[0]) if hooks else None))
        return HookHandle(hooks, entry)
    if isinstance(node, TapeNode):
        entry = (tensor._index, checked)
        if node.hooks is None:
            node.hooks = []
        elif node.hooks in HANDLE_HOOKS.values():
            node.hooks = list(node.hooks)
        hooks = node.hooks
    else:
        entry = (0, checked)
        key = id(tensor)
        if key not in HANDLE_HOOKS:
            HANDLE_HOOKS[key] = []
            weakref.finalize(tensor, HANDLE_HOOKS.pop, key, None)
        hooks = HANDLE_HOOKS[key]
    hooks.append(entry)
    return HookHandle(hooks, entry)


add_method("register_hook", register_hook)


class HookBackward:
    """An operator that returns its inputs and lets a function see and replace their gradients.

    Args:
        hook_fn: called with the tuple of gradients; returns None to keep them, or new ones.
        cell_id: a remark, kept.

    Raises:
        TypeError: `hook_fn` cannot be called.

    Example:
        >>> from weft.autodiff.grad import grad
        >>> hook = HookBackward(lambda grads: grads[0] * 2)
        >>> print(grad(lambda x: hook(x) * 3)(Tensor([1.0])))
        [6.]
    """

    def __init__(self, hook_fn: Callable[..., Any], cell_id: str = "") -> None:
        if not callable(hook_fn):
            raise TypeError(f"hook_fn must be callable, not {type(hook_fn).__name__}")
        self.hook_fn = hook_fn
        self.cell_id = cell_id

    def __call__(self, *inputs: Any) -> Any:
        return hook_gradient(inputs[0] if len(inputs) == 1 else inputs, self.hook_fn)


class InsertGradientOf:
    """An operator that returns its input and passes the gradient through a function.

    Args:
        f: called with the gradient; what it returns, if not None, takes its place.

    Raises:
        TypeError: `f` cannot be called.

    Example:
        >>> from weft.autodiff.grad import grad
        >>> clip = InsertGradientOf(lambda dx: dx * 0.5)
        >>> print(grad(lambda x: clip(x) * 3)(Tensor([1.0])))
        [1.5]
    """

    def __init__(self, f: Callable[[Any], Any]) -> None:
        if not callable(f):
            raise TypeError(f"f must be callable, not {type(f).__name__}")
        self.f = f

    def __call__(self, x: Any) -> Any:
        return hook_gradient(x, self._apply)

    def _apply(self, gradients: tuple[Any, ...]) -> Any:
        return self.f(*gradients)


# -- hooks on cells ----------------------------------------------------------------------------------------------


@transparent
def cell_backward_hook(
    cell: Any,
    hooks: Sequence[Callable[..., Any]],
    fn: Callable[..., Any],
    args: Sequence[Any],
    pre_hooks: Sequence[Callable[..., Any]] = (),
) -> Any:
    """Compute ``fn(*args)`` with hooks around its part of the backward pass.

    Args:
        cell: passed to the hooks.
        hooks: ``hook(cell, grad_input, grad_output)``; tuples of gradients, None where no gradient flows; may return
            another `grad_input`.
        fn: the computation, usually the cell's `construct`.
        args: its arguments.
        pre_hooks: ``pre_hook(cell, grad_output)``; may return another `grad_output`.

    Returns:
        What `fn` returns.
    """
    watch = CellWatch(cell, tuple(hooks), tuple(pre_hooks))
    out = fn(*watch.enter(args))
    return watch.leave(out)


class CellWatch:
    """The two entries on the tape, at a cell's inputs and at its outputs, that run its backward hooks."""

    __slots__ = ("cell", "hooks", "pre_hooks", "grad_output", "inputs_followed", "input_count")

    def __init__(self, cell: Any, hooks: tuple[Any, ...], pre_hooks: tuple[Any, ...]) -> None:
        self.cell = cell
        self.hooks = hooks
        self.pre_hooks = pre_hooks
        self.grad_output: tuple[Any, ...] = ()
        self.inputs_followed = False
        self.input_count = 0

    def enter(self, args: Sequence[Any]) -> tuple[Any, ...]:
        """The arguments, as outputs of an entry that is the last of the cell in a backward pass."""
        args = tuple(args)
        inputs = tensors_of(args)
        self.input_count = len(inputs)
        marked = _identity_mark(args, lambda douts: self._run_hooks(douts, douts), "backward_hook")
        if marked is not None:
            self.inputs_followed = True
            return marked
        edges = edges_of(inputs, None)
        if edges is None:
            return args
        self.inputs_followed = True
        likes = [_unlinked(tensor) for tensor in inputs]

        def pullback(douts: list[Any], needs: list[bool], record: bool) -> list[Any]:
            return self._run_hooks(douts, likes)

        return _on_node(args, TapeNode(edges, len(inputs), pullback, None))

    def _run_hooks(self, grad_input: Sequence[Any], likes: Sequence[Tensor | None]) -> list[Any]:
        for hook in self.hooks:
            given = hook(self.cell, tuple(grad_input), self.grad_output)
            grad_input = _replaced(given, grad_input, likes, "a backward hook")
        return list(grad_input)

    def leave(self, out: Any) -> Any:
        """The outputs, as outputs of an entry that is the first of the cell in a backward pass."""
        outputs = tensors_of(out)
        marked = _identity_mark(out, lambda douts: self._pass(douts, douts), "backward_pre_hook")
        if marked is not None:
            return marked
        edges = edges_of(outputs, None)
        if edges is None:
            return out
        likes = [_unlinked(tensor) for tensor in outputs]

        def pullback(douts: list[Any], needs: list[bool], record: bool) -> list[Any]:
            return self._pass(douts, likes)

        return _on_node(out, TapeNode(edges, len(outputs), pullback, None))

    def _pass(self, gradients: Sequence[Any], likes: Sequence[Tensor]) -> list[Any]:
        """What arrives at the cell's outputs, after the pre-hooks."""
        for hook in self.pre_hooks:
            gradients = _replaced(hook(self.cell, tuple(gradients)), gradients, likes, "a backward pre-hook")
        self.grad_output = tuple(gradients)
        if not self.inputs_followed:  # only weights are differentiated: there is no later place to run
            nothing = [None] * self.input_count
            self._run_hooks(nothing, nothing)
        return list(gradients)


__all__ = [
    "CellWatch",
    "HookBackward",
    "HookHandle",
    "InsertGradientOf",
    "attach_bprop",
    "call_with_bprop",
    "cell_backward_hook",
    "hook_gradient",
    "register_hook",
]
