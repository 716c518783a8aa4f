"""Rules that change while a party waits: it is refused when all are there, and tells them so at once.

Whoever is told would wait for ten minutes otherwise, longer than any test here.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tacit.agent.ledger import Ledger

from .pairs import Ended
from .ruled import FLOOR, HIDDEN, JOINED, MATCHED, SEEN, Ruled

BOTH = ("--tables", "customers,people", "--key", "ssn")
TOLD = 'tacit: agreement: party "south" ended the run: its policy refused.'
REFUSED = "tacit: refused by south: select: people.ssn would be seen row by row"


def copied(ruled: Ruled, name: str) -> Path:
    """What a party holds that does not hear of a changed offer, and is patient."""
    folder = ruled.folder.with_name(f"{ruled.folder.name}-{name}")
    shutil.copytree(ruled.folder, folder)
    private = folder / "private" / f"{name}.toml"
    private.write_text(private.read_text().replace("connect_timeout = 20", "connect_timeout = 600"))
    return folder


def waits(running: subprocess.Popen[str]) -> subprocess.Popen[str]:
    """A party's command, once it waits for the others."""
    assert running.stdout is not None and any("waiting for" in line for line in running.stdout)
    return running


def ended(*running: subprocess.Popen[str]) -> list[Ended]:
    told = [each.communicate(timeout=60)[0] for each in running]
    return [Ended(each.returncode, text) for each, text in zip(running, told, strict=True)]


def kinds(folder: Path, party: str) -> list[str]:
    entries = Ledger(folder / "private" / "ledger" / f"{party}.jsonl").entries()
    return [str(each["kind"]) for each in entries if each["kind"] != "history"]


def test_a_refusal_after_the_wait_is_told_and_counts_as_no_answer(tmp_path: Path) -> None:
    """The owner allows one answer. The match that was refused takes none: the next one has it."""
    (tmp_path / "own").mkdir()
    ruled = Ruled.make(tmp_path / "own", f"{MATCHED}questions = 1\n", SEEN)
    ruled.fill()
    older = copied(ruled, "north")
    south = waits(ruled.start("south", *BOTH, "--with", "north", "--output", "s.parquet", "--wait", "60s"))
    ruled.again(HIDDEN, JOINED)
    ends = ended(ruled.start("north", *BOTH, "--with", "south", "--output", "n.parquet", folder=older), south)
    assert [each.status for each in ends] == [5, 3], ends
    assert ends[0].told.splitlines()[-1] == TOLD and ends[1].told.splitlines()[-1].startswith(REFUSED)
    assert not [*older.glob("*-matched*"), *ruled.folder.glob("s.parquet*")]
    assert kinds(older, "north") == kinds(ruled.folder, "south") == ["approved", "failed"]
    ruled.again(f"{MATCHED}questions = 1\n", SEEN)
    assert {each.status for each in ruled.match(*BOTH)} == {0}
    assert {each.status for each in ruled.match(*BOTH)} == {3}, "that one has counted"


def test_all_of_three_are_told(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    both = FLOOR.replace('"north"', '"north", "west"')
    matches = f'{both}matches = ["north", "west"]\n'
    free = 'use = ["join", "select"]'
    ruled = Ruled.make(tmp_path / "own", matches, free, 'matches = ["north", "south"]\n', 'to = ["north", "south"]')
    ruled.fill()
    options = ("--tables", "customers,people,members", "--key", "ssn", "--to", "north")
    older = {name: copied(ruled, name) for name in ("north", "west")}
    south = waits(ruled.start("south", *options, "--wait", "60s"))
    ruled.again(HIDDEN, JOINED)
    others = [ruled.start(name, *options, "--output", "o.parquet", folder=folder) for name, folder in older.items()]
    north, west, refused = ended(*others, south)
    assert refused.status == 3 and "tacit: refused by south: " in refused.told, refused
    for each in (north, west):
        assert each.status == 5 and each.told.splitlines()[-1].endswith("ended the run: its policy refused."), each


def test_who_asks_about_a_prepared_table_is_told(matched: Ruled) -> None:
    prepared = matched.start("south", "--tables", "people", "--key", "ssn", "--prepare", "south.prepared")
    assert ended(prepared)[0].status == 0
    older = copied(matched, "north")
    south = waits(matched.start("south", *BOTH, "--with", "north", "--prepared", "south.prepared", "--wait", "60s"))
    matched.again(HIDDEN, JOINED)
    ask = (*BOTH, "--with", "south", "--prepared", "north.published", "--output", "n.parquet")
    ends = ended(matched.start("north", *ask, folder=older), south)
    assert [each.status for each in ends] == [5, 3], ends
    assert ends[0].told.splitlines()[-1] == TOLD and not (older / "north.published").exists()


def test_a_change_that_still_allows_the_match_lets_it_run(matched: Ruled) -> None:
    south = waits(matched.start("south", *BOTH, "--with", "north", "--output", "s.parquet", "--wait", "60s"))
    matched.again(MATCHED, f"{SEEN}, least_group = 12")
    ends = ended(matched.start("north", *BOTH, "--with", "south", "--output", "n.parquet"), south)
    assert [each.status for each in ends] == [0, 0], ends
