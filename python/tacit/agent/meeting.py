"""Parties meet outside a run: each answers at its own address and calls the others, one small message each way.

Connections are TLS 1.3 between the certificates of the federation, which both ends compare. A message says what a party
does, whom it waits for, its version, its clock and hashes of the public files it holds, and the options of a match. It
says nothing of its data, its query or its paths. TLS of Python has no key exchange against quantum computers, so
nothing that is secret may enter a message. A run has sessions of its own.
"""

from __future__ import annotations

import hashlib
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any

from tacit import _native
from tacit.agent import prices
from tacit.agent.addresses import host_and_port
from tacit.agent.callers import Callers
from tacit.agent.channel import PATIENCE, der, listen, receive, secure, secured, send
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members

PROTOCOL = "tacit-meeting/1"
MOST_CHARACTERS = 400
"""Of each text of a message, which others print."""
PLAN = "the plan"
"""What differs wherever anything else does that it follows from."""
LONGEST = 1e12
"""Seconds between two clocks."""
PAUSE = 0.3
"""Seconds between calls of a party that does not answer."""
MOST_CALLERS = 16
"""Callers that are answered at the same time."""

CHECKING, READY, STOPPED, COMPUTING = "checking", "ready", "stopped", "computing"
"""What a party does: it compares files, waits for a run with all it needs, cannot take part, or runs already.

No party says the last one: it follows from TLS, in which a run takes other keys. Nothing proves it, and a party that
was not ready before does not count as one that runs.
"""


@dataclass(frozen=True)
class Status:
    """What a party says of itself. files: the hash of each public file. reason: why it cannot take part.

    missing: whom one that is ready still waits for. agreed: what all have to say alike, by its name. ahead: of one that
    was received, by how many seconds its party's clock is ahead of this one's.
    """

    state: str
    version: str = ""
    files: dict[str, str] = field(default_factory=dict)
    reason: str = ""
    missing: tuple[str, ...] = ()
    agreed: dict[str, str] = field(default_factory=dict)
    ahead: float = 0.0

    @classmethod
    def of(cls, members: Members, state: str, reason: str = "", agreed: Mapping[str, str] | None = None) -> Status:
        """This party's own."""
        said = {name: _printable(value) for name, value in (agreed or {}).items()}
        return cls(state, _native.version(), dict(_hashes(members)), _printable(reason), agreed=said)

    @classmethod
    def read(cls, message: bytes) -> Status:
        """What a peer has sent. Raises ValueError if it is no status."""
        try:
            said = json.loads(message)
            clock, files, missing = said.pop("clock"), said.pop("files"), said.pop("missing", ())
            agreed = dict(said.pop("agreed", {}))
            ahead = float(clock) - time.time()
            found = cls(**said, files=dict(files), missing=tuple(missing), agreed=agreed, ahead=ahead)
        except (AttributeError, KeyError, OverflowError, RecursionError, TypeError):
            raise ValueError("not a status") from None
        texts = (found.state, found.version, found.reason, *found.missing, *found.files, *found.files.values())
        texts += (*found.agreed, *found.agreed.values())
        if not all(isinstance(each, str) and each.isprintable() and len(each) <= MOST_CHARACTERS for each in texts):
            raise ValueError("not a status")
        if found.state not in (CHECKING, READY, STOPPED) or not abs(found.ahead) < LONGEST:
            raise ValueError("not a status")
        return found

    def write(self) -> bytes:
        """As it is sent."""
        return json.dumps({
            "state": self.state, "version": self.version, "files": self.files, "reason": self.reason,
            "missing": self.missing, "agreed": self.agreed, "clock": time.time(),
        }).encode()  # fmt: skip


