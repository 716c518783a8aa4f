"""When something goes wrong with a match: one sentence, an exit status, and nothing that was done is lost."""

from __future__ import annotations

import re
import subprocess
import sys
import time

import pytest

from tacit.agent.faults import RunError
from tacit.agent.ledger import Ledger
from tacit.psi.state import check_disk, folder_of, remove_folder

from .pairs import Pair

ON_DISK = ("--bins", "12", "--memory", "2M", "--workers", "1", "--protocol", "dh")


def tables(pair: Pair) -> None:
    pair.write("a", "SELECT i AS id, 'a' || i AS own FROM range(20000) t(i)")
    pair.write("b", "SELECT i + 15000 AS id, 'b' || i AS own FROM range(20000) t(i)")


def wait_for_results(pair: Pair, party: str, count: int) -> None:
    folder = folder_of(pair.folder / f"{party}-matched.parquet")
    deadline = time.monotonic() + 60
    while len(list(folder.glob("*.matches"))) < count:
        assert time.monotonic() < deadline, "no bin is ever done"
        time.sleep(0.01)


def test_a_killed_party_is_noticed_and_the_match_resumes_where_it_stopped(pair: Pair) -> None:
    tables(pair)
    a, b = pair.start("a", *ON_DISK), pair.start("b", *ON_DISK)
    wait_for_results(pair, "b", 2)
    b.kill()
    begin = time.monotonic()
    told = a.communicate(timeout=60)[0]
    b.communicate()
    assert time.monotonic() - begin < 20
    assert a.returncode == 5, told
    assert "'b'" in told or '"b"' in told
    folder = folder_of(pair.folder / "a-matched.parquet")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {0o600}
    ends = pair.match(*ON_DISK)
    assert [ended.status for ended in ends] == [0, 0], ends
    assert all("resuming: " in ended.told for ended in ends), ends
    # Semi-honest parties match again what was under way, and count it.
    entries = [Ledger(pair.folder / "private" / "ledger" / f"{party}.jsonl").entries()[-1] for party in "ab"]
    assert entries[0]["repeated_bins"] >= 1 and all("repeated_bins" in entry for entry in entries), entries
    assert pair.joint("a.own, b.own") == pair.rows(
        "SELECT 'a' || i, 'b' || (i - 15000) FROM range(15000, 20000) t(i) ORDER BY ALL"
    )
    assert not folder.exists()


def test_an_input_that_changed_is_not_resumed_with(pair: Pair) -> None:
    tables(pair)
    a, b = pair.start("a", *ON_DISK), pair.start("b", *ON_DISK)
    wait_for_results(pair, "a", 1)
    for running in (a, b):
        running.kill()
        running.communicate()
    pair.write("b", "SELECT i + 19990 AS id, 'b' || i AS own FROM range(20000) t(i)")
    # Who has results asks whether they may be asked for again with other rows.
    refused = pair.match(*ON_DISK)
    assert refused[0].status == 4 and "start with --repeat-bins" in refused[0].told, refused
    ends = pair.match(*ON_DISK, "--repeat-bins")
    assert [ended.status for ended in ends] == [0, 0], ends
    assert not any("resuming" in ended.told for ended in ends)
    assert len(pair.joint("a.own, b.own")) == 10


def interrupted(pair: Pair, *options: str) -> None:
    """A match of which both parties have results of at least three bins."""
    tables(pair)
    a, b = pair.start("a", *options), pair.start("b", *options)
    for party in "ab":
        wait_for_results(pair, party, 3)
    for running in (a, b):
        running.kill()
        running.communicate()


def disown(pair: Pair) -> None:
    """What b says from now on: that it has no result of any bin, and so would like to ask about all of them again."""
    for result in folder_of(pair.folder / "b-matched.parquet").glob("*.matches"):
        result.unlink()


