"""Every error is one exception class by whose fault it is, ends the run for all, and quotes no secrets to peers."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest

from tacit import _native

from .plans import JSON, NODES, Plan, bits

SMALL = pa.table({"x": pa.array([7, 8], pa.int64())})
BYTE = bits(8)


def outcomes(plan: Plan, permits: list[dict[str, object]] | None = None) -> list[BaseException | None]:
    """How each of three nodes ended."""
    listed = json.dumps(plan.permits() if permits is None else permits)
    sessions = _native.Session.in_memory(NODES, listed, json.dumps(plan.operators), engine="rep3")

    def end(session: _native.Session) -> BaseException | None:
        try:
            plan.drive(session)
        except _native.TacitError as error:
            return error
        return None

    with ThreadPoolExecutor(len(NODES)) as threads:
        return list(threads.map(end, sessions))


def released() -> Plan:
    plan = Plan()
    plan.release(plan.input("a", SMALL, {"x": BYTE}, rows=3), ["x"])
    return plan


def refusals(plan: Plan, permits: list[dict[str, object]]) -> list[_native.TacitError]:
    """How the last operator ends at each node when all have executed those before it."""
    sessions = _native.Session.in_memory(NODES, json.dumps(permits), json.dumps(plan.operators), engine="rep3")
    *earlier, last = plan.operators
    with ThreadPoolExecutor(len(NODES)) as threads:
        for operator in earlier:
            data = [SMALL if node == operator["owner"] else None for node in NODES]
            list(threads.map(_native.Session.input, sessions, [operator["id"]] * 3, data))
    caught: list[_native.TacitError] = []
    for session in sessions:
        with pytest.raises(_native.TacitError) as error:
            session.release(last["id"]) if earlier else session.input(last["id"], SMALL)
        caught.append(error.value)
    return caught


def test_an_undeclared_release_aborts_all_three() -> None:
    for error in refusals(released(), permits=[]):
        assert isinstance(error, _native.PolicyError)
        assert error.step == "2.release"


def test_a_permit_for_other_columns_or_recipients_is_none() -> None:
    plan = released()
    (permit,) = plan.permits()
    assert permit["columns"] == [{"name": "x", "kind": BYTE}]

    def of(name: str, **kind: object) -> JSON:
        return {**permit, "columns": [{"name": name, "kind": {**BYTE, **kind}}]}

    for other in (
        of("y"),
        of("x", width=9),
        of("x", signed=True),
        of("x", nullable=True),
        of("x", repr="ring64"),
        {**permit, "columns": permit["columns"] * 2},
        {**permit, "columns": []},
        {**permit, "recipients": ["b"]},
        {**permit, "site": "3.release"},
        {**permit, "rows": 2},
    ):
        assert all(isinstance(error, _native.PolicyError) for error in refusals(plan, permits=[other])), other


def test_more_rows_than_a_permit_says_are_not_announced() -> None:
    plan = Plan()
    plan.input("a", SMALL, {"x": BYTE})
    (permit,) = plan.permits()
    owner, *others = outcomes(plan, permits=[{**permit, "rows": 1}])
    assert isinstance(owner, _native.PolicyError) and "2 rows, more than 1" in str(owner)
    assert all(isinstance(other, _native.PeerGoneError) for other in others)
    assert outcomes(plan, permits=[{**permit, "rows": 2}]) == [None] * 3


def test_an_undeclared_size_aborts_all_three() -> None:
    plan = Plan()
    plan.input("a", SMALL, {"x": BYTE})
    assert all(isinstance(error, _native.PolicyError) for error in refusals(plan, permits=[]))


def test_a_party_whose_policy_refuses_stops_the_others_in_the_middle() -> None:
    for error in outcomes(released(), permits=[]):
        assert isinstance(error, _native.PolicyError) or "its policy refused" in str(error)


def test_no_step_is_executed_twice() -> None:
    """A permit names the step that takes it, so that a plan with a step twice would open twice by one permit."""
    plan = released()
    operators = [*plan.operators, plan.operators[1]]
    with pytest.raises(_native.InputError, match=r"2\.release has the id of an operator before it"):
        _native.Session.clear(NODES, json.dumps(plan.permits()), json.dumps(operators))


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (2, r"2\.release was to be executed where the approved plan has 1\.input"),
        (9, r"step 9 was to be executed where the approved plan has 1\.input"),
    ],
    ids=["another order", "no step"],
)
def test_nothing_but_the_next_approved_operator_is_executed(asked: int, told: str) -> None:
    """Whatever this party's own software asks for."""
    plan = released()
    sessions = _native.Session.in_memory(NODES, json.dumps(plan.permits()), json.dumps(plan.operators), engine="rep3")
    with pytest.raises(_native.InternalError, match=told):
        sessions[0].input(asked, SMALL)
    with pytest.raises(_native.PeerGoneError, match="it failed"):
        plan.drive(sessions[1])


def test_the_end_of_the_approved_plan_is_the_end() -> None:
    plan = released()
    session = _native.Session.clear(NODES, json.dumps(plan.permits()), json.dumps(plan.operators[:1]))
    session.input(1, SMALL)
    with pytest.raises(_native.InternalError, match="where the approved plan has nothing"):
        session.release(2)


def test_an_operator_is_executed_by_its_own_method() -> None:
    plan = released()
    for call, error in (
        (lambda session: session.run(1), _native.InternalError),
        (lambda session: session.release(1), _native.InputError),
        (lambda session: session.psi(1, SMALL, None), _native.InputError),
        (lambda session: session.keep(1, "t", bytes(32), "{}"), _native.InputError),
    ):
        session = _native.Session.clear(NODES, json.dumps(plan.permits()), json.dumps(plan.operators))
        with pytest.raises(error, match=r"1\.input|without security"):
            call(session)


