"""The derivative API: `GradOperation`, `grad`, `value_and_grad`, `vjp`, `jvp`.

The callables made here are thin Python on purpose: they open a session, call the user's function, and finish. A capture
steps through them and enters the user's function like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft import context
from weft.autodiff.backward import Walk, start_walk, walked
from weft.autodiff.session import (
    Session,
    begin,
    call,
    close,
    collected,
    is_differentiable,
    keep_tapes,
    own,
    seed,
    settle,
    walk_of,
    zeros_like,
)
from weft.autodiff.tree import gradient_like, map_tensors, paired, tensors_of
from weft.core.tape import TapeNode
from weft.core.tensor import Parameter, Tensor, data_of, tracked, view
from weft.core.transparency import keeps, transparent, unbroken
from weft.parallel import rows

_ALL = "all"


@keeps
class GradFunction:
    """The gradient of a function, as a callable.

    Args:
        fn: function or Cell to differentiate.
        positions: positions of the arguments to differentiate; "all" for every argument that holds tensors.
        single: return the first position's gradient by itself, not in a tuple.
        weights: Parameters to differentiate; None for no such part in the result.
        single_weight: return the first weight's gradient by itself.
        sens: whether the last argument is the gradient with respect to the output.
        has_aux: whether only the first output is differentiated.
        with_value: whether to return the outputs too.
        return_ids: whether to pair every gradient with its position or parameter name.
    """

    __slots__ = (
        "fn", "positions", "single", "weights", "single_weight", "sens", "has_aux", "with_value", "return_ids",
        "__weakref__",
    )  # fmt: skip
    #: what an instance is made of: programs make one anew for each call
    __weft_parts__ = __slots__[:-1]

    def __init__(
        self,
        fn: Callable[..., Any],
        positions: Any,
        single: bool,
        weights: tuple[Parameter, ...] | None,
        single_weight: bool = False,
        sens: bool = False,
        has_aux: bool = False,
        with_value: bool = False,
        return_ids: bool = False,
    ) -> None:
        if not callable(fn):
            raise TypeError(f"a function or Cell is differentiated, not {type(fn).__name__}")
        self.fn = fn
        self.positions = positions
        self.single = single
        self.weights = weights
        self.single_weight = single_weight
        self.sens = sens
        self.has_aux = has_aux
        self.with_value = with_value
        self.return_ids = return_ids

    @unbroken
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        session = start(self, args, kwargs)
        try:
            out = call(session, self.fn, session.kwargs)
            found = walked(walk_back(session, out))
        except BaseException:
            close(session)
            raise
        return finish(session, out, found)

    def __repr__(self) -> str:
        return f"<gradient of {getattr(self.fn, '__name__', type(self.fn).__name__)}>"


@keeps
def start(request: GradFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Session:
    """Open the session of a gradient call: what to differentiate is decided here."""
    brought = None
    if rows.MANY and context.MODE == context.GRAPH_MODE and rows.are_brought():
        args, kwargs, brought = rows.bring(args, kwargs)
    sens = None
    if request.sens:
        if "sens" in kwargs:
            kwargs = dict(kwargs)
            sens = kwargs.pop("sens")
        elif args:
            sens, args = args[-1], args[:-1]
        else:
            raise TypeError("sens_param=True needs the gradient of the output as the last argument, or as sens=...")
    positions = request.positions
    if positions is _ALL:
        positions = [i for i, arg in enumerate(args) if is_differentiable(arg)]
    elif request.single and not (args or kwargs or request.with_value) and positions == (0,):
        positions = ()  # a function without arguments
    elif positions:
        if kwargs:
            args, kwargs = _by_position(request.fn, max(positions), args, kwargs)
        first = positions[0]
        if len(positions) > 1 or first >= len(args) or args[first].__class__ is not Tensor:
            positions = _among_tensors(positions, request.single, args)
    session = begin(args, positions or (), request.weights or ())
    session.request = request
    session.kwargs = kwargs
    session.sens = sens
    session.brought = brought
    return session


def _by_position(
    fn: Any, last: int, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments given by keyword moved to the positions of their parameters, up to the last position asked for."""
    if last < len(args):
        return args, kwargs
    function, owner = fn, None
    while True:
        function = getattr(function, "construct", function)
        owner = getattr(function, "__self__", owner)
        if owner is not None and hasattr(function, "__weft_looked_up__"):
            function = getattr(type(owner), function.__name__)
        elif hasattr(function, "__weft_inline__"):  # compiled: what it stands for
            function = function.__weft_inline__
        else:
            break
    own = 0 if owner is None else 1
    code = getattr(function, "__code__", None)
    if code is None:
        return args, kwargs
    names = code.co_varnames[own : code.co_argcount]
    kwargs = dict(kwargs)
    for name in names[len(args) : last + 1]:
        if name not in kwargs:
            break
        args += (kwargs.pop(name),)
    return args, kwargs


