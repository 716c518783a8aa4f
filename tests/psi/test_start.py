"""How a match starts: the account and the question before it, who cannot start, and files that no output replaces."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from tacit.agent.ledger import Ledger
from tacit.psi.parameters import Parameters

from .pairs import Pair

TACIT = [sys.executable, "-m", "tacit", "psi"]


def tables(pair: Pair) -> None:
    pair.write("a", "SELECT i AS id, 'a' || i AS own FROM range(20) t(i)")
    pair.write("b", "SELECT i + 10 AS id, i AS amount FROM range(30) t(i)")


def psi(pair: Pair, *options: str) -> subprocess.CompletedProcess[str]:
    """A command of a, alone."""
    command = [*TACIT, *options]
    return subprocess.run(command, cwd=pair.folder, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("own", "fault"),
    [
        (("--key", "idd"), "there is no column 'idd'; perhaps you mean id"),
        (("--key", "id", "--input", "none.parquet"), "the file cannot be read"),
        (("--key", "id", "--columns", "nothing"), "there is no column 'nothing'"),
        (("--key", "id", "--join", "left", "--to", "a"), "a left join needs both parties"),
        (("--key", "id", "--output", "out.xlsx"), "name it .parquet or .csv"),
    ],
)
def test_who_waits_is_told_at_once_that_another_party_cannot_start(
    pair: Pair, own: tuple[str, ...], fault: str
) -> None:
    tables(pair)
    other, begin = pair.waiting("b"), time.monotonic()
    done = psi(pair, "--as", "a", "--input", "a.parquet", "--output", "a-matched.parquet", *own)
    told = other.communicate(timeout=60)[0]
    assert done.returncode == 2 and fault in done.stderr, done
    assert other.returncode == 5 and "a cannot take part: its own input was refused." in told, told
    assert time.monotonic() - begin < 10, "connect_timeout is 20"
    assert fault not in told and "none.parquet" not in told
    assert not list((pair.folder / "private" / "ledger").glob("*")), "what nobody has begun is no run"


def test_who_comes_late_is_waited_for_as_long_as_is_said(pair: Pair) -> None:
    tables(pair)
    (pair.folder / "private" / "a.toml").write_text("[network]\nconnect_timeout = 1\n")
    alone = psi(pair, "--as", "a", "--input", "a.parquet", "--key", "id", "--output", "a.csv", "--wait", "0.5s")
    assert alone.returncode == 5 and "waited in vain for b (b: nobody listens at 127.0.0.1:" in alone.stderr
    first = pair.waiting("a", "--wait", "60s")
    time.sleep(2)
    second = pair.start("b")
    told = [each.communicate(timeout=60)[0] for each in (first, second)]
    assert [first.returncode, second.returncode] == [0, 0], told


def test_options_that_differ_are_named_with_both_values() -> None:
    plain = Parameters(("a", "b"), ("exact", "exact"), ("a", "b"))
    others = {
        "--normalise": Parameters(("a", "b"), ("exact", "email"), ("a", "b")),
        "--kind": Parameters(("a", "b"), ("exact", "exact"), ("a", "b"), kinds=("", "number")),
        "--join": Parameters(("a", "b"), ("exact", "exact"), ("a", "b"), "left"),
        "--bins": Parameters(("a", "b"), ("exact", "exact"), ("a", "b"), bins=3),
        "--protocol": Parameters(("a", "b"), ("exact", "exact"), ("a", "b"), protocol="dh"),
        "--to": Parameters(("a", "b"), ("exact", "exact"), ("a",)),
        "--plugin": Parameters(("a", "b"), ("exact", "exact"), ("a", "b"), plugin="x"),
        "prices.toml": Parameters(("a", "b"), ("exact", "exact"), ("a", "b"), prices="{}"),
        "the parties": Parameters(("a", "c"), ("exact", "exact"), ("a", "c")),
    }
    for option, other in others.items():
        here, there = plain.options(), other.options()
        assert option in {name for name in (*here, *there) if here.get(name) != there.get(name)}, option
        assert other.plan_hash != plain.plan_hash


def test_an_output_replaces_no_own_file(pair: Pair) -> None:
    tables(pair)
    (pair.folder / "table.csv").write_text("x\n1\n")
    (pair.folder / "private" / "a.toml").write_text('[tables.t]\npath = "../table.csv"\n')
    (pair.folder / "linked.parquet").symlink_to("a.parquet")
    os.link(pair.folder / "a.parquet", pair.folder / "same.parquet")
    before = (pair.folder / "a.parquet").read_bytes()
    common = ("--as", "a", "--input", "a.parquet", "--key", "id")
    for name in ("a.parquet", "./private/../a.parquet", "linked.parquet", "same.parquet"):
        done = psi(pair, *common, "--output", name)
        assert done.returncode == 2, done
        assert f"{name.removeprefix('./')}: is the file of --input, which the output would replace" in done.stderr
    done = psi(pair, *common, "--output", "table.csv")
    assert done.returncode == 2 and "table.csv: is table t of a, which the output would replace" in done.stderr
    done = psi(pair, *common, "--prepare", "a.parquet")
    assert done.returncode == 2 and "a.parquet: is the file of --input" in done.stderr
    assert (pair.folder / "a.parquet").read_bytes() == before


def test_explain_shows_the_account_and_runs_nothing(pair: Pair) -> None:
    tables(pair)
    files = {path: path.stat().st_mtime_ns for path in pair.folder.rglob("*")}
    options = ("--as", "b", "--input", "b.parquet", "--key", "id", "--reveal", "sum(b.amount)")
    done = psi(pair, "explain", *options)
    assert done.returncode == 0, done.stderr
    printed = " ".join(done.stdout.split())
    for said in (
        "- a learns how many keys both have, and the sum of b's amount over the rows that have them",
        "- --least: 10",
        "- b tells a its number of rows, 30",
        "id (number)",
        "the names and decimals of the columns that are computed with: amount (decimals: 0)",
        "if each party had 30 rows: a sends",
        "Nothing has run: nobody was contacted, and nothing was written.",
    ):
        assert said in printed, (said, done.stdout)
    found = json.loads(psi(pair, *options, "explain", "--format", "json").stdout)
    assert done.stdout.splitlines()[-1] == f"Plan hash {found['plan_hash']}"
    assert done.stdout.count("\nNobody learns anything else.\n") == 1
    assert found["disclosures"][0]["shown"]["node"] == "CommonKeys"
    assert {path: path.stat().st_mtime_ns for path in pair.folder.rglob("*")} == files
    wrong = psi(pair, "explain", *options[:-1], "sum(b.none)")
    assert wrong.returncode == 2 and "there is no column 'none' to sum" in wrong.stderr


@pytest.mark.parametrize(
    "options", [(), ("--join", "anti"), ("--reveal", "ids"), ("--to", "b"), ("--protocol", "vole-malicious")]
)
def test_explain_and_the_ledger_say_the_same(pair: Pair, options: tuple[str, ...]) -> None:
    tables(pair)
    common = ("--as", "a", "--input", "a.parquet", "--key", "id", "--output", "a-matched.parquet")
    found = json.loads(psi(pair, "explain", *common, *options, "--format", "json").stdout)
    ends = pair.match(*options)
    assert [ended.status for ended in ends] == [0, 0], ends
    approved = Ledger(pair.folder / "private" / "ledger" / "a.jsonl").entries()[0]
    assert approved["plan_hash"] == found["plan_hash"] and approved["disclosures"] == found["disclosures"]
    assert ("output" in found) == (options != ("--to", "b"))


def test_what_prepared_tables_show_is_explained_too(pair: Pair) -> None:
    tables(pair)
    prepared = ("--as", "a", "--input", "a.parquet", "--key", "id", "--prepare", "a.prepared")
    assert psi(pair, *prepared).returncode == 0
    assert "leave out explain, or --prepare" in psi(pair, "explain", *prepared).stderr
    answer = psi(pair, "explain", "--as", "a", "--prepared", "a.prepared")
    ask = psi(pair, "explain", "--as", "b", "--prepared", "b.published", "--input", "b.parquet", "--key", "id")
    for done in (answer, ask):
        assert "- b learns which of its own keys a had when it prepared its table" in done.stdout, done
    assert "its number of rows, 30" in ask.stdout and not (pair.folder / "b.published").exists()


def at_a_terminal(pair: Pair, typed: str, *options: str) -> tuple[int, str]:
    """A command of a with a terminal as its standard input, at which something is typed."""
    terminal, end = pty.openpty()

    def take() -> None:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    command = [*TACIT, "--as", "a", "--input", "a.parquet", "--key", "id", "--output", "a-matched.parquet", *options]
    running = subprocess.Popen(
        command,
        cwd=pair.folder,
        stdin=end,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=take,
    )
    os.close(end)
    os.write(terminal, typed.encode())
    told = running.communicate(timeout=60)[0]
    os.close(terminal)
    return running.returncode, told


def test_a_person_at_a_terminal_is_asked_after_the_account(pair: Pair) -> None:
    tables(pair)
    for options in ((), ("--quiet",)):
        status, told = at_a_terminal(pair, "n\n", *options)
        assert status == 130 and "nothing has run: the answer was not y." in told, told
        account, _, asked = told.partition("Start the match as a? [y/N]")
        assert "a learns which of its own keys b has too" in account and asked
    assert not (pair.folder / "private" / "ledger").exists()
    for typed, options in (("y\n", ()), ("", ("--yes",))):
        other = pair.start("b")
        status, told = at_a_terminal(pair, typed, *options)
        assert status == 0 and other.communicate(timeout=60) and other.returncode == 0, told
        assert ("[y/N]" in told) == (typed == "y\n")


def test_who_does_not_agree_is_named_to_those_that_wait(pair: Pair) -> None:
    tables(pair)
    other = pair.waiting("b")
    assert at_a_terminal(pair, "n\n")[0] == 130
    told = other.communicate(timeout=60)[0]
    assert other.returncode == 5 and "a cannot take part: it was interrupted." in told, told


def test_csv_inputs_in_other_forms(pair: Pair) -> None:
    (pair.folder / "a.csv").write_text("day;n;own\n01.02.2024;1,50;x\n31.12.1969;NA;y\n-;2;z\n")
    pair.write("b", "SELECT DATE '1969-12-31' AS day UNION ALL SELECT DATE '2024-02-01'")
    said = ("delimiter=;", "decimal=,", "date_format=%d.%m.%Y", "null=NA", "null=-")
    form = [word for option in said for word in ("--csv", option)]
    common = ("--kind", "day=date", "--reveal", "shares", "--columns", "a.n")
    running = [
        pair.start("a", *common, *form, key="day", ending="csv"),
        pair.start("b", *common, key="day"),
    ]
    told = [each.communicate(timeout=60)[0] for each in running]
    assert [each.returncode for each in running] == [0, 0], told
    name = "share_of_a_n_x100"
    assert sorted(pair.joint(f"(a.{name}::HUGEINT + b.{name}) % (2::HUGEINT**64)::HUGEINT")) == [(0,), (150,)]
    own = [
        pair.start("a", "--kind", "day=date", *form, key="day", ending="csv"),
        pair.start("b", "--kind", "day=date", key="day"),
    ]
    assert [each.communicate(timeout=60) and each.returncode for each in own] == [0, 0]
    assert pair.joint("a.day, a.n, a.own") == [("01.02.2024", "1,50", "x"), ("31.12.1969", None, "y")]


@pytest.mark.parametrize(
    ("own", "said"),
    [
        (("--csv", "quote=x"), "--csv quote: there is no such option of a CSV file; known are delimiter"),
        (("--csv", "decimal=;"), "--csv decimal: is ';'; write . or ,."),
        (("--csv", "decimal"), "'decimal' is no option; write for example delimiter=;"),
        (("--csv", "decimal=,"), "a.parquet: --csv says how CSV files are written; leave it out."),
        (("--format", "json"), "--format is for `tacit psi explain`; leave it out."),
        (("--wait", "soon"), "'soon' is no time"),
    ],
)
def test_what_is_wrong_is_one_sentence(pair: Pair, own: tuple[str, ...], said: str) -> None:
    tables(pair)
    done = psi(pair, "--as", "a", "--input", "a.parquet", "--key", "id", "--output", "a.csv", *own)
    assert done.returncode == 2 and said in done.stderr and len(done.stderr.splitlines()) == 1, done


def test_a_private_folder_elsewhere_is_looked_at(pair: Pair, tmp_path: Path) -> None:
    """An output is held against the tables of the private file that is used."""
    tables(pair)
    (tmp_path / "private").rename(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "a.toml").write_text('[tables.t]\npath = "../a.csv"\n')
    done = psi(
        pair, "--as", "a", "--private", "elsewhere", "--input", "a.parquet", "--key", "id", "--output", "a.csv",
    )  # fmt: skip
    assert done.returncode == 2 and "a.csv: is table t of a" in done.stderr, done
