"""Tokenizers of other libraries, imported when they are used: Jieba for Chinese, SentencePiece for parts of words."""

from __future__ import annotations

import importlib
import io
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from weft.data import checks
from weft.data.text.basic import TextOperation, checked_flag, checked_text
from weft.data.text.enums import JiebaMode, SentencePieceModel, SPieceTokenizerOutType
from weft.data.text.tokenizers import byte_length, result_of


def _library(name: str, what: str) -> Any:
    """A library that must be installed."""
    try:
        return importlib.import_module(name)
    except ImportError as missing:
        raise ImportError(f"{what} needs {name}, which is not installed: pip install {name}", name=name) from missing


def _file(path: Any, name: str) -> str:
    checked_text(path, name)
    if not os.path.exists(path):
        raise ValueError(f" jieba mode file {path} is not exist.")
    return str(path)


class JiebaTokenizer(TextOperation):
    """The words of Chinese texts, as Jieba finds them.

    Args:
        hmm_path: a file of the model of unknown words; Jieba's own, which is the same, is used.
        mp_path: the dictionary: a word, its number and its kind a line.
        mode: whether words are those of the dictionary (MP), of the model (HMM), or of both (MIX).
        with_offsets: whether places are given, too.
    """

    ranks = (0,)

    def __init__(
        self, hmm_path: str, mp_path: str, mode: JiebaMode = JiebaMode.MIX, with_offsets: bool = False
    ) -> None:
        if not isinstance(mode, JiebaMode):
            raise TypeError("Wrong input type for mode, should be JiebaMode.")
        self.with_offsets = checked_flag(with_offsets, "with_offsets")
        self.hmm_path, self.mp_path, self.mode = _file(hmm_path, "hmm_path"), _file(mp_path, "mp_path"), mode
        self._added: list[tuple[str, int | None]] = []
        self._tokenizer: Any = None

    def add_word(self, word: str, freq: int | None = None) -> None:
        """Add a word to the dictionary.

        Args:
            word: the word.
            freq: its number; as great as is needed to find it, if not given.
        """
        if not isinstance(word, str) or not word:
            raise ValueError("A word should be a text that is not empty.")
        if freq is not None:
            checks.integer(freq, "freq", 0)
        self._added.append((word, freq))
        self._tokenizer = None

    def add_dict(self, user_dict: Any) -> None:
        """Add words to the dictionary.

        Args:
            user_dict: their numbers by word, or a file with a word and its number a line.
        """
        if isinstance(user_dict, dict):
            for word, freq in user_dict.items():
                self.add_word(word, freq or None)
            return
        checks.of_type(user_dict, (str, dict), "user_dict")
        if not os.path.isfile(user_dict):
            raise ValueError(f"user dict file {user_dict} is not exist.")
        with open(user_dict, encoding="utf-8") as stream:
            for line in filter(str.strip, stream):
                word, *rest = line.split()
                self.add_word(word, int(rest[0]) if rest else None)

    def _made(self) -> Any:
        if self._tokenizer is None:
            jieba = _library("jieba", "JiebaTokenizer")
            jieba.setLogLevel(60)
            made = jieba.Tokenizer(dictionary=os.path.abspath(self.mp_path))
            made.initialize()
            for word, freq in self._added:
                made.add_word(word, freq)
            self._tokenizer = made
        return self._tokenizer

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_tokenizer": None}

    def apply(self, *columns: Any) -> Any:
        text = str(columns[0])
        if self.mode == JiebaMode.HMM:
            _library("jieba", "JiebaTokenizer")
            words = list(importlib.import_module("jieba.finalseg").cut(text))
        else:
            words = self._made().lcut(text, HMM=self.mode == JiebaMode.MIX)
        pieces, at = [], 0
        for word in words:
            end = at + byte_length(word)
            pieces.append((word, at, end))
            at = end
        return result_of(pieces, self.with_offsets)


_MODELS = {
    SentencePieceModel.UNIGRAM: "unigram",
    SentencePieceModel.BPE: "bpe",
    SentencePieceModel.CHAR: "char",
    SentencePieceModel.WORD: "word",
}