class Meeting:
    """One party's end. Use as a context: while it is open, others are answered, and called until each has answered.

    own: what this party says of itself now. once: a party that has answered is not called again; otherwise it is, and
    counts as reached only as long as it answers. reached, heard: what the others have said when called, and when they
    called. failed: why a party was not reached; odd: those of them that are there. ready: who has said that it is.
    """

    def __init__(
        self,
        members: Members,
        me: str,
        others: Sequence[str],
        own: Callable[[], Status],
        *,
        once: bool,
    ) -> None:
        self._members, self._me, self._others = members, me, tuple(others)
        self._own, self._once = own, once
        self._over = threading.Event()
        self._threads: list[threading.Thread] = []
        self.changed = threading.Condition()
        self.reached: dict[str, Status] = {}
        self.heard: dict[str, Status] = {}
        self.failed: dict[str, str] = {}
        self.odd: set[str] = set()
        self.ready: set[str] = set()

    def __enter__(self) -> Meeting:
        callers = [*self._others, *_further(self._members, (self._me, *self._others))]
        identities = {name: der(self._members, name) for name in callers}
        server = secure(self._members, self._me, callers, ssl.PROTOCOL_TLS_SERVER, PROTOCOL)
        clients = {
            name: secure(self._members, self._me, [name], ssl.PROTOCOL_TLS_CLIENT, PROTOCOL) for name in self._others
        }
        listener = self._listener = listen(self._members.parties[self._me].address)
        self._start(self._answer_all, listener, server, identities)
        for name, client in clients.items():
            self._start(self._call, name, client)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        with suppress(OSError):  # who waits for callers need not wait for its time limit
            self._listener.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()

    def wait(self, seconds: float) -> None:
        """Until something has been said, or for some seconds."""
        with self.changed:
            self.changed.wait(seconds)

    def _start(self, work: Callable[..., None], *arguments: Any) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        thread.start()
        self._threads.append(thread)

    def _note(self, where: dict[str, Status], name: str, said: Status) -> None:
        with self.changed:
            where[name] = said
            if said.state == READY:
                self.ready.add(name)
            self.changed.notify_all()

    def _call(self, name: str, client: ssl.SSLContext) -> None:
        """Call a party again and again."""
        while not self._over.is_set():
            try:
                said = call(self._members, name, client, self._own())
                self._note(self.reached, name, said)
                if self._once:
                    return
            except Unreached as reason:
                with self.changed:
                    self.reached.pop(name, None)
                    if not isinstance(reason, Absent):
                        self.odd.add(name)
                    # What was wrong with a party that was there tells more than that it has ended.
                    if not isinstance(reason, Absent) or name not in self.failed:
                        self.failed[name] = str(reason)
                    self.changed.notify_all()
            self._over.wait(PAUSE)

    def _answer_all(self, listener: socket.socket, server: ssl.SSLContext, identities: dict[str, bytes]) -> None:
        callers = Callers(server, MOST_CALLERS, lambda channel: self._answer(channel, identities))
        listener.settimeout(PAUSE)
        with listener:
            while not self._over.is_set():
                with suppress(OSError):
                    callers.answer(listener.accept()[0])

    def _answer(self, channel: ssl.SSLSocket, identities: dict[str, bytes]) -> None:
        """One caller. Raises OSError or ValueError."""
        shown = channel.getpeercert(binary_form=True)
        names = [name for name, certificate in identities.items() if certificate == shown]
        if names and channel.selected_alpn_protocol() == PROTOCOL:
            said, own = Status.read(receive(channel)), self._own()
            # What a run is about is nothing for those that have no part in it.
            send(channel, (own if names[0] in self._others else replace(own, agreed={})).write())
            self._note(self.heard, names[0], said)


class Unreached(Exception):
    """A party that could not be called: why, and what to do."""


class Absent(Unreached):
    """Nobody is at a party's address."""


