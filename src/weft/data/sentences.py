"""Sources of texts in lines, in JSON and in pairs of languages: CLUE, CoNLL2000, EnWik9, IWSLT, Multi30k, SQuAD..."""

from __future__ import annotations

import itertools
import json
import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Final

import numpy as np

from weft.data.conversion import Row
from weft.data.declared import LINES, PARTS, PARTS_OF_FOUR, SENTENCES, Choice, Given, Lines, lines_of, number
from weft.data.kinds import VisionBaseDataset

_PAIR: Final = ("sentence1", "sentence2")
_SPANS: Final = ("span1_index", "span1_text", "span2_index", "span2_text")
#: columns by task, and those that rows of the usage "test" have
_TASKS: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "AFQMC": (("label", *_PAIR), ("id", *_PAIR)),
    "TNEWS": (("keywords", "label", "label_desc", "sentence"), ("id", "keywords", "sentence")),
    "IFLYTEK": (("label", "label_des", "sentence"), ("id", "sentence")),
    "CMNLI": (("label", *_PAIR), ("id", *_PAIR)),
    "WSC": (("idx", "label", *_SPANS, "text"), ("idx", *_SPANS, "text")),
    "CSL": (("abst", "id", "keyword", "label"), ("abst", "id", "keyword")),
}


class CLUEDataset(Lines):
    """CLUE: what a line of JSON says, with columns by task and usage."""

    first = "dataset_files"
    own = {"task": Choice(tuple(_TASKS), "AFQMC"), "usage": Choice(("train", "test", "eval"), "train")}
    task: str
    usage: str

    def columns(self) -> list[str]:
        return list(_TASKS[self.task][self.usage == "test"])

    def rows_in(self, path: str) -> Iterator[Row]:
        columns = self.columns()
        for line in filter(str.strip, lines_of(path)):
            try:
                said = json.loads(line)
                said = {**said, **said.get("target", {})} if self.task == "WSC" else said
                values = [said[name] for name in columns]
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise self.failed(f"{path} has a line that cannot be read: {error}") from error
            yield tuple([number(each) if isinstance(each, int) else np.asarray(each, np.str_) for each in values])


class _Tagged(Lines):
    """Sentences, a word a line, with what is said of it in columns."""

    shared = SENTENCES
    between: ClassVar[str]
    files: ClassVar[dict[str, str]]
    usage: str

    def paths(self) -> list[str]:
        return self._missing([self.path(name) for part, name in self.files.items() if self.usage in (part, "all")])

    def rows_in(self, path: str) -> Iterator[Row]:
        # a sentence ends with an empty line, or with the file
        for empty, group in itertools.groupby(lines_of(path), lambda line: not line.strip()):
            if empty:
                continue
            words = [line.split(self.between) for line in group]
            if any(len(word) != len(self.names) for word in words):
                raise self.failed(f"{path} has a line without {len(self.names)} values")
            yield tuple([np.asarray(column, np.str_) for column in zip(*words, strict=True)])


class CoNLL2000Dataset(_Tagged):
    """CoNLL-2000: sentences, columns word, pos_tag and chunk_tag, arrays of texts."""

    own = {"usage": PARTS}
    names = ("word", "pos_tag", "chunk_tag")
    between = " "
    files = {part: f"{part}.txt" for part in ("test", "train")}


class UDPOSDataset(_Tagged):
    """Universal Dependencies: sentences, columns word, universal and stanford, arrays of texts."""

    own = {"usage": PARTS_OF_FOUR}
    names = ("word", "universal", "stanford")
    between = "\t"
    files = {
        part: f"en-ud-tag.v2.{name}.txt" for part, name in (("valid", "dev"), ("test", "test"), ("train", "train"))
    }


class EnWik9Dataset(Lines):
    """EnWik9: the lines of an extract from Wikipedia, empty ones too, in the column text."""

    shuffles_by: ClassVar[Any] = True
    names = ("text",)

    def paths(self) -> list[str]:
        return self._missing([self.path("enwik9")])

    def rows_in(self, path: str) -> Iterator[Row]:
        for line in lines_of(path):
            yield (np.asarray(line),)


