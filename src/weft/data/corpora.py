"""Sources of known corpora of texts: news, reviews and articles with labels, and running text."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from weft.data.conversion import Row
from weft.data.files import folder_of, one_of
from weft.data.kinds import TextBaseDataset
from weft.data.samplers import Shuffle
from weft.data.sources import MappableDataset
from weft.data.texts import CSVDataset, FilesDataset

_ARGS = """

    Args:
        dataset_dir: the folder of the files.
        usage: {usages}, or ``"all"``, which it is if not said.
        num_samples: how many rows at most.
        num_parallel_workers: from how many files rows are taken in turn.
        shuffle: a `Shuffle`, or whether rows come in random order.
        num_shards: how many parts there are.
        shard_id: which of them is read.
        cache: kept.

    Raises:
        ValueError: there is no such folder or usage.
        RuntimeError: a file is missing or damaged.
    """


def _files(owner: str, dataset_dir: Any, usage: Any, names: dict[str, str], usages: tuple[str, ...]) -> list[str]:
    """The files of a usage, which must be there."""
    folder = folder_of(dataset_dir)
    chosen = one_of("usage", "all" if usage is None else usage, (*usages, "all"))
    paths = []
    for part, name in names.items():
        if chosen in (part, "all"):
            paths.append(os.path.join(folder, name))
            if not os.path.isfile(paths[-1]):
                raise RuntimeError(f"{owner}: there is no file {name} in {folder}")
    return paths


class _Labelled(CSVDataset):
    """Texts with labels in ``train.csv`` and ``test.csv``."""

    names: ClassVar[tuple[str, ...]]
    #: the parts in the order of their files
    parts_in_order: ClassVar[tuple[str, ...]] = ("test", "train")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.__doc__ = (cls.__doc__ or "") + _ARGS.format(usages='``"train"``, ``"test"``')

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: Any = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        names = {part: f"{part}.csv" for part in self.parts_in_order}
        super().__init__(
            _files(type(self).__name__, dataset_dir, usage, names, ("train", "test")),
            column_names=list(self.names),
            num_samples=num_samples,
            num_parallel_workers=num_parallel_workers,
            shuffle=shuffle,
            num_shards=num_shards,
            shard_id=shard_id,
            cache=cache,
        )
        self.dataset_dir = dataset_dir
        self.usage = usage


class AGNewsDataset(_Labelled):
    """AG News: columns index, title and description, texts."""

    names = ("index", "title", "description")


class AmazonReviewDataset(_Labelled):
    """Amazon reviews, full or by polarity: columns label, title and content, texts."""

    names = ("label", "title", "content")


class DBpediaDataset(_Labelled):
    """DBpedia: columns class, title and content, texts."""

    names = ("class", "title", "content")


class SogouNewsDataset(_Labelled):
    """Sogou News: columns index, title and content, texts."""

    names = ("index", "title", "content")
    parts_in_order = ("train", "test")


class YahooAnswersDataset(_Labelled):
    """Yahoo Answers: columns class, title, content and answer, texts."""

    names = ("class", "title", "content", "answer")


class YelpReviewDataset(_Labelled):
    """Yelp reviews, full or by polarity: columns label and text, texts."""

    names = ("label", "text")
    parts_in_order = ("train", "test")

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        num_samples: int | None = None,
        shuffle: Any = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        num_parallel_workers: int | None = None,
        cache: Any = None,
    ) -> None:
        super().__init__(dataset_dir, usage, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)


class _Running(FilesDataset, TextBaseDataset):
    """The lines of running text that are not empty."""

    files: ClassVar[dict[str, str]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.__doc__ = (cls.__doc__ or "") + _ARGS.format(usages='``"train"``, ``"valid"``, ``"test"``')

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: Any = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        paths = _files(type(self).__name__, dataset_dir, usage, self.files, ("train", "valid", "test"))
        super().__init__(paths, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)
        self.dataset_dir = dataset_dir
        self.usage = usage

    def columns(self) -> list[str]:
        return ["text"]

    def rows_in(self, path: str) -> Iterator[Row]:
        with open(path, encoding="utf-8", newline="\n") as stream:
            for line in stream:
                text = line.rstrip("\r\n")
                if text:
                    yield (np.asarray(text),)


class WikiTextDataset(_Running):
    """WikiText2 or WikiText103: the lines that are not empty, in the column text."""

    files = {part: f"wiki.{part}.tokens" for part in ("test", "train", "valid")}


class PennTreebankDataset(_Running):
    """Penn Treebank: the lines that are not empty, in the column text."""

    files = {part: f"ptb.{part}.txt" for part in ("test", "train", "valid")}


class IMDBDataset(MappableDataset, TextBaseDataset):
    """IMDB: reviews of films, columns text and label (1 for good, 0 for bad).

    Args:
        dataset_dir: the folder of the folders ``train`` and ``test``, each with ``pos`` and ``neg``.
        usage: ``"train"``, ``"test"``, or ``"all"``, which it is if not said.
        num_samples: how many rows at most.
        num_parallel_workers: how many rows may be in work at once.
        shuffle: whether in random order, which it is if not said.
        sampler: chooses rows.
        num_shards: how many parts there are.
        shard_id: which of them is read.
        cache: kept.

    Raises:
        ValueError: there is no such folder or usage.
        RuntimeError: there are no reviews.
    """

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: Any = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        self.dataset_dir = folder_of(dataset_dir)
        self.usage = one_of("usage", "all" if usage is None else usage, ("train", "test", "all"))
        super().__init__(num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)
        self._files: list[tuple[str, int]] | None = None

    def _listed(self) -> list[tuple[str, int]]:
        if self._files is None:
            found: list[tuple[str, int]] = []
            for part in ("train", "test"):
                for name, label in (("pos", 1), ("neg", 0)):
                    folder = os.path.join(self.dataset_dir, part, name)
                    if self.usage in (part, "all") and os.path.isdir(folder):
                        found += [
                            (os.path.join(folder, each), label)
                            for each in sorted(os.listdir(folder))
                            if each.endswith(".txt")
                        ]
            if not found:
                raise RuntimeError(f"IMDBDataset: there are no reviews in the folders of {self.dataset_dir}")
            self._files = found
        return self._files

    def columns(self) -> list[str]:
        return ["text", "label"]

    def total(self) -> int:
        return len(self._listed())

    def row_at(self, place: int) -> Row:
        path, label = self._listed()[place]
        with open(path, encoding="utf-8") as stream:
            return np.asarray(stream.read().rstrip("\r\n")), np.asarray(label, np.int32)

    def labels(self) -> Any:
        return [label for _, label in self._listed()]
