"""Samplers: which rows a source that knows its rows by number gives, and in which order."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np

from weft.data.checks import integer

Places = np.ndarray[Any, np.dtype[np.int64]]


class Shuffle(enum.StrEnum):
    """How a source that reads files orders their rows."""

    FALSE = "false"
    ADAPTIVE = "adaptive"
    GLOBAL = "global"
    PARTIAL = "partial"
    FILES = "files"
    INFILE = "infile"


class BuiltinSampler:
    """What chooses rows by their numbers.

    Args:
        num_samples: how many rows at most; None for all.
    """

    # a class of the program need not call the constructor
    num_samples: int | None = None
    child_sampler: Any = None
    #: the arguments that it was made with
    made_with: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        self = super().__new__(cls)
        self.made_with = (args, kwargs)
        return self

    def __init__(self, num_samples: int | None = None) -> None:
        if num_samples is not None and (isinstance(num_samples, bool) or not isinstance(num_samples, int)):
            raise TypeError(f"num_samples must be an int, not {type(num_samples).__name__}")
        if num_samples is not None and num_samples < 0:
            raise ValueError("num_samples exceeds the boundary between 0 and 9223372036854775807(INT64_MAX)!")
        self.num_samples = num_samples or None
        self.child_sampler = None

    def places(self, size: int, generator: np.random.Generator) -> Places:
        """The rows that are chosen of so many, before `num_samples`."""
        raise NotImplementedError

    def chosen(self, size: int, generator: np.random.Generator) -> Places:
        """The rows that are chosen of so many.

        Args:
            size: how many rows there are.
            generator: random numbers of this epoch.
        """
        if self.child_sampler is not None:
            inner = self.child_sampler.chosen(size, generator)
            return inner[_within(self._limited(self.places(len(inner), generator)), len(inner))]
        return _within(self._limited(self.places(size, generator)), size)

    def _limited(self, found: Places) -> Places:
        return found if self.num_samples is None else found[: self.num_samples]

    def count(self, size: int) -> int:
        """How many rows are chosen of so many.

        Args:
            size: how many rows there are.
        """
        return len(self.chosen(size, np.random.default_rng(0)))

    def add_child(self, sampler: Any) -> None:
        """Choose among the rows that another sampler chooses.

        Args:
            sampler: the other.
        """
        if sampler is not None and self.child_sampler is not None:
            raise RuntimeError("Cannot add child sampler, this sampler already has a child.")
        self.child_sampler = None if sampler is None else sampler_of(sampler)

    def get_child(self) -> Any:
        """The sampler among whose rows this one chooses."""
        return self.child_sampler

    def get_num_samples(self) -> int | None:
        """How many rows are chosen at most; None for all."""
        inner = self.child_sampler.get_num_samples() if self.child_sampler is not None else None
        known = [each for each in (self.num_samples, inner) if each is not None]
        return min(known) if known else None

    def is_shuffled(self) -> bool:
        """Whether the order is random."""
        return self.child_sampler is not None and self.child_sampler.is_shuffled()

    def is_sharded(self) -> bool:
        """Whether there are rows left to other processes."""
        return self.child_sampler is not None and self.child_sampler.is_sharded()


def _within(found: Places, size: int) -> Places:
    for place in found[(found < 0) | (found >= size)][:1]:
        raise RuntimeError(f"Sample ID ({place}) is out of bound, expected range [0, {size - 1}]")
    return found


class SequentialSampler(BuiltinSampler):
    """Rows in their order.

    Args:
        start_index: the first row.
        num_samples: how many; None for all.

    Example:
        >>> from weft import data as ds
        >>> [int(x) for (x,) in ds.NumpySlicesDataset([5, 6, 7], sampler=ds.SequentialSampler(1))]
        [6, 7]
    """

    def __init__(self, start_index: int | None = None, num_samples: int | None = None) -> None:
        super().__init__(num_samples)
        self.start_index = integer(0 if start_index is None else start_index, "start_index", 0)

    def places(self, size: int, generator: np.random.Generator) -> Places:
        return np.arange(self.start_index, size)


class RandomSampler(BuiltinSampler):
    """Rows in random order.

    Args:
        replacement: whether a row can be chosen several times.
        num_samples: how many; None for all.
        shuffle: kept.
    """

    def __init__(
        self, replacement: bool = False, num_samples: int | None = None, shuffle: Any = Shuffle.GLOBAL
    ) -> None:
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement must be a boolean value but was: {replacement}.")
        super().__init__(num_samples)
        self.replacement = replacement
        self.shuffle = shuffle

    def places(self, size: int, generator: np.random.Generator) -> Places:
        if self.replacement:
            return generator.integers(size, size=self.num_samples or size)
        return generator.permutation(size)

    def is_shuffled(self) -> bool:
        return True


class DistributedSampler(BuiltinSampler):
    """Every so many-th row: the part of one process of several.

    Args:
        num_shards: how many parts there are.
        shard_id: which part is read.
        shuffle: whether the rows are shuffled before, alike in all processes with the same seed.
        num_samples: how many; None for all.
        offset: which part the first row is in; -1 for the first.
    """

    def __init__(
        self, num_shards: int, shard_id: int, shuffle: bool = True, num_samples: int | None = None, offset: int = -1
    ) -> None:
        super().__init__(num_samples)
        self.num_shards = integer(num_shards, "num_shards")
        self.shard_id = integer(shard_id, "shard_id", 0)
        if self.shard_id >= self.num_shards:
            raise ValueError(f"shard_id {shard_id} must be smaller than num_shards {num_shards}")
        if not isinstance(shuffle, bool):
            raise TypeError(f"shuffle must be a boolean value but was: {shuffle}.")
        if offset > num_shards:
            raise RuntimeError(f"offset {offset} must not be larger than num_shards {num_shards}")
        self.shuffle = shuffle
        self.offset = offset
        #: whether parts that would be smaller begin again with the first rows
        self.wraps = True

    def places(self, size: int, generator: np.random.Generator) -> Places:
        offset = max(0, self.offset)
        each = -(-(size + offset) // self.num_shards)
        found = np.arange(each) * self.num_shards + self.shard_id - offset
        found = found[found >= 0]
        found = found % max(1, size) if self.wraps else found[found < size]
        return generator.permutation(size)[found] if self.shuffle else found

    def is_shuffled(self) -> bool:
        return self.shuffle or super().is_shuffled()

    def is_sharded(self) -> bool:
        return self.num_shards > 1 or super().is_sharded()


class SubsetSampler(BuiltinSampler):
    """The rows of a list.

    Args:
        indices: their numbers.
        num_samples: how many; None for all.
    """

    def __init__(self, indices: Any, num_samples: int | None = None) -> None:
        super().__init__(num_samples)
        listed = list(indices) if isinstance(indices, Iterable) else [indices]
        for place, each in enumerate(listed):
            if isinstance(each, bool) or not isinstance(each, (int, np.integer)):
                raise TypeError(
                    f"{type(self).__name__}: Type of indices element must be int, "
                    f"but got list[{place}]: {each}, type: {type(each)}."
                )
        self.indices = [int(each) for each in listed]

    def places(self, size: int, generator: np.random.Generator) -> Places:
        return np.asarray(self.indices, np.int64)

    def get_num_samples(self) -> int | None:
        found = super().get_num_samples()
        return len(self.indices) if found is None else min(found, len(self.indices))


class SubsetRandomSampler(SubsetSampler):
    """The rows of a list, in random order."""

    def places(self, size: int, generator: np.random.Generator) -> Places:
        return generator.permutation(np.asarray(self.indices, np.int64))

    def is_shuffled(self) -> bool:
        return True


class IterSampler(BuiltinSampler):
    """The rows that an iterable of the program gives, anew in each epoch.

    Args:
        sampler: the iterable.
        num_samples: how many; None for all.
    """

    def __init__(self, sampler: Any, num_samples: int | None = None) -> None:
        super().__init__(num_samples)
        self.sampler = sampler

    def places(self, size: int, generator: np.random.Generator) -> Places:
        found = [int(each) for each in self.sampler]
        return np.asarray(found, np.int64)


class WeightedRandomSampler(BuiltinSampler):
    """Rows with probabilities.

    Args:
        weights: the weight of each row; the probabilities are proportional to them.
        num_samples: how many; None for as many as there are rows.
        replacement: whether a row can be chosen several times.
    """

    def __init__(self, weights: Any, num_samples: int | None = None, replacement: bool = True) -> None:
        super().__init__(num_samples)
        listed = list(weights) if isinstance(weights, Iterable) else [weights]
        for each in listed:
            if isinstance(each, bool) or not isinstance(each, (int, float, np.number)):
                raise TypeError(f"WeightedRandomSampler: a weight must be a number, not {type(each).__name__}")
        if not listed:
            raise ValueError("WeightedRandomSampler: weights must not be empty")
        if min(listed) < 0 or sum(listed) <= 0:
            raise ValueError("WeightedRandomSampler: weights must not be negative, nor all be zero")
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement must be a boolean value but was: {replacement}.")
        self.weights = np.asarray(listed, np.float64)
        self.replacement = replacement

    def places(self, size: int, generator: np.random.Generator) -> Places:
        count = self.num_samples or size
        if self.replacement:
            return generator.choice(len(self.weights), count, p=self.weights / self.weights.sum())
        if count > len(self.weights):
            raise RuntimeError("WeightedRandomSampler: num_samples is larger than the number of weights")
        # the smallest of exponential waiting times; rows without weight come last
        with np.errstate(divide="ignore"):
            waiting = generator.exponential(size=len(self.weights)) / self.weights
        return np.argsort(waiting, kind="stable")[:count]

    def is_shuffled(self) -> bool:
        return True


class PKSampler(BuiltinSampler):
    """So many rows of each of so many classes.

    Args:
        num_val: rows of each class.
        num_class: kept: all classes are read.
        shuffle: whether the classes come in random order.
        class_column: the column of the class.
        num_samples: how many rows at most.
    """

    def __init__(
        self,
        num_val: int,
        num_class: int | None = None,
        shuffle: bool = False,
        class_column: str = "label",
        num_samples: int | None = None,
    ) -> None:
        super().__init__(num_samples)
        self.num_val = integer(num_val, "num_val")
        if num_class is not None:
            raise NotImplementedError("Not supported to specify num_class for PKSampler.")
        if not isinstance(shuffle, bool):
            raise TypeError(f"shuffle must be a boolean value but was: {shuffle}.")
        self.shuffle = shuffle
        self.class_column = class_column
        #: the class of each row, which the source says
        self.labels: Any = None

    def places(self, size: int, generator: np.random.Generator) -> Places:
        if self.labels is None:
            raise ValueError("PKSampler needs a source that knows the classes of its rows")
        labels = np.asarray(self.labels)[:size]
        classes = np.unique(labels)
        if self.shuffle:
            classes = generator.permutation(classes)
        found = []
        for each in classes:
            rows = np.flatnonzero(labels == each)
            if self.shuffle:
                rows = generator.permutation(rows)
            found.append(rows[: self.num_val])
        return np.concatenate(found) if found else np.zeros(0, np.int64)

    def is_shuffled(self) -> bool:
        return self.shuffle or super().is_shuffled()


class Sampler(BuiltinSampler):
    """A sampler of the program: a class with `__iter__`, which gives numbers of rows.

    Args:
        num_samples: how many; None for all.

    Example:
        >>> from weft import data as ds
        >>> class Backwards(ds.Sampler):
        ...     def __iter__(self):
        ...         yield from range(self.dataset_size - 1, -1, -1)
        >>> [int(x) for (x,) in ds.NumpySlicesDataset([5, 6, 7], sampler=Backwards())]
        [7, 6, 5]
    """

    dataset_size: int = 0

    def __iter__(self) -> Iterator[int]:
        raise NotImplementedError("a sampler defines __iter__")

    def reset(self) -> None:
        """Called before each epoch."""

    def places(self, size: int, generator: np.random.Generator) -> Places:
        self.dataset_size = size
        return np.asarray([int(each) for each in self], np.int64)


def sampler_of(given: Any) -> Any:
    """A sampler, or what makes one of an iterable.

    Args:
        given: the sampler or iterable.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(given, BuiltinSampler):
        return given
    if isinstance(given, str) or not (isinstance(given, Iterable) or hasattr(given, "__getitem__")):
        raise TypeError("sampler should be either iterable or from mindspore.dataset.samplers.")
    if isinstance(given, (list, tuple, np.ndarray)):
        return SubsetSampler(given)
    return IterSampler(given)


