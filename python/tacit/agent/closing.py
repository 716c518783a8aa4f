"""Parties exchange what each has signed of the end of a run, once their session is over.

Each calls the others until all have everything, or until its time is up: a party that died signs nothing. What one says
may come through another, because it is signed. Nothing that is secret is said: the run's name, hashes of entries, which
are salted, and signatures ([the protocol](../../../docs/protocols/attendance.md)).
"""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from tacit.agent.addresses import host_and_port
from tacit.agent.callers import Callers
from tacit.agent.channel import PATIENCE, der, listen, receive, secure, secured, send
from tacit.agent.entry import canonical
from tacit.agent.faults import RunError
from tacit.agent.federation_members import Members
from tacit.agent.record import COMPLETED, RunRecord, Said

PROTOCOL = "tacit-closing/1"
MOST_BYTES = 1 << 20
"""Of a message. What parties sign grows with the square of their number, and a hundred fit."""
MOST_CALLERS = 32
"""Callers that are answered at the same time."""
PAUSE = 0.03
"""Seconds between calls of a party that has not all."""
SECONDS = {True: 3.0, False: 1.5}
"""How long the others are waited for after a run that was completed, and after one that failed."""
GONE = 0.8
"""Seconds for which nobody answers at the addresses of all that are missing before they count as gone."""


class Closing:
    """One party's end of the exchange. others: whom it has links with; the first of each two calls the second."""

    def __init__(self, members: Members, me: str, others: Sequence[str], record: RunRecord) -> None:
        self._members, self._me, self._record = members, me, record
        self._completed = record.said[me].outcome == COMPLETED
        self._changed = threading.Condition()
        self._over = threading.Event()
        self._has_all: set[str] = set()
        self._refused: dict[str, float] = {}
        self._others = tuple(others)

    def run(self) -> None:
        """Take over into the record what the others have signed, as far as they say it in time.

        A call that a peer draws out is left to itself: it changes nothing more.
        """
        deadline = time.monotonic() + SECONDS[self._completed]
        answering, *calling = threads = [threading.Thread(target=work, daemon=True) for work in self._work()]
        for thread in threads:
            thread.start()
        try:
            with self._changed:
                while not self._done() and time.monotonic() < deadline and not self._only_gone():
                    self._changed.wait(PAUSE)
        finally:
            with self._changed:
                self._over.set()
            answering.join(PATIENCE)  # then the address is free again
            for thread in calling:
                thread.join(PAUSE)

    def _work(self) -> list[Callable[[], None]]:
        # After a failure some may be gone: whoever is left calls everybody.
        order = list(self._record.certificates)
        called = [name for name in self._others if not self._completed or order.index(name) > order.index(self._me)]
        return [self._answer_all, *(lambda name=name: self._call(name) for name in called)]

    def _done(self) -> bool:
        return not self._record.missing and self._has_all >= set(self._others)

    def _only_gone(self) -> bool:
        """Whether nobody has been there for a while of those that this party still waits for."""
        left = (set(self._record.missing) | set(self._others) - self._has_all) & set(self._others)
        return bool(left) and all(time.monotonic() - self._refused.get(name, time.monotonic()) > GONE for name in left)

    def _call(self, name: str) -> None:
        try:
            client = secure(self._members, self._me, [name], ssl.PROTOCOL_TLS_CLIENT, PROTOCOL)
            address = host_and_port(self._members.parties[name].address)
            expected = der(self._members, name)
        except (RunError, ValueError):
            return
        while not self._over.is_set() and not (name in self._has_all and not self._record.missing):
            try:
                with secured(client, socket.create_connection(address, PATIENCE)) as channel:
                    if (
                        channel.getpeercert(binary_form=True) == expected
                        and channel.selected_alpn_protocol() == PROTOCOL
                    ):
                        said = self._own()
                        send(channel, said)
                        self._heard(name, receive(channel, MOST_BYTES), said)
                        self._refused.pop(name, None)
            except ConnectionRefusedError:
                self._refused.setdefault(name, time.monotonic())
            except (OSError, ValueError):
                pass
            self._over.wait(PAUSE)

    def _answer_all(self) -> None:
        try:
            identities = {der(self._members, name): name for name in self._others}
            server = secure(self._members, self._me, self._others, ssl.PROTOCOL_TLS_SERVER, PROTOCOL)
            listener = listen(self._members.parties[self._me].address)
        except (RunError, ValueError):
            return
        callers = Callers(server, MOST_CALLERS, lambda channel: self._answer(channel, identities))
        listener.settimeout(PAUSE)
        with listener:
            while not self._over.is_set():
                with suppress(OSError):
                    callers.answer(listener.accept()[0])

    def _answer(self, channel: ssl.SSLSocket, identities: dict[bytes, str]) -> None:
        """One caller. Raises OSError or ValueError."""
        name = identities.get(channel.getpeercert(binary_form=True) or b"")
        if name is not None and channel.selected_alpn_protocol() == PROTOCOL:
            heard = receive(channel, MOST_BYTES)
            self._take(heard)
            said = self._own()
            send(channel, said)
            self._heard(name, heard, said)

    def _own(self) -> bytes:
        """All that this party has."""
        with self._changed:
            said = {name: each.json() for name, each in self._record.said.items()}
        return canonical({"run": self._record.run, "said": said})

    def _take(self, message: bytes) -> int:
        """Take over what is signed in a message. How many parties it is of. Raises ValueError."""
        try:
            heard = json.loads(message)
        except RecursionError:
            raise ValueError("nested too deeply") from None
        if not isinstance(heard, dict) or heard.get("run") != self._record.run:
            raise ValueError("another run")
        all_said = heard.get("said")
        if not isinstance(all_said, dict):
            raise ValueError("no ends of a run")
        said = {name: Said.read(each) for name, each in all_said.items()}
        with self._changed:
            if self._over.is_set():  # the record is what it was when the time was up
                return 0
            taken = [self._record.take(name, each) for name, each in said.items()]
            self._changed.notify_all()
        return sum(taken)

    def _heard(self, name: str, heard: bytes, said: bytes) -> None:
        """A party has said one thing and has been told the other: it has all if either was all."""
        most = max(self._take(heard), len(json.loads(said)["said"]))
        with self._changed:
            if most == len(self._record.certificates):
                self._has_all.add(name)
            self._changed.notify_all()
