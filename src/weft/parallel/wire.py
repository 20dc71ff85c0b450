"""Messages between processes: JSON texts, one a line, over a connection."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from weft.core.workers import start_quietly

#: seconds between two tries to reach somebody who is not there yet
_AGAIN: Final = 0.2
#: bytes that are read at once
PIECE: Final = 1 << 16


def parted(address: str) -> tuple[str, int]:
    """Host and port of an address."""
    host, _, port = address.rpartition(":")
    return host, int(port)


def is_here(host: str) -> bool:
    """Whether a host is this machine, for this machine only."""
    return host in ("127.0.0.1", "localhost")


def resolve(host: str) -> None:
    """Make sure that a host has an address.

    Raises:
        OSError: it has none.
    """
    try:
        socket.getaddrinfo(host, None)
    except (OSError, UnicodeError) as error:
        raise OSError(f"the host {host!r} does not resolve: {getattr(error, 'strerror', None) or error}") from None


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def line_of(message: Any) -> bytes:
    """A message as it is sent."""
    return json.dumps(message).encode() + b"\n"


class Lines:
    """What arrives on a connection, as messages."""

    def __init__(self) -> None:
        self._rest = b""

    def add(self, piece: bytes) -> list[Any]:
        """The messages that a piece completes.

        Raises:
            ValueError: it is none.
        """
        *whole, self._rest = (self._rest + piece).split(b"\n")
        return [json.loads(line) for line in whole]


class Line:
    """A connection to the coordinator.

    Args:
        address: its host and port.
        seconds: how long to wait until it is there.

    Raises:
        OSError: it is not there.
    """

    def __init__(self, address: str, seconds: float) -> None:
        until = time.monotonic() + seconds
        while True:
            try:
                self._socket = socket.create_connection(parted(address), max(until - time.monotonic(), 10))
                break
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(_AGAIN)
        self._socket.settimeout(None)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._sending = threading.Lock()

    def send(self, kind: str, *content: Any) -> None:
        """Send a message; whoever listens is told where the other side is gone."""
        with self._sending, contextlib.suppress(OSError):
            self._socket.sendall(line_of([kind, *content]))

    def listen(self, told: Callable[[Any], None], name: str) -> None:
        """Call a function, in a thread, with each message that arrives, and with None at the end."""

        def read() -> None:
            lines = Lines()
            with contextlib.suppress(OSError, ValueError):
                while piece := self._socket.recv(PIECE):
                    for message in lines.add(piece):
                        told(message)
            self.close()
            told(None)

        start_quietly(read, name)

    def close(self) -> None:
        """End the connection."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
