"""Effects on samples: louder, softer, distorted, delayed, dithered, and what is cut away where nobody speaks."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Final

import numpy as np

from weft.data.audio.enums import DensityFunction, FadeShape, GainType, Interpolation, Modulation
from weft.data.audio.filters import filtered
from weft.data.audio.sound_operation import NEEDED, Arg, SoundOperation, choice, clipped, flag, rate, real, whole
from weft.data.randomness import generator


class Contrast(SoundOperation):
    """Makes soft sounds louder."""

    takes: ClassVar[dict[str, Arg]] = {"enhancement_amount": real(75.0, "by how much, from 0 to 100.", 0, 100)}

    def changed(self, samples: Any, **given: Any) -> Any:
        angle = samples * (math.pi / 2)
        return np.sin(angle + given["enhancement_amount"] / 750 * np.sin(angle * 4))


class DCShift(SoundOperation):
    """Adds a number to all samples."""

    takes: ClassVar[dict[str, Arg]] = {
        "shift": real(NEEDED, "the number, from -2 to 2.", -2, 2),
        "limiter_gain": real(None, "how steep samples grow that would be too great; the number, if not given."),
    }

    def changed(self, samples: Any, **given: Any) -> Any:
        shift = given["shift"]
        gain = shift if given["limiter_gain"] is None else given["limiter_gain"]
        limit = 1 - (abs(shift) - gain)
        side = -1 if shift < 0 else 1
        with np.errstate(divide="ignore", invalid="ignore"):
            bent = (samples * side - limit) * gain / (1 - limit) + limit + abs(shift)
        over = (samples * side > limit) & (shift != 0)
        return np.where(over, side * np.minimum(bent, limit), clipped(samples + shift))


#: how loud it is after a part of the time, and how loud before the end
_FADES: Final[dict[FadeShape, tuple[Any, Any]]] = {
    FadeShape.LINEAR: (lambda x: x, lambda x: 1 - x),
    FadeShape.EXPONENTIAL: (lambda x: 2 ** (x - 1) * x, lambda x: 2**-x * (1 - x)),
    FadeShape.LOGARITHMIC: (lambda x: np.log10(0.1 + x) + 1, lambda x: np.log10(1.1 - x) + 1),
    FadeShape.QUARTER_SINE: (lambda x: np.sin(x * np.pi / 2), lambda x: np.sin(x * np.pi / 2 + np.pi / 2)),
    FadeShape.HALF_SINE: (
        lambda x: np.sin(x * np.pi - np.pi / 2) / 2 + 0.5,
        lambda x: np.sin(x * np.pi + np.pi / 2) / 2 + 0.5,
    ),
}


class Fade(SoundOperation):
    """Begins softly, and ends so."""

    takes: ClassVar[dict[str, Arg]] = {
        "fade_in_len": whole(0, "for how many samples it gets louder."),
        "fade_out_len": whole(0, "for how many it gets softer."),
        "fade_shape": choice(FadeShape.LINEAR, "how."),
    }

    def changed(self, samples: Any, **given: Any) -> Any:
        begin, end, length = given["fade_in_len"], given["fade_out_len"], samples.shape[-1]
        if begin > length or end > length:
            raise self.wrong(f"fades should be no longer than the {length} samples, but got {begin} and {end}.")
        rising, falling = _FADES[given["fade_shape"]]
        factors = np.ones(length)
        factors[:begin] = rising(np.linspace(0, 1, begin))
        factors[length - end :] *= falling(np.linspace(0, 1, end))
        return samples * factors


class Gain(SoundOperation):
    """Makes all louder by a number of decibels."""

    takes: ClassVar[dict[str, Arg]] = {"gain_db": real(1.0, "the number.")}

    def changed(self, samples: Any, **given: Any) -> Any:
        return samples * 10 ** (given["gain_db"] / 20)


class Vol(SoundOperation):
    """Makes all louder, and keeps it between -1 and 1."""

    takes: ClassVar[dict[str, Arg]] = {
        "gain": real(NEEDED, "by how much."),
        "gain_type": choice(GainType.AMPLITUDE, "what that is a factor of."),
    }

    def prepare(self, **given: Any) -> None:
        kind, gain = given["gain_type"], given["gain"]
        if kind == GainType.AMPLITUDE and gain < 0:
            raise ValueError(f"If gain_type is GainType.AMPLITUDE, gain should be no less than 0, but got {gain}.")
        if kind == GainType.POWER and gain <= 0:
            raise ValueError(f"If gain_type is GainType.POWER, gain should be greater than 0, but got {gain}.")

    def changed(self, samples: Any, **given: Any) -> Any:
        gain = given["gain"]
        if given["gain_type"] == GainType.DB:
            gain = 10 ** (gain / 20)
        elif given["gain_type"] == GainType.POWER:
            gain = math.sqrt(gain)
        return clipped(samples * gain)


class Overdrive(SoundOperation):
    """Distorts, as amplifiers do that are turned up."""

    takes: ClassVar[dict[str, Arg]] = {
        "gain": real(20.0, "by how much it is louder, in dB, from 0 to 100.", 0, 100),
        "color": real(20.0, "how much of even harmonics, from 0 to 100.", 0, 100),
    }

    def changed(self, samples: Any, **given: Any) -> Any:
        bent = samples * 10 ** (given["gain"] / 20) + given["color"] / 200
        bent = np.where(np.abs(bent) > 1, np.sign(bent) * (2 / 3), bent - bent**3 / 3)
        return clipped(samples * 0.5 + filtered(bent, [1, -0.995], [1, -1], False) * 0.75)


def _slow_wave(kind: Modulation, length: int, low: float, high: float, phase: float) -> Any:
    """One period of a slow wave between two numbers."""
    places = (np.arange(length) + int(phase / math.pi / 2 * length + 0.5)) % length
    if kind == Modulation.SINUSOIDAL:
        wave = (np.sin(places / length * 2 * math.pi) + 1) / 2
    else:
        wave, quarter = places * 2.0 / length, 4 * places // length
        wave = np.where(quarter == 0, wave + 0.5, np.where(quarter == 3, wave - 1.5, 1.5 - wave))
    return wave * (high - low) + low


class Flanger(SoundOperation):
    """Adds the sound to itself after a delay that changes slowly; the input is channels by time."""

    takes: ClassVar[dict[str, Arg]] = {
        "sample_rate": rate(),
        "delay": real(0.0, "the least delay, in ms, from 0 to 30.", 0, 30),
        "depth": real(2.0, "by how much it changes, in ms, from 0 to 10.", 0, 10),
        "regen": real(0.0, "how much is delayed again, in percent, from -95 to 95.", -95, 95),
        "width": real(71.0, "how much is added, in percent, from 0 to 100.", 0, 100),
        "speed": real(0.5, "how often it changes in a second, from 0.1 to 10.", 0.1, 10),
        "phase": real(25.0, "how far channels are apart, in percent of a period.", 0, 100),
        "modulation": choice(Modulation.SINUSOIDAL, "how it changes."),
        "interpolation": choice(Interpolation.LINEAR, "how values between samples are made."),
    }
    least = 2

    def changed(self, samples: Any, **given: Any) -> Any:
        sample_rate, low, depth = given["sample_rate"], given["delay"] / 1000, given["depth"] / 1000
        back, added = given["regen"] / 100, given["width"] / 100
        kept = 1 / (1 + added)
        added = added / (1 + added) * (1 - abs(back))
        size = int((low + depth) * sample_rate + 0.5) + 2
        period = int(sample_rate / given["speed"])
        delays = _slow_wave(
            given["modulation"], period, math.floor(low * sample_rate + 0.5), size - 2.0, 3 * math.pi / 2
        )
        channels = samples.reshape(-1, *samples.shape[-2:]).astype(np.float64)
        count = channels.shape[1]
        apart = (np.arange(count) * period * given["phase"] / 100 + 0.5).astype(np.int64)
        buffers = np.zeros((len(channels), count, size))
        found, last, at = np.empty_like(channels), np.zeros(channels.shape[:2]), 0
        every = np.arange(count)
        quadratic = given["interpolation"] == Interpolation.QUADRATIC
        for time in range(channels.shape[-1]):
            at = (at + size - 1) % size
            delay = delays[(time + apart) % period]
            begin = delay.astype(np.int64)
            part, now = delay - begin, channels[..., time]
            buffers[..., at] = now + last * back
            first, second, third = (buffers[:, every, (at + begin + step) % size] for step in range(3))
            if quadratic:
                third, second = third - first, second - first
                bend = third * 0.5 - second
                last = first + (bend * part + second * 2 - third * 0.5) * part
            else:
                last = first + (second - first) * part
            found[..., time] = now * kept + last * added
        return clipped(found).reshape(samples.shape)


class Phaser(SoundOperation):
    """Adds the sound to itself after a delay that changes slowly, again and again."""

    takes: ClassVar[dict[str, Arg]] = {
        "sample_rate": Arg(int, NEEDED, "samples a second."),
        "gain_in": real(0.4, "how loud the input is, from 0 to 1.", 0, 1),
        "gain_out": real(0.74, "how loud the output is, from 0 to 1e9.", 0, 1e9),
        "delay_ms": real(3.0, "the greatest delay, in ms, from 0 to 5.", 0, 5),
        "decay": real(0.4, "how much is delayed again, from 0 to 0.99.", 0, 0.99),
        "mod_speed": real(0.5, "how often it changes in a second, from 0.1 to 2.", 0.1, 2),
        "sinusoidal": flag(True, "whether it changes like a sine, or like a triangle."),
    }

    def changed(self, samples: Any, **given: Any) -> Any:
        size = int(given["delay_ms"] * 0.001 * given["sample_rate"] + 0.5)
        period = int(given["sample_rate"] / given["mod_speed"] + 0.5)
        if size < 1 or period < 1:
            raise self.wrong("sample_rate is too small for the delay and the speed.")
        kind = Modulation.SINUSOIDAL if given["sinusoidal"] else Modulation.TRIANGULAR
        delays = (_slow_wave(kind, period, 1.0, float(size), math.pi / 2) + 0.5).astype(np.int64)
        buffer = np.zeros((*samples.shape[:-1], size))
        found, at = np.empty(samples.shape), 0
        for time in range(samples.shape[-1]):
            place = (at + delays[time % period]) % size
            at = (at + 1) % size
            found[..., time] = samples[..., time] * given["gain_in"] + buffer[..., place]
            buffer[..., at] = found[..., time] * given["decay"]
        return clipped(found * given["gain_out"])


class MuLawEncoding(SoundOperation):
    """Samples between -1 and 1 as integers, finer near 0."""

    takes: ClassVar[dict[str, Arg]] = {"quantization_channels": whole(256, "how many integers.", 0, above=True)}

    def apply(self, *columns: Any) -> Any:
        samples, most = columns[0], self.given["quantization_channels"] - 1.0
        bent = np.sign(samples) * np.log1p(most * np.abs(samples)) / np.log1p(most)
        return ((bent + 1) / 2 * most + 0.5).astype(np.int32)


class MuLawDecoding(SoundOperation):
    """Samples of the integers that `MuLawEncoding` makes."""

    takes: ClassVar[dict[str, Arg]] = {"quantization_channels": whole(256, "how many integers.", 0, above=True)}

    def changed(self, samples: Any, **given: Any) -> Any:
        most = given["quantization_channels"] - 1.0
        bent = samples / most * 2 - 1
        return np.sign(bent) * np.expm1(np.abs(bent) * np.log1p(most)) / most


class Dither(SoundOperation):
    """Adds noise before samples are rounded to 16 bits, so that rounding is not heard."""

    takes: ClassVar[dict[str, Arg]] = {
        "density_function": choice(DensityFunction.TPDF, "how the noise is distributed."),
        "noise_shaping": flag(False, "whether the error of rounding is added to the next sample."),
    }

    def changed(self, samples: Any, **given: Any) -> Any:
        draw, length = generator(), samples.shape[-1]
        flat = samples.reshape(-1, length)
        kind = given["density_function"]
        if kind == DensityFunction.TPDF:
            noise = np.bartlett(length + 1)[:-1] if length > 1 else np.zeros(length)
        elif kind == DensityFunction.RPDF:
            noise = flat[draw.integers(len(flat)), draw.integers(length)] - 0.5
        else:
            noise = flat[draw.integers(len(flat)), draw.integers(length, size=7)].sum()
        found = np.round(samples * 32768.0 + noise) / 32768
        if given["noise_shaping"]:
            found[..., 1:] += (found - samples)[..., :-1]
        return found


class DetectPitchFrequency(SoundOperation):
    """The pitch over time, where the sound is most like itself after a delay."""

    gives = np.float32
    takes: ClassVar[dict[str, Arg]] = {
        "sample_rate": rate(),
        "frame_time": real(0.01, "length of a piece, in seconds.", 0, above=True),
        "win_length": whole(30, "of how many pieces the median is taken.", 0, above=True),
        "freq_low": whole(85, "the lowest pitch, in Hz.", 0, above=True),
        "freq_high": whole(3400, "the highest pitch.", 0, above=True),
    }

    def changed(self, samples: Any, **given: Any) -> Any:
        sample_rate, window = given["sample_rate"], given["win_length"]
        size, length = math.ceil(sample_rate * given["frame_time"]), samples.shape[-1]
        longest, shortest = math.ceil(sample_rate / given["freq_low"]), math.ceil(sample_rate / given["freq_high"])
        count = math.ceil(length / size)
        room = [(0, 0)] * (samples.ndim - 1) + [(0, longest + count * size - length)]
        padded = np.pad(samples.astype(np.float64), room)
        pieces = padded[..., : count * size].reshape(*samples.shape[:-1], count, size)
        alike = []
        for lag in range(1, longest + 1):
            later = padded[..., lag : lag + count * size].reshape(pieces.shape)
            sizes = (1e-9 + np.linalg.norm(pieces, axis=-1)) ** 2 * (1e-9 + np.linalg.norm(later, axis=-1)) ** 2
            alike.append((pieces * later).sum(-1) / sizes)
        scores = np.stack(alike, -1)
        half = scores.shape[-1] // 2
        if shortest >= half or count - 1 + (window - 1) // 2 < window - 1:
            raise self.wrong(f"the {length} samples are too few for these frequencies and win_length.")
        near, far = scores[..., shortest:half], scores[..., shortest:]
        # a delay of half the length is the pitch where it is nearly as good
        best = np.where(near.max(-1) > 0.99 * far.max(-1), near.argmax(-1), far.argmax(-1)) + shortest + 1
        before = (window - 1) // 2
        wider = np.concatenate([np.repeat(best[..., :1], before, -1), best], -1)
        around = np.sort(np.lib.stride_tricks.sliding_window_view(wider, window, -1), -1)
        return sample_rate / (1e-9 + around[..., (window - 1) // 2])


class Vad(SoundOperation):
    """What is there from the moment when somebody speaks."""

    takes: ClassVar[dict[str, Arg]] = {
        "sample_rate": Arg(int, NEEDED, "samples a second.", 0, above=True),
        "trigger_level": real(7.0, "from which level on it is speech."),
        "trigger_time": real(0.25, "for how long, in seconds, it must be.", 0),
        "search_time": real(1.0, "how far back softer speech is looked for.", 0),
        "allowed_gap": real(0.25, "how long pauses in it may be.", 0),
        "pre_trigger_time": real(0.0, "how much before is kept.", 0),
        "boot_time": real(0.35, "for how long the noise is measured first.", 0),
        "noise_up_time": real(0.1, "how fast the noise is taken to grow.", 0),
        "noise_down_time": real(0.01, "how fast it is taken to fall.", 0),
        "noise_reduction_amount": real(1.35, "how much of the noise is taken away.", 0),
        "measure_freq": real(20.0, "how many measurements in a second.", 0, above=True),
        "measure_duration": real(None, "how long one takes; twice the time between two, if not given.", 0),
        "measure_smooth_time": real(0.4, "over which time they are smoothed.", 0),
        "hp_filter_freq": real(50.0, "the lowest frequency that is measured, in Hz.", 0, above=True),
        "lp_filter_freq": real(6000.0, "the highest.", 0, above=True),
        "hp_lifter_freq": real(150.0, "the lowest pitch.", 0, above=True),
        "lp_lifter_freq": real(2000.0, "the highest.", 0, above=True),
    }

    def prepare(self, **given: Any) -> None:
        if given["noise_up_time"] <= given["noise_down_time"]:
            raise ValueError(
                f"noise_up_time should be greater than noise_down_time, but got {given['noise_up_time']} and "
                f"{given['noise_down_time']}."
            )

    def changed(self, samples: Any, **given: Any) -> Any:
        channels = samples.reshape(-1, samples.shape[-1]).astype(np.float64)
        return samples[..., _Speech(len(channels), given).begin(channels) :]


class _Speech:
    """Measures whether somebody speaks, piece by piece."""

    def __init__(self, channels: int, given: dict[str, Any]) -> None:
        sample_rate, often = given["sample_rate"], given["measure_freq"]
        duration = 2 / often if given["measure_duration"] is None else given["measure_duration"]
        self.given = given
        self.length = int(sample_rate * duration + 0.5)
        self.size = 16
        while self.size < self.length:
            self.size *= 2
        self.period = int(sample_rate / often + 0.5)
        self.count = math.ceil(given["search_time"] * often)
        self.gap = int(given["allowed_gap"] * often + 0.5)
        self.before = int(given["pre_trigger_time"] * sample_rate + 0.5) + self.count * self.period + self.length
        self.low = max(int(given["hp_filter_freq"] / sample_rate * self.size + 0.5), 1)
        self.high = min(int(given["lp_filter_freq"] / sample_rate * self.size + 0.5), self.size // 2)
        self.first = math.ceil(sample_rate * 0.5 / given["lp_lifter_freq"])
        self.last = min(math.floor(sample_rate * 0.5 / given["hp_lifter_freq"]), self.size // 4)
        self.window = 2 / math.sqrt(self.length) * _bell(self.length)
        self.cepstral = 2 / math.sqrt(max(self.high - self.low, 1)) * _bell(max(self.high - self.low, 0))
        times = ("noise_up_time", "noise_down_time", "measure_smooth_time", "trigger_time")
        self.up, self.down, self.smooth, self.trigger = (_decay(given[name] * often) for name in times)
        self.boots = int(given["boot_time"] * often - 0.5)
        self.spectrum = np.zeros((channels, self.size))
        self.noise = np.zeros((channels, self.size))

    def begin(self, channels: Any) -> int:
        """The first sample that is kept; where nobody speaks, as many are kept as are searched."""
        measures = np.zeros((len(channels), self.count))
        mean, at, boot = np.zeros(len(channels)), 0, 0
        level, flushed = self.given["trigger_level"], 0
        for end in range(self.length, channels.shape[-1], self.period):
            speaks = False
            for number, channel in enumerate(channels):
                measure = self.measured(number, channel[end - self.length : end], boot)
                measures[number, at] = measure
                mean[number] = mean[number] * self.trigger + measure * (1 - self.trigger)
                speaks = speaks or mean[number] >= level
                if speaks:
                    flushed = min(max(flushed, self.looked_back(measures[number], at, level)), self.count)
            at = (at + 1) % self.count
            if boot >= 0:
                boot = -1 if boot == self.boots else boot + 1
            if speaks:
                return max(end - self.before + (self.count - flushed) * self.period, 0)
        return int(max(channels.shape[-1] - self.before, 0))

    def looked_back(self, measures: Any, at: int, level: float) -> int:
        """How many measurements before one belong to the same speech."""
        trigger = zero = self.count
        place = 0
        for place in range(self.count):
            value = measures[(at - place) % self.count]
            if value >= level and place <= trigger + self.gap:
                trigger = zero = place
            elif value == 0 and trigger >= zero:
                zero = place
        return min(place, zero)

    def measured(self, number: int, samples: Any, boot: int) -> float:
        """How much a piece sounds like speech."""
        part = slice(self.low, self.high)
        found = np.abs(np.fft.rfft(samples * self.window, self.size))[part]
        keep = boot / (1 + boot) if boot >= 0 else self.smooth
        spectrum, noise = self.spectrum[number], self.noise[number]
        spectrum[part] = spectrum[part] * keep + found * (1 - keep)
        power = spectrum[part] ** 2
        hold = 0.0 if boot >= 0 else np.where(power > noise[part], self.up, self.down)
        noise[part] = noise[part] * hold + power * (1 - hold)
        clear = np.sqrt(np.maximum(power - self.given["noise_reduction_amount"] * noise[part], 0))
        cepstrum = np.zeros(self.size // 2)
        cepstrum[part] = clear * self.cepstral
        result = (np.abs(np.fft.rfft(cepstrum))[self.first : self.last] ** 2).sum()
        return max(0.0, 21 + math.log(result / (self.last - self.first))) if result > 0 else 0.0


def _bell(length: int) -> Any:
    return np.hanning(length + 1)[:-1]


def _decay(times: float) -> float:
    return math.exp(-1 / times) if times > 0 else 0.0
