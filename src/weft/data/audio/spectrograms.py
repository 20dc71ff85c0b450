"""Operations on spectrograms and complex numbers: decibels, phases, masks, differences, normal forms."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from weft.data.audio.enums import BorderType, ScaleType
from weft.data.audio.sound_operation import NEEDED, Arg, SoundOperation, choice, flag, real, whole
from weft.data.audio.spectra import MODES, as_complex, in_decibels
from weft.data.randomness import generator


class AmplitudeToDB(SoundOperation):
    """Powers or magnitudes in decibels."""

    takes: ClassVar[dict[str, Arg]] = {
        "stype": choice(ScaleType.POWER, "whether they are powers or magnitudes."),
        "ref_value": real(1.0, "the value of 0 dB.", 0, above=True),
        "amin": real(1e-10, "the least value.", 0, above=True),
        "top_db": real(80.0, "by how much they may differ from the greatest.", 0, above=True),
    }
    least = 2

    def changed(self, samples: Any, **given: Any) -> Any:
        return in_decibels(samples, *given.values())


class DBToAmplitude(SoundOperation):
    """Powers or magnitudes of decibels."""

    takes: ClassVar[dict[str, Arg]] = {
        "ref": real(NEEDED, "the value of 0 dB."),
        "power": real(NEEDED, "1 for powers, 0.5 for magnitudes."),
    }

    def changed(self, samples: Any, **given: Any) -> Any:
        return given["ref"] * (10 ** (0.1 * samples.astype(np.float64))) ** given["power"]


class Angle(SoundOperation):
    """The angles of complex numbers."""

    complex = True

    def changed(self, samples: Any, **given: Any) -> Any:
        return np.angle(as_complex(samples))


class ComplexNorm(SoundOperation):
    """The magnitudes of complex numbers."""

    takes: ClassVar[dict[str, Arg]] = {"power": real(1.0, "their exponent.", 0)}
    complex = True

    def changed(self, samples: Any, **given: Any) -> Any:
        return np.abs(as_complex(samples)) ** given["power"]


class Magphase(SoundOperation):
    """The magnitudes and the angles of complex numbers."""

    takes: ClassVar[dict[str, Arg]] = {"power": real(1.0, "the exponent of the magnitudes.", 0)}
    complex = True

    def changed(self, samples: Any, **given: Any) -> Any:
        values = as_complex(samples)
        return np.abs(values) ** given["power"], np.angle(values)


class ComputeDeltas(SoundOperation):
    """How a spectrogram changes over time."""

    takes: ClassVar[dict[str, Arg]] = {
        "win_length": whole(5, "over how many places, at least 3.", 3),
        "pad_mode": choice(BorderType.EDGE, "what stands beyond the edges."),
    }
    least = 2

    def changed(self, samples: Any, **given: Any) -> Any:
        reach = (given["win_length"] - 1) // 2
        room = [(0, 0)] * (samples.ndim - 1) + [(reach, reach)]
        padded = np.pad(samples, room, mode=MODES[given["pad_mode"]])  # type: ignore[call-overload]
        pieces = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1, -1)
        return pieces @ np.arange(-reach, reach + 1) / (reach * (reach + 1) * (2 * reach + 1) / 3)


class SlidingWindowCmn(SoundOperation):
    """Takes away the mean of what is around; time is the last dimension but one."""

    takes: ClassVar[dict[str, Arg]] = {
        "cmn_window": whole(600, "over how many places the mean is taken."),
        "min_cmn_window": whole(100, "over how many at least, at the beginning."),
        "center": flag(False, "whether these are around the place, or before it."),
        "norm_vars": flag(False, "whether variances become 1."),
    }
    least = 2

    def changed(self, samples: Any, **given: Any) -> Any:
        window, total = given["cmn_window"], samples.shape[-2]
        values = samples.astype(np.float64)
        found = np.empty_like(values)
        for place in range(total):
            begin = place - window // 2 if given["center"] else place - window
            end = begin + window if given["center"] else place + 1
            if begin < 0:
                end, begin = end - begin, 0
            if not given["center"] and end > place:
                end = max(place + 1, given["min_cmn_window"])
            if end > total:
                begin, end = max(begin - (end - total), 0), total
            around = values[..., begin:end, :]
            found[..., place, :] = values[..., place, :] - around.mean(-2)
            if given["norm_vars"]:
                variance = around.var(-2)
                found[..., place, :] *= 0 if end - begin == 1 else 1 / np.sqrt(np.maximum(variance, 1e-300))
        return found


def _masked(samples: Any, axis: int, begin: int, width: int, value: float) -> Any:
    """Samples with a value at some places of the last dimension but one, or of the last."""
    found = samples.copy()
    if axis == 1:
        found[..., begin : begin + width, :] = value
    else:
        found[..., begin : begin + width] = value
    return found


class MaskAlongAxis(SoundOperation):
    """Puts a value at some frequencies or times."""

    takes: ClassVar[dict[str, Arg]] = {
        "mask_start": whole(NEEDED, "the first place."),
        "mask_width": whole(NEEDED, "how many places.", 1),
        "mask_value": real(NEEDED, "the value."),
        "axis": whole(NEEDED, "1 for frequencies, 2 for times.", 1, high=2),
    }
    least = 2

    def changed(self, samples: Any, **given: Any) -> Any:
        axis, begin, width = given["axis"], given["mask_start"], given["mask_width"]
        if begin + width > samples.shape[axis - 3]:
            raise self.wrong(f"the mask {begin} to {begin + width} goes beyond the {samples.shape[axis - 3]} places.")
        return _masked(samples, axis, begin, width, given["mask_value"])


def _masked_each(samples: Any, axis: int, most: int, value: float) -> Any:
    """Samples with a value at random places, others for each example and channel."""
    draw, length = generator(), samples.shape[axis - 3]
    flat = samples.reshape(-1, *samples.shape[-2:])
    found = []
    for each in flat:
        width = draw.random() * most
        begin = int(draw.random() * (length - width))
        found.append(_masked(each, axis, begin, int(width), value))
    return np.stack(found).reshape(samples.shape) if found else samples


class MaskAlongAxisIID(SoundOperation):
    """Puts a value at random frequencies or times, others for each example and channel."""

    takes: ClassVar[dict[str, Arg]] = {
        "mask_param": whole(NEEDED, "at how many places at most."),
        "mask_value": real(NEEDED, "the value."),
        "axis": whole(NEEDED, "1 for frequencies, 2 for times.", 1, high=2),
    }
    least = 2

    def changed(self, samples: Any, **given: Any) -> Any:
        axis, most = given["axis"], given["mask_param"]
        if most > samples.shape[axis - 3]:
            raise self.wrong(f"mask_param should be no more than {samples.shape[axis - 3]}, but got {most}.")
        return _masked_each(samples, axis, most, given["mask_value"])


class _Masking(SoundOperation):
    """A mask of frequencies or times."""

    axis: ClassVar[int]
    width: ClassVar[str]
    least = 2

    def changed(self, samples: Any, **given: Any) -> Any:
        most, length = given[self.width], samples.shape[self.axis - 3]
        if most > length or given["mask_start"] + most > length:
            raise self.wrong(f"{self.width} should be no more than the {length} places, but got {most}.")
        if given["iid_masks"]:
            return _masked_each(samples, self.axis, most, given["mask_value"])
        return _masked(samples, self.axis, given["mask_start"], most, given["mask_value"])


def _mask(width: str, what: str) -> dict[str, Arg]:
    return {
        "iid_masks": flag(False, "whether places are random, others for each example and channel."),
        width: whole(0, f"at how many {what}, or at how many at most."),
        "mask_start": whole(0, "the first of them, where they are not random."),
        "mask_value": real(0.0, "the value.", 0),
    }


class FrequencyMasking(_Masking):
    """Puts a value at some frequencies."""

    takes: ClassVar[dict[str, Arg]] = _mask("freq_mask_param", "frequencies")
    axis, width = 1, "freq_mask_param"


class TimeMasking(_Masking):
    """Puts a value at some times."""

    takes: ClassVar[dict[str, Arg]] = _mask("time_mask_param", "times")
    axis, width = 2, "time_mask_param"
