"""Metaclasses with a `__call__` of the program's: singletons, registries, instances that are changed once more."""

from __future__ import annotations

import abc
import functools
import warnings
from typing import Any

import pytest

from weft import Tensor, jit

SEEN: list[str] = []


class Singleton(type):
    instances: dict[Any, Any] = {}

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        SEEN.append("call")
        if cls not in cls.instances:
            cls.instances[cls] = super().__call__(*args, **kwargs)
        return cls.instances[cls]


class Registry(type):
    made: list[Any] = []

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        made = type.__call__(cls, *args, **kwargs)
        made.number = len(Registry.made)
        Registry.made.append(made)
        return made


class Doubled(abc.ABCMeta):
    def __call__(cls, value: Any) -> Any:
        made = super().__call__(value)
        made.value = made.value * 2
        return made


class Flyweight(type):
    known: dict[Any, Any] = {}

    def __call__(cls, value: Any) -> Any:
        if value not in Flyweight.known:
            Flyweight.known[value] = super().__call__(value)
        return Flyweight.known[value]


class Only(metaclass=Singleton):
    def __init__(self, value: Any) -> None:
        SEEN.append("init")
        self.value = value


class Listed(metaclass=Registry):
    def __new__(cls, value: Any) -> Any:
        SEEN.append("new")
        return super().__new__(cls)

    def __init__(self, value: Any) -> None:
        self.value = value


class Slotted(metaclass=Doubled):
    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Failing(metaclass=Registry):
    def __init__(self, value: Any) -> None:
        raise ValueError("bad")


class Mapping(dict, metaclass=Registry):  # type: ignore[type-arg]
    number: int


class Shared(metaclass=Flyweight):
    def __init__(self, value: Any) -> None:
        self.value = value


def only(x: Any, k: int) -> Any:
    return x * Only(k + 1).value


def listed(x: Any, k: int) -> Any:
    return x * Listed(k).value + Listed(x).value * k


def slotted(x: Any, k: int) -> Any:
    return Slotted(x).value * Slotted(k).value


def failing(x: Any, k: int) -> Any:
    try:
        Failing(x)
    except ValueError as error:
        return x + len(str(error)) + k


def mapping(x: Any, k: int) -> Any:
    made = Mapping(a=x, b=k)
    return made["a"] * made["b"]


def shared(x: Any, k: int) -> Any:
    return x * Shared(k).value


def called(x: Any, k: int) -> Any:
    return type.__call__(Listed, k).value * x, type.__call__(type, x).__name__, type.__call__(int, "7")


def outcome(function: Any) -> Any:
    SEEN.clear()
    Singleton.instances.clear()
    Registry.made.clear()
    Flyweight.known.clear()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        results = [str(function(Tensor([2.0]), k)) for k in (1, 2, 3, 2, 5)]
    return results, list(SEEN), [made.number for made in Registry.made], len(Flyweight.known), warned


@pytest.mark.parametrize("policy", [jit, functools.partial(jit, mode="PIJit")])
@pytest.mark.parametrize("function", [only, listed, slotted, failing, mapping, shared, called])
def test_instances_are_made_as_in_python(function: Any, policy: Any) -> None:
    assert outcome(policy(function)) == outcome(function)
