"""`op`: declare a primitive once; its functional form, operator class and Tensor methods are made from that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from inspect import CO_VARARGS
from types import CodeType, FunctionType
from typing import Any, Final, NamedTuple

import numpy as np

from weft import dtypes
from weft.core.dispatch import apply, binary_method, reflected_method
from weft.core.operators import OPERATOR_CLASSES, Operator, spread_call
from weft.core.primitive import PURE, Primitive
from weft.core.tensor import Tensor
from weft.core.tracebacks import hide_operation

#: makes of an implementation the functional form
Declaration = Callable[[Callable[..., Any]], Callable[..., Any]]

_DTYPE_ATTRS: Final = frozenset({"dtype", "output_type"})


def freeze(value: Any) -> Any:
    """An attribute value as something hashable: lists become tuples, NumPy and tensor integers Python ints."""
    if value.__class__ in (int, bool, float, str) or value is None:
        return value
    if isinstance(value, (list, tuple)):
        return tuple([freeze(item) for item in value])
    if isinstance(value, (Tensor, np.generic, np.ndarray)):
        return freeze(value.tolist())
    return value


def op(
    name: str,
    *,
    method: str | Sequence[str] = (),
    operator: str = "",
    reflected: str = "",
    classes: str | Sequence[str] | None = None,
    init: str = "",
    gradient: Callable[..., Any] | None = None,
    no_gradient: str = "",
    effect: str = PURE,
    promotes: bool = False,
    commutative: bool = False,
    elementwise: bool = False,
    multiple: bool = False,
    bounds: Callable[..., None] | None = None,
    shares: Callable[..., None] | None = None,
    describe: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None,
) -> Declaration:
    """Declare a primitive by its JAX implementation.

    The decorated function takes the tensor operands first and the static attributes as keyword-only parameters.
    It becomes the functional form, with the same parameters, all of which may be given by position.

    Args:
        name: name of the primitive, and of its operator class.
        method: names of the Tensor methods to attach.
        operator: name of the Tensor operator method, e.g. ``"__add__"`` (two operands, no attributes).
        reflected: name of the right-hand operator method.
        classes: names of the operator classes, if other than `name`; empty for none.
        init: parameters of the operator class's constructor, as written in a signature with MindSpore's
            defaults, e.g. ``"keep_dims=False"``; the class is called with the remaining parameters.
        gradient: derivative rule, see `Primitive`.
        no_gradient: why there is no derivative.
        effect: see `Primitive`.
        promotes: see `Primitive`.
        commutative: see `Primitive`.
        elementwise: see `Primitive`.
        multiple: the implementation returns a tuple.
        bounds: called with the operands and attributes before each computation: refuses indices that are out of bounds
            (see `weft.core.bounds`), and leaves other mistakes to the implementation.
        shares: for a result that is a view of the first operand: ``shares(operand, result, *attributes)`` says how,
            see `weft.core.sharing`.
        describe: what `weft.core.describing.described` gives for the family of operations.

    Returns:
        A decorator; the functional form carries the primitive as ``.primitive``.

    Example:
        >>> import jax.numpy as jnp
        >>> @op("DocCube", classes=())
        ... def cube(input):
        ...     return input * input * input
        >>> print(cube(Tensor([2.0])))
        [8.]
    """

    def decorate(implementation: Callable[..., Any]) -> Callable[..., Any]:
        if describe is not None:
            implementation = describe(implementation)
        parameters = _parameters(implementation)
        primitive = Primitive(
            name,
            implementation,
            attr_names=parameters.attributes,
            multiple=multiple,
            effect=effect,
            promotes=promotes,
            commutative=commutative,
            elementwise=elementwise,
            derivative=gradient,
            no_gradient=no_gradient,
            required=len(parameters.operands) - len(parameters.defaults),
        )
        function = _functional(implementation, primitive, parameters, bounds, shares)
        function.primitive = primitive
        for method_name in (method,) if isinstance(method, str) else method:
            add_method(method_name, function)
        if operator:
            setattr(Tensor, operator, _named(binary_method(primitive), operator))
        if reflected:
            setattr(Tensor, reflected, _named(reflected_method(primitive), reflected))
        wanted = (name,) if classes is None else (classes,) if isinstance(classes, str) else tuple(classes)
        for class_name in wanted:
            operator_class(class_name, function, init)
        return function

    return decorate


def add_method(name: str, function: Callable[..., Any]) -> None:
    """Attach a function whose first parameter is a tensor as a Tensor method."""
    if name in Tensor.__dict__:
        raise ValueError(f"Tensor.{name} is defined twice")
    setattr(Tensor, name, function)


def _named(function: Any, name: str) -> Any:
    function.__name__ = name
    function.__qualname__ = f"Tensor.{name}"
    return function


class _Parameters(NamedTuple):
    """The parameters of an implementation: names and defaults."""

    operands: tuple[str, ...]
    attributes: tuple[str, ...]
    #: name of the parameter for any number of operands, "" if there is none
    variadic: str
    defaults: tuple[Any, ...]
    keyword_defaults: dict[str, Any]


def _parameters(function: Any) -> _Parameters:
    """The parameters of a plain function, read from its code: `inspect.signature` takes most of an import of `ops`."""
    code = function.__code__
    names, count = code.co_varnames, code.co_argcount
    end = count + code.co_kwonlyargcount
    variadic = names[end] if code.co_flags & CO_VARARGS else ""
    return _Parameters(
        names[:count], names[count:end], variadic, function.__defaults__ or (), function.__kwdefaults__ or {}
    )


def _functional(
    implementation: Callable[..., Any],
    primitive: Primitive,
    parameters: _Parameters,
    bounds: Callable[..., None] | None,
    shares: Callable[..., None] | None,
) -> Any:
    """Make the function that splits a call into operands and attributes, without binding them by hand."""
    name = implementation.__name__
    operands, attributes, variadic, defaults, keyword_defaults = parameters
    kinds = tuple([name in _DTYPE_ATTRS for name in attributes])
    form = _Form(len(operands), bool(variadic), kinds, bounds is not None)
    template = _template(form)
    names = (*operands, *attributes, variadic) if variadic else (*operands, *attributes)
    code = template.replace(
        co_name=name, co_qualname=name, co_varnames=(*names, "error"), co_filename=f"<weft operation {primitive.name}>"
    )
    if not variadic:
        defaults += tuple([keyword_defaults[a] for a in attributes if a in keyword_defaults])
    compute = apply if shares is None else _applied_and_shared(shares)
    scope: dict[str, Any] = {"_apply": compute, "_primitive": primitive, "_freeze": freeze, "_dtype": dtypes.of}
    scope["_bounds"], scope["_hide"], scope["_form"] = bounds, hide_operation, form
    scope["__name__"] = implementation.__module__
    function = FunctionType(code, scope, name, defaults)
    if variadic:
        function.__kwdefaults__ = keyword_defaults
    function.__doc__ = implementation.__doc__
    function.__module__ = implementation.__module__
    return function


def _applied_and_shared(shares: Callable[..., None]) -> Callable[..., Any]:
    """`apply`, for results that are views of the first operand."""

    def apply_and_share(primitive: Primitive, inputs: tuple[Any, ...], attrs: tuple[Any, ...] = ()) -> Any:
        made = apply(primitive, inputs, attrs)
        if isinstance(inputs[0], Tensor):
            shares(inputs[0], made, *attrs)
        return made

    return apply_and_share


class Look(NamedTuple):
    """A look at an argument before a function computes."""

    #: the place of the argument
    at: int
    #: Python classes of arguments that are not taken, or NumPy element types of tensors
    refused: frozenset[Any]
    #: whether they are element types; an argument without an array at hand (no tensor, or symbolic) is looked at closer
    of_elements: bool
    #: called with such an argument and all operands; may raise
    refuse: Callable[[Any, tuple[Any, ...]], None]


def checked_form(function: Any, looks: tuple[Look, ...], module: str) -> Any:
    """A functional form that looks at its arguments first; None if it is none, or one has no place of its own.

    Args:
        function: the form, as `op` made it.
        looks: what it looks at.
        module: the module that offers the function.
    """
    form = function.__globals__.get("_form")
    if form is None or form.variadic or any(each.at >= form.operands + len(form.attributes) for each in looks):
        return None
    names = function.__code__.co_varnames
    template = _template(form._replace(looks=tuple((each.at, each.of_elements) for each in looks)))
    code = template.replace(
        co_name=function.__name__,
        co_qualname=function.__name__,
        co_varnames=names,
        co_filename=function.__code__.co_filename,
    )
    scope = {**function.__globals__, "__name__": module}
    for i, each in enumerate(looks):
        scope[f"_refused{i}"], scope[f"_refuse{i}"] = each.refused, each.refuse
    made = FunctionType(code, scope, function.__name__, function.__defaults__)
    made.__kwdefaults__ = function.__kwdefaults__
    made.__doc__ = function.__doc__
    made.__module__ = module
    made.__dict__.update(function.__dict__)
    return made


class _Form(NamedTuple):
    """What the code of functional forms depends on."""

    operands: int
    variadic: bool
    #: an attribute each, True for a dtype
    attributes: tuple[bool, ...]
    bounded: bool
    #: arguments that are looked at, and whether at their element type
    looks: tuple[tuple[int, bool], ...] = ()


@cache
def _template(form: _Form) -> CodeType:
    """The code of functional forms.

    Compiling is most of what importing the operations costs, so forms of the same shape share it.
    """
    variadic, attributes = form.variadic, form.attributes
    given = [f"x{i}" for i in range(form.operands)]
    fixed = [f"a{i}" for i in range(len(attributes))]
    attrs = [
        f"None if {a} is None else _dtype({a})"
        if is_dtype
        else f"{a} if {a}.__class__ is int or {a} is None or {a}.__class__ is bool else _freeze({a})"
        for a, is_dtype in zip(fixed, attributes, strict=True)
    ]
    signature = ", ".join([*given, *(["*xs"] if variadic else []), *fixed])
    inputs = "".join(x + ", " for x in given) + ("*xs, " if variadic else "")
    source = f"def form({signature}):\n    try:\n"
    for i, (at, of_elements) in enumerate(form.looks):
        operand = [*given, *fixed][at]
        if of_elements:  # the type of an array has its element type at hand, the array itself looks for it
            call = f"_refuse{i}({operand}, ({inputs}))"
            source += f"        try:\n            if {operand}._data.aval.dtype in _refused{i}: {call}\n"
            source += f"        except AttributeError: {call}\n"
        else:
            source += f"        if {operand}.__class__ in _refused{i}: _refuse{i}({operand}, ({inputs}))\n"
    if form.bounded:
        source += f"        _bounds({', '.join(given + fixed)})\n"
    source += f"        return _apply(_primitive, ({inputs})"
    source += f", ({''.join(a + ', ' for a in attrs)}))\n" if attrs else ")\n"
    source += "    except Exception as error:\n        _hide(error)\n        raise\n"
    scope: dict[str, Any] = {}
    exec(compile(source, "<weft operation>", "exec"), scope)
    return scope["form"].__code__


def operator_class(
    name: str, function: Callable[..., Any], init: str = "", rename: dict[str, str] | None = None
) -> type:
    """Make and register the operator class of a functional form.

    Args:
        name: class name.
        function: the functional form.
        init: constructor parameters as written in a signature (with defaults); the rest go to the call.
        rename: constructor parameter -> parameter of `function`, where the names differ.

    Returns:
        type: the class; ``cls(<init>)(<rest>)`` computes ``function(<rest>, <init>)``.
    """
    given = _signature(init)
    names = given.__code__.co_varnames[1:]
    fields = tuple([(rename or {}).get(each, each) for each in names])
    return _registered(name, function, fields, given)


def as_operator(function: Callable[..., Any]) -> type:
    """Make and register the operator class of a function that is for this class only, under the function's name.

    Args:
        function: the parameters that can be given by name only are those of the constructor; the rest go to the call.

    Returns:
        type: the class.

    Raises:
        SyntaxError: a parameter of the constructor without a default follows one that has one.

    Example:
        >>> @as_operator
        ... def DocScaled(x, *, factor=2.0):
        ...     return x * factor
        >>> print(DocScaled()(Tensor([1.0])), DocScaled(3.0)(Tensor([1.0])))
        [2.] [3.]
    """
    code: Any = function.__code__
    known: dict[str, Any] = getattr(function, "__kwdefaults__", None) or {}
    names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    written = ", ".join([f"{each}=None" if each in known else each for each in names])
    given = _signature(written)
    defaults = tuple([known[each] for each in names if each in known])
    return _registered(code.co_name, function, names, FunctionType(given.__code__, {}, "__init__", defaults))


def _registered(name: str, function: Callable[..., Any], fields: tuple[str, ...], given: FunctionType) -> type:
    """The operator class whose constructor has the parameters of a function, and keeps them under other names, too."""
    if name in OPERATOR_CLASSES:
        raise ValueError(f"operator class {name!r} is declared twice")
    if function.__name__.startswith("_"):  # programs know it by the class only, so that is what messages name
        function.__qualname__ = name
    names, keyword = given.__code__.co_varnames[1:], given.__code__.co_kwonlyargcount
    body = "self.fixed = dict(zip(_fields, {values})); self.__dict__.update(zip(_names, {values}))"
    template = constructor_template(len(names) - keyword, keyword, body if names else "self.fixed = {{}}")
    code = template.replace(co_varnames=("self", *names))
    constructor = FunctionType(code, {"_fields": fields, "_names": names}, "__init__", given.__defaults__)
    constructor.__kwdefaults__ = given.__kwdefaults__
    constructor.__qualname__ = f"{name}.__init__"
    namespace = {
        "__init__": constructor,
        "__call__": _call_with_fixed(function) if names else _call(function),
        "__doc__": function.__doc__,
        "__module__": "weft.ops.operations",
        "function": staticmethod(function),
        "primitive": getattr(function, "primitive", None),
        "called": {field: each for field, each in zip(fields, names, strict=True) if field != each},
    }
    made = OPERATOR_CLASSES[name] = type(name, (Operator,), namespace)
    return made


@cache
def _signature(init: str) -> FunctionType:
    """A function of `self` and the parameters that stand in a signature."""
    given: FunctionType = eval(f"lambda self{', ' + init if init else ''}: None", {"dtypes": dtypes})
    return given


@cache
def constructor_template(positional: int, keyword: int, body: str) -> CodeType:
    """The code of a constructor for a number of parameters.

    Args:
        positional: how many may be given by position.
        keyword: how many are given by name only.
        body: what it does, a line in which ``{values}`` are its arguments.

    Returns:
        Code whose variables are `self` and the parameters; the other names of `body` are globals.
    """
    names = [f"p{i}" for i in range(positional + keyword)]
    signature = ["self", *names[:positional], *(["*"] if keyword else []), *names[positional:]]
    values = f"({''.join(n + ', ' for n in names)})"
    scope: dict[str, Any] = {}
    source = f"def __init__({', '.join(signature)}):\n    {body.format(values=values)}\n"
    exec(compile(source, "<weft constructor>", "exec"), scope)
    return scope["__init__"].__code__


def _call(function: Callable[..., Any]) -> Callable[..., Any]:
    def __call__(self: Operator, *args: Any, **kwargs: Any) -> Any:
        if self._strategy is not None:
            return spread_call(self, function, args, kwargs)
        return function(*args, **kwargs)

    return __call__


def _call_with_fixed(function: Callable[..., Any]) -> Callable[..., Any]:
    def __call__(self: Operator, *args: Any, **kwargs: Any) -> Any:
        if self._strategy is not None:
            return spread_call(self, function, args, {**self.fixed, **kwargs})
        return function(*args, **self.fixed, **kwargs)

    return __call__
