"""Ledgers, answers and output files that cannot be written: refused before anything is shared, or nothing is lost."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from .organisations import PARTIES, QUERY, Consortium, End, Organisation, only_told_that_it_stops, wait_until

INPUT = 2
SMALL = "SELECT COUNT(*) AS n FROM demographics d JOIN scores_a s ON d.ssn = s.ssn"


def tacit_sql(
    consortium: Consortium, *arguments: str, largest_file: int | None = None, stdout: int = subprocess.PIPE
) -> End:
    """``tacit sql`` for all parties on one machine. largest_file: none can be larger, as on a nearly full disk."""

    def limit() -> None:
        if largest_file is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

    command = [sys.executable, "-m", "tacit", "sql", "--quiet", *arguments, SMALL]
    done = subprocess.run(
        command,
        cwd=consortium.folder / "drafts",
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limit,
        check=False,
        timeout=60,
    )
    return End(done.returncode, done.stdout or "", done.stderr)


def test_a_ledger_that_cannot_be_written_stops_before_anything_is_shared(consortium: Consortium) -> None:
    (consortium.private("bureau_a") / "ledger").write_text("a file where a folder should be")
    with only_told_that_it_stops(consortium, "bureau_a"):
        end = consortium.start("bureau_a").end()
    assert end.status == INPUT
    assert "bureau_a.jsonl: cannot be written" in end.sentence()


def test_a_damaged_ledger_stops_before_anything_is_shared(consortium: Consortium) -> None:
    ledger = consortium.private("bureau_a") / "ledger" / "bureau_a.jsonl"
    ledger.parent.mkdir()
    ledger.write_text('{"entry":1,"kind":"approved"}\n')
    with only_told_that_it_stops(consortium, "bureau_a"):
        end = consortium.start("bureau_a").end()
    assert end.status == INPUT
    assert "bureau_a.jsonl, the last line: the entry was changed after it was written" in end.sentence()
    assert ledger.read_text() == '{"entry":1,"kind":"approved"}\n'


def _make_a_folder_of(path: Path) -> None:
    path.rename(path.with_name("before"))
    path.mkdir()


def _all_have_approved(consortium: Consortium, running: dict[str, Organisation]) -> None:
    wait_until(lambda: all(consortium.kinds(party) for party in PARTIES), running.values())


def test_an_answer_survives_a_ledger_that_fails_in_the_end(slow: Consortium) -> None:
    running = slow.start_all()
    _all_have_approved(slow, running)
    _make_a_folder_of(slow.private("regulator") / "ledger" / "regulator.jsonl")
    end = running["regulator"].end()
    assert end.stdout.startswith("zip,avg_score\n10001,")
    assert end.status == INPUT
    assert end.stderr.rstrip().endswith("cannot be written (Is a directory).")
    assert "regulator: the answer is whole, but its run is recorded as approved only: ledger" in end.stderr
    assert [running[party].end().status for party in PARTIES[1:]] == [0, 0]
    assert slow.kinds("bureau_a") == ["approved", "completed"]


def test_an_answer_survives_an_output_file_that_fails_in_the_end(slow: Consortium) -> None:
    running = {party: slow.start(party) for party in PARTIES[1:]}
    running["regulator"] = slow.start("regulator", QUERY, "--output-file", "answer.csv")
    _all_have_approved(slow, running)
    (slow.home("regulator") / "answer.csv").mkdir()
    end = running["regulator"].end()
    assert end.stdout.startswith("zip,avg_score\n10001,")
    assert end.status == INPUT
    assert end.stderr.endswith(
        "tacit: answer.csv: cannot be written (Is a directory); the answer is on stdout instead.\n"
    )
    assert slow.kinds("regulator") == ["approved", "completed"]


def test_a_folder_as_output_file_is_refused_before_the_run(consortium: Consortium) -> None:
    (consortium.folder / "drafts" / "answers.csv").mkdir()
    end = tacit_sql(consortium, "--output-file", "answers.csv")
    assert end.status == INPUT
    assert end.sentence() == "answers.csv: is a folder; name a file in it."
    assert not (consortium.folder / "drafts" / "private" / "ledger").exists()


def test_a_full_disk_is_no_fault_of_tacit(consortium: Consortium) -> None:
    end = tacit_sql(consortium, "--output", "csv", largest_file=50_000)
    assert end.status == INPUT
    assert "a file cannot be read or written" in end.sentence()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_stdout_that_takes_nothing_is_said(consortium: Consortium) -> None:
    descriptor = os.open("/dev/full", os.O_WRONLY)
    try:
        end = tacit_sql(consortium, "--output", "csv", stdout=descriptor)
    finally:
        os.close(descriptor)
    assert end.status == INPUT
    assert end.sentence() == "stdout: the answer cannot be written (No space left on device)."
