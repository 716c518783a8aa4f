"""The text of the bench's table, from measurements that are made up."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

BENCHES = Path(__file__).parents[2] / "benches"


@pytest.fixture
def report(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The bench's own module, which is no part of the package."""
    monkeypatch.syspath_prepend(str(BENCHES))
    return importlib.import_module("report")


@pytest.fixture
def pairs(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The bench's tables of two parties."""
    monkeypatch.syspath_prepend(str(BENCHES))
    return importlib.import_module("pairs")


def measured(operation: str, transport: str, seconds: list[float], **facts: Any) -> dict[str, Any]:
    """A measurement of 2^20 rows."""
    usual = {
        "rows": 1 << 20,
        "unit": "rows",
        "units": 1 << 20,
        "rounds": 10,
        "cpu_seconds": 0.5,
        "bytes_sent": [3 << 20, 0, 0],
        "peak_memory": [1 << 20, 2 << 20, 3 << 20],
        "load": 0.25,
    }
    return {"operation": operation, "transport": transport, "seconds": seconds, **usual, **facts}


def test_floors_have_the_ratio_of_the_median_and_of_the_best(report: ModuleType) -> None:
    lines = report.floors([measured("shuffle", "tls", [0.4, 1.0, 1.0])]).splitlines()
    assert lines[3].split() == ["shuffle", "tls", "time", "1.000", "s", "500.00", "ms", "0.50", "1.25"]


def test_every_bound_of_a_floor_has_its_line(report: ModuleType) -> None:
    lines = report.floors([measured("sort", "tls", [2.0]), measured("join", "tls", [24.0])]).splitlines()
    bounds = [(line.split()[0], line.split()[2]) for line in lines[3:]]
    assert bounds == [("sort", "time"), ("sort", "B/row"), ("sort", "rounds"), ("join", "time"), ("join", "memory")]


def test_floors_hold_for_their_size_only(report: ModuleType) -> None:
    assert report.floors([measured("sort", "tls", [2.0], rows=1 << 16)]).endswith("this size was not measured.")


def test_operations_stand_beside_spu_and_the_loopback(report: ModuleType) -> None:
    limit = {"limit": report.CEILINGS["plain"], "rate": float(12 << 20), "unit": "B", "load": 0.0}
    ours, theirs = measured("multiply", "plain", [0.5]), measured("multiply", "plain", [2.0], messages=1)
    line = report.operations([ours], [limit], [theirs]).splitlines()[3]
    assert " 1.00 " in line, "bytes of one party, the mean of the three"
    assert " 50% " in line, "of what the loopback carries"
    assert line.split()[-4:] == ["524", "krows/s", "4.0x", "0.25"], "SPU, and how many times it"


def test_operations_on_arrays_stand_beside_targets_and_spu(report: ModuleType) -> None:
    ours = measured("exp", "tls", [0.5], engine="rep3", target=1 << 20)
    free = measured("multiply-128", "tls", [0.5], engine="rep3", target=None)
    theirs = measured("exp", "plain", [2.0], messages=1)
    exp, multiply = report.arrays([ours, free], [theirs]).splitlines()[3:5]
    assert exp.split()[-6:] == ["2.00", "2.00", "524", "krows/s", "4.0x", "0.25"], "of the target, and of SPU"
    assert multiply.split()[-7:] == ["rep3", "-", "-", "-", "-", "-", "0.25"]


def test_a_system_that_does_not_count_its_sends_has_none(report: ModuleType) -> None:
    found = [measured("multiply", "plain", [0.5], messages=each) for each in (0, 12)]
    text = report.peers("MPyC", found)
    assert text.startswith("MPyC: three processes on this machine\n")
    assert [re.split(r"  +", line)[8] for line in text.splitlines()[3:5]] == ["-", "12"]


def test_numbers_have_three_digits(report: ModuleType) -> None:
    assert [report.count(x) for x in (2.134e9, 12.34e6, 999, 0)] == ["2.13 G", "12.3 M", "999 ", "0 "]
    assert [report.seconds(x) for x in (1.5, 0.0123, 0.0000456)] == ["1.500 s", "12.30 ms", "46 us"]


def relative(name: str, seconds: float, **facts: Any) -> dict[str, Any]:
    """A measurement of a relative of intersection, for sets of 2^20 items."""
    usual = {
        "relative": name,
        "phase": "",
        "rows": 20,
        "transport": "tls",
        "items": 1 << 20,
        "seconds": [seconds],
        "cpu_seconds": [1.0, 1.0],
        "bytes_sent": [100 << 20, 20 << 20],
        "rounds": 3,
        "peak_memory": 1 << 28,
        "load": 0.25,
    }
    return {**usual, **facts}


def test_relatives_say_what_misses_their_floor(pairs: ModuleType) -> None:
    slow, large = relative("circuit-psi", 8.0), relative("circuit-psi", 4.0, bytes_sent=[340 << 20, 0])
    lines = pairs.relatives([relative("circuit-psi", 4.0), slow, large]).splitlines()[3:6]
    assert [re.split(r"  +", line)[10] for line in lines] == [
        "met",
        "missed: time 2.00 times",
        "missed: traffic 2.00 times",
    ]


def test_floors_of_relatives_hold_for_their_size_only(pairs: ModuleType) -> None:
    line = pairs.relatives([relative("sum", 100.0, rows=16, items=1 << 16)]).splitlines()[3]
    assert line.split()[-2:] == ["-", "-"]


def test_diffie_hellman_stands_beside_the_multiplications_of_the_same_run(pairs: ModuleType) -> None:
    found = [relative("dh", seconds, multiplications=[4 << 20, 1 << 20]) for seconds in (5.0, 5.3)]
    lines = pairs.relatives(found).splitlines()[3:5]
    assert [("5.200 s" in line, "met" in line) for line in lines] == [(True, True), (True, False)]


def test_intersections_and_transfers_have_floors(pairs: ModuleType) -> None:
    each = {"protocol": "vole", "rows": 20, "transport": "tls", "seconds": 0.4, "spread": 0.1, "bytes_per_item": 31.0}
    line = pairs.intersections([{**each, "peak_bytes": 100 << 20, "load": 0.5}]).splitlines()[3]
    assert "450.00 ms, 30 B, 191 MiB" in line and "missed: traffic 1.03 times" in line
    transfers = {"work": "silent semi-honest", "transport": "tls", "transfers": 1 << 20, "seconds": [0.02], "load": 0.5}
    line = pairs.transfers([{**transfers, "bytes_sent": [1 << 16, 0], "peak_memory": 1 << 20}]).splitlines()[3]
    assert line.split()[-3:] == ["40", "M/s", "1.31"] and " 0.50 " in line