def test_a_table_of_no_step_before_it_is_refused() -> None:
    sort = {"id": 1, "op": "sort", "input": 7, "keys": []}
    session = _native.Session.clear(NODES, "[]", json.dumps([sort]))
    with pytest.raises(_native.InputError, match=r"1\.sort: step 7 gives no table before it"):
        session.run(1)


def test_how_an_operator_is_written_does_not_matter() -> None:
    plan = released()
    session = _native.Session.clear(NODES, json.dumps(plan.permits()), json.dumps(plan.operators, indent=1))
    session.input(1, SMALL)
    assert session.release(2) is not None


def test_data_outside_its_bounds_is_the_owners_fault_and_the_others_learn_only_that() -> None:
    plan = Plan()
    plan.release(plan.input("b", pa.table({"x": [1, 2, 31337]}), {"x": BYTE}, rows=3), ["x"])
    first, owner, third = outcomes(plan)
    assert isinstance(owner, _native.InputError)
    assert "row 3" in str(owner)
    assert owner.step == "1.input"
    for other in (first, third):
        assert isinstance(other, _native.PeerGoneError)
        assert other.step is not None
        assert 'party "b" ended the run: its own input was refused' in str(other)
        assert "31337" not in str(other)
        assert "row" not in str(other)


def test_an_owner_without_data_is_an_input_error() -> None:
    listed = json.dumps(released().operators[:1])
    for session in (
        _native.Session.clear(NODES, "[]", listed),
        _native.Session.in_memory(NODES, "[]", listed, engine="rep3")[0],
    ):
        with pytest.raises(_native.InputError, match="give its data"):
            session.input(1, None)


@pytest.mark.parametrize(
    "operator",
    [
        "",
        "{}",
        '{"id": 1, "op": "explode"}',
        '{"id": 1, "op": "input", "owner": "a", "columns": [], "rows": 1, "x": 1}',
        '{"id": 1, "op": "input", "owner": "a", "rows": 1, "columns": [{"name": "s", "source": "s", "encode": "bytes", '
        '"kind": {"repr": "bits", "width": 12, "signed": false, "nullable": false}}]}',
    ],
)
def test_a_malformed_operator_is_an_input_error(operator: str) -> None:
    with pytest.raises(_native.InputError, match="malformed"):
        _native.Session.clear(NODES, "[]", f"[{operator}]" if operator else "")


def test_malformed_permits_are_an_input_error() -> None:
    for permits in ("", "{}", '[{"site": "1.input"}]'):
        with pytest.raises(_native.InputError):
            _native.Session.clear(NODES, permits, "[]")


@pytest.mark.parametrize("nodes", [[], ["a"], ["a", "b"], ["a", "b", "a"], ["a", "b", "c", "d"]])
def test_rep3_has_three_different_nodes(nodes: list[str]) -> None:
    with pytest.raises(_native.InputError, match=r"three|3 nodes|twice"):
        _native.Session.in_memory(nodes, "[]", "[]", engine="rep3")


def test_a_failed_or_closed_session_says_so() -> None:
    plan = released()
    failed = _native.Session.clear(NODES, json.dumps(plan.permits()), json.dumps(plan.operators))
    with pytest.raises(_native.InputError, match="give its data"):
        failed.input(1, None)
    with pytest.raises(_native.InputError, match="an error ended it"):
        failed.input(1, SMALL)
    failed.abort("without effect")
    closed = _native.Session.clear(NODES, "[]", "[]")
    closed.close()
    closed.close()
    with pytest.raises(_native.InputError, match="it was closed"):
        closed.input(1, SMALL)
    aborted = _native.Session.clear(NODES, "[]", "[]")
    aborted.abort("changed my mind")
    with pytest.raises(_native.InputError, match="it was aborted"):
        aborted.close()


def test_an_abort_reaches_every_peer_with_its_reason() -> None:
    plan = released()
    sessions = _native.Session.in_memory(NODES, json.dumps(plan.permits()), json.dumps(plan.operators), engine="rep3")
    sessions[0].abort("its policy refused")
    for session in sessions[1:]:
        with pytest.raises(_native.PeerGoneError, match="its policy refused") as caught:
            plan.drive(session)
        assert caught.value.peer == "a"


def test_a_session_that_is_dropped_ends_its_peers() -> None:
    plan = released()
    sessions = _native.Session.in_memory(NODES, json.dumps(plan.permits()), json.dumps(plan.operators), engine="rep3")
    del sessions[0]
    for session in sessions:
        with pytest.raises(_native.PeerGoneError, match="without closing"):
            plan.drive(session)


def test_classes_form_one_family() -> None:
    for fault in (
        _native.InputError,
        _native.PolicyError,
        _native.PeerError,
        _native.PeerGoneError,
        _native.CheatingError,
        _native.InternalError,
    ):
        assert issubclass(fault, _native.TacitError)
        assert fault("x").peer is None
        assert fault("x").step is None


def test_handles_show_public_facts_only() -> None:
    plan = released()
    session = _native.Session.clear(NODES, json.dumps(plan.permits()), json.dumps(plan.operators))
    table = session.input(1, SMALL)
    assert (table.rows, table.columns) == (3, ["x"])
    assert repr(table) == "SharedTable(3 rows, columns x)"
