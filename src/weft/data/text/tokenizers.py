"""Operations that divide texts into words. Offsets count bytes of UTF-8."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import numpy as np

from weft.data import checks
from weft.data.text.basic import TextOperation, checked_flag, checked_form, checked_text, compiled, folded, normalized
from weft.data.text.enums import NormalizeForm
from weft.data.text.vocab import Vocab

Piece = tuple[str, int, int]  # a word, where it begins and where it ends, in bytes

_HAN: Final = "\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002b81f\uf900-\ufaff\U0002f800-\U0002fa1f"
#: white space as Unicode has it, which Python takes four control characters for, too
_SPACE: Final = r"[^\S\x1c-\x1f]+"
_NO_SPACE: Final = r"[\S\x1c-\x1f]+"
#: words of BERT that stand for more than they say
_UNUSED: Final = r"\[CLS\]|\[SEP\]|\[UNK\]|\[PAD\]|\[MASK\]|\[unused\d+\]"


def result_of(pieces: list[Piece], with_offsets: bool) -> Any:
    """What a tokenizer gives of pieces.

    Args:
        pieces: the pieces; an empty one stands for none.
        with_offsets: whether places are given, too.
    """
    pieces = pieces or [("", 0, 0)]
    words = np.array([word for word, _, _ in pieces], np.str_)
    if not with_offsets:
        return words
    return (
        words,
        np.array([piece[1] for piece in pieces], np.uint32),
        np.array([piece[2] for piece in pieces], np.uint32),
    )


def byte_length(text: str) -> int:
    """How many bytes a text has in UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def _placed(parts: Iterator[tuple[str, bool]]) -> list[Piece]:
    """The parts of a text that are words, with their places; a part that is none only takes room."""
    pieces, at = [], 0
    for part, is_word in parts:
        end = at + byte_length(part)
        if is_word:
            pieces.append((part, at, end))
        at = end
    return pieces


class _Tokenizer(TextOperation):
    """A step that divides one text into words."""

    ranks: tuple[int, ...] | None = (0,)
    with_offsets = False

    def apply(self, *columns: Any) -> Any:
        return result_of(_placed(self.parts(str(columns[0]))), self.with_offsets)

    def parts(self, text: str) -> Iterator[tuple[str, bool]]:
        """The parts of a text in order, and whether each is a word."""
        raise NotImplementedError


class WhitespaceTokenizer(_Tokenizer):
    """The words between white space.

    Args:
        with_offsets: whether places are given, too.
    """

    def __init__(self, with_offsets: bool = False) -> None:
        self.with_offsets = checked_flag(with_offsets, "with_offsets")

    def parts(self, text: str) -> Iterator[tuple[str, bool]]:
        for part in re.findall(rf"{_SPACE}|{_NO_SPACE}", text):
            yield part, re.fullmatch(_SPACE, part) is None


class UnicodeCharTokenizer(_Tokenizer):
    """The characters.

    Args:
        with_offsets: whether places are given, too.
    """

    def __init__(self, with_offsets: bool = False) -> None:
        self.with_offsets = checked_flag(with_offsets, "with_offsets")

    def parts(self, text: str) -> Iterator[tuple[str, bool]]:
        for character in text:
            yield character, True


@cache
def _script(character: str) -> str:
    """The script of a character, as the first word of its name tells it; the same for all that belong to none."""
    if unicodedata.category(character)[0] not in "LM":
        return ""
    first = unicodedata.name(character, "").split(" ")[0]
    if first == "KATAKANA-HIRAGANA":  # the mark of long vowels of both
        return ""
    return "CJK" if first == "IDEOGRAPHIC" else first.split("-")[0]


