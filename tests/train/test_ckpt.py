"""MindSpore's checkpoint files: some that its release 2.10 wrote, the forms that it reads, and ours."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import weft
from weft import Tensor, nn
from weft.errors import CheckpointError
from weft.train import ckpt, load_checkpoint, save_checkpoint

#: tensors of many types, and appended values
TYPES = base64.b64decode(
    b"ChQKAXMSDxIHRmxvYXQzMhoEAABAQAoRCgFiEgwIAhIEQm9vbBoCAQAKHAoBaBIXCAIIAhIHRmxvYXQxNhoIADwAPAA8ADwKHgoC"
    b"YmYSGAgCCAISCEJGbG9hdDE2GgiAP4A/gD+APwokCgFjEh8IAhIJQ29tcGxleDY0GhAAAIA/AAAAAAAAgD8AAAAAChIKAmk4EgwI"
    b"AhIESW50OBoCAQEKIwoDdTY0EhwIAhIGVUludDY0GhABAAAAAAAAAAEAAAAAAAAAChoKBWVwb2NoEhESBUludDY0GggDAAAAAAAA"
    b"AAoVCgJschIPEgdGbG9hdDMyGgQAAAA/Ch0KBG5hbWUSFQgAEgNzdHIaDGEAAABiAAAAYwAAAAoRCgRmbGFnEgkSBEJvb2waAQE="
)
#: a layer, with a checksum
CHECKED = base64.b64decode(
    b"CjEKBndlaWdodBInCAMIAhIHRmxvYXQzMhoYzh4bvn6hPT29cQE/abAyP0Ugrz6gCnQ8CiEKBGJpYXMSGQgDEgdGbG9hdDMyGgxG"
    b"TZa9kn2fPU9BJr9jcmNfbnVtAAAAAAAAxsGzyA=="
)


def _loaded(folder: Path, content: bytes) -> dict[str, Any]:
    path = folder / "x.ckpt"
    path.write_bytes(content)
    return load_checkpoint(str(path))


def test_files_of_mindspore_are_read(tmp_path: Path) -> None:
    found = _loaded(tmp_path, TYPES)
    expected = {
        "s": np.float32(3), "b": np.array([True, False]), "h": np.ones((2, 2), np.float16),
        "bf": np.ones((2, 2), ml_dtypes.bfloat16), "c": np.ones(2, np.complex64),
        "i8": np.ones(2, np.int8), "u64": np.ones(2, np.uint64), "epoch": np.int64(3), "lr": np.float32(0.5),
        "flag": np.bool_(True),
    }  # fmt: skip
    assert found.pop("name") == "abc"
    assert set(found) == set(expected)
    for name, parameter in found.items():
        array = np.asarray(expected[name])
        assert (parameter.shape, parameter.dtype.np_dtype) == (array.shape, array.dtype)
        np.testing.assert_array_equal(parameter.asnumpy(), array)
        assert parameter.requires_grad


def test_checksums_are_read_and_checked(tmp_path: Path) -> None:
    assert set(_loaded(tmp_path, CHECKED)) == {"weight", "bias"}
    damaged = bytearray(CHECKED)
    damaged[30] ^= 1
    with pytest.raises(CheckpointError, match="checksum"):
        _loaded(tmp_path, bytes(damaged))


def test_files_are_written_as_mindspore_writes_them(tmp_path: Path) -> None:
    tensors = [{"name": "s", "data": Tensor(np.float32(3))}, {"name": "b", "data": Tensor([True, False])}]
    path = tmp_path / "x.ckpt"
    save_checkpoint(tensors, str(path), append_dict={"epoch": 3, "lr": 0.5, "name": "abc", "flag": True})
    content = path.read_bytes()
    for value in (b"\n\x01s\x12\x0f\x12\x07Float32\x1a\x04\x00\x00@@", b"\x08\x02\x12\x04Bool\x1a\x02\x01\x00"):
        assert value in TYPES
        assert value in content
    for name in ("epoch", "lr", "name", "flag"):
        start = TYPES.index(bytes([10, len(name)]) + name.encode()) - 1
        assert TYPES[start : start + 1 + TYPES[start]] in content


def test_a_checksum_is_written(tmp_path: Path) -> None:
    net = nn.Dense(2, 3)
    path = tmp_path / "x.ckpt"
    save_checkpoint(net, str(path), crc_check=True)
    content = path.read_bytes()
    assert content[-17:-10] == b"crc_num"
    assert set(load_checkpoint(str(path))) == {"weight", "bias"}
    with pytest.raises(CheckpointError, match="checksum"):
        _loaded(tmp_path, content[:-1] + bytes([content[-1] ^ 1]))


def test_large_values_come_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ckpt, "SLICE", 16)
    path = tmp_path / "x.ckpt"
    value = np.arange(10, dtype=np.float64).reshape(2, 5)
    save_checkpoint([{"name": "w", "data": Tensor(value)}], str(path))
    assert path.read_bytes().count(b"Float64") == 5
    np.testing.assert_array_equal(load_checkpoint(str(path))["w"].asnumpy(), value)


def _value(name: bytes, tensor: bytes) -> bytes:
    body = b"\n" + bytes([len(name)]) + name + b"\x12" + bytes([len(tensor)]) + tensor
    return b"\n" + bytes([len(body)]) + body


FLOATS = np.arange(4, dtype=np.float32).tobytes()


@pytest.mark.parametrize(
    ("content", "shape"),
    [
        (_value(b"a", b"\x08\x02\x08\x02\x12\x07Float32\x1a\x10" + FLOATS), (2, 2)),
        (_value(b"a", b"\n\x02\x02\x02\x12\x07Float32\x1a\x10" + FLOATS), (2, 2)),  # sizes packed
        (_value(b"a", b"\x12\x07Float32\x1a\x04" + FLOATS[:4]), ()),
        (_value(b"a", b"\x08\x00\x12\x07Float32\x1a\x04" + FLOATS[:4]), ()),
        (_value(b"a", b"\x08\x01\x12\x07Float32\x1a\x04" + FLOATS[:4]), (1,)),
        (_value(b"a", b"\x08\x00\x08\x02\x12\x07Float32\x1a\x00"), (0, 2)),
        (_value(b"a", b"\x08\x04\x12\x07Float32\x1a\x10" + FLOATS) + b"\x7a\x01x", (4,)),  # a field of the future
    ],
)
def test_forms_that_mindspore_reads(content: bytes, shape: tuple[int, ...], tmp_path: Path) -> None:
    found = _loaded(tmp_path, content)["a"]
    assert (found.shape, found.dtype) == (shape, weft.float32)
    assert found.asnumpy().ravel().tolist() == [0.0, 1.0, 2.0, 3.0][: found.size]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (_value(b"a", b"\x08\x03\x12\x07Float32\x1a\x10" + FLOATS), "does not fill its place"),
        (_value(b"a", b"\x08\x04\x12\x05Quark\x1a\x10" + FLOATS), "element type 'Quark'"),
        (_value(b"a", b"\x08\x04\x12\x04Bool\x1a\x04" + b"\x07" * 4), "no bool"),
        (b"\n\x7f" + FLOATS, "ends in the middle of a field"),
        (b"\n", "ends in the middle of a number"),
        (b"\x0b", "unknown form 3"),
        (b"\n" + b"\xff" * 11, "more than ten bytes"),
        (b"\n\x03\n\x01a", "no tensor"),
        (_value(b"\xff", b"\x12\x07Float32\x1a\x04" + FLOATS[:4]), "a name is no text"),
        (b"", "no parameter is left"),
    ],
)
def test_what_is_no_checkpoint_is_refused(content: bytes, what: str, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=what):
        _loaded(tmp_path, content)
