"""From samples to spectra and back: spectrograms, filter banks, cepstra, stretching and resampling."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Final

import numpy as np

from weft.data import checks
from weft.data.audio.enums import BorderType, MelType, NormMode, NormType, ResampleMethod, ScaleType, WindowType
from weft.data.audio.sound_operation import NEEDED, Arg, SoundOperation, choice, flag, rate, real, whole
from weft.data.randomness import generator

#: how NumPy calls what stands beyond the edges
MODES: Final = {
    BorderType.CONSTANT: "constant",
    BorderType.EDGE: "edge",
    BorderType.REFLECT: "reflect",
    BorderType.SYMMETRIC: "symmetric",
}


def window_of(kind: WindowType, length: int) -> Any:
    """A window that repeats after its length.

    Args:
        kind: its form.
        length: its length.
    """
    if kind == WindowType.KAISER:
        return np.kaiser(length + 1, 12.0)[:-1]
    made = {"bartlett": np.bartlett, "blackman": np.blackman, "hamming": np.hamming, "hann": np.hanning}[kind.value]
    return made(length + 1)[:-1] if length > 1 else np.ones(length)


def centred(window: Any, n_fft: int) -> Any:
    """A window with zeros on both sides.

    Args:
        window: the window.
        n_fft: the length of the result.
    """
    left = (n_fft - len(window)) // 2
    return np.pad(window, (left, n_fft - len(window) - left))


def transformed(samples: Any, n_fft: int, hop: int, window: Any, center: bool, mode: str, onesided: bool) -> Any:
    """The Fourier transforms of pieces of samples: frequencies, then time.

    Args:
        samples: the samples.
        n_fft: length of a piece.
        hop: how far pieces are apart.
        window: what a piece is multiplied by.
        center: whether pieces are around their places.
        mode: what stands beyond the edges.
        onesided: whether only the frequencies that are not given by the others.
    """
    if center:
        room = [(0, 0)] * (samples.ndim - 1) + [(n_fft // 2, n_fft // 2)]
        samples = np.pad(samples, room, mode=mode)  # type: ignore[call-overload]
    pieces = np.lib.stride_tricks.sliding_window_view(samples, n_fft, -1)[..., ::hop, :] * window
    found = np.fft.rfft(pieces) if onesided else np.fft.fft(pieces)
    return np.swapaxes(found, -1, -2)


def untransformed(
    spectrum: Any, n_fft: int, hop: int, window: Any, center: bool, length: int | None, onesided: bool = True
) -> Any:
    """The samples of which `transformed` made a spectrum.

    Args:
        spectrum: frequencies, then time.
        n_fft: length of a piece.
        hop: how far pieces are apart.
        window: what a piece was multiplied by.
        center: whether pieces are around their places.
        length: how many samples.
        onesided: whether only the frequencies are there that are not given by the others.
    """
    columns = np.swapaxes(spectrum, -1, -2)
    pieces = np.fft.irfft(columns, n_fft) if onesided else np.fft.ifft(columns, n_fft).real
    count = pieces.shape[-2]
    found = np.zeros((*pieces.shape[:-2], n_fft + hop * (count - 1)))
    weight = np.zeros(found.shape[-1])
    for place in range(count):
        found[..., place * hop : place * hop + n_fft] += pieces[..., place, :] * window
        weight[place * hop : place * hop + n_fft] += window**2
    begin = n_fft // 2 if center else 0
    end = found.shape[-1] - begin if length is None else begin + length
    found, weight = found[..., begin:end], weight[begin:end]
    found = np.divide(found, weight, out=found.copy(), where=weight > 1e-11)
    missing = 0 if length is None else length - found.shape[-1]
    return np.pad(found, [(0, 0)] * (found.ndim - 1) + [(0, missing)]) if missing > 0 else found


def as_complex(pairs: Any) -> Any:
    """Complex numbers of pairs."""
    return pairs[..., 0] + 1j * pairs[..., 1]


def as_pairs(values: Any) -> Any:
    """Pairs of complex numbers."""
    return np.stack([values.real, values.imag], -1)


_FRAMES: Final = {
    "n_fft": whole(400, "length of a piece.", 0, above=True),
    "win_length": whole(None, "length of the window; that of a piece, if not given.", 0, above=True),
    "hop_length": whole(None, "how far pieces are apart; half a window, if not given.", 0, above=True),
}
_PAD: Final = whole(0, "how many zeros are put at both ends.")
_WINDOW: Final = choice(WindowType.HANN, "the form of the window.")
_NORMALIZED: Final = flag(False, "whether the spectrum is divided by the size of the window.")
_CENTER: Final = flag(True, "whether pieces are around their places.")
_PAD_MODE: Final = choice(BorderType.REFLECT, "what stands beyond the edges.")
_ONESIDED: Final = flag(True, "whether only the frequencies that are not given by the others.")


def _lengths(n_fft: int, win_length: int | None, hop_length: int | None, part: int = 2) -> tuple[int, int]:
    """The lengths of the window and of a hop."""
    window = n_fft if win_length is None else win_length
    if window > n_fft:
        raise ValueError(f"Input win_length should be no more than n_fft, but got {window} and {n_fft}.")
    return window, window // part if hop_length is None else hop_length


class Spectrogram(SoundOperation):
    """The power of each frequency over time."""

    takes: ClassVar[dict[str, Arg]] = {
        **_FRAMES,
        "pad": _PAD,
        "window": _WINDOW,
        "power": real(2.0, "exponent of the magnitudes; 0 for complex numbers.", 0),
        "normalized": _NORMALIZED,
        "center": _CENTER,
        "pad_mode": _PAD_MODE,
        "onesided": _ONESIDED,
    }

    def prepare(self, **given: Any) -> None:
        n_fft = given["n_fft"]
        length, self.hop = _lengths(n_fft, given["win_length"], given["hop_length"])
        self.weights = centred(window_of(given["window"], length), n_fft)

    def changed(self, samples: Any, **given: Any) -> Any:
        if given["pad"]:
            samples = np.pad(samples, [(0, 0)] * (samples.ndim - 1) + [(given["pad"], given["pad"])])
        n_fft = given["n_fft"]
        if samples.shape[-1] < (1 if given["center"] else n_fft):
            raise self.wrong(f"n_fft should be no more than the number of samples, but got {n_fft}.")
        mode = MODES[given["pad_mode"]]
        found = transformed(samples, n_fft, self.hop, self.weights, given["center"], mode, given["onesided"])
        if given["normalized"]:
            found = found / math.sqrt((self.weights**2).sum())
        return as_pairs(found) if given["power"] == 0 else np.abs(found) ** given["power"]


class InverseSpectrogram(SoundOperation):
    """The samples of a complex spectrogram."""

    takes: ClassVar[dict[str, Arg]] = {
        "length": whole(None, "how many samples are given; all, if not given."),
        **_FRAMES,
        "pad": _PAD,
        "window": _WINDOW,
        "normalized": _NORMALIZED,
        "center": _CENTER,
        "pad_mode": _PAD_MODE,
        "onesided": _ONESIDED,
    }
    least = 3
    complex = True

    def prepare(self, **given: Any) -> None:
        length, self.hop = _lengths(given["n_fft"], given["win_length"], given["hop_length"])
        self.weights = centred(window_of(given["window"], length), given["n_fft"])

    def changed(self, samples: Any, **given: Any) -> Any:
        spectrum, n_fft, pad = as_complex(samples), given["n_fft"], given["pad"]
        if spectrum.shape[-2] != (n_fft // 2 + 1 if given["onesided"] else n_fft):
            raise self.wrong(f"the input has {spectrum.shape[-2]} frequencies, which are not those of n_fft {n_fft}.")
        if given["normalized"]:
            spectrum = spectrum * math.sqrt((self.weights**2).sum())
        length = None if given["length"] is None else given["length"] + 2 * pad
        found = untransformed(spectrum, n_fft, self.hop, self.weights, given["center"], length, given["onesided"])
        return found[..., pad : found.shape[-1] - pad] if length is not None and pad else found


class GriffinLim(SoundOperation):
    """Samples whose spectrogram is as given, found step by step."""

    takes: ClassVar[dict[str, Arg]] = {
        "n_fft": _FRAMES["n_fft"],
        "n_iter": whole(32, "how many steps.", 0, above=True),
        "win_length": whole(None, "length of the window; that of a piece, if not given."),
        "hop_length": whole(None, "how far pieces are apart; half a window, if not given."),
        "window_type": _WINDOW,
        "power": real(2.0, "exponent of the magnitudes.", 0, above=True),
        "momentum": real(0.99, "how much a step goes on with the one before.", 0),
        "length": whole(None, "how many samples are given; all, if not given."),
        "rand_init": flag(True, "whether the first phases are random, or zero."),
    }
    least = 2

    def prepare(self, **given: Any) -> None:
        length, self.hop = _lengths(given["n_fft"], given["win_length"] or None, given["hop_length"] or None)
        self.weights = centred(window_of(given["window_type"], length), given["n_fft"])

    def changed(self, samples: Any, **given: Any) -> Any:
        n_fft = given["n_fft"]
        if samples.shape[-2] != n_fft // 2 + 1:
            raise self.wrong(f"the input has {samples.shape[-2]} frequencies, which are not those of n_fft {n_fft}.")
        if given["length"] is not None and given["length"] <= n_fft:
            raise self.wrong(f"length should be greater than n_fft, but got {given['length']} and {n_fft}.")
        # as MindSpore reads it: m / (1 + m), and that once more
        momentum = given["momentum"] / (1 + 2 * given["momentum"])
        magnitudes = samples.astype(np.float64) ** (1 / given["power"])
        angles = np.ones(samples.shape, np.complex128)
        if given["rand_init"]:
            draw = generator()
            angles = draw.random(samples.shape) + 1j * draw.random(samples.shape)
        before: Any = 0.0
        for _ in range(given["n_iter"]):
            found = untransformed(magnitudes * angles, n_fft, self.hop, self.weights, True, given["length"])
            now = transformed(found, n_fft, self.hop, self.weights, True, "reflect", True)[..., : samples.shape[-1]]
            missing = samples.shape[-1] - now.shape[-1]
            now = np.pad(now, [(0, 0)] * (now.ndim - 1) + [(0, missing)])
            angles = now - momentum * before
            angles = angles / (np.abs(angles) + 1e-16)
            before = now
        return untransformed(magnitudes * angles, n_fft, self.hop, self.weights, True, given["length"])


def _to_mel(frequency: Any, mel_type: MelType) -> Any:
    frequency = np.asarray(frequency, np.float64)
    if mel_type == MelType.HTK:
        return 2595 * np.log10(1 + frequency / 700)
    # even up to 1000 Hz, then by factors
    with np.errstate(divide="ignore"):
        above = 15 + np.log(np.maximum(frequency, 1e-30) / 1000) / (math.log(6.4) / 27)
    return np.where(frequency >= 1000, above, frequency / (200 / 3))


def _from_mel(mel: Any, mel_type: MelType) -> Any:
    if mel_type == MelType.HTK:
        return 700 * (10 ** (mel / 2595) - 1)
    return np.where(mel >= 15, 1000 * np.exp(math.log(6.4) / 27 * (mel - 15)), mel * 200 / 3)


def _triangles(frequencies: Any, corners: Any) -> Any:
    """Triangles over frequencies, each from one corner over the next to that after it."""
    widths = np.diff(corners)
    slopes = corners[None] - frequencies[:, None]
    return np.maximum(0, np.minimum(-slopes[:, :-2] / widths[:-1], slopes[:, 2:] / widths[1:]))


def _mel_bank(
    n_freqs: int, f_min: float, f_max: float, n_mels: int, sample_rate: int, norm: NormType, mel_type: MelType
) -> Any:
    corners = _from_mel(np.linspace(_to_mel(f_min, mel_type), _to_mel(f_max, mel_type), n_mels + 2), mel_type)
    bank = _triangles(np.linspace(0, sample_rate // 2, n_freqs), corners)
    if norm == NormType.SLANEY:
        bank = bank * (2 / (corners[2:] - corners[:-2]))
    return bank


def _checked_bank(f_min: float, f_max: float, **counts: Any) -> None:
    for name, value in counts.items():
        checks.of_type(value, int, name)
        checks.within(value, 0, checks.INT32_MAX, name, without_low=name != "n_freqs")
    for name, value in (("f_min", f_min), ("f_max", f_max)):
        checks.of_type(value, (int, float), name)
    if f_max < 0:
        raise ValueError(f"Input f_max with value {f_max} is not within the required interval of [0, inf).")
    if f_min > f_max:
        raise ValueError(f"MelScaleFbanks: f_min should be less than f_max, but got {f_min} and {f_max}.")


def melscale_fbanks(
    n_freqs: int,
    f_min: float,
    f_max: float,
    n_mels: int,
    sample_rate: int,
    norm: NormType = NormType.NONE,
    mel_type: MelType = MelType.HTK,
) -> Any:
    """Triangles that are even on the scale of pitch.

    Args:
        n_freqs: how many frequencies there are.
        f_min: the lowest, in Hz.
        f_max: the highest.
        n_mels: how many triangles.
        sample_rate: samples a second.
        norm: whether they have the same area.
        mel_type: the scale.

    Returns:
        numpy.ndarray: frequencies by triangles.
    """
    _checked_bank(f_min, f_max, n_freqs=n_freqs, n_mels=n_mels, sample_rate=sample_rate)
    checks.of_type(norm, NormType, "norm")
    checks.of_type(mel_type, MelType, "mel_type")
    return _mel_bank(n_freqs, f_min, f_max, n_mels, sample_rate, norm, mel_type).astype(np.float32)


def linear_fbanks(n_freqs: int, f_min: float, f_max: float, n_filter: int, sample_rate: int) -> Any:
    """Triangles that are even in frequency.

    Args:
        n_freqs: how many frequencies there are.
        f_min: the lowest, in Hz.
        f_max: the highest.
        n_filter: how many triangles.
        sample_rate: samples a second.

    Returns:
        numpy.ndarray: frequencies by triangles.
    """
    _checked_bank(f_min, f_max, n_freqs=n_freqs, n_filter=n_filter, sample_rate=sample_rate)
    if f_min < 0:
        raise ValueError(f"Input f_min with value {f_min} is not within the required interval of [0, inf).")
    frequencies = np.linspace(0, sample_rate // 2, n_freqs)
    return _triangles(frequencies, np.linspace(f_min, f_max, n_filter + 2)).astype(np.float32)


def create_dct(n_mfcc: int, n_mels: int, norm: NormMode = NormMode.NONE) -> Any:
    """The matrix of a cosine transform.

    Args:
        n_mfcc: how many coefficients are kept.
        n_mels: how many values there are.
        norm: whether it is orthonormal.

    Returns:
        numpy.ndarray: values by coefficients.
    """
    for name, value in (("n_mfcc", n_mfcc), ("n_mels", n_mels)):
        checks.integer(value, name)
    checks.of_type(norm, NormMode, "norm")
    matrix = np.cos(math.pi / n_mels * (np.arange(n_mels)[:, None] + 0.5) * np.arange(n_mfcc))
    if norm == NormMode.ORTHO:
        matrix[:, 0] /= math.sqrt(2)
        return (matrix * math.sqrt(2 / n_mels)).astype(np.float32)
    return (matrix * 2).astype(np.float32)


_BANK: Final = {
    "n_mels": whole(128, "how many bands.", 0, above=True),
    "sample_rate": Arg(int, 16000, "samples a second.", 0, above=True),
    "f_min": real(0.0, "the lowest frequency, in Hz."),
    "f_max": real(None, "the highest frequency; half the samples a second, if not given.", 0),
}
_NORM: Final = choice(NormType.NONE, "whether bands have the same area.")
_MEL_TYPE: Final = choice(MelType.HTK, "the scale of pitch.")


def _range(given: dict[str, Any]) -> tuple[float, float]:
    """The lowest and the highest frequency, which must be in order."""
    low, high = given["f_min"], given["f_max"]
    if high is None:
        high = float(given["sample_rate"] // 2)
    if low >= high:
        raise ValueError(f"f_min should be less than f_max, but got {low} and {high}.")
    return low, high


class MelScale(SoundOperation):
    """A spectrogram in bands that are even on the scale of pitch."""

    takes: ClassVar[dict[str, Arg]] = {
        **_BANK,
        "n_stft": whole(201, "how many frequencies there are.", 0, above=True),
        "norm": _NORM,
        "mel_type": _MEL_TYPE,
    }
    least = 2

    def prepare(self, **given: Any) -> None:
        low, high = _range(given)
        names = ("n_mels", "sample_rate", "norm", "mel_type")
        self.bank = _mel_bank(given["n_stft"], low, high, *[given[name] for name in names])

    def changed(self, samples: Any, **given: Any) -> Any:
        if samples.shape[-2] != len(self.bank):
            raise self.wrong(f"n_stft should be {samples.shape[-2]}, the number of frequencies, not {len(self.bank)}.")
        return self.bank.T @ samples


class InverseMelScale(SoundOperation):
    """The spectrogram that is nearest to having the bands that are given."""

    takes: ClassVar[dict[str, Arg]] = {
        "n_stft": whole(NEEDED, "how many frequencies there are.", 0, above=True),
        **_BANK,
        "max_iter": whole(100000, "kept.", 0, above=True),
        "tolerance_loss": real(1e-5, "kept.", 0),
        "tolerance_change": real(1e-8, "kept.", 0),
        "sgdargs": Arg(dict, None, "kept."),
        "norm": _NORM,
        "mel_type": _MEL_TYPE,
    }
    least = 2

    def prepare(self, **given: Any) -> None:
        low, high = _range(given)
        names = ("n_mels", "sample_rate", "norm", "mel_type")
        bank = _mel_bank(given["n_stft"], low, high, *[given[name] for name in names])
        self.inverse = np.linalg.pinv(bank.T)

    def changed(self, samples: Any, **given: Any) -> Any:
        if samples.shape[-2] != given["n_mels"]:
            raise self.wrong(f"n_mels should be {samples.shape[-2]}, the number of bands, not {given['n_mels']}.")
        return np.maximum(self.inverse @ samples, 0)


class MelSpectrogram(SoundOperation):
    """The spectrogram of samples in bands that are even on the scale of pitch."""

    takes: ClassVar[dict[str, Arg]] = {
        "sample_rate": Arg(int, 16000, "samples a second.", 0),
        **_FRAMES,
        "f_min": _BANK["f_min"],
        "f_max": _BANK["f_max"],
        "pad": _PAD,
        "n_mels": whole(128, "how many bands."),
        "window": _WINDOW,
        "power": real(2.0, "exponent of the magnitudes.", 0, above=True),
        "normalized": _NORMALIZED,
        "center": _CENTER,
        "pad_mode": _PAD_MODE,
        "onesided": _ONESIDED,
        "norm": _NORM,
        "mel_scale": _MEL_TYPE,
    }

    def prepare(self, **given: Any) -> None:
        self.spectrum = Spectrogram(**{name: given[name] for name in Spectrogram.takes})
        n_fft = given["n_fft"]
        self.scale = MelScale(
            n_stft=n_fft // 2 + 1 if given["onesided"] else n_fft,
            mel_type=given["mel_scale"],
            **{name: given[name] for name in ("n_mels", "sample_rate", "f_min", "f_max", "norm")},
        )

    def changed(self, samples: Any, **given: Any) -> Any:
        return self.scale.changed(self.spectrum.changed(samples, **self.spectrum.given))


def in_decibels(values: Any, scale: ScaleType, reference: float, least: float, most: float | None) -> Any:
    """Values in decibels.

    Args:
        values: powers or magnitudes.
        scale: which of these.
        reference: the value of 0 dB.
        least: the least value.
        most: by how much they may differ from the greatest.
    """
    factor = 10.0 if scale == ScaleType.POWER else 20.0
    found = factor * np.log10(np.maximum(values, least)) - factor * math.log10(max(least, reference))
    if most is None:
        return found
    axes = tuple(range(-min(values.ndim, 3), 0))
    return np.maximum(found, found.max(axes, keepdims=True) - most)


class _Cepstrum(SoundOperation):
    """The cosine transform of the logarithm of bands of a spectrogram."""

    gives = np.float32
    #: the argument with settings of the spectrogram, that with the number of coefficients, and whether for logarithms
    settings: ClassVar[tuple[str, str, str]]

    def bands(self, given: dict[str, Any], options: dict[str, Any]) -> int:
        """Make what gives the bands, and say how many there are."""
        raise NotImplementedError

    def banded(self, samples: Any) -> Any:
        """The bands of samples."""
        raise NotImplementedError

    def prepare(self, **given: Any) -> None:
        if given["dct_type"] != 2:
            raise ValueError(f"dct_type must be 2, but got {given['dct_type']}.")
        options, count = given[self.settings[0]] or {}, given[self.settings[1]]
        number = self.bands(given, options)
        self.matrix = create_dct(count, number, given["norm"]).astype(np.float64)

    def changed(self, samples: Any, **given: Any) -> Any:
        found = self.banded(samples)
        if given[self.settings[2]]:
            found = np.log(found + 1e-6)
        else:
            found = in_decibels(found, ScaleType.POWER, 1.0, 1e-10, 80.0)
        return self.matrix.T @ found


class MFCC(_Cepstrum):
    """Cepstral coefficients of bands that are even on the scale of pitch."""

    takes: ClassVar[dict[str, Arg]] = {
        "sample_rate": Arg(int, 16000, "samples a second.", 0),
        "n_mfcc": whole(40, "how many coefficients are kept."),
        "dct_type": Arg(int, 2, "2."),
        "norm": choice(NormMode.ORTHO, "whether the cosine transform is orthonormal."),
        "log_mels": flag(False, "whether logarithms are taken, or decibels."),
        "melkwargs": Arg(dict, None, "arguments of `MelSpectrogram`."),
    }
    settings = ("melkwargs", "n_mfcc", "log_mels")

    def bands(self, given: dict[str, Any], options: dict[str, Any]) -> int:
        self.spectrum = MelSpectrogram(given["sample_rate"], **options)
        if given["n_mfcc"] > self.spectrum.given["n_mels"]:
            raise ValueError(f"n_mfcc should be no more than n_mels, but got {given['n_mfcc']}.")
        return int(self.spectrum.given["n_mels"])

    def banded(self, samples: Any) -> Any:
        return self.spectrum.changed(samples, **self.spectrum.given)


class LFCC(_Cepstrum):
    """Cepstral coefficients of bands that are even in frequency."""

    takes: ClassVar[dict[str, Arg]] = {
        "sample_rate": rate(16000),
        "n_filter": whole(128, "how many bands.", 0, above=True),
        "n_lfcc": whole(40, "how many coefficients are kept."),
        "f_min": _BANK["f_min"],
        "f_max": _BANK["f_max"],
        "dct_type": Arg(int, 2, "2."),
        "norm": choice(NormMode.ORTHO, "whether the cosine transform is orthonormal."),
        "log_lf": flag(False, "whether logarithms are taken, or decibels."),
        "speckwargs": Arg(dict, None, "arguments of `Spectrogram`."),
    }
    settings = ("speckwargs", "n_lfcc", "log_lf")

    def bands(self, given: dict[str, Any], options: dict[str, Any]) -> int:
        self.spectrum = Spectrogram(**options)
        low, high = _range(given)
        self.bank = linear_fbanks(
            self.spectrum.given["n_fft"] // 2 + 1, low, high, given["n_filter"], given["sample_rate"]
        ).astype(np.float64)
        return int(given["n_filter"])

    def banded(self, samples: Any) -> Any:
        return self.bank.T @ self.spectrum.changed(samples, **self.spectrum.given)


class SpectralCentroid(SoundOperation):
    """The middle of the frequencies over time."""

    takes: ClassVar[dict[str, Arg]] = {
        "sample_rate": Arg(int, NEEDED, "samples a second.", 0),
        **_FRAMES,
        "pad": _PAD,
        "window": _WINDOW,
    }

    def prepare(self, **given: Any) -> None:
        names = ("n_fft", "win_length", "hop_length", "pad", "window")
        self.spectrum = Spectrogram(power=1.0, **{name: given[name] for name in names})

    def changed(self, samples: Any, **given: Any) -> Any:
        found = self.spectrum.changed(samples, **self.spectrum.given)
        frequencies = np.linspace(0, given["sample_rate"] // 2, 1 + given["n_fft"] // 2)[:, None]
        return (frequencies * found).sum(-2, keepdims=True) / found.sum(-2, keepdims=True)


def vocoded(spectrum: Any, speed: float, advance: Any) -> Any:
    """A complex spectrogram at another speed, with the same pitch.

    Args:
        spectrum: frequencies, then time.
        speed: how much faster it is.
        advance: how far each phase goes from one time to the next.
    """
    if speed == 1:
        return spectrum
    steps = np.arange(0, spectrum.shape[-1], speed)
    places, between = steps.astype(np.int64), steps % 1
    first = np.angle(spectrum[..., :1])
    wider = np.pad(spectrum, [(0, 0)] * (spectrum.ndim - 1) + [(0, 2)])
    now, after = wider[..., places], wider[..., places + 1]
    turned = np.angle(after) - np.angle(now) - advance
    turned = turned - 2 * np.pi * np.round(turned / (2 * np.pi)) + advance
    phases = np.cumsum(np.concatenate([first, turned[..., :-1]], -1), -1)
    return (between * np.abs(after) + (1 - between) * np.abs(now)) * np.exp(1j * phases)


class PhaseVocoder(SoundOperation):
    """A complex spectrogram at another speed, with the same pitch."""

    takes: ClassVar[dict[str, Arg]] = {
        "rate": real(NEEDED, "how much faster it is.", 0, above=True),
        "phase_advance": Arg(np.ndarray, NEEDED, "how far each phase goes on: frequencies by 1."),
    }
    least = 3
    complex = True

    def changed(self, samples: Any, **given: Any) -> Any:
        advance = given["phase_advance"]
        if advance.shape != (samples.shape[-3], 1):
            raise self.wrong(f"phase_advance should be of shape {(samples.shape[-3], 1)}, but got {advance.shape}.")
        return as_pairs(vocoded(as_complex(samples.astype(np.float64)), given["rate"], advance))


class TimeStretch(SoundOperation):
    """A complex spectrogram at another speed, with the same pitch, by the distance of its pieces."""

    takes: ClassVar[dict[str, Arg]] = {
        "hop_length": whole(None, "how far pieces are apart; ``n_freq - 1``, if not given.", 0, above=True),
        "n_freq": whole(201, "how many frequencies there are.", 0, above=True),
        "fixed_rate": real(None, "how much faster it is.", 0, above=True),
    }
    least = 3
    complex = True

    def changed(self, samples: Any, **given: Any) -> Any:
        hop = given["n_freq"] - 1 if given["hop_length"] is None else given["hop_length"]
        if given["fixed_rate"] is None:
            return samples
        if samples.shape[-3] != given["n_freq"]:
            raise self.wrong(f"n_freq should be {samples.shape[-3]}, the number of frequencies, not {given['n_freq']}.")
        advance = np.linspace(0, math.pi * hop, given["n_freq"])[:, None]
        return as_pairs(vocoded(as_complex(samples.astype(np.float64)), given["fixed_rate"], advance))


#: how many samples are resampled at once
_AT_ONCE: Final = 65536


def resampled(samples: Any, old: int, new: int, method: ResampleMethod, width: int, rolloff: float, beta: float) -> Any:
    """Samples at another rate.

    Args:
        samples: the samples.
        old: the rate that they have.
        new: the rate that they get.
        method: the form of the window.
        width: how many zeros the filter has on each side.
        rolloff: which part of the frequencies is kept.
        beta: the form of a Kaiser window.
    """
    common = math.gcd(old, new)
    old, new = old // common, new // common
    base = min(old, new) * rolloff
    reach = math.ceil(width * old / base)
    length = samples.shape[-1]
    places = np.arange(math.ceil(new * length / old))
    # the distance of a sample to those around it comes back after `new` samples
    phases = places[:new, None]
    around = np.arange(-reach, reach + 2)
    times = (around / old - (phases * old % new) / (old * new)) * base
    times = np.clip(times, -width, width)
    if method == ResampleMethod.SINC_INTERPOLATION:
        window = np.cos(times * math.pi / width / 2) ** 2
    else:
        window = np.i0(beta * np.sqrt(1 - (times / width) ** 2)) / np.i0(beta)
    weights = np.sinc(times) * window * (base / old)
    padded = np.pad(samples, [(0, 0)] * (samples.ndim - 1) + [(reach, reach + 2)])
    pieces = np.lib.stride_tricks.sliding_window_view(padded, len(around), -1)
    found = np.empty((*samples.shape[:-1], len(places)))
    for begin in range(0, len(places), _AT_ONCE):
        some = places[begin : begin + _AT_ONCE]
        found[..., some] = np.einsum("...nj,nj->...n", pieces[..., some * old // new, :], weights[some % new])
    return found


class Resample(SoundOperation):
    """Samples at another rate."""

    takes: ClassVar[dict[str, Arg]] = {
        "orig_freq": real(16000, "the rate that they have.", 0, above=True),
        "new_freq": real(16000, "the rate that they get.", 0, above=True),
        "resample_method": choice(ResampleMethod.SINC_INTERPOLATION, "the form of the window."),
        "lowpass_filter_width": whole(6, "how many zeros the filter has on each side.", 0, above=True),
        "rolloff": real(0.99, "which part of the frequencies is kept.", 0, 1, above=True),
        "beta": real(None, "the form of a Kaiser window; 14.769656459379492, if not given."),
    }

    def changed(self, samples: Any, **given: Any) -> Any:
        beta = 14.769656459379492 if given["beta"] is None else given["beta"]
        old, new = int(given["orig_freq"]), int(given["new_freq"])
        if old == new:
            return samples
        method, width, rolloff = given["resample_method"], given["lowpass_filter_width"], given["rolloff"]
        return resampled(samples, old, new, method, width, rolloff, beta)


class PitchShift(SoundOperation):
    """Samples with another pitch, as long as before."""

    takes: ClassVar[dict[str, Arg]] = {
        "sample_rate": Arg(int, NEEDED, "samples a second.", 0),
        "n_steps": Arg(int, NEEDED, "by how many steps it is higher."),
        "bins_per_octave": Arg(int, 12, "how many steps an octave has.", nonzero=True),
        "n_fft": whole(512, "length of a piece.", 0, above=True),
        "win_length": _FRAMES["win_length"],
        "hop_length": whole(None, "how far pieces are apart; a quarter of a window, if not given.", 0, above=True),
        "window": _WINDOW,
    }

    def prepare(self, **given: Any) -> None:
        length, self.hop = _lengths(given["n_fft"], given["win_length"], given["hop_length"], 4)
        self.weights = centred(window_of(given["window"], length), given["n_fft"])

    def changed(self, samples: Any, **given: Any) -> Any:
        n_fft, length = given["n_fft"], samples.shape[-1]
        speed = 2.0 ** (-given["n_steps"] / given["bins_per_octave"])
        spectrum = transformed(samples, n_fft, self.hop, self.weights, True, "reflect", True)
        advance = np.linspace(0, math.pi * self.hop, spectrum.shape[-2])[:, None]
        slower = vocoded(spectrum, speed, advance)
        found = untransformed(slower, n_fft, self.hop, self.weights, True, round(length / speed))
        rate = int(given["sample_rate"] / speed)
        found = resampled(found, rate, given["sample_rate"], ResampleMethod.SINC_INTERPOLATION, 6, 0.99, 0)[
            ..., :length
        ]
        missing = length - found.shape[-1]
        return np.pad(found, [(0, 0)] * (found.ndim - 1) + [(0, missing)])
