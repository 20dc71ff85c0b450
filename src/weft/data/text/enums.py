"""The choices that operations on texts are given."""

from __future__ import annotations

from enum import IntEnum


class JiebaMode(IntEnum):
    """How `JiebaTokenizer` finds words."""

    MIX = 0
    MP = 1
    HMM = 2


class NormalizeForm(IntEnum):
    """A normal form of Unicode."""

    NONE = 0
    NFC = 1
    NFKC = 2
    NFD = 3
    NFKD = 4


class SentencePieceModel(IntEnum):
    """How SentencePiece divides words."""

    UNIGRAM = 0
    BPE = 1
    CHAR = 2
    WORD = 3


class SPieceTokenizerLoadType(IntEnum):
    """Where a model of SentencePiece comes from."""

    FILE = 0
    MODEL = 1


class SPieceTokenizerOutType(IntEnum):
    """What `SentencePieceTokenizer` gives."""

    STRING = 0
    INT = 1
