"""What the coordinator makes of what processes and launchers say, with threads in their place."""

from __future__ import annotations

import queue
import socket
import time
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from weft._jax_compat import APART, FINDING, REACHED, REACHING, TOGETHER
from weft.parallel import coordinator as coordinating
from weft.parallel.coordinator import Coordinator
from weft.parallel.differing import Differing
from weft.parallel.groups import Group
from weft.parallel.wire import Line, Lines, line_of


class Speaker:
    """A process or a launcher, which says what it is told to."""

    all: ClassVar[list[Speaker]] = []

    def __init__(self, coordinator: Coordinator) -> None:
        self._heard: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.line = Line(coordinator.address, 1)
        self.line.listen(self._heard.put, "heard")
        self.say = self.line.send
        self.all.append(self)

    def alive(self, idle: float = 0.0, at: str = "a.py:1", inside: Any = (), stage: int = TOGETHER) -> None:
        self.say("alive", idle, at, list(inside), stage)

    def hears(self, kind: str | None, within: float = 5.0) -> Any:
        """The next message of a kind."""
        until = time.monotonic() + within
        while True:
            message = self._heard.get(timeout=max(until - time.monotonic(), 0.001))
            if (message and message[0]) == kind:
                return message and message[1:]

    def fault(self) -> str:
        return self.hears("fault")[0]


@pytest.fixture
def coordinator(monkeypatch: pytest.MonkeyPatch) -> Iterator[Coordinator]:
    for name, seconds in (
        ("_GONE", 0.4),
        ("_GONE_UNSEEN", 0.8),
        ("_CAUSE", 0.3),
        ("_LOOK", 0.02),
        ("_IDLE", 0.4),
        ("_LIMIT", 3.0),
    ):
        monkeypatch.setattr(coordinating, name, seconds)
    made = Coordinator("127.0.0.1:0", 3, word="go")
    yield made
    made.close()
    while Speaker.all:
        Speaker.all.pop().line.close()


@pytest.fixture
def ranks(coordinator: Coordinator) -> list[Speaker]:
    found = [Speaker(coordinator) for _ in range(3)]
    for rank, one in enumerate(found):
        one.say("hello", rank, "0")
    assert [one.hears("begin") for one in found] == [["go"]] * 3
    return found


def test_all_who_come_with_the_same_go_on(ranks: list[Speaker]) -> None:
    for number in range(1, 50):
        for rank in (2, 0, 1):
            ranks[rank].say("meet", ["", [0, 1, 2], ""], number, "AllReduce", "a.py:1", {"rank": rank})
        wanted = [["", [0, 1, 2], ""], number, [{"rank": rank} for rank in range(3)]]
        assert [one.hears("met") for one in ranks] == [wanted] * 3


def test_what_is_different_is_told_of_all(ranks: list[Speaker]) -> None:
    for rank, what in enumerate(("AllReduce", "AllReduce", "AllGather")):
        ranks[rank].say("meet", ["", [0, 1, 2], ""], 1, what, f"a.py:{rank}", None)
    for one in ranks:
        assert "rank 1: AllReduce (a.py:1)\n  rank 2: AllGather (a.py:2)" in one.fault()


@pytest.mark.parametrize("answering", [(0, 1, 2), (0, 2), ()])
def test_the_first_difference_is_told(ranks: list[Speaker], answering: tuple[int, ...]) -> None:
    """Those that come with something else say in full what it is; what stands in a line behind ``  # `` may differ."""
    for rank, what in enumerate(("run 7a", "run 7a", "run 7b")):
        ranks[rank].say("meet", ["", [0, 1, 2], ""], 1, what, f"a.py:{rank}", None)
    for rank in answering:
        assert ranks[rank].hears("differ") == [["", [0, 1, 2], ""], 1]
        lines = [
            "operand 0: f32[2]",
            f"%1 = Relu(%0)  # a.py:{rank}",
            f"%2 = Scale(%1) {{by={3 + rank // 2}}}  # a.py:4",
        ]
        ranks[rank].say("told", ["", [0, 1, 2], ""], 1, lines if rank < 2 else [*lines, "%3 = Neg(%2)"])
    wanted = "\nthe first difference:\n  rank 0: %2 = Scale(%1) {by=3}  # a.py:4\n  rank 2: %2 = Scale(%1) {by=4}"
    for one in ranks:
        fault = one.fault()
        assert "rank 0: run 7a (a.py:0)\n  rank 1: run 7a (a.py:1)\n  rank 2: run 7b (a.py:2)" in fault
        assert (wanted in fault) == (0 in answering)


