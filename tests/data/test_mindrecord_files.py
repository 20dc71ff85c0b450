"""MindRecord files: those of MindSpore 2.10 are read, and those that are written here are the same bytes."""

from __future__ import annotations

import json
import os
import sqlite3
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mindrecord_samples as samples
import numpy as np
import pytest

from weft.data.mindrecord import FileReader, FileWriter, MindPage
from weft.data.mindrecord.errors import (
    MRMAddSchemaError,
    MRMBuildSchemaError,
    MRMDefineCategoryError,
    MRMDefineIndexError,
    MRMGetMetaError,
    MRMInvalidSchemaError,
    MRMOpenForAppendError,
    ParamTypeError,
    ParamValueError,
)

SCHEMA = {"i": {"type": "int64"}, "c": {"type": "int32"}, "d": {"type": "bytes"}}


def row(i: int) -> dict[str, Any]:
    return {"i": i, "c": i % 3, "d": b"%d" % i}


def written(path: Path, rows: list[dict[str, Any]], count: int = 1, schema: Any = None) -> str:
    writer = FileWriter(str(path), count, True)
    writer.set_header_size(1 << 14)
    writer.set_page_size(1 << 15)
    writer.add_schema(schema or SCHEMA, "a test")
    writer.write_raw_data(rows)
    writer.commit()
    return str(path) if count == 1 else f"{path}0"


def read(path: str | list[str], **options: Any) -> list[dict[str, Any]]:
    return list(FileReader(path, **options).get_next())


def same(found: dict[str, Any], expected: dict[str, Any]) -> bool:
    return set(found) == set(expected) and all(np.array_equal(found[name], expected[name]) for name in expected)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stored")
    with zipfile.ZipFile(samples.STORED) as archive:
        archive.extractall(folder)
    return folder


@pytest.mark.parametrize("name", samples.FILES)
def test_files_of_mindspore_are_read(name: str, stored: Path) -> None:
    count, schema, _, batches = samples.FILES[name]
    reader = FileReader(str(stored / (name if count == 1 else f"{name}0")))
    assert reader.schema() == schema
    found = list(reader.get_next())
    expected = [each for rows in batches for each in rows]
    assert len(found) == reader.len() == len(expected)
    if count > 1:
        assert sorted(each["i"] for each in found) == list(range(12))
        return
    for one, other in zip(found, expected, strict=True):
        assert same(one, {key: np.reshape(x, schema[key].get("shape", np.shape(x))) for key, x in other.items()})


@pytest.mark.parametrize("name", samples.FILES)
def test_files_are_those_of_mindspore(name: str, stored: Path, tmp_path: Path) -> None:
    for file in samples.write(FileWriter, str(tmp_path), name):
        assert (tmp_path / file).read_bytes() == (stored / file).read_bytes()
        databases = [sqlite3.connect(folder / f"{file}.db") for folder in (stored, tmp_path)]
        for query in ("SELECT * FROM INDEXES", "SELECT NAME FROM SHARD_NAME", "PRAGMA table_info(INDEXES)"):
            ours, theirs = [database.execute(query).fetchall() for database in databases]
            assert ours == theirs
        for database in databases:
            database.close()


def test_rows_are_parted_among_files(stored: Path) -> None:
    parts = [[each["i"] for each in read([str(stored / f"parts{number}")])] for number in range(3)]
    assert parts == [[0, 1, 6, 7], [2, 3, 8, 9], [4, 5, 10, 11]]


def test_columns(stored: Path) -> None:
    found = read(str(stored / "numbers"), columns=["x", "i"])
    assert list(found[0]) == ["i", "x"]
    assert found[3]["i"] == -32
    with pytest.raises(RuntimeError, match="column name: q can not found in schema"):
        FileReader(str(stored / "numbers"), columns=["q"])


def test_rows_are_added_to_files_that_there_are(tmp_path: Path) -> None:
    path = written(tmp_path / "t", [row(i) for i in range(10)], 3)
    writer = FileWriter.open_for_append(path)
    writer.write_raw_data([row(i) for i in range(20, 24)])
    writer.commit()
    assert [each["i"] for each in read(path)] == [0, 1, 2, 3, 20, 21, 4, 5, 6, 22, 7, 8, 9, 23]
    with pytest.raises(RuntimeError, match="nonesuch is not exists"):
        FileWriter.open_for_append(str(tmp_path / "nonesuch"))
    os.rename(path, tmp_path / "u")
    with pytest.raises(MRMOpenForAppendError):
        FileWriter.open_for_append(str(tmp_path / "u"))


