"""Three processes, joined by TLS on this machine."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tacit import _native
from tacit.cli.demo.scenario import free_ports

from .plans import NODES, Plan, bits

PARTY = """
import json, sys
import duckdb
from tacit import _native

task = json.load(sys.stdin)
try:
    parties = [
        _native.Party(name, address, task["certificate"] if name == task["me"] else certificate)
        for name, address, certificate in task["parties"]
    ]
    session = _native.Session.connect(
        parties, task["me"], task["nodes"], task["key"],
        bytes.fromhex(task["plan_hash"]), json.dumps(task["permits"]), json.dumps(task["operators"]),
        connect_timeout=task["connect_timeout"], engine="rep3",
        ledger=bytes.fromhex(task["ledger"]) if task.get("ledger") else None)
    attendance = session.attendance()
    share, release, *_ = (operator["id"] for operator in task["operators"])
    session.input(share, duckdb.sql("SELECT 7 * i AS x FROM range(100) r(i)") if task["me"] == "b" else None)
    opened = session.release(release)
    session.close()
    result = None if opened is None else [x for (x,) in duckdb.sql("FROM opened").fetchall()]
    print(json.dumps({"opened": result, "metrics": session.metrics(),
        "attendance": attendance}))
except _native.TacitError as error:
    print(json.dumps({"error": type(error).__name__, "peer": error.peer, "text": str(error)}))