def test_what_differs_in_long_lines_is_shown() -> None:
    came = {rank: (f"run {rank}", "a.py:1", None) for rank in range(2)}
    lines = {rank: [f"{'a' * 300}{rank}{'b' * 500}  # a.py:1"] for rank in range(2)}
    told = Differing(Group("", (0, 1)), 1, came, 0.0, lines).told()
    assert all(f"{'a' * 80}{rank}{'b' * 100}" in told for rank in range(2))
    assert max(map(len, told.splitlines())) < 400
    lines[1] = lines[0][:0]
    assert "rank 1: nothing more" in Differing(Group("", (0, 1)), 1, came, 0.0, lines).told()


def test_the_first_fault_is_the_only_one(coordinator: Coordinator, ranks: list[Speaker]) -> None:
    ranks[1].say("fault", "the first")
    ranks[2].hears("fault")
    ranks[2].say("fault", "the second")
    ranks[0].line.close()
    late = Speaker(coordinator)
    late.say("watch", 0, 3, "0")
    assert late.hears("fault") == ["the first", 1]


def test_a_symptom_waits_for_its_cause(ranks: list[Speaker]) -> None:
    ranks[1].say("symptom", "a connection was closed")
    ranks[2].line.close()
    assert ranks[0].fault() == "rank 2 is gone: it has closed its connection"


def test_a_symptom_without_a_cause_is_the_fault(ranks: list[Speaker]) -> None:
    ranks[1].say("symptom", "a connection was closed")
    assert ranks[0].fault() == "a connection was closed"


def test_a_launcher_knows_better_how_a_process_ended(coordinator: Coordinator, ranks: list[Speaker]) -> None:
    launcher = Speaker(coordinator)
    launcher.say("watch", 1, 2, "0")
    launcher.hears("watching")
    ranks[2].alive(at="b.py:7")
    ranks[2].hears("heard")
    ranks[2].line.close()
    time.sleep(0.1)
    launcher.say("gone", 2, "was ended by SIGKILL", True)
    assert ranks[0].fault() == launcher.fault() == "rank 2 was ended by SIGKILL (last seen at b.py:7)"


def test_one_that_has_ended_is_missed_where_others_wait_for_it(ranks: list[Speaker]) -> None:
    ranks[2].say("ended")
    ranks[2].line.close()
    with pytest.raises(queue.Empty):
        ranks[0].hears("fault", 0.3)
    ranks[0].say("meet", ["", [0, 1], ""], 1, "AllReduce", "a.py:1", None)
    ranks[1].say("meet", ["", [0, 1], ""], 1, "AllReduce", "a.py:1", None)
    ranks[0].hears("met")
    ranks[0].say("meet", ["", [0, 1, 2], ""], 1, "AllGather", "a.py:2", None)
    assert (
        ranks[1].fault()
        == "rank 2 has ended; rank 0 waits for the ranks [1, 2] in AllGather among [0, 1, 2] (a.py:2, exchange 1)"
    )


def begins(start: str, text: str) -> bool:
    """Whether a text begins with another one, in which a dot stands for any character."""
    return len(text) >= len(start) and all(a in (b, ".") for a, b in zip(start, text, strict=False))


