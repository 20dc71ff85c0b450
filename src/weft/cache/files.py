"""Values by key, a file each, in a folder that processes share.

A file is written under another name and then renamed, and begins with a digest of key and value: a reader gets what
was written whole, or nothing, whoever is killed when. Where the files are larger than a limit, those go that have not
been used for longest.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import logging
import os
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

LOG: Final = logging.getLogger("weft.cache")
#: begins every file; the number is that of the format
_MAGIC: Final = b"weft cache 1\n"
_HEAD: Final = len(_MAGIC) + hashlib.sha256().digest_size
_SUFFIX: Final = ".weft"
#: ends the names of files that are being written
_UNFINISHED: Final = ".tmp"
#: seconds after which such a file is nobody's any more
_ABANDONED: Final = 3600.0
#: the file in which a folder keeps how much room there was when its files were last counted, and what was written since
_LEDGER: Final = "room.ledger"
#: bytes after which the files are counted again
_LONG: Final = 1 << 16
#: the share of the limit that is left when files are removed
_LEFT: Final = 0.8
_NUMBERS: Final = itertools.count()


class File(NamedTuple):
    """A file of the cache.

    Args:
        path: where it is.
        size: bytes.
        used: when it was written or read last, seconds since the epoch.
    """

    path: Path
    size: int
    used: float


class Files:
    """The values of a folder.

    Args:
        folder: where the files are; it exists.
        limit: bytes that they may have together.

    Example:
        >>> import tempfile
        >>> files = Files(Path(tempfile.mkdtemp()), limit=1 << 20)
        >>> files.put("key", b"value")
        >>> files.get("key"), files.get("other")
        (b'value', None)
    """

    def __init__(self, folder: Path, limit: int) -> None:
        self.folder = folder
        self.limit = limit
        self._room: int | None = None
        self._lock = threading.Lock()
        self._told: set[str] = set()

    def get(self, key: str) -> bytes | None:
        """The value of a key, or None; a file that is not whole is removed."""
        path = self._path(key)
        try:
            content = _read(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            self._tell(f"cannot read the compile cache in {self.folder}: {error}")
            return None
        found = _unpacked(content)
        if found is None or found[0] != key:
            self._tell(f"files of the compile cache in {self.folder} were damaged and are removed")
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return found[1]

    def put(self, key: str, value: bytes) -> None:
        """Keep a value. If that fails, nothing is kept and a line of the log says why, once."""
        content = _packed(key, value)
        try:
            self._write(self._path(key), content)
        except OSError as error:
            self._tell(f"cannot write to the compile cache in {self.folder}: {error}")
            return
        self._make_room(len(content))

    def drop(self, key: str) -> None:
        """Remove the value of a key."""
        _removed(self._path(key))

    def files(self) -> list[File]:
        """All files, those used last at the end."""
        return sorted(self._scanned(_SUFFIX), key=lambda file: file.used)

    def damaged(self) -> list[Path]:
        """The files that are not whole, or not what their names say."""
        found = []
        for file in self.files():
            with contextlib.suppress(OSError):
                content = _unpacked(_read(file.path))
                if content is None or self._path(content[0]) != file.path:
                    found.append(file.path)
        return found

    def clear(self) -> int:
        """Remove all files; returns how many."""
        removed = sum(_removed(file.path) for file in self._scanned(_SUFFIX))
        for file in self._scanned(_UNFINISHED):
            _removed(file.path)
        _removed(self.folder / _LEDGER)
        with self._lock:
            self._room = None
        return removed

    def _path(self, key: str) -> Path:
        return self.folder / f"{hashlib.sha256(key.encode()).hexdigest()}{_SUFFIX}"

    def _write(self, path: Path, content: bytes) -> None:
        """Write a file, whole or not at all."""
        unfinished = self.folder / f"{os.getpid()}-{threading.get_ident()}-{next(_NUMBERS)}{_UNFINISHED}"
        try:
            flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
            with open(os.open(unfinished, flags, 0o600), "wb") as file:
                file.write(content)
            os.replace(unfinished, path)
        except OSError:
            _removed(unfinished)
            raise

    def _make_room(self, written: int) -> None:
        """Remove the files that were not used for longest, where there is no room for what was written."""
        with self._lock:
            if self._room is None:
                self._room = self._left()
            if self._room >= written:
                self._room -= written
                self._write_down(written)
                return
            files = self.files()
            size = sum(file.size for file in files)
            if size > self.limit:
                for file in files:
                    _removed(file.path)
                    size -= file.size
                    if size <= self.limit * _LEFT:
                        break
            self._room = max(self.limit - size, 0)
            with contextlib.suppress(OSError):
                self._write(self.folder / _LEDGER, f"{self.limit} {self._room}\n".encode())
            for file in self._scanned(_UNFINISHED):
                if time.time() - file.used > _ABANDONED:
                    _removed(file.path)

    def _left(self) -> int:
        """The room that is left by the ledger; 0, so that the files are counted, where it does not say that.

        So a process does not look at every file of a full folder when it keeps its first value. What the ledger leaves
        out (files that were removed, or written twice) makes the room larger than it says.
        """
        try:
            words = _read(self.folder / _LEDGER).split()
        except OSError:
            return 0
        if len(words) < 2 or sum(map(len, words)) > _LONG or not all(word.isdigit() for word in words):
            return 0
        limit, room, *written = map(int, words)
        return room - sum(written) if limit == self.limit else 0

    def _write_down(self, written: int) -> None:
        """Note in the ledger what was written, if there is one."""
        flags = os.O_APPEND | os.O_WRONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
        with contextlib.suppress(OSError), open(os.open(self.folder / _LEDGER, flags), "ab", buffering=0) as file:
            file.write(b"%d\n" % written)

    def _scanned(self, suffix: str) -> Iterator[File]:
        try:
            with os.scandir(self.folder) as entries:
                found = [entry for entry in entries if entry.name.endswith(suffix)]
        except OSError:
            return
        for entry in found:
            with contextlib.suppress(OSError):  # another process may have removed it
                facts = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(facts.st_mode):
                    yield File(Path(entry.path), facts.st_size, facts.st_mtime)

    def _tell(self, text: str) -> None:
        kind = text.partition(":")[0]
        if kind not in self._told:
            self._told.add(kind)
            LOG.warning("%s", text)


def _read(path: Path) -> bytes:
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    with open(os.open(path, flags), "rb") as file:
        return file.read()


def _removed(path: Path) -> bool:
    try:
        path.unlink()
    except OSError:
        return False
    return True


def _packed(key: str, value: bytes) -> bytes:
    """The contents of a file: what it is, a digest of the rest, the key, the value."""
    name = key.encode()
    body = len(name).to_bytes(4, "little") + name + value
    return _MAGIC + hashlib.sha256(body).digest() + body


def _unpacked(content: bytes) -> tuple[str, bytes] | None:
    """Key and value from the contents of a file, None if they are not as they were written."""
    body = content[_HEAD:]
    if content[:_HEAD] != _MAGIC + hashlib.sha256(body).digest():
        return None
    end = 4 + int.from_bytes(body[:4], "little")
    return body[4:end].decode(), body[end:]
