"""Who calls at a party's address: each caller has a thread, and their number is bounded.

Whoever has not shown yet whose it is makes room for the next: connections that say nothing keep no party out.
"""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from tacit.agent.channel import secured

LEAVING = 0.1
"""Seconds in which the thread of a caller that was turned out ends."""


class Callers:
    """Answers callers. most: how many at the same time. talk: what is said to one that has shown its certificate.

    If all are parties, a further one is turned away, and calls again.
    """

    def __init__(self, server: ssl.SSLContext, most: int, talk: Callable[[ssl.SSLSocket], None]) -> None:
        self._server, self._talk = server, talk
        self._free = threading.Semaphore(most)
        self._changing = threading.Lock()
        self._strangers: list[ssl.SSLSocket] = []

    def answer(self, connection: socket.socket) -> None:
        """Answer a caller in a thread of its own."""
        if not self._free.acquire(blocking=False):
            self._turn_out()
            if not self._free.acquire(timeout=LEAVING):
                connection.close()
                return
        threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        """One caller. Strangers are left without an answer."""
        try:
            with secured(self._server, connection, self._stranger) as channel:
                self._talk(channel)
        except (OSError, ValueError):
            pass
        finally:
            self._free.release()

    @contextmanager
    def _stranger(self, channel: ssl.SSLSocket) -> Iterator[None]:
        """While a caller has not shown its certificate, it may be turned out."""
        with self._changing:
            self._strangers.append(channel)
        try:
            yield
        finally:
            with self._changing:
                if channel in self._strangers:
                    self._strangers.remove(channel)

    def _turn_out(self) -> None:
        """End the connection that has said nothing for longest. Its own thread closes it."""
        with self._changing:
            if self._strangers:
                with suppress(OSError):  # it has ended already
                    socket.socket.shutdown(self._strangers.pop(0), socket.SHUT_RDWR)
