"""Operations on texts that keep them whole, and on arrays of them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from weft.data import checks
from weft.data.operation import Operation
from weft.data.text.enums import NormalizeForm
from weft.data.text.vocab import Vectors, Vocab
from weft.data.transforms.elements import cast, checked_dtype, is_text


def to_str(array: Any, encoding: str = "utf8") -> Any:
    """An array of texts of an array of bytes.

    Args:
        array: the bytes.
        encoding: their encoding.

    Returns:
        numpy.ndarray: the texts.
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"input should be a NumPy array, but got {type(array)}.")
    return array if array.dtype.kind == "U" else np.char.decode(array, encoding)


def to_bytes(array: Any, encoding: str = "utf8") -> Any:
    """An array of bytes of an array of texts.

    Args:
        array: the texts.
        encoding: the encoding of the bytes.

    Returns:
        numpy.ndarray: the bytes.
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"input should be a NumPy array, but got {type(array)}.")
    return np.char.encode(array, encoding)


class TextOperation(Operation):
    """A step on texts; bytes are read as UTF-8."""

    #: of how many dimensions the input may be; None for any
    ranks: tuple[int, ...] | None = None

    def received(self, column: Any) -> Any:
        array = np.asarray(column)
        if array.dtype.kind == "S":
            array = np.char.decode(array, "utf8")
        if array.dtype.kind != "U":
            raise self.wrong(f"the input should be texts, but got element type {array.dtype.name}.")
        if self.ranks is not None and array.ndim not in self.ranks:
            kinds = " or ".join({0: "a scalar", 1: "one-dimensional"}[rank] for rank in self.ranks)
            raise self.wrong(f"the input should be {kinds}, but got shape {array.shape}.")
        return array


def each_of(array: Any, change: Callable[[str], str]) -> Any:
    """An array with each text changed."""
    if array.ndim == 0:
        return np.asarray(change(str(array)))
    return np.array([change(text) for text in array.ravel().tolist()], np.str_).reshape(array.shape)


def folded(text: str) -> str:
    """A text without upper case, and with one character for those that differ in form only."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


class CaseFold(TextOperation):
    """Texts without upper case, and with one character for those that differ in form only."""

    def apply(self, *columns: Any) -> Any:
        return each_of(columns[0], folded)


def checked_form(value: Any) -> str | None:
    """The name of a normal form, None for none."""
    if not isinstance(value, NormalizeForm):
        raise TypeError(
            f"Wrong input type for normalization_form, should be enum of 'NormalizeForm', but got {value!r}."
        )
    return None if value == NormalizeForm.NONE else value.name


def normalized(text: str, form: str | None) -> str:
    """A text in a normal form."""
    return text if form is None else unicodedata.normalize(form, text)  # type: ignore[arg-type]


class NormalizeUTF8(TextOperation):
    """Texts in a normal form of Unicode.

    Args:
        normalize_form: the form.
    """

    def __init__(self, normalize_form: NormalizeForm = NormalizeForm.NFKC) -> None:
        self.form = checked_form(normalize_form)

    def apply(self, *columns: Any) -> Any:
        return each_of(columns[0], lambda text: normalized(text, self.form))


def checked_text(value: Any, name: str) -> str:
    """A text."""
    if not isinstance(value, str):
        raise TypeError(f"Wrong input type for {name}, should be string, but got {value!r}.")
    return value


def checked_flag(value: Any, name: str) -> bool:
    """A bool."""
    if not isinstance(value, bool):
        raise TypeError(f"Wrong input type for {name}, should be boolean, but got {value!r}.")
    return value


