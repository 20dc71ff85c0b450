"""Operations that choose what to do with an image: policies that were found for data sets, and plain chance."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any, Final

import numpy as np

from weft.data import checks
from weft.data.operation import Operation
from weft.data.randomness import generator
from weft.data.transforms.composing import run
from weft.data.vision import on_arrays
from weft.data.vision.enums import AutoAugmentPolicy, Inter
from weft.data.vision.image_operation import ImageOperation, between, checked_inter, happens, integer_between

#: steps whose strength has two directions
_SIGNED: Final = (
    "ShearX",
    "ShearY",
    "TranslateX",
    "TranslateY",
    "Rotate",
    "Brightness",
    "Color",
    "Contrast",
    "Sharpness",
)
_FACTORS: Final = {"Brightness": "brightness", "Color": "colour", "Contrast": "contrast", "Sharpness": "sharpness"}
_WITHOUT_STRENGTH: Final = ("AutoContrast", "Equalize", "Invert", "Identity")

#: pairs of steps, each with its probability and its strength from 0 to 9, from the paper on AutoAugment
_POLICIES: Final = {
    AutoAugmentPolicy.IMAGENET: """
        Posterize .4 8 Rotate .6 9; Solarize .6 5 AutoContrast .6 0; Equalize .8 0 Equalize .6 0;
        Posterize .6 7 Posterize .6 6; Equalize .4 0 Solarize .2 4; Equalize .4 0 Rotate .8 8;
        Solarize .6 3 Equalize .6 0; Posterize .8 5 Equalize 1. 0; Rotate .2 3 Solarize .6 8;
        Equalize .6 0 Posterize .4 6; Rotate .8 8 Color .4 0; Rotate .4 9 Equalize .6 0;
        Equalize 0. 0 Equalize .8 0; Invert .6 0 Equalize 1. 0; Color .6 4 Contrast 1. 8;
        Rotate .8 8 Color 1. 2; Color .8 8 Solarize .8 7; Sharpness .4 7 Invert .6 0;
        ShearX .6 5 Equalize 1. 0; Color .4 0 Equalize .6 0; Equalize .4 0 Solarize .2 4;
        Solarize .6 5 AutoContrast .6 0; Invert .6 0 Equalize 1. 0; Color .6 4 Contrast 1. 8;
        Equalize .8 0 Equalize .6 0""",
    AutoAugmentPolicy.CIFAR10: """
        Invert .1 0 Contrast .2 6; Rotate .7 2 TranslateX .3 9; Sharpness .8 1 Sharpness .9 3;
        ShearY .5 8 TranslateY .7 9; AutoContrast .5 0 Equalize .9 0; ShearY .2 7 Posterize .3 7;
        Color .4 3 Brightness .6 7; Sharpness .3 9 Brightness .7 9; Equalize .6 0 Equalize .5 0;
        Contrast .6 7 Sharpness .6 5; Color .7 7 TranslateX .5 8; Equalize .3 0 AutoContrast .4 0;
        TranslateY .4 3 Sharpness .2 6; Brightness .9 6 Color .2 8; Solarize .5 2 Invert 0. 0;
        Equalize .2 0 AutoContrast .6 0; Equalize .2 0 Equalize .6 0; Color .9 9 Equalize .6 0;
        AutoContrast .8 0 Solarize .2 8; Brightness .1 3 Color .7 0; Solarize .4 5 AutoContrast .9 0;
        TranslateY .9 9 TranslateY .7 9; AutoContrast .9 0 Solarize .8 3; Equalize .8 0 Invert .1 0;
        TranslateY .7 9 AutoContrast .9 0""",
    AutoAugmentPolicy.SVHN: """
        ShearX .9 4 Invert .2 0; ShearY .9 8 Invert .7 0; Equalize .6 0 Solarize .6 6;
        Invert .9 0 Equalize .6 0; Equalize .6 0 Rotate .9 3; ShearX .9 4 AutoContrast .8 0;
        ShearY .9 8 Invert .4 0; ShearY .9 5 Solarize .2 6; Invert .9 0 AutoContrast .8 0;
        Equalize .6 0 Rotate .9 3; ShearX .9 4 Solarize .3 3; ShearY .8 8 Invert .7 0;
        Equalize .9 0 TranslateY .6 6; Invert .9 0 Equalize .6 0; Contrast .3 3 Rotate .8 4;
        Invert .8 0 TranslateY 0. 2; ShearY .7 6 Solarize .4 8; Invert .6 0 Rotate .8 4;
        ShearY .3 7 TranslateX .9 3; ShearX .1 6 Invert .6 0; Solarize .7 2 TranslateY .6 7;
        ShearY .8 4 Invert .8 0; ShearX .7 9 TranslateY .8 3; ShearY .8 5 AutoContrast .7 0;
        ShearX .7 2 Invert .1 0""",
}

Step = tuple[str, float, int]


def _read(policy: str) -> list[list[Step]]:
    pairs = []
    for pair in policy.split(";"):
        words = pair.split()
        pairs.append([(words[at], float(words[at + 1]), int(words[at + 2])) for at in (0, 3)])
    return pairs


class _Augmenting(ImageOperation):
    """What the policies have in common: the steps and their settings."""

    #: how strong the strongest step is; lengths are parts of the side of the image
    most: dict[str, float] = {
        "ShearX": 0.3,
        "ShearY": 0.3,
        "TranslateX": 150.0 / 331.0,
        "TranslateY": 150.0 / 331.0,
        "Rotate": 30.0,
        "Brightness": 0.9,
        "Color": 0.9,
        "Contrast": 0.9,
        "Sharpness": 0.9,
    }
    #: how many bits the strongest step takes away
    bits = 4
    inter: Inter
    fill: Any

    def settings(self, interpolation: Any, fill_value: Any) -> None:
        """Check and keep the arguments that all have."""
        self.inter = checked_inter(interpolation)
        self.fill = checks.colour(fill_value)

    def step(self, image: Any, name: str, strength: float, room: ModuleType) -> Any:
        """An image after a step.

        Args:
            image: the image.
            name: name of the step.
            strength: from 0, nothing, to 1, the most.
            room: where the steps are.
        """
        if name in _WITHOUT_STRENGTH:
            return {
                "AutoContrast": lambda: room.auto_contrast(image, 0.0, []),
                "Equalize": lambda: room.equalize(image),
                "Invert": lambda: room.invert(image),
                "Identity": lambda: image,
            }[name]()
        if name == "Posterize":
            return room.posterize(image, 8 - round(self.bits * strength))
        if name == "Solarize":
            return room.solarize(image, 255.0 * (1 - strength), 255.0)
        amount = self.most[name] * strength
        if name in _SIGNED and happens(0.5):
            amount = -amount
        if name in _FACTORS:
            return getattr(room, _FACTORS[name])(image, 1 + amount)
        return self._moved(image, name, amount, room)

    def _moved(self, image: Any, name: str, amount: float, room: ModuleType) -> Any:
        if name == "Rotate":
            return room.rotate(image, amount, self.inter, False, None, self.fill)
        height, width = room.size_of(image)
        moved = (0.0, 0.0)
        shear = (0.0, 0.0)
        degrees = float(np.degrees(np.arctan(amount)))
        if name == "ShearX":
            shear = (degrees, 0.0)
        elif name == "ShearY":
            shear = (0.0, degrees)
        elif name == "TranslateX":
            moved = (float(int(self.length(amount, width))), 0.0)
        else:
            moved = (0.0, float(int(self.length(amount, height))))
        return room.affine(image, 0.0, moved, 1.0, shear, self.inter, self.fill)

    def length(self, amount: float, side: int) -> float:
        """How many pixels an amount of moving is."""
        return amount * side

    def on(self, image: Any, room: ModuleType) -> Any:
        on_arrays.needs(image, (3,), (3,))
        return self.augmented(image, room)

    def augmented(self, image: Any, room: ModuleType) -> Any:
        """The image after the steps."""
        raise NotImplementedError


class AutoAugment(_Augmenting):
    """Two steps of a policy that was found for a data set.

    Args:
        policy: for which data set.
        interpolation: how values between pixels are found.
        fill_value: colour of what was not in the image, an int or three.
    """

    def __init__(
        self,
        policy: AutoAugmentPolicy = AutoAugmentPolicy.IMAGENET,
        interpolation: Inter = Inter.NEAREST,
        fill_value: Any = 0,
    ) -> None:
        checks.of_type(policy, AutoAugmentPolicy, "policy")
        self.pairs = _read(_POLICIES[policy])
        self.settings(interpolation, fill_value)

    def augmented(self, image: Any, room: ModuleType) -> Any:
        for name, prob, strength in self.pairs[integer_between(0, len(self.pairs) - 1)]:
            if happens(prob):
                image = self.step(image, name, strength / 9, room)
        return image


_STEPS: Final = (*_SIGNED, "Posterize", "Solarize", "AutoContrast", "Equalize", "Identity")


class RandAugment(_Augmenting):
    """A number of steps by chance, all of one strength.

    Args:
        num_ops: how many steps.
        magnitude: how strong they are.
        num_magnitude_bins: one more than the greatest strength.
        interpolation: how values between pixels are found.
        fill_value: colour of what was not in the image, an int or three.
    """

    def __init__(
        self,
        num_ops: int = 2,
        magnitude: int = 9,
        num_magnitude_bins: int = 31,
        interpolation: Inter = Inter.NEAREST,
        fill_value: Any = 0,
    ) -> None:
        self.num_ops = checks.integer(num_ops, "num_ops", 0, checks.MOST)
        bins = checks.integer(num_magnitude_bins, "num_magnitude_bins", 2, checks.MOST)
        checks.of_type(magnitude, int, "magnitude")
        checks.within(magnitude, 0, bins, "magnitude", without_high=True)
        self.strength = magnitude / (bins - 1)
        self.settings(interpolation, fill_value)

    def augmented(self, image: Any, room: ModuleType) -> Any:
        for _ in range(self.num_ops):
            image = self.step(image, _STEPS[integer_between(0, len(_STEPS) - 1)], self.strength, room)
        return image


class TrivialAugmentWide(_Augmenting):
    """One step by chance, its strength by chance from a wide range.

    Args:
        num_magnitude_bins: how many strengths there are.
        interpolation: how values between pixels are found.
        fill_value: colour of what was not in the image, an int or three.
    """

    most: dict[str, float] = {
        "ShearX": 0.99,
        "ShearY": 0.99,
        "TranslateX": 32.0,
        "TranslateY": 32.0,
        "Rotate": 135.0,
        "Brightness": 0.99,
        "Color": 0.99,
        "Contrast": 0.99,
        "Sharpness": 0.99,
    }
    bits = 6

    def __init__(self, num_magnitude_bins: int = 31, interpolation: Inter = Inter.NEAREST, fill_value: Any = 0) -> None:
        self.bins = checks.integer(num_magnitude_bins, "num_magnitude_bins", 2, checks.MOST)
        self.settings(interpolation, fill_value)

    def length(self, amount: float, side: int) -> float:
        return amount

    def augmented(self, image: Any, room: ModuleType) -> Any:
        strength = integer_between(0, self.bins - 1) / (self.bins - 1)
        return self.step(image, _STEPS[integer_between(0, len(_STEPS) - 1)], strength, room)


class UniformAugment(Operation):
    """Some of several operations by chance, each with a probability by chance.

    Args:
        transforms: list of operations.
        num_ops: how many of them are chosen.
    """

    def __init__(self, transforms: list[Any], num_ops: int = 2) -> None:
        checks.of_type(transforms, list, "transforms list")
        self.num_ops = checks.integer(num_ops, "num_ops", 1, checks.MOST)
        if self.num_ops > len(transforms):
            raise ValueError(f"num_ops, {num_ops}, is greater than transforms list size, {len(transforms)}.")
        self.transforms = checks.functions(transforms)
        self.in_python = any(getattr(each, "in_python", False) for each in self.transforms)

    def received(self, column: Any) -> Any:
        return column

    def apply(self, *columns: Any) -> Any:
        chosen = generator().choice(len(self.transforms), self.num_ops, replace=False)
        steps = [self.transforms[place] for place in chosen if happens(between(0.0, 1.0))]
        done = run(steps, columns)
        return done[0] if len(done) == 1 else done


class RandomSelectSubpolicy(ImageOperation):
    """One of several lists of operations by chance, each operation with its probability.

    Args:
        policy: list of lists of (operation, probability).
    """

    def __init__(self, policy: Sequence[Sequence[tuple[Any, float]]]) -> None:
        checks.of_type(policy, list, "policy")
        if not policy:
            raise ValueError("policy can not be empty.")
        for row, steps in enumerate(policy):
            checks.of_type(steps, (list, tuple), f"policy[{row}]")
            if not steps:
                raise ValueError(f"policy[{row}] can not be empty.")
            for place, step in enumerate(steps):
                where = f"policy[{row}][{place}]"
                operation, prob = checks.pair(step, where, "(operation, probability)")
                checks.function(operation, f"op of (op, prob) {where}")
                checks.real(prob, f"prob of (op, prob) {where}", 0, 1)
        self.policy = policy

    def on(self, image: Any, room: ModuleType) -> Any:
        steps = self.policy[integer_between(0, len(self.policy) - 1)]
        (done,) = run([operation for operation, prob in steps if happens(prob)], (image,))
        return done