class SentencePieceVocab:
    """A vocabulary of parts of words that SentencePiece learned."""

    def __init__(self, model: bytes = b"") -> None:
        self.model = model

    @classmethod
    def _learned(
        cls, texts: Iterator[str], vocab_size: Any, character_coverage: Any, model_type: Any, params: Any
    ) -> SentencePieceVocab:
        checks.integer(vocab_size, "vocab_size", 0, 2**32 - 1)
        checks.real(character_coverage, "character_coverage", 0, 1)
        checks.of_type(model_type, SentencePieceModel, "model_type")
        checks.of_type(params, dict, "params")
        library = _library("sentencepiece", "SentencePieceVocab")
        written = io.BytesIO()
        try:
            library.SentencePieceTrainer.train(
                sentence_iterator=texts,
                model_writer=written,
                vocab_size=vocab_size,
                character_coverage=character_coverage,
                model_type=_MODELS[model_type],
                minloglevel=2,
                **params,
            )
        except OSError as error:
            if error.filename is not None:
                raise
            raise RuntimeError(f"SentencePieceVocab: {error}") from error
        return cls(written.getvalue())

    @classmethod
    def from_file(
        cls, file_path: list[str], vocab_size: int, character_coverage: float, model_type: Any, params: dict[str, Any]
    ) -> SentencePieceVocab:
        """A vocabulary of the lines of files.

        Args:
            file_path: the files.
            vocab_size: how many parts.
            character_coverage: which part of the characters they are made of.
            model_type: how it learns.
            params: other arguments of SentencePiece.
        """
        checks.of_type(file_path, list, "file_path")
        for path in file_path:
            if not os.path.isfile(path):
                raise RuntimeError(f"SentencePieceVocab: file: [{path}] does not exist.")

        def lines() -> Iterator[str]:
            for path in file_path:
                with open(path, encoding="utf-8") as stream:
                    yield from (line.rstrip("\r\n") for line in stream)

        return cls._learned(lines(), vocab_size, character_coverage, model_type, params)

    @classmethod
    def from_dataset(
        cls,
        dataset: Any,
        col_names: list[str],
        vocab_size: int,
        character_coverage: float,
        model_type: Any,
        params: dict[str, Any],
    ) -> SentencePieceVocab:
        """A vocabulary of the texts of a dataset.

        Args:
            dataset: the dataset.
            col_names: the columns of the texts.
            vocab_size: how many parts.
            character_coverage: which part of the characters they are made of.
            model_type: how it learns.
            params: other arguments of SentencePiece.
        """

        def texts() -> Iterator[str]:
            for row in dataset.create_dict_iterator(num_epochs=1, output_numpy=True):
                for name in col_names:
                    yield from np.atleast_1d(row[name]).ravel().tolist()

        return cls._learned(texts(), vocab_size, character_coverage, model_type, params)

    @classmethod
    def save_model(cls, vocab: SentencePieceVocab, path: str, filename: str) -> None:
        """Write a vocabulary to a file.

        Args:
            vocab: the vocabulary.
            path: the folder of the file.
            filename: its name.
        """
        checks.of_type(vocab, cls, "vocab")
        with open(os.path.join(path, filename), "wb") as stream:
            stream.write(vocab.model)


class SentencePieceTokenizer(TextOperation):
    """The parts of texts that SentencePiece finds.

    Args:
        mode: a vocabulary, or the file of a model.
        out_type: whether parts are texts, or numbers.
    """

    ranks = (0, 1)

    def __init__(self, mode: Any, out_type: SPieceTokenizerOutType) -> None:
        checks.of_type(mode, (str, SentencePieceVocab), "mode")
        checks.of_type(out_type, SPieceTokenizerOutType, "out_type")
        self.mode = mode
        self.out_type = out_type
        self._processor: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_processor": None}

    def _made(self) -> Any:
        if self._processor is None:
            library = _library("sentencepiece", "SentencePieceTokenizer")
            model = self.mode.model if isinstance(self.mode, SentencePieceVocab) else self._read(self.mode)
            try:
                self._processor = library.SentencePieceProcessor(model_proto=model)
            except (RuntimeError, OSError) as error:
                raise self.wrong(f"the model cannot be read: {error}") from error
        return self._processor

    def _read(self, path: str) -> bytes:
        try:
            with open(path, "rb") as stream:
                return stream.read()
        except OSError as error:
            raise self.wrong(f"the model cannot be read: {error}") from error

    def apply(self, *columns: Any) -> Any:
        as_text = self.out_type == SPieceTokenizerOutType.STRING
        texts = np.atleast_1d(columns[0]).tolist()
        found = [each for text in texts for each in self._made().encode(text, out_type=str if as_text else int)]
        return np.array(found, np.str_ if as_text else np.int32)
