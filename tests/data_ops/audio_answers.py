"""What operations on sound answer; run with MindSpore's interpreter, this file records what it answers.

``python tests/data_ops/audio_answers.py`` with MindSpore and NumPy installed writes ``audio_answers.npz`` anew for the
calls in ``audio_calls.txt``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
CALLS = [line for line in (HERE / "audio_calls.txt").read_text(encoding="utf-8").splitlines() if line.strip()]


def names() -> dict[str, Any]:
    """What the calls may name, of the MindSpore that is installed or of weft behind its door."""
    from mindspore.dataset import audio

    enums = (
        "BorderType DensityFunction FadeShape GainType Interpolation MelType Modulation NormMode NormType "
        "ResampleMethod ScaleType WindowType"
    )
    return {"np": np, "audio": audio, **{name: getattr(audio, name) for name in enums.split()}}


def sounds() -> dict[str, Any]:
    """The inputs by name, new ones at each call."""
    draw = np.random.RandomState(0)
    time = np.arange(64)
    wave = np.stack([np.sin(time / 3) * 0.6 + np.sin(time) * 0.2, np.cos(time / 5) * 0.5]) + draw.randn(2, 64) * 0.05
    power = draw.rand(2, 9, 6) * 3
    long = np.sin(np.arange(800) / 4) * 0.3 + draw.randn(800) * 0.02
    quiet = np.concatenate([draw.randn(600) * 0.001, np.sin(np.arange(1200) / 2) * 0.5 + draw.randn(1200) * 0.1])
    return {
        "wave": wave.astype(np.float32),
        "dbl": wave,
        "one": wave[0].astype(np.float32),
        "deep": np.stack([wave, -wave]).astype(np.float32),
        "whole": (wave * 1000).astype(np.int16),
        "many": (np.stack([wave, -wave * 0.5])[..., :40]).astype(np.float32),
        "long": long.astype(np.float32),
        "quiet": quiet[None].astype(np.float32),
        "power": power.astype(np.float32),
        "decibels": (power * 20 - 30).astype(np.float32),
        "complex": draw.randn(2, 9, 6, 2).astype(np.float32),
        "mel": (draw.rand(2, 4, 3) * 2).astype(np.float32),
        "codes": draw.randint(0, 256, (2, 10)).astype(np.int32),
        "advance": np.linspace(0, np.pi * 4, 9)[:, None].astype(np.float32),
        "scalar": np.float32(1),
        "text": np.array("a"),
    }


def record() -> None:
    """Write what the MindSpore that is installed answers."""
    sys.path.insert(0, str(HERE))
    from answers import answer, keep  # type: ignore[import-not-found]

    known = names()
    keep(HERE / "audio_answers.npz", {call: answer(call, known, sounds()) for call in CALLS}, np.zeros(0, np.uint8))


if __name__ == "__main__":
    record()