def call(members: Members, name: str, client: ssl.SSLContext, own: Status) -> Status:
    """Say something to a party and hear its answer. Raises Unreached."""
    address = members.parties[name].address
    try:
        with secured(client, socket.create_connection(host_and_port(address), PATIENCE)) as channel:
            if channel.getpeercert(binary_form=True) != der(members, name):
                raise ssl.SSLCertVerificationError
            if channel.selected_alpn_protocol() != PROTOCOL:
                return Status(COMPUTING)
            send(channel, own.write())
            return Status.read(receive(channel))
    except ssl.SSLCertVerificationError:
        raise Unreached(f"{address} shows another certificate than {name}'s here; get its present one") from None
    except (ssl.SSLEOFError, ConnectionResetError, BrokenPipeError):
        problem = f"{address} ends the connection; give {name} this party's present certificate, and check the address"
        raise Unreached(problem) from None
    except ssl.SSLError as error:
        if "HANDSHAKE_FAILURE" in (error.reason or ""):  # a run exchanges keys in a way that this TLS may not know
            return Status(COMPUTING)
        if "ALERT" in (error.reason or ""):
            raise Unreached(f"{name} refuses this party's certificate; give it the present one") from None
        raise Unreached(f"what answers at {address} is no tacit; correct the address of {name}") from None
    except ConnectionRefusedError:
        raise Absent(f"nobody listens at {address}; start tacit there, or correct the address of {name}") from None
    except TimeoutError:
        raise Unreached(f"{address} does not answer; look at firewalls, and at the address of {name}") from None
    except socket.gaierror:
        raise Unreached(f"there is no host of the address {address}; correct the address of {name}") from None
    except RunError as error:  # its certificate is not here any more
        raise Unreached(str(error).rstrip(".")) from None
    except ValueError:
        raise Unreached(f"{name} does not say how it is; do both run the same version of tacit?") from None
    except OSError as error:
        raise Unreached(f"{address} cannot be reached ({error.strerror or 'the connection ended'})") from None