def chosen_sampler(
    sampler: Any,
    num_samples: int | None,
    shuffle: Any,
    num_shards: int | None,
    shard_id: int | None,
    shuffles: bool,
    conflict: type[Exception] = RuntimeError,
) -> Any:
    """The sampler that the arguments of a source stand for.

    Args:
        sampler: a sampler or iterable, or None.
        num_samples: how many rows at most.
        shuffle: whether in random order; None for the source's own choice.
        num_shards: how many parts there are.
        shard_id: which of them is read.
        shuffles: the source's own choice.
        conflict: class of the error for arguments that contradict each other.

    Raises:
        RuntimeError: the arguments contradict each other.
    """
    if num_samples is not None:
        integer(num_samples, "num_samples", 0)
    if shuffle is not None and not isinstance(shuffle, (bool, Shuffle)):
        raise TypeError(f"shuffle must be a bool, not {type(shuffle).__name__}")
    if (num_shards is None) != (shard_id is None):
        raise conflict("num_shards and shard_id need to be passed in together.")
    if sampler is not None:
        if not (num_samples is None and num_shards is None and shard_id is None and shuffle is None):
            raise conflict(
                f"Conflicting arguments during sampler assignments. num_samples: {num_samples}, "
                f"num_shards: {num_shards}, shard_id: {shard_id}, shuffle: {shuffle}."
            )
        return sampler_of(sampler)
    random = shuffles if shuffle is None else shuffle not in (False, Shuffle.FALSE)
    if num_shards is not None and shard_id is not None:
        return DistributedSampler(num_shards, shard_id, random, num_samples)
    return RandomSampler(num_samples=num_samples) if random else SequentialSampler(num_samples=num_samples)
