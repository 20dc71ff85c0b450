"""MindRecord files: rows of named fields with types, in pages, and a database with their places."""

from weft.data.mindrecord.reader import FileReader, MindPage
from weft.data.mindrecord.writer import FileWriter

__all__ = ["FileReader", "FileWriter", "MindPage"]
