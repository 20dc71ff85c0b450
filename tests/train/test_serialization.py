"""Checkpoints: what is saved comes back; what is damaged is refused and changes nothing."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft import dtypes, nn
from weft.core.tensor import Parameter, Tensor
from weft.errors import CheckpointError
from weft.train import files, load_checkpoint, load_param_into_net, save_checkpoint, serialization, wait_for_checkpoints

pytest.importorskip("safetensors")


def network() -> nn.Cell:
    return nn.SequentialCell(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Dense(4, 3, dtype=dtypes.bfloat16))


def values(net: nn.Cell) -> dict[str, Any]:
    return {p.name: np.array(p) for p in net.get_parameters()}


def same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return a.keys() == b.keys() and all(np.array_equal(a[k], b[k]) and a[k].dtype == b[k].dtype for k in a)


# -- round trips -----------------------------------------------------------------------------------------------------


def test_a_network_comes_back(tmp_path: Path) -> None:
    net, other = network(), network()
    other[0].weight.requires_grad = True
    path = str(tmp_path / "net.ckpt")
    save_checkpoint(net, path)
    found = load_checkpoint(path)
    assert list(found) == [p.name for p in net.get_parameters()]
    for param in net.get_parameters():
        one = found[param.name]
        assert isinstance(one, Parameter)
        assert (one.name, one.dtype, one.requires_grad) == (param.name, param.dtype, param.requires_grad)
    assert load_param_into_net(other, found) == ([], [])
    assert same(values(net), values(other))
    third = network()
    load_checkpoint(path, third)
    assert same(values(net), values(third))


#: types that no file of checkpoints holds
REFUSED = [d for d in dtypes.ALL if d.np_dtype.name.startswith("float8")]


@pytest.mark.parametrize("dtype", [d for d in dtypes.ALL if d is not dtypes.complex128 and d not in REFUSED], ids=str)
def test_every_type_and_shape_comes_back(dtype: Any, tmp_path: Path) -> None:
    tensors = {
        "scalar": Tensor(np.array(1).astype(dtype.np_dtype)),
        "empty": Tensor(np.zeros((0, 3), dtype.np_dtype)),
        "matrix": Tensor(np.arange(6).reshape(2, 3).astype(dtype.np_dtype)),
    }
    path = str(tmp_path / "x.ckpt")
    save_checkpoint([{"name": n, "data": t} for n, t in tensors.items()], path)
    found = load_checkpoint(path)
    for name, tensor in tensors.items():
        assert found[name].dtype is dtype
        assert found[name].shape == tensor.shape
        np.testing.assert_array_equal(found[name].asnumpy(), tensor.asnumpy())


def test_appended_values_come_back(tmp_path: Path) -> None:
    path = str(tmp_path / "x.ckpt")
    extra = {"epoch": 3, "rate": 0.5, "done": False, "note": "first", "best": Tensor([1.0])}
    save_checkpoint(nn.Dense(2, 1), path, append_dict=extra)
    found = load_checkpoint(path)
    assert found["note"] == "first"
    numbers = {"epoch": dtypes.int64, "rate": dtypes.float32, "done": dtypes.bool_}
    for name, dtype in numbers.items():
        assert (found[name].asnumpy().item(), found[name].dtype, found[name].shape) == (extra[name], dtype, ())
    assert load_param_into_net(nn.Dense(2, 1), found) == ([], ["epoch", "rate", "done", "best", "note"])


def test_names_are_chosen_by_prefix_and_function(tmp_path: Path) -> None:
    path = str(tmp_path / "x.ckpt")
    save_checkpoint(network(), path, choice_func=lambda name: not name.startswith("2."))
    assert set(load_checkpoint(path, filter_prefix="1.moving")) == {"0.weight", "1.gamma", "1.beta"}
    assert set(load_checkpoint(path, specify_prefix=["0."])) == {"0.weight"}
    assert set(load_checkpoint(path, choice_func=lambda name: name.endswith("beta"))) == {"1.beta"}
    with pytest.raises(CheckpointError, match="no parameter is left"):
        load_checkpoint(path, specify_prefix="9.")


def test_file_names(tmp_path: Path) -> None:
    save_checkpoint(nn.Dense(2, 1), tmp_path / "a")
    save_checkpoint(nn.Dense(2, 1), str(tmp_path / "b.weights"))
    save_checkpoint(nn.Dense(2, 1), str(tmp_path / "new" / "c"), format="safetensors")
    assert sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()) == [
        "a.ckpt", "b.weights", os.path.join("new", "c.safetensors"),
    ]  # fmt: skip
    assert not stat.S_IMODE((tmp_path / "a.ckpt").stat().st_mode) & 0o111


def test_background_saving_keeps_the_values_of_the_call(tmp_path: Path) -> None:
    net = nn.Dense(2, 1)
    before = values(net)
    save_checkpoint(net, str(tmp_path / "x.ckpt"), async_save=True)
    net.weight.set_data(net.weight.value() * 0)
    wait_for_checkpoints()
    found = load_checkpoint(str(tmp_path / "x.ckpt"))
    np.testing.assert_array_equal(found["weight"].asnumpy(), before["weight"])


def test_background_saving_copies_arrays_of_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()
    write = files.write
    monkeypatch.setattr(files, "write", lambda *args: (go_on.wait(), write(*args)))
    a, b, c = (np.full(5, i, np.float32) for i in range(3))
    save_checkpoint({"a": a, "c": c[::2]}, str(tmp_path / "x"), async_save=True, append_dict={"b": b})
    a[:] = b[:] = c[:] = -1
    go_on.set()
    found = load_checkpoint(str(tmp_path / "x.ckpt"))
    assert [found[name].tolist() for name in "abc"] == [[0.0] * 5, [1.0] * 5, [2.0] * 3]


def test_background_saves_of_a_file_finish_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = files.write
    delays = iter([0.2, 0.1, 0.0, 0.05, 0.0])

    def slowly(*args: Any) -> None:
        time.sleep(next(delays))
        write(*args)

    monkeypatch.setattr(files, "write", slowly)
    (tmp_path / "folder").mkdir()
    names = ["x.ckpt", "folder/../x.ckpt", "x", "x.ckpt", "folder/../x"]
    for number, name in enumerate(names):
        save_checkpoint({"a": Tensor(float(number))}, str(tmp_path / name), async_save=True)
    wait_for_checkpoints()
    assert load_checkpoint(str(tmp_path / "x.ckpt"))["a"].item() == 4.0
    assert not serialization._pending


def test_a_foreign_safetensors_file_is_read(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    save_file({"weight": np.ones((1, 2), np.float32)}, str(tmp_path / "x.safetensors"))
    net = nn.Dense(2, 1)
    assert load_param_into_net(net, load_checkpoint(str(tmp_path / "x.safetensors"))) == (["bias"], [])
    np.testing.assert_array_equal(net.weight.asnumpy(), 1.0)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.ckpt"
    save_checkpoint(nn.Dense(2, 1), str(path))
    before = path.read_bytes()

    def fail(*args: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(serialization.os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        save_checkpoint(nn.Dense(2, 1), str(path))
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["x.ckpt"]


# -- into a network --------------------------------------------------------------------------------------------------


def test_a_part_that_does_not_fit_changes_nothing() -> None:
    net = nn.Dense(2, 1)
    before = values(net)
    with pytest.raises(CheckpointError, match=r"'bias' has shape \(1,\), in the checkpoint \(2,\)"):
        load_param_into_net(net, {"weight": Tensor([[1.0, 2.0]]), "bias": Tensor([1.0, 2.0])})
    with pytest.raises(CheckpointError, match="is Float32, in the checkpoint Int64"):
        load_param_into_net(net, {"weight": Tensor([[1.0, 2.0]]), "bias": Tensor([1])})
    with pytest.raises(CheckpointError, match="lacks parameters of the network: 'bias'"):
        load_param_into_net(net, {"weight": Tensor([[1.0, 2.0]])}, strict_load=True)
    with pytest.raises(CheckpointError, match="in the checkpoint Float64"):
        load_param_into_net(net, {"bias": Tensor([1.0], dtypes.float64)}, strict_load=True)
    with pytest.raises(TypeError, match="must be a Parameter"):
        load_param_into_net(net, {"weight": Tensor([[1.0, 2.0]]), "bias": [1.0]})
    assert same(before, values(net))


def test_other_floating_types_are_cast() -> None:
    net = nn.Dense(2, 1)
    assert load_param_into_net(net, {"bias": Tensor([1.5], dtypes.float64), "x": Tensor([1])}) == (["weight"], ["x"])
    assert net.bias.dtype is dtypes.float32
    assert net.bias.asnumpy().tolist() == [1.5]


def test_a_common_prefix_is_found() -> None:
    net, outer = nn.Dense(2, 1), nn.SequentialCell(nn.Dense(2, 1))
    assert load_param_into_net(net, outer.parameters_dict()) == ([], [])
    assert np.array_equal(net.weight.asnumpy(), outer[0].weight.asnumpy())


def test_an_optimizer_comes_back(tmp_path: Path) -> None:
    def trained() -> tuple[nn.Cell, nn.Optimizer]:
        net = nn.Dense(2, 1, "ones", "zeros")
        return net, nn.Adam(net.trainable_params(), 0.1)

    _net, optimizer = trained()
    optimizer((Tensor([[1.0, 2.0]]), Tensor([3.0])))
    save_checkpoint(optimizer, str(tmp_path / "o.ckpt"))
    _, other = trained()
    assert load_param_into_net(other, load_checkpoint(str(tmp_path / "o.ckpt"))) == ([], [])
    for one in (optimizer, other):
        one((Tensor([[1.0, 2.0]]), Tensor([3.0])))
    assert same(values(optimizer), values(other))


# -- damage ----------------------------------------------------------------------------------------------------------


def _good_bytes(format: Any) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"x.{format}"
        save_checkpoint(network(), str(path), append_dict={"epoch": 1, "note": "a"}, format=format)
        return path.read_bytes()


GOOD = _good_bytes("safetensors")
HEADER_END = 8 + int.from_bytes(GOOD[:8], "little")
GOOD_CKPT = _good_bytes("ckpt")


def refuse_or_load(content: bytes) -> None:
    """A file either loads whole or is refused with the one error, and then the network is as before."""
    net = network()
    before = values(net)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.ckpt"
        path.write_bytes(content)
        try:
            load_checkpoint(str(path), net)
        except CheckpointError:
            changed = not same(before, values(net))
        else:
            changed = False
        assert not changed


def test_a_file_that_ends_before_its_strings_is_refused(tmp_path: Path) -> None:
    """Each message of the file is whole, so that only the list of what it holds can tell."""
    path = tmp_path / "x.ckpt"
    for length in range(1, len(GOOD_CKPT)):
        path.write_bytes(GOOD_CKPT[:length])
        with pytest.raises(CheckpointError):
            load_checkpoint(str(path))


@settings(max_examples=60)
@given(st.sampled_from([GOOD, GOOD_CKPT]), st.floats(0, 1, exclude_max=True))
def test_truncated_files_are_refused(content: bytes, share: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.ckpt"
        path.write_bytes(content[: int(share * len(content))])
        with pytest.raises(CheckpointError):
            load_checkpoint(str(path))


@settings(max_examples=150)
@given(st.lists(st.tuples(st.integers(0, HEADER_END + 8), st.integers(1, 255)), min_size=1, max_size=4))
def test_flipped_bits_never_crash(flips: list[tuple[int, int]]) -> None:
    content = bytearray(GOOD)
    for at, mask in flips:
        content[at] ^= mask
    refuse_or_load(bytes(content))


@settings(max_examples=300)
@given(st.lists(st.tuples(st.integers(0, len(GOOD_CKPT) - 1), st.integers(1, 255)), min_size=1, max_size=4))
def test_flipped_bits_of_messages_never_crash(flips: list[tuple[int, int]]) -> None:
    content = bytearray(GOOD_CKPT)
    for at, mask in flips:
        content[at] ^= mask
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.ckpt"
        path.write_bytes(content)
        with contextlib.suppress(CheckpointError):
            load_checkpoint(str(path))


@settings(max_examples=60)
@given(st.binary(max_size=200))
def test_garbage_is_refused(content: bytes) -> None:
    refuse_or_load(content)
    refuse_or_load(len(content).to_bytes(8, "little") + content)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=100)
@given(json_values, st.sampled_from(["header", "entry", "metadata", "facts", "order", "trained", "texts", "shape"]))
def test_hostile_headers_never_crash(value: Any, where: str) -> None:
    header = json.loads(GOOD[8:HEADER_END])
    facts = json.loads(header["__metadata__"]["weft"])
    if where == "header":
        header = value
    elif where == "entry":
        header["0.weight"] = value
    elif where == "shape":
        header["0.weight"]["shape"] = value
    elif where == "metadata":
        header["__metadata__"] = value
    else:
        if where == "facts":
            facts = value
        else:
            facts[where] = value
        header["__metadata__"]["weft"] = json.dumps(facts)
    text = json.dumps(header).encode()
    refuse_or_load(len(text).to_bytes(8, "little") + text + GOOD[HEADER_END:])


def test_missing_files_and_wrong_arguments(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="there is no checkpoint file"):
        load_checkpoint(str(tmp_path / "none.ckpt"))
    with pytest.raises(CheckpointError, match="is no file"):
        load_checkpoint(str(tmp_path))
    with pytest.raises(TypeError, match="must be a str"):
        load_checkpoint(3)
    with pytest.raises(TypeError, match="takes a Cell, a list or a dict"):
        save_checkpoint(3, str(tmp_path / "x"))
    with pytest.raises(ValueError, match="does not encrypt"):
        save_checkpoint(nn.Dense(1, 1), str(tmp_path / "x"), enc_key=b"x")
    with pytest.raises(ValueError, match="two parameters are named"):
        save_checkpoint([{"name": "a", "data": Tensor([1.0])}] * 2, str(tmp_path / "x"))
    with pytest.raises(IsADirectoryError):
        save_checkpoint(nn.Dense(1, 1), str(tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("format", ["ckpt", "safetensors"])
@pytest.mark.parametrize("dtype", REFUSED, ids=str)
def test_a_type_that_files_do_not_hold_is_refused_by_its_name(dtype: Any, format: str, tmp_path: Path) -> None:
    tensor = Tensor(np.arange(6).reshape(2, 3).astype(dtype.np_dtype))
    path = tmp_path / f"x.{format}"
    with pytest.raises(TypeError, match=f"'x' is {dtype.np_dtype.name}"):
        save_checkpoint([{"name": "x", "data": tensor}], str(path), format=format)
    assert not path.exists()
