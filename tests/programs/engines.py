"""Placed programs on the engines of the native module, in this process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

import numpy
import pyarrow as pa

from tacit import _native
from tacit.plan.facts.arrays import OfferedArray
from tacit.plan.facts.catalog import Catalog
from tacit.plan.physical.placed import (
    ArrayStep,
    GuardStep,
    InputStep,
    NativeStep,
    PlacedPlan,
    ReleaseStep,
    ResultStep,
)
from tacit.plan.place_program import place_program
from tacit.plan.programs.evaluation import Integers
from tacit.plan.programs.graph import Settings
from tacit.plan.programs.identity import Source, canonical

from .running import declaration, trace_of

Engine = Literal["clear", "rep3", "two", "four"]
PLANNED: dict[Engine, tuple[str, tuple[str, ...]]] = {
    "clear": ("rep3", ("a", "b", "c")),
    "rep3": ("rep3", ("a", "b", "c")),
    "two": ("two", ("a", "b")),
    "four": ("four", ("a", "b", "c", "d")),
}
"""The engine and nodes that a plan is made for. The engine clear runs any plan."""


def placed(
    function: Any, values: Mapping[str, Any], engine: Engine, asked: Settings, memory: int | None = None
) -> PlacedPlan:
    """The plan of a function of NumPy's arrays, each of which belongs to one of the nodes. memory: that of a node."""
    planned, nodes = PLANNED[engine]
    traced = trace_of(function, values, asked)
    owners = {name: nodes[place % len(nodes)] for place, name in enumerate(traced.inputs)}
    arrays = tuple(offered(name, owners[name], values[name]) for name in traced.inputs)
    sources = {name: Source(owners[name], name) for name in traced.inputs}
    text = canonical(traced.graph, traced.outputs, sources)
    return place_program(text, Catalog(nodes, planned, nodes, (), arrays=arrays, program_memory=memory), nodes[:1])


def offered(name: str, owner: str, value: Any) -> OfferedArray:
    """The tightest offer of an array."""
    said = declaration(value)
    low, high = (None if each is None else Fraction(each) for each in (said.min, said.max))
    return OfferedArray(name, owner, value.shape, value.dtype.name, low, high)


def run(plan: PlacedPlan, given: Mapping[str, Integers], engine: Engine) -> dict[str, Integers]:
    """The integers of the results. given: those of owners' arrays, by their names."""
    ends = outcomes(plan, given, engine)
    for each in ends:
        if isinstance(each, Exception):
            raise each
    assert not any(ends[1:]), "nobody else gets anything"
    assert isinstance(ends[0], dict)
    return _results(plan, ends[0])


def outcomes(
    plan: PlacedPlan, given: Mapping[str, Integers], engine: Engine
) -> list[dict[int, list[Any]] | _native.TacitError]:
    """What each node is told by releases, or how its run ends; of the engine clear that of all of them."""
    steps = [step for step in plan.steps if isinstance(step, NativeStep)]
    operators = json.dumps([step.operator.json() for step in steps])
    permits = json.dumps([permit.json() for permit in plan.permits])
    nodes = list(plan.nodes)

    def driven(session: _native.Session, me: str | None) -> dict[int, list[Any]] | _native.TacitError:
        try:
            return drive(session, plan, given, me)
        except _native.TacitError as error:
            return error

    if engine == "clear":
        return [driven(_native.Session.clear(nodes, permits, operators), None)]
    sessions = _native.Session.in_memory(nodes, permits, operators, engine=engine)
    with ThreadPoolExecutor(len(nodes)) as threads:
        return list(threads.map(lambda each: driven(each, each.me), sessions))


def drive(
    session: _native.Session, plan: PlacedPlan, given: Mapping[str, Integers], me: str | None
) -> dict[int, list[Any]]:
    """Run a plan's steps at one node. me: its name; None for all of them. Returns what is opened to it."""
    arrays = {step.id: step for step in plan.steps if isinstance(step, ArrayStep)}
    opened = {}
    for step in plan.steps:
        if isinstance(step, InputStep):
            own = me in (None, step.operator.owner)
            kind = step.operator.columns[0].kind.repr
            session.input(step.id, _table(_given(given, arrays[step.local]), kind) if own else None)
        elif isinstance(step, GuardStep):
            session.release(step.id)
        elif isinstance(step, ReleaseStep):
            found = session.release(step.id)
            if found is not None:
                opened[step.id] = pa.table(found).columns[0].to_pylist()
        elif isinstance(step, NativeStep):
            session.run(step.id)
    session.close()
    return opened


def _given(given: Mapping[str, Integers], step: ArrayStep) -> Integers:
    """What a step gives of its array."""
    integers = given[step.array]
    return integers if step.block is None else integers[slice(*step.block)]


def _table(integers: Integers, kind: str) -> pa.Table:
    flat = integers.reshape(-1).tolist()
    if kind == "bits":
        return pa.table({"value": pa.array(map(bool, flat), pa.bool_())})
    if kind == "ring64":
        return pa.table({"value": pa.array(flat, pa.int64())})
    return pa.table({"value": pa.array(map(Decimal, flat), pa.decimal128(38, 0))})


def _results(plan: PlacedPlan, opened: Mapping[int, list[Any]]) -> dict[str, Integers]:
    (step,) = (step for step in plan.steps if isinstance(step, ResultStep))
    return {
        each.name: numpy.array([int(value) for value in opened[each.release]], dtype=object).reshape(each.shape)
        for each in step.arrays
    }
