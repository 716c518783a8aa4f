"""What is wrong before a run: a party's own files, and what other parties hold, show and answer.

Every check is a subject and, if something is wrong, one sentence that says what to do. Parties that check at the same
time, or wait for a run, answer each other (``tacit.agent.meeting``).
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit import _native
from tacit.agent import prices
from tacit.agent.audit import audited
from tacit.agent.diagnosis import diagnose
from tacit.agent.faults import Fault, InputError, RunError
from tacit.agent.federation import Federation
from tacit.agent.federation_members import Members
from tacit.agent.federation_private import OTHERS
from tacit.agent.ledger import Ledger, LedgerError
from tacit.agent.meeting import CHECKING, COMPUTING, Meeting, Status, matches_key
from tacit.local.as_offered import check_table
from tacit.local.csv_form import USUAL, CsvForm
from tacit.plan.facts.arrays import OfferedArray
from tacit.plan.facts.catalog import Catalog, Table

LEAST_FREE = 1 << 30
"""Bytes on the disk of a party's private files, which ledger and kept tables are written to."""
CLOCKS_APART = 60.0
"""Seconds. Ledgers of several parties are read side by side, by their times."""


@dataclass(frozen=True)
class Check:
    """One thing that was looked at. found: what is so, if that is right. wrong: what is not, and what to do."""

    subject: str
    found: str = ""
    wrong: str = ""


def own_checks(members: Members, me: str) -> Iterator[Check]:
    """This party's own files, one after another."""
    yield Check("tacit", _native.version())
    yield _checked("key", _key, members, me)
    yield _checked("private files", _permissions, members, me)
    for name in members.parties:
        if name != me:
            yield _checked(f"certificate of {name}", _certificate, members, me, name)
    federation = None
    try:
        federation = Federation.load(members.path, me, members.private_files)
        yield Check("membership, offers", _offered(members, federation.catalog))
    except RunError as error:
        yield Check("membership, offers", wrong=str(error))
    for table in federation.catalog.tables if federation else ():
        if table.owner == me and federation:
            form = federation.privates[me].forms.get(table.name, USUAL)
            yield _checked(f"table {table.name}", _table, table, form)
    for array in federation.catalog.arrays if federation else ():
        if array.owner == me:
            yield _checked(f"array {array.name}", _array, array)
    yield _checked("ledger", _ledger, members, me)
    yield _checked("disk", _disk, members.private_files)


def _offered(members: Members, catalog: Catalog) -> str:
    arrays = f", arrays: {len(catalog.arrays)}" if catalog.arrays else ""
    return f"parties: {len(members.parties)}, tables: {len(catalog.tables)}{arrays}"


def peer_checks(members: Members, me: str, seconds: float) -> Iterator[Check]:
    """The other parties, which have some seconds to answer and to call. An address that is not free ends the checks."""
    others = [name for name in members.parties if name != me and _is_known(members, name)]
    own = Status.of(members, CHECKING)
    deadline = time.monotonic() + seconds
    try:
        with Meeting(members, me, others, lambda: Status.of(members, CHECKING), once=True) as meeting:
            while time.monotonic() < deadline and not set(others) <= set(meeting.reached) & set(meeting.heard):
                meeting.wait(max(0.01, min(1.0, deadline - time.monotonic())))
    except RunError as error:
        yield Check("other parties", wrong=str(error))
        return
    yield Check(f"address {members.parties[me].address}", "free")
    for name in others:
        yield from _peer(members, me, name, own, meeting)


def _checked(subject: str, look: Callable[..., str], *arguments: Any) -> Check:
    """What a look finds. What it raises is what is wrong."""
    try:
        return Check(subject, look(*arguments))
    except Exception as error:  # the sentence says whose fault it is
        return Check(subject, wrong=str(diagnose(error)))


class _Wrong(InputError):
    """Something that a check finds wrong."""

    def __init__(self, sentence: str) -> None:
        super().__init__(Fault.INPUT, sentence)


def _key(members: Members, me: str) -> str:
    fingerprint = members.fingerprint(me)
    if not matches_key(members, me):
        private, certificate = members.private(me).private_key, members.parties[me].certificate
        raise _Wrong(
            f"{private} is not the key of {certificate}; put its own back, or `tacit keys --force` makes both."
        )
    return fingerprint


def _certificate(members: Members, me: str, name: str) -> str:
    fingerprint = members.fingerprint(name)
    if fingerprint == members.fingerprint(me):
        raise _Wrong(f"{members.parties[name].certificate} is {me}'s own; get that of {name}.")
    return fingerprint