def _check_position(position: int, args: tuple[Any, ...]) -> None:
    if position >= len(args):
        raise ValueError(
            f"grad_position {position} is out of range: the function was called with {len(args)} positional arguments"
        )
    arg = args[position]
    if not is_differentiable(arg):
        raise TypeError(
            f"the argument at position {position} is differentiated but is not a tensor: "
            f"{type(arg).__name__} {arg!r:.40}; "
            "pass a Tensor, or leave the position out of grad_position"
        )


def _among_tensors(positions: Sequence[int], single: bool, args: tuple[Any, ...]) -> Sequence[int]:
    """The positions that have a gradient: of several, those of arguments without tensors are passed over."""
    found = [position for position in positions if position >= len(args) or is_differentiable(args[position])]
    chosen = found if found and not single else positions
    for position in chosen:
        _check_position(position, args)
    return chosen


@keeps
def walk_back(session: Session, out: Any) -> Walk:
    """The backward pass of a gradient call, from what the function returned."""
    request: GradFunction = session.request
    target = out
    if request.has_aux:
        if not isinstance(out, (tuple, list)) or len(out) < 2:
            raise ValueError(
                "has_aux=True differentiates the first output and returns the others: "
                f"the function must return several outputs, it returned {_kind(out)}"
            )
        target = out[0]
    outputs = [target] if target.__class__ is Tensor else tensors_of(target)
    douts: list[Tensor] | None = None
    if session.sens is not None:
        given = paired(target, session.sens, "sens")
        douts = [seed(output, dout, "sens") for output, dout in zip(outputs, given, strict=True)]
    return walk_of(session, outputs, douts, release=not session.followed and session.trace is None)


@keeps
def finish(session: Session, out: Any, raw: list[Tensor | None]) -> Any:
    """End a gradient call: the result of its backward pass in the form that was asked for."""
    request: GradFunction = session.request
    try:
        found = collected(session, raw)
    finally:
        close(session)
    brought = session.brought
    result = _shape(request, session, found)
    if request.with_value:
        value = settle(session, out)
        return (value if brought is None else rows.own(value, brought)), result
    if request.has_aux:
        others = settle(session, tuple(out[1:]))
        return result, others if brought is None else rows.own(others, brought)
    return result


def _shape(request: GradFunction, session: Session, found: list[Tensor]) -> Any:
    """The gradients in the form that the request asks for."""
    count = len(session.leaves)
    inputs: Any = None
    if request.positions is not None:
        if len(session.templates) == 1 and session.templates[0].__class__ is Tensor:
            parts: list[Any] = [found[0]]
        else:
            rest = iter(found)
            parts = [gradient_like(template, rest) for template in session.templates]
        if request.return_ids:
            parts = list(zip(session.positions, parts, strict=True))
        inputs = parts[0] if request.single and parts else tuple(parts)
        if session.brought is not None:
            inputs = rows.own(inputs, session.brought)
    if request.weights is None:
        return inputs
    of_weights: list[Any] = found[count:]
    if request.return_ids:
        of_weights = [(w.name, g) for w, g in zip(request.weights, of_weights, strict=True)]
    weights: Any = of_weights[0] if request.single_weight else tuple(of_weights)
    return weights if request.positions is None else (inputs, weights)


def _kind(value: Any) -> str:
    if isinstance(value, Tensor):
        return "a single tensor"
    return f"a {type(value).__name__} of {len(value)}" if isinstance(value, (tuple, list)) else type(value).__name__


