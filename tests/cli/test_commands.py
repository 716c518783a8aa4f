"""The commands: what goes to stdout and stderr, in which format, and with which exit status."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from tacit.cli import main

Tacit = Callable[..., subprocess.CompletedProcess[str]]

JOIN = "SELECT COUNT(*) AS n FROM demographics d JOIN scores_a s ON d.ssn = s.ssn"
WHAT = (
    "the answer, one row, made of all rows together (n: how many rows there are of scores_a of bureau_a and "
    "demographics of regulator (its own))"
)
"""As ledgers say what JOIN shows."""


def one_sentence(stderr: str) -> str:
    assert "Traceback" not in stderr
    lines = stderr.strip().splitlines()
    assert lines[-1].startswith("tacit")
    return lines[-1]


def test_the_answer_alone_goes_to_stdout(tacit: Tacit) -> None:
    done = tacit("sql", "--output", "csv", JOIN)
    assert (done.returncode, done.stdout) == (0, "n\n20\n"), done.stderr
    assert "What each party will learn" in done.stderr
    assert "regulator learns the answer" in done.stderr
    (plan,) = re.findall("^plan ([0-9a-f]{16}), as ledgers name it$", done.stderr, re.M)
    assert f"plan       {plan}" in tacit("ledger", "--name", "bureau_a").stdout


def test_quiet_is_quiet(tacit: Tacit) -> None:
    done = tacit("sql", "--quiet", "--output", "json", JOIN)
    assert done.stderr == ""
    assert json.loads(done.stdout) == [{"n": 20}]


def test_the_query_may_come_by_standard_input(tacit: Tacit) -> None:
    assert tacit("sql", "--output", "csv", "-", input=JOIN).stdout == "n\n20\n"


def test_files_take_their_format_from_their_name(tacit: Tacit, folder: Path) -> None:
    done = tacit("sql", "--output-file", "out.parquet", JOIN)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert duckdb.sql(f"FROM '{folder / 'out.parquet'}'").fetchall() == [(20,)]


@pytest.mark.parametrize("command", [["sql"], ["party", "--name", "regulator"]])
def test_an_answer_replaces_no_file_of_a_party(tacit: Tacit, folder: Path, command: list[str]) -> None:
    (path,) = folder.rglob("demographics.csv")
    before = path.read_bytes()
    done = tacit(*command, "--output-file", str(path), JOIN)
    assert done.returncode == 2, done
    said = f"{path}: is table demographics of regulator, which the output would replace; name another file."
    assert said in one_sentence(done.stderr) and path.read_bytes() == before
    (path.parent / "linked.csv").symlink_to(path)
    assert tacit(*command, "--output-file", str(path.parent / "linked.csv"), JOIN).returncode == 2
    ledger = folder / "private" / "ledger" / "regulator.jsonl"
    ledger.parent.mkdir()
    ledger.write_text("")
    done = tacit(*command, "--output", "json", "--output-file", str(ledger), JOIN)
    assert done.returncode == 2 and "is the ledger of regulator" in done.stderr, done


def test_parquet_goes_through_a_pipe(tacit: Tacit, folder: Path) -> None:

    command = [sys.executable, "-m", "tacit", "sql", "--quiet", "--output", "parquet", JOIN]
    piped = subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout
    (folder / "piped.parquet").write_bytes(piped)
    assert duckdb.sql(f"FROM '{folder / 'piped.parquet'}'").fetchall() == [(20,)]


def test_recipients_can_be_named(tacit: Tacit) -> None:
    done = tacit("sql", "--to", "bureau_a,bureau_b", "--output", "csv", JOIN)
    assert done.stdout == "n\n20\n", done.stderr
    assert "bureau_a and bureau_b learn the answer" in done.stderr


def test_explain_runs_nothing(tacit: Tacit, folder: Path) -> None:
    for file in folder.rglob("*.csv"):
        file.unlink()
    text = tacit("explain", JOIN)
    assert text.returncode == 0, text.stderr
    assert "join" in text.stdout
    account = json.loads(tacit("explain", "--format", "json", JOIN).stdout)
    assert account["learns"]
    assert not (folder / "private" / "ledger").exists()


def test_the_ledger_shows_and_verifies(tacit: Tacit, folder: Path) -> None:
    assert "no ledger yet" in one_sentence(tacit("ledger").stderr)
    tacit("sql", JOIN)
    shown = tacit("ledger", "--name", "bureau_a")
    assert "approved" in shown.stdout
    assert "completed" in shown.stdout
    signed = "signed by bureau_a (completed), bureau_b (completed) and regulator (completed)"
    assert signed in " ".join(shown.stdout.split())
    entries = [
        json.loads(line) for line in tacit("ledger", "--name", "regulator", "--format", "json").stdout.splitlines()
    ]
    assert [entry["kind"] for entry in entries] == ["approved", "completed"]
    assert entries[1]["disclosures"][0]["rows"] == 1
    assert tacit("ledger").stdout.count(f"last hash  {entries[1]['hash']}") == 1
    verified = tacit("ledger", "verify")
    assert verified.returncode == 0 and verified.stdout.count("2 entries, chain intact, all signed by") == 3
    assert "note:" not in verified.stdout and f"last hash  {entries[1]['hash']}" in verified.stdout
    ledger = folder / "private" / "ledger" / "bureau_b.jsonl"
    ledger.write_text(ledger.read_text().replace("COUNT(*)", "SUM(zip)", 1))
    done = tacit("ledger", "verify")
    assert done.returncode == 2
    assert "bureau_b.jsonl, line 1: the entry was changed" in one_sentence(done.stderr)


def test_histories_that_were_cut_off_are_found(tacit: Tacit, folder: Path) -> None:
    """By a hash that was noted, and by the copy of another party, whoever has cut."""
    tacit("sql", JOIN)
    tacit("sql", JOIN)
    ledger = folder / "private" / "ledger" / "bureau_b.jsonl"
    whole = ledger.read_text()
    last = json.loads(whole.splitlines()[-1])["hash"]
    mine = ("ledger", "verify", "--name", "bureau_b")
    assert tacit("ledger", "export", "a.jsonl", "--name", "bureau_a", "--for", "bureau_b").returncode == 0
    assert tacit("ledger", "export", "b.jsonl", "--name", "bureau_b").returncode == 0
    for options in (("--last", last), ("--with", "a.jsonl")):
        assert tacit(*mine, *options).returncode == 0
    assert tacit("ledger", "verify", "--name", "bureau_a", "--with", "b.jsonl").returncode == 0
    ledger.write_text("".join(line + "\n" for line in whole.splitlines()[:2]))
    assert tacit(*mine).returncode == 0, "by itself it is a proper ledger"
    assert "no entry has the hash" in one_sentence(tacit(*mine, "--last", last).stderr)
    assert "its own ledger lacks it" in one_sentence(tacit(*mine, "--with", "a.jsonl").stderr)
    tacit("ledger", "export", "b.jsonl", "--name", "bureau_b")
    found = tacit("ledger", "verify", "--name", "bureau_a", "--with", "b.jsonl")
    assert found.returncode == 2 and "its history was cut, emptied or rewritten" in one_sentence(found.stderr)


def test_options_of_ledgers_that_do_not_fit_are_told(tacit: Tacit) -> None:
    tacit("sql", JOIN)
    for arguments, told in (
        (("export",), "export needs the file to write"),
        (("verify", "x"), "nothing else takes one"),
        (("show", "--last", "ab"), "are for `tacit ledger verify`"),
        (("verify", "--for", "bureau_a"), "is for `tacit ledger export`"),
        (("export", "x"), "name one with --name"),
        (("verify", "--name", "bureau_a", "--with", "federation.toml"), "is no copy of a ledger"),
        (("adopt", "--name", "bureau_a"), "no entry waits to be signed"),
    ):
        done = tacit("ledger", *arguments)
        assert done.returncode == 2 and told in one_sentence(done.stderr), done


def test_an_answer_has_a_certificate(tacit: Tacit, folder: Path) -> None:
    for name in ("answer.csv", "answer.json", "answer.parquet"):
        assert tacit("sql", "--output-file", name, JOIN).returncode == 0
        done = tacit("verify", name)
        assert done.returncode == 0 and "signed by bureau_a, bureau_b, regulator" in done.stdout, done
    (folder / "answer.csv").write_text("n\n0\n")
    done = tacit("verify", "answer.csv")
    assert done.returncode == 2 and "is not the file that regulator has signed" in one_sentence(done.stderr)


def test_a_query_is_approved_ahead(tacit: Tacit, folder: Path) -> None:
    drop = ("party", "--name", "regulator", "--approved", "--wait", "0.1s", JOIN)
    refused = tacit(*drop)
    assert refused.returncode == 3 and "regulator has not approved this plan" in one_sentence(refused.stderr)
    assert not (folder / "private" / "ledger").exists() or not (folder / "private/ledger/regulator.jsonl").exists()
    approve = ("approve", "--name", "regulator", "--times", "2")
    assert tacit(*approve, "--until", "2099-01-31", JOIN).returncode == 0
    assert tacit(*drop).returncode == 5, "approved, and nobody else is there"
    shown = " ".join(tacit("ledger", "--name", "regulator").stdout.split())
    assert "approves 2 runs until 2099-01-31" in shown
    assert "is over" in one_sentence(tacit(*approve, "--until", "2020-01-31", JOIN).stderr)
    assert "is no day" in one_sentence(tacit(*approve, "--until", "soon", JOIN).stderr)
    assert "none begin with" in one_sentence(tacit(*approve, "ab" * 8).stderr)


def test_ledgers_of_versions_that_did_not_sign_are_shown_and_taken_over(tacit: Tacit, folder: Path) -> None:
    ledger = folder / "private" / "ledger" / "regulator.jsonl"
    ledger.parent.mkdir()
    shutil.copy(Path(__file__).parent / "ledgers" / "in-sentences.jsonl", ledger)
    shown = " ".join(tacit("ledger", "--name", "regulator").stdout.split())
    assert "to regulator: the answer: zip and avg_score, of at most 40 rows; and beyond it sum_score and" in shown
    assert "line 1: the entry is not signed" in one_sentence(tacit("ledger", "verify").stderr)
    assert "`tacit ledger adopt --name regulator`" in one_sentence(tacit("sql", JOIN).stderr)
    assert tacit("ledger", "adopt", "--name", "regulator").returncode == 0
    tacit("sql", JOIN)
    assert "5 entries, chain intact" in tacit("ledger", "verify", "--name", "regulator").stdout
    approved, completed = map(json.loads, ledger.read_text().splitlines()[3:])
    for (disclosure,) in (approved["disclosures"], completed["disclosures"]):
        assert disclosure["what"] == WHAT and disclosure["rules"] == ["query"]
        derivation = disclosure["derivation"]
        assert derivation["values"] == derivation["outputs"], "the answer is what is opened"
        counted = {(each["table"], each["column"], *each["through"]) for each in derivation["values"]["n"]}
        assert counted == {(table, None, "count_rows") for table in ("scores_a", "demographics")}, "rows, no column"
        deciding = {(each["table"], each["column"]) for each in disclosure["derivation"]["presence"]}
        assert deciding >= {("scores_a", "ssn"), ("demographics", "ssn")}
    assert completed["disclosures"][0]["rows"] == 1


def test_keys_are_not_replaced(tacit: Tacit) -> None:
    done = tacit("keys")
    assert done.returncode == 2
    assert "--force replaces it" in one_sentence(done.stderr)
    assert tacit("keys", "--force", "--name", "bureau_a").returncode == 0


def test_fingerprints_of_certificates_that_were_received(tacit: Tacit, folder: Path) -> None:
    """In the form of `openssl x509 -fingerprint -sha256`, for people to compare."""
    shown = tacit("keys", "--show")
    assert shown.returncode == 0, shown.stderr
    names = [line.partition(": fingerprint ")[0] for line in shown.stdout.splitlines()]
    assert names == ["regulator", "bureau_a", "bureau_b"]
    (folder / "received.crt").write_bytes((folder / "keys" / "bureau_a.crt").read_bytes())
    alone = tacit("keys", "--show", "received.crt", "--federation", "none.toml")
    assert alone.stdout == shown.stdout.splitlines()[1].replace("bureau_a:", "received.crt:") + "\n"
    (folder / "keys" / "bureau_b.crt").unlink()
    without = tacit("keys", "--show", "--name", "bureau_b")
    assert (without.returncode, without.stdout) == (2, "bureau_b: no certificate is here\n")
    for content in (b"nonsense", b"\xff"):
        (folder / "received.crt").write_bytes(content)
        assert "received.crt: is no certificate" in one_sentence(tacit("keys", "--show", "received.crt").stderr)
    assert "none.crt: cannot be read" in one_sentence(tacit("keys", "--show", "none.crt").stderr)
    assert not (folder / "keys" / "bureau_b.crt").exists(), "it makes nothing"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["sql"], "the following arguments are required: QUERY"),
        (["sql", "  "], "the query is empty"),
        (["sql", "SELECT zap FROM demographics"], "did you mean 'zip'?"),
        (["sql", "SELECT FROM WHERE"], "line 1"),
        (["sql", JOIN, "--federation", "none.toml"], "none.toml: cannot be read"),
        (["sql", JOIN, "--to", "nobody"], "nobody"),
        (["sql", JOIN, "--output-file", "out.xlsx"], "name it .csv, .json or .parquet"),
        (["sql", JOIN, "--output-file", "no/out.csv"], "the folder no does not exist"),
        (["explain", "DELETE FROM demographics"], "not supported"),
        (["party", "--name", "nobody", JOIN], "there is no party 'nobody'"),
        (["demo", "--rows", "-1"], "not a positive whole number"),
        (["dance"], "invalid choice"),
    ],
)
def test_mistakes_end_in_one_sentence_and_status_2(tacit: Tacit, arguments: list[str], says: str) -> None:
    done = tacit(*arguments)
    assert done.returncode == 2
    assert says in one_sentence(done.stderr)
    assert done.stdout == ""


def test_version(tacit: Tacit) -> None:
    assert tacit("--version").stdout.startswith("tacit ")


def test_an_interruption_while_the_program_loads_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(main, "import_module", interrupted)
    assert main.main(["sql", JOIN]) == 130
    assert capsys.readouterr().err == "tacit: interrupted.\n"
