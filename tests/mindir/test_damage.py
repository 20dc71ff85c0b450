"""Damaged and hostile files: `load` gives the one error, takes no memory for what a file only claims, runs nothing."""

from __future__ import annotations

import json
import random
import tempfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.mindir.networks import Block, Flow, Structures, Trained, tensor
from weft import Tensor, float32
from weft.errors import MindIRError
from weft.mindir import GraphCell, export, load

pytest.importorskip("safetensors")


def _bytes_of(net: Any, *inputs: Any) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        export(net, *inputs, file_name=f"{folder}/net.mindir")
        return Path(folder, "net.mindir").read_bytes()


GOOD = [
    _bytes_of(Trained().set_train(), tensor(5, 4)),
    _bytes_of(Flow(), tensor(3, 3)),
    _bytes_of(Block(), Tensor(shape=[None, None, 16], dtype=float32)),
    _bytes_of(
        lambda x, y: (x[1:] + y.reshape(-1)[: x.shape[0] - 1]) / x.shape[0], *[Tensor(shape=[None], dtype=float32)] * 2
    ),
    _bytes_of(Structures(), {"a": tensor(2), "b": tensor(2)}, (tensor(2), [tensor(2), tensor(2)])),
]


def split(content: bytes) -> tuple[dict[str, Any], dict[str, Any], bytes]:
    """The header, the facts in it, and the data."""
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    return header, json.loads(header["__metadata__"]["weft.mindir"]), content[8 + size :]


def joined(header: dict[str, Any], facts: Any, data: bytes) -> bytes:
    header["__metadata__"] = {"weft.mindir": json.dumps(facts)}
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def read(content: bytes, folder: Path) -> bool:
    """Whether a file is read; the only other outcome is the one error."""
    path = folder / "x.mindir"
    path.write_bytes(content)
    message = ""
    try:
        GraphCell(load(str(path)))
    except MindIRError as error:
        message = str(error)
    assert str(path) in message or message == ""
    return message == ""


#: bytes that a header can hold, and some that it cannot
_BYTES = bytes(range(32, 127)) + b"\0\xff"


def flipped(content: bytes, chance: random.Random) -> bytes:
    changed = bytearray(content)
    end = 8 + int.from_bytes(content[:8], "little")
    for _ in range(chance.randint(1, 4)):
        changed[chance.randrange(chance.choice([0, 8, 8, 8]), len(content) if chance.random() < 0.5 else end)] = (
            chance.choice(_BYTES)
        )
    return bytes(changed)


def cut(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.randrange(len(content))] + chance.randbytes(chance.choice([0, 0, 9]))


def other_text(content: bytes, chance: random.Random) -> bytes:
    """The graph's text with pieces removed, doubled, exchanged or replaced; the file around it is intact."""
    header, facts, data = split(content)
    text = facts["graph"]
    for _ in range(chance.randint(1, 3)):
        a, b = sorted(chance.sample(range(len(text) + 1), 2))
        b = min(b, a + chance.randint(1, 30))
        piece = chance.choice(
            [
                "",
                text[a:b] * 2,
                text[:20],
                "(",
                "%0",
                "f32[2]",
                "99999999999",
                "-1",
                "s0",
                "s1 + 1",
                "*",
                "HostCall",
                "{",
                "=",
                "\0",
            ]
        )
        text = text[:a] + piece + text[b:]
    facts["graph"] = text
    return joined(header, facts, data)


def other_facts(content: bytes, chance: random.Random) -> bytes:
    """One value somewhere in the header or the facts replaced."""
    header, facts, data = split(content)
    places: list[tuple[Any, Any]] = []

    def walk(value: Any) -> None:
        for key in value if isinstance(value, dict) else range(len(value)):
            places.append((value, key))
            if isinstance(value[key], (dict, list)):
                walk(value[key])

    walk(chance.choice([facts, {key: entry for key, entry in header.items() if key != "__metadata__"}]))
    if places:
        owner, key = chance.choice(places)
        owner[key] = chance.choice(
            [
                None,
                True,
                -1,
                0,
                1,
                7,
                2**63,
                1.5,
                "",
                "tensor",
                "state",
                "size",
                "s0",
                "s7 + 1",
                [],
                {},
                [[]],
                ["tensor", 0],
                [2**40],
                owner[key],
                [owner[key]],
            ]
        )
    return joined(header, facts, data)


MUTATIONS: list[Callable[[bytes, random.Random], bytes]] = [flipped, cut, other_text, other_facts]


