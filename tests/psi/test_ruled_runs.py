"""Matches of tables with rules, run by their parties: allowed, refused at all of them, and answered above floors."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow
import pytest

import tacit.psi
from tacit.agent.faults import RunError
from tacit.agent.ledger import Ledger
from tacit.cli.main import main
from tacit.psi.match import Match
from tacit.psi.request import Limits, Request
from tacit.psi.start import Start

from .pairs import Ended
from .ruled import FLOOR, HIDDEN, JOINED, MATCHED, SEEN, Ruled

BOTH = ("--tables", "customers,people", "--key", "ssn")
NORTH = ("--to", "north")
KEY = "people.ssn may be seen row by row for north (use select, matches)"


def last(ruled: Ruled, party: str, kind: str) -> dict[str, object]:
    entries = Ledger(ruled.folder / "private" / "ledger" / f"{party}.jsonl").entries()
    return [each for each in entries if each["kind"] == kind][-1]


def test_a_match_that_is_allowed_runs_and_says_by_what(matched: Ruled) -> None:
    for ended in matched.match(*BOTH, "--columns", "ssn"):
        assert ended.status == 0, ended
        assert f"south allows: {KEY}" in ended.told
    assert matched.rows("SELECT COUNT(*) FROM 'north-matched.parquet'") == [(30,)]
    for party in ("north", "south"):
        entry = last(matched, party, "approved")
        assert "of customers (ssn) and people (ssn)" in str(entry["query"])
        assert {"owner": "south", "table": "people", "column": "ssn", "way": "select", "recipients": ["north"],
                "rule": "use select, matches", "sentence": KEY} in entry["allowed"]  # type: ignore[operator]  # fmt: skip


def test_a_match_that_is_refused_is_so_at_all_parties(hidden: Ruled) -> None:
    for ended in hidden.match(*BOTH):
        assert ended.status == 3 and ended.told.splitlines()[-1] == (
            "tacit: refused by south: select: people.ssn would be seen row by row; it may be joined; "
            "--reveal cardinality."
        )
    assert not [*hidden.folder.glob("*-matched*")] and not (hidden.folder / "private" / "ledger").exists()


def test_matches_count_as_answers(tmp_path: Path) -> None:
    ruled = Ruled.make(tmp_path, f"{MATCHED}questions = 2\n", SEEN)
    ruled.fill()
    (lonely,) = ruled.match(*BOTH, "--with", "north", "--wait", "0.1s", parties="south")
    assert lonely.status == 5, "nothing was shared: it does not count"
    assert ruled.verdict("customers", "people").refusal is None
    for options in ((), ("--reveal", "ids")):
        assert {each.status for each in ruled.match(*BOTH, *options)} == {0}
    for ended in while_north_waits(ruled):
        assert ended.status == 3, ended
        assert ended.told.splitlines()[-1] == (
            "tacit: refused by south: questions: people has given its answers in this period; ask in the next period."
        )
    assert {each.status for each in ruled.match(*BOTH, "--to", "south")} == {0}, "south alone receives"


def test_queries_and_matches_count_together(tmp_path: Path) -> None:
    ruled = Ruled.make(tmp_path, f"{MATCHED}questions = 1\n", SEEN)
    ruled.fill()
    numbers, ends = guarded(ruled, "--reveal", "sum(south.salary)")
    assert numbers and [each.status for each in ends] == [0, 0], ends
    assert {each.status for each in while_north_waits(ruled)} == {3}


def while_north_waits(ruled: Ruled, folder: Path | None = None) -> list[Ended]:
    """A match for which south comes when north waits. folder: north's own copy of the federation's files."""
    north = ruled.start("north", *BOTH, "--with", "south", "--output", "n.parquet", folder=folder)
    assert north.stdout is not None and any("waiting for south" in line for line in north.stdout)
    (south,) = ruled.match(*BOTH, "--with", "north", parties="south")
    told = north.communicate(timeout=60)[0]
    return [Ended(north.returncode, told), south]


def test_who_holds_an_older_offer_is_told_by_the_owner(hidden: Ruled, tmp_path: Path) -> None:
    older = tmp_path.with_name(f"{tmp_path.name}-older")
    shutil.copytree(hidden.folder, older)
    Ruled(older).again(MATCHED, SEEN)
    ends = while_north_waits(hidden, older)
    assert [each.status for each in ends] == [3, 3], ends
    assert "refused by south: select: people.ssn would be seen row by row" in ends[0].told
    assert not (older / "n.parquet").exists()


def test_the_file_of_a_table_with_rules_is_that_table(matched: Ruled) -> None:
    (matched.folder / "link.parquet").symlink_to(matched.folder / "people.parquet")
    (matched.folder / "hard.parquet").hardlink_to(matched.folder / "people.parquet")
    for name in ("people", "link", "hard"):
        (ended,) = matched.match("--with", "north", "--input", f"{name}.parquet", "--key", "ssn", parties="south")
        assert ended.status == 3, ended
        assert f"{name}.parquet: holds south's table people, which has rules; name the table, --tables people" in (
            ended.told
        )
    (ended,) = matched.match("--with", "north", "--input", "people.parquet", *BOTH, parties="south")
    assert ended.status == 2 and "leave out --input" in ended.told
    (matched.folder / "offers" / "south.toml").unlink()
    (ended,) = matched.match("--with", "north", "--input", "people.parquet", "--key", "ssn", parties="south")
    assert ended.status == 3 and "south offers no table people; declare it" in ended.told, "what is not offered"


def test_a_table_whose_columns_are_all_seen_by_some_is_not_open(matched: Ruled) -> None:
    seen = '[tables.people]\nrecipients = ["north"]\ncolumns.ssn = { type = "BIGINT", min = 1, use = ["select"] }\n'
    matched.offer("south", seen.replace("min = 1", "min = 1, max = 1000"))
    (ended,) = matched.match("--with", "north", "--input", "people.parquet", "--key", "ssn", parties="south")
    assert ended.status == 3 and "holds south's table people, which has rules" in ended.told
    assert {each.status for each in matched.match(*BOTH)} == {3}, "nobody may learn matches"


def test_tables_that_only_one_party_names_are_told(matched: Ruled) -> None:
    shutil.copy(matched.folder / "customers.parquet", matched.folder / "copy.parquet")
    free = matched.again(MATCHED, 'use = ["join", "select"]')
    plain = ("--input", "copy.parquet", "--key", "ssn")
    ends = free.match(north=plain, south=("--tables", "people", "--key", "ssn"))
    assert {each.status for each in ends} == {4}, ends
    assert "--tables is not given here and people (ssn) at south" in ends[0].told
    named = (*plain[:3], "people.ssn=ssn", "--tables", "people")
    ends = free.match(north=named, south=("--tables", "people", "--key", "ssn"))
    assert {each.status for each in ends} == {0}, ends


def guarded(ruled: Ruled, *options: str) -> tuple[list[str], list[Ended]]:
    """The numbers that north reads on its standard output, and how both ended."""
    running = [ruled.start(each, *BOTH, "--with", other, *NORTH, *options)
               for each, other in (("north", "south"), ("south", "north"))]  # fmt: skip
    told = [each.communicate(timeout=120)[0] for each in running]
    ends = [Ended(each.returncode, text) for each, text in zip(running, told, strict=True)]
    return [line for line in told[0].splitlines() if line.startswith(("matching keys", "sum"))], ends


def test_numbers_are_shown_above_floors(hidden: Ruled) -> None:
    numbers, ends = guarded(hidden, "--reveal", "sum(south.salary)")
    assert numbers == ["matching keys: 30", f"sum: {sum(100 * i for i in range(1, 31))}"], ends
    assert [each.status for each in ends] == [0, 0] and "the answer went to north" in ends[1].told
    assert "Totals of fewer than 10 different people.ssn of south are not shown." in ends[1].told


def test_a_sum_above_floors_is_of_the_decimals_that_are_declared(hidden: Ruled) -> None:
    offer, people = hidden.folder / "offers" / "south.toml", hidden.folder / "people.parquet"
    whole, rounded = 'salary = { type = "INTEGER"', 'salary = { type = "DOUBLE", scale = 1'
    assert whole in offer.read_text()
    offer.write_text(offer.read_text().replace(whole, rounded))
    with duckdb.connect() as database:
        database.execute(f"CREATE TABLE people AS SELECT * REPLACE (salary + 0.24::DOUBLE AS salary) FROM '{people}'")
        database.execute(f"COPY people TO '{people}'")
    numbers, ends = guarded(hidden, "--reveal", "sum(south.salary)")
    assert numbers == ["matching keys: 30", f"sum: {sum(100 * i for i in range(1, 31)) + 6}.0"], ends


def test_numbers_run_as_their_query_was_approved(hidden: Ruled) -> None:
    numbers, ends = guarded(hidden, "--reveal", "cardinality", "--approved")
    assert {each.status for each in ends} == {3} and not numbers, ends
    assert all("has not approved this plan" in each.told for each in ends)
    question = hidden.question("customers", "people", reveal="cardinality", to="north")
    for party in ("north", "south"):
        command = ["approve", str(question), "--to", "north", "--name", party, "--times", "1", "--yes"]
        done = subprocess.run(
            [sys.executable, "-m", "tacit", *command], cwd=hidden.folder, capture_output=True, check=False
        )
        assert done.returncode == 0, done
    numbers, ends = guarded(hidden, "--reveal", "cardinality", "--approved")
    assert numbers == ["matching keys: 30"], ends


@pytest.mark.parametrize(("common", "shown"), [(9, False), (0, False), (10, True)])
def test_numbers_below_floors_are_withheld(tmp_path: Path, common: int, shown: bool) -> None:
    ruled = Ruled.make(tmp_path)
    ruled.fill(common)
    numbers, ends = guarded(ruled, "--reveal", "sum(south.salary)", "--quiet")
    withheld = "withheld, since fewer stand behind it than an owner's floor"
    assert numbers == [f"matching keys: {common if shown else withheld}", f"sum: {withheld}"], "salaries need 20"
    assert [each.status for each in ends] == [0, 0], ends
    assert ends[0].told.splitlines() == numbers and ends[1].told == ""


def test_parties_that_compute_but_do_not_match_are_named(hidden: Ruled) -> None:
    path = hidden.folder / "federation.toml"
    path.write_text(path.read_text().replace('engine = "two"', 'engine = "rep3"'))
    for ended in hidden.match(*BOTH, "--reveal", "cardinality"):
        assert ended.status == 2, ended
        assert "an owner's floor guards this number, and west computes it, too, as a node" in ended.told
        assert 'tacit party --name NAME --to north,south "SELECT COUNT(*) AS keys FROM customers JOIN' in ended.told


def test_three_parties_under_their_rules(tmp_path: Path) -> None:
    both = FLOOR.replace('"north"', '"north", "west"')
    ruled = Ruled.make(
        tmp_path, f'{both}matches = ["north", "west"]\n', 'use = ["join", "select"]', 'matches = ["north"]\n'
    )
    ruled.fill()
    options = ("--tables", "customers,people,members", "--key", "ssn")
    ends = ruled.match(*options, parties="north south west")
    assert {each.status for each in ends} == {3}, ends
    assert all("refused by west: select: members.ssn would be seen row by row" in each.told for each in ends)
    ends = ruled.match(*options, *NORTH, parties="north south west")
    assert {each.status for each in ends} == {0}, ends
    assert ruled.rows("SELECT COUNT(*) FROM 'north-matched.parquet'") == [(30,)]


def prepare(ruled: Ruled, *options: str) -> None:
    command = [sys.executable, "-m", "tacit", "psi", "--as", "south", "--prepare", "south.prepared", *options]
    done = subprocess.run(command, cwd=ruled.folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done


@pytest.mark.parametrize("how", ["named", "by its file", "before it was offered"])
def test_answers_about_prepared_tables_follow_present_rules(matched: Ruled, how: str) -> None:
    private = matched.folder / "private" / "south.toml"
    said, offer = private.read_text(), (matched.folder / "offers" / "south.toml").read_text()
    if how == "named":
        prepare(matched, "--tables", "people", "--key", "ssn")
    else:
        private.write_text("")
        matched.offer("south", "")
        prepare(matched, "--input", "people.parquet", "--key", "ssn")
        private.write_text(said)
        matched.offer("south", offer)
    ask = ("--tables", "customers,people", "--key", "ssn", "--prepared", "north.published")
    south = (*ask[:4], "--prepared", "south.prepared")
    ends = asked(matched, ask, south)
    assert [each.status for each in ends] == [0, 0], ends
    assert "south allows: people.ssn may be seen row by row for north (use select, matches)" in ends[1].told
    assert matched.rows("SELECT COUNT(*) FROM 'n.parquet'") == [(30,)]
    for table, ssn, rule in ((HIDDEN, SEEN, "matches"), (MATCHED, JOINED, "select")):
        ends = asked(matched.again(table, ssn), ask, south)
        assert [each.status for each in ends] == [3, 3], ends
        assert all(f"refused by south: {rule}: " in each.told for each in ends), ends
    other = '[tables.other]\nopen = true\ncolumns.ssn = { type = "BIGINT", min = 1, max = 9 }\n'
    matched.offer("south", f"{offer}\n{other}")
    ends = asked(
        matched, ("--tables", "other", *ask[2:], "--input", "customers.parquet"), ("--tables", "other", *south[2:])
    )
    assert ends[1].status == 2 and "what was prepared is people by ssn; --tables and --key have to" in ends[1].told
    if how == "by its file":
        (matched.folder / "people.parquet").rename(matched.folder / "gone.parquet")
        ends = asked(matched, ("--input", "customers.parquet", *ask[2:]), south[4:])
        assert ends[1].status == 3 and "may have held a table of south with rules; prepare it anew" in ends[1].told
        (matched.folder / "gone.parquet").rename(matched.folder / "people.parquet")
    matched.offer("south", "")
    private.write_text("" if how == "named" else said)
    ends = asked(matched, ("--input", "customers.parquet", *ask[2:]), south[4:])
    assert ends[1].status == 3 and "south offers no table people" in ends[1].told, ends


def asked(ruled: Ruled, ask: tuple[str, ...], answer: tuple[str, ...]) -> list[Ended]:
    """North asks, and south answers."""
    running = [
        ruled.start("north", "--with", "south", *ask, "--output", "n.parquet"),
        ruled.start("south", "--with", "north", *answer),
    ]
    told = [each.communicate(timeout=60)[0] for each in running]
    return [Ended(each.returncode, text) for each, text in zip(running, told, strict=True)]


def test_no_run_is_made_that_rules_refuse(hidden: Ruled) -> None:
    """Also none that would go on with what an earlier one has left on disk: rules are looked at before."""
    request = Request(me="south", keys=[["ssn"]], other="north", tables=["customers", "people"])
    start, request = Start(hidden.members, "south", "north"), request.resolved(hidden.members)
    parameters, source = request.parameters(hidden.members), request.open(None, None, hidden.members)
    with pytest.raises(RunError, match="refused by south: select"):
        Match(start, parameters, source, Limits(), hidden.folder / "out.parquet")
    Match(start, request.parameters(hidden.again(MATCHED, SEEN).members), source, Limits())


def test_rules_hold_from_python(hidden: Ruled) -> None:
    common = {"federation": hidden.folder / "federation.toml", "me": "south", "key": ["ssn"], "other": "north"}
    named = {**common, "tables": ["customers", "people"]}
    with pytest.raises(RunError, match="refused by south: select") as refused:
        tacit.psi.intersect(None, **named)
    assert refused.value.exit_status == 3
    with pytest.raises(RunError, match=r"ask in SQL, to north and south: \"SELECT COUNT\(\*\) AS keys FROM customers"):
        tacit.psi.aggregate(None, **named)
    for function in (tacit.psi.intersect, tacit.psi.identify, tacit.psi.aggregate):
        with pytest.raises(RunError, match="holds south's table people, which has rules"):
            function(str(hidden.folder / "people.parquet"), **common)  # type: ignore[operator]
    with pytest.raises(RunError, match="leave out --input"):
        tacit.psi.share(pyarrow.table({"ssn": [1]}), **named)
    with pytest.raises(RunError, match="holds south's table people, which has rules"):
        tacit.psi.prepare(
            hidden.folder / "people.parquet", hidden.folder / "p", federation=common["federation"], me="south",
            key=["ssn"],
        )  # fmt: skip


def test_the_page_says_what_allows_it(
    matched: Ruled, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(matched.folder)
    command = ["psi", "explain", "--as", "north", "--with", "south", *BOTH, "--output", "n.parquet"]
    assert main(command) == 0
    page = " ".join(capsys.readouterr().out.split())
    assert "- south allows: people.ssn may be seen row by row for north (use select, matches)" in page
    assert "- south allows: people may be counted exactly for north (matches)" in page
    assert "--tables: customers (ssn) and people (ssn)" in page
    assert main([*command, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["allowed"]
    assert {"owner": "south", "table": "people", "column": None, "way": "count", "recipients": ["north"],
            "rule": "matches", "sentence": "people may be counted exactly for north (matches)"} in found  # fmt: skip
    matched.again(HIDDEN, JOINED)
    assert main(command) == 3
    assert "refused by south: select" in capsys.readouterr().err
    assert main([*command, "--reveal", "cardinality", *NORTH]) == 0
    assert capsys.readouterr().out.startswith(
        "Owners' floors guard this number, so that it is asked as a query: SELECT"
    )