def test_bins_that_a_peer_had_are_matched_again_only_where_the_user_says_so(pair: Pair) -> None:
    interrupted(pair, *ON_DISK)
    disown(pair)
    refused = pair.match(*ON_DISK)
    assert [ended.status for ended in refused] == [4, 5], refused
    assert "b says that it has no results of" in refused[0].told and "start with --repeat-bins" in refused[0].told
    assert "Traceback" not in refused[0].told
    ends = pair.match(*ON_DISK, a=("--repeat-bins",))
    assert [ended.status for ended in ends] == [0, 0], ends
    assert "of the others are done here, but not at b" in ends[0].told
    entry = Ledger(pair.folder / "private" / "ledger" / "a.jsonl").entries()[-1]
    assert entry["kind"] == "completed" and entry["repeated_bins"] >= 3, entry
    assert len(pair.joint("a.own, b.own")) == 5000


def test_against_malicious_parties_no_bin_is_matched_twice(pair: Pair) -> None:
    options = ("--bins", "12", "--memory", "2M", "--workers", "1", "--protocol", "vole-malicious")
    interrupted(pair, *options)
    disown(pair)
    refused = pair.match(*options, "--repeat-bins")
    assert [ended.status for ended in refused] == [4, 5], refused
    assert "under vole-malicious no bin is matched twice" in refused[0].told


def test_against_malicious_parties_a_bin_that_was_under_way_is_matched_again_only_where_the_user_says_so(
    pair: Pair,
) -> None:
    """b breaks off when it may have what it wanted of a bin, and before a has its result."""
    options = ("--bins", "12", "--memory", "2M", "--workers", "1", "--protocol", "vole-malicious")
    tables(pair)
    a, b = pair.start("a", *options), pair.start("b", *options)
    folder, deadline = folder_of(pair.folder / "a-matched.parquet"), time.monotonic() + 60
    while not list(folder.glob("*.begun")):
        assert time.monotonic() < deadline, "no bin ever begins"
        time.sleep(0.01)
    b.kill()
    b.communicate()
    assert a.communicate(timeout=60) and a.returncode == 5
    begun, done = (len(list(folder.glob(f"*.{ending}"))) for ending in ("begun", "matches"))
    assert (begun - done, done < 12) == (1, True), "one bin a worker is under way"
    refused = pair.match(*options)
    # Both keep what began. Who refuses first ends the run of the other, which then need not say so.
    sentences = [ended.told for ended in refused if ended.status == 3]
    assert sentences and all(ended.status in (3, 5) for ended in refused), refused
    for told in sentences:
        assert re.search("bins under way here, 1 of them; [ab] may have its results", told), refused
        assert "start with --repeat-bins" in told, refused
    assert not any("Traceback" in ended.told for ended in refused), refused
    # Nor does it help b to have lost its files.
    lost = folder_of(pair.folder / "b-matched.parquet")
    lost.rename(lost.with_suffix(".away"))
    assert pair.match(*options)[0].status in (3, 4), "3: of the bin under way, 4: of bins that are done"
    lost.with_suffix(".away").rename(lost)
    ends = pair.match(*options, "--repeat-bins")
    assert [ended.status for ended in ends] == [0, 0], ends
    entry = Ledger(pair.folder / "private" / "ledger" / "a.jsonl").entries()[-1]
    assert entry["kind"] == "completed" and entry["repeated_bins"] == 1, entry
    assert len(pair.joint("a.own, b.own")) == 5000


BREAKS_OFF = """
import os, sys
from tacit.cli.main import main
from tacit.psi.match import Match

Match._confirm = lambda self, pair: os._exit(9)
sys.exit(main(sys.argv[1:]))
"""
"""A party that leaves with its results, and says nothing."""