class SST2Dataset(Lines):
    """SST-2: sentences of reviews, columns sentence and label, texts; those of the usage "test" have no label."""

    own = {"usage": Choice(("train", "test", "dev"), None, "train")}
    usage: str

    def columns(self) -> list[str]:
        return ["sentence"] if self.usage == "test" else ["sentence", "label"]

    def paths(self) -> list[str]:
        return self._missing([self.path(f"{self.usage}.tsv")])

    def rows_in(self, path: str) -> Iterator[Row]:
        for line in itertools.islice(filter(None, lines_of(path)), 1, None):
            fields = line.split("\t")
            if len(fields) != 2:
                raise self.failed(f"{path} has a line without two values")
            yield tuple([np.asarray(each) for each in fields[self.usage == "test" :]])


class SQuADDataset(Lines):
    """SQuAD: questions about texts, columns context, question, text (of the answers) and answer_start (uint32)."""

    own = {"usage": Choice(("train", "dev", "all"), None, "all")}
    names = ("context", "question", "text", "answer_start")
    usage: str

    def paths(self) -> list[str]:
        parts = [part for part in ("dev", "train") if self.usage in (part, "all")]
        found = [self.path(f"{part}-v{version}.json") for part in parts for version in ("1.1", "2.0")]
        there = [path for path in found if os.path.isfile(path)]
        if len(there) < len(parts):
            raise self.failed(f"there are no files of {' and '.join(parts)} in {self.dataset_dir}")
        return there

    def rows_in(self, path: str) -> Iterator[Row]:
        try:
            with open(path, encoding="utf-8") as stream:
                articles = json.load(stream)["data"]
            rows = [
                (paragraph["context"], each["question"], [(a["text"], a["answer_start"]) for a in each["answers"]])
                for article in articles
                for paragraph in article["paragraphs"]
                for each in paragraph["qas"]
            ]
        except (ValueError, KeyError, TypeError) as error:
            raise self.failed(f"{path} cannot be read: {error}") from error
        for context, question, answers in rows:
            # a question without an answer has one of no text at no place
            texts, starts = zip(*(answers or [("", 2**32 - 1)]), strict=True)
            yield np.asarray(context), np.asarray(question), np.asarray(texts, np.str_), number(starts)


def _in_lines(path: str) -> list[str]:
    return list(lines_of(path))


def _in_tags(path: str) -> list[str]:
    """The lines of a talk that hold no tag."""
    return [line.strip() for line in lines_of(path) if line.strip() and not line.startswith("<")]


def _in_segments(path: str) -> list[str]:
    """The segments of a document."""
    try:
        return [(each.text or "").strip() for each in ElementTree.parse(path).getroot().iter("seg")]
    except ElementTree.ParseError as error:
        raise RuntimeError(f"{path} cannot be read: {error}") from error


class _Translated(Lines):
    """Texts in two languages, line by line: columns text and translation."""

    shared = SENTENCES
    names = ("text", "translation")
    pairs: ClassVar[tuple[tuple[str, str], ...]]
    usual: ClassVar[tuple[str, str]] = ("de", "en")
    usage: str
    language_pair: Any

    def files(self) -> dict[str, str]:
        """The files of each part, with braces for the language."""
        raise NotImplementedError

    def paths(self) -> list[str]:
        if self.language_pair is None:
            self.language_pair = self.usual
        if not isinstance(self.language_pair, (list, tuple)):
            raise TypeError(f"language_pair should be a list or tuple of languages, but got {self.language_pair!r}.")
        if tuple(self.language_pair) not in self.pairs:
            raise ValueError(f"language_pair should be one of {self.pairs}, but got {self.language_pair!r}.")
        first, second = self.language_pair
        chosen = [self.path(name) for part, name in self.files().items() if self.usage in (part, "all")]
        self._others = {name.format(first): name.format(second) for name in chosen}
        self._missing([*self._others, *self._others.values()])
        return list(self._others)

    def rows_in(self, path: str) -> Iterator[Row]:
        name = os.path.basename(path)
        read: Callable[[str], list[str]] = (
            _in_tags if name.startswith("train.tags") else _in_segments if name.endswith(".xml") else _in_lines
        )
        texts, others = read(path), read(self._others[path])
        if len(texts) != len(others):
            raise self.failed(f"{path} and {self._others[path]} have different numbers of lines")
        for text, other in zip(texts, others, strict=True):
            yield np.asarray(text), np.asarray(other)


