"""Arrays, and the devices that they lie on."""

from __future__ import annotations

import functools
from typing import Any, Final

import jax
import numpy as np
from jaxlib import xla_client

Array = jax.Array
Tracer = jax.core.Tracer
#: the class of arrays that are no tracers
ARRAY: Final = xla_client.ArrayImpl


@np.errstate(over="ignore")  # what a half type has no room for is infinite, as it is on the device
def to_device(value: Any, np_dtype: Any = None) -> Array:
    """Put a NumPy-like value on the default device. The one way in for memory of the host.

    JAX may read that memory long after this returns, while the device is busy, or share it for good. So it gets a copy
    that nobody else knows; what the caller does with its own memory makes no difference.
    """
    owned = np.array(value, dtype=np_dtype, order="C")
    # made while JAX traces one of our functions, the array must still be an ordinary one: it may be kept and used later
    with jax.ensure_compile_time_eval():
        # not `jnp.asarray`, which compiles something for each new shape; the array inside, since whoever takes a shard
        # must hold the same object, or its references would not be counted
        return jax.device_put(owned).addressable_data(0)


def lies_on_host(array: Array) -> bool:
    """Whether an array lies in memory of the host, as a whole, and where new arrays are put."""
    sharding: Any = array.sharding
    if type(sharding) is not jax.sharding.SingleDeviceSharding:
        return False
    device: Any = sharding._device
    config: Any = jax.config
    return device.platform == "cpu" and device is (config.jax_default_device or _first_device())


def computes_on_host() -> bool:
    """Whether new arrays are put into memory of the host."""
    return bool(computing_device().platform == "cpu")


def copied(array: Array) -> Array:
    """Another array with the same contents on the same devices, made without compiling anything."""
    if array.is_fully_addressable:
        return jax.device_put(array, may_alias=False)
    parts = [jax.device_put(shard.data, may_alias=False) for shard in array.addressable_shards]
    return jax.make_array_from_single_device_arrays(array.shape, array.sharding, parts, dtype=array.dtype)


def bound_to(operand: Any) -> tuple[Any, ...] | None:
    """The devices, in their order, to which an array is bound; None for what computes wherever the others are."""
    return operand.sharding._device_assignment if type(operand) is ARRAY and operand._committed else None


def devices_of_layout(sharding: Any) -> tuple[Any, ...]:
    """The devices of a layout, in their order."""
    found: tuple[Any, ...] = sharding._device_assignment
    return found


def default_platform() -> str:
    """The platform that computations run on: ``"cpu"``, ``"gpu"`` or ``"tpu"``."""
    return jax.default_backend()


def devices_of(platform: str) -> list[Any]:
    """The local devices of a platform (``"cpu"``, ``"gpu"``, ``"tpu"``); empty if it is absent."""
    try:
        return list(jax.local_devices(backend=platform))
    except RuntimeError:
        return []


def use_device(device: Any) -> None:
    """Make a device the one that new arrays are placed on; None gives the choice back to JAX."""
    jax.config.update("jax_default_device", device)


def computing_device() -> Any:
    """The device that computes what is on no other."""
    return jax.config.values["jax_default_device"] or _first_device()


@functools.cache
def _first_device() -> Any:
    return jax.local_devices()[0]
