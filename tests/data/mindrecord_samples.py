"""Rows that MindSpore 2.10 wrote as MindRecord files; run with it, this file writes `mindrecord_samples.zip` anew."""

from __future__ import annotations

import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
STORED = HERE / "mindrecord_samples.zip"
SIZE = 32768

_NUMBERS = [([0, 127], [0, 128]), ([-128, -129], [-5, 300]), ([40000], [-32769]), ([2**31, 1], [2**31 - 1])]
_EXTREMES = [([-(2**40), 5], [7]), ([2**31 - 1], [32767]), ([-1, 255], [65535, 3]), ([], [-(2**31)])]


def _integers(long: list[int], short: list[int]) -> dict[str, Any]:
    return {"a": np.array(long, np.int64), "b": np.array(short, np.int32), "c": np.array([[1, 2], [3, 4]], np.int32)}


#: file, number of files, schema, index fields, rows of each call; where rows cannot be parted evenly, MindSpore draws
#: which file gets more
FILES: dict[str, tuple[int, dict[str, Any], list[str] | None, list[list[dict[str, Any]]]]] = {
    "integers": (
        1,
        {
            "a": {"type": "int64", "shape": [-1]},
            "b": {"type": "int32", "shape": [-1]},
            "c": {"type": "int32", "shape": [2, -1]},
        },
        None,
        [[_integers(long, short) for long, short in (*_NUMBERS, *_EXTREMES)]],
    ),
    "numbers": (
        1,
        {
            "x": {"type": "float32", "shape": [-1]},
            "y": {"type": "float64", "shape": [2]},
            "s": {"type": "float64"},
            "f": {"type": "float32"},
            "i": {"type": "int64"},
            "t": {"type": "int32"},
        },
        None,
        [
            [
                {
                    "x": np.array(x, np.float32),
                    "y": np.array([1 / 3, i]),
                    "s": s,
                    "f": s * 2,
                    "i": i,
                    "t": i % 1000 - 500,
                }
                for x, s, i in (([1.5, -2], 1 / 3, 2**40), ([], 2.0, -(2**33)), ([0.5], 0.0, 255), ([1], -1e300, -32))
            ]
        ],
    ),
    "texts": (
        1,
        {"n": {"type": "int64"}, "s": {"type": "string"}},
        ["n"],
        [[{"n": n, "s": "ü" * size} for n, size in ((1, 0), (-40, 5), (200, 20), (40000, 200))]],
    ),
    "pages": (
        1,
        {"s": {"type": "string"}, "d": {"type": "bytes"}},
        ["s"],
        [[{"s": chr(65 + i) * 9000, "d": b"%d" % i * 9000} for i in range(k, k + 5)] for k in (0, 5)],
    ),
    "parts": (
        3,
        {"i": {"type": "int64"}, "c": {"type": "int32"}, "d": {"type": "bytes"}},
        ["i", "c"],
        [[{"i": i, "c": i % 3, "d": b"%d" % i} for i in range(k, k + 6)] for k in (0, 6)],
    ),
}


def write(writer_class: Any, folder: str, name: str) -> list[str]:
    """Write one of `FILES`, and give the names of the files."""
    count, schema, indexes, batches = FILES[name]
    writer = writer_class(os.path.join(folder, name), count, True)
    writer.set_header_size(SIZE // 2)
    writer.set_page_size(SIZE)
    writer.add_schema(schema, name)
    if indexes is not None:
        writer.add_index(indexes)
    for rows in batches:
        writer.write_raw_data(rows)
    writer.commit()
    return [name] if count == 1 else [f"{name}{number}" for number in range(count)]


def main() -> None:
    from mindspore.mindrecord import FileWriter

    with zipfile.ZipFile(STORED, "w", zipfile.ZIP_DEFLATED) as stored, tempfile.TemporaryDirectory() as folder:
        for name in FILES:
            for file in write(FileWriter, folder, name):
                for each in (file, f"{file}.db"):
                    stored.writestr(zipfile.ZipInfo(each), (Path(folder) / each).read_bytes(), zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    main()
