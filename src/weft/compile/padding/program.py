"""A program with sizes of the call as a function on arrays of fixed sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import core

from weft._jax_compat import bind_again
from weft.compile.padding import control, indexing, moving, pointwise, reducing, windows  # noqa: F401  enter their rules
from weft.compile.padding.arrays import Extent, Padded, length_of, size_of
from weft.compile.padding.extents import is_symbolic
from weft.compile.padding.space import Space
from weft.compile.padding.table import RULES, Refused

#: equations that stand for the function in them
_CALLS = frozenset({"jit", "pjit", "closed_call", "composite", "core_call", "custom_jvp_call", "custom_vjp_call"})


class PaddedProgram:
    """A function on padded arrays, made by `padded`.

    Args:
        jaxpr: the function, of the sizes and the arrays.
        inputs: for each array the extents of its axes.
        outputs: for each result the extents of its axes; the valid part is the leading block of these sizes.
    """

    def __init__(
        self, jaxpr: Any, inputs: tuple[tuple[Extent, ...], ...], outputs: tuple[tuple[Extent, ...], ...]
    ) -> None:
        self.jaxpr = jaxpr
        self.inputs = inputs
        self.outputs = outputs
        self._function = core.jaxpr_as_fun(jaxpr)

    def __call__(self, sizes: Sequence[Any], *arrays: Any) -> list[Any]:
        """Run the program.

        Args:
            sizes: for each atom a scalar of type int32, at least 1 and at most what the bucket has for it.
            arrays: one for each input, as long as `inputs` says. What lies outside the valid part may be anything.

        Returns:
            The results, as long as `outputs` says. What lies outside the valid part may be anything.
        """
        return list(self._function(*sizes, *arrays))


def padded(closed_jaxpr: Any, atoms: Sequence[str], bucket: Mapping[str, int]) -> PaddedProgram:
    """Turn a program with symbolic dimensions into a function on arrays that have room for the largest sizes.

    Args:
        closed_jaxpr: the program, as `jax.make_jaxpr` makes it for shapes with symbolic dimensions.
        atoms: the names that the dimensions consist of, in the order in which a call gives their values.
        bucket: the largest value of each; the least is 1.

    Returns:
        A function of the sizes and the arrays, which can be compiled once for all sizes.

    Raises:
        Refused: the program holds something that is not known to be exact in padded arrays.

    Example:
        >>> import jax, jax.export, jax.numpy as jnp
        >>> (t,) = jax.export.symbolic_shape("t")
        >>> jaxpr = jax.make_jaxpr(lambda x: (x.mean(), x * 2))(jax.ShapeDtypeStruct((t,), "float32"))
        >>> program = padded(jaxpr, ["t"], {"t": 4})
        >>> program.outputs
        ((), (Extent(padded=4, size=t),))
        >>> mean, double = program([jnp.int32(2)], jnp.array([1.0, 2.0, jnp.nan, jnp.nan], "float32"))
        >>> float(mean), double[:2].tolist()
        (1.5, [2.0, 4.0])
    """
    bucket = {name: int(bucket[name]) for name in atoms}
    plan = Space({}, bucket, _interpret)
    inputs = tuple([_extents(plan, aval) for aval in closed_jaxpr.in_avals])
    outputs = tuple([_extents(plan, aval) for aval in closed_jaxpr.out_avals])

    def run(*arrays: Any) -> list[Any]:
        space = Space(dict(zip(atoms, arrays[: len(atoms)], strict=True)), bucket, _interpret)
        given = arrays[len(atoms) :]
        operands = [
            Padded(array, space.axes(aval.shape)) for array, aval in zip(given, closed_jaxpr.in_avals, strict=True)
        ]
        results = space.interpret(closed_jaxpr, operands)
        return [space.compact(value, range(len(value.axes))).array for value in results]

    kinds = [jax.ShapeDtypeStruct((), np.int32)] * len(atoms) + [
        jax.ShapeDtypeStruct([extent.padded for extent in extents], aval.dtype)
        for extents, aval in zip(inputs, closed_jaxpr.in_avals, strict=True)
    ]
    return PaddedProgram(jax.make_jaxpr(run)(*kinds), inputs, outputs)


def _extents(space: Space, aval: Any) -> tuple[Extent, ...]:
    if not hasattr(aval, "shape") or not hasattr(aval, "dtype"):
        raise Refused("a value", f"{aval} is no array")
    return tuple([Extent(space.room(size), size) for size in aval.shape])


def _interpret(space: Space, closed: Any, operands: Sequence[Padded]) -> list[Padded]:
    """The results of a jaxpr on padded operands."""
    jaxpr: Any = getattr(closed, "jaxpr", closed)
    consts = getattr(closed, "consts", ())
    values: dict[Any, Padded] = {}
    for variable, constant in zip(jaxpr.constvars, consts, strict=True):
        values[variable] = Padded(constant, space.axes(np.shape(constant)))
    values.update(zip(jaxpr.invars, operands, strict=True))

    def read(atom: Any) -> Padded:
        if isinstance(atom, core.Literal):
            aval: Any = atom.aval
            return Padded(np.asarray(atom.val, aval.dtype), space.axes(aval.shape))
        return values[atom]

    for equation in _needed(jaxpr):
        results = _results(space, equation, [read(atom) for atom in equation.invars])
        for variable, value in zip(equation.outvars, results, strict=True):
            values[variable] = value
    return [read(atom) for atom in jaxpr.outvars]


def _needed(jaxpr: Any) -> list[Any]:
    """The equations of a jaxpr without those whose results nobody reads."""
    read = {atom for atom in jaxpr.outvars if not isinstance(atom, core.Literal)}
    needed = []
    for equation in reversed(jaxpr.eqns):
        if equation.effects or not read.isdisjoint(equation.outvars):
            needed.append(equation)
            read.update(atom for atom in equation.invars if not isinstance(atom, core.Literal))
    return needed[::-1]


def _results(space: Space, equation: Any, operands: list[Padded]) -> list[Padded]:
    name = equation.primitive.name
    if name in _CALLS:
        return space.interpret(equation.params.get("jaxpr") or equation.params["call_jaxpr"], operands)
    if not _is_symbolic(equation):
        arrays = bind_again(equation, [operand.array for operand in operands])
        axes = [space.axes(getattr(v.aval, "shape", ())) for v in equation.outvars]
        return [Padded(array, of) for array, of in zip(arrays, axes, strict=True)]
    found = RULES.get(name)
    if found is None:
        raise Refused(name, "no rule for sizes of the call")
    atoms = (*equation.invars, *equation.outvars)
    if name != "random_bits" and not all(map(_is_numbers, atoms)):
        raise Refused(name, "of elements that are no numbers")
    if equation.effects:
        raise Refused(name, f"has effects: {equation.effects}")
    results = found(space, equation, *operands)
    results = results if isinstance(results, list) else [results]
    for variable, value in zip(equation.outvars, results, strict=True):
        _check(name, variable.aval, value)
    return results


def _is_numbers(atom: Any) -> bool:
    return hasattr(atom.aval, "dtype") and not jnp.issubdtype(atom.aval.dtype, jax.dtypes.extended)


def _check(name: str, aval: Any, value: Padded) -> None:
    """Refuse a result that is not what the program has there."""
    shape = tuple([size_of(axis) for axis in value.axes])
    memory = tuple([length_of(axis) for axis in value.axes])
    if value.array.dtype != aval.dtype or shape != tuple(aval.shape) or memory != np.shape(value.array):
        raise Refused(name, f"{shape} in {value.array.dtype}{np.shape(value.array)} is not known to be {aval}")


def _is_symbolic(equation: Any) -> bool:
    """Whether an equation has to do with a size of the call."""
    shapes = [getattr(atom.aval, "shape", ()) for atom in (*equation.invars, *equation.outvars)]
    return _mentions(shapes) or _mentions(equation.params)


def _mentions(item: Any) -> bool:
    if is_symbolic(item):
        return True
    if isinstance(item, dict):
        return any(map(_mentions, item.values()))
    if isinstance(item, (tuple, list)):
        return any(map(_mentions, item))
    if hasattr(item, "jaxpr"):
        item = item.jaxpr
    if hasattr(item, "eqns"):
        return any(map(_is_symbolic, item.eqns)) or _mentions([getattr(atom.aval, "shape", ()) for atom in item.invars])
    return False