class UnicodeScriptTokenizer(_Tokenizer):
    """The longest parts in one script; punctuation, digits and symbols are one together.

    Args:
        keep_whitespace: whether white space is a word, too.
        with_offsets: whether places are given, too.
    """

    def __init__(self, keep_whitespace: bool = False, with_offsets: bool = False) -> None:
        self.keep_whitespace = checked_flag(keep_whitespace, "keep_whitespace")
        self.with_offsets = checked_flag(with_offsets, "with_offsets")

    def parts(self, text: str) -> Iterator[tuple[str, bool]]:
        start, kind = 0, None
        for at, character in enumerate(text):
            now = (character.isspace(), _script(character))
            if kind is not None and now != kind:
                yield text[start:at], not kind[0] or self.keep_whitespace
                start = at
            kind = now
        if kind is not None:
            yield text[start:], not kind[0] or self.keep_whitespace


class RegexTokenizer(_Tokenizer):
    """The words between what matches a regular expression.

    Args:
        delim_pattern: the expression.
        keep_delim_pattern: matches that this expression matches are words, too; the empty text for none.
        with_offsets: whether places are given, too.
    """

    def __init__(self, delim_pattern: str, keep_delim_pattern: str = "", with_offsets: bool = False) -> None:
        if delim_pattern is None:
            raise ValueError("delim_pattern is not provided.")
        self.delim_pattern = checked_text(delim_pattern, "delim_pattern")
        self.keep_delim_pattern = checked_text(keep_delim_pattern, "keep_delim_pattern")
        self.with_offsets = checked_flag(with_offsets, "with_offsets")

    def parts(self, text: str) -> Iterator[tuple[str, bool]]:
        delimiter = compiled(self.delim_pattern, self)
        kept = compiled(self.keep_delim_pattern, self) if self.keep_delim_pattern else None
        at = 0
        for match in delimiter.finditer(text):
            if match.end() == match.start():
                continue
            if match.start() > at:
                yield text[at : match.start()], True
            yield match.group(), kept is not None and kept.fullmatch(match.group()) is not None
            at = match.end()
        if at < len(text):
            yield text[at:], True


class BasicTokenizer(_Tokenizer):
    """Words, signs of punctuation and Chinese characters, as BERT divides texts.

    Args:
        lower_case: whether upper case and accents go.
        keep_whitespace: whether white space is a word, too.
        normalization_form: normal form of Unicode, where the case stays.
        preserve_unused_token: whether ``[CLS]``, ``[SEP]``, ``[UNK]``, ``[PAD]`` and ``[MASK]`` stay whole.
        with_offsets: whether places are given, too; they are those in the changed text.
    """

    def __init__(
        self,
        lower_case: bool = False,
        keep_whitespace: bool = False,
        normalization_form: NormalizeForm = NormalizeForm.NONE,
        preserve_unused_token: bool = True,
        with_offsets: bool = False,
    ) -> None:
        self.lower_case = checked_flag(lower_case, "lower_case")
        self.keep_whitespace = checked_flag(keep_whitespace, "keep_whitespace")
        self.form = checked_form(normalization_form)
        self.preserve_unused_token = checked_flag(preserve_unused_token, "preserve_unused_token")
        self.with_offsets = checked_flag(with_offsets, "with_offsets")

    def parts(self, text: str) -> Iterator[tuple[str, bool]]:
        whole = re.split(f"({_UNUSED})", text) if self.preserve_unused_token else [text]
        for place, part in enumerate(whole):
            if place % 2:
                yield part, True
            else:
                yield from self._divided(self._cleaned(part))

    def _cleaned(self, text: str) -> str:
        if self.lower_case:
            text = "".join(
                character
                for character in unicodedata.normalize("NFD", folded(text))
                if unicodedata.category(character) != "Mn"
            )
        else:
            text = normalized(text, self.form)
        return "".join(" " if unicodedata.category(character) in ("Cc", "Cf") else character for character in text)

    def _divided(self, text: str) -> Iterator[tuple[str, bool]]:
        for part in re.findall(rf"\s+|[{_HAN}]|[^\s{_HAN}]+", text):
            if part.isspace():
                yield part, self.keep_whitespace
                continue
            start = 0
            for at, character in enumerate(part):
                if _is_punctuation(character):
                    if at > start:
                        yield part[start:at], True
                    yield character, True
                    start = at + 1
            if start < len(part):
                yield part[start:], True


@cache
def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] == "P" or (
        character.isascii() and character.isprintable() and not character.isalnum() and not character.isspace()
    )