@keeps
def _weights_of(weights: Any, name: str = "weights") -> tuple[tuple[Parameter, ...] | None, bool]:
    """Weights as a tuple, and whether a single one was given."""
    if weights is None:
        return None, False
    if isinstance(weights, Parameter):
        return (weights,), True
    if isinstance(weights, (tuple, list)):
        for i, weight in enumerate(weights):
            if not isinstance(weight, Parameter):
                raise TypeError(f"{name}[{i}] must be a Parameter, not {type(weight).__name__}")
        return tuple(weights), False
    raise TypeError(f"{name} must be a Parameter, or a tuple or list of them, not {type(weights).__name__}")


def _check_flags(**flags: Any) -> None:
    for name, flag in flags.items():
        if not isinstance(flag, bool):
            raise TypeError(f"{name} must be a bool, not {type(flag).__name__}")


class GradOperation:
    """The gradient operator: applied to a function, it gives the function's gradient.

    Args:
        get_all: differentiate every argument that holds tensors, not only the first.
        get_by_list: differentiate the weights given with the function.
        sens_param: the gradient with respect to the output is the last argument of the gradient function
            (or its keyword `sens`); otherwise it is ones.

    Raises:
        TypeError: a flag is not a bool.

    Example:
        >>> print(GradOperation()(lambda x: x * x)(Tensor([3.0])))
        [6.]
    """

    def __init__(self, get_all: bool = False, get_by_list: bool = False, sens_param: bool = False) -> None:
        _check_flags(get_all=get_all, get_by_list=get_by_list, sens_param=sens_param)
        self.get_all = get_all
        self.get_by_list = get_by_list
        self.sens_param = sens_param

    @transparent
    def __call__(self, fn: Callable[..., Any], weights: Any = None) -> GradFunction:
        """The gradient of `fn`.

        Args:
            fn: function or Cell.
            weights: with `get_by_list`, a Parameter, a ParameterTuple, or a list or tuple of Parameters; a Cell's
                trainable parameters by default.

        Returns:
            A callable with the arguments of `fn`. It returns the gradient of the first argument; with `get_all`,
            a tuple for all arguments; with `get_by_list` the weights' gradients; with both,
            ``(of arguments, of weights)``.
        """
        chosen: tuple[Parameter, ...] | None = None
        single_weight = False
        if self.get_by_list:
            if weights is None:
                trainable = getattr(fn, "trainable_params", None)
                if trainable is None:
                    raise TypeError("get_by_list=True needs weights: GradOperation(get_by_list=True)(fn, weights)")
                weights = trainable()
            chosen, single_weight = _weights_of(weights)
        if self.get_all:
            return GradFunction(fn, _ALL, False, chosen, single_weight, self.sens_param)
        if self.get_by_list:
            return GradFunction(fn, None, False, chosen, single_weight, self.sens_param)
        return GradFunction(fn, (0,), True, None, False, self.sens_param)

    def __repr__(self) -> str:
        return f"GradOperation(get_all={self.get_all}, get_by_list={self.get_by_list}, sens_param={self.sens_param})"


def _positions_of(grad_position: Any) -> tuple[tuple[int, ...] | None, bool]:
    """Positions as a tuple, and whether a single one was given."""
    if grad_position is None:
        return None, False
    if isinstance(grad_position, int) and not isinstance(grad_position, bool):
        positions: tuple[Any, ...] = (grad_position,)
    elif isinstance(grad_position, (tuple, list)):
        positions = tuple(grad_position)
        if not positions:
            raise ValueError("grad_position must name at least one argument; None differentiates the weights only")
    else:
        raise TypeError(f"grad_position must be an int, a tuple of ints or None, not {type(grad_position).__name__}")
    for position in positions:
        if not isinstance(position, int) or isinstance(position, bool):
            raise TypeError(f"grad_position must hold ints, not {type(position).__name__}")
        if position < 0:
            raise ValueError(f"grad_position must not be negative, got {position}")
    if len(set(positions)) != len(positions):
        raise ValueError(f"grad_position names an argument twice: {positions}")
    return positions, isinstance(grad_position, int)


