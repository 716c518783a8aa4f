"""Every error is one exception class by whose fault it is, ends the run for all, and quotes no secrets to peers."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest

from tacit import _native

from .plans import JSON, NODES, Plan, bits, inputs

SMALL = pa.table({"x": pa.array([7, 8], pa.int64())})
BYTE = bits(8)


def outcomes(plan: Plan, permits: list[dict[str, object]] | None = None) -> list[BaseException | None]:
    """How each of three nodes ended."""
    listed = json.dumps(plan.permits() if permits is None else permits)
    sessions = _native.Session.in_memory(NODES, listed, json.dumps(plan.operators))

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
    sessions = _native.Session.in_memory(NODES, json.dumps(permits), json.dumps(plan.operators))
    *earlier, last = plan.operators
    tables: list[list[_native.SharedTable]] = [[] for _ in NODES]
    with ThreadPoolExecutor(len(NODES)) as threads:
        for operator in earlier:
            data = [SMALL if node == operator["owner"] else None for node in NODES]
            shared = threads.map(_native.Session.input, sessions, [json.dumps(operator)] * 3, data)
            for known, table in zip(tables, shared, strict=True):
                known.append(table)
    caught: list[_native.TacitError] = []
    for session, known in zip(sessions, tables, strict=True):
        with pytest.raises(_native.TacitError) as error:
            session.release(json.dumps(last), known[0]) if known else session.input(json.dumps(last), SMALL)
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


def other_order(plan: Plan) -> tuple[JSON, str]:
    """The release before the input."""
    return plan.operators[1], "2.release was to be executed where the approved plan has 1.input"


def other_owner(plan: Plan) -> tuple[JSON, str]:
    return {**plan.operators[0], "owner": "b"}, "1.input, with other members, was to be executed"


def one_more(plan: Plan) -> tuple[JSON, str]:
    sort = {"id": 9, "op": "sort", "input": 1, "keys": []}
    return sort, "9.sort was to be executed where the approved plan has 1.input"


@pytest.mark.parametrize("change", [other_order, other_owner, one_more], ids=lambda change: change.__name__)
def test_nothing_but_the_next_approved_operator_is_executed(change: Callable[[Plan], tuple[JSON, str]]) -> None:
    """Whatever this party's own software asks for."""
    plan = released()
    asked, told = change(plan)
    sessions = _native.Session.in_memory(NODES, json.dumps(plan.permits()), json.dumps(plan.operators))
    with pytest.raises(_native.InternalError, match=told):
        sessions[0].input(json.dumps(asked), SMALL)
    with pytest.raises(_native.PeerGoneError, match="it failed"):
        plan.drive(sessions[1])


def test_the_end_of_the_approved_plan_is_the_end() -> None:
    plan = released()
    session = _native.Session.clear(NODES, json.dumps(plan.permits()), json.dumps(plan.operators[:1]))
    table = session.input(json.dumps(plan.operators[0]), SMALL)
    with pytest.raises(_native.InternalError, match="where the approved plan has nothing"):
        session.release(json.dumps(plan.operators[1]), table)


def test_an_operator_gets_the_tables_that_the_plan_says_and_no_others() -> None:
    """Another table of the same columns and rows would be opened under the same permit."""
    plan = Plan()
    told, other = (plan.input("a", SMALL, {"x": BYTE}, rows=3) for _ in range(2))
    plan.release(told, ["x"])
    session = _native.Session.clear(NODES, json.dumps(plan.permits()), json.dumps(plan.operators))
    tables = [session.input(json.dumps(operator), SMALL) for operator in plan.operators[:2]]
    with pytest.raises(_native.InternalError, match=rf"given the tables of steps \[{other}\] where .* has \[{told}\]"):
        session.release(json.dumps(plan.operators[2]), tables[1])


def test_how_an_operator_is_written_does_not_matter() -> None:
    plan = released()
    session = _native.Session.clear(NODES, json.dumps(plan.permits()), json.dumps(plan.operators, indent=1))
    table = session.input(json.dumps(dict(reversed(plan.operators[0].items()))), SMALL)
    assert session.release(json.dumps(plan.operators[1], sort_keys=True), table) is not None


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
    operator = json.dumps(released().operators[0])
    listed = f"[{operator}]"
    for session in (_native.Session.clear(NODES, "[]", listed), _native.Session.in_memory(NODES, "[]", listed)[0]):
        with pytest.raises(_native.InputError, match="give its data"):
            session.input(operator, None)


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
    session = _native.Session.clear(NODES, "[]", "[]")
    with pytest.raises(_native.InputError, match="malformed"):
        session.input(operator, SMALL)


def test_malformed_permits_are_an_input_error() -> None:
    for permits in ("", "{}", '[{"site": "1.input"}]'):
        with pytest.raises(_native.InputError):
            _native.Session.clear(NODES, permits, "[]")


@pytest.mark.parametrize("nodes", [[], ["a"], ["a", "b"], ["a", "b", "a"], ["a", "b", "c", "d"]])
def test_rep3_has_three_different_nodes(nodes: list[str]) -> None:
    with pytest.raises(_native.InputError, match=r"three|3 nodes|twice"):
        _native.Session.in_memory(nodes, "[]", "[]")


def test_tables_stay_in_their_session() -> None:
    plan = released()
    operator = json.dumps(plan.operators[0])
    one, two = (_native.Session.clear(NODES, json.dumps(plan.permits()), json.dumps(plan.operators)) for _ in range(2))
    table = one.input(operator, SMALL)
    with pytest.raises(_native.InputError, match="another session"):
        two.release(json.dumps(plan.operators[1]), table)


def test_a_failed_or_closed_session_says_so() -> None:
    plan = released()
    operator = json.dumps(plan.operators[0])
    failed = _native.Session.clear(NODES, "[]", "[]")
    with pytest.raises(_native.InputError):
        failed.input("", SMALL)
    with pytest.raises(_native.InputError, match="an error ended it"):
        failed.input(operator, SMALL)
    failed.abort("without effect")
    closed = _native.Session.clear(NODES, "[]", "[]")
    closed.close()
    closed.close()
    with pytest.raises(_native.InputError, match="it was closed"):
        closed.input(operator, SMALL)
    aborted = _native.Session.clear(NODES, "[]", "[]")
    aborted.abort("changed my mind")
    with pytest.raises(_native.InputError, match="it was aborted"):
        aborted.close()


def test_an_abort_reaches_every_peer_with_its_reason() -> None:
    plan = released()
    sessions = _native.Session.in_memory(NODES, json.dumps(plan.permits()), json.dumps(plan.operators))
    sessions[0].abort("its policy refused")
    for session in sessions[1:]:
        with pytest.raises(_native.PeerGoneError, match="its policy refused") as caught:
            plan.drive(session)
        assert caught.value.peer == "a"


def test_a_session_that_is_dropped_ends_its_peers() -> None:
    plan = released()
    sessions = _native.Session.in_memory(NODES, json.dumps(plan.permits()), json.dumps(plan.operators))
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
    table = session.input(json.dumps(plan.operators[0]), SMALL)
    assert (table.rows, table.columns) == (3, ["x"])
    assert repr(table) == "SharedTable(3 rows, columns x)"
    assert inputs(plan.operators[1]) == [1]
