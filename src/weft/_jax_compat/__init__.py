"""The only folder that sets JAX's global state or touches anything of JAX that is not public API.

Versions of JAX end here: where two differ, a function of one of these files says what is the same in both.
"""

from weft._jax_compat import settings  # isort: skip  before any device is used
from weft._jax_compat import ending
from weft._jax_compat.arrays import (
    Array,
    Tracer,
    bound_to,
    computes_on_host,
    copied,
    default_platform,
    devices_of,
    devices_of_layout,
    lies_on_host,
    to_device,
    use_device,
)
from weft._jax_compat.compilations import on_compilation, was_loaded
from weft._jax_compat.layouts import Spread, among_devices, devices_of_program, is_elementwise, keep_whole
from weft._jax_compat.processes import (
    APART,
    FINDING,
    REACHED,
    REACHING,
    TOGETHER,
    compute_among,
    coordinator,
    noted_first,
    number_of_all,
    stage,
)
from weft._jax_compat.programs import Program, compiler_settings, keep_executables, loading
from weft._jax_compat.settings import (
    JAX_FOLDERS,
    JAX_VERSIONS,
    PRECISION_OF_CONVOLUTIONS,
    compute_on_host_only,
    simulate_devices,
)  # fmt: skip
from weft._jax_compat.tracing import (
    Stopped,
    bind_again,
    compiled_programs,
    dimension_terms,
    draws_by_position,
    eagerly,
    operands_of_scan,
    without_notes,
)

__all__ = [
    "PRECISION_OF_CONVOLUTIONS", "JAX_FOLDERS", "JAX_VERSIONS", "compute_on_host_only", "settings", "simulate_devices",
    "ending",
    "Array", "Tracer", "bound_to", "computes_on_host", "copied", "default_platform", "devices_of", "devices_of_layout",
    "lies_on_host", "to_device", "use_device",
    "Stopped", "bind_again", "compiled_programs", "dimension_terms", "draws_by_position", "eagerly",
    "operands_of_scan", "without_notes",
    "on_compilation", "was_loaded",
    "Spread", "among_devices", "devices_of_program", "is_elementwise", "keep_whole",
    "Program", "compiler_settings", "keep_executables", "loading",
    "APART", "FINDING", "REACHED", "REACHING", "TOGETHER", "compute_among", "coordinator", "noted_first",
    "number_of_all", "stage",
]  # fmt: skip
