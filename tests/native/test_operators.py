"""Every class of operator, and permits, go to native code and back: what is understood is what was written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import get_args

import pytest

from tacit import _native
from tacit.plan.facts.kinds import Kind
from tacit.plan.physical.disclosure import DisclosureKind, Permit
from tacit.plan.physical.operators import (
    OPERATORS,
    Aggregate,
    Aggregated,
    Broadcast,
    CircuitPsi,
    Computed,
    Element,
    Filter,
    Frame,
    GroupBy,
    GroupJoin,
    Input,
    Instruction,
    Join,
    Keep,
    Kept,
    Key,
    Limit,
    Made,
    Named,
    Operator,
    Ordered,
    Pairs,
    Program,
    Project,
    Psi,
    Release,
    Resize,
    Shared,
    Side,
    Sort,
    Union,
    UniversalIds,
    Window,
    Windowed,
)
from tacit.plan.physical.record import Record
from tacit.plan.physical.values import Call, Column, Function, Integer, Null, Text, Value

BITS = Kind("bits", 17, signed=False, nullable=True)
TRUTH = Kind("bits", 1, signed=False, nullable=False)
RING64 = Kind("ring64", 19, signed=True, nullable=False)
RING = Kind("ring128", 90, signed=True, nullable=False)
HASH = Kind("bits", 88, signed=False, nullable=False)
BYTES = Kind("bits", 64, signed=False, nullable=True)

SHARED = (Shared("x", "X", "int", BITS), Shared("h", "who", "hash", HASH), Shared("b", "who", "bytes", BYTES))
SIDE = Side(1, "a", None, True, (Key("X", "int"), Key("who", "hash")), SHARED)
OTHER = Side(2, "b", 9, False, (Key("x", "int"), Key("name", "hash")), ())
COMPUTED: tuple[Value, ...] = (
    Column("x"),
    Integer(-(1 << 80), RING),
    Text("aspirin", "hash", HASH),
    Null(BITS),
    Call("scale", (Column("x"),), RING, by=10**20),
    Call("if", (Call("is_null", (Column("x"),), TRUTH), Integer(0, BITS), Column("x")), BITS),
    Call("and", (Column("p"), Column("q"), Call("or", (Column("r"), Column("s")), TRUTH)), TRUTH),
)
SUM = Aggregated("s", "sum", "x", RING)
COUNT = Aggregated("n", "count_rows", None, RING)

NUMBERED = Windowed("r", "row_number", None, None, None, Frame("rows", None, None), RING)
SHIFTED = Windowed("l", "lag", "x", "y", 2, Frame("rows", None, None), BITS)
FRAMED = Windowed("t", "sum", "x", None, None, Frame("range", None, 0), RING)

GIVEN = Instruction("input", (), (2, 3), 64, 16, "-65536", "65536", (("index", 0),))
SQUARED = Instruction("multiply", (0, 0), (2, 3), 64, 16, "-1", "65537", (("cut", 16), ("floor", True)))
SUMMED = Instruction("sum", (1,), (2,), 64, 16, "-3", "196611", (("axis", 1),))
RAISED = Instruction("function", (0,), (2, 3), 64, 16, "0", "200000", (("name", "exp"),))
MADE = (Made(24, 2, "s", RING64), Made(25, 3, "e", RING64))

EXAMPLES: tuple[Operator, ...] = (
    Input(1, "a", SHARED, None, pad_to_source=True),
    Input(2, "a", (), 9, sorted_by=("x", "h"), ordered=True),
    Psi(3, SIDE, OTHER, right_unique=False),
    CircuitPsi(4, SIDE, OTHER),
    UniversalIds(17, SIDE, OTHER),
    Kept(5, "t", SHARED[:1], 9, padded=True),
    Filter(6, 5, Call("lt", (Column("x"), Integer(3, BITS)), TRUTH)),
    Project(7, 6, tuple(Computed(f"c{at}", value, RING) for at, value in enumerate(COMPUTED))),
    Union(8, (6, 7), (Named("x", BITS),)),
    Join(9, 7, 8, ("x",), ("y",), ("x", "h"), (), merged=True),
    Broadcast(10, 9, 5),
    GroupBy(11, 10, ("x",), (SUM, COUNT), None),
    Aggregate(12, 11, (COUNT,)),
    Sort(13, 11, (Ordered("x", descending=True, nulls_first=False),)),
    Limit(14, 13, None, 2),
    Keep(15, 14, "kept", ("x",)),
    Release(16, 14, ("a", "b"), ("x",), ("x",), ordered=True),
    Join(17, 7, 8, ("x",), ("y",), ("x", "h"), (), kept="both", found="m"),
    Pairs(18, 7, 8),
    GroupJoin(19, 7, 8, ("x",), ("y",), ("h",), (SUM, COUNT), kept=True),
    Resize(21, 8, None),
    Resize(22, 8, 5),
    Program(23, (Element(2, "x"),), (GIVEN, SQUARED, SUMMED, RAISED), MADE),
    Window(20, 8, ("x",), (Ordered("h", descending=True, nulls_first=False),), (NUMBERED, SHIFTED, FRAMED)),
)


def records(value: object) -> Iterator[Record]:
    """A record and all in it."""
    if isinstance(value, tuple):
        for each in value:
            yield from records(each)
    elif isinstance(value, Record):
        yield value
        for member in fields(value):
            yield from records(getattr(value, member.name))


def test_every_class_is_among_the_examples() -> None:
    assert {type(each) for each in EXAMPLES} == set(OPERATORS)
    assert {type(each) for each in records(EXAMPLES)} >= set(get_args(Value))


@pytest.mark.parametrize("operator", EXAMPLES, ids=lambda operator: operator.op)
def test_operators_are_understood_as_they_are_written(operator: Operator) -> None:
    (understood,) = _native.operators(json.dumps([operator.json()]))
    assert json.loads(understood) == operator.json()


@pytest.mark.parametrize("function", get_args(Function))
def test_functions_have_one_name(function: Function) -> None:
    """Native code knows each, with as many arguments as it takes, and no other."""
    by_constant = ("scale", "floor", "ceil", "round")
    args = (Column("x"),) * {"if": 3}.get(
        function, 1 if function in ("neg", "not", "is_null", "convert", *by_constant) else 2
    )
    call = Call(function, args, BITS, by=2 if function in by_constant else None)
    (understood,) = _native.operators(json.dumps([Filter(2, 1, call).json()]))
    assert json.loads(understood)["predicate"] == call.json()


def test_members_that_an_operator_lacks_are_refused() -> None:
    with pytest.raises(_native.InputError, match="unknown field `rows`"):
        _native.operators(json.dumps([Filter(2, 1, Column("x")).json() | {"rows": 3}]))


OPENED = (Named("x", Kind("bits", 17, signed=False, nullable=True)), Named("y", RING))
SHARED_ROWS = tuple(Shared(each.name, each.name, "int", each.kind) for each in OPENED)
OPENING: tuple[Operator, ...] = (
    Input(1, "a", SHARED_ROWS, None),
    Release(2, 1, ("a", "b"), ("x", "y"), ("x",), ordered=False),
    Psi(
        5,
        Side(3, "a", None, False, (Key("x", "int"),), ()),
        Side(4, "b", 9, False, (Key("x", "int"),), ()),
        right_unique=True,
    ),
)
NODES = ("a", "b")
PERMITS = (
    Permit("1.input", "size", NODES),
    Permit("2.release", "answer", NODES, OPENED),
    Permit("5.psi/left", "size", NODES),
    Permit("5.psi", "size", NODES),
    Permit("5.psi", "matches", ("a",)),
    Permit("5.psi", "matches", ("b",)),
)
"""What these operators need."""


def test_permits_are_understood_as_they_are_written() -> None:
    assert {type(each) for each in records(PERMITS)} >= {Permit, Named}
    operators = json.dumps([each.json() for each in OPENING])
    needed = _native.permits("two", operators, nodes=list(NODES))
    assert json.loads(needed) == [each.json() for each in PERMITS]
    bounded = [replace(each, rows=9) for each in PERMITS]
    for listed in (PERMITS, bounded):
        _native.Session.in_memory(list(NODES), json.dumps([each.json() for each in listed]), operators, engine="two")


@pytest.mark.parametrize("kind", [kind for kind in get_args(DisclosureKind) if kind != "bound"])
def test_kinds_of_disclosures_have_one_name(kind: DisclosureKind) -> None:
    given = json.dumps([Permit("2.release", kind, NODES, OPENED, 9).json()])
    _native.Session.in_memory(list(NODES), given, "[]", engine="two")


def test_members_that_a_permit_lacks_are_refused() -> None:
    given = json.dumps([PERMITS[0].json() | {"order": 3}])
    with pytest.raises(_native.InputError, match="unknown field `order`"):
        _native.Session.in_memory(list(NODES), given, "[]", engine="two")
