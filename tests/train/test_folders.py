"""Checkpoints in folders: what comes back, what is refused, and that nothing is half loaded."""

from __future__ import annotations

import json
import os
import random
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

import weft
from weft import Tensor, jit, nn
from weft.core.tensor import Parameter
from weft.errors import CheckpointError
from weft.train import load_checkpoint, load_distributed_checkpoint, save_distributed_checkpoint, wait_for_checkpoints

TYPES = [
    "bool_",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "bfloat16",
    "complex64",
    "complex128",
]


class Net(nn.Cell):
    def __init__(self, seed: int) -> None:
        super().__init__()
        data = np.random.default_rng(seed)
        self.weight = Parameter(Tensor(data.standard_normal((3, 4)).astype(np.float32)), name="weight")
        self.bias = Parameter(Tensor(data.standard_normal(4), weft.bfloat16), name="bias")
        self.wave = Parameter(Tensor(data.standard_normal(3) * 2j), name="wave", requires_grad=False)
        self.count = Parameter(Tensor(seed), name="count", requires_grad=False)


def values(net: nn.Cell) -> dict[str, bytes]:
    return {p.name: np.array(p).tobytes() for p in net.get_parameters()}


# -- round trips -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 3, 2)])
def test_all_types_and_shapes(tmp_path: Path, kind: str, shape: tuple[int, ...]) -> None:
    elements = np.random.default_rng(1).integers(0, 100, shape)
    tensor = Tensor(elements, getattr(weft, kind))
    save_distributed_checkpoint({"x": tensor}, tmp_path)
    found = load_checkpoint(tmp_path)["x"]
    assert (found.dtype, found.shape) == (tensor.dtype, tensor.shape)
    assert np.array(found).tobytes() == np.array(tensor).tobytes()


def test_names_texts_and_what_is_trained(tmp_path: Path) -> None:
    odd = ["a/b", "..", "weights[0:2]", "é", "x'", "a b", ""]
    net = {name: Parameter(Tensor([float(i)]), name=name or "none") for i, name in enumerate(odd)}
    net["frozen"] = Parameter(Tensor([9.0]), name="frozen", requires_grad=False)
    save_distributed_checkpoint(net, str(tmp_path / "x"), {"text": "words", "rate": 0.5, "step": 3, "on": True})
    found = load_checkpoint(str(tmp_path / "x"))
    assert [found[name].asnumpy()[0] for name in odd] == list(range(7))
    assert found["text"] == "words"
    assert int(found["step"]) == 3
    assert float(found["rate"]) == 0.5
    assert found["a/b"].requires_grad
    assert not found["frozen"].requires_grad


def test_what_the_functions_choose(tmp_path: Path) -> None:
    save_distributed_checkpoint(Net(1), tmp_path, choice_func=lambda name: name != "wave")
    assert sorted(load_checkpoint(tmp_path)) == ["bias", "count", "weight"]
    assert sorted(load_checkpoint(tmp_path, filter_prefix="w")) == ["bias", "count"]
    assert sorted(load_checkpoint(tmp_path, specify_prefix=["w"])) == ["weight"]
    with pytest.raises(CheckpointError, match="no parameter is left"):
        load_checkpoint(tmp_path, specify_prefix="z")
    with pytest.raises(CheckpointError, match="lacks parameters of the network: 'wave'"):
        load_checkpoint(tmp_path, Net(2), strict_load=True)


def test_a_checkpoint_is_replaced_as_a_whole(tmp_path: Path) -> None:
    for seed in range(3):
        save_distributed_checkpoint(Net(seed), tmp_path)
        (tmp_path / f"mine{seed}").write_text("kept")
        (tmp_path / f"part_{seed}.0123456789abcdef.safetensors").write_text("of an interrupted save")
        (tmp_path / "index.json.x1.tmp").write_text("of an interrupted save")
        net = Net(9)
        load_checkpoint(tmp_path, net)
        assert values(net) == values(Net(seed))
    save_distributed_checkpoint(Net(1), tmp_path)
    assert len(list(tmp_path.glob("part_*"))) == len(list(tmp_path.glob("index*"))) == 1
    assert len(list(tmp_path.glob("mine*"))) == 3