"""


def free_addresses() -> list[str]:
    """Three loopback addresses that nobody uses now."""
    return [f"127.0.0.1:{port}" for port in free_ports(len(NODES))]


def shared_and_opened() -> Plan:
    plan = Plan()
    plan.release(plan.input("b", None, {"x": bits(10)}, rows=128, ordered=True), ["x"], ordered=True)
    return plan


def run_parties(changes: dict[str, dict[str, Any]] | None = None) -> dict[str, dict[str, Any]]:
    """One process per party; changes: what differs in a party's task."""
    keys = {name: _native.generate_keys(name) for name in NODES}
    parties = [(name, address, keys[name][1]) for name, address in zip(NODES, free_addresses(), strict=True)]
    plan = shared_and_opened()
    processes = {}
    for name in NODES:
        task = {
            "parties": parties,
            "me": name,
            "nodes": NODES,
            "key": keys[name][0].decode(),
            "certificate": keys[name][1],
            "plan_hash": "11" * 32,
            "connect_timeout": 30.0,
            "permits": plan.permits(),
            "operators": plan.operators,
            **(changes or {}).get(name, {}),
        }
        processes[name] = subprocess.Popen(
            [sys.executable, "-c", PARTY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        stdin = processes[name].stdin
        assert stdin is not None
        stdin.write(json.dumps(task))
        stdin.close()
        processes[name].stdin = None
    return {name: json.loads(process.communicate(timeout=60)[0]) for name, process in processes.items()}


def test_three_processes_share_and_open_over_tls() -> None:
    results = run_parties()
    assert results["a"]["opened"] == [7 * i for i in range(100)]
    assert results["b"]["opened"] is results["c"]["opened"] is None
    for result in results.values():
        assert [step["step"] for step in result["metrics"] if step["step"][0].isdigit()] == ["1.input", "2.release"]


def test_another_plan_at_one_party_is_a_peer_error() -> None:
    results = run_parties({"c": {"plan_hash": "22" * 32}})
    assert {result.get("error") for result in results.values()} <= {"PeerError", "PeerGoneError"}
    assert results["c"]["error"] == "PeerError"
    assert "another plan" in results["c"]["text"]


def to_another(plan: Plan) -> dict[str, Any]:
    """The release goes to c, which has a permit for that."""
    share, release = plan.operators
    (permit,) = plan.permits()
    return {"operators": [share, {**release, "to": ["c"]}], "permits": [{**permit, "recipients": ["c"]}]}


def in_another_order(plan: Plan) -> dict[str, Any]:
    return {"operators": plan.operators[::-1]}


def one_operator_more(plan: Plan) -> dict[str, Any]:
    sort = {"id": 9, "op": "sort", "input": 1, "keys": []}
    return {"operators": [*plan.operators, sort]}


def one_permit_more(plan: Plan) -> dict[str, Any]:
    (permit,) = plan.permits()
    return {"permits": [permit, {**permit, "site": "9.release"}]}


def of_another_kind(plan: Plan) -> dict[str, Any]:
    (permit,) = plan.permits()
    column = permit["columns"][0]
    wider = {**column, "kind": {**column["kind"], "width": column["kind"]["width"] + 1}}
    return {"permits": [{**permit, "columns": [wider]}]}


def of_fewer_rows(plan: Plan) -> dict[str, Any]:
    (permit,) = plan.permits()
    return {"permits": [{**permit, "rows": 99}]}


@pytest.mark.parametrize(
    "change",
    [to_another, in_another_order, one_operator_more, one_permit_more, of_another_kind, of_fewer_rows],
    ids=lambda change: change.__name__,
)
def test_who_approved_something_else_under_the_same_hash_is_refused(change: Callable[[Plan], dict[str, Any]]) -> None:
    """The hash that c tells is that of the plan of the others."""
    results = run_parties({"c": change(shared_and_opened())})
    assert {result.get("error") for result in results.values()} <= {"PeerError", "PeerGoneError"}
    assert results["c"]["error"] == "PeerError"
    for result in results.values():
        assert "approved something else" in result["text"]


def test_a_wrong_key_is_a_peer_error() -> None:
    key, certificate = _native.generate_keys("b")
    results = run_parties({"b": {"key": key.decode(), "certificate": certificate}})
    assert results["a"]["error"] == results["c"]["error"] == "PeerError"
    assert results["a"]["peer"] == results["c"]["peer"] == "b"
    assert "fingerprints" in results["a"]["text"]


LEDGERS = {name: {"ledger": f"{place:02x}" * 32} for place, name in enumerate(NODES)}


def test_all_sign_that_they_take_part_and_anybody_can_check_it() -> None:
    one, other = run_parties(LEDGERS), run_parties(LEDGERS)
    first = one["a"]["attendance"]
    assert all(result["attendance"] == first for result in one.values()), "all know the same"
    assert first["run"] != other["a"]["attendance"]["run"]
    assert [each["name"] for each in first["parties"]] == NODES
    assert {each["name"]: each["previous"] for each in first["parties"]} == {n: LEDGERS[n]["ledger"] for n in NODES}
    assert run_parties()["a"]["attendance"] is None


def test_a_party_that_does_not_sign_ends_the_run_and_is_named() -> None:
    results = run_parties({name: ledger for name, ledger in LEDGERS.items() if name != "b"})
    told = {name: results[name] for name in ("a", "c")}
    assert all("error" in result for result in results.values()), results
    cheated = [result for result in told.values() if result["error"] == "CheatingError"]
    assert cheated and all(result["peer"] == "b" and "no signed approval" in result["text"] for result in cheated)


@pytest.mark.parametrize("context", ["entry", "approval", "attendance", "record", "answer"])
def test_signatures_are_of_one_kind_by_one_key(context: str) -> None:
    (key, certificate), (_, other) = _native.generate_keys("a"), _native.generate_keys("b")
    signature = _native.sign(key, context, b"said")
    for read in ("entry", "approval", "attendance", "record", "answer"):
        assert _native.signed_by(certificate, read, b"said", signature) == (read == context)
    assert not _native.signed_by(certificate, context, b"sai", signature)
    assert not _native.signed_by(other, context, b"said", signature)
    assert not _native.signed_by(certificate, context, b"said", signature[:-1])


def test_attendance_is_of_one_run_plan_approval_and_ledger() -> None:
    key, certificate = _native.generate_keys("a")
    said = [bytes([number]) * 32 for number in range(4)]
    signature = _native.sign(key, "attendance", b"".join(said))
    assert _native.attends(certificate, *said, signature)
    for place in range(4):
        changed = [*said[:place], bytes(31) + b"x", *said[place + 1 :]]
        assert not _native.attends(certificate, *changed, signature)
    assert not _native.attends(certificate, *said, _native.sign(key, "record", b"".join(said)))


def test_what_signs_nothing_is_told() -> None:
    key, certificate = _native.generate_keys("a")
    with pytest.raises(_native.InputError, match="no testimony of the kind"):
        _native.sign(key, "letter", b"")
    with pytest.raises(_native.InputError, match="no private key"):
        _native.sign(certificate, "entry", b"")
    with pytest.raises(_native.InputError, match="no certificate"):
        _native.signed_by("x", "entry", b"", b"")


def test_a_key_that_does_not_fit_its_certificate_is_the_users_fault() -> None:
    changes: dict[str, dict[str, Any]] = {name: {"connect_timeout": 2.0} for name in NODES}
    changes["b"]["key"] = _native.generate_keys("b")[0].decode()
    results = run_parties(changes)
    assert results["b"]["error"] == "InputError"
    assert {results["a"]["error"], results["c"]["error"]} == {"PeerGoneError"}


def described() -> tuple[str, list[_native.Party]]:
    """The private key of a, and three parties of which none runs."""
    keys = [_native.generate_keys(name) for name in NODES]
    parties = zip(NODES, free_addresses(), keys, strict=True)
    return keys[0][0], [_native.Party(name, address, certificate) for name, address, (_, certificate) in parties]


def test_nobody_there_is_a_peer_gone_error_that_names_it() -> None:
    key, parties = described()
    with pytest.raises(_native.PeerGoneError, match="not reachable") as caught:
        _native.Session.connect(parties, "a", NODES, key, bytes(32), "[]", "[]", connect_timeout=0.5, engine="rep3")
    assert caught.value.peer in {"b", "c"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"me": "d"}, "neither a node nor one of its clients"),
        ({"nodes": ["a", "b"]}, "3 nodes"),
        ({"nodes": ["a", "b", "d"]}, "neither a node nor one of its clients"),
        ({"plan_hash": b"short"}, "32 bytes"),
        ({"private_key_pem": "x"}, "no private key"),
        ({"permits": "x"}, "not valid JSON"),
        ({"operators": "x"}, "operators are malformed"),
        ({"connect_timeout": -1.0}, "connect_timeout"),
        ({"idle_timeout": float("nan")}, "idle_timeout"),
        ({"latency": float("inf")}, "latency"),
        ({"bandwidth": 0.0}, "bandwidth"),
    ],
)
def test_wrong_arguments_are_input_errors_before_anything_is_sent(change: dict[str, Any], message: str) -> None:
    key, parties = described()
    arguments: dict[str, Any] = {
        "parties": parties,
        "me": "a",
        "nodes": NODES,
        "private_key_pem": key,
        "plan_hash": bytes(32),
        "permits": "[]",
        "operators": "[]",
        "engine": "rep3",
        "connect_timeout": 0.5,
        **change,
    }
    with pytest.raises(_native.InputError, match=message):
        _native.Session.connect(**arguments)
