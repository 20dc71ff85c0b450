"""MindRecord files: rows of named fields with types, in pages, and a database with their places."""

from weft.data.mindrecord.converters import (
    FAILED,
    SUCCESS,
    Cifar10ToMR,
    Cifar100ToMR,
    CsvToMR,
    ImageNetToMR,
    MnistToMR,
    TFRecordToMR,
    set_dec_mode,
    set_enc_key,
    set_enc_mode,
)
from weft.data.mindrecord.reader import FileReader, MindPage
from weft.data.mindrecord.writer import FileWriter

__all__ = [
    "FAILED",
    "SUCCESS",
    "Cifar10ToMR",
    "Cifar100ToMR",
    "CsvToMR",
    "FileReader",
    "FileWriter",
    "ImageNetToMR",
    "MindPage",
    "MnistToMR",
    "TFRecordToMR",
    "set_dec_mode",
    "set_enc_key",
    "set_enc_mode",
]
