"""Elementwise operations as rows: where one line says all of an operation, that line declares it.

``sin = of_floats(__name__, "sin", jnp.sin, "Sine of each element.", "[0.0]", "[0.]")`` is what `op` makes of a function
``sin(input)`` with that computation, sentence and example.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import op, told
from weft.ops._rules import floating, operands


def row(
    module: str,
    name: str,
    compute: Any,
    sentence: str,
    given: str,
    printed: str,
    *,
    then: str = "",
    also: str = "",
    integers: str = "",
    primitive: str = "",
    **traits: Any,
) -> Any:
    """Declare an elementwise operation.

    Args:
        module: the module that offers it.
        name: of the function, and of the Tensor method where `traits` have no other.
        compute: its implementation, see `op`; the operation has the parameters of this function.
        sentence: what it gives.
        given: the arguments of the example, where a list is a tensor of it.
        printed: what the example prints.
        then: what the example does with the result.
        also: another name of the Tensor method.
        integers: the attributes that are ints, which lambdas cannot say.
        primitive: name of the primitive, by default the words of `name` with capital letters.
        traits: what `op` is told.

    Returns:
        The functional form.

    Example:
        >>> texts = "Half of each.", "3.0", "1.5"
        >>> traits = {"primitive": "DocHalved", "method": (), "classes": ()}
        >>> print(row(__name__, "halved", lambda input: input / 2, *texts, **traits)(3.0))
        1.5
    """
    compute.__module__ = module
    compute.__annotations__.update(dict.fromkeys(integers.split(), "int"))
    arguments = given.replace("[", "Tensor([").replace("]", "])")
    told(compute, name, f"{sentence}\n\nExample:\n    >>> print({name}({arguments}){then})\n    {printed}")
    traits = {"method": (name, also) if also else name, "elementwise": True, **traits}
    return op(primitive or capitalized(name), **traits)(compute)


def capitalized(name: str) -> str:
    """The name of the primitive of a function: ``ReduceSum`` for ``reduce_sum``."""
    return "".join([word.capitalize() for word in name.split("_")])


def of_one(module: str, name: str, function: Callable[[Any], Any], *texts: str, **traits: Any) -> Any:
    """Declare a function of one operand, see `row`."""

    def compute(input: Any) -> Any:
        return function(input)

    return row(module, name, compute, *texts, **traits)


def of_floats(module: str, name: str, function: Callable[[Any], Any], *texts: str, **traits: Any) -> Any:
    """Declare a function of one operand that is computed in floating point, see `row`."""
    return row(module, name, lambda input: function(floating(input)), *texts, **traits)


def of_pairs(
    module: str,
    name: str,
    function: Callable[[Any, Any], Any],
    *texts: str,
    prepared: Callable[..., Any] = operands,
    **traits: Any,
) -> Any:
    """Declare a function of two operands, by default promoted to one type, see `row`.

    Args:
        module: see `row`.
        name: see `row`.
        function: what it computes of the prepared operands.
        texts: see `row`.
        prepared: called with the name and the operands; gives those that are computed with.
        traits: see `row`.
    """

    def compute(input: Any, other: Any) -> Any:
        return function(*prepared(name, input, other))

    return row(module, name, compute, *texts, **{"promotes": True, **traits})