def test_in_the_background(tmp_path: Path) -> None:
    net = Net(1)
    before = values(net)
    for _ in range(3):
        save_distributed_checkpoint(net, tmp_path, async_save=True)
    net.weight.set_data(net.weight.value() * 0)
    wait_for_checkpoints()
    other = Net(2)
    load_checkpoint(tmp_path, other)
    assert values(other) == before


def test_stages_are_merged_and_taken_apart(tmp_path: Path) -> None:
    for stage, names in enumerate(("ab", "bc")):
        save_distributed_checkpoint({name: Tensor([ord(name)]) for name in names}, tmp_path / str(stage))
    both = [str(tmp_path / "0"), str(tmp_path / "1")]
    net = nn.Cell()
    net.a = Parameter(Tensor([0]), name="a")
    net.c = Parameter(Tensor([0]), name="c")
    assert load_distributed_checkpoint(net, both) == ([], ["b"])
    assert (int(net.a), int(net.c)) == (ord("a"), ord("c"))
    found = load_distributed_checkpoint(net, both, name_map={"b": "c", "c": "d"}, return_param_dict=True)
    assert sorted(found) == ["a", "c", "d"]
    assert int(net.c) == ord("b")
    save_distributed_checkpoint({"b": Tensor([1])}, tmp_path / "1")
    with pytest.raises(CheckpointError, match="'b' is another tensor in"):
        load_distributed_checkpoint(net, both)
    assert int(net.c) == ord("b")


def test_in_a_compiled_function(tmp_path: Path) -> None:
    net = nn.Dense(2, 1)

    def run(x: Tensor) -> Tensor:
        save_distributed_checkpoint(net, tmp_path, {"step": 1})
        y = net(x) * 2
        load_checkpoint(tmp_path, net)
        return y + net(x)

    compiled = jit(run)
    for _ in range(3):
        x = Tensor([[1.0, 2.0]])
        np.testing.assert_allclose(compiled(x).asnumpy(), run(x).asnumpy(), rtol=1e-6)
        net.weight.set_data(net.weight.value() * 2)


