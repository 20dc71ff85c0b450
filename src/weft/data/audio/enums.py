"""What operations on sound may be asked for by name."""

from __future__ import annotations

import enum


class BorderType(enum.StrEnum):
    """What stands beyond the edges."""

    CONSTANT = "constant"
    EDGE = "edge"
    REFLECT = "reflect"
    SYMMETRIC = "symmetric"


class DensityFunction(enum.StrEnum):
    """How noise is distributed: in a triangle, evenly, or as a bell."""

    TPDF = "TPDF"
    RPDF = "RPDF"
    GPDF = "GPDF"


class FadeShape(enum.StrEnum):
    """How sound gets louder."""

    QUARTER_SINE = "quarter_sine"
    HALF_SINE = "half_sine"
    LINEAR = "linear"
    LOGARITHMIC = "logarithmic"
    EXPONENTIAL = "exponential"


class GainType(enum.StrEnum):
    """What a gain is a factor of."""

    AMPLITUDE = "amplitude"
    POWER = "power"
    DB = "db"


class Interpolation(enum.StrEnum):
    """How values between samples are made."""

    LINEAR = "linear"
    QUADRATIC = "quadratic"


class MelType(enum.StrEnum):
    """Which scale of pitch."""

    HTK = "htk"
    SLANEY = "slaney"


class Modulation(enum.StrEnum):
    """The form of a slow wave."""

    SINUSOIDAL = "sinusoidal"
    TRIANGULAR = "triangular"


class NormMode(enum.StrEnum):
    """Whether a cosine transform is orthonormal."""

    ORTHO = "ortho"
    NONE = "none"


class NormType(enum.StrEnum):
    """Whether triangles of a filter bank have the same area."""

    SLANEY = "slaney"
    NONE = "none"


class ResampleMethod(enum.StrEnum):
    """The window of the filter that resampling uses."""

    SINC_INTERPOLATION = "sinc_interpolation"
    KAISER_WINDOW = "kaiser_window"


class ScaleType(enum.StrEnum):
    """What a spectrogram holds."""

    POWER = "power"
    MAGNITUDE = "magnitude"


class WindowType(enum.StrEnum):
    """The form of a window."""

    BARTLETT = "bartlett"
    BLACKMAN = "blackman"
    HAMMING = "hamming"
    HANN = "hann"
    KAISER = "kaiser"
