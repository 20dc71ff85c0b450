"""What the generated programs find among their globals: modules, classes of the user's, small constants."""

from __future__ import annotations

import array
import ast
import base64
import binascii
import bisect
import builtins
import calendar
import cmath
import collections
import colorsys
import contextlib
import copy
import dataclasses
import datetime
import decimal
import enum
import fnmatch
import fractions
import functools
import hashlib
import heapq
import io
import itertools
import json
import keyword
import marshal
import math
import operator
import pickle
import pprint
import random
import re
import reprlib
import shlex
import statistics
import string
import struct
import sys
import textwrap
import types
import unicodedata
import urllib.parse
import uuid
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from weft import Tensor, ops


class P:
    """An object with one attribute, compared by identity."""

    __match_args__ = ("k",)

    def __init__(self, k: Any = 0) -> None:
        self.k = k


class S:
    """An object with slots and with special methods of the user's."""

    __slots__ = ("k",)

    def __init__(self, k: Any = 0) -> None:
        self.k = k

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, S) and self.k == other.k

    def __hash__(self) -> int:
        return hash(("S", repr(self.k)))

    def __lt__(self, other: Any) -> bool:
        return repr(self.k) < repr(getattr(other, "k", other))

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, int) and index > 1:
            raise IndexError(index)
        return index, self.k

    def __setitem__(self, index: Any, value: Any) -> None:
        self.k = index, value

    def __delitem__(self, index: Any) -> None:
        self.k = index

    def __contains__(self, item: Any) -> bool:
        return bool(item == self.k)

    def __add__(self, other: Any) -> Any:
        return "S+", other

    def __radd__(self, other: Any) -> Any:
        return "+S", other

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.k, args, kwargs

    def __index__(self) -> int:
        return 1

    def __bool__(self) -> bool:
        return bool(self.k)

    def __format__(self, spec: str) -> str:
        return f"S({self.k!r}:{spec})"


@dataclasses.dataclass
class D:
    """A dataclass."""

    k: Any = 0
    m: Any = "m"


class E(enum.Enum):
    """Some members' values are numbers."""

    ZERO = 0
    ONE = 1
    MINUS = -1
    HALF = 0.5
    TEXT = "a"


class F(enum.IntFlag):
    """Flags."""

    A = 1
    B = 2
    C = 4


class Missing(dict):  # type: ignore[type-arg]
    """A dict that answers what is missing."""

    def __missing__(self, key: Any) -> Any:
        return "missing", key


class Mine(list):  # type: ignore[type-arg]
    """A list of the user's class."""


class Num(int):
    """An int of the user's class."""


NT = collections.namedtuple("NT", "a b")


@contextlib.contextmanager
def manager(value: Any) -> Iterator[Any]:
    """A context manager that gives its argument."""
    yield value


def keyed(*args: Any, k: Any = 0, **more: Any) -> Any:
    """Its own arguments."""
    return args, k, more


def same(value: Any) -> Any:
    """Its argument, from a function of the user's."""
    return value


def first(value: Any, *_: Any) -> Any:
    """The first argument."""
    return value


def pair(value: Any, other: Any = 1) -> Any:
    """Both arguments."""
    return value, other


#: containers to look things up in
TABLE = {0: "zero", 1: "one", -1: "minus", 2: "two", 1.5: "half", "a": "letter", (1, 2): "pair", b"a": "byte"}
NUMBERS = (0, 1, 2, -1, 1.5, 7)
