"""Three organisations on three "hosts": each has its own copy of the public files, its own tables and
private files, and a ``tacit party`` process."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tacit.agent.channel import secure
from tacit.agent.federation import Federation
from tacit.agent.federation_members import Members
from tacit.agent.keys import make_keys
from tacit.agent.meeting import CHECKING, PROTOCOL, STOPPED, Status
from tacit.cli.demo.credit import SCENARIO
from tacit.cli.demo.scenario import Scenario, write_scenario

PARTIES = SCENARIO.parties
QUERY = SCENARIO.query
ROWS = 20
PATIENCE = 60.0
"""Seconds after which a process counts as hanging. Everything here should take a few."""
SOON = 25.0
"""Seconds within which parties end for another's sake, on a machine that is busy. The usual timeouts are longer."""


@dataclass
class End:
    """How a process ended. seconds: how long it ran."""

    status: int
    stdout: str
    stderr: str
    seconds: float = 0.0

    def sentence(self) -> str:
        """The one sentence of a failure: the last line of stderr, the only one that is about it."""
        assert self.status not in (0, 1), f"no failure, or not one of ours: {self.status}\n{self.stdout}\n{self.stderr}"
        assert self.stdout == "", "a failed run printed a partial answer"
        assert "Traceback" not in self.stderr, self.stderr
        *before, last = self.stderr.rstrip("\n").split("\n")
        assert last.startswith("tacit: "), self.stderr
        assert not any(line.startswith("tacit: ") for line in before), self.stderr
        assert last.endswith((".", "?")), last
        return last.removeprefix("tacit: ")


@dataclass
class Organisation:
    """A running ``tacit`` process of one organisation."""

    process: subprocess.Popen[str]
    files: tuple[Path, Path]
    started: float = field(default_factory=time.monotonic)

    def end(self, patience: float = PATIENCE) -> End:
        """Wait for the end."""
        status = self.process.wait(patience)
        stdout, stderr = (file.read_text() for file in self.files)
        return End(status, stdout, stderr, time.monotonic() - self.started)

    def stderr(self) -> str:
        """What it has said so far."""
        return self.files[1].read_text()

    def computes(self) -> bool:
        """Whether its parties have told of a step that they took together: connected, and in the middle of the run."""
        return " mpc(" in self.stderr()

    def force(self) -> None:
        """End the process and those it started, whatever they do."""
        found = [*children(self.process.pid), self.process.pid] if self.process.poll() is None else []
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = (map(int, line.split()) for line in listed.splitlines())
    return [child for child, parent in pairs if parent == pid]