@keeps
def _transform(
    fn: Any, grad_position: Any, weights: Any, has_aux: bool, return_ids: bool, sens_param: bool, with_value: bool
) -> GradFunction:
    if grad_position is None and weights is None:
        raise ValueError("there is nothing to differentiate: grad_position and weights are both None")
    _check_flags(has_aux=has_aux, return_ids=return_ids, sens_param=sens_param)
    positions, single = _positions_of(grad_position)
    chosen, single_weight = _weights_of(weights)
    return GradFunction(
        fn,
        positions,
        single,
        chosen,
        single_weight,
        sens_param,
        has_aux=has_aux,
        with_value=with_value,
        return_ids=return_ids,
    )


@keeps
def grad(
    fn: Callable[..., Any],
    grad_position: int | tuple[int, ...] | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: bool = False,
) -> GradFunction:
    """The gradient of a function with respect to arguments and weights.

    Args:
        fn: function or Cell; the gradient of the sum of its outputs is taken.
        grad_position: which arguments, given by position or by keyword; an int gives one gradient, a tuple a tuple of
            them (arguments without tensors are passed over), None none.
        weights: Parameter, or tuple or list of Parameters.
        has_aux: differentiate only the first output and return the others as well.
        return_ids: pair every gradient with its argument position or parameter name, for `get_grad`.
        sens_param: the gradient with respect to the output is the last argument of the callable, or its keyword `sens`;
            otherwise it is ones.

    Returns:
        A callable with the arguments of `fn` that returns the gradients of the arguments, or of the weights, or
        ``(arguments, weights)``; with `has_aux`, ``(gradients, other outputs)``.

    Raises:
        TypeError: a differentiated argument is not a tensor.
        ValueError: nothing to differentiate, or a position out of range.

    Example:
        >>> print(grad(lambda x, y: x * y, (0, 1))(Tensor(2.0), Tensor(5.0))[0])
        5.0
    """
    return _transform(fn, grad_position, weights, has_aux, return_ids, sens_param, False)


@keeps
def value_and_grad(
    fn: Callable[..., Any],
    grad_position: int | tuple[int, ...] | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: bool = False,
) -> GradFunction:
    """The outputs of a function together with its gradient; see `grad` for the arguments.

    Returns:
        A callable with the arguments of `fn` that returns ``(outputs, gradients)``.

    Example:
        >>> value, gradient = value_and_grad(lambda x: x * x)(Tensor(3.0))
        >>> print(value, gradient)
        9.0 6.0
    """
    return _transform(fn, grad_position, weights, has_aux, return_ids, sens_param, True)


@keeps
def get_grad(gradients: Any, identifier: Any) -> Any:
    """One gradient out of what `grad(..., return_ids=True)` returned.

    Args:
        gradients: the gradients with their ids.
        identifier: an argument position, or a Parameter.

    Returns:
        Tensor: the gradient.

    Raises:
        TypeError: the identifier is neither an int nor a Parameter.
        ValueError: there is no such gradient.

    Example:
        >>> print(get_grad(grad(lambda x, y: x * y, (0, 1), return_ids=True)(Tensor(2.0), Tensor(5.0)), 1))
        2.0
    """
    if isinstance(identifier, Parameter):
        wanted: Any = identifier.name
    elif isinstance(identifier, int) and not isinstance(identifier, bool):
        wanted = identifier
    else:
        raise TypeError(f"identifier must be an argument position or a Parameter, not {type(identifier).__name__}")
    found = _find(gradients, wanted)
    if found is None:
        what = f"position {wanted}" if isinstance(wanted, int) else f"parameter {wanted!r}"
        raise ValueError(f"no gradient for {what} among these; were they made with return_ids=True?")
    return found[0]


def _find(gradients: Any, wanted: Any) -> tuple[Any] | None:
    if not isinstance(gradients, (tuple, list)):
        return None
    if len(gradients) == 2 and isinstance(gradients[0], (int, str)):
        return (gradients[1],) if gradients[0].__class__ is wanted.__class__ and gradients[0] == wanted else None
    for item in gradients:
        found = _find(item, wanted)
        if found is not None:
            return found
    return None


# -- products with the Jacobian ----------------------------------------------------------------------------------


