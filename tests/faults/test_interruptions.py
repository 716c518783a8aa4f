"""Ctrl-C, or the death, of the command that runs all parties on this machine: none of its processes is left."""

from __future__ import annotations

import os
import signal
import time

import pytest

from .organisations import PARTIES, QUERY, SOON, Consortium, Organisation, alive, children, wait_until


def computing(consortium: Consortium) -> tuple[Organisation, list[int]]:
    """``tacit sql`` in the middle of a question, and the processes of its parties."""
    drafts = consortium.folder / "drafts"
    organisation = consortium.run(str(drafts), "sql", QUERY)
    wait_until(organisation.computes, [organisation])
    found = children(organisation.process.pid)
    assert len(found) == len(PARTIES)
    return organisation, found


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_end_of_the_command_is_the_end_of_its_parties(how: signal.Signals, slow: Consortium) -> None:
    command, parties = computing(slow)
    ended = time.monotonic()
    os.kill(command.process.pid, how)
    end = command.end(SOON)
    wait_until(lambda: not any(alive(pid) for pid in parties))
    assert time.monotonic() - ended < SOON
    if how == signal.SIGINT:
        assert end.status == 130
        assert end.sentence() == "interrupted."
    assert end.stdout == ""
    ledgers = [slow.folder / "drafts" / "private" / "ledger" / f"{party}.jsonl" for party in PARTIES]
    for ledger in ledgers:
        *_, last = ledger.read_text().splitlines()
        assert '"fault":"interrupted"' in last or '"fault":"peer gone"' in last, last
