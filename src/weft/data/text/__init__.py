"""Operations on texts: vocabularies, tokenizers, and changes of texts."""

from __future__ import annotations

from weft.data.text.basic import (
    AddToken,
    CaseFold,
    FilterWikipediaXML,
    Lookup,
    Ngram,
    NormalizeUTF8,
    PythonTokenizer,
    RegexReplace,
    SlidingWindow,
    ToNumber,
    ToVectors,
    Truncate,
    TruncateSequencePair,
    to_bytes,
    to_str,
)
from weft.data.text.enums import (
    JiebaMode,
    NormalizeForm,
    SentencePieceModel,
    SPieceTokenizerLoadType,
    SPieceTokenizerOutType,
)
from weft.data.text.subwords import JiebaTokenizer, SentencePieceTokenizer, SentencePieceVocab
from weft.data.text.tokenizers import (
    BasicTokenizer,
    BertTokenizer,
    RegexTokenizer,
    UnicodeCharTokenizer,
    UnicodeScriptTokenizer,
    WhitespaceTokenizer,
    WordpieceTokenizer,
)
from weft.data.text.vocab import CharNGram, FastText, GloVe, Vectors, Vocab

__all__ = [
    "AddToken", "BasicTokenizer", "BertTokenizer", "CaseFold", "CharNGram", "FastText", "FilterWikipediaXML", "GloVe",
    "JiebaMode", "JiebaTokenizer", "Lookup", "Ngram", "NormalizeForm", "NormalizeUTF8", "PythonTokenizer",
    "RegexReplace", "RegexTokenizer", "SPieceTokenizerLoadType", "SPieceTokenizerOutType", "SentencePieceModel",
    "SentencePieceTokenizer", "SentencePieceVocab", "SlidingWindow", "ToNumber", "ToVectors", "Truncate",
    "TruncateSequencePair", "UnicodeCharTokenizer", "UnicodeScriptTokenizer", "Vectors", "Vocab",
    "WhitespaceTokenizer", "WordpieceTokenizer", "to_bytes", "to_str",
]  # fmt: skip
