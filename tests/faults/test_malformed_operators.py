"""Whatever JSON reaches the native session as an operator: a plain error of a known kind, never a panic."""

from __future__ import annotations

import copy
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tacit import _native

NODES = ["a", "b", "c"]
KIND = {"repr": "bits", "width": 8, "signed": False, "nullable": True}
SUM = {"repr": "ring64", "width": 64, "signed": True, "nullable": True}
X, Y = {"col": "x"}, {"col": "y"}
DATA = pa.table({"x": pa.array([7, 8, None], pa.int64()), "y": pa.array([1, 2, 3], pa.int64())})

INPUT = {
    "id": 1,
    "op": "input",
    "owner": "a",
    "columns": [
        {"name": "x", "source": "x", "encode": "int", "kind": KIND},
        {"name": "y", "source": "y", "encode": "int", "kind": {**KIND, "nullable": False}},
    ],
    "rows": 4,
    "ordered": True,
}
BOOLEAN = {"repr": "bits", "width": 1, "signed": False, "nullable": True}
OPERATORS: list[dict[str, Any]] = [
    {"id": 2, "op": "filter", "input": 1, "predicate": {"op": "lt", "args": [X, Y], "kind": BOOLEAN}},
    {
        "id": 3,
        "op": "project",
        "input": 1,
        "columns": [
            {"name": "z", "expr": {"op": "add", "args": [X, {"int": "5", "kind": KIND}], "kind": SUM}, "kind": SUM},
            {"name": "n", "expr": {"null": KIND}, "kind": KIND},
            {"name": "s", "expr": {"op": "scale", "by": "100", "args": [X], "kind": SUM}, "kind": SUM},
        ],
    },
    {"id": 4, "op": "union", "inputs": [1, 1], "columns": [{"name": "x", "kind": KIND}, {"name": "y", "kind": KIND}]},
    {
        "id": 5,
        "op": "join",
        "left": 1,
        "right": 1,
        "left_keys": ["y"],
        "right_keys": ["y"],
        "left_columns": ["y"],
        "right_columns": ["x"],
    },
    {
        "id": 6,
        "op": "group_by",
        "input": 1,
        "keys": ["y"],
        "groups": 2,
        "aggregates": [{"name": "t", "function": "sum", "column": "x", "kind": SUM}],
    },
    {
        "id": 7,
        "op": "aggregate",
        "input": 1,
        "aggregates": [{"name": "m", "function": "min", "column": "x", "kind": KIND}],
    },
    {"id": 8, "op": "sort", "input": 1, "keys": [{"column": "x", "descending": True, "nulls_first": False}]},
    {"id": 9, "op": "limit", "input": 1, "count": 2, "offset": 1},
    {
        "id": 10,
        "op": "group_join",
        "left": 1,
        "right": 1,
        "left_keys": ["y"],
        "right_keys": ["y"],
        "left_columns": ["y"],
        "aggregates": [{"name": "t", "function": "sum", "column": "x", "kind": SUM}],
        "kept": True,
    },
]
RELEASE = {"id": 10, "op": "release", "input": 1, "to": ["a"], "columns": ["x"], "ordered": True}
OPENED = [{"name": "x", "kind": KIND}]
PERMITS = [{"site": "10.release", "kind": "answer", "recipients": ["a"], "columns": OPENED, "rows": 4}]

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.sampled_from([0, -1, 1, 2**31, 2**32, 2**53, 2**63, 2**64 - 1, 1e300, 0.5]),
    st.sampled_from(
        ["", "x", "y", "zz", "-1", "9" * 60, "bits", "ring64", "ring128", "sum", "input", "eq", "if", "\0"]
    ),
    st.just([]),
    st.just({}),
    st.just([X, Y, X, Y]),
    st.sampled_from([{**KIND, "width": width} for width in (0, 1, 63, 64, 65, 127, 128, 129, 2**20, 2**40)]),
)
"""What a member of an operator is replaced by. Row counts stay out of it: they decide how much memory is asked for."""


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all members within a JSON value."""
    if isinstance(value, dict):
        members = list(value.items())
    elif isinstance(value, list):
        members = list(enumerate(value))
    else:
        return [path]
    inner = [found for key, member in members for found in places(member, (*path, key))]
    return [path, *inner] if path else inner


@st.composite
def mutants(draw: st.DrawFn, operators: list[dict[str, Any]]) -> str:
    """An operator of which some members are replaced, removed or doubled, as JSON text."""
    operator = copy.deepcopy(draw(st.sampled_from(operators)))
    for _ in range(draw(st.integers(1, 3))):
        if not operator:
            break
        path = draw(st.sampled_from(places(operator)))
        parent: Any = operator
        for key in path[:-1]:
            parent = parent[key]
        match draw(st.sampled_from(["replace", "replace", "replace", "remove", "double", "add"])):
            case "replace":
                parent[path[-1]] = copy.deepcopy(draw(ODD))
            case "remove":
                del parent[path[-1]]
            case "double" if isinstance(parent, list):
                parent.append(copy.deepcopy(parent[path[-1]]))
            case _ if isinstance(parent, dict):
                parent["surplus"] = copy.deepcopy(draw(ODD))
            case _:
                pass
    return json.dumps(operator)


def outcome(action: Any) -> None:
    """Run an action that may be refused, but as the fault of the input, the policy or the method that is called."""
    try:
        action()
    except (_native.InputError, _native.PolicyError) as error:
        assert str(error)
        assert "\n" not in str(error)
    except _native.InternalError as error:
        # A mutant may be another operator.
        assert "which does not execute it" in str(error), error


def listed(text: str) -> str:
    """The list of the input and this operator."""
    return f"[{json.dumps(INPUT)}, {text}]"


def fresh(text: str) -> _native.Session:
    """A session that is about to execute this operator. Raises what the native module says of it."""
    session = _native.Session.clear(NODES, json.dumps(PERMITS), listed(text))
    session.input(INPUT["id"], DATA)
    return session


def step_of(text: str) -> int:
    """The id by which an operator that was understood is asked for."""
    step: int = json.loads(text)["id"]
    return step


FUZZ = settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.too_slow])
LONG = settings(FUZZ, max_examples=20_000)


def run_mutant(text: str) -> None:
    def run() -> None:
        fresh(text).run(step_of(text))

    outcome(run)


@FUZZ
@given(mutants(OPERATORS))
def test_malformed_operators_are_refused(text: str) -> None:
    run_mutant(text)


@pytest.mark.nightly
@LONG
@given(mutants(OPERATORS))
def test_many_malformed_operators_are_refused(text: str) -> None:
    run_mutant(text)


@FUZZ
@given(mutants([{key: value for key, value in INPUT.items() if key != "rows"}]))
def test_malformed_inputs_are_refused(text: str) -> None:
    operator = json.dumps({"rows": 4, **json.loads(text)})
    outcome(lambda: _native.Session.clear(NODES, "[]", f"[{operator}]").input(step_of(operator), DATA))


@FUZZ
@given(mutants([RELEASE]))
def test_malformed_releases_are_refused(text: str) -> None:
    def release() -> None:
        fresh(text).release(step_of(text))

    outcome(release)


@settings(FUZZ, max_examples=60)
@given(
    st.text(max_size=30)
    | st.recursive(ODD, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)).map(json.dumps)
)
def test_any_text_is_refused(text: str) -> None:
    with pytest.raises(_native.InputError):
        fresh(text)


@FUZZ
@given(mutants([{"permits": PERMITS}]))
def test_malformed_permits_are_refused(text: str) -> None:
    permits = json.loads(text).get("permits")
    outcome(lambda: _native.Session.clear(NODES, json.dumps(permits), "[]"))


@settings(FUZZ, max_examples=100)
@given(mutants([*OPERATORS, RELEASE]))
def test_malformed_operators_declare_no_cost(text: str) -> None:
    outcome(lambda: _native.cost("rep3", json.dumps([INPUT, json.loads(text)]), {1: 4}, nodes=NODES))


@settings(FUZZ, max_examples=60)
@given(mutants(OPERATORS))
def test_three_parties_with_the_same_malformed_operator_all_end(text: str) -> None:
    """None of them waits for the others, whichever finds the fault first."""
    sessions: list[_native.Session] = []
    outcome(lambda: sessions.extend(_native.Session.in_memory(NODES, json.dumps(PERMITS), listed(text), engine="rep3")))
    if not sessions:  # refused before they began
        return

    def drive(session: _native.Session) -> None:
        session.input(INPUT["id"], DATA if session.me == "a" else None)
        session.run(step_of(text))
        session.close()

    def ended(session: _native.Session) -> None:
        try:
            outcome(lambda: drive(session))
        except _native.PeerGoneError as error:  # a peer found the fault first
            assert "its own input was refused" in str(error)

    with ThreadPoolExecutor(len(NODES)) as threads:
        for done in [threads.submit(ended, session) for session in sessions]:
            done.result(30)