class RegexReplace(TextOperation):
    """Texts with what matches a regular expression replaced.

    Args:
        pattern: the expression.
        replace: what is put in; ``$1`` stands for the first group.
        replace_all: whether all matches are replaced, or the first.
    """

    def __init__(self, pattern: str, replace: str, replace_all: bool = True) -> None:
        checks.of_type(pattern, str, "pattern")
        checks.of_type(replace, str, "replace")
        self.pattern = pattern
        self.replace = re.sub(r"\\(.)|\$(\d+)|(\\)", _of_template, replace)
        self.count = 0 if checks.boolean(replace_all, "replace_all") else 1

    def apply(self, *columns: Any) -> Any:
        pattern = compiled(self.pattern, self)
        return each_of(columns[0], lambda text: pattern.sub(self.replace, text, count=self.count))


def _of_template(part: re.Match[str]) -> str:
    """A part of what is put in as Python writes it: a character after a backslash is itself."""
    literal, group, backslash = part.groups()
    return f"\\g<{group}>" if group else (literal or backslash).replace("\\", "\\\\")


def compiled(pattern: str, operation: Operation) -> re.Pattern[str]:
    """A regular expression."""
    try:
        return re.compile(pattern)
    except re.error as wrong:
        raise operation.wrong(f"{pattern!r} is no regular expression of Python: {wrong}.") from None


_NUMBERS: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


class FilterWikipediaXML(TextOperation):
    """What lower-case letters and spelt digits remain of a page of Wikipedia's XML."""

    def apply(self, *columns: Any) -> Any:
        return each_of(columns[0], self._filtered)

    @staticmethod
    def _filtered(text: str) -> str:
        if re.match(r"#redirect", text, re.IGNORECASE):
            return ""
        for pattern, put in ((r"<.*>", ""), (r"&[a-z]+;", " "), (r"&#\d+;", " ")):
            text = re.sub(pattern, put, text)
        text = re.sub(r"[0-9]", lambda digit: f" {_NUMBERS[int(digit.group())]} ", text.lower())
        return " ".join(re.sub(r"[^a-z]+", " ", text).split())


class Lookup(TextOperation):
    """The numbers of words.

    Args:
        vocab: the vocabulary.
        unknown_token: the word whose number others get; None to refuse them.
        data_type: element type of the numbers.

    Example:
        >>> Lookup(Vocab.from_list(["a", "b"]))(np.array(["b", "a"]))
        array([1, 0], dtype=int32)
    """

    def __init__(self, vocab: Vocab, unknown_token: str | None = None, data_type: Any = np.int32) -> None:
        if not isinstance(vocab, Vocab):
            raise TypeError(f"Argument vocab is not an instance of text.Vocab, but of {type(vocab)}.")
        if unknown_token is not None:
            checks.of_type(unknown_token, str, "unknown_token")
        self.vocab, self.unknown_token = vocab, unknown_token
        self.data_type = checked_dtype(data_type)

    def apply(self, *columns: Any) -> Any:
        (words,) = columns
        ids = self.vocab.ids
        unknown = None
        if self.unknown_token is not None:
            unknown = ids.get(self.unknown_token)
            if unknown is None:
                raise self.wrong(f"unknown_token {self.unknown_token!r} does not exist in vocab.")
        numbers = []
        for word in words.ravel().tolist():
            number = ids.get(word, unknown)
            if number is None:
                raise self.wrong(
                    f"invalid data, token: {word!r} doesn't exist in vocab and no unknown token is specified."
                )
            numbers.append(number)
        return cast(np.array(numbers, np.int32).reshape(words.shape), self.data_type)


