"""`mindspore.device_context`: settings of single kinds of devices, checked and kept; XLA decides by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from weft.core.transparency import python_only

#: the settings that the program made
CHOSEN: Final[dict[str, Any]] = {}


def _setting(name: str, kind: type, *allowed: Any, least: Any = None) -> Callable[..., None]:
    """A function that checks and keeps a setting."""

    @python_only
    def choose(value: Any) -> None:
        if type(value) is not kind:
            raise TypeError(f"{name} takes a value of type {kind.__name__}, not {type(value).__name__}")
        if allowed and value not in allowed:
            raise ValueError(f"{name} takes one of {', '.join(map(repr, allowed))}, not {value!r}")
        if least is not None and value < least:
            raise ValueError(f"{name} takes at least {least}, not {value}")
        CHOSEN[name] = value

    choose.__name__ = choose.__qualname__ = name
    choose.__doc__ = f"Choose `{name}` of a kind of devices."
    return choose


_ALGORITHMS: Final = (
    "normal", "performance", "implicit_gemm", "precomp_gemm", "gemm", "direct", "fft", "fft_tiling", "winograd",
    "winograd_nonfused", "algo_0", "algo_1", "algo_3",
)  # fmt: skip

threads_num = _setting("threads_num", int, least=1)
conv_allow_tf32 = _setting("conv_allow_tf32", bool)
matmul_allow_tf32 = _setting("matmul_allow_tf32", bool)
conv_allow_hf32 = _setting("conv_allow_hf32", bool)
matmul_allow_hf32 = _setting("matmul_allow_hf32", bool)
conv_fprop_algo = _setting("conv_fprop_algo", str, *_ALGORITHMS)
conv_wgrad_algo = _setting("conv_wgrad_algo", str, *_ALGORITHMS)
conv_dgrad_algo = _setting("conv_dgrad_algo", str, *_ALGORITHMS)
precision_mode = _setting(
    "precision_mode", str,
    "force_fp16", "allow_fp32_to_fp16", "allow_mix_precision", "must_keep_origin_dtype", "force_fp32",
    "allow_fp32_to_bf16", "allow_mix_precision_fp16", "allow_mix_precision_bf16",
)  # fmt: skip
op_precision_mode = _setting("op_precision_mode", str)
execute_timeout = _setting("execute_timeout", int, least=0)
debug_option = _setting("debug_option", str)
aclinit_config = _setting("aclinit_config", dict)
op_compile = _setting("op_compile", bool)
aoe_tune_mode = _setting("aoe_tune_mode", str, "online", "offline")
aoe_job_type = _setting("aoe_job_type", str, "1", "2")


@python_only
def aclnn_cache(enable_global_cache: bool = False, cache_queue_length: int = 10000) -> None:
    """Choose how kernels of Ascend devices are kept."""
    _setting("aclnn_cache", bool)(enable_global_cache)
    _setting("aclnn_cache_queue_length", int, least=1)(cache_queue_length)
