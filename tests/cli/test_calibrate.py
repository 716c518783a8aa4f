"""Prices of this machine: what is measured becomes a table that parties can share."""

from __future__ import annotations

import itertools
import json
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from tacit import _native
from tacit.agent import calibration
from tacit.agent.calibration import as_toml
from tacit.agent.prices import shared_prices
from tacit.cli.main import main

Tacit = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """One query of few rows on each engine: what is found is no good price, but a price."""
    monkeypatch.setattr(calibration, "ROWS", (1 << 11,))
    monkeypatch.setattr(calibration, "LINKS", (None,))
    monkeypatch.setattr(calibration, "QUERIES", calibration.QUERIES[1:2])


def test_a_measured_table_is_one_that_parties_share(
    few: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "prices.toml"
    arguments = ["calibrate", "--output", str(output), "--machine", 'the "old" one']
    assert main(arguments) == 0
    prices = shared_prices(tmp_path / "federation.toml")
    assert prices is not None
    date, machine = _native.measured(prices)
    assert machine == 'the "old" one' and len(date) == len("2026-01-31")
    printed = capsys.readouterr()
    assert "sort" in printed.out and "predicted time is off by" in printed.out
    assert "1 of 3: 1 queries on rep3, 2048 rows, no declared link" in printed.err
    assert "3 of 3: intersections" in printed.err
    assert main(arguments) == 2
    assert "exists; give another --output, or replace it with --force" in capsys.readouterr().err


def test_tables_are_written_as_they_are_read() -> None:
    default = json.loads(_native.default_prices())
    assert tomllib.loads(as_toml(json.dumps(default))) == default


def test_every_plan_can_be_measured() -> None:
    """Native code measures no protocol between owners, and needs declared sizes."""
    for catalog, query in itertools.product(calibration._catalogs(), calibration.QUERIES):
        operators = json.loads(calibration._operators(catalog, query))
        assert all(operator.get("rows") is not None for operator in operators if operator["op"] == "input")
        assert not any(operator["op"] in ("psi", "circuit_psi", "kept", "keep") for operator in operators)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--link"], "--link has two ends; name the party that this machine is with --as PARTY."),
        (["--write"], "--write is for the network between nodes; add --link."),
        (["--as", "regulator"], "--as is for the network between nodes; add --link."),
        (["--link", "--as", "regulator", "--output", "x"], "--output is for prices; leave it out with --link."),
        (["--link", "--as", "nobody"], "there is no party 'nobody'; it names regulator, bureau_a, bureau_b."),
    ],
)
def test_links_and_prices_have_options_of_their_own(arguments: list[str], sentence: str, tacit: Tacit) -> None:
    end = tacit("calibrate", *arguments)
    assert (end.returncode, end.stdout) == (2, "")
    assert end.stderr.endswith(f"{sentence}\n")


def test_a_declared_link_is_not_replaced_unasked(folder: Path, tacit: Tacit) -> None:
    path = folder / "federation.toml"
    text = f"{path.read_text()}\n[link]\nlatency = 1\nbandwidth = 1\n"
    path.write_text(text)
    end = tacit("calibrate", "--link", "--as", "regulator", "--write")
    assert end.stderr == "tacit: federation.toml declares a [link] already; --force replaces it.\n"
    assert path.read_text() == text
