"""Vocabularies: texts and their numbers, and texts and their vectors."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from weft.data import checks


class Vocab:
    """Words and their numbers. Made by `from_list`, `from_dict`, `from_file` or `from_dataset`.

    Example:
        >>> vocab = Vocab.from_list(["deep", "learning"], special_tokens=["<unk>"])
        >>> vocab.tokens_to_ids(["learning", "deep"])
        [2, 1]
    """

    def __init__(self) -> None:
        self._ids: dict[str, int] | None = None
        self._words: dict[int, str] = {}

    @classmethod
    def _of(cls, ids: Mapping[str, int]) -> Vocab:
        made = cls()
        made._ids = dict(ids)
        made._words = {number: word for word, number in ids.items()}
        return made

    @property
    def ids(self) -> dict[str, int]:
        """Word -> number."""
        if self._ids is None:
            raise RuntimeError(
                "The Vocab has not built yet. Use Vocab.from_dataset(), Vocab.from_list(), Vocab.from_file() or "
                "Vocab.from_dict() to build a Vocab."
            )
        return self._ids

    def vocab(self) -> dict[str, int]:
        """The words and their numbers.

        Returns:
            dict: word -> number.
        """
        return dict(self.ids)

    def tokens_to_ids(self, tokens: Any) -> Any:
        """The numbers of words.

        Args:
            tokens: a word, or a list or array of words.

        Returns:
            The number, or a list of them; -1 for a word that is not there.
        """
        checks.of_type(tokens, (str, list, np.ndarray), "tokens")
        if isinstance(tokens, str):
            return self.ids.get(tokens, -1)
        words = tokens.tolist() if isinstance(tokens, np.ndarray) else tokens
        for place, word in enumerate(words):
            checks.of_type(word, str, f"tokens[{place}]")
        return [self.ids.get(word, -1) for word in words]

    def ids_to_tokens(self, ids: Any) -> Any:
        """The words of numbers.

        Args:
            ids: a number, or a list or array of numbers.

        Returns:
            The word, or a list of them; the empty text for a number that is not there.
        """
        checks.of_type(ids, (int, list, np.ndarray), "ids")
        numbers = ids.tolist() if isinstance(ids, np.ndarray) else ids if isinstance(ids, list) else [ids]
        for number in numbers:
            checks.integer(number, "ids", 0)
        known = self.ids and self._words
        words = [known.get(number, "") if known else "" for number in numbers]
        return words[0] if isinstance(ids, int) else words

    @classmethod
    def from_list(
        cls, word_list: list[str], special_tokens: list[str] | None = None, special_first: bool = True
    ) -> Vocab:
        """The words of a list, in its order.

        Args:
            word_list: the words.
            special_tokens: further words.
            special_first: whether these come first.

        Returns:
            Vocab: the vocabulary.
        """
        checks.of_type(word_list, list, "word_list")
        for word in word_list:
            checks.of_type(word, str, "word_list")
        _without_repetition(word_list, "word_list")
        return cls._of(_numbered(word_list, special_tokens, special_first))

    @classmethod
    def from_dict(cls, word_dict: dict[str, int]) -> Vocab:
        """The words and numbers of a dict.

        Args:
            word_dict: word -> number.

        Returns:
            Vocab: the vocabulary.
        """
        checks.of_type(word_dict, dict, "word_dict")
        for word, number in word_dict.items():
            checks.of_type(word, str, "word")
            checks.integer(number, "word_id", 0)
        return cls._of(word_dict)

    @classmethod
    def from_file(
        cls,
        file_path: str,
        delimiter: str = "",
        vocab_size: int | None = None,
        special_tokens: list[str] | None = None,
        special_first: bool = True,
    ) -> Vocab:
        """The words of a file, one in a line.

        Args:
            file_path: path of the file.
            delimiter: where words end within lines; the empty text for lines that are words.
            vocab_size: how many words are read; None for all.
            special_tokens: further words.
            special_first: whether these come first.

        Returns:
            Vocab: the vocabulary.
        """
        checks.of_type(file_path, str, "file_path")
        checks.of_type(delimiter, str, "delimiter")
        if vocab_size is not None:
            _positive(vocab_size, "vocab_size")
        checks.boolean(special_first, "special_first")
        words = []
        for line in _lines_of(file_path)[: vocab_size if vocab_size is not None else None]:
            words.append(line.split(delimiter)[0] if delimiter else line)
        _without_repetition(words, "file")
        return cls._of(_numbered(words, special_tokens, special_first))

    @classmethod
    def from_dataset(
        cls,
        dataset: Any,
        columns: str | list[str] | None = None,
        freq_range: tuple[int | None, int | None] | None = None,
        top_k: int | None = None,
        special_tokens: list[str] | None = None,
        special_first: bool = True,
    ) -> Vocab:
        """The words of a data set, the most frequent first, those of one frequency in the order of the alphabet.

        Args:
            dataset: the data set.
            columns: the columns that hold words; None for all.
            freq_range: how often a word must and may occur at least and at most; None for any number.
            top_k: how many words are taken; None for all.
            special_tokens: further words.
            special_first: whether these come first.

        Returns:
            Vocab: the vocabulary.
        """
        if not hasattr(dataset, "create_dict_iterator"):
            raise TypeError(f"Argument dataset with value {dataset} is not a data set, but {type(dataset)}.")
        if top_k is not None:
            _positive(top_k, "top_k")
        names = [columns] if isinstance(columns, str) else columns
        low, high = (None, None) if freq_range is None else checks.pair(freq_range, "freq_range")
        counts: Counter[str] = Counter()
        for row in dataset.create_dict_iterator(num_epochs=1, output_numpy=True):
            for name in names or list(row):
                if name not in row:
                    raise ValueError(f"the data set has no column {name!r}; its columns are {list(row)}.")
                counts.update(np.asarray(row[name]).astype(np.str_).ravel().tolist())
        kept = [
            word
            for word, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
            if (low is None or count >= low) and (high is None or count <= high)
        ]
        return cls._of(_numbered(kept[:top_k], special_tokens, special_first))


def _positive(value: Any, name: str) -> None:
    checks.of_type(value, int, name)
    checks.within(value, 0, checks.INT32_MAX, name, without_low=True)


def _without_repetition(words: Sequence[str], name: str) -> None:
    if len(set(words)) != len(words):
        repeated = next(word for word, count in Counter(words).items() if count > 1)
        raise ValueError(f"{name} contains duplicate word: {repeated}.")


def _numbered(words: Sequence[str], special: Any, first: bool) -> dict[str, int]:
    checks.boolean(first, "special_first")
    further: list[str] = []
    if special is not None:
        checks.of_type(special, list, "special_tokens")
        for word in special:
            checks.of_type(word, str, "special_tokens")
        further = list(special)
        _without_repetition(further, "special_tokens")
        both = set(further) & set(words)
        if both:
            raise ValueError(f"special_tokens and word_list contain duplicate word: {both}.")
    ordered = [*further, *words] if first else [*words, *further]
    return {word: number for number, word in enumerate(ordered)}


def _lines_of(path: str) -> list[str]:
    if not os.path.isfile(path):
        raise RuntimeError(f"the file {path} does not exist.")
    with open(path, encoding="utf-8") as file:
        return [line.removesuffix("\n") for line in file]


class Vectors:
    """Words and their vectors, read from a file with a word and its numbers in each line."""

    #: what the name of the file must match, and how that is said
    form: str | None = None
    said = ""

    def __init__(self, vectors: dict[str, Any]) -> None:
        self.vectors = vectors
        self.dim = len(next(iter(vectors.values()))) if vectors else 0

    @classmethod
    def from_file(cls, file_path: str, max_vectors: int | None = None) -> Vectors:
        """Read a file.

        Args:
            file_path: path of the file.
            max_vectors: how many are read; None for all.

        Returns:
            Vectors: the vectors.
        """
        checks.of_type(file_path, str, "file_path")
        if max_vectors is not None:
            checks.integer(max_vectors, "max_vectors", 0)
        if cls.form is not None and not re.fullmatch(cls.form, os.path.basename(file_path)):
            raise RuntimeError(f"{cls.__name__}: invalid file, can not find file '{cls.said}', but got: {file_path}")
        read: dict[str, Any] = {}
        for line in _lines_of(file_path):
            if max_vectors and len(read) >= max_vectors:
                break
            word, *numbers = line.rstrip().split(" ")
            if len(numbers) < 2:  # the first line of some formats says how many there are
                continue
            try:
                vector = np.array(numbers, np.float32)
            except ValueError:
                raise RuntimeError(f"{cls.__name__}: {file_path} has a line without numbers: {line!r}") from None
            if read and len(vector) != len(next(iter(read.values()))):
                raise RuntimeError(f"{cls.__name__}: {file_path} has vectors of different lengths.")
            read.setdefault(word, vector)
        return cls(read)

    def of(self, word: str) -> Any:
        """The vector of a word; None where there is none."""
        return self.vectors.get(word)


class GloVe(Vectors):
    """Vectors of a file of GloVe."""

    form, said = r"glove\.6B\..*\.txt", "glove.6B.*.txt"


class FastText(Vectors):
    """Vectors of a file of FastText."""

    form, said = r".*\.vec", "*.vec"


class CharNGram(Vectors):
    """Vectors of short sequences of letters; that of a word is the mean of those of its sequences."""

    def of(self, word: str) -> Any:
        letters = ["#BEGIN#", *word, "#END#"]
        found = []
        for length in (2, 3, 4):
            for start in range(len(letters) - length + 1):
                sequence = letters[start : start + length]
                key = f"{length}gram-{''.join(sequence)}"
                if key in self.vectors:
                    found.append(self.vectors[key])
        return np.mean(found, axis=0, dtype=np.float32) if found else None