def _is_known(members: Members, name: str) -> bool:
    """Whether a party's certificate can be used. Otherwise the check of the certificate says what is wrong."""
    try:
        members.fingerprint(name)
    except (RunError, _native.InputError):
        return False
    return True


def _permissions(members: Members, me: str) -> str:
    """What is in a folder that is closed to others is closed; a private key is looked at in any case."""
    private, folder = members.private(me), members.private_files
    closed = folder.exists() and not folder.stat().st_mode & OTHERS
    inside = [private.path, private.ledger, private.kept]
    outside = [path for path in inside if not (closed and path.resolve().is_relative_to(folder.resolve()))]
    for path in (folder, private.private_key, *outside):
        if not path.exists():
            continue
        found = path.stat()
        if found.st_mode & OTHERS:
            mode = "700" if path.is_dir() else "600"
            raise _Wrong(f"{path} is open to others of this machine; `chmod {mode} {path}` closes it.")
        if found.st_uid != os.geteuid():
            raise _Wrong(f"{path} belongs to another user; run tacit as that one, or `chown` it.")
    return "for this user only"


def _table(table: Table, form: CsvForm) -> str:
    return f"{check_table(table, form):,} rows are as offered"


def _array(array: OfferedArray) -> str:
    from tacit.local.array_source import check_array

    return f"{check_array(array):,} elements are as offered"


def _ledger(members: Members, me: str) -> str:
    ledger = Ledger(members.private(me).ledger)
    count = ledger.verify()
    if count:
        for problem in audited(ledger.entries(), me, members.certificate(me), f"ledger {ledger.path}").problems:
            raise LedgerError(problem)
    return f"{count:,} entries, chain intact, all signed"


def _disk(folder: Path) -> str:
    while not folder.exists():
        folder = folder.absolute().parent
    free = shutil.disk_usage(folder).free
    if free < LEAST_FREE:
        raise _Wrong(f"{free >> 20} MiB are free at {folder}; make room, at least {LEAST_FREE >> 20} MiB.")
    return f"{free >> 30:,} GiB free"


def _peer(members: Members, me: str, name: str, own: Status, meeting: Meeting) -> Iterator[Check]:
    """What is known of another party after the meeting."""
    said = meeting.reached.get(name)
    if said is None:
        yield Check(f"{me} to {name}", wrong=f"{meeting.failed.get(name, 'no answer yet; run it again')}.")
    else:
        yield Check(f"{me} to {name}", "a run is under way there" if said.state == COMPUTING else "reached")
    if name in meeting.heard:
        yield Check(f"{name} to {me}", "reached")
    else:
        address = members.parties[me].address
        advice = f"run `tacit doctor` there at the same time, and let it reach {address}"
        yield Check(f"{name} to {me}", wrong=f"{name} has not called; {advice}.")
    told = said if said is not None and said.state != COMPUTING else meeting.heard.get(name)
    if told is None:
        return
    yield _version(name, own, told)
    if abs(told.ahead) > CLOCKS_APART:
        way = "ahead of" if told.ahead > 0 else "behind"
        wrong = f"it is {abs(told.ahead):.0f} s {way} this one; set both by a time server."
        yield Check(f"clock of {name}", wrong=wrong)
    else:
        yield Check(f"clock of {name}", "as here")
    yield from _files(me, name, own, told)


def _version(name: str, own: Status, told: Status) -> Check:
    if told.version != own.version:
        wrong = f"{name} runs {told.version}, {own.version} runs here; all need the same version."
        return Check(f"tacit of {name}", wrong=wrong)
    return Check(f"tacit of {name}", own.version)


def _files(me: str, name: str, own: Status, told: Status) -> Iterator[Check]:
    """Which public files differ, and whose is right: each has one writer but the membership."""
    differing = [file for file, value in own.files.items() if told.files.get(file) != value]
    for file in differing:
        writer = file.removeprefix("offers/").removesuffix(".toml").removeprefix("certificate of ")
        if file in ("federation.toml", prices.FILE):
            advice = f"agree with {name} on one, and copy it"
        elif writer == me:
            advice = f"copy yours to {name}"
        else:
            advice = f"copy it from {writer}"
        yield Check(f"files of {name}", wrong=f"{name} holds another {file} than {me}; {advice}.")
    if not differing:
        yield Check(f"files of {name}", "as here")
