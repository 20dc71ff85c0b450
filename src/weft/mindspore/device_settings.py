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


def _limit(name: str) -> Callable[..., None]:
    """A function that keeps how many cores of an accelerator something may use at most."""

    @python_only
    def choose(what: Any, cube_num: int = -1, vector_num: int = -1) -> None:
        CHOSEN[f"{name} of {what}"] = {"cube_core_num": cube_num, "vector_core_num": vector_num}

    choose.__name__ = choose.__qualname__ = f"set_{name}"
    choose.__doc__ = f"Choose `{name}`: how many cores of an accelerator."
    return choose


def _limit_of(name: str) -> Callable[[Any], dict[str, int]]:
    """A function that says what was chosen so."""

    @python_only
    def look(what: Any) -> dict[str, int]:
        found: dict[str, int] = CHOSEN.get(f"{name} of {what}", {"cube_core_num": -1, "vector_core_num": -1})
        return dict(found)

    look.__name__ = look.__qualname__ = f"get_{name}"
    look.__doc__ = f"What was chosen as `{name}`; -1 for all cores."
    return look


set_device_limit, get_device_limit = _limit("device_limit"), _limit_of("device_limit")
set_stream_limit, get_stream_limit = _limit("stream_limit"), _limit_of("stream_limit")


@python_only
def reset_stream_limit(stream: Any) -> None:
    """Let a stream use all cores."""
    CHOSEN.pop(f"stream_limit of {stream}", None)


class StreamLimitCtx:
    """A block in which a stream uses so many cores at most.

    Args:
        stream: the stream.
        cube_num: cores of one kind.
        vector_num: cores of the other.

    Example:
        >>> with StreamLimitCtx("stream", 8, 8):
        ...     print(get_stream_limit("stream")["cube_core_num"])
        8
    """

    def __init__(self, stream: Any, cube_num: int = -1, vector_num: int = -1) -> None:
        self._stream, self._numbers = stream, (cube_num, vector_num)

    def __enter__(self) -> None:
        set_stream_limit(self._stream, *self._numbers)

    def __exit__(self, *error: object) -> None:
        reset_stream_limit(self._stream)


@python_only
def set_kernel_launch_capture(enable_capture_graph: bool, op_capture_skip: list[str] | None = None) -> None:
    """Choose whether launches of kernels are recorded and launched again together, and of which they are not."""
    _setting("kernel_launch_capture", bool)(enable_capture_graph)
    CHOSEN["op_capture_skip"] = list(op_capture_skip or ())


@python_only
def sdc_detect_start() -> None:
    """Begin to look for numbers that an accelerator computes wrong: a CPU is trusted."""


@python_only
def sdc_detect_stop() -> None:
    """End that."""


@python_only
def get_sdc_detect_result() -> bool:
    """Whether such numbers were found: none."""
    return False


@python_only
def comm_exec_order_check(action: str) -> None:
    """Begin (``"start"``) or end (``"end"``) to check the order of exchanges, which is always checked.

    Raises:
        TypeError: `action` is no string.
        ValueError: it is another one.
    """
    if not isinstance(action, str):
        raise TypeError(f"comm_exec_order_check: action must be a str, not {type(action).__name__}")
    if action not in ("start", "end"):
        raise ValueError(f"comm_exec_order_check: action must be 'start' or 'end', not {action!r}")


@python_only
def aclnn_cache(enable_global_cache: bool = False, cache_queue_length: int = 10000) -> None:
    """Choose how kernels of Ascend devices are kept."""
    _setting("aclnn_cache", bool)(enable_global_cache)
    _setting("aclnn_cache_queue_length", int, least=1)(cache_queue_length)
