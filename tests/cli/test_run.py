"""`tacit run`: a script as one party; whose mistake ends it decides its exit status."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import tacit
from tacit.agent.deployed import DEPLOYED
from tacit.cli.main import main

MEMBERSHIP = 'nodes = ["a", "b", "c"]\n' + "".join(
    f'[parties.{name}]\naddress = "127.0.0.1:71{at}3"\n' for at, name in enumerate("abc")
)
OFFER = '[arrays.x]\nshape = [2]\ndtype = "bool"\n'
SCRIPT = """\
import sys
import tacit
fed = tacit.connect({path!r})
print(fed.party, sys.argv[1:], __name__)
"""


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "offers").mkdir()
    (tmp_path / "offers" / "a.toml").write_text(OFFER)
    (tmp_path / "federation.toml").write_text(MEMBERSHIP)
    monkeypatch.setattr(sys, "argv", ["tacit"])
    monkeypatch.setattr(sys, "path", [*sys.path])
    path = tmp_path / "script.py"
    path.write_text(SCRIPT.format(path=str(tmp_path / "federation.toml")))
    return path


def test_a_script_is_the_party_that_is_named(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--name", "b", str(script), "one", "two"]) == 0
    assert capsys.readouterr().out == "b ['one', 'two'] __main__\n"
    assert DEPLOYED.get() is None
    assert tacit.connect(script.parent / "federation.toml").party is None


def test_a_party_that_is_none(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--name", "d", str(script)]) == 2
    assert "there is no party 'd'; it names a, b, c." in capsys.readouterr().err


def test_a_refusal_is_the_scripts_end(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script.write_text(script.read_text() + 'fed.program(lambda x: x.sum())(fed.private("a", "x")).reveal(to="b")\n')
    assert main(["run", "--name", "b", str(script)]) == 3
    assert "tacit: refused by a: closed: the array x is closed; a has to write use = " in capsys.readouterr().err


def test_a_dry_run_shows_what_would_be_revealed_and_runs_nothing(
    script: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (script.parent / "offers" / "a.toml").write_text(
        OFFER + 'use = ["program"]\nprograms = "any"\nrecipients = ["b"]\n'
    )
    asked = 'print(fed.program(lambda x: x.sum())(fed.private("a", "x")).reveal(to="b"))\n'
    script.write_text(script.read_text() + asked)
    assert main(["run", "--name", "b", "--dry-run", str(script)]) == 0
    shown = capsys.readouterr().out
    assert "b gets one array of 1 element" in shown and shown.endswith("None\n")
    hash = re.search("Plan hash ([0-9a-f]{64})\n", shown)
    assert hash is not None
    assert not (script.parent / "private" / "ledger").exists()


def test_a_scripts_own_mistake_is_shown_as_python_shows_it(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script.write_text("1 / 0\n")
    assert main(["run", "--name", "b", str(script)]) == 1
    assert "ZeroDivisionError" in capsys.readouterr().err
    script.write_text("import sys\nsys.exit(9)\n")
    with pytest.raises(SystemExit) as caught:
        main(["run", "--name", "b", str(script)])
    assert caught.value.code == 9


def test_no_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--name", "b", str(tmp_path / "x.py")]) == 2
    assert capsys.readouterr().err.endswith("x.py: there is no such file; name a Python script.\n")