class Multi30kDataset(_Translated):
    """Multi30k: descriptions of images in English and German."""

    shared = LINES
    shuffles_by: ClassVar[Any] = None
    own = {"usage": PARTS_OF_FOUR, "language_pair": Given("the two languages; ``['en', 'de']`` if not given.", None)}
    pairs = (("en", "de"), ("de", "en"))
    usual = ("en", "de")

    def files(self) -> dict[str, str]:
        return {"test": "mmt16_task1_test/test.{}", "train": "training/train.{}", "valid": "validation/val.{}"}


_SETS: Final = ("dev2010", "tst2010", "tst2011", "tst2012", "tst2013", "tst2014")


class IWSLT2016Dataset(_Translated):
    """IWSLT 2016: talks in two languages."""

    own = {
        "usage": PARTS_OF_FOUR,
        "language_pair": Given("the two languages; ``('de', 'en')`` if not given.", None),
        "valid_set": Choice(_SETS, None, "tst2013"),
        "test_set": Choice(_SETS, None, "tst2014"),
    }
    pairs = tuple(pair for other in ("fr", "de", "cs", "ar") for pair in (("en", other), (other, "en")))
    valid_set: str
    test_set: str

    def files(self) -> dict[str, str]:
        first, second = self.language_pair
        folder = os.path.join("texts", first, second, f"{first}-{second}")
        document = os.path.join(folder, f"IWSLT16.TED.{{}}.{first}-{second}.{{{{}}}}.xml")
        return {
            "train": os.path.join(folder, f"train.tags.{first}-{second}.{{}}"),
            "valid": document.format(self.valid_set),
            "test": document.format(self.test_set),
        }


class IWSLT2017Dataset(_Translated):
    """IWSLT 2017: talks in two of German, English, Italian, Dutch and Romanian."""

    own = {"usage": PARTS_OF_FOUR, "language_pair": Given("the two languages; ``('de', 'en')`` if not given.", None)}
    pairs = tuple(itertools.permutations(("en", "nl", "de", "it", "ro"), 2))

    def files(self) -> dict[str, str]:
        pair = "-".join(self.language_pair)
        folder = os.path.join("texts", "DeEnItNlRo", "DeEnItNlRo", "DeEnItNlRo-DeEnItNlRo")
        return {
            "train": os.path.join(folder, f"train.tags.{pair}.{{}}"),
            "valid": os.path.join(folder, f"IWSLT17.TED.dev2010.{pair}.{{}}.xml"),
            "test": os.path.join(folder, f"IWSLT17.TED.tst2010.{pair}.{{}}.xml"),
        }


class USPSDataset(Lines, VisionBaseDataset):
    """USPS: images of digits of 16 x 16 x 1 from lines of numbers, and labels."""

    own = {"usage": PARTS}
    names = ("image", "label")
    usage: str

    def paths(self) -> list[str]:
        files = {"train": "usps", "test": "usps.t"}
        return self._missing([self.path(name) for part, name in files.items() if self.usage in (part, "all")])

    def rows_in(self, path: str) -> Iterator[Row]:
        for line in filter(str.strip, lines_of(path)):
            label, *values = line.split()
            try:
                pixels = np.array([float(each.split(":")[1]) for each in values])
                place = int(label) - 1
            except (ValueError, IndexError) as error:
                raise self.failed(f"{path} has a line that cannot be read: {error}") from error
            if len(pixels) != 256:
                raise self.failed(f"{path} has a line without 256 values")
            yield ((pixels + 1) / 2 * 255).astype(np.uint8).reshape(16, 16, 1), number(place)
