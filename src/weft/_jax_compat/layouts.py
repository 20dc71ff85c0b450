"""Programs over several devices: how they are made, and what is known of them."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

import jax
import numpy as np
from jax._src import pjit
from jax._src.interpreters import batching, mlir, pxla
from jax.experimental.layout import Layout


class _Local(threading.local):
    #: what JAX has loaded, while somebody wants to know
    made: list[Any] | None = None


_local = _Local()

#: by an operation, its parameters, the shapes of operands and results, the number of devices, and whether as little as
#: can be is cut: dimensions of each
_Dims = Callable[[Any, dict[str, Any], list[Any], list[Any], int, bool], tuple[Sequence[set[int]], Sequence[set[int]]]]
#: whether programs that are being made are cut as little as can be: part of what JAX knows them by
_LITTLE: Final = jax.make_user_context(False)


def keep_whole(dims: _Dims) -> None:
    """Have some dimensions of operands and results of JAX's operations be whole in programs for several devices.

    Args:
        dims: says which dimensions, of any operation.
    """
    known = mlir._get_lowering_rules

    def whole(ctx: Any, value: Any, aval: Any, kept: set[int]) -> Any:
        if not kept or not isinstance(aval.dtype, np.dtype):
            return value
        count = ctx.module_context.axis_context.num_devices
        mesh = jax.sharding.AbstractMesh((count,), ("all",), (jax.sharding.AxisType.Auto,))
        spec = jax.P(*[None if i in kept else jax.P.UNCONSTRAINED for i in range(aval.ndim)])
        rows = Layout(tuple(range(aval.ndim))) if ctx.primitive.name == "fft" else None  # a CPU has it for no other
        return pjit._sharding_constraint_hlo_lowering(
            ctx.replace(avals_in=[aval], avals_out=[aval]), value, sharding=jax.NamedSharding(mesh, spec),
            layout=rows, context_mesh=None, unconstrained_dims=set(range(aval.ndim)) - kept,
        )[0]  # fmt: skip

    def around(primitive: Any, devices: int, rule: Any) -> Any:
        def lower(ctx: Any, *operands: Any, **params: Any) -> Any:
            given, made = ([getattr(aval, "shape", ()) for aval in avals] for avals in (ctx.avals_in, ctx.avals_out))
            inside, outside = dims(primitive, params, given, made, devices, _LITTLE.value)
            kept = [whole(ctx, *one) for one in zip(operands, ctx.avals_in, inside, strict=True)]
            found = rule(ctx, *kept, **params)
            return [whole(ctx, *one) for one in zip(found, ctx.avals_out, outside, strict=True)]

        return lower

    def rules(ctx: Any, primitive: Any, of: Any) -> Any:
        found, default, inline = known(ctx, primitive, of)
        devices = getattr(ctx.axis_context, "num_devices", 1)  # 1 where a program says itself what each device computes
        if devices > 1:
            found = {platform: around(primitive, devices, rule) for platform, rule in found.items()}
            default = default and around(primitive, devices, default)
        return found, default, inline

    mlir._get_lowering_rules = rules  # type: ignore[assignment]


def cut_as_can_be(make: Callable[..., Any], operands: Sequence[Any], little: list[bool]) -> Any:
    """What a program gives for operands; where XLA cannot cut it as layouts say, it is cut as little as can be.

    Args:
        make: makes the program, and runs it.
        operands: the operands.
        little: empty; what is put there is that XLA could not, which holds for later calls.
    """
    if not little:
        try:
            return make(*operands)
        except jax.errors.JaxRuntimeError as error:
            if _PARTITIONING not in str(error):
                raise
        little.append(True)
    with _LITTLE(True):
        return make(*operands)


def is_elementwise(primitive: Any) -> bool:
    """Whether an operation of JAX, given operands of one shape, computes each element of such elements."""
    batched = getattr(batching.fancy_primitive_batchers.get(primitive), "func", None)
    return batched in (batching.vectorized_batcher, batching.broadcast_batcher)


#: what XLA calls the pass that cuts programs, in errors
_PARTITIONING: Final = "spmd-partitioning"
#: what programs that are being made ask for layouts: part of what JAX knows them by
_AMONG: Final = jax.make_user_context(None)


def among_devices(devices: Any) -> contextlib.AbstractContextManager[Any]:
    """Within this block programs are made anew, for some devices.

    Args:
        devices: what `devices_of_program` gives there.
    """
    return _AMONG(devices)


def devices_of_program() -> Any:
    """The devices that a program is being made for; None where those of its operands and layouts are the same."""
    return _AMONG.value


class Spread(NamedTuple):
    """A compiled program over several devices.

    Args:
        executable: what XLA made.
        devices: the devices, in the order in which the program numbers them.
        inputs: the sharding of each operand that it takes.
        read: the positions of these among the arrays that the function is given.
        outputs: the sharding of each result.
    """

    executable: Any
    devices: tuple[Any, ...]
    inputs: tuple[Any, ...]
    read: tuple[int, ...]
    outputs: tuple[Any, ...]

    def text(self) -> str:
        """The program as XLA writes it after all its passes."""
        return "\n".join([module.to_string() for module in self.executable.hlo_modules()])


def _spread(executable: Any, inputs: Sequence[Any], read: Iterable[int], outputs: Sequence[Any]) -> Spread | None:
    """What is known of a compiled program, where it is one over several devices."""
    places = next((s for s in (*outputs, *inputs) if getattr(s, "num_devices", 1) > 1), None)
    if places is None:
        return None
    return Spread(executable, tuple(places._device_assignment), tuple(inputs), tuple(read), tuple(outputs))


def noted(call: Callable[..., Any], operands: Sequence[Any], note: Callable[[Spread], None]) -> Any:
    """What JAX's dispatch is answered; somebody is told of the program that it is answered with."""
    before, _local.made = _local.made, []
    try:
        answer = call(*operands)
        made, fast = _local.made, answer[1]
    finally:
        _local.made = before
    spread = None
    if fast is not None:
        read = [position for position, kept in enumerate(fast.kept_var_bitvec) if kept]
        spread = _spread(fast.xla_executable, fast.in_shardings, read, fast.out_shardings)
    elif made:  # JAX calls this one by itself, as it does where a program calls the host
        last = made[-1]
        spread = _spread(last.xla_executable, last._in_shardings, sorted(last._kept_var_idx), last._out_shardings)
    if spread is not None:
        note(spread)
    return answer


def _load_noting(unloaded: Any) -> Any:
    made = _load_by_jax(unloaded)
    if _local.made is not None:
        _local.made.append(made)
    return made


def _donated_alike(*args: Any) -> Any:
    """Which operand each result takes the memory of: XLA chooses where it lays some results out, which JAX ignores."""
    aliases, given, donors = _donated_by_jax(*args)  # type: ignore[no-untyped-call]
    if args[-1] is not None and None in args[-1]:
        donors = [alias is not None or bool(donors and donors[n]) for n, alias in enumerate(aliases)]
    return [None] * len(aliases) if donors else aliases, given, donors


_donated_by_jax: Final = mlir._set_up_aliases
mlir._set_up_aliases = _donated_alike
_load_by_jax: Final = pxla.UnloadedMeshExecutable.load
pxla.UnloadedMeshExecutable.load = _load_noting  # type: ignore[assignment,method-assign]
