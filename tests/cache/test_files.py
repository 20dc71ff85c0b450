"""Files of the cache: a reader gets what was written whole, or nothing."""

from __future__ import annotations

import errno
import logging
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.processes import environment
from weft.cache.files import Files
from weft.cache.folder import Unusable, default_folder, opened

LARGE = 1 << 40


def value_of(key: str, size: int = 3000) -> bytes:
    return random.Random(key).randbytes(size)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path, LARGE)


def test_values_come_back(files: Files) -> None:
    sizes = [0, 1, 100, 1 << 16, (1 << 20) + 1]
    for size in sizes:
        files.put(f"key {size}", value_of("v", size))
    files.put("key 1", b"another")
    other = Files(files.folder, LARGE)
    assert other.get("key 1") == b"another"
    assert all(other.get(f"key {size}") == value_of("v", size) for size in sizes if size != 1)
    assert other.get("key") is None
    assert other.clear() == len(sizes)
    assert files.get("key 0") is None
    assert os.listdir(files.folder) == []


def damaged(content: bytes, rng: random.Random) -> bytes:
    kind = rng.randrange(5)
    place = rng.randrange(len(content))
    if kind == 0:
        return content[:place]
    if kind == 1:
        return content[:place] + bytes([content[place] ^ (1 << rng.randrange(8))]) + content[place + 1 :]
    if kind == 2:
        return content + rng.randbytes(rng.randint(1, 50))
    if kind == 3:
        return rng.randbytes(len(content))
    return content[:place] + bytes(len(content) - place)


def test_a_damaged_file_is_removed(files: Files, caplog: pytest.LogCaptureFixture) -> None:
    rng = random.Random(0)
    files.put("other", b"whole")
    for _ in range(1000):
        files.put("key", value_of("key", 200))
        (path,) = (file.path for file in files.files() if file.size > 200)
        content = damaged(path.read_bytes(), rng)
        changed = content != path.read_bytes()
        path.write_bytes(content)
        assert files.damaged() == [path] * changed
        assert files.get("key") == (None if changed else value_of("key", 200))
        assert path.exists() != changed
    assert files.get("other") == b"whole"
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


def test_a_file_of_another_key_is_no_answer(files: Files) -> None:
    files.put("one", b"1")
    (one,) = files.files()
    files.put("two", b"2")
    (two,) = (file.path for file in files.files() if file.path != one.path)
    two.write_bytes(one.path.read_bytes())
    assert files.get("two") is None
    assert files.get("one") == b"1"