def test_adding_goes_on_on_the_last_pages(tmp_path: Path) -> None:
    rows = [{"i": i, "c": i, "d": bytes([i]) * 5000} for i in range(9)]
    path = written(tmp_path / "all", rows[:5])
    writer = FileWriter.open_for_append(path)
    writer.write_raw_data(rows[5:])
    writer.commit()
    assert read(path) == rows
    size = os.path.getsize(path)
    assert size < (1 << 14) + 4 * (1 << 15)


def test_no_rows(tmp_path: Path) -> None:
    writer = FileWriter(str(tmp_path / "t"))
    writer.add_schema(SCHEMA)
    writer.commit()
    assert read(str(tmp_path / "t")) == []


@pytest.mark.parametrize(
    ("schema", "error"),
    [
        ({}, MRMInvalidSchemaError),
        ([1], MRMInvalidSchemaError),
        ({"a": {}}, MRMInvalidSchemaError),
        ({"a": "int32"}, MRMInvalidSchemaError),
        ({"a": {"type": "int8"}}, MRMInvalidSchemaError),
        ({"a": {"type": ["int32"]}}, MRMInvalidSchemaError),
        ({"a": {"type": "bytes", "shape": [-1]}}, MRMInvalidSchemaError),
        ({"a": {"type": "int32", "shape": 2}}, MRMInvalidSchemaError),
        ({"a": {"type": "int32", "x": 1}}, MRMInvalidSchemaError),
        ({"a-b": {"type": "int32"}}, MRMInvalidSchemaError),
        ({"": {"type": "int32"}}, MRMInvalidSchemaError),
        ({5: {"type": "int32"}}, TypeError),
        ({"a": {"type": "int32", "shape": [-1, -1]}}, MRMBuildSchemaError),
    ],
)
def test_wrong_schemas(schema: Any, error: type[Exception], tmp_path: Path) -> None:
    with pytest.raises(error):
        FileWriter(str(tmp_path / "t")).add_schema(schema)


def test_wrong_index_fields(tmp_path: Path) -> None:
    writer = FileWriter(str(tmp_path / "t"))
    with pytest.raises(MRMGetMetaError):
        writer.add_index(["i"])
    writer.add_schema({**SCHEMA, "v": {"type": "int32", "shape": [2]}})
    with pytest.raises(MRMAddSchemaError):
        writer.add_schema(SCHEMA)
    for wrong in ([], "i", [5]):
        with pytest.raises(ParamTypeError):
            writer.add_index(wrong)
    for blob in ("d", "v"):
        with pytest.raises(MRMDefineIndexError, match="not primitive type"):
            writer.add_index([blob])
    with pytest.raises(RuntimeError, match="q can not found in schema"):
        writer.add_index(["q"])
    writer.add_index(["i"])
    with pytest.raises(RuntimeError, match="added repeatedly"):
        writer.add_index(["i"])


def test_wrong_arguments_of_writers(tmp_path: Path) -> None:
    for name in ("", None, 5, str(tmp_path / "a:b")):
        with pytest.raises(ParamValueError):
            FileWriter(name)  # type: ignore[arg-type]
    for count in (0, 1001, "a", 2.0, None, True):
        with pytest.raises(ParamValueError):
            FileWriter(str(tmp_path / "t"), count)  # type: ignore[arg-type]
    with pytest.raises(ParamValueError, match="overwrite"):
        FileWriter(str(tmp_path / "t"), 1, 5)  # type: ignore[arg-type]
    writer = FileWriter(str(tmp_path / "t"))
    for size in (1, 16383, (1 << 27) + 1):
        with pytest.raises(RuntimeError, match="header size"):
            writer.set_header_size(size)
    for size in (1, 32767, (1 << 28) + 1, 100001):
        with pytest.raises(RuntimeError, match="page size"):
            writer.set_page_size(size)
    with pytest.raises(TypeError):
        writer.set_page_size(5.5)  # type: ignore[arg-type]
    for act in (writer.commit, lambda: writer.write_raw_data([row(0)])):
        with pytest.raises(RuntimeError, match="schema is not found in header"):
            act()
    missing = FileWriter(str(tmp_path / "none" / "t"))
    missing.add_schema(SCHEMA)
    with pytest.raises(RuntimeError, match="Invalid dir"):
        missing.commit()


