"""Attacks on copies of ledgers that once succeeded, and what ledgers show on a terminal."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tacit.agent.entry import JSON
from tacit.agent.faults import RunError
from tacit.agent.federation_members import Members
from tacit.agent.ledger_export import export, read_export
from tacit.cli.main import main

from .breaking import Change, resigned, with_copy_of
from .signing import Party, run


def test_a_copy_of_which_the_end_is_missing_is_told(parties: dict[str, Party], tmp_path: Path) -> None:
    run([*parties.values()], "SELECT 1")
    path = tmp_path / "copy.jsonl"
    export(parties["south"].entries(), "south", path)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    with pytest.raises(RunError, match="has 1 of 2 entries"):
        read_export(path)


def test_a_copy_is_closed_to_others(parties: dict[str, Party], tmp_path: Path) -> None:
    run([*parties.values()], "SELECT 1")
    before = os.umask(0o022)
    try:
        export(parties["south"].entries(), "south", tmp_path / "copy.jsonl")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "copy.jsonl").stat().st_mode) == 0o600


@pytest.mark.parametrize("own", ["ledger", "private_key", "history"])
def test_a_copy_does_not_replace_what_a_party_keeps(
    parties: dict[str, Party], members: Members, capsys: pytest.CaptureFixture[str], own: str
) -> None:
    run([*parties.values()], "SELECT 1")
    path = getattr(members.private("south"), own)
    before = path.read_bytes() if path.exists() else None
    federation = str(members.path)
    assert main(["ledger", "export", str(path), "--name", "south", "--for", "north", "--federation", federation]) == 2
    assert (path.read_bytes() if path.exists() else None) == before
    assert "of south" in capsys.readouterr().err


def odd(at: str, value: object) -> Change:
    def change(entry: JSON) -> None:
        if at == "run":
            entry["attendance"]["run"] = value
        elif at == "previous":
            entry["attendance"]["parties"]["south"]["previous"] = value
        elif at == "disclosures":
            entry["record"]["disclosures"] = value
        elif at == "certificate":
            entry["attendance"]["parties"]["south"]["certificate"] = value
        else:
            entry["record"]["parties"]["south"]["previous"] = value

    return change


@pytest.mark.parametrize("at", ["run", "previous", "disclosures", "certificate", "said"])
@pytest.mark.parametrize("value", [[], {}, 1, None, "x"], ids=repr)
def test_a_copy_of_odd_kinds_is_told_and_ends_no_comparison(parties: dict[str, Party], at: str, value: object) -> None:
    run([*parties.values()], "SELECT 1")
    south = parties["south"]
    *before, last = south.entries()
    odd(at, value)(last)
    assert with_copy_of(parties["north"], south, resigned(south, [*before, last])).problems


def test_names_in_a_copy_do_not_reach_the_terminal_as_they_are(parties: dict[str, Party]) -> None:
    run([*parties.values()], "SELECT 1")
    south = parties["south"]
    *before, last = south.entries()
    last["attendance"]["parties"]["\x1b[2J\nno problem"] = last["attendance"]["parties"]["helper"]
    found = with_copy_of(parties["north"], south, resigned(south, [*before, last])).problems
    assert found and all(problem.isprintable() for problem in found)


@pytest.mark.parametrize("text", ["SELECT '[/x]'", "SELECT '[conceal]secret[/conceal]'", "SELECT '[red]'"])
def test_brackets_in_a_query_are_shown_as_they_are(
    parties: dict[str, Party], members: Members, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    """What a screen takes for markup would be hidden, or would end the command."""
    run([*parties.values()], text)
    assert main(["ledger", "--name", "north", "--federation", str(members.path)]) == 0
    assert text in capsys.readouterr().out


def test_a_query_does_not_command_the_terminal(
    parties: dict[str, Party], members: Members, capsys: pytest.CaptureFixture[str]
) -> None:
    run([*parties.values()], "SELECT 1 -- \x1b[8m FROM secrets")
    assert main(["ledger", "--name", "north", "--federation", str(members.path)]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_a_refused_question_is_not_told_to_those_that_it_was_not_for(parties: dict[str, Party], tmp_path: Path) -> None:
    north = parties["north"]
    prints = dict.fromkeys(("north", "south"), "SHA256:..")
    north.ledger.append("refused", {"party": "north", "query": "SELECT secret", "parties": prints, "refused": "no"})
    assert export(north.entries(), "north", tmp_path / "copy.jsonl", "helper") == 1
    assert "secret" not in (tmp_path / "copy.jsonl").read_text()