def test_those_not_used_for_longest_go(tmp_path: Path) -> None:
    files = Files(tmp_path, limit=20_000)
    for number in range(40):
        files.put(str(number), value_of(str(number), 1000))
        for file in files.files():  # one second each: the clock of a file system may be coarse
            os.utime(file.path, (file.used - 1, file.used - 1))
        assert files.get("0") == value_of("0", 1000)
    assert sum(file.size for file in files.files()) <= 20_000
    kept = [number for number in range(40) if files.get(str(number)) is not None]
    assert kept[0] == 0
    assert kept[1:] == list(range(41 - len(kept), 40))
    assert len(kept) > 10


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders whose files were looked at."""
    folders: list[Path] = []
    look = Files.files

    def files_of(self: Files) -> Any:
        folders.append(self.folder)
        return look(self)

    monkeypatch.setattr(Files, "files", files_of)
    return folders


def test_the_files_of_a_folder_are_counted_once(tmp_path: Path, counted: list[Path]) -> None:
    """Each process opens the folder anew, and finds what the others wrote down."""
    for number in range(30):
        files = Files(tmp_path, limit=20_000)
        files.put(str(number), value_of(str(number), 500))
        files.put(f"{number} more", b"")
        if number == 0:
            assert counted == [tmp_path]
    assert len(counted) <= 3  # at first, and where the room was used up
    counted.clear()
    assert sum(file.size for file in files.files()) <= 20_000


@pytest.mark.parametrize(
    "ledger",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"nothing", id="no-numbers"),
        pytest.param(b"20000", id="one-number"),
        pytest.param(b"20000 -5\n", id="negative"),
        pytest.param(b"30000 20000\n", id="of-another-limit"),
        pytest.param(b"20000 10\n", id="little-room"),
        pytest.param(b"20000 900 800\n", id="used-up"),
        pytest.param(b"20000 9 " * 20_000, id="long"),
    ],
)
def test_a_ledger_that_is_no_help(tmp_path: Path, counted: list[Path], ledger: bytes) -> None:
    (tmp_path / "room.ledger").write_bytes(ledger)
    files = Files(tmp_path, limit=20_000)
    files.put("key", value_of("key", 500))
    assert counted == [tmp_path]
    assert files.get("key") == value_of("key", 500)
    size = files.files()[0].size
    assert (tmp_path / "room.ledger").read_bytes() == b"20000 %d\n" % (20_000 - size)


def test_a_ledger_that_is_gone(tmp_path: Path, counted: list[Path]) -> None:
    files = Files(tmp_path, limit=20_000)
    files.put("one", b"1")
    (tmp_path / "room.ledger").unlink()
    files.put("two", b"2")
    assert os.listdir(tmp_path).count("room.ledger") == 0
    assert counted == [tmp_path]
    Files(tmp_path, limit=20_000).put("three", b"3")
    assert counted == [tmp_path] * 2


def test_a_full_disk_ends_no_call(files: Files, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    files.put("before", b"1")

    def full(*args: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    for _ in range(3):
        files.put("key", b"value")
    assert files.get("before") == b"1"
    assert files.get("key") is None
    assert sorted(os.listdir(files.folder)) == [files.files()[0].path.name, "room.ledger"]
    assert [record.getMessage() for record in caplog.records] == [
        f"cannot write to the compile cache in {files.folder}: [Errno 28] No space left on device"
    ]


def test_a_folder_that_is_gone(files: Files, caplog: Any) -> None:
    files.folder.rmdir()
    files.put("key", b"value")
    assert files.get("key") is None
    assert files.files() == []
    assert len(caplog.records) == 1


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="needs links")
def test_links_are_not_followed(files: Files, tmp_path: Path) -> None:
    files.put("key", b"value")
    (file,) = files.files()
    elsewhere = tmp_path / "elsewhere"
    file.path.rename(elsewhere)
    file.path.symlink_to(elsewhere)
    assert files.get("key") is None
    files.put("key", b"new")
    assert files.get("key") == b"new"
    assert b"value" in elsewhere.read_bytes()


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs owners")
def test_folders_of_others_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = opened(tmp_path / "a" / "b")
    assert mine.stat().st_mode & 0o777 == 0o700
    for mode in (0o770, 0o777, 0o702):
        mine.chmod(mode)
        with pytest.raises(Unusable, match="other users may write"):
            opened(mine)
    mine.chmod(0o755)
    assert opened(mine) == mine
    (tmp_path / "file").write_text("")
    with pytest.raises(Unusable, match="exists"):
        opened(tmp_path / "file")
    monkeypatch.setattr(os, "geteuid", lambda: mine.stat().st_uid + 1)
    with pytest.raises(Unusable, match="belongs to another user"):
        opened(mine)


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="of the standard of XDG")
def test_the_users_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert str(default_folder()) == "/home/me/.cache/weft"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert str(default_folder()) == "/home/me/.cache/weft"
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/caches")
    assert str(default_folder()) == "/var/caches/weft"


WRITER = """
import random, sys, time
from pathlib import Path
from weft.cache.files import Files
files = Files(Path(sys.argv[1]), int(sys.argv[2]))
rng = random.Random(int(sys.argv[3]))
end = time.time() + float(sys.argv[4])
print("begun", flush=True)
while time.time() < end:
    key = f"key {rng.randrange(30)}"
    value = files.get(key)
    assert value is None or value == random.Random(key).randbytes(100_000), key
    files.put(key, random.Random(key).randbytes(100_000))
"""


def writer(folder: Path, limit: int, seed: int, seconds: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(folder), str(limit), str(seed), str(seconds)]
    return subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize("kills", [6, pytest.param(100, marks=pytest.mark.slow)])
def test_writers_that_are_killed(files: Files, kills: int) -> None:
    rng = random.Random(kills)
    for seed in range(kills):
        process = writer(files.folder, LARGE, seed, 60)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(rng.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        _, errors = process.communicate()
        assert errors == ""
        assert files.damaged() == []
    for number in range(30):
        assert files.get(f"key {number}") in (None, random.Random(f"key {number}").randbytes(100_000))


@pytest.mark.parametrize("count", [4, pytest.param(20, marks=pytest.mark.slow)])
def test_processes_share_a_folder(files: Files, count: int) -> None:
    """With room for a third of what they write."""
    processes = [writer(files.folder, 1_000_000, seed, 3) for seed in range(count)]
    for process in processes:
        _, errors = process.communicate()
        assert (process.returncode, errors) == (0, "")
    assert files.damaged() == []
    assert [name for name in os.listdir(files.folder) if not name.endswith(".weft")] == ["room.ledger"]
