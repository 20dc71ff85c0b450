"""Who takes part in a program of one process, and what is refused."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest

import weft
from weft.parallel import communication as comm
from weft.parallel.world import SeveralProcesses


@pytest.fixture(autouse=True)
def _not_begun(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("RANK_SIZE", "WORLD_SIZE", "MS_WORKER_NUM", "OMPI_COMM_WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    comm.release()
    yield
    comm.release()


def test_one_process_is_rank_0_of_1() -> None:
    for begin in (None, comm.init, lambda: comm.init("nccl"), lambda: comm.init("hccl")):
        if begin is not None:
            begin()
        assert (comm.get_rank(), comm.get_group_size()) == (0, 1)
        assert (comm.get_local_rank(), comm.get_local_rank_size()) == (0, 1)
        assert comm.get_rank(comm.NCCL_WORLD_COMM_GROUP) == 0


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("get_world_rank_from_group_rank", ("g", 0)),
        ("get_group_rank_from_world_rank", (0, "g")),
        ("create_group", ("g", [0])),
        ("destroy_group", ("g",)),
        ("get_process_group_ranks", ()),
        ("get_backend", ()),
    ],
)
def test_calls_before_init_are_refused(name: str, args: tuple[Any, ...]) -> None:
    with pytest.raises(RuntimeError, match=r"call mindspore.communication.init\(\) first"):
        getattr(comm, name)(*args)


def test_the_backend_says_how_the_group_of_all_is_called() -> None:
    comm.init()
    assert comm.get_backend() == "mccl" or weft.get_context("device_target") != "CPU"
    comm.init("nccl")
    assert (comm.GlobalComm.BACKEND, comm.GlobalComm.WORLD_COMM_GROUP) == ("nccl", "nccl_world_group")
    assert comm.GlobalComm.INITED
    comm.release()
    assert not comm.GlobalComm.INITED
    with pytest.raises(RuntimeError, match="'foo'"):
        comm.init("foo")
    with pytest.raises(TypeError, match="int"):
        comm.init(3)  # type: ignore[arg-type]
    assert not comm.GlobalComm.INITED


def test_groups() -> None:
    comm.init()
    comm.create_group("g", [0])
    assert (comm.get_rank("g"), comm.get_group_size("g"), comm.get_process_group_ranks("g")) == (0, 1, [0])
    assert comm.get_world_rank_from_group_rank("g", 0) == comm.get_group_rank_from_world_rank(0, "g") == 0
    comm.create_group("g", [0])  # again
    comm.destroy_group("g")
    for name in ("get_rank", "get_group_size", "get_process_group_ranks", "destroy_group"):
        with pytest.raises(RuntimeError, match="no group 'g'"):
            getattr(comm, name)("g")
    with pytest.raises(ValueError, match="stays"):
        comm.destroy_group(comm.GlobalComm.WORLD_COMM_GROUP)


@pytest.mark.parametrize("ranks", [[0, 1], [1], [0, 5]])
def test_groups_of_other_processes_are_refused(ranks: list[int]) -> None:
    comm.init()
    with pytest.raises(SeveralProcesses, match="one process, rank 0 of 1"):
        comm.create_group("g", ranks)
    with pytest.raises(SeveralProcesses):
        comm.get_world_rank_from_group_rank("hccl_world_group", 1)
    with pytest.raises(SeveralProcesses):
        comm.get_group_rank_from_world_rank(1, "hccl_world_group")


@pytest.mark.parametrize("name", ["RANK_SIZE", "WORLD_SIZE", "MS_WORKER_NUM", "OMPI_COMM_WORLD_SIZE"])
def test_an_environment_with_more_processes_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "8")
    with pytest.raises(SeveralProcesses, match=f"{name} says that 8 processes"):
        comm.init()
    assert not comm.GlobalComm.INITED
    monkeypatch.setenv(name, "1")
    comm.init()
    assert comm.GlobalComm.INITED


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("get_rank", (3,)),
        ("get_group_size", (None,)),
        ("create_group", (3, [0])),
        ("create_group", ("g", 0)),
        ("create_group", ("g", ["a"])),
        ("get_world_rank_from_group_rank", ("g", "a")),
        ("get_group_rank_from_world_rank", (0, 3)),
    ],
)
def test_arguments_of_the_wrong_type(name: str, args: tuple[Any, ...]) -> None:
    comm.init()
    with pytest.raises(TypeError):
        getattr(comm, name)(*args)


@pytest.mark.parametrize("ranks", [[], [0, 0]])
def test_ranks_are_there_once(ranks: list[int]) -> None:
    comm.init()
    with pytest.raises(ValueError, match="different ranks"):
        comm.create_group("g", ranks)


def test_compiled_functions_ask_who_they_are() -> None:
    def share(x: weft.Tensor) -> weft.Tensor:
        if comm.is_initialized():
            return x / comm.get_group_size() + comm.get_rank()
        return -x

    compiled = weft.jit(share)
    for begin in (comm.release, comm.init, comm.release, comm.init):
        begin()
        for value in (2.0, 3.0):
            x = weft.Tensor([value])
            assert compiled(x).asnumpy().tolist() == share(x).asnumpy().tolist()


@pytest.mark.parametrize(
    "path", ["mindspore.communication", "mindspore.communication.management", "mindspore.communication._comm_helper"]
)
def test_scripts_find_the_names(path: str) -> None:
    import weft.mindspore  # noqa: F401

    found = importlib.import_module(path)
    assert found.init is comm.init
    assert found.GlobalComm is comm.GlobalComm
