"""Operations on sound answer as MindSpore 2.10 does: values, element types, shapes, classes of errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft.mindspore  # noqa: F401
from tests.data_ops.answers import answer, kept
from tests.data_ops.audio_answers import CALLS, HERE, names, sounds

ANSWERS, _ = kept(HERE / "audio_answers.npz")


@pytest.fixture(scope="module")
def known() -> dict[str, Any]:
    return names()


def check(found: Any, expected: Any) -> None:
    """Numbers may differ by a ten-thousandth: MindSpore computes some of them as float32."""
    if isinstance(expected, np.ndarray):
        assert isinstance(found, np.ndarray)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    elif isinstance(expected, (list, tuple)):
        assert len(found) == len(expected)
        for each, other in zip(found, expected, strict=True):
            check(each, other)
    else:
        assert found == expected


def test_all_calls_are_recorded() -> None:
    assert set(CALLS) == set(ANSWERS)


@pytest.mark.parametrize("call", CALLS)
def test_answer(call: str, known: dict[str, Any]) -> None:
    check(answer(call, known, sounds()), ANSWERS[call])


def test_where_answers_differ_from_those_of_mindspore(known: dict[str, Any]) -> None:
    audio, inputs = known["audio"], sounds()
    # what Vad keeps begins where the sound does
    kept_samples = audio.Vad(600)(inputs["quiet"])
    assert 1200 <= kept_samples.shape[-1] <= 1320
    assert np.array_equal(kept_samples, inputs["quiet"][:, -kept_samples.shape[-1] :])
    # a spectrogram without center is one of all samples
    wave = inputs["wave"]
    spectrum = audio.Spectrogram(16, 16, 4, power=0.0, center=False)(wave)
    again = audio.InverseSpectrogram(None, 16, 16, 4, center=False)(spectrum)
    assert again.shape == wave.shape
    np.testing.assert_allclose(again[:, 4:-4], wave[:, 4:-4], atol=1e-5)
    mel = audio.MelSpectrogram(8000, 16, n_mels=4)
    np.testing.assert_allclose(mel(inputs["dbl"]), mel(wave), atol=1e-4)
    # arguments of the spectrogram that are not given are those of the spectrogram
    assert audio.MFCC(8000, 4, melkwargs={"n_fft": 16, "n_mels": 6})(wave).shape == (2, 4, 9)
    assert audio.LFCC(8000, 6, 4, speckwargs={"n_fft": 16})(wave).shape == (2, 4, 9)


def test_random_operations(known: dict[str, Any]) -> None:
    from weft.data.randomness import drawing_from

    audio, inputs = known["audio"], sounds()
    power, wave = inputs["power"], inputs["wave"]
    for made, given in (
        (audio.MaskAlongAxisIID(4, 9.0, 1), power),
        (audio.FrequencyMasking(True, 4, 0, 9.0), power),
        (audio.TimeMasking(True, 4, 0, 9.0), power),
        (audio.GriffinLim(16, 2), power),
        (audio.Dither(known["DensityFunction"].RPDF), wave),
        (audio.Dither(known["DensityFunction"].GPDF, True), wave),
    ):
        found = []
        for seed in (1, 1, 2):
            with drawing_from(np.random.default_rng(seed)):
                found.append(made(given.copy()))
        assert np.array_equal(found[0], found[1])
        assert not np.array_equal(found[0], found[2])
    for made in (audio.MaskAlongAxisIID(4, 9.0, 2), audio.TimeMasking(True, 4, 0, 9.0)):
        changed = made(power) != power
        assert (changed.all(1) | ~changed.any(1)).all()
        assert changed[:, 0].sum(-1).max() <= 4
    # a spectrogram with the bands that were given
    mel = audio.MelScale(4, 8000, 0.0, None, 9)
    inverse = audio.InverseMelScale(9, 4, 8000)(inputs["mel"])
    assert inverse.shape == (2, 9, 3)
    assert (inverse >= 0).all()
    np.testing.assert_allclose(mel(inverse).sum(), inputs["mel"].sum(), rtol=0.3)


def test_in_a_pipeline(known: dict[str, Any]) -> None:
    from weft import data as ds

    wave = sounds()["wave"]
    data = ds.NumpySlicesDataset(wave, ["x"], shuffle=False).map(known["audio"].Gain(6.0), ["x"])
    found = [x for (x,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
    np.testing.assert_allclose(np.stack(found), wave * 10**0.3, rtol=1e-5)


def test_signatures_are_those_of_mindspore(known: dict[str, Any]) -> None:
    import inspect
    import json

    said = json.loads((HERE / "audio_signatures.json").read_text(encoding="utf-8"))
    for name, parameters in said.items():
        found = inspect.signature(getattr(known["audio"], name)).parameters.values()
        assert {each.name: repr(each.default) for each in found} == parameters, name