def test_against_malicious_parties_a_match_in_memory_is_repeated_only_where_the_user_says_so(pair: Pair) -> None:
    options = ("--protocol", "vole-malicious")
    pair.write("a", "SELECT i AS id, 'a' || i AS own FROM range(200) t(i)")
    pair.write("b", "SELECT i AS id FROM range(50) t(i)")
    a = pair.start("a", *options)
    command = ["psi", "--federation", "federation.toml", "--as", "b", "--input", "b.parquet", "--key", "id", *options]
    asked = subprocess.run(
        [sys.executable, "-c", BREAKS_OFF, *command, "--output", "b-matched.parquet"],
        cwd=pair.folder, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    told = a.communicate(timeout=60)[0]
    assert (asked.returncode, a.returncode) == (9, 5), (asked, told)
    folder = folder_of(pair.folder / "a-matched.parquet")
    assert [file.name for file in folder.iterdir()] == ["begun-in-memory"]
    approved = Ledger(pair.folder / "private" / "ledger" / "a.jsonl").entries()[0]
    assert approved["plan_hash"].encode() not in (folder / "begun-in-memory").read_bytes()
    # b would now ask about other rows.
    remove_folder(folder_of(pair.folder / "b-matched.parquet"))
    pair.write("b", "SELECT i + 50 AS id FROM range(50) t(i)")
    again = pair.start("a", *options)
    told = again.communicate(timeout=60)[0]
    assert again.returncode == 3, told
    assert "was begun here before, in memory, and did not end; b may have its results" in told
    assert "start with --repeat-bins" in told and "Traceback" not in told
    ends = pair.match(*options, a=("--repeat-bins",))
    assert [ended.status for ended in ends] == [0, 0], ends
    entry = Ledger(pair.folder / "private" / "ledger" / "a.jsonl").entries()[-1]
    assert (entry["kind"], entry["repeated_bins"]) == ("completed", 1), entry
    assert not folder.exists()


def test_files_of_a_match_are_encrypted_and_damage_is_one_sentence(pair: Pair) -> None:
    interrupted(pair, *ON_DISK)
    folder = folder_of(pair.folder / "a-matched.parquet")
    contents = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert {"state", "counts", "0.rows", "0.matches"} <= set(contents)
    clear = (b"ARROW", b"plan_hash", b"a15000", b"a.parquet")
    assert not any(word in content for content in contents.values() for word in clear)
    (folder / "3.rows").write_bytes(contents["4.rows"])
    swapped = pair.match(*ON_DISK)
    assert swapped[0].status == 2 and "3.rows: is damaged; remove the folder that it is in" in swapped[0].told, swapped
    (folder / "state").write_bytes(contents["state"][:-1])
    damaged = pair.start("a", *ON_DISK)
    told = damaged.communicate(timeout=60)[0]
    assert damaged.returncode == 2 and "state: is damaged; remove the folder" in told and "Traceback" not in told


def test_an_output_that_does_not_fit_is_written_later_alone(pair: Pair) -> None:
    pair.write("a", "SELECT i AS id, repeat(md5(i::VARCHAR), 20) AS own FROM range(8000) t(i)")
    pair.write("b", "SELECT i AS id, 'b' || i AS own FROM range(8000) t(i)")
    options = ("--bins", "16", "--memory", "1M", "--workers", "1")
    other = pair.start("b", *options)
    limited = pair.start("a", *options)
    limited.kill()
    limited.communicate()
    command = [sys.executable, "-m", "tacit", "psi", "--federation", "federation.toml", "--as", "a", *options]
    command += ["--input", "a.parquet", "--key", "id", "--output", "a-matched.csv"]
    small = ["bash", "-c", 'ulimit -f 2048; exec "$@"', "bash", *command]
    done = subprocess.run(small, cwd=pair.folder, capture_output=True, text=True, timeout=60, check=False)
    assert other.communicate(timeout=60) and other.returncode == 0
    assert done.returncode == 2, done.stderr
    assert "the matches are kept" in done.stderr
    assert not (pair.folder / "a-matched.csv").exists()
    again = subprocess.run(command, cwd=pair.folder, capture_output=True, text=True, timeout=60, check=False)
    assert again.returncode == 0, again.stderr
    assert "only the output is left" in again.stderr
    assert pair.rows("SELECT count(*) FROM 'a-matched.csv'") == [(8000,)]


def test_a_plug_in_that_gives_no_outcome_is_named(pair: Pair) -> None:
    (pair.folder / "naive.py").write_text(NAIVE)
    pair.write("a", "SELECT i AS id FROM range(20) t(i)")
    pair.write("b", "SELECT i + 10 AS id FROM range(30) t(i)")
    for kind in ("Short", "Far", "Twice", "Odd"):
        ends = pair.match("--plugin", f"naive:{kind}", path=pair.folder)
        blamed = [ended for ended in ends if ended.status == 2]
        assert blamed and {ended.status for ended in ends} <= {2, 5}, ends
        assert all('the plug-in "naive" has an outcome that is not' in ended.told for ended in blamed), ends
        assert not any("Traceback" in ended.told or "panicked" in ended.told for ended in ends), ends


NAIVE = """
import struct
from insecure_hashes import InsecureHashes

class Short(InsecureHashes):
    name = "naive"
    def party(self, role):
        party, change = super().party(role), self.change
        honest = party.outcome
        party.outcome = lambda: change(role, honest())
        return party
    def change(self, role, outcome):
        return outcome[:-4] if role == "sender" else outcome

class Far(Short):
    def change(self, role, outcome):
        return outcome if role == "sender" else outcome[:-4] + struct.pack("<I", 1 << 31)

class Twice(Short):
    def change(self, role, outcome):
        return outcome if role == "sender" else 2 * outcome

class Odd(Short):
    def change(self, role, outcome):
        return outcome if role == "sender" else outcome + b"?"
"""


def test_too_small_a_disk_is_said_before_the_start(pair: Pair) -> None:
    with pytest.raises(RunError, match=r"the output need 1000000\.0 GB"):
        check_disk(pair.folder / "work", 10**15)


@pytest.mark.parametrize(
    ("own", "said"),
    [
        (("--join", "left"), "b has started something else: --join is left here and inner at b; agree"),
        (("--to", "a"), "b has started something else: --to is a here and a and b at b; agree"),
        (("--normalise", "id=email"), "column id: it is number, and --normalise id=email spells texts alike; leave"),
        (("--normalise", "own=name"), "with a key column, id"),
        (("--kind", "own=number"), "name a key column, id"),
        (("--kind", "id=integer"), "there is no such kind; write number, floating-point number"),
        (("--kind", "id=number", "--normalise", "id=name"), "spells texts alike, but --kind id=number reads none"),
        (("--kind", "id=date"), "it is number, not date, as --kind declares"),
        (("--columns", "nothing"), "there is no column 'nothing'; it has id, own"),
        (("--protocol", "rot13"), "there is no protocol 'rot13'; choose auto"),
        (("--bins", "many"), "--bins is 'many'"),
        (("--output", "x.xlsx"), "name it .parquet or .csv"),
        (("--plugin", "nowhere.so"), "is no plug-in"),
    ],
)
def test_what_is_wrong_is_one_sentence(pair: Pair, own: tuple[str, ...], said: str) -> None:
    pair.write("a", "SELECT i AS id, 'a' || i AS own FROM range(20) t(i)")
    pair.write("b", "SELECT i AS id, 'b' || i AS own FROM range(20) t(i)")
    running = pair.start("a", "--quiet", *own)
    other = pair.start("b") if "something else" in said else None
    told = running.communicate(timeout=60)[0]
    if other is not None:
        other.communicate(timeout=60)
        assert other.returncode == 4
    assert running.returncode == (2 if other is None else 4), told
    assert said in told
    assert len(told.splitlines()) == 1 and "Traceback" not in told


def test_wrong_data_names_file_row_and_column(pair: Pair) -> None:
    (pair.folder / "a.csv").write_text("id,own\n1,x\nseven,y\n")
    pair.write("b", "SELECT i AS id FROM range(20) t(i)")
    options = ("--kind", "id=number")
    other = pair.waiting("b", *options)
    running = [pair.start("a", *options, ending="csv"), other]
    told = [each.communicate(timeout=60)[0] for each in running]
    assert [each.returncode for each in running] == [2, 5], told
    assert "a cannot take part: its own input was refused" in told[1]
    assert "a.csv, row 2, column id: the value is no number" in told[0]
    assert "seven" not in told[1]


def test_kinds_that_cannot_match_are_refused(pair: Pair) -> None:
    pair.write("a", "SELECT DATE '2020-01-01' + i::INTEGER AS id FROM range(20) t(i)")
    pair.write("b", "SELECT i AS id FROM range(20) t(i)")
    ends = pair.match()
    assert all(ended.status in (2, 5) for ended in ends) and 2 in [ended.status for ended in ends]
    assert "it is date here and number at b" in ends[0].told or "it is number here and date at a" in ends[1].told
