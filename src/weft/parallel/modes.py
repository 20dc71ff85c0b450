"""How the program says that it is spread: the helpers that training scripts ask for it."""

from __future__ import annotations

from typing import Any

from weft.context import SPREAD_MODES, ParallelMode, get_auto_parallel_context


def get_device_num() -> int:
    """How many devices take part, as the settings of parallel programs say.

    Example:
        >>> get_device_num()
        1
    """
    return int(get_auto_parallel_context("device_num"))


def get_global_rank() -> int:
    """The number of this process, as the settings say."""
    return int(get_auto_parallel_context("global_rank"))


def get_gradients_mean() -> bool:
    """Whether gradients are averaged over devices."""
    return bool(get_auto_parallel_context("gradients_mean"))


def get_parallel_mode() -> str:
    """How the program is spread."""
    return str(get_auto_parallel_context("parallel_mode"))


def is_sharding_propagation() -> bool:
    """Whether strategies for all operations follow from those of some, as the settings say."""
    return bool(get_auto_parallel_context("search_mode") == "sharding_propagation")


def serves_parameters() -> bool:
    """Whether this process has a role among servers of parameters: there are none."""
    return False


def mpi_available() -> bool:
    """Whether MPI connects the processes: JAX does without."""
    return False


def get_parameter_broadcast() -> bool:
    """Whether the parameters of rank 0 are sent to all."""
    return bool(get_auto_parallel_context("parameter_broadcast"))


def get_full_batch() -> bool:
    """Whether each device loads the whole batch."""
    return bool(get_auto_parallel_context("full_batch"))


def get_enable_parallel_optimizer() -> bool:
    """Whether the optimizer's state is spread."""
    return bool(get_auto_parallel_context("enable_parallel_optimizer"))


def get_pipeline_stages() -> int:
    """Number of stages of the pipeline."""
    return int(get_auto_parallel_context("pipeline_stages"))


def get_stage_device_num() -> int:
    """Devices of a stage of the pipeline."""
    return get_device_num() // get_pipeline_stages()


def is_in_auto_parallel_mode() -> bool:
    """Whether operators are spread by strategies."""
    return get_parallel_mode() in SPREAD_MODES


def is_in_data_parallel_mode() -> bool:
    """Whether each device has a share of the batch."""
    return get_parallel_mode() == ParallelMode.DATA_PARALLEL


def check_full_batch() -> None:
    """Refuse whole batches on each device where the program is not spread by strategies.

    Raises:
        RuntimeError: `full_batch` is set in another mode.
    """
    if get_full_batch() and not is_in_auto_parallel_mode():
        raise RuntimeError("full_batch is for the modes semi_auto_parallel and auto_parallel only")


def need_to_full() -> bool:
    """Whether what a device loads is a share of the batch; in one process it is all of it."""
    return False


def parameter_broadcast_check(parallel_mode: str, parameter_broadcast: Any) -> None:
    """Refuse to send parameters where there is nobody to send them to.

    Raises:
        ValueError: the mode is stand_alone and `parameter_broadcast` is set.
    """
    if parameter_broadcast and parallel_mode == ParallelMode.STAND_ALONE:
        raise ValueError("parameter_broadcast must be False in the mode stand_alone")


def device_number_check(parallel_mode: str, device_number: int) -> None:
    """Refuse several devices in the mode for one.

    Raises:
        ValueError: the mode is stand_alone and there are other devices.
    """
    if parallel_mode == ParallelMode.STAND_ALONE and device_number != 1:
        raise ValueError(f"the number of devices must be 1 in the mode stand_alone, not {device_number}")
