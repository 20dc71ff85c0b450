"""Filters: the coefficients of each kind are a row, and one recursion runs them all."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Final

import numpy as np

from weft.data import checks
from weft.data.audio.sound_operation import NEEDED, Arg, SoundOperation, clipped, flag, rate, real
from weft.lazily import deferred

signal: Any = deferred("scipy.signal")

Coefficients = tuple[float, float, float, float, float, float]  # b0, b1, b2, a0, a1, a2

_Q: Final = real(0.707, "quality factor, from 0 to 1.", 0, 1, above=True)
_FREQUENCY: Final = real(NEEDED, "central frequency, in Hz.")
_CUTOFF: Final = real(NEEDED, "where the filter begins to work, in Hz.")
_GAIN: Final = real(NEEDED, "by how much it is louder, in dB.")


def filtered(samples: Any, denominator: Any, numerator: Any, clamp: bool) -> Any:
    """Samples through a recursive filter.

    Args:
        samples: the samples.
        denominator: the coefficients of outputs, that of the present one first.
        numerator: the coefficients of inputs.
        clamp: whether the result is kept between -1 and 1.
    """
    found = signal.lfilter(np.asarray(numerator, np.float64), np.asarray(denominator, np.float64), samples)
    return clipped(found) if clamp else found


class _Biquad(SoundOperation):
    """A filter with two poles and two zeros."""

    integers = False

    def prepare(self, **given: Any) -> None:
        self.coefficients = self.designed(**given)

    def designed(self, **given: Any) -> Coefficients:
        """The coefficients."""
        raise NotImplementedError

    def changed(self, samples: Any, **given: Any) -> Any:
        return filtered(samples, self.coefficients[3:], self.coefficients[:3], True)


class Biquad(_Biquad):
    """The filter with the coefficients that are given."""

    takes: ClassVar[dict[str, Arg]] = {
        **{name: real(NEEDED, "coefficient of an input.") for name in ("b0", "b1", "b2")},
        "a0": Arg(float, NEEDED, "coefficient of the present output, not 0.", nonzero=True),
        **{name: real(NEEDED, "coefficient of an output before.") for name in ("a1", "a2")},
    }

    def designed(self, **given: Any) -> Coefficients:
        return (given["b0"], given["b1"], given["b2"], given["a0"], given["a1"], given["a2"])


def _angle(sample_rate: int, frequency: float) -> tuple[float, float]:
    """Cosine and sine of a frequency."""
    angle = 2 * math.pi * frequency / sample_rate
    return math.cos(angle), math.sin(angle)


class _Resonant(_Biquad):
    """A filter around a frequency, with a quality."""

    def designed(self, **given: Any) -> Coefficients:
        frequency = next(given[name] for name in ("central_freq", "center_freq", "cutoff_freq") if name in given)
        cosine, sine = _angle(given["sample_rate"], frequency)
        return self.shaped(cosine, sine, sine / 2 / given["Q"], given)

    def shaped(self, cosine: float, sine: float, alpha: float, given: dict[str, Any]) -> Coefficients:
        """The coefficients, of the cosine, the sine and the width."""
        raise NotImplementedError


class AllpassBiquad(_Resonant):
    """Changes the phase by frequency, and no amplitude."""

    takes: ClassVar[dict[str, Arg]] = {"sample_rate": rate(), "central_freq": _FREQUENCY, "Q": _Q}

    def shaped(self, cosine: float, sine: float, alpha: float, given: dict[str, Any]) -> Coefficients:
        return 1 - alpha, -2 * cosine, 1 + alpha, 1 + alpha, -2 * cosine, 1 - alpha


class BandpassBiquad(_Resonant):
    """Lets a band of frequencies pass."""

    takes: ClassVar[dict[str, Arg]] = {
        "sample_rate": rate(),
        "central_freq": _FREQUENCY,
        "Q": _Q,
        "const_skirt_gain": flag(False, "whether the skirts are the same for any quality, or the peak."),
    }

    def shaped(self, cosine: float, sine: float, alpha: float, given: dict[str, Any]) -> Coefficients:
        peak = sine / 2 if given["const_skirt_gain"] else alpha
        return peak, 0, -peak, 1 + alpha, -2 * cosine, 1 - alpha


class BandrejectBiquad(_Resonant):
    """Lets all but a band of frequencies pass."""

    takes: ClassVar[dict[str, Arg]] = {"sample_rate": rate(), "central_freq": _FREQUENCY, "Q": _Q}

    def shaped(self, cosine: float, sine: float, alpha: float, given: dict[str, Any]) -> Coefficients:
        return 1, -2 * cosine, 1, 1 + alpha, -2 * cosine, 1 - alpha


class EqualizerBiquad(_Resonant):
    """Makes a band of frequencies louder, or less loud."""

    takes: ClassVar[dict[str, Arg]] = {"sample_rate": rate(), "center_freq": _FREQUENCY, "gain": _GAIN, "Q": _Q}

    def shaped(self, cosine: float, sine: float, alpha: float, given: dict[str, Any]) -> Coefficients:
        a = 10 ** (given["gain"] / 40)
        return 1 + alpha * a, -2 * cosine, 1 - alpha * a, 1 + alpha / a, -2 * cosine, 1 - alpha / a


class HighpassBiquad(_Resonant):
    """Lets high frequencies pass."""

    takes: ClassVar[dict[str, Arg]] = {"sample_rate": rate(), "cutoff_freq": _CUTOFF, "Q": _Q}

    def shaped(self, cosine: float, sine: float, alpha: float, given: dict[str, Any]) -> Coefficients:
        return (1 + cosine) / 2, -1 - cosine, (1 + cosine) / 2, 1 + alpha, -2 * cosine, 1 - alpha


class LowpassBiquad(_Resonant):
    """Lets low frequencies pass."""

    takes: ClassVar[dict[str, Arg]] = {"sample_rate": rate(), "cutoff_freq": _CUTOFF, "Q": _Q}

    def shaped(self, cosine: float, sine: float, alpha: float, given: dict[str, Any]) -> Coefficients:
        return (1 - cosine) / 2, 1 - cosine, (1 - cosine) / 2, 1 + alpha, -2 * cosine, 1 - alpha


def _shelf(cosine: float, alpha: float, gain: float, side: int) -> Coefficients:
    """A shelf: below the frequency for side -1, above it for 1."""
    a = 10 ** (gain / 40)
    wide, less, more = 2 * math.sqrt(a) * alpha, side * (a - 1) * cosine, side * (a + 1) * cosine
    return (
        a * (a + 1 + less + wide),
        -2 * side * a * (a - 1 + more),
        a * (a + 1 + less - wide),
        a + 1 - less + wide,
        2 * side * (a - 1 - more),
        a + 1 - less - wide,
    )


class BassBiquad(_Resonant):
    """Makes low frequencies louder, or less loud."""

    takes: ClassVar[dict[str, Arg]] = {
        "sample_rate": rate(),
        "gain": _GAIN,
        "central_freq": real(100.0, "central frequency, in Hz."),
        "Q": _Q,
    }

    def shaped(self, cosine: float, sine: float, alpha: float, given: dict[str, Any]) -> Coefficients:
        return _shelf(cosine, alpha, given["gain"], -1)


class TrebleBiquad(_Resonant):
    """Makes high frequencies louder, or less loud."""

    takes: ClassVar[dict[str, Arg]] = {
        "sample_rate": rate(),
        "gain": _GAIN,
        "central_freq": real(3000, "central frequency, in Hz."),
        "Q": _Q,
    }

    def shaped(self, cosine: float, sine: float, alpha: float, given: dict[str, Any]) -> Coefficients:
        return _shelf(cosine, alpha, given["gain"], 1)


class BandBiquad(_Biquad):
    """Lets a band of frequencies pass, of music or of noise."""

    takes: ClassVar[dict[str, Arg]] = {
        "sample_rate": rate(),
        "central_freq": _FREQUENCY,
        "Q": _Q,
        "noise": flag(False, "whether the sound has no pitch."),
    }

    def designed(self, **given: Any) -> Coefficients:
        sample_rate, frequency = given["sample_rate"], given["central_freq"]
        a2 = math.exp(-2 * math.pi * (frequency / given["Q"]) / sample_rate)
        a1 = -4 * a2 / (1 + a2) * _angle(sample_rate, frequency)[0]
        b0 = math.sqrt(1 - a1 * a1 / (4 * a2)) * (1 - a2)
        if given["noise"]:
            b0 = math.sqrt(((1 + a2) ** 2 - a1 * a1) * (1 - a2) / (1 + a2))
        return b0, 0, 0, 1, a1, a2


class DeemphBiquad(_Biquad):
    """Takes back the emphasis of compact discs."""

    takes: ClassVar[dict[str, Arg]] = {"sample_rate": Arg(int, NEEDED, "44100 or 48000 samples a second.")}

    def designed(self, **given: Any) -> Coefficients:
        shelves = {44100: (5283, 0.4845, -9.477), 48000: (5356, 0.479, -9.62)}
        sample_rate = _one_of(given["sample_rate"], shelves)
        frequency, slope, gain = shelves[sample_rate]
        cosine, sine = _angle(sample_rate, frequency)
        a = 10 ** (gain / 40)
        return _shelf(cosine, sine / 2 * math.sqrt((a + 1 / a) * (1 / slope - 1) + 2), gain, 1)


def _one_of(sample_rate: int, known: Any) -> int:
    if sample_rate not in known:
        raise ValueError(f"Argument sample_rate should be one of {sorted(known)}, but got {sample_rate}.")
    return sample_rate


class RiaaBiquad(_Biquad):
    """Plays records as they should sound."""

    takes: ClassVar[dict[str, Arg]] = {
        "sample_rate": Arg(int, NEEDED, "44100, 48000, 88200 or 96000 samples a second.")
    }
    #: zeros and poles
    known: ClassVar[dict[int, tuple[tuple[float, float], tuple[float, float]]]] = {
        44100: ((-0.2014898, 0.9233820), (0.7083149, 0.9924091)),
        48000: ((-0.1766069, 0.9321590), (0.7396325, 0.9931330)),
        88200: ((-0.1168735, 0.9648312), (0.8590646, 0.9964002)),
        96000: ((-0.1141486, 0.9676817), (0.8699137, 0.9966946)),
    }

    def designed(self, **given: Any) -> Coefficients:
        sample_rate = _one_of(given["sample_rate"], self.known)
        numerator, denominator = (np.poly(roots) for roots in self.known[sample_rate])
        # as loud as it was at 1 kHz
        delays = np.exp(-2j * np.pi * 1000 / sample_rate * np.arange(3))
        numerator = numerator / abs((numerator @ delays) / (denominator @ delays))
        return (*numerator.tolist(), *denominator.tolist())


def _listed(value: Any, name: str) -> list[float]:
    checks.of_type(value, (list, tuple), name)
    for place, each in enumerate(value):
        checks.of_type(each, (int, float), f"{name}[{place}]")
    return [float(each) for each in value]


class LFilter(SoundOperation):
    """A recursive filter of any order."""

    takes: ClassVar[dict[str, Arg]] = {
        "a_coeffs": Arg((list, tuple), NEEDED, "the coefficients of outputs, that of the present one first."),
        "b_coeffs": Arg((list, tuple), NEEDED, "the coefficients of inputs, as many."),
        "clamp": flag(True, "whether the result is kept between -1 and 1."),
    }
    integers = False

    def prepare(self, **given: Any) -> None:
        self.a, self.b = _listed(given["a_coeffs"], "a_coeffs"), _listed(given["b_coeffs"], "b_coeffs")
        if len(self.a) != len(self.b):
            raise ValueError(f"a_coeffs and b_coeffs should be as long, but got {len(self.a)} and {len(self.b)}.")

    def changed(self, samples: Any, **given: Any) -> Any:
        return filtered(samples, self.a, self.b, given["clamp"])


class Filtfilt(LFilter):
    """A recursive filter of any order, forward and backward, so that phases stay."""

    def changed(self, samples: Any, **given: Any) -> Any:
        forward = filtered(samples, self.a, self.b, False)
        return filtered(forward[..., ::-1], self.a, self.b, given["clamp"])[..., ::-1]