def test_files_are_not_overwritten_unless_asked(tmp_path: Path) -> None:
    path = written(tmp_path / "t", [row(0)])
    writer = FileWriter(path)
    writer.add_schema(SCHEMA)
    with pytest.raises(RuntimeError, match="already exist"):
        writer.write_raw_data([row(1)])
    assert read(path) == [row(0)]
    written(tmp_path / "t", [row(1)])
    assert read(path) == [row(1)]


#: for each type the values that MindSpore takes, and others
TAKEN = {
    "int32": ([5, np.int32(5)], [5.5, True, "a", None, np.int64(1), np.int8(1), np.array(1, np.int32), 1 << 31]),
    "int64": ([5, np.int64(5), -(1 << 63)], [5.5, False, np.int32(1), np.array([1]), 1 << 63]),
    "float32": ([2.5, np.float32(2.5)], [5, np.float64(1), "a"]),
    "float64": ([2.5, np.float64(2.5)], [5, np.float32(1)]),
    "string": (["a", ""], [5, b"a", np.str_("a"), None]),
    "bytes": ([b"a", b""], ["a", bytearray(b"a"), np.bytes_(b"a"), np.arange(3, dtype=np.uint8)]),
}


@pytest.mark.parametrize("kind", TAKEN)
def test_rows_that_do_not_fit_are_left_out_with_a_warning(kind: str, tmp_path: Path) -> None:
    schema = {"a": {"type": kind}, "z": {"type": "int32"}}
    taken, refused = TAKEN[kind]
    rows = [{"a": value, "z": 1} for value in taken]
    assert [each["a"] for each in read(written(tmp_path / "t", rows, 1, schema))] == taken
    for value in refused:
        with pytest.warns(UserWarning, match="1 of 2 rows do not fit the schema"):
            path = written(tmp_path / "t", [{"a": value, "z": 1}, rows[0]], 1, schema)
        assert len(read(path)) == 1
        with pytest.raises(RuntimeError, match="no valid data"):
            written(tmp_path / "t", [{"a": value, "z": 1}], 1, schema)


def test_arrays_that_do_not_fit(tmp_path: Path) -> None:
    schema = {"v": {"type": "int32", "shape": [2, -1]}}
    fitting = np.arange(6, dtype=np.int32)
    (found,) = read(written(tmp_path / "t", [{"v": fitting, "more": 1}], 1, schema))
    assert np.array_equal(found["v"], fitting.reshape(2, 3))
    for wrong in ([1, 2], fitting.astype(np.int64), fitting[:5], 5):
        with pytest.raises(RuntimeError, match="no valid data"):
            written(tmp_path / "t", [{"v": wrong}], 1, schema)
    with pytest.raises(RuntimeError, match="there is no 'v'"):
        written(tmp_path / "t", [{}], 1, schema)


def test_what_is_no_list_of_rows(tmp_path: Path) -> None:
    writer = FileWriter(str(tmp_path / "t"))
    writer.add_schema(SCHEMA)
    for wrong in ({}, 5, [5], None, (row(0),)):
        with pytest.raises(ParamTypeError):
            writer.write_raw_data(wrong)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="no valid data"):
        writer.write_raw_data([])


def test_a_row_larger_than_a_page(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="too small to save a blob row"):
        written(tmp_path / "t", [{**row(0), "d": bytes(40000)}])


def test_a_header_that_says_too_much(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="set_header_size must say a larger size"):
        written(tmp_path / "t", [{**row(i), "d": bytes(20000)} for i in range(100)])


def test_pages_of_categories(tmp_path: Path) -> None:
    page = MindPage(written(tmp_path / "t", [row(i) for i in range(10)], 3))
    assert page.candidate_fields == page.get_category_fields() == ["c", "i"]
    with pytest.raises(RuntimeError):
        page.read_category_info()
    with pytest.raises(MRMDefineCategoryError, match="'d' is not a candidate"):
        page.category_field = "d"
    page.category_field = "c"
    assert json.loads(page.read_category_info()) == {
        "categories": [{"count": count, "id": i, "name": str(i)} for i, count in enumerate((4, 3, 3))],
        "key": "c_0",
    }
    assert page.read_at_page_by_id(1, 0, 2) == [row(1), row(4)]
    assert page.read_at_page_by_id(1, 1, 2) == [row(7)]
    assert page.read_at_page_by_name("2", 0, 1) == [row(2)]
    for act in (
        lambda: page.read_at_page_by_id(9, 0, 1),
        lambda: page.read_at_page_by_id(0, 9, 1),
        lambda: page.read_at_page_by_name("zz", 0, 1),
    ):
        with pytest.raises(RuntimeError):
            act()
    for number, rows in ((-1, 1), (0, 0)):
        with pytest.raises(ParamValueError):
            page.read_at_page_by_id(0, number, rows)