class Pullback:
    """The vector-Jacobian product that `vjp` returns: gradients of the outputs in, gradients of the inputs out."""

    __slots__ = ("session", "template", "outputs", "with_weights")
    #: a tape cannot be made again
    __weft_parts__ = None

    def __init__(self, session: Session, template: Any, outputs: list[Tensor], with_weights: bool) -> None:
        self.session = session
        self.template = template
        self.outputs = outputs
        self.with_weights = with_weights

    @unbroken
    def __call__(self, *v: Any) -> Any:
        inner = begin((), ())  # tells whether another gradient is in progress around this call
        try:
            found = walked(self.walk(inner, v))
        finally:
            close(inner)
        return self.shaped(inner, found)

    @keeps
    def walk(self, inner: Session, v: tuple[Any, ...]) -> Walk:
        """The backward pass from gradients of the outputs."""
        given = paired(self.template, v[0] if len(v) == 1 else v, "v")
        douts = [seed(output, dout, "v") for output, dout in zip(self.outputs, given, strict=True)]
        return walk_of(self.session, self.outputs, douts, record=self.session.followed or inner.followed)

    @keeps
    def shaped(self, inner: Session, raw: list[Tensor | None]) -> Any:
        """What a backward pass came to, in the structure of the inputs."""
        session = self.session
        rest = iter(collected(session, raw, session.followed or inner.followed))
        inputs = tuple([gradient_like(template, rest) for template in session.templates])
        return (inputs, tuple(rest)) if self.with_weights else inputs


@unbroken
def vjp(fn: Callable[..., Any], *inputs: Any, weights: Any = None, has_aux: bool = False) -> Any:
    """The outputs of a function, and the function that multiplies a vector with its Jacobian.

    Args:
        fn: function or Cell.
        inputs: its arguments; those that hold tensors are differentiated.
        weights: Parameters to differentiate as well.
        has_aux: differentiate only the first output and return the others as well.

    Returns:
        ``(outputs, vjp_fn)``, or with `has_aux` ``(first output, vjp_fn, other outputs)``. ``vjp_fn(*v)`` takes a
        gradient for each output and returns a tuple of gradients of the inputs, with `weights`
        ``(inputs, weights)``.

    Raises:
        TypeError: no input is a tensor.

    Example:
        >>> out, pullback = vjp(lambda x: x * x, Tensor(3.0))
        >>> print(out, pullback(Tensor(1.0))[0])
        9.0 6.0
    """
    session = start_product(inputs, weights, has_aux)
    try:
        out = call(session, fn, {})
    except BaseException:
        close(session)
        raise
    return finish_vjp(session, out, has_aux, weights is not None)


@keeps
def start_product(inputs: Sequence[Any], weights: Any, has_aux: bool) -> Session:
    """Open the session of `vjp` and `jvp`: every argument that holds tensors is differentiated."""
    _check_flags(has_aux=has_aux)
    positions = [i for i, arg in enumerate(inputs) if is_differentiable(arg)]
    chosen, _ = _weights_of(weights)
    if not positions and not chosen:
        raise TypeError("no input is a tensor, so there is nothing to differentiate")
    return begin(inputs, positions, chosen or ())


@keeps
def _split(out: Any, has_aux: bool) -> tuple[Any, tuple[Any, ...]]:
    if not has_aux:
        return out, ()
    if not isinstance(out, (tuple, list)) or len(out) < 2:
        raise ValueError(f"has_aux=True needs a function of several outputs, it returned {_kind(out)}")
    return out[0], tuple(out[1:])


@keeps
def finish_vjp(session: Session, out: Any, has_aux: bool, with_weights: bool) -> Any:
    """The result of `vjp`; the tape stays alive with the pullback."""
    try:
        target, aux = _split(out, has_aux)
        keep_tapes()
        outputs = [view(output) for output in tensors_of(target)]
        pullback = Pullback(session, map_tensors(view, target), outputs, with_weights)
    finally:
        close(session)
    if has_aux:
        return settle(session, target), pullback, settle(session, aux[0] if len(aux) == 1 else aux)
    return settle(session, target), pullback


