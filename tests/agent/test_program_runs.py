"""Programs as three parties run them, each a process of its own, from files in a folder."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path
from typing import Any

import numpy
import pytest

import tacit
import tacit.numpy as np
from tacit.agent.approval import approve
from tacit.agent.connection import Connection
from tacit.agent.keys import make_keys
from tacit.agent.ledger import Ledger
from tacit.agent.proof import check
from tacit.agent.signer import Signer
from tacit.cli.demo.scenario import free_ports
from tacit.plan import plan_hash

PARTIES = ("hospital_a", "hospital_b", "registry")
OFFERS = {
    "hospital_a": '[arrays.features]\nshape = [60, 3]\ndtype = "float64"\nmin = -2\nmax = 2\nuse = ["program"]\n'
    'allow = ["HASH"]\nrecipients = ["hospital_b"]\n',
    "hospital_b": '[arrays.labels]\nshape = [60]\ndtype = "bool"\nuse = ["program"]\nallow = ["HASH"]\n'
    'recipients = ["hospital_a"]\n',
}
FILES = {"hospital_a": "features", "hospital_b": "labels"}
NO_HASH = "p:" + "0" * 64
FEATURES = numpy.random.default_rng(7).uniform(-2, 2, (60, 3))
LABELS = FEATURES @ numpy.array([1.0, -1.0, 0.5]) > 0


def line(x: Any, y: Any) -> Any:
    w = np.zeros(3)
    for _ in range(4):
        w = np.clip(w - 0.25 * x.T @ (x @ w - y) / len(y), -4, 4)
    return w


def several(x: Any, y: Any) -> Any:
    return {"mean": x.mean(axis=0), "count": y.sum(), "larger": x[:, 0] > x[:, 1]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    ports = free_ports(3)
    (tmp_path / "federation.toml").write_text(
        'recipients = ["hospital_a"]\n'
        + "".join(
            f'[parties.{name}]\naddress = "127.0.0.1:{port}"\n' for name, port in zip(PARTIES, ports, strict=True)
        )
    )
    for name in ("offers", "private"):
        (tmp_path / name).mkdir(mode=0o700)
    offer(tmp_path, NO_HASH)
    for owner, array in FILES.items():
        (tmp_path / "private" / f"{owner}.toml").write_text(f'[arrays.{array}]\npath = "../{array}.npy"\n')
    numpy.save(tmp_path / "features.npy", FEATURES)
    numpy.save(tmp_path / "labels.npy", LABELS)
    make_keys(connected(tmp_path).federation.members, PARTIES, replace=False)
    return tmp_path


def offer(folder: Path, program: str) -> None:
    for owner, text in OFFERS.items():
        (folder / "offers" / f"{owner}.toml").write_text(text.replace("HASH", program))


def connected(folder: Path, party: str | None = None) -> Connection:
    return tacit.connect(folder / "federation.toml", party=party)


def question(folder: Path, function: Any) -> Any:
    fed = connected(folder)
    return fed.program(function)(fed.private("hospital_a", "features"), fed.private("hospital_b", "labels.npy"))


def allowed(folder: Path, function: Any) -> Any:
    """A question that both owners list."""
    offer(folder, question(folder, function).hash)
    return question(folder, function)


def entries(folder: Path, party: str) -> list[dict[str, Any]]:
    path = folder / "private" / "ledger" / f"{party}.jsonl"
    return [json.loads(each) for each in path.read_text().splitlines()] if path.exists() else []


def test_a_linear_model_on_two_owners_arrays(folder: Path) -> None:
    asked = allowed(folder, line)
    found = asked.reveal(to="hospital_a", file=folder / "w.npy")
    assert numpy.array_equal(numpy.load(folder / "w.npy"), found)
    proved = check(folder / "w.npy", asked.connection.federation.members)
    assert (proved.recipient, set(proved.signers)) == ("hospital_a", set(PARTIES))
    node = asked.program.traced.outputs["result"]
    assert found.shape == (3,) and found.dtype == numpy.float64
    assert numpy.abs(found - line(FEATURES, LABELS)).max() <= float(node.array.absolute_error) + 2**-15
    for party in PARTIES:
        kinds = [(each["kind"], each.get("program")) for each in entries(folder, party)]
        assert ("approved", asked.hash) in kinds and kinds[-1][0] == "completed"
        assert all("features" not in path.name for path in (folder / "private" / "ledger").iterdir())


def test_several_results_as_the_function_returns_them(folder: Path) -> None:
    found, clear = allowed(folder, several).reveal(to=["hospital_a"]), several(FEATURES, LABELS)
    assert list(found) == list(clear)
    assert found["count"] == clear["count"] and found["count"].dtype == clear["count"].dtype
    assert numpy.abs(found["mean"] - clear["mean"]).max() < 1e-3
    sure = abs(FEATURES[:, 0] - FEATURES[:, 1]) > 1e-3
    assert numpy.array_equal(found["larger"][sure], clear["larger"][sure])


def test_the_cost_is_predicted_and_metered(folder: Path) -> None:
    asked = allowed(folder, line)
    done = asked.connection.run(asked.connection.plan(asked.text, "hospital_a"))
    assert done.answer is None and done.arrays is not None
    assert asked.cost(to="hospital_a").bytes > 0
    assert done.arrays.cost.actual_total.bytes > 0
    assert done.arrays.learnt and done.arrays.disclosures


def near(x: Any, y: Any) -> Any:
    return np.bound(x.T @ y / len(y), 1.5, check=True)


def nearer(x: Any, y: Any) -> Any:
    return np.bound(x.T @ y / len(y), 0.01, check=True)


def test_a_bound_that_does_not_hold_ends_the_run_at_every_party(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = "registry is no recipient of the array features, and would be told whether the bounds that the program"
    with pytest.raises(tacit.PolicyError, match=told):
        allowed(folder, near).reveal(to="hospital_a")
    for owner, text in OFFERS.items():
        monkeypatch.setitem(OFFERS, owner, text.replace("recipients = [", 'recipients = ["registry", '))
    found = allowed(folder, near).reveal(to="hospital_a")
    assert numpy.abs(found - near(FEATURES, LABELS)).max() < 1e-3
    with pytest.raises(tacit.WithheldError, match="a bound that the program checks does not hold") as caught:
        allowed(folder, nearer).reveal(to="hospital_a")
    assert caught.value.exit_status == 7
    for party in PARTIES:
        completed, failed = (each for each in entries(folder, party) if each["kind"] in ("completed", "failed"))
        assert (failed["kind"], failed["fault"]) == ("failed", "withheld")
        assert failed["sentence"].startswith(
            "a bound that the program checks does not hold, so that nothing is revealed"
        )
        assert [(each["kind"], each["rows"]) for each in failed["disclosures"] if each["kind"] != "size"] == [
            ("bound", 1),
        ]  # fmt: skip
        assert {each["kind"] for each in completed["disclosures"]} == {"answer", "bound", "size"}


def test_what_is_refused_leaves_nothing_behind(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr(tempfile, "tempdir", None)
    with pytest.raises(tacit.PolicyError, match="refused by hospital_b: allow: the array labels is open to certain"):
        question(folder, line).reveal(to="hospital_a")
    for file, sentence in (
        ("w.csv", "name it .npy for one array"), ("none/w.npy", "does not exist"), ("features.npy", "of hospital_a"),
    ):  # fmt: skip
        with pytest.raises(tacit.InputError, match=sentence):
            allowed(folder, line).reveal(to="hospital_a", file=folder / file)
    asked = allowed(folder, line)
    spoilt = FEATURES.copy()
    spoilt[41, 2] = numpy.nan
    numpy.save(folder / "features.npy", spoilt)
    with pytest.raises(tacit.InputError, match=r"^hospital_a: .*features\.npy: the element \[41, 2\] is NaN"):
        asked.reveal(to="hospital_a")
    (folder / "features.npy").unlink()
    with pytest.raises(tacit.InputError, match=r"^hospital_a: .*features\.npy: the file cannot be read"):
        asked.reveal(to="hospital_a")
    assert entries(folder, "hospital_a") == []
    # Whoever had approved when the owner's file was found wrong has recorded that the run failed.
    kinds = [[entry["kind"] for entry in entries(folder, party)] for party in PARTIES]
    assert all(found == ["approved", "failed"] * (len(found) // 2) for found in kinds)
    assert [*scratch.iterdir()] == []


def test_a_program_that_was_approved_ahead(folder: Path) -> None:
    asked = allowed(folder, line)
    plan = asked.connection.plan(asked.text, "hospital_a")
    with pytest.raises(tacit.PolicyError, match="has not approved this plan"):
        asked.connection.run(plan, approved=True)
    members = asked.connection.federation.members
    for party in PARTIES:
        signer = Signer.of(members, party)
        ledger = Ledger(members.private(party).ledger, signer)
        entry = approve(ledger, signer, plan_hash(plan).hex(), plan.query, 1, date(2099, 1, 1))
        assert entry["program"] == asked.hash
    assert asked.connection.run(plan, approved=True).arrays is not None
    with pytest.raises(tacit.PolicyError, match="has used up its approval"):
        asked.connection.run(plan, approved=True)


SCRIPT = """\
import tacit
import tacit.numpy as np

