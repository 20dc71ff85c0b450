"""Sources of public datasets as rows: the arguments that each takes, its columns, and what its files say.

A class names its own arguments (`own`), those that all have in the order in which it takes them (`shared`), and its
columns (`names`). Its constructor, its signature and the list of arguments in its docstring are made of that.
"""

from __future__ import annotations

import inspect
import os
import wave
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

from weft.data.conversion import Row
from weft.data.dataset import Dataset
from weft.data.files import decoded, folder_of, one_of, read_bytes
from weft.data.kinds import AudioBaseDataset, TextBaseDataset, VisionBaseDataset
from weft.data.samplers import Shuffle
from weft.data.sources import MappableDataset
from weft.data.texts import FilesDataset
from weft.lazily import deferred

scipy_io: Any = deferred("scipy.io")

#: the order of the arguments that most take
SAMPLED: Final = "num_samples num_parallel_workers shuffle sampler num_shards shard_id cache"
DECODED: Final = "num_samples num_parallel_workers shuffle decode sampler num_shards shard_id cache"
UNCACHED: Final = "num_samples num_parallel_workers=1 shuffle decode sampler num_shards shard_id"
LINES: Final = "num_samples num_parallel_workers shuffle num_shards shard_id cache"
SENTENCES: Final = "num_samples shuffle num_shards shard_id num_parallel_workers cache"

_SAID: Final = {
    "dataset_dir": "the folder of the files.",
    "dataset_files": "paths or patterns.",
    "num_samples": "how many rows at most.",
    "num_parallel_workers": "how many workers it has.",
    "shuffle": "whether in random order, which it is if not said.",
    "decode": "whether the images are decoded.",
    "sampler": "chooses rows.",
    "num_shards": "how many parts there are.",
    "shard_id": "which of them is read.",
    "cache": "kept.",
}


@dataclass(frozen=True, slots=True)
class Choice:
    """An argument that is one of some values.

    Args:
        allowed: the values.
        default: what it is if not given; `NEEDED` where it must be.
        instead: what None stands for.
    """

    allowed: tuple[Any, ...]
    default: Any = None
    instead: Any = None

    def chosen(self, name: str, value: Any) -> Any:
        """The value that an argument stands for."""
        return self.instead if value is None and self.default is None else one_of(name, value, self.allowed)

    def said(self) -> str:
        """What a docstring says of it."""
        usual = self.instead if self.default is None else self.default
        ending = "." if self.default is NEEDED else f"; {usual!r} if not given."
        return f"one of {', '.join(repr(each) for each in self.allowed)}{ending}"


@dataclass(frozen=True, slots=True)
class Given:
    """An argument of any value.

    Args:
        said: what a docstring says of it.
        default: what it is if not given; `NEEDED` where it must be.
    """

    said: str
    default: Any = inspect.Parameter.empty


#: what an argument has instead of a default where it must be given
NEEDED: Final = inspect.Parameter.empty
#: usages of most
PARTS: Final = Choice(("train", "test", "all"), None, "all")
PARTS_OF_FOUR: Final = Choice(("train", "valid", "test", "all"), None, "all")