@unbroken
def jvp(fn: Callable[..., Any], inputs: Any, v: Any, has_aux: bool = False) -> Any:
    """The outputs of a function, and its Jacobian multiplied with a vector.

    Args:
        fn: function or Cell.
        inputs: its argument, or a tuple or list of its arguments.
        v: a tangent for each input, of the same structure, shapes and dtypes.
        has_aux: differentiate only the first output and return the others as well.

    Returns:
        ``(outputs, tangents of the outputs)``, with `has_aux` also the other outputs.

    Raises:
        ValueError: `v` does not have the structure of the inputs.

    Example:
        >>> out, tangent = jvp(lambda x: x * x, Tensor(3.0), Tensor(1.0))
        >>> print(out, tangent)
        9.0 6.0
    """
    args = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    tangents = tuple(v) if isinstance(v, (tuple, list)) else (v,)
    session = start_product(args, None, has_aux)
    try:
        out = call(session, fn, {})
        given = tangents_of(session, tangents)
        target, aux = _split(out, has_aux)
        linear = linearized(session, target)
        product = linear.shaped(walked(linear.walk(given)))
    finally:
        close(session)
    return finish_jvp(session, target, product, has_aux, aux)


@keeps
def tangents_of(session: Session, v: tuple[Any, ...]) -> list[Tensor]:
    """A tangent for each leaf of a session."""
    if len(v) != len(session.args):
        raise ValueError(f"v must hold a tangent for each of the {len(session.args)} inputs, it holds {len(v)}")
    given: list[Any] = []
    for position, template in zip(session.positions, session.templates, strict=True):
        given.extend(paired(template, v[position], f"v[{position}]"))
    likes = [tensor for template in session.templates for tensor in tensors_of(template)]
    return [seed(like, tangent, "v") for like, tangent in zip(likes, given, strict=True)]


@keeps
def finish_jvp(session: Session, target: Any, product: Any, has_aux: bool, aux: tuple[Any, ...]) -> Any:
    """The result of `jvp`."""
    if has_aux:
        return settle(session, target), product, settle(session, aux[0] if len(aux) == 1 else aux)
    return settle(session, target), product


class Linear:
    """The map from tangents of a session's leaves to tangents of the output, at the point where the tape was made.

    The pullback is linear in the output's gradient, so its own pullback is the product with the Jacobian.

    Args:
        session: the session.
        target: the output.
    """

    __slots__ = ("session", "target", "outputs", "probes", "first", "pulled")

    @keeps
    def __init__(self, session: Session, target: Any) -> None:
        self.session = session
        self.target = target
        self.outputs = outputs = tensors_of(target)
        self.probes = [TapeNode((), 1, None, session.level) for _ in outputs]
        zeros = [zeros_like(output) for output in outputs]
        douts = [tracked(data_of(zero), probe, 0) for zero, probe in zip(zeros, self.probes, strict=True)]
        #: the backward pass whose result is the map
        self.first = start_walk(outputs, list(douts), session.leaves, True, starts=session.starts)
        self.pulled: list[Tensor | None] = []

    @keeps
    def at(self, pulled: list[Tensor | None]) -> Linear:
        """The map, from what its backward pass came to."""
        made: Linear = object.__new__(Linear)
        made.session, made.target, made.outputs, made.probes = self.session, self.target, self.outputs, self.probes
        made.first, made.pulled = self.first, pulled
        return made

    @keeps
    def walk(self, tangents: Sequence[Tensor | None], followed: bool = False) -> Walk:
        """The backward pass that multiplies tangents with the Jacobian; None for a tangent of zeros."""
        pairs = [(g, t) for g, t in zip(self.pulled, tangents, strict=True) if g is not None]
        record = self.session.followed or followed
        return start_walk([g for g, _ in pairs], [t for _, t in pairs], self.probes, record)

    @keeps
    def shaped(self, raw: list[Tensor | None], followed: bool = False) -> Any:
        """What the pass came to, in the structure of the output."""
        followed = followed or self.session.followed
        found = iter(
            [zeros_like(output) if g is None else own(g, followed) for g, output in zip(raw, self.outputs, strict=True)]
        )
        return map_tensors(lambda _: next(found), self.target)


@unbroken
def linearized(session: Session, target: Any) -> Linear:
    """The map from tangents of a session's leaves to tangents of the output."""
    linear = Linear(session, target)
    return linear.at(walked(linear.first))