def _changed_header(path: Path, **changes: Any) -> None:
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length]) | changes
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + content[8 + len(text) :])


def _database(path: Path, statement: str) -> None:
    with sqlite3.connect(f"{path}.db") as database:
        database.execute(statement)
    database.close()


DAMAGES: dict[str, Callable[[Path], Any]] = {
    "no database": lambda path: os.remove(f"{path}.db"),
    "another's database": lambda path: _database(path, "UPDATE SHARD_NAME SET NAME='x'"),
    "no table": lambda path: _database(path, "DROP TABLE INDEXES"),
    "no number": lambda path: _database(path, "UPDATE INDEXES SET PAGE_ID_RAW='x'"),
    "another page": lambda path: _database(path, "UPDATE INDEXES SET PAGE_ID_RAW=0"),
    "a far page": lambda path: _database(path, "UPDATE INDEXES SET PAGE_ID_BLOB=1000000000000"),
    "before the page": lambda path: _database(path, "UPDATE INDEXES SET PAGE_OFFSET_BLOB=-8"),
    "after the page": lambda path: _database(path, "UPDATE INDEXES SET PAGE_OFFSET_BLOB_END=32768"),
    "another row's place": lambda path: _database(path, "UPDATE INDEXES SET PAGE_OFFSET_BLOB_END=25"),
    "garbage for a database": lambda path: Path(f"{path}.db").write_bytes(b"garbage" * 300),
    "short": lambda path: path.write_bytes(path.read_bytes()[:40000]),
    "shorter": lambda path: path.write_bytes(path.read_bytes()[:100]),
    "empty": lambda path: path.write_bytes(b""),
    "garbage": lambda path: path.write_bytes(b"x" * 70000),
    "an old version": lambda path: _changed_header(path, version="2.0"),
    "no pages": lambda path: _changed_header(path, page=None),
    "pages that are none": lambda path: _changed_header(path, page=[5]),
    "a path for a name": lambda path: _changed_header(path, shard_addresses=["../x"]),
    "no schema": lambda path: _changed_header(path, schema=[5]),
    "an impossible schema": lambda path: _changed_header(
        path, schema=[{"schema": {"a": {"type": "x"}}, "desc": "", "blob_fields": []}], index_fields=None
    ),
    "other fields": lambda path: _changed_header(
        path, schema=[{"schema": {"a": {"type": "int32"}}, "desc": "", "blob_fields": []}], index_fields=None
    ),
    "a deep header": lambda path: path.write_bytes(struct.pack("<Q", 60000) + b"[" * 70000),
    "a renamed file": lambda path: [os.rename(path, path.parent / "u"), (path.parent / "t").mkdir()],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files_are_refused(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "t"
    written(path, [row(i) for i in range(5)])
    DAMAGES[damage](path)
    with pytest.raises(RuntimeError):
        read(str(path))


def test_a_missing_part(tmp_path: Path) -> None:
    path = written(tmp_path / "t", [row(i) for i in range(5)], 3)
    os.remove(tmp_path / "t1")
    with pytest.raises(RuntimeError, match=r"t1 can not be found"):
        read(path)
    assert [each["i"] for each in read([path])] == [0, 1]


@pytest.mark.parametrize("ending", ["", ".db"])
@pytest.mark.parametrize("name", ["integers", "texts"])
@pytest.mark.parametrize("seed", range(0, 100, 10))
def test_changed_bytes_are_refused_or_read_as_rows(seed: int, name: str, ending: str, tmp_path: Path) -> None:
    path = tmp_path / name
    samples.write(FileWriter, str(tmp_path), name)
    changed = Path(f"{path}{ending}")
    content = changed.read_bytes()
    written_places = np.flatnonzero(np.frombuffer(content, np.uint8))
    for number in range(seed, seed + 10):
        random = np.random.default_rng(number)
        other = bytearray(content)
        for place in random.choice(written_places, 3):
            other[place] = random.integers(256)
        changed.write_bytes(other)
        try:
            found = read(str(path))
        except RuntimeError:
            continue
        assert len(found) == sum(map(len, samples.FILES[name][3]))