class ToVectors(TextOperation):
    """The vectors of words.

    Args:
        vectors: words and their vectors.
        unk_init: vector of words that have none; None for zeros.
        lower_case_backup: whether the vector of the word in lower case is taken where there is none.
    """

    ranks = (0, 1)

    def __init__(
        self, vectors: Vectors, unk_init: Sequence[float] | None = None, lower_case_backup: bool = False
    ) -> None:
        checks.of_type(vectors, Vectors, "vectors")
        if unk_init is not None:
            checks.of_type(unk_init, (list, tuple), "unk_init")
        self.vectors = vectors
        self.unknown = None if not unk_init else np.array(unk_init, np.float32)
        self.lower = checks.boolean(lower_case_backup, "lower_case_backup")

    def apply(self, *columns: Any) -> Any:
        (words,) = columns
        unknown = np.zeros(self.vectors.dim, np.float32) if self.unknown is None else self.unknown
        if len(unknown) != self.vectors.dim:
            raise self.wrong(f"unk_init must have {self.vectors.dim} numbers, but got {len(unknown)}.")

        def vector_of(word: str) -> Any:
            found = self.vectors.of(word)
            if found is None and self.lower:
                found = self.vectors.of(word.lower())
            return unknown if found is None else found

        if words.ndim == 0:
            return np.array(vector_of(str(words)), np.float32)
        return np.stack([vector_of(word) for word in words.tolist()])


class Ngram(TextOperation):
    """Sequences of neighbouring words.

    Args:
        n: how many words a sequence has, or a list of such numbers.
        left_pad: a word and how often it is put before the first.
        right_pad: a word and how often it is put after the last.
        separator: what stands between words.
    """

    ranks = (1,)

    def __init__(
        self,
        n: int | list[int],
        left_pad: tuple[str, int] = ("", 0),
        right_pad: tuple[str, int] = ("", 0),
        separator: str = " ",
    ) -> None:
        lengths = [n] if isinstance(n, int) else n
        if not isinstance(lengths, list) or not lengths:
            raise ValueError(f"n needs to be a non-empty list of positive integers, but got {n!r}.")
        for place, length in enumerate(lengths):
            checks.of_type(length, int, f"gram[{place}]")
            checks.within(length, 0, checks.INT32_MAX, f"gram[{place}]", without_low=True)
        for name, pad in (("left_pad", left_pad), ("right_pad", right_pad)):
            shape = isinstance(pad, tuple) and [type(each) for each in pad] == [str, int]
            if not shape:
                raise ValueError(
                    f"{name} needs to be a tuple of (str, int) str is pad token and int is pad_width, but got {pad!r}."
                )
            if pad[1] < 0:
                raise ValueError(f"padding width need to be positive numbers, but {name} is {pad!r}.")
        checks.of_type(separator, str, "separator")
        self.lengths, self.separator = lengths, separator
        self.left_pad, self.right_pad = left_pad, right_pad

    def apply(self, *columns: Any) -> Any:
        words = columns[0].tolist()
        found = []
        for length in self.lengths:
            before = [self.left_pad[0]] * min(self.left_pad[1], length - 1)
            after = [self.right_pad[0]] * min(self.right_pad[1], length - 1)
            row = [*before, *words, *after]
            found += [self.separator.join(row[at : at + length]) for at in range(len(row) - length + 1)]
        return np.array(found or [""], np.str_)


class SlidingWindow(Operation):
    """All parts of one length of a row.

    Args:
        width: the length.
        axis: 0 or -1, since rows have one axis.
    """

    def __init__(self, width: int, axis: int = 0) -> None:
        self.width = checks.integer(width, "width")
        checks.of_type(axis, int, "axis")
        self.axis = axis

    def apply(self, *columns: Any) -> Any:
        (row,) = columns
        if row.ndim != 1:
            raise self.wrong(f"supports 1D input only for now, but got {row.ndim}D.")
        if self.axis not in (0, -1):
            raise self.wrong(f"axis should be 0 or -1, but got {self.axis}.")
        if self.width > len(row):
            return row[:0]
        return np.lib.stride_tricks.sliding_window_view(row, self.width).copy()


class Truncate(Operation):
    """The first elements of rows.

    Args:
        max_seq_len: how many remain at most.
    """

    def __init__(self, max_seq_len: int) -> None:
        self.max_seq_len = checks.integer(max_seq_len, "max_seq_len")

    def apply(self, *columns: Any) -> Any:
        (rows,) = columns
        if rows.ndim not in (1, 2):
            raise self.wrong(f"the input should be 1D or 2D, but got shape {rows.shape}.")
        return np.ascontiguousarray(rows[..., : self.max_seq_len])


