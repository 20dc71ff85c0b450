from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from weft import context


@pytest.fixture(autouse=True)
def _defaults() -> Iterator[None]:
    context.reset()
    yield
    context.reset()
    context.reset_auto_parallel_context()
    context.reset_ps_context()


def test_mode_is_pynative_until_set() -> None:
    assert context.mode() == context.MODE == context.PYNATIVE_MODE == 1
    context.set_context(mode=context.GRAPH_MODE)
    assert context.mode() == context.MODE == context.get_context("mode") == 0
    context.reset()
    assert context.MODE == 1


@pytest.mark.parametrize("key", context.SETTINGS)
def test_every_default_passes_its_own_check(key: str) -> None:
    value = context.get_context(key)
    context.set_context(**{key: value})
    assert context.get_context(key) == value


@pytest.mark.parametrize("table", (context.PARALLEL_SETTINGS, context.PS_SETTINGS))
def test_every_parallel_default_passes_its_own_check(table: dict[str, context.Setting]) -> None:
    for key, row in table.items():
        assert row.check(key, row.default) == row.default


WRONG: list[tuple[str, Any, type[Exception], str]] = [
    ("mode", 2, ValueError, "GRAPH_MODE (0), PYNATIVE_MODE (1)"),
    ("mode", True, TypeError, "GRAPH_MODE (0)"),
    ("device_target", "NPU", ValueError, "'CPU', 'GPU', 'Ascend', 'TPU'"),
    ("device_target", 3, TypeError, "'CPU'"),
    ("device_id", -1, ValueError, "from 0 to 4095"),
    ("save_graphs", 4, ValueError, "from 0 to 3"),
    ("save_graphs", "yes", TypeError, "int from 0 to 3"),
    ("save_graphs_path", 1, TypeError, "a str"),
    ("jit_level", "O9", ValueError, "'O2'"),
    ("deterministic", True, TypeError, "'ON'"),
    ("max_device_memory", "10", ValueError, "'10GB'"),
    ("enable_graph_kernel", 1, TypeError, "a bool"),
    ("max_call_depth", 0, ValueError, "at least 1"),
    ("ascend_config", [], TypeError, "a dict"),
]


@pytest.mark.parametrize(("key", "value", "error", "text"), WRONG)
def test_wrong_values_name_what_is_allowed_and_change_nothing(
    key: str, value: Any, error: type[Exception], text: str
) -> None:
    before = context.get_context(key)
    with pytest.raises(error, match=re.escape(text)) as caught:
        context.set_context(max_call_depth=17, **{key: value}) if key != "max_call_depth" else context.set_context(
            check_bprop=True, max_call_depth=value
        )
    assert repr(key) in str(caught.value)
    assert context.get_context(key) == before
    assert context.get_context("max_call_depth") == 1000
    assert context.get_context("check_bprop") is False


def test_unknown_settings_name_the_nearest() -> None:
    with pytest.raises(ValueError, match="'save_graphs'"):
        context.set_context(mode=0, save_graph=True)
    assert context.MODE == 1
    with pytest.raises(ValueError, match="'device_target'"):
        context.get_context("device_traget")
    with pytest.raises(ValueError, match="'parallel_mode'"):
        context.set_auto_parallel_context(paralel_mode="stand_alone")


def test_absent_device_says_what_is_there() -> None:
    if context.devices_of("tpu"):
        pytest.skip("this machine has a TPU")
    with pytest.raises(ValueError, match=r"device_target='TPU': no such device.*'CPU'"):
        context.set_context(device_target="TPU")
    assert context.get_context("device_target") == context.default_target()


def test_cpu_is_always_a_target() -> None:
    context.set_context(device_target="CPU", device_id=3)
    assert context.get_context("device_target") == "CPU"
    import jax.numpy as jnp

    assert {d.platform for d in jnp.zeros(2).devices()} == {"cpu"}


def test_ascend_warns_once_and_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "_warned_ascend", False)
    with pytest.warns(RuntimeWarning, match="'Ascend' is not available here; computing on"):
        context.set_context(device_target="Ascend", device_id=7)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        context.set_context(device_target="Ascend")
    assert context.get_context("device_target") == "Ascend"


def test_listeners_see_what_changed() -> None:
    seen: list[dict[str, Any]] = []
    stop = context.on_change(seen.append)
    context.set_context(mode=context.GRAPH_MODE, max_call_depth=1000)
    context.set_context(mode=context.GRAPH_MODE)
    with pytest.raises(ValueError, match="mode"):
        context.set_context(mode=9)
    stop()
    context.set_context(mode=context.PYNATIVE_MODE)
    assert seen == [{"mode": 0}]


def test_returned_containers_are_copies() -> None:
    context.set_context(ascend_config={"a": 1})
    context.get_context("ascend_config")["a"] = 2
    assert context.get_context("ascend_config") == {"a": 1}
    context.get_context("gpu_config")["x"] = 1
    context.reset()
    assert context.get_context("gpu_config") == {}


def test_parallel_settings_are_stored_and_reset() -> None:
    mode = context.ParallelMode
    context.set_auto_parallel_context(parallel_mode=mode.SEMI_AUTO_PARALLEL, device_num=8)
    assert context.get_auto_parallel_context("parallel_mode") == "semi_auto_parallel"
    assert context.get_auto_parallel_context("device_num") == 8
    with pytest.raises(ValueError, match="'auto_parallel'"):
        context.set_auto_parallel_context(device_num=2, parallel_mode="everything")
    assert context.get_auto_parallel_context("device_num") == 8
    context.reset_auto_parallel_context()
    assert context.get_auto_parallel_context("device_num") == 1
    context.set_ps_context(enable_ps=True)
    assert context.get_ps_context("enable_ps") is True


def test_threads_see_whole_changes() -> None:
    torn: list[tuple[Any, Any]] = []
    stop = context.on_change(
        lambda changed: (
            torn.append((changed["max_call_depth"], changed["op_timeout"]))
            if changed["max_call_depth"] != changed["op_timeout"]
            else None
        )
    )

    def write(base: int) -> None:
        for i in range(200):
            context.set_context(max_call_depth=base + 2 * i + 1, op_timeout=base + 2 * i + 1)

    threads = [threading.Thread(target=write, args=(base,)) for base in (5000, 5001)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stop()
    assert not torn
    assert context.get_context("max_call_depth") == context.get_context("op_timeout")


def test_the_table_documents_itself() -> None:
    text = context.describe()
    for key, row in context.SETTINGS.items():
        assert f"`{key}`" in text
        assert row.doc.endswith(".")
