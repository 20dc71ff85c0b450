"""`mindspore.runtime`, `mindspore.hal`, `mindspore.device_context`: devices, memory, streams, events, settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft
import weft.mindspore
from weft import context
from weft.mindspore import device_settings, devices


@pytest.fixture(autouse=True)
def _defaults() -> Iterator[None]:
    yield
    context.reset()


def test_what_there_is() -> None:
    from mindspore import device_context, get_current_device, hal

    assert hal.is_available("CPU")
    assert not hal.is_available("Ascend")
    assert hal.device_count("CPU") == device_context.cpu.device_count() == 1
    assert hal.device_count() >= 1
    assert device_context.cpu.is_available()
    assert not device_context.ascend.is_available()
    with pytest.raises(RuntimeError, match="Ascend"):
        device_context.ascend.device_count()
    assert hal.get_device_name(0, "CPU") == "CPU"
    assert hal.get_device_properties(0).name
    assert hal.get_device_capability(0, "CPU") is None
    with pytest.raises(RuntimeError, match="no device 99"):
        hal.get_device_name(99)
    with pytest.raises(ValueError, match="nonesuch"):
        hal.is_available("nonesuch")
    assert get_current_device().device_target == weft.get_context("device_target")


def test_memory_is_counted_or_0() -> None:
    from mindspore import hal, runtime

    held = weft.Tensor(np.ones(1000, np.float32)) + 1
    for module in (hal, runtime):
        assert 0 <= module.memory_allocated() <= module.memory_reserved()
        assert module.memory_allocated() <= module.max_memory_allocated() <= module.max_memory_reserved()
        stats = module.memory_stats()
        assert stats["total_reserved_memory"] >= stats["total_allocated_memory"] >= 0
        assert "Allocated memory" in module.memory_summary()
        module.reset_peak_memory_stats()
        module.reset_max_memory_allocated()
        module.reset_max_memory_reserved()
        assert module.max_memory_allocated() >= 0
        module.empty_cache()
    assert held.shape == (1000,)


class _Counted:
    """A device that counts."""

    def __init__(self) -> None:
        self.now, self.peak = 10, 50

    def memory_stats(self) -> dict[str, int]:
        return {"bytes_in_use": self.now, "peak_bytes_in_use": self.peak, "bytes_limit": 100}


def test_the_peak_since_it_was_reset(monkeypatch: pytest.MonkeyPatch) -> None:
    device = _Counted()
    monkeypatch.setattr(devices, "_device", lambda *args: device)
    monkeypatch.setattr(devices, "_peaks", {})
    assert (devices.memory_allocated(), devices.max_memory_allocated()) == (10, 50)
    devices.reset_max_memory_allocated()
    assert devices.max_memory_allocated() == 10
    device.now, device.peak = 20, 60
    assert devices.max_memory_allocated() == 60


def test_streams_and_events() -> None:
    from mindspore import runtime

    first, last = runtime.Event(enable_timing=True), runtime.Event(enable_timing=True)
    with runtime.StreamCtx(runtime.Stream()):
        first.record()
        x = weft.Tensor(np.ones((64, 64), np.float32))
        for _ in range(3):
            x = x @ x / 64
        last.record(runtime.current_stream())
    assert first.elapsed_time(last) > 0
    assert last.query()
    last.synchronize()
    event = runtime.default_stream().record_event()
    runtime.current_stream().wait_event(event)
    runtime.current_stream().wait_stream(runtime.Stream())
    runtime.set_cur_stream(runtime.Stream())
    assert runtime.current_stream() == runtime.Stream()
    with pytest.raises(RuntimeError, match="enable_timing"):
        event.elapsed_time(last)
    with pytest.raises(TypeError):
        runtime.Event(enable_timing=1)
    with pytest.raises(TypeError):
        runtime.StreamCtx(3)


def test_waiting_in_a_compiled_function_happens_in_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[int] = []
    monkeypatch.setattr(devices.jax, "effects_barrier", lambda: waited.append(1))

    @weft.jit
    def run(x: weft.Tensor) -> weft.Tensor:
        y = x + 1
        devices.synchronize()
        return y * 2

    for value in (1.0, 2.0, 3.0):
        assert run(weft.Tensor([value])).asnumpy().tolist() == [(value + 1) * 2]
    assert len(waited) == 3


def test_settings_of_the_runtime() -> None:
    from mindspore import runtime

    runtime.set_memory(init_size="3GB", increase_size="1GB", max_size="10GB", optimize_level="O1")
    assert weft.get_context("max_device_memory") == "10GB"
    assert weft.get_context("memory_optimize_level") == "O1"
    with pytest.raises(ValueError, match="10GB"):
        runtime.set_memory(max_size="ten")
    runtime.dispatch_threads_num(4)
    assert weft.get_context("runtime_num_threads") == 4
    runtime.launch_blocking()
    assert weft.get_context("pynative_synchronize")
    runtime.set_cpu_affinity(True)
    runtime.set_kernel_launch_group(2, 8)
    with pytest.raises(ValueError, match="thread_num"):
        runtime.set_kernel_launch_group(0)


@pytest.mark.parametrize(
    ("path", "good", "bad", "error"),
    [
        ("cpu.op_tuning.threads_num", 4, 0, ValueError),
        ("cpu.op_tuning.threads_num", 4, "4", TypeError),
        ("gpu.op_precision.conv_allow_tf32", True, 1, TypeError),
        ("gpu.op_tuning.conv_fprop_algo", "performance", "fast", ValueError),
        ("ascend.op_precision.precision_mode", "force_fp32", "force", ValueError),
        ("ascend.op_debug.execute_timeout", 100, -1, ValueError),
        ("ascend.op_debug.aclinit_config", {"a": 1}, 3, TypeError),
        ("ascend.op_tuning.op_compile", True, "no", TypeError),
    ],
)
def test_settings_of_devices(path: str, good: Any, bad: Any, error: type[Exception]) -> None:
    from mindspore import device_context

    choose: Any = device_context
    for part in path.split("."):
        choose = getattr(choose, part)
    choose(good)
    assert device_settings.CHOSEN[path.split(".")[-1]] == good
    with pytest.raises(error):
        choose(bad)
