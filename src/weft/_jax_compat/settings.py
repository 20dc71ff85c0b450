"""What is set in JAX for the whole process, before its first device is used."""

from __future__ import annotations

import importlib.util
import os
import re
from typing import Final

import jax
import jaxlib.version

# 64-bit element types are real in this framework; JAX has one process-wide switch for them.
jax.config.update("jax_enable_x64", True)

# XLA must round where the program does: a cast to float16 or bfloat16 and back is not left out. It reads this
# once, when the first device is used.
_ROUNDS: Final = "--xla_allow_excess_precision"
if _ROUNDS not in os.environ.get("XLA_FLAGS", ""):
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {_ROUNDS}=false".strip()

# float32 numbers are multiplied as float32 on GPUs, too, where JAX would round them to 10 bits first. Convolutions may,
# as is usual, unless JAX's own setting says otherwise.
_MAY_ROUND: Final = jax.config.values["jax_default_matmul_precision"] is None and any(
    importlib.util.find_spec(f"jax_cuda{version}_plugin") for version in (12, 13)
)
if _MAY_ROUND:
    jax.config.update("jax_default_matmul_precision", "highest")
#: how convolutions multiply; None for as JAX's setting says
PRECISION_OF_CONVOLUTIONS: Final = jax.lax.Precision.DEFAULT if _MAY_ROUND else None

#: the versions of JAX and of its compiled part
JAX_VERSIONS: Final = (jax.__version__, jaxlib.version.__version__)
#: where their source lies
JAX_FOLDERS: Final = tuple(os.path.join(os.path.dirname(str(m.__file__)), "") for m in (jax, jaxlib.version))


def simulate_devices(count: int) -> None:
    """Let the processor stand for several devices; to be called before the first device is used.

    Args:
        count: how many.
    """
    jax.config.update("jax_num_cpu_devices", count)
    _have_threads_for(count)


def _have_threads_for(count: int) -> None:
    """Let programs over so many devices of the processor come to their end: a part of one that waits for the others
    keeps a thread, and XLA has one for each core, unless this variable says how many cores there are.
    """
    os.environ.setdefault("NPROC", str(2 * count))
    jax.config.update("jax_cpu_enable_async_dispatch", False)  # parts of two programs could wait for each other


#: how many devices the processor stands for
_SIMULATED: Final = os.environ.get("WEFT_DEVICES", "")
if _SIMULATED:
    if not _SIMULATED.isdecimal() or int(_SIMULATED) < 1:
        raise ValueError(f"WEFT_DEVICES={_SIMULATED!r} is no number of devices")
    simulate_devices(int(_SIMULATED))
elif _flagged := re.search(r"--xla_force_host_platform_device_count=(\d+)", os.environ["XLA_FLAGS"]):
    _have_threads_for(int(_flagged[1]))


def compute_on_host_only() -> None:
    """Leave accelerators to other processes; to be called before the first device is used."""
    jax.config.update("jax_platforms", "cpu")