fed = tacit.connect("federation.toml")
x, y = fed.private("hospital_a", "features"), fed.private("hospital_b", "labels")


@fed.program
def counted(x, y, least=LEAST):
    return np.sum((x[:, 0] > least) & y)


if __name__ == "__main__":
    print(counted(x, y).reveal(to="hospital_a"))
"""


def test_each_party_runs_the_same_script(folder: Path) -> None:
    script(folder, "script.py", 0.5)
    hashed = [sys.executable, "-c", "from script import *; print(counted(x, y).hash)"]
    offer(folder, subprocess.run(hashed, cwd=folder, text=True, capture_output=True, check=True).stdout.strip())
    started = {party: start(folder, party, "script.py") for party in PARTIES}
    printed = {party: process.communicate(timeout=120) for party, process in started.items()}
    assert [process.returncode for process in started.values()] == [0, 0, 0], printed
    count = int(numpy.sum((FEATURES[:, 0] > 0.5) & LABELS))
    assert [out.strip() for out, _ in printed.values()] == [str(count), "None", "None"]


def script(folder: Path, name: str, least: float) -> None:
    (folder / name).write_text(SCRIPT.replace("LEAST", repr(least)))


def start(folder: Path, party: str, name: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tacit", "run", name, "--name", party, "--wait", "60"]
    return subprocess.Popen(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