def tell_stopped(members: Members, me: str, others: Sequence[str], own: Status, seconds: float = 0.0) -> None:
    """Tell all that wait now, or begin to within some seconds, that this party cannot take part."""
    deadline = time.monotonic() + seconds

    def tell(name: str) -> None:
        with suppress(Unreached, RunError):
            client = secure(members, me, [name], ssl.PROTOCOL_TLS_CLIENT, PROTOCOL)
            while True:
                try:
                    call(members, name, client, own)
                    return
                except Absent:
                    if time.monotonic() >= deadline:
                        return
                    time.sleep(PAUSE / 3)

    threads = [threading.Thread(target=tell, args=(name,), daemon=True) for name in others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def gather(
    members: Members,
    me: str,
    others: Sequence[str],
    own: Status,
    seconds: float,
    missing: Callable[[list[str]], None],
    beyond: Sequence[str] = (),
    *,
    then_connect: bool = False,
) -> None:
    """Wait until all others are ready for a run. missing: told who is not there, whenever that changes.

    beyond: parties that this one does not call; the others tell whether they wait for them. then_connect: a party that
    has said that it is ready, or that is there and cannot be met, is not waited for: connecting says what is wrong.
    Raises RunError if a party says that it cannot take part or wants something else, or if some have not come in time.
    """
    deadline = time.monotonic() + seconds
    absent, further, told = [*others], list[str](), list[str]()

    def said() -> Status:
        return replace(own, missing=tuple(absent))

    with Meeting(members, me, others, said, once=False) as meeting:
        while True:
            with meeting.changed:
                heard, reached, ready = dict(meeting.heard), dict(meeting.reached), set(meeting.ready)
                odd = set(meeting.odd)
            for name, status in (*heard.items(), *reached.items()):
                if differing := _differing(own.agreed, status.agreed, name):
                    what = "; ".join(differing)
                    problem = f"{name} has started something else: {what}; agree, and start again at all parties."
                    raise RunError(Fault.PEER, problem)
            for name, status in heard.items():
                if status.state == STOPPED and name in others:
                    if status.reason.startswith(f"refused by {name}: "):
                        raise RunError(Fault.POLICY, f"{status.reason}.")
                    raise RunError(Fault.PEER_GONE, f"{name} cannot take part: {status.reason}.")
            # Who has found all others before this party has gone on to the run.
            absent = [n for n in others if not (n in reached and n in ready and reached[n].state in (READY, COMPUTING))]
            # Who is told to be missing is so until one of the others says more, be it as caller or when called.
            if said_last := {name: status for name, status in (*heard.items(), *reached.items()) if name in others}:
                further = [name for name in beyond if any(name in status.missing for status in said_last.values())]
            absent += further
            if then_connect:
                runs = {name for name, status in reached.items() if status.state == COMPUTING}
                absent = [name for name in absent if name not in ready | odd | runs]
            if not absent:
                return
            if absent != told:
                missing(absent)
                told = absent
            if time.monotonic() >= deadline:
                why = {**dict.fromkeys(beyond, "others wait for it"), **meeting.failed}
                reasons = "; ".join(f"{name}: {why.get(name, 'it checks its files')}" for name in absent)
                raise RunError(Fault.PEER_GONE, f"waited in vain for {' and '.join(absent)} ({reasons}).")
            meeting.wait(min(1.0, max(0.01, deadline - time.monotonic())))


def _differing(mine: Mapping[str, str], theirs: Mapping[str, str], name: str) -> list[str]:
    """What a party says otherwise than this one, where both say something. What follows from the rest is last."""
    said = dict.fromkeys([*mine, *theirs]) if mine and theirs else ()
    both = {what: (mine.get(what) or "not given", theirs.get(what) or "not given") for what in said}
    found = [f"{what} is {here} here and {there} at {name}" for what, (here, there) in both.items() if here != there]
    return found[:-1] if len(found) > 1 and found[-1].startswith(f"{PLAN} ") else found


def _printable(value: str) -> str:
    """A text as it may stand in a message. One that is too long ends with its hash, so that others differ from it."""
    text = value if value.isprintable() else ascii(value)
    if len(text) <= MOST_CHARACTERS:
        return text
    ending = f"... (SHA-256 {hashlib.sha256(text.encode()).hexdigest()})"
    return text[: MOST_CHARACTERS - len(ending)] + ending


def _further(members: Members, known: Sequence[str]) -> Iterator[str]:
    """Parties of the federation that may call though nothing is wanted of them, as far as they can be told apart."""
    for name in members.parties:
        if name not in known:
            with suppress(RunError, ValueError, OSError, ssl.SSLError):
                ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=members.certificate(name))
                yield name


def check_keys(members: Members, me: str, others: Sequence[str]) -> None:
    """Refuse keys with which no party can be met. Raises RunError, and native errors for what is no certificate."""
    private, certificate = members.private(me).private_key, members.parties[me].certificate
    if not matches_key(members, me):
        problem = f"private key {private} is not that of its certificate {certificate}"
        raise RunError(Fault.INPUT, f"{problem}; put its own back, or `tacit keys --name {me} --force` makes both.")
    known: dict[str, str] = {}
    for name in (me, *others):
        first = known.setdefault(members.fingerprint(name), name)
        if first != name:
            problem = f"{members.path}: {first} and {name} have the same certificate"
            raise RunError(Fault.INPUT, f"{problem}; get that of each from its own party.")


def matches_key(members: Members, me: str) -> bool:
    """Whether a party's private key is that of its certificate. Raises RunError if either cannot be read."""
    members.private(me).open_key()
    members.certificate(me)
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(
            members.parties[me].certificate, members.private(me).private_key
        )
    except ssl.SSLError:
        return False
    return True


def _hashes(members: Members) -> Iterator[tuple[str, str]]:
    for file in (members.path, members.path.parent / prices.FILE):
        yield file.name, _hash(file)
    for name in members.parties:
        yield f"offers/{name}.toml", _hash(members.path.parent / "offers" / f"{name}.toml")
        with suppress(RunError, _native.InputError):
            yield f"certificate of {name}", members.fingerprint(name)


def _hash(path: Path) -> str:
    """A file's hash. A file that is not there is as an empty one."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return hashlib.sha256(b"").hexdigest()