def say_for(ranks: list[Speaker], seconds: float, **said: dict[str, Any]) -> None:
    """Let processes give signs of life."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for name, signs in said.items():
            ranks[int(name[1:])].alive(**signs)
        time.sleep(0.05)


def test_one_that_gives_no_sign_of_life(ranks: list[Speaker]) -> None:
    ranks[2].alive()
    say_for(ranks, 1.0, r0={}, r1={})  # nobody waits
    ranks[0].say("meet", ["", [0, 2], ""], 1, "AllReduce", "a.py:1", None)
    say_for(ranks, 1.0, r0={}, r1={})
    assert begins("rank 2 gives no sign of life since . s; rank 0 waits for rank 2 in AllReduce", ranks[1].fault())


def test_one_that_gives_no_sign_of_life_within_an_exchange(ranks: list[Speaker]) -> None:
    inside = [[["", [0, 2], ""], "AllReduce(a.py:3)", 1.0]]
    ranks[2].alive()
    say_for(ranks, 1.0, r0={"inside": inside}, r1={})
    assert begins("rank 2 gives no sign of life since . s; rank 0 waits in AllReduce", ranks[1].fault())


def test_one_that_is_seen_computing_is_alive(coordinator: Coordinator, ranks: list[Speaker]) -> None:
    launcher = Speaker(coordinator)
    launcher.say("watch", 0, 3, "0")
    for one in ranks:
        one.alive(idle=3.0)
    ranks[0].say("meet", ["", [0, 2], ""], 1, "AllReduce", "a.py:1", None)
    for _ in range(10):
        say_for(ranks, 0.1, r0={}, r1={})
        launcher.say("seen", [2])
    with pytest.raises(queue.Empty):
        ranks[0].hears("fault", 0.01)
    say_for(ranks, 0.6, r0={}, r1={})
    assert begins("rank 2 gives no sign of life since 0 s; rank 0 waits for rank 2 in AllReduce", ranks[1].fault())


def test_one_that_does_nothing(ranks: list[Speaker]) -> None:
    ranks[0].say("meet", ["", [0, 1, 2], ""], 1, "AllReduce", "a.py:1", None)
    say_for(ranks, 0.6, r0={"idle": 1}, r1={"idle": 0.1}, r2={"idle": 9.0, "at": "b.py:4"})
    told = "rank 2 does nothing since 9 s, at b.py:4; rank 0 waits for the ranks [1, 2] in AllReduce among [0, 1, 2] "
    assert ranks[1].fault().startswith(told)


def test_one_that_waits_for_somebody_busy_is_not_to_blame(ranks: list[Speaker]) -> None:
    ranks[0].say("meet", ["", [0, 1], ""], 1, "AllReduce", "a.py:1", None)
    ranks[1].say("meet", ["", [1, 2], ""], 1, "AllGather", "a.py:2", None)
    say_for(ranks, 1.0, r0={"idle": 1}, r1={"idle": 1}, r2={"idle": 0.0})
    with pytest.raises(queue.Empty):
        ranks[0].hears("fault", 0.01)
    say_for(ranks, 0.5, r0={"idle": 1}, r1={"idle": 1}, r2={"idle": 1.0})
    assert ranks[0].fault().startswith("rank 2 does nothing since 1 s, at a.py:1; rank 1 waits for rank 2 in AllGather")


def test_those_that_wait_for_each_other_are_not_at_fault_while_one_does_something(ranks: list[Speaker]) -> None:
    ranks[0].say("meet", ["", [0, 1], ""], 1, "AllReduce", "a.py:1", None)
    ranks[1].say("meet", ["g", [0, 1], ""], 1, "AllGather", "a.py:2", None)
    say_for(ranks, 1.0, r0={"idle": 0.0}, r1={"idle": 5.0}, r2={})
    ranks[0].say("meet", ["g", [0, 1], ""], 1, "AllGather", "a.py:3", None)
    for one in ranks[:2]:
        assert one.hears("met")[0] == ["g", [0, 1], ""]
    say_for(ranks, 0.2, r0={}, r1={}, r2={})
    ranks[1].say("meet", ["", [0, 1], ""], 1, "AllReduce", "a.py:4", None)
    assert ranks[0].hears("met")[0] == ["", [0, 1], ""]


def test_those_that_wait_for_each_other(ranks: list[Speaker]) -> None:
    for rank, group in enumerate(([0, 1], [1, 2], [2, 0])):
        ranks[rank].say("meet", ["", group, ""], 1, "AllReduce", f"a.py:{rank}", None)
    say_for(ranks, 0.6, **{f"r{rank}": {"idle": 1} for rank in range(3)})
    fault = ranks[0].fault()
    assert fault.startswith("the processes wait for each other")
    for rank, other in enumerate((1, 2, 0)):
        assert f"\n  rank {rank} waits for rank {other} in AllReduce (a.py:{rank}, exchange 1)" in fault


def test_one_that_is_busy_for_too_long(ranks: list[Speaker]) -> None:
    ranks[0].say("meet", ["", [0, 2], ""], 1, "AllReduce", "a.py:1", None)
    say_for(ranks, 3.3, r0={}, r1={}, r2={"at": "b.py:4"})
    assert ranks[1].fault().startswith("rank 2 does not come since 3 s, it is at b.py:4; rank 0 waits for rank 2")


@pytest.mark.parametrize(
    ("begun", "before", "what"),
    [(REACHING, APART, "the connection with the others"), (FINDING, REACHED, "the first use of its devices")],
)
def test_one_that_does_not_come_to_find_the_others(ranks: list[Speaker], begun: int, before: int, what: str) -> None:
    say_for(ranks, 0.6, r0={"stage": begun}, r1={"stage": begun}, r2={"stage": before, "idle": 3.0, "at": "b.py:4"})
    wanted = f"rank 2 does nothing since 3 s, at b.py:4; rank . waits for rank 2 in {what} among [0, 1, 2] (a.py:1)"
    assert begins(wanted, ranks[1].fault())  # the dot is who is heard first


def test_strangers_are_sent_away(coordinator: Coordinator, ranks: list[Speaker]) -> None:
    host, _, port = coordinator.address.rpartition(":")
    for text in (b"GET / HTTP/1.1\r\n\r\n", b"[]\n", b'["meet"]\n', b'["hello", 7, "0"]\n', line_of(["serve"])):
        with socket.create_connection((host, int(port))) as stranger:
            stranger.sendall(text)
            assert stranger.recv(100) == b""
    second = Speaker(coordinator)
    second.say("hello", 1, "0")
    assert second.fault() == "there is another process with rank 1"
    old = Speaker(coordinator)
    old.say("hello", 1, "4")
    assert old.fault() == "the coordinator is that of start 0 of the program"
    ranks[0].say("meet", ["", [0], ""], 1, "AllReduce", "a.py:1", None)
    ranks[0].hears("met")


def test_all_notice_that_the_coordinator_is_gone(coordinator: Coordinator, ranks: list[Speaker]) -> None:
    coordinator.close()
    assert [one.hears(None) for one in ranks] == [None] * 3


def test_the_coordinator_is_needed_until_all_are_gone(coordinator: Coordinator, ranks: list[Speaker]) -> None:
    for one in ranks:
        assert not coordinator.unneeded.wait(0.05)
        one.say("ended")
        one.line.close()
    assert coordinator.unneeded.wait(2)


def test_messages_come_whole_in_any_pieces() -> None:
    sent = b"".join(line_of(["meet", "a\nb", number]) for number in range(5))
    for size in (1, 7, 100):
        lines = Lines()
        found = [message for at in range(0, len(sent), size) for message in lines.add(sent[at : at + size])]
        assert found == [["meet", "a\nb", number] for number in range(5)]