def alive(pid: int) -> bool:
    """True if a process exists and is no zombie."""
    state = subprocess.run(["ps", "-o", "state=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return state.strip() not in ("", "Z")


def listens(address: tuple[str, int]) -> bool:
    """True if somebody answers at an address."""
    with contextlib.suppress(ConnectionRefusedError), socket.create_connection(address):
        return True
    return False


class Consortium:
    """The organisations of a demo's question. Use as a context: no process is left behind."""

    def __init__(
        self,
        folder: Path,
        network: str = "connect_timeout = 20\nidle_timeout = 20",
        scenario: Scenario = SCENARIO,
    ) -> None:
        """network: the lines of the section [network] of each private file."""
        (folder / "drafts").mkdir()
        write_scenario(scenario, ROWS, folder / "drafts")
        (folder / "temporary").mkdir()
        self.folder = folder
        self.parties = scenario.everybody
        self.query = scenario.query
        self._running: list[Organisation] = []
        draft = Federation.load(folder / "drafts" / "federation.toml")
        make_keys(draft.members, self.parties, replace=False)
        self._addresses = {party: draft.address(party).split(":") for party in self.parties}
        for party in self.parties:
            private = folder / "drafts" / "private" / f"{party}.toml"
            with private.open("a") as file:
                file.write(f"\n[network]\n{network}\n")
            private.chmod(0o600)
            self._found(draft, party)

    def _found(self, draft: Federation, party: str) -> None:
        """Give a party what it should have, and nothing else."""
        home = self.home(party)
        home.mkdir()
        if (draft.path.parent / party).exists():  # of who owns a table
            shutil.copytree(draft.path.parent / party, home / party)
        for public in ("keys", "offers"):
            shutil.copytree(draft.path.parent / public, home / public)
        shutil.copy(draft.path, home)
        self.private(party).mkdir(mode=0o700)
        for path in (draft.path.parent / "private").glob(f"{party}.*"):
            shutil.copy(path, self.private(party))

    def __enter__(self) -> Consortium:
        return self

    def __exit__(self, *_: object) -> None:
        for organisation in self._running:
            organisation.force()

    def home(self, party: str) -> Path:
        """A party's folder."""
        return self.folder / party

    def federation(self, party: str) -> Path:
        """A party's federation file."""
        return self.home(party) / "federation.toml"

    def private(self, party: str) -> Path:
        """A party's folder of private files."""
        return self.home(party) / "private"

    def edit(self, party: str, old: str, new: str, count: int = -1) -> None:
        """Replace a text in a party's copy of the federation's files."""
        found = [path for path in self.home(party).rglob("*.toml") if old in path.read_text()]
        assert found
        for path in found:
            path.write_text(path.read_text().replace(old, new, count))

    def address(self, party: str) -> tuple[str, int]:
        """Where a party listens."""
        host, port = self._addresses[party]
        return host, int(port)

    def start(self, party: str, query: str | None = None, *arguments: str) -> Organisation:
        """Start a party's process: a person's ``tacit party`` command, answer in csv."""
        command = ["party", "--name", party, "--output", "csv", *arguments, query or self.query]
        return self.run(party, *command)

    def run(self, party: str, *arguments: str) -> Organisation:
        """Start any ``tacit`` command in a party's folder."""
        number = len(self._running)  # of the files for its output
        files = (self.folder / f"{number}.stdout", self.folder / f"{number}.stderr")
        with files[0].open("w") as stdout, files[1].open("w") as stderr:
            process = subprocess.Popen(
                [sys.executable, "-m", "tacit", *arguments],
                cwd=self.home(party),
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                text=True,
                env={**os.environ, "TMPDIR": str(self.folder / "temporary")},
            )
        self._running.append(Organisation(process, files))
        return self._running[-1]

    def start_all(self) -> dict[str, Organisation]:
        """Start all parties' processes."""
        return {party: self.start(party) for party in self.parties}

    def ledger(self, party: str) -> list[dict[str, Any]]:
        """The entries of a party's ledger."""
        path = self.private(party) / "ledger" / f"{party}.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def kinds(self, party: str) -> list[str]:
        """The kinds of a party's ledger entries."""
        return [entry["kind"] for entry in self.ledger(party)]


def wait_until(condition: Callable[[], bool], running: Iterable[Organisation] = ()) -> None:
    """Wait until a condition holds; not any longer once a process that it depends on has ended."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        for organisation in running:
            assert organisation.process.poll() is None, organisation.stderr()
        time.sleep(0.02)


def others(party: str) -> Iterator[str]:
    """The parties but one."""
    return (name for name in PARTIES if name != party)


@contextlib.contextmanager
def only_told_that_it_stops(consortium: Consortium, party: str) -> Iterator[None]:
    """Listens at the other parties' addresses, and checks that nobody connects for a run: a party that cannot take part
    says that, in public words, and no more."""
    said: list[Status | str] = []

    def hear(listener: socket.socket, server: ssl.SSLContext, members: Members) -> None:
        with contextlib.suppress(OSError):  # the listener is closed
            while True:
                connection, _ = listener.accept()
                with contextlib.suppress(OSError, ValueError), server.wrap_socket(connection, True) as channel:
                    if channel.selected_alpn_protocol() == PROTOCOL:
                        length = int.from_bytes(channel.recv(4), "big")
                        said.append(Status.read(channel.recv(length)))
                        answer = Status.of(members, CHECKING).write()
                        channel.sendall(len(answer).to_bytes(4, "big") + answer)
                    elif channel.recv(1):
                        said.append("a run")

    with contextlib.ExitStack() as stack:
        for name in others(party):
            listener = stack.enter_context(socket.create_server(consortium.address(name)))
            members = Members.load(consortium.federation(name), consortium.private(name))
            server = secure(members, name, [party], ssl.PROTOCOL_TLS_SERVER, PROTOCOL)
            threading.Thread(target=hear, args=(listener, server, members), daemon=True).start()
            stack.callback(listener.shutdown, socket.SHUT_RDWR)  # ends accept
        yield
    for each in said:
        assert isinstance(each, Status), "it connected for a run"
        assert (each.state, each.agreed, each.missing) == (STOPPED, {}, ())
        assert each.reason.startswith("its own input was refused"), each.reason