def mutate(numbers: range, folder: Path) -> None:
    for number in numbers:
        chance = random.Random(number)
        read(MUTATIONS[number % 4](GOOD[number // 4 % len(GOOD)], chance), folder)


def test_the_files_are_read(tmp_path: Path) -> None:
    for content in GOOD:
        assert read(content, tmp_path)
        assert read(joined(*split(content)), tmp_path)


def test_mutated_files_give_the_one_error(tmp_path: Path) -> None:
    mutate(range(300), tmp_path)


@pytest.mark.slow
def test_many_mutated_files_give_the_one_error(tmp_path: Path) -> None:
    mutate(range(300, 10_300), tmp_path)


@pytest.mark.parametrize("content", [b"", b"\0" * 8, b"\xff" * 8, b"\xff" * 100, GOOD[0] + b"\0", GOOD[0][:-1]])
def test_lengths_are_checked(content: bytes, tmp_path: Path) -> None:
    assert not read(content, tmp_path)


def test_claims_take_no_memory(tmp_path: Path) -> None:
    header, facts, data = split(GOOD[0])
    weight = next(entry for key, entry in header.items() if key != "__metadata__" and len(entry["shape"]) == 2)
    weight["shape"] = [2**30, 2**10]
    files = [joined(header, facts, data)]
    header, facts, data = split(GOOD[0])
    weight = next(entry for key, entry in header.items() if key != "__metadata__")
    weight["data_offsets"] = [0, 2**40]
    files.append(joined(header, facts, data))
    files.append((2**62).to_bytes(8, "little") + GOOD[0][8:])
    files.append((99_000_000).to_bytes(8, "little") + GOOD[0][8:])
    tracemalloc.start()
    try:
        for content in files:
            assert not read(content, tmp_path)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
    sparse = tmp_path / "sparse.mindir"
    with sparse.open("wb") as file:
        file.write(GOOD[0])
        file.truncate(2**36)
    with pytest.raises(MindIRError, match="the length of the file is wrong"):
        load(str(sparse))


@pytest.mark.parametrize("version", [0, 1, "2", True, None, "x" * 1000])
def test_other_versions_are_refused(version: Any, tmp_path: Path) -> None:
    header, facts, data = split(GOOD[0])
    facts["version"] = version
    (tmp_path / "x.mindir").write_bytes(joined(header, facts, data))
    with pytest.raises(MindIRError, match="format version") as caught:
        load(str(tmp_path / "x.mindir"))
    assert len(str(caught.value)) < 300


def one_graph(graph: str) -> bytes:
    """A file with this graph of one input and one output of two numbers."""
    facts = {
        "version": 2, "graph": graph, "operations": {}, "conditions": [],
        "inputs": [["tensor", 0, "float32", [2]]], "params": [["input", 0]],
        "stored": [], "checks": [], "state": [], "result": ["tensor", 0],
    }  # fmt: skip
    return joined({}, facts, b"")


def body(text: str) -> str:
    return f"subgraph @f(%0: f32[2]) {{\n{text}\n}}"


_IN_A_BRANCH = """
%1 = Constant() {value=bool[] {True}} : bool[]
%2 = ToNumber(%1) {kind=type(bool)} : bool[]:bool
%3 = If(%2, %0) {
then: subgraph @then(%0: f32[2]) { %9 = HostCall(%0) {call=1} : f32[2]
Return(%9) }
else: subgraph @else(%0: f32[2]) { Return(%0) }
} : f32[2]
Return(%3)"""


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (body("%1 = HostCall(%0) : f32[2]\nReturn(%0)"), "HostCall needs the attribute 'call'"),
        (body("%1 = HostCall(%0) {call=1} : f32[2]\nReturn(%1)"), "calls the host"),
        (body("%1 = GradHostCall(%0) {call=1, positions=(0,), count=1} : f32[2]\nReturn(%1)"), "calls the host"),
        (body(_IN_A_BRANCH), "calls the host"),
        (body("%1 = __import__(%0) : f32[2]\nReturn(%1)"), "unknown|__import__"),
        (body("%1 = ReLU(%0) : f32[3]\nReturn(%0)"), "f32"),
        (body("%1 = Add(%0, %9) : f32[2]\nReturn(%0)"), "%9"),
        (body(f"%1 = {'Grad' * 50_000}ReLU(%0) : f32[2]\nReturn(%1)"), "recursion"),
        (body("%1 = Add(%0, %0) : f32[2]\n" * 2 + "Return(%1)"), "%1"),
        (body("%1 = Zeros() {shape=(s0,)} : f32[s0]\nReturn(%0)"), "Zeros|open size"),
        (body("%1 = Reshape(%0) {shape=(s0,)} : f32[s0]\nReturn(%0)"), "do not fit|open size"),
        ("subgraph @f(%0: f32[s0]) { Return(%0) }", "sizes of the inputs|type of a parameter"),
        ("subgraph @f(%0: f32[2*s0]) { Return(%0) }", "type of a parameter|open size"),
        ("subgraph @f(%0: f32[s0 ** 2]) { Return(%0) }", "is no size"),
        ("subgraph @f(%0: f32[max(s0, exit())]) { Return(%0) }", "is no size"),
        ("subgraph @f(%0: f32[s0.real]) { Return(%0) }", "unexpected character"),
        (f"subgraph @f(%0: f32[{'s0*' * 200}s0]) {{ Return(%0) }}", "is no size"),
        (f"subgraph @f(%0: f32[{'max(s0, ' * 60}s0{')' * 60}]) {{ Return(%0) }}", "is no size"),
        ("subgraph @f(%0: f32[2], %1: token) { Return(%0) }", "number of the graph's parameters"),
        ("(" * 100_000, "expected 'subgraph'"),
        ("", "expected 'subgraph'"),
    ],
)
def test_hostile_graphs_are_refused(graph: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "x.mindir").write_bytes(one_graph(graph))
    with pytest.raises(MindIRError, match=message):
        load(str(tmp_path / "x.mindir"))


def test_the_same_file_with_a_good_graph_is_read(tmp_path: Path) -> None:
    (tmp_path / "x.mindir").write_bytes(one_graph(body("%1 = Add(%0, %0) : f32[2]\nReturn(%1)")))
    x = Tensor(np.array([1.0, 2.0], np.float32))
    assert GraphCell(load(str(tmp_path / "x.mindir")))(x).asnumpy().tolist() == [2.0, 4.0]