def test_what_is_wrong_with_the_arguments(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for bad, error in (
        ((Net(1), 3), TypeError),
        ((3, tmp_path), TypeError),
        (({"x": 3}, tmp_path), TypeError),
        (({3: Tensor([1])}, tmp_path), TypeError),
        ((Net(1), tmp_path, {"weight": 1}), ValueError),
        ((Net(1), tmp_path / "file"), CheckpointError),
        ((Net(1), tmp_path / "file" / "x"), CheckpointError),
    ):
        with pytest.raises(error, match="save_distributed_checkpoint"):
            save_distributed_checkpoint(*bad)  # type: ignore[arg-type]
    with pytest.raises(CheckpointError, match="is no file"):
        load_checkpoint(tmp_path)


# -- damage ----------------------------------------------------------------------------------------------------------


def rewritten(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the index of a checkpoint, its sum included."""
    index = json.loads((folder / "index.json").read_text())
    change(index["content"])
    text = json.dumps(index["content"], sort_keys=True, separators=(",", ":")).encode()
    (folder / "index.json").write_text(json.dumps({**index, "crc": zlib.crc32(text)}))


def part(content: dict[str, Any], name: str = "weight") -> Any:
    return content["tensors"][name]["parts"][0]


HOSTILE: dict[str, Callable[[dict[str, Any]], object]] = {
    "no tensors": lambda c: c.pop("tensors"),
    "other keys": lambda c: c.update(more=1),
    "tensors are a list": lambda c: c.update(tensors=[]),
    "file elsewhere": lambda c: c["files"][0].__setitem__(0, "../part_0.0123456789abcdef.safetensors"),
    "file of the system": lambda c: c["files"][0].__setitem__(0, "/etc/passwd"),
    "file twice": lambda c: c["files"].append(c["files"][0]),
    "size of a file": lambda c: c["files"][0].__setitem__(1, 5),
    "no such file": lambda c: part(c).__setitem__(0, 7),
    "negative file": lambda c: part(c).__setitem__(0, -1),
    "true as a file": lambda c: part(c).__setitem__(0, True),
    "no such key": lambda c: part(c).__setitem__(1, "w"),
    "key of another": lambda c: part(c).__setitem__(1, "bias"),
    "starts later": lambda c: part(c).__setitem__(2, [1, 0]),
    "starts before": lambda c: part(c).__setitem__(2, [-1, 0]),
    "smaller": lambda c: part(c).__setitem__(3, [1, 4]),
    "more dimensions": lambda c: part(c).__setitem__(3, [3, 4, 1]),
    "other sum": lambda c: part(c).__setitem__(4, 0),
    "no parts": lambda c: c["tensors"]["weight"].update(parts=[]),
    "part twice": lambda c: c["tensors"]["weight"]["parts"].append(part(c)),
    "huge": lambda c: c["tensors"]["weight"].update(shape=[1 << 40, 1 << 20]),
    "huge of nothing": lambda c: c["tensors"]["weight"].update(shape=[0, 1 << 61]),
    "huge in many parts": lambda c: c["tensors"]["weight"].update(
        shape=[3 * 10**4, 4], parts=[[0, f"k{i}", [3 * i, 0], [3, 4], 0] for i in range(10**4)]
    ),
    "many dimensions": lambda c: c["tensors"]["weight"].update(shape=[1] * 40),
    "shape of texts": lambda c: c["tensors"]["weight"].update(shape=["3", "4"]),
    "shape of floats": lambda c: c["tensors"]["weight"].update(shape=[3.0, 4.0]),
    "other type": lambda c: c["tensors"]["weight"].update(dtype="int32"),
    "objects": lambda c: c["tensors"]["weight"].update(dtype="object"),
    "wider type": lambda c: c["tensors"]["weight"].update(dtype="complex128"),
    "texts are numbers": lambda c: c.update(texts={"a": 1}),
    "text of a tensor": lambda c: c.update(texts={"weight": "a"}),
    "trained unknown": lambda c: c.update(trained=["z"]),
    "trained number": lambda c: c.update(trained=[1]),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_an_index_that_lies_is_refused(tmp_path: Path, what: str) -> None:
    save_distributed_checkpoint(Net(1), tmp_path)
    rewritten(tmp_path, HOSTILE[what])
    net = Net(2)
    for load in (
        lambda: load_checkpoint(tmp_path, net),
        lambda: load_distributed_checkpoint(net, unified_safetensors_dir=str(tmp_path)),
        lambda: load_checkpoint(tmp_path),
    ):
        with pytest.raises(CheckpointError, match="is no undamaged checkpoint"):
            load()
        assert values(net) == values(Net(2))


@pytest.mark.parametrize("content", [b"", b"{", b"[" * 100_000, b"[]", b"null", b'{"format": 3}', b"\xff\xfe", b"NaN"])
def test_an_index_that_is_none_is_refused(tmp_path: Path, content: bytes) -> None:
    save_distributed_checkpoint(Net(1), tmp_path)
    (tmp_path / "index.json").write_bytes(content)
    with pytest.raises(CheckpointError, match=r"index\.json is not the index of one"):
        load_checkpoint(tmp_path)


def test_another_version_is_named(tmp_path: Path) -> None:
    save_distributed_checkpoint(Net(1), tmp_path)
    index = json.loads((tmp_path / "index.json").read_text())
    (tmp_path / "index.json").write_text(json.dumps({**index, "version": 2}))
    with pytest.raises(CheckpointError, match="has the format version 2; this program reads 1"):
        load_checkpoint(tmp_path)


def _mutated(folder: Path, chosen: random.Random) -> str:
    """Damage a checkpoint in some way; says how."""
    files = sorted(folder.iterdir())
    file = chosen.choice(files)
    content = bytearray(file.read_bytes())
    kind = chosen.choice(["flip", "cut", "grow", "gone", "other", "zeros", "folder"])
    at = chosen.randrange(len(content))
    if kind == "flip":
        content[at] ^= 1 << chosen.randrange(8)
    elif kind == "cut":
        del content[at:]
    elif kind == "grow":
        content[at:at] = os.urandom(chosen.randrange(1, 9))
    elif kind == "zeros":
        content[at : at + 64] = bytes(min(64, len(content) - at))
    elif kind == "other":
        content = bytearray(chosen.choice(files).read_bytes())
    file.unlink()
    if kind == "folder":
        file.mkdir()
    elif kind != "gone":
        file.write_bytes(content)
    return f"{kind} {file.name} {at}"


@pytest.mark.parametrize("rounds", [150, pytest.param(3000, marks=pytest.mark.slow)])
def test_damage_is_one_error_and_changes_nothing(tmp_path: Path, rounds: int) -> None:
    good = tmp_path / "good"
    save_distributed_checkpoint(Net(1), good, {"text": "words"})
    chosen = random.Random(rounds)
    net, wanted, before = Net(2), values(Net(1)), values(Net(2))
    refused = 0
    for number in range(rounds):
        bad = tmp_path / f"bad{number}"
        shutil.copytree(good, bad)
        what = _mutated(bad, chosen)
        found = ""
        try:
            load_checkpoint(bad, net)
        except CheckpointError as error:
            found = str(error)
        assert values(net) == (before if found else wanted), what
        assert len(found) < 1000, what
        if found:
            refused += 1
        else:
            net = Net(2)
        shutil.rmtree(bad)
    assert refused > rounds // 2


def slice_file(path: Path, start: int, slices: Any) -> None:
    """What a process writes that holds two rows of four, which begin at one."""
    rows = np.arange(12, dtype=np.float32).reshape(4, 3)[start : start + 2]
    facts = {"version": 2, "trained": ["w"], "order": ["w"], "texts": {}, "slices": slices}
    path.write_bytes(safetensors.numpy.save({"w": np.ascontiguousarray(rows)}, {"weft": json.dumps(facts)}))


def test_files_that_say_which_slices_they_hold(tmp_path: Path) -> None:
    files = [tmp_path / f"{start}.safetensors" for start in (0, 2)]
    for file, start in zip(files, (0, 2), strict=True):
        slice_file(file, start, {"w": [[4, 3], [start, 0]]})
    assert load_checkpoint(files[1])["w"].asnumpy().tolist() == [[6, 7, 8], [9, 10, 11]]
    net = nn.Cell()
    net.w = Parameter(Tensor(np.zeros((4, 3), np.float32)), name="w")
    with pytest.raises(CheckpointError, match=r"in the checkpoint a slice \(2, 3\) of \(4, 3\)"):
        load_checkpoint(files[0], net)
    with pytest.raises(CheckpointError, match="6 of the 12 elements of 'w': some are missing"):
        load_distributed_checkpoint(net, files[:1])
    assert not net.w.asnumpy().any()
    assert load_distributed_checkpoint(net, files) == ([], [])
    assert net.w.asnumpy().tolist() == np.arange(12).reshape(4, 3).tolist()


@pytest.mark.parametrize(
    "slices",
    [
        3,
        {"v": [[4, 3], [0, 0]]},
        {"w": 3},
        {"w": [[4, 3]]},
        {"w": [[4, 3], [0]]},
        {"w": [[4, 3], [3, 0]]},
        {"w": [[4, 3], [-1, 0]]},
        {"w": [[1, 3], [0, 0]]},
        {"w": [[4, 3, 1], [0, 0, 0]]},
        {"w": [["4", 3], [0, 0]]},
        {"w": [[4, 3], [True, 0]]},
    ],
    ids=str,
)
def test_files_that_lie_about_slices(tmp_path: Path, slices: Any) -> None:
    slice_file(tmp_path / "x.safetensors", 0, slices)
    with pytest.raises(CheckpointError, match="is no undamaged checkpoint"):
        load_checkpoint(tmp_path / "x.safetensors")


def test_a_disk_that_fails_leaves_the_checkpoint_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_distributed_checkpoint(Net(1), tmp_path)
    for name in ("replace", "fsync"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, lambda *given: (_ for _ in ()).throw(OSError(28, "No space left on device")))
            with pytest.raises(CheckpointError, match="cannot be written: No space left on device"):
                save_distributed_checkpoint(Net(2), tmp_path)
        net = Net(3)
        load_checkpoint(tmp_path, net)
        assert values(net) == values(Net(1))
    save_distributed_checkpoint(Net(2), tmp_path)
    assert len(list(tmp_path.glob("part_*"))) == 1