class TruncateSequencePair(Operation):
    """Two rows, the longer one cut until both together are short enough.

    Args:
        max_length: the length of both together.
    """

    columns = 2

    def __init__(self, max_length: int) -> None:
        self.max_length = checks.integer(max_length, "max_length", 0)

    def apply(self, *columns: Any) -> Any:
        first, second = columns
        for row in columns:
            if row.ndim != 1:
                raise self.wrong(f"the inputs should be 1D, but got shape {row.shape}.")
        lengths = [len(first), len(second)]
        while sum(lengths) > self.max_length:
            lengths[0 if lengths[0] > lengths[1] else 1] -= 1
        return first[: lengths[0]], second[: lengths[1]]


class ToNumber(TextOperation):
    """The numbers that texts spell.

    Args:
        data_type: element type of the numbers.
    """

    def __init__(self, data_type: Any) -> None:
        kind = checked_dtype(data_type)
        if kind.kind not in "iuf":
            raise TypeError(f"data_type: {data_type} is not numeric data type.")
        self.data_type = kind

    def apply(self, *columns: Any) -> Any:
        (texts,) = columns
        numbers = [self._number(text) for text in texts.ravel().tolist()]
        return np.array(numbers, self.data_type).reshape(texts.shape)

    def _number(self, text: str) -> float | int:
        whole = self.data_type.kind in "iu"
        try:
            if whole:
                digits = re.fullmatch(r"\s*([+-]?\d+)(\.\d*)?\s*", text)
                number: float | int = int(digits[1]) if digits else int(text)
            else:
                number = float(text)
        except ValueError:
            raise self.wrong(f'it is invalid to convert "{text}" to a number.') from None
        bounds = np.iinfo(self.data_type) if whole else np.finfo(self.data_type)
        low, high = (int(bounds.min), int(bounds.max)) if whole else (float(bounds.min), float(bounds.max))
        if number < low or number > high:
            raise self.wrong(
                f"string input {text} will be out of bounds if cast to {self.data_type.name}. The valid range is: "
                f"[{low}, {high}]."
            )
        return number


class AddToken(TextOperation):
    """Rows of words with one more.

    Args:
        token: the word.
        begin: whether it comes first, or last.
    """

    def __init__(self, token: str, begin: bool = True) -> None:
        checks.of_type(token, str, "token")
        self.token, self.begin = token, checks.boolean(begin, "begin")

    def apply(self, *columns: Any) -> Any:
        (words,) = columns
        if words.ndim not in (1, 2):
            raise self.wrong(f"the input should be 1D or 2D, but got shape {words.shape}.")
        added = np.full((*words.shape[:-1], 1), self.token)
        return np.concatenate([added, words] if self.begin else [words, added], -1)


class PythonTokenizer(Operation):
    """A tokenizer that is a callable of the program.

    Args:
        tokenizer: gives a list of words for a text.
    """

    in_python = True

    def __init__(self, tokenizer: Callable[[str], Any]) -> None:
        if not callable(tokenizer):
            raise TypeError(f"tokenizer is not a callable Python function, but {tokenizer!r}.")
        self.tokenizer = tokenizer

    def received(self, column: Any) -> Any:
        if not isinstance(column, np.ndarray):
            raise TypeError(f"input should be a NumPy array. Got {type(column)}.")
        return to_str(column) if is_text(column) else column

    def apply(self, *columns: Any) -> Any:
        (array,) = columns
        try:
            words = (
                self.tokenizer(array.item()) if array.ndim == 0 else [self.tokenizer(each) for each in array.tolist()]
            )
            return np.array(words, np.str_)
        except Exception as wrong:
            name = getattr(self.tokenizer, "__name__", repr(self.tokenizer))
            raise RuntimeError(f"Error occurred in Pyfunc [{name}], error message: {wrong}") from wrong
