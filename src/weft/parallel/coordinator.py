"""The coordinator: it knows of each process whether it lives, what it waits for, and what went wrong first.

It runs as a thread, in `weft launch` or in the first process. Each process has a connection to it and so has each
launcher, which tells how the processes of its machine ended. A process that comes to an exchange says with what; when
all of its group have come with the same, all are told to go on. What is wrong is told to all at once, and the first
thing that is wrong is the only one: what follows from it, as a broken connection between two processes does, is a
symptom, which waits for its cause.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from weft._jax_compat import APART, FINDING, REACHING
from weft.core.workers import start_quietly
from weft.parallel.differing import Differing
from weft.parallel.groups import Group, group_of, listed
from weft.parallel.wire import PIECE, Lines, is_here, line_of, parted

#: seconds without a sign of life after which a process is gone, if others wait for it: where a launcher sees whether it
#: computes, and where none does, since one that computes in a library may hold Python's lock for long
_GONE, _GONE_UNSEEN = 6.0, 30.0
#: seconds that a symptom waits for its cause, and the end of a process for its status
_CAUSE: Final = 2.0
#: seconds after a fault in which the processes end
_NEEDED: Final = 12.0
#: seconds between two looks at who waits for whom
_LOOK: Final = 0.25
#: seconds until all processes must be there
PATIENCE: Final = 300.0
#: environment variables: seconds that a process may do nothing while others wait for it, and that it may take at most
IDLE, LIMIT = "WEFT_IDLE_SECONDS", "WEFT_EXCHANGE_SECONDS"
#: their defaults: nothing means no processor time, so that compiling, say, may take longer
_IDLE, _LIMIT = 10.0, 600.0
#: what a process waits for until all have begun with it
_STAGES: Final = {REACHING: "the connection with the others", FINDING: "the first use of its devices"}


@dataclass(slots=True, eq=False)
class _Peer:
    """A connection, of a process or of a launcher."""

    socket: socket.socket
    rank: int | None = None
    watches: frozenset[int] = frozenset()
    lines: Lines = field(default_factory=Lines)
    unsent: bytearray = field(default_factory=bytearray)


@dataclass(slots=True)
class _Member:
    """A process of the program."""

    peer: _Peer | None = None
    #: when it was heard last, and when it said that it ends
    heard: float = 0.0
    ended: float | None = None
    #: whether it is no more, and whether a launcher tells that
    gone: bool = False
    watched: bool = False
    #: seconds without a sign of life after which it is gone
    patience: float = field(default_factory=lambda: _GONE_UNSEEN)
    #: seconds without doing anything, where it was, and the exchanges that it takes part in, as it said last
    idle: float = 0.0
    at: str = ""
    inside: list[tuple[Group, str, float]] = field(default_factory=list)
    stage: int = APART


@dataclass(slots=True)
class _Wait:
    """An exchange to which some of a group have come, each with what it does, where, and details."""

    group: Group
    since: float
    name: str
    came: dict[int, tuple[str, str, Any]] = field(default_factory=dict)

    def missing(self) -> list[int]:
        return [rank for rank in self.group.ranks if rank not in self.came]

    def told(self) -> str:
        """Who waits for whom, in what, and who else takes part."""
        rank, (what, at, _) = next(iter(self.came.items()))
        missing = self.missing()
        whom = f"rank {missing[0]}" if len(missing) == 1 else f"the ranks {listed(missing)}"
        among = f" among {self.group.told()}" if self.group.name or len(self.group.ranks) > 2 else ""
        return f"rank {rank} waits for {whom} in {what}{among} ({', '.join(filter(None, (at, self.name)))})"


def allowed() -> tuple[float, float]:
    """Seconds that a process may do nothing while others wait for it, and that it may take at most.

    Raises:
        RuntimeError: an environment variable says something else.
    """
    return _seconds(IDLE, _IDLE), _seconds(LIMIT, _LIMIT)


def _seconds(name: str, default: float) -> float:
    text = os.environ.get(name) or str(default)
    with contextlib.suppress(ValueError):
        if (found := float(text)) > 0:
            return found
    raise RuntimeError(f"the environment variable {name} must be a number of seconds above 0, not {text!r}")


class Coordinator:
    """Coordinates the processes of a program.

    Args:
        address: host and port at which it can be reached; port 0 for a free one.
        count: number of processes.
        word: what the processes are told when all are there.
        start: which start of the program this is; processes of another one are refused.
        kept: lives as long.

    Raises:
        OSError: it cannot be reached there.
        RuntimeError: an environment variable says something that it does not understand.
    """

    def __init__(self, address: str, count: int, word: Any = None, start: str = "0", kept: Any = None) -> None:
        self._idle, self._limit = allowed()
        host, port = parted(address)
        if is_here(host) or not socket.has_dualstack_ipv6():
            self._listener = socket.create_server((host if is_here(host) else "", port))
        else:
            self._listener = socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True)
        self.address = f"{host}:{self._listener.getsockname()[1]}"
        #: set when no process needs the coordinator any more
        self.unneeded = threading.Event()
        self._count, self._word, self._start, self._kept = count, word, start, kept
        self._members = [_Member() for _ in range(count)]
        self._waits: dict[tuple[Group, int], _Wait] = {}
        self._stages: dict[int, _Wait] = {}
        self._began = time.monotonic()
        self._all_there = False
        self._fault: tuple[str, int | None] | None = None
        self._fault_at = 0.0
        #: what was noticed of something wrong, when that is declared if its cause is not known, and by whom
        self._symptom: tuple[str, float, int | None] | None = None
        self._differing: Differing | None = None
        self._peers: set[_Peer] = set()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._wake, woken = socket.socketpair()
        self._selector.register(woken, selectors.EVENT_READ)
        self._woken = woken
        self._thread = start_quietly(self._serve, "weft-coordinator")

    def close(self) -> None:
        """End it; all who are connected notice."""
        self._wake.close()
        self._thread.join()

    # connections

    def _serve(self) -> None:
        try:
            while True:
                for key, events in self._selector.select(_LOOK):
                    if key.fileobj is self._woken:
                        return
                    if key.data is None:
                        self._accept()
                    elif events & selectors.EVENT_READ:
                        self._read(key.data)
                    else:
                        self._flush(key.data)
                self._look(time.monotonic())
        finally:
            self.unneeded.set()
            for one in (self._listener, self._woken, *[peer.socket for peer in self._peers]):
                one.close()
            self._selector.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            found, _ = self._listener.accept()
            found.setblocking(False)
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            peer = _Peer(found)
            self._peers.add(peer)
            self._selector.register(found, selectors.EVENT_READ, peer)

    def _read(self, peer: _Peer) -> None:
        try:
            piece = peer.socket.recv(PIECE)
            for kind, *content in peer.lines.add(piece):
                getattr(self, f"_hear_{kind}")(peer, *content)
        except BlockingIOError:
            return
        except (OSError, ValueError, TypeError, AttributeError, LookupError):
            piece = b""  # it is gone, or nobody who knows what to say
        if not piece:
            self._drop(peer)

    def _drop(self, peer: _Peer) -> None:
        if peer not in self._peers:
            return
        self._peers.remove(peer)
        self._selector.unregister(peer.socket)
        peer.socket.close()
        for rank in peer.watches:
            self._members[rank].watched, self._members[rank].patience = False, _GONE_UNSEEN
        for rank in (*peer.watches, *([] if peer.rank is None else [peer.rank])):
            member = self._members[rank]
            if member.peer is peer:
                member.peer = None
            if member.peer is None and not member.watched and not member.gone and (peer.rank == rank or member.heard):
                self._leave(rank, "is gone: it has closed its connection", bad=member.ended is None)

    def _send(self, peers: Iterable[_Peer], *message: Any) -> None:
        line = line_of(message)
        for peer in list(peers):
            peer.unsent += line
            self._flush(peer)

    def _flush(self, peer: _Peer) -> None:
        if peer not in self._peers:
            return
        with contextlib.suppress(OSError):  # one that is gone is noticed where it is read
            del peer.unsent[: peer.socket.send(peer.unsent)]
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if peer.unsent else 0)
        if self._selector.get_key(peer.socket).events != events:
            self._selector.modify(peer.socket, events, peer)

    # what is said

    def _hear_hello(self, peer: _Peer, rank: int, start: str) -> None:
        """A process is there."""
        member = self._members[rank]
        if start != self._start:
            self._send([peer], "fault", f"the coordinator is that of start {self._start} of the program", None)
        elif member.peer is not None or member.gone:
            self._send([peer], "fault", f"there is another process with rank {rank}", None)
        else:
            peer.rank, member.peer, member.heard = rank, peer, time.monotonic()
            if self._fault is not None:
                self._send([peer], "fault", *self._fault)
            elif all(each.peer is not None for each in self._members):
                self._all_there = True
                self._send([each.peer for each in self._members if each.peer], "begin", self._word)

    def _hear_watch(self, peer: _Peer, first: int, count: int, start: str) -> None:
        """A launcher is there."""
        if start == self._start:
            peer.watches = frozenset(range(first, first + count))
            for rank in peer.watches:
                self._members[rank].watched = True
            self._send([peer], "watching")
            if self._fault is not None:
                self._send([peer], "fault", *self._fault)
        else:
            self._send([peer], "other")

    def _hear_alive(
        self, peer: _Peer, idle: float, at: str, inside: list[tuple[list[Any], str, float]], stage: int
    ) -> None:
        """A sign of life."""
        member = self._member(peer)
        member.idle, member.at, member.stage = idle, at or member.at, stage
        member.inside = [(group_of(group), what, seconds) for group, what, seconds in inside]
        for begun, what in _STAGES.items():
            if stage >= begun:
                wait = self._stages.setdefault(begun, _Wait(Group("", tuple(range(self._count))), time.monotonic(), ""))
                wait.came.setdefault(peer.rank or 0, (what, at, None))
        self._send([peer], "heard")

    def _hear_meet(self, peer: _Peer, said: list[Any], number: int, what: str, at: str, details: Any) -> None:
        """A process comes to an exchange."""
        member = self._member(peer)
        member.at = at or member.at
        group = group_of(said)
        wait = self._waits.setdefault((group, number), _Wait(group, time.monotonic(), f"exchange {number}"))
        wait.came[peer.rank or 0] = (what, at, details)
        if wait.missing():
            return
        del self._waits[group, number]
        if len({came[0] for came in wait.came.values()}) > 1:
            if self._differing is None:
                self._differing = Differing(group, number, wait.came, time.monotonic() + _CAUSE)
                self._send(self._peers_of(group), "differ", group, number)
        elif self._fault is None:
            for rank in group.ranks:
                self._members[rank].idle = 0.0  # as it will say of itself
            found = [wait.came[rank][2] for rank in group.ranks]
            self._send(self._peers_of(group), "met", group, number, found)

    def _peers_of(self, group: Group) -> list[_Peer]:
        """The connections of the processes of a group."""
        return [peer for rank in group.ranks if (peer := self._members[rank].peer)]

    def _hear_told(self, peer: _Peer, said: list[Any], number: int, lines: list[str]) -> None:
        """A process says in full with what it has come to an exchange to which others came with something else."""
        self._member(peer)
        differing = self._differing
        if differing is not None and (differing.group, differing.number) == (group_of(said), number):
            differing.lines[peer.rank or 0] = lines
            if len(differing.lines) == len(differing.group.ranks):
                self._declare(differing.told())

    def _hear_fault(self, peer: _Peer, text: str) -> None:
        """A process says what is wrong."""
        self._member(peer)
        self._declare(text, peer.rank)

    def _hear_symptom(self, peer: _Peer, text: str) -> None:
        """A process says what it notices of something that is wrong, perhaps with another one."""
        self._member(peer)
        self._symptom = self._symptom or (text, time.monotonic() + _CAUSE, peer.rank)

    def _hear_ended(self, peer: _Peer) -> None:
        """A process is about to end."""
        self._member(peer).ended = time.monotonic()

    def _hear_seen(self, peer: _Peer, busy: list[int]) -> None:
        """A launcher says which of its processes compute."""
        for rank in peer.watches:
            self._members[rank].patience = _GONE
        for rank in peer.watches.intersection(busy):
            self._members[rank].heard, self._members[rank].idle = time.monotonic(), 0.0

    def _hear_gone(self, peer: _Peer, rank: int, how: str, bad: bool) -> None:
        """A launcher says how a process has ended."""
        if rank in peer.watches:
            self._leave(rank, how, bad)

    def _member(self, peer: _Peer) -> _Member:
        """The process on a connection, which is heard."""
        if peer.rank is None:
            raise ValueError("it did not say who it is")
        member = self._members[peer.rank]
        member.heard = time.monotonic()
        return member

    # what is wrong

    def _leave(self, rank: int, how: str, bad: bool) -> None:
        member = self._members[rank]
        member.gone = True
        if bad:
            self._declare(f"rank {rank} {how}" + (f" (last seen at {member.at})" if member.at else ""), rank)
        if all(member.gone for member in self._members):
            self.unneeded.set()

    def _declare(self, text: str, rank: int | None = None) -> None:
        """Tell all what is wrong; the first thing that is wrong is the only one."""
        if self._fault is None:
            self._fault, self._fault_at = (text, rank), time.monotonic()
            self._send(self._peers, "fault", text, rank)

    def _look(self, now: float) -> None:
        """Find who will not come to where others wait for him."""
        if self._fault is not None:
            if now - self._fault_at > _NEEDED:
                self.unneeded.set()
            return
        if self._differing is not None and now > self._differing.until:
            self._declare(self._differing.told())
        if self._symptom is not None and now > self._symptom[1]:
            self._declare(self._symptom[0], self._symptom[2])
        if not self._all_there and now - self._began > PATIENCE:
            absent = [rank for rank, member in enumerate(self._members) if member.peer is None]
            self._declare(f"the ranks {absent} have not come since {PATIENCE:.0f} s")
        at = {member.stage for member in self._members}
        stages = [wait for begun, wait in self._stages.items() if begun in at and wait.missing()]
        waits = [*self._waits.values(), *stages]
        for wait in waits:
            if self._fault is None:
                self._look_at(wait, waits, now)
        for rank, member in enumerate(self._members):
            for group, what, seconds in () if member.gone else member.inside:
                told = f"rank {rank} waits in {what}"
                for other in group.ranks:
                    silent = now - self._members[other].heard
                    if not self._members[other].gone and min(seconds, silent) > self._members[other].patience:
                        self._declare(f"rank {other} gives no sign of life since {silent:.0f} s; {told}", other)
                if seconds > self._limit:
                    self._declare(f"an exchange is not done since {seconds:.0f} s: {told} ({LIMIT}={self._limit:g})")

    def _look_at(self, wait: _Wait, waits: list[_Wait], now: float) -> None:
        waited, told = now - wait.since, wait.told()
        for rank in wait.missing():
            member = self._members[rank]
            silent, place = now - member.heard, f" at {member.at}" if member.at else ""
            if member.gone or (member.ended is not None and now - member.ended > _CAUSE):
                self._declare(f"rank {rank} has ended; {told}", rank)
            elif min(silent, waited) > member.patience:
                self._declare(f"rank {rank} gives no sign of life since {silent:.0f} s; {told}", rank)
            elif waited > self._limit:
                self._declare(f"rank {rank} does not come since {waited:.0f} s, it is{place}; {told}", rank)
            elif min(member.idle, waited) > self._idle:
                allowed = f"({IDLE}={self._idle:g} says how long it may)"
                holding = self._holding(rank, waits)
                if not holding:
                    cycle = "".join(f"\n  {each.told()}" for each in waits)
                    self._declare(f"the processes wait for each other since {waited:.0f} s {allowed}:{cycle}")
                elif rank in holding:
                    self._declare(f"rank {rank} does nothing since {member.idle:.0f} s,{place}; {told} {allowed}", rank)

    def _holding(self, rank: int, waits: list[_Wait]) -> set[int]:
        """Those that do something or do not wait, of a process, those that it waits for, those that these wait for...

        One that waits may do something besides, in another thread, that others wait for.
        """
        seen, found, left = {rank}, set(), [rank]
        while left:
            one = left.pop()
            others = {other for wait in waits if one in wait.came for other in wait.missing()}
            if not others or self._members[one].idle <= self._idle:
                found.add(one)
            left += others - seen
            seen |= others
        return found
