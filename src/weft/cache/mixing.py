"""Programs of which operands or layouts lie on different devices: they run on all of these.

XLA runs a program on one sequence of devices, and JAX refuses operands that are bound to others. Where it does, what
lies on fewer devices is cut as before on the devices of all, which each hold as much as before, and the program is made
for these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from weft._jax_compat import among_devices, bound_to, devices_of_layout, devices_of_program

#: what JAX says where it refuses a program since its operands or layouts lie on different devices
_REFUSED: Final = "incompatible devices"
#: devices of a program, in their order
Devices = tuple[Any, ...]


def primes(count: int) -> tuple[int, ...]:
    """The prime factors of a number, the largest first."""
    found, factor = [], 2
    while count > 1:
        while count % factor == 0:
            found.append(factor)
            count //= factor
        factor += 1
    return tuple(reversed(found)) or (1,)


class _Asked:
    """Notes the devices of the layouts that a program asks for."""

    def __init__(self) -> None:
        self.found: set[Devices] = set()


def followed(where: NamedSharding) -> NamedSharding:
    """A layout that a program asks for, as it can have it on the devices that it is being made for.

    Args:
        where: the layout.
    """
    devices = devices_of_program()
    if isinstance(devices, _Asked):
        devices.found.add(devices_of_layout(where))
        return where
    return where if devices is None else _on(devices, where)


def for_devices(make: Callable[[], Any]) -> Callable[[], Any]:
    """What is traced beforehand for programs that are made, once for the devices of each.

    Args:
        make: traces it.
    """
    made: dict[Any, Any] = {}

    def found() -> Any:
        devices = devices_of_program()
        if isinstance(devices, _Asked):
            return make()
        if devices not in made:
            made[devices] = make()
        return made[devices]

    return found


def _on(devices: Devices, where: Any) -> NamedSharding:
    """A layout with the same cuts on other devices: over and over again where they are more, else whole."""
    own = devices_of_layout(where)
    if own == devices:
        found: NamedSharding = where
        return found
    often, left = divmod(len(devices), len(own))
    if left or not isinstance(where, NamedSharding) or len(own) == 1:
        cut = primes(len(devices))
        return NamedSharding(_mesh(devices, cut), PartitionSpec())
    first = primes(often) if often > 1 else ()
    mesh = _mesh(devices, (*first, *where.mesh.devices.shape))
    names = dict(zip(where.mesh.axis_names, mesh.axis_names[len(first) :], strict=True))
    spec = [axes if axes is None else tuple([names[axis] for axis in _several(axes)]) for axes in where.spec]
    return NamedSharding(mesh, PartitionSpec(*spec))


def _several(axes: Any) -> tuple[Any, ...]:
    return axes if isinstance(axes, tuple) else (axes,)


def _mesh(devices: Devices, sizes: tuple[int, ...]) -> Mesh:
    return Mesh(np.array(devices, object).reshape(sizes), tuple([f"d{i}" for i in range(len(sizes))]))


def _union(sets: Iterable[Devices]) -> Devices:
    """The devices of all: in the order of those that have all of them, if some do."""
    ordered = sorted(sets, key=lambda devices: (-len(devices), [device.id for device in devices]))
    together = {device for devices in ordered for device in devices}
    if len(ordered[0]) == len(together):
        return ordered[0]
    return tuple(sorted(together, key=lambda device: device.id))


class Mixing:
    """A function compiled for operands, and layouts that it asks for, which lie on different devices.

    Args:
        function: a function of arrays.
        donated: operands whose memory results may take over.
        laid_out: for each result where it lies, see `compiled`.
    """

    def __init__(
        self, function: Callable[..., Any], donated: tuple[int, ...], laid_out: tuple[NamedSharding | None, ...] | None
    ) -> None:
        self._function, self._donated, self._laid_out = function, donated, laid_out
        #: for operands on some devices, the devices on which the program runs
        self._devices: dict[frozenset[Devices], Devices] = {}
        self._made: dict[Devices, Callable[..., Any]] = {}

    def knows(self, operands: Sequence[Any]) -> bool:
        """Whether operands on the same devices have been refused by JAX before."""
        return bool(self._devices) and _sets(operands) in self._devices

    def is_refusal(self, error: ValueError) -> bool:
        """Whether JAX refuses operands, or layouts within a program, since they lie on different devices."""
        return _REFUSED in str(error)

    def __call__(self, *operands: Any) -> Any:
        sets = _sets(operands)
        devices = self._devices.get(sets)
        if devices is None:
            devices = _union(sets | self._asked(operands))
            here = jax.process_index()
            if any(device.process_index != here for device in devices):
                raise ValueError(
                    "tensors, or layouts in a graph, are on grids of different devices of several processes: "
                    f"{_described(sets)}; bring them to one grid with `reshard` from weft.parallel.layout"
                )
            self._devices[sets] = devices
        made = self._made.get(devices)
        if made is None:
            laid_out = self._laid_out
            if laid_out is not None:
                laid_out = tuple([None if where is None else _on(devices, where) for where in laid_out])
            made = jax.jit(self._function, donate_argnums=self._donated, out_shardings=laid_out)
            self._made[devices] = made
        moved = jax.tree.map(lambda operand: _moved(operand, devices), operands)
        with among_devices(devices):
            result = made(*moved)
        if self._laid_out is None:
            return result
        return tuple(
            item if where is None else jax.device_put(item, where)
            for item, where in zip(result, self._laid_out, strict=True)
        )

    def _asked(self, operands: Sequence[Any]) -> set[Devices]:
        """The devices of the layouts that the function asks for."""
        asked = _Asked()
        for where in self._laid_out or ():
            if where is not None:
                asked.found.add(devices_of_layout(where))
        with among_devices(asked):
            jax.eval_shape(self._function, *operands)
        return asked.found


def _sets(operands: Sequence[Any]) -> frozenset[Devices]:
    """The devices that operands are bound to, of each of them."""
    found = [bound_to(operand) for operand in jax.tree.leaves(operands)]
    return frozenset([devices for devices in found if devices is not None])


def _moved(operand: Any, devices: Devices) -> Any:
    """An operand on some devices; one that is bound to none is put there by JAX."""
    return operand if bound_to(operand) is None else jax.device_put(operand, _on(devices, operand.sharding))


def _described(sets: Iterable[Devices]) -> str:
    return " and ".join(sorted(str([device.id for device in devices]) for devices in sets))
