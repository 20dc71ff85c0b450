"""`mindspore.profiler`: what is recorded where, in which steps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
import weft.mindspore
from weft.mindspore import profiler
from weft.mindspore.profiler import Profiler, ProfilerAction, schedule

X = np.ones((4, 4), np.float32)


@pytest.fixture
def recordings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What JAX is told, in place of recording."""
    told: list[str] = []
    monkeypatch.setattr(profiler.jax.profiler, "start_trace", lambda path: told.append(f"start {path}"))
    monkeypatch.setattr(profiler.jax.profiler, "stop_trace", lambda: told.append("stop"))
    return told


@pytest.fixture(autouse=True)
def _stopped() -> Iterator[None]:
    yield
    assert Profiler._running is None


def test_a_profile_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "profile"
    with Profiler(output_path=str(folder), profiler_level=profiler.ProfilerLevel.Level0) as found:
        found.add_metadata("who", "me")
        found.add_metadata_json("settings", '{"a": 1}')
        with_mark = profiler.mstx.range_start("part")
        (weft.Tensor(X) @ weft.Tensor(X)).asnumpy()
        profiler.mstx.range_end(with_mark)
        profiler.mstx.mark("here")
    assert list(folder.rglob("*.xplane.pb"))
    assert json.loads((folder / "profiler_metadata.json").read_text()) == {"who": "me", "settings": {"a": 1}}


def test_scripts_stop_by_analysing(tmp_path: Path, recordings: list[str]) -> None:
    found = Profiler(output_path=str(tmp_path))
    found.start()  # again
    found.analyse()
    found.analyse()
    found.stop()
    assert recordings == [f"start {tmp_path}", "stop"]
    later = Profiler(output_path=str(tmp_path), start_profile=False)
    assert len(recordings) == 2
    later.start()
    later.stop()
    assert len(recordings) == 4
    assert found.output_path == str(tmp_path)


def test_one_at_a_time(tmp_path: Path, recordings: list[str]) -> None:
    first = Profiler(output_path=str(tmp_path))
    with pytest.raises(RuntimeError, match="another profile"):
        Profiler(output_path=str(tmp_path))
    first.stop()


def test_steps_of_a_schedule(tmp_path: Path, recordings: list[str]) -> None:
    ready: list[Any] = []
    chosen = schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)
    expected = ["NONE", "NONE", "WARM_UP", "RECORD", "RECORD_AND_SAVE", "NONE", "WARM_UP", "RECORD", "RECORD_AND_SAVE"]
    assert [chosen(step).name for step in range(11)] == [*expected, "NONE", "NONE"]
    with profiler.profile(schedule=chosen, on_trace_ready=ready.append) as found:
        found._path = tmp_path
        for step in range(11):
            before = len(recordings)
            recorded = Profiler._running is found
            assert recorded == (chosen(step) in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)), step
            found.step()
            assert len(recordings) - before <= 1
    assert recordings == [f"start {tmp_path}", "stop"] * 2
    assert ready == [found, found]


def test_a_recording_that_the_program_cuts_short_is_written(tmp_path: Path, recordings: list[str]) -> None:
    handler = profiler.tensorboard_trace_handler(str(tmp_path / "board"))
    with profiler.profile(schedule=schedule(wait=0, active=5), on_trace_ready=handler) as found:
        found.step()
    assert recordings == [f"start {tmp_path / 'board'}", "stop"]


def test_each_call_of_a_compiled_function_makes_its_step(tmp_path: Path, recordings: list[str]) -> None:
    with Profiler(output_path=str(tmp_path), schedule=schedule(wait=1, active=1)) as found:

        @weft.jit
        def train(x: weft.Tensor) -> weft.Tensor:
            y = x * 2
            found.step()
            return y + 1

        for value in (1.0, 2.0, 3.0, 4.0):
            assert train(weft.Tensor([value])).asnumpy().tolist() == [value * 2 + 1]
        assert found._step == 4
    assert recordings == [f"start {tmp_path}", "stop"] * 2


def test_schedules() -> None:
    assert schedule(wait=1, active=2).to_dict() == {"wait": 1, "active": 2, "warmup": 0, "repeat": 0, "skip_first": 0}
    assert repr(schedule(wait=-1, active=1)) == "Schedule(wait=0, active=1, warmup=0, repeat=0, skip_first=0)"
    with pytest.raises(TypeError, match="wait"):
        schedule(wait="1", active=1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "settings",
    [{"start_profile": 1}, {"output_path": 3, "start_profile": False}, {"schedule": 3}, {"on_trace_ready": 3}],
)
def test_wrong_settings(settings: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        Profiler(**settings)


def test_settings_without_effect_are_named(caplog: pytest.LogCaptureFixture, recordings: list[str]) -> None:
    Profiler(start_profile=False, nonesuch=1, profile_memory=True).step()
    assert "nonesuch" in caplog.text
    assert "profile_memory" not in caplog.text
    assert "without a schedule" in caplog.text


def test_where_scripts_find_the_names() -> None:
    from mindspore import Profiler as at_root
    from mindspore.profiler import AicoreMetrics, ExportType, ProfilerActivity, ProfilerLevel, _ExperimentalConfig
    from mindspore.profiler.schedule import ProfilerAction as action

    assert at_root is Profiler
    assert action is ProfilerAction
    config = _ExperimentalConfig(profiler_level=ProfilerLevel.Level1, aic_metrics=AicoreMetrics.AiCoreNone)
    assert config.profiler_level is ProfilerLevel.Level1
    assert (ProfilerActivity.CPU.value, ExportType.Text.value) == ("CPU", "text")