class Declared(Dataset):
    """A dataset whose constructor is made of what its class says."""

    #: the arguments of its own after the folder
    own: ClassVar[dict[str, Choice | Given]] = {}
    #: the other arguments, in order
    shared: ClassVar[str] = SAMPLED
    #: what the first argument is called
    first: ClassVar[str] = "dataset_dir"
    names: ClassVar[tuple[str, ...]] = ()
    #: what shuffle is if not given
    shuffles_by: ClassVar[Any] = None
    #: what decode is if not given
    decodes: ClassVar[bool | None] = False
    __signature__: ClassVar[inspect.Signature]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        defaults = {name: each.default for name, each in cls.own.items()}
        said = {name: each.said if isinstance(each, Given) else each.said() for name, each in cls.own.items()}
        for part in cls.shared.split():
            name, _, value = part.partition("=")
            usual = {"shuffle": cls.shuffles_by, "decode": cls.decodes}.get(name)
            defaults[name] = int(value) if value else usual
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = [inspect.Parameter(cls.first, kind)] if cls.first else []
        parameters += [inspect.Parameter(name, kind, default=value) for name, value in defaults.items()]
        cls.__signature__ = inspect.Signature(parameters)
        if cls.__doc__ and "Args:" not in cls.__doc__ and not cls.__name__.startswith("_"):
            lines = [f"{each.name}: {said.get(each.name) or _SAID[each.name]}" for each in parameters]
            listed = "\n".join(f"        {line}" for line in lines)
            cls.__doc__ += (
                f"\n\n    Args:\n{listed}\n\n    Raises:\n        ValueError: there is no such folder, or a value is "
                "not allowed.\n        RuntimeError: a file is missing or damaged.\n    "
            )

    def _given(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a call by name; those of its own become attributes."""
        try:
            bound = self.__signature__.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{type(self).__name__}: {error}") from None
        bound.apply_defaults()
        given = dict(bound.arguments)
        self.options: dict[str, Any] = {}
        if self.first == "dataset_dir":
            self.dataset_dir = folder_of(given.pop("dataset_dir"))
        for name, each in self.own.items():
            value = given.pop(name)
            self.options[name] = each.chosen(name, value) if isinstance(each, Choice) else value
            if not hasattr(type(self), name):
                setattr(self, name, self.options[name])
        self.decode = bool(given.pop("decode", False))
        return given

    def columns(self) -> list[str]:
        return list(self.names)

    def path(self, *parts: str) -> str:
        """A path in the folder."""
        return os.path.join(self.dataset_dir, *parts)

    def found(self, *parts: str) -> str:
        """The path of a file that must be there."""
        path = self.path(*parts)
        if not os.path.isfile(path):
            raise self.failed(f"there is no file {path}")
        return path

    def listed(self, *parts: str, ending: str | tuple[str, ...] = "", folders: bool = False) -> list[str]:
        """The sorted names in a folder that must be there."""
        path = self.path(*parts)
        if not os.path.isdir(path):
            raise self.failed(f"there is no folder {path}")
        kept = [each.name for each in os.scandir(path) if each.is_dir() == folders]
        return sorted(name for name in kept if name.lower().endswith(ending))

    def lines(self, *parts: str) -> list[str]:
        """The lines of a file that are not empty."""
        with open(self.found(*parts), encoding="utf-8") as stream:
            return [line.rstrip("\r\n") for line in stream if line.strip()]

    def failed(self, what: str) -> RuntimeError:
        """The error for files that are not as they should be."""
        return RuntimeError(f"{type(self).__name__}: {what}")


@dataclass(frozen=True, slots=True)
class Picture:
    """A part of a row that is an image in a file.

    Args:
        path: its path.
    """

    path: str

    def read(self, decode: bool) -> tuple[np.ndarray[Any, Any], ...]:
        """The image, or its bytes."""
        content = read_bytes(self.path)
        return (decoded(content, self.path) if decode else content,)


@dataclass(frozen=True, slots=True)
class Sound:
    """A part of a row that is sound in a WAV file: two columns, the samples and their rate.

    Args:
        path: its path.
        kind: element type of the rate.
        rate: the rate that it must have.
    """

    path: str
    kind: Any = np.int32
    rate: int | None = None

    def read(self, decode: bool) -> tuple[np.ndarray[Any, Any], ...]:
        """The samples from -1 to 1 in one row, those of several channels in turn, and the rate."""
        try:
            with wave.open(self.path, "rb") as stream:
                rate, width = stream.getframerate(), stream.getsampwidth()
                content = stream.readframes(stream.getnframes())
        except (wave.Error, EOFError) as error:
            raise RuntimeError(f"{self.path} is no file of WAV, or is damaged: {error}") from error
        if width != 2:
            raise RuntimeError(f"{self.path} has samples of {8 * width} bits, not 16")
        if self.rate is not None and rate != self.rate:
            raise RuntimeError(f"the sampling rate of {self.path} must be {self.rate}, not {rate}")
        samples = np.frombuffer(content, "<i2").astype(np.float32) / 32767
        return samples[None], np.asarray(rate, self.kind)


@dataclass(frozen=True, slots=True)
class Matlab:
    """A part of a row that is an array in a file of MATLAB.

    Args:
        path: its path.
        names: names of the array, one in the other.
    """

    path: str
    names: tuple[str, ...]

    def read(self, decode: bool) -> tuple[np.ndarray[Any, Any], ...]:
        """The array; of a cell of arrays, those on top of one another."""
        array = matlab(self.path, self.names[0])
        for name in self.names[1:]:
            array = array[name][0][0]
        if array.dtype.hasobject:
            array = np.stack([each[0].toarray() if hasattr(each[0], "toarray") else each[0] for each in array])
        return (array,)


def matlab(path: str, name: str) -> np.ndarray[Any, Any]:
    """An array in a file of MATLAB.

    Args:
        path: its path.
        name: its name.

    Raises:
        RuntimeError: the file is damaged, or has no such array.
    """
    if not os.path.isfile(path):
        raise FileNotFoundError(2, "No such file or directory", path)
    try:
        found: np.ndarray[Any, Any] = scipy_io.loadmat(path)[name]
    except (ValueError, KeyError, NotImplementedError) as error:
        raise RuntimeError(f"{path} is no file of MATLAB with {name}, or is damaged: {error}") from error
    return found


def number(value: Any, kind: Any = np.uint32) -> np.ndarray[Any, Any]:
    """A number as a part of a row."""
    return np.asarray(value).astype(kind)


class Listed(Declared, MappableDataset):
    """Rows that are known by number: for each its parts, of which some are read from files."""

    #: which part says the class, for samplers of classes
    class_part: ClassVar[int | None] = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(**self._given(args, kwargs))
        self.checked()
        self._entries: list[tuple[Any, ...]] | None = None

    def checked(self) -> None:
        """Refuse arguments that do not go together."""

    def entries(self) -> list[tuple[Any, ...]]:
        """The parts of each row."""
        raise NotImplementedError

    def known(self) -> list[tuple[Any, ...]]:
        """What `entries` gave."""
        if self._entries is None:
            self._entries = self.entries()
            if not self._entries:
                raise self.failed(f"there is nothing to read in {getattr(self, 'dataset_dir', 'the files')}")
        return self._entries

    def total(self) -> int:
        return len(self.known())

    def row_at(self, place: int) -> Row:
        row: list[np.ndarray[Any, Any]] = []
        for part in self.known()[place]:
            # a row is its reader's own: what changes it must not change the next epoch
            row += part.read(self.decode) if hasattr(part, "read") else (np.array(part),)
        return tuple(row)

    def labels(self) -> Any:
        return None if self.class_part is None else [int(entry[self.class_part]) for entry in self.known()]


class Images(Listed, VisionBaseDataset):
    """Images in files, and what is said of them."""

    shared = DECODED


class Sounds(Listed, AudioBaseDataset):
    """Sound in files, and what is said of it."""


class Lines(Declared, FilesDataset, TextBaseDataset):
    """Rows that files give one after the other."""

    shared = LINES
    shuffles_by = Shuffle.GLOBAL

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = self._given(args, kwargs)
        super().__init__(self.paths() if self.first == "dataset_dir" else given.pop(self.first), **given)

    def paths(self) -> list[str]:
        """The files."""
        raise NotImplementedError

    def _missing(self, paths: Sequence[str]) -> list[str]:
        for path in paths:
            if not os.path.isfile(path):
                raise self.failed(f"there is no file {path}")
        return list(paths)


def lines_of(path: str) -> Iterator[str]:
    """The lines of a file, empty ones too.

    Args:
        path: its path.
    """
    with open(path, encoding="utf-8", newline="\n") as stream:
        for line in stream:
            yield line.rstrip("\r\n")