def _checked_vocab(vocab: Any) -> Vocab:
    if vocab is None:
        raise ValueError("vocab is not provided.")
    if not isinstance(vocab, Vocab):
        raise TypeError(f"Wrong input type for vocab, should be text.Vocab object, but got {vocab!r}.")
    return vocab


class WordpieceTokenizer(TextOperation):
    """Words in pieces of a vocabulary, the longest first.

    Args:
        vocab: the vocabulary.
        suffix_indicator: what pieces begin with that are not the first of a word.
        max_bytes_per_token: longer words are not divided.
        unknown_token: what stands for a word that cannot be divided; the empty text for the word itself.
        with_offsets: whether places are given, too.
    """

    ranks = (0, 1)

    def __init__(
        self,
        vocab: Vocab,
        suffix_indicator: str = "##",
        max_bytes_per_token: int = 100,
        unknown_token: str = "[UNK]",
        with_offsets: bool = False,
    ) -> None:
        self.vocab = _checked_vocab(vocab)
        self.suffix_indicator = checked_text(suffix_indicator, "suffix_indicator")
        checks.of_type(max_bytes_per_token, int, "max_bytes_per_token")
        checks.within(max_bytes_per_token, 0, 2**32 - 1, "max_bytes_per_token")
        self.most = max_bytes_per_token
        self.unknown_token = checked_text(unknown_token, "unknown_token")
        self.with_offsets = checked_flag(with_offsets, "with_offsets")

    def apply(self, *columns: Any) -> Any:
        words = np.atleast_1d(columns[0]).tolist()
        return result_of([piece for word in words for piece in self.pieces(word, 0)], self.with_offsets)

    def pieces(self, word: str, begin: int) -> list[Piece]:
        """The pieces of a word.

        Args:
            word: the word.
            begin: where it begins.
        """
        known = self.vocab.ids
        whole = [(self.unknown_token or word, begin, begin + byte_length(word))]
        if byte_length(word) > self.most:
            return whole
        found: list[Piece] = []
        start, at = 0, begin
        while start < len(word):
            prefix = self.suffix_indicator if start else ""
            for end in range(len(word), start, -1):
                part = prefix + word[start:end]
                if part in known:
                    after = at + byte_length(word[start:end])
                    found.append((part, at, after))
                    start, at = end, after
                    break
            else:
                return whole
        return found


class BertTokenizer(_Tokenizer):
    """`BasicTokenizer`, and each word in pieces by `WordpieceTokenizer`.

    Args:
        vocab: the vocabulary.
        suffix_indicator: what pieces begin with that are not the first of a word.
        max_bytes_per_token: longer words are not divided.
        unknown_token: what stands for a word that cannot be divided; the empty text for the word itself.
        lower_case: whether upper case and accents go.
        keep_whitespace: whether white space is a word, too.
        normalization_form: normal form of Unicode, where the case stays.
        preserve_unused_token: whether ``[CLS]``, ``[SEP]``, ``[UNK]``, ``[PAD]`` and ``[MASK]`` stay whole.
        with_offsets: whether places are given, too.
    """

    def __init__(
        self,
        vocab: Vocab,
        suffix_indicator: str = "##",
        max_bytes_per_token: int = 100,
        unknown_token: str = "[UNK]",
        lower_case: bool = False,
        keep_whitespace: bool = False,
        normalization_form: NormalizeForm = NormalizeForm.NONE,
        preserve_unused_token: bool = True,
        with_offsets: bool = False,
    ) -> None:
        self.words = WordpieceTokenizer(vocab, suffix_indicator, max_bytes_per_token, unknown_token)
        self.basic = BasicTokenizer(lower_case, keep_whitespace, normalization_form, preserve_unused_token)
        self.with_offsets = checked_flag(with_offsets, "with_offsets")

    def apply(self, *columns: Any) -> Any:
        words = _placed(self.basic.parts(str(columns[0])))
        return result_of(
            [piece for word, begin, _ in words for piece in self.words.pieces(word, begin)], self.with_offsets
        )
