"""What ``cost`` declares is what a run sends, to the byte."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest

from tacit import _native

from .plans import NODES, Plan, bits, ring64


def query(nodes: list[str] = NODES) -> Plan:
    """Operators of many kinds, with a padded and an announced input; the answer goes to the last two nodes."""
    plan = Plan()
    left = pa.table({"k": [3, 1, 2], "g": [1, 1, 2]})
    right = pa.table({"other": [1, 1, 2, 5, 3], "v": [10, 20, None, 40, 50]})
    first = plan.input("a", left, {"k": bits(8), "g": bits(4)}, rows=100)
    second = plan.input(nodes[-1], right, {"other": bits(8), "v": ring64(16, nullable=True)})
    joined = plan.add(
        "join",
        left=first,
        right=second,
        left_keys=["k"],
        right_keys=["other"],
        left_columns=["g"],
        right_columns=["v"],
    )
    total = {"name": "total", "function": "sum", "column": "v", "kind": ring64(32, nullable=True)}
    grouped = plan.add("group_by", input=joined, keys=["g"], aggregates=[total], groups=3)
    keys = [{"column": "total", "descending": True, "nulls_first": False}]
    head = plan.add("limit", input=plan.add("sort", input=grouped, keys=keys), count=2, offset=0)
    plan.release(head, ["g", "total"], to=nodes[-2:], ordered=True)
    return plan


def test_declared_costs_are_metered_costs() -> None:
    plan = query()
    sessions = _native.Session.in_memory(NODES, json.dumps(plan.permits()), json.dumps(plan.operators), engine="rep3")
    with ThreadPoolExecutor(len(NODES)) as threads:
        list(threads.map(plan.drive, sessions))
    declared = _native.cost("rep3", json.dumps(plan.operators), {2: 5}, nodes=NODES)
    assert [cost["step"] for cost in declared] == [f"{o['id']}.{o['op']}" for o in plan.operators]
    for node, session in enumerate(sessions):
        metered = {step["step"]: step for step in session.metrics()}
        for cost in declared:
            actual = metered[cost["step"]]
            assert (actual["rounds"], actual["bytes_sent"]) == (cost["rounds"], cost["bytes_sent"][node]), cost["step"]


@pytest.mark.parametrize("ahead", [False, True], ids=["as needed", "ahead"])
@pytest.mark.parametrize("link", [None, (0.0, 10e6), (0.06, 100e6)], ids=["undeclared", "thin", "far"])
def test_circuits_are_garbled_as_declared_on_a_declared_link(link: tuple[float, float] | None, ahead: bool) -> None:
    nodes = NODES[:2]
    plan = query(nodes)
    permits = [each | {"recipients": nodes} for each in plan.permits()]
    operators = json.dumps(plan.operators)
    sessions = _native.Session.in_memory(nodes, json.dumps(permits), operators, engine="two", link=link, ahead=ahead)
    with ThreadPoolExecutor(len(nodes)) as threads:
        list(threads.map(plan.drive, sessions))
    declared = _native.cost("two", operators, {2: 5}, nodes=nodes, link=link, ahead=ahead)
    assert any(cost["rounds_ahead"] for cost in declared) == ahead
    assert (sum(cost["garbled"] for cost in declared) > 0) == (link != (0.0, 10e6))
    for node, session in enumerate(sessions):
        metered = {step["step"]: step for step in session.metrics()}
        for cost in declared:
            actual = metered[cost["step"]]
            expected = cost["rounds"], cost["rounds_ahead"], cost["bytes_sent"][node]
            assert (actual["rounds"], actual["rounds_ahead"], actual["bytes_sent"]) == expected, cost["step"]


def test_an_impossible_link_is_an_input_error() -> None:
    for link in [(-1.0, 1e6), (0.1, 0.0), (float("nan"), 1e6)]:
        with pytest.raises(_native.InputError, match="give a latency of at least 0 and a bandwidth above 0"):
            _native.cost("two", "[]", {}, nodes=NODES[:2], link=link)


def test_rows_are_public_bounds() -> None:
    rows = {c["step"]: c["rows"] for c in _native.cost("rep3", json.dumps(query().operators), {2: 5}, nodes=NODES)}
    assert (rows["1.input"], rows["2.input"], rows["3.join"], rows["6.limit"]) == (100, 5, 5, 2)


def test_a_missing_size_and_an_unknown_engine_are_input_errors() -> None:
    operators = json.dumps(query().operators)
    with pytest.raises(_native.InputError, match=r"2\.input"):
        _native.cost("rep3", operators, {}, nodes=NODES)
    with pytest.raises(_native.InputError, match="clear"):
        _native.cost("clear", operators, {2: 5}, nodes=NODES)
    with pytest.raises(_native.InputError, match="3 nodes"):
        _native.cost("rep3", operators, {2: 5}, nodes=NODES[:2])
    with pytest.raises(_native.InputError, match="engine two has 2 nodes, not 3"):
        _native.cost("two", operators, {2: 5}, nodes=NODES)
    with pytest.raises(_native.InputError, match="engine two has 2 nodes, not 3"):
        _native.Session.in_memory(NODES, "[]", "[]", engine="two")


def test_what_setting_the_engine_two_up_costs() -> None:
    """As docs/protocols/two-party-sharing.md says."""
    for session in _native.Session.in_memory(NODES[:2], "[]", "[]", engine="two", ahead=False):
        (setup,) = session.metrics()
        assert (setup["step"], setup["rounds"], setup["bytes_sent"]) == ("setup", 4, 11_312)
    sessions = _native.Session.in_memory(NODES[:2], "[]", "[]", engine="two")
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(_native.Session.close, sessions))
    for session in sessions:
        (setup,) = session.metrics()
        found = setup["step"], setup["rounds"], setup["rounds_ahead"], setup["bytes_sent"]
        assert found == ("setup", 0, 4, 11_312)
