"""Operations on colours, by given strengths and by chance."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from types import ModuleType
from typing import Any, Final

from weft.data import checks
from weft.data.operation import is_pil
from weft.data.randomness import generator
from weft.data.vision import on_arrays, on_pil
from weft.data.vision.image_operation import BOTH, ONLY_PIL, ImageOperation, Sometimes, between, integer_between


class AdjustBrightness(ImageOperation):
    """The image times a factor.

    Args:
        brightness_factor: the factor: 0 is black, 1 the image.
    """

    takes = BOTH

    def __init__(self, brightness_factor: float) -> None:
        self.factor = checks.real(brightness_factor, "brightness_factor", 0)

    def on(self, image: Any, room: ModuleType) -> Any:
        return room.brightness(image, self.factor)


class AdjustContrast(ImageOperation):
    """The image blended with the mean of its gray values.

    Args:
        contrast_factor: 0 is gray, 1 the image.
    """

    takes = BOTH

    def __init__(self, contrast_factor: float) -> None:
        self.factor = checks.real(contrast_factor, "contrast_factor", 0)

    def on(self, image: Any, room: ModuleType) -> Any:
        return room.contrast(image, self.factor)


class AdjustSaturation(ImageOperation):
    """The image blended with its gray image.

    Args:
        saturation_factor: 0 is gray, 1 the image.
    """

    takes = BOTH

    def __init__(self, saturation_factor: float) -> None:
        self.factor = checks.real(saturation_factor, "saturation_factor", 0)

    def on(self, image: Any, room: ModuleType) -> Any:
        return room.saturation(image, self.factor)


class AdjustHue(ImageOperation):
    """The image with its hue turned.

    Args:
        hue_factor: how far, from -0.5 to 0.5 of the circle.
    """

    takes = BOTH

    def __init__(self, hue_factor: float) -> None:
        self.factor = checks.real(hue_factor, "hue_factor", -0.5, 0.5)

    def on(self, image: Any, room: ModuleType) -> Any:
        return room.hue(image, self.factor)


class AdjustSharpness(ImageOperation):
    """The image blended with a smoothed one.

    Args:
        sharpness_factor: 0 is smooth, 1 the image, 2 sharper.
    """

    def __init__(self, sharpness_factor: float) -> None:
        self.factor = checks.real(sharpness_factor, "sharpness_factor", 0)

    def on(self, image: Any, room: ModuleType) -> Any:
        return room.sharpness(image, self.factor)


class AdjustGamma(ImageOperation):
    """The image, from 0 to 1, to a power.

    Args:
        gamma: the power.
        gain: a factor.
    """

    takes = BOTH

    def __init__(self, gamma: float, gain: float = 1) -> None:
        self.gamma = checks.real(gamma, "gamma", 0)
        self.gain = checks.real(checks.given(gain, 1), "gain")

    def on(self, image: Any, room: ModuleType) -> Any:
        return room.gamma(image, self.gamma, self.gain)


class AutoContrast(ImageOperation):
    """Each channel stretched over all values.

    Args:
        cutoff: percentage of the darkest and of the lightest pixels that is left out of account.
        ignore: values that are left out of account, an int or several.
    """

    takes = BOTH

    def __init__(self, cutoff: float = 0.0, ignore: Any = None) -> None:
        self.cutoff, self.ignore = _checked_contrast(cutoff, ignore)

    def on(self, image: Any, room: ModuleType) -> Any:
        return room.auto_contrast(image, self.cutoff, self.ignore)


def _checked_contrast(cutoff: Any, ignore: Any) -> tuple[float, list[int]]:
    checks.of_type(cutoff, (int, float), "cutoff")
    checks.within(cutoff, 0, 50, "cutoff", without_high=True)
    if ignore is None:
        return cutoff, []
    checks.of_type(ignore, (list, tuple, int), "ignore")
    several = list(ignore) if isinstance(ignore, (list, tuple)) else [ignore]
    return cutoff, [checks.integer(each, "ignore", 0, 255) for each in several]


class RandomAutoContrast(Sometimes):
    """`AutoContrast` with a probability.

    Args:
        cutoff: percentage of the darkest and of the lightest pixels that is left out of account.
        ignore: values that are left out of account, an int or several.
        prob: the probability.
    """

    def __init__(self, cutoff: float = 0.0, ignore: Any = None, prob: float = 0.5) -> None:
        super().__init__(prob)
        self.cutoff, self.ignore = _checked_contrast(cutoff, ignore)

    def done(self, image: Any, room: ModuleType) -> Any:
        return room.auto_contrast(image, self.cutoff, self.ignore)


class Equalize(ImageOperation):
    """Each channel with all values equally frequent."""

    takes = BOTH

    def on(self, image: Any, room: ModuleType) -> Any:
        return room.equalize(image)


class RandomEqualize(Sometimes):
    """`Equalize` with a probability."""

    def done(self, image: Any, room: ModuleType) -> Any:
        return room.equalize(image)


class Invert(ImageOperation):
    """Light and dark exchanged."""

    takes = BOTH

    def on(self, image: Any, room: ModuleType) -> Any:
        return room.invert(image)


class RandomInvert(Sometimes):
    """`Invert` with a probability."""

    def done(self, image: Any, room: ModuleType) -> Any:
        return room.invert(image)


class Posterize(ImageOperation):
    """Only the first bits of each value.

    Args:
        bits: how many.
    """

    def __init__(self, bits: int) -> None:
        self.bits = checks.integer(bits, "bits", 0, 8)

    def on(self, image: Any, room: ModuleType) -> Any:
        return room.posterize(image, self.bits)


class RandomPosterize(ImageOperation):
    """`Posterize`, the number of bits by chance.

    Args:
        bits: range of the number, or the number itself.
    """

    def __init__(self, bits: int | Sequence[int] = (8, 8)) -> None:
        bits = checks.given(bits, (8, 8))
        checks.of_type(bits, (int, list, tuple), "bits")
        low, high = (bits, bits) if isinstance(bits, int) else checks.pair(bits, "bits")
        self.low, self.high = checks.integer(low, "bits", 1, 8), checks.integer(high, "bits", 1, 8)
        if self.low > self.high:
            raise ValueError(f"bits should be in (min,max) format. Got {bits!r}.")

    def on(self, image: Any, room: ModuleType) -> Any:
        return room.posterize(image, integer_between(self.low, self.high))


class Solarize(ImageOperation):
    """Values within an interval inverted.

    Args:
        threshold: (min, max) of the interval; one number stands for all from there on.
    """

    def __init__(self, threshold: float | Sequence[float]) -> None:
        checks.of_type(threshold, (float, int, list, tuple), "threshold")
        values = list(threshold) if isinstance(threshold, (list, tuple)) else [threshold, threshold]
        if len(values) != 2:
            raise TypeError(f"threshold must be a single number or sequence of two numbers, but got {threshold!r}.")
        self.low, self.high = (checks.real(each, f"threshold[{place}]", 0, 255) for place, each in enumerate(values))
        if self.low > self.high:
            raise ValueError(f"threshold must be in order of (min, max), but got {threshold!r}.")

    def on(self, image: Any, room: ModuleType) -> Any:
        return room.solarize(image, self.low, self.high)


class RandomSolarize(ImageOperation):
    """`Solarize`, the interval by chance.

    Args:
        threshold: (min, max) of the interval's ends.
    """

    def __init__(self, threshold: Sequence[int] = (0, 255)) -> None:
        checks.of_type(threshold, tuple, "threshold")
        low, high = checks.pair(threshold, "threshold", error=ValueError)
        self.low, self.high = checks.integer(low, "threshold[0]", 0, 255), checks.integer(high, "threshold[1]", 0, 255)
        if self.low > self.high:
            raise ValueError(f"threshold must be in min max format numbers, but got {threshold!r}.")

    def on(self, image: Any, room: ModuleType) -> Any:
        low, high = sorted((integer_between(self.low, self.high), integer_between(self.low, self.high)))
        return room.solarize(image, low, high)


class _Degrees(ImageOperation):
    """A step whose strength is drawn from a range.

    Args:
        degrees: the range.
    """

    takes = BOTH

    def __init__(self, degrees: Sequence[float] = (0.1, 1.9)) -> None:
        degrees = checks.given(degrees, (0.1, 1.9))
        if not isinstance(degrees, (tuple, list)):
            raise TypeError(f"degrees must be either a tuple or a list, but got {degrees!r}.")
        checks.pair(degrees, "degrees", error=ValueError)
        self.degrees = checks.interval(degrees, "degrees")


class RandomColor(_Degrees):
    """The image blended with its gray image: 0 is gray, 1 the image."""

    def on(self, image: Any, room: ModuleType) -> Any:
        return room.colour(image, between(*self.degrees))


class RandomSharpness(_Degrees):
    """The image blended with a smoothed one: 0 is smooth, 1 the image, 2 sharper."""

    def on(self, image: Any, room: ModuleType) -> Any:
        return room.sharpness(image, between(*self.degrees))


class RandomAdjustSharpness(Sometimes):
    """`AdjustSharpness` with a probability.

    Args:
        degree: 0 is smooth, 1 the image, 2 sharper.
        prob: the probability.
    """

    def __init__(self, degree: float, prob: float = 0.5) -> None:
        super().__init__(prob)
        self.degree = checks.real(degree, "degree", 0)

    def done(self, image: Any, room: ModuleType) -> Any:
        return room.sharpness(image, self.degree)


class RandomGrayscale(ImageOperation):
    """The image without colour with a probability, with as many channels as before.

    Args:
        prob: the probability.
    """

    takes = ONLY_PIL
    in_python = True

    def __init__(self, prob: float = 0.1) -> None:
        self.prob = checks.probability(prob)

    def on(self, image: Any, room: ModuleType) -> Any:
        if generator().random() >= self.prob:
            return image
        return on_pil.grayscale(image, 1 if image.mode == "L" else 3)


class RandomColorAdjust(ImageOperation):
    """Brightness, contrast, saturation and hue changed by chance, in an order by chance.

    Args:
        brightness: range of the factor of brightness; a number x stands for 1 - x to 1 + x.
        contrast: range of the factor of contrast.
        saturation: range of the factor of saturation.
        hue: range of the turn of the hue, within -0.5 to 0.5; a number x stands for -x to x.
    """

    takes = BOTH

    def __init__(self, brightness: Any = (1, 1), contrast: Any = (1, 1), saturation: Any = (1, 1), hue: Any = (0, 0)):
        self.ranges = {
            "brightness": _strengths(brightness, "brightness", 1, 0, checks.MOST),
            "contrast": _strengths(contrast, "contrast", 1, 0, checks.MOST),
            "saturation": _strengths(saturation, "saturation", 1, 0, checks.MOST),
            "hue": _strengths(hue, "hue", 0, -0.5, 0.5),
        }

    def on(self, image: Any, room: ModuleType) -> Any:
        if room is on_arrays:
            room.needs(image, (3,), (3,))
        names = list(self.ranges)
        for place in generator().permutation(len(names)):
            name = names[place]
            strength = between(*self.ranges[name])
            if is_pil(image) or strength != (0 if name == "hue" else 1):
                image = getattr(room, name)(image, strength)
        return image


def _strengths(value: Any, name: str, neutral: float, low: float, high: float) -> tuple[float, float]:
    """A range of strengths; a number stands for as much below and above the neutral one."""
    checks.of_type(value, (numbers.Number, list, tuple), name)
    if isinstance(value, (list, tuple)):
        if len(value) != 2:
            raise TypeError(f"If {name} is a sequence, the length must be 2, but got {value!r}.")
        return checks.interval(value, name, low, high)
    if value < 0:
        raise ValueError(f"The input value of {name} cannot be negative, but got {value!r}.")
    first, last = neutral - value, neutral + value
    if neutral:
        first = max(0, first)
    checks.within(first, low, high, name)
    checks.within(last, low, high, name)
    return first, last


class RandomLighting(ImageOperation):
    """Noise of the kind that light makes in photographs, added to the channels.

    Args:
        alpha: standard deviation of the noise along each principal axis of the colours of ImageNet.
    """

    takes = BOTH
    #: principal axes of the colours of ImageNet, and how far colours spread along them
    _AXES: Final = ((-0.5675, 0.7192, 0.4009), (-0.5808, -0.0045, -0.8140), (-0.5836, -0.6948, 0.4203))
    _SPREAD: Final = (55.46, 4.794, 1.148)

    def __init__(self, alpha: float = 0.05) -> None:
        self.alpha = checks.real(alpha, "alpha", 0)

    def on(self, image: Any, room: ModuleType) -> Any:
        strengths = generator().normal(0, self.alpha, 3)
        noise = [
            sum(
                axis * float(strength) * spread
                for axis, strength, spread in zip(row, strengths, self._SPREAD, strict=True)
            )
            for row in self._AXES
        ]
        return room.lighting(image, noise)


class GaussianBlur(ImageOperation):
    """The image blurred.

    Args:
        kernel_size: odd width and height of the kernel, or one number for both.
        sigma: standard deviations along width and height, or one for both; None or 0 to follow from the kernel.
    """

    def __init__(self, kernel_size: int | Sequence[int], sigma: Any = None) -> None:
        checks.of_type(kernel_size, (int, list, tuple), "kernel_size")
        sides = [kernel_size] * 2 if isinstance(kernel_size, int) else list(kernel_size)
        if len(sides) != 2:
            raise TypeError(
                "Kernel size should be a single integer or a list/tuple (kernel_width, kernel_height) of length 2, but "
                f"got {kernel_size!r}."
            )
        for side in sides:
            if checks.integer(side, "kernel_size", 1, checks.MOST) % 2 == 0:
                raise ValueError(f"Input kernel_size is not an odd value: {kernel_size!r}.")
        self.kernel = (sides[0], sides[1])
        self.sigma = self._deviations(sigma)

    def _deviations(self, sigma: Any) -> tuple[float, float]:
        sigma = checks.given(sigma, 0)
        checks.of_type(sigma, (numbers.Number, list, tuple), "sigma")
        if not isinstance(sigma, (list, tuple)):
            both = checks.real(sigma, "sigma", 0) or self._usual(self.kernel[0])
            return both, both
        if len(sigma) != 2:
            raise TypeError(f"sigma should be a single number or a list/tuple of length 2, but got {sigma!r}.")
        across, along = (
            checks.real(each, "sigma", 0) or self._usual(side) for each, side in zip(sigma, self.kernel, strict=True)
        )
        return across, along

    @staticmethod
    def _usual(side: int) -> float:
        """The deviation for a side of the kernel."""
        return 0.3 * ((side - 1) * 0.5 - 1) + 0.8

    def on(self, image: Any, room: ModuleType) -> Any:
        return room.gaussian_blur(image, self.kernel, self.sigma)
