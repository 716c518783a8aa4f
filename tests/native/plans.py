"""Small placed plans, operator by operator, and two ways to run them: in clear, and shared among three threads."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pytest

from tacit import _native

NODES = ["a", "b", "c"]

JSON = dict[str, Any]
Rows = list[tuple[Any, ...]]


def bits(width: int, *, signed: bool = False, nullable: bool = False) -> JSON:
    """A kind of bit planes."""
    return {"repr": "bits", "width": width, "signed": signed, "nullable": nullable}


def ring64(width: int = 64, *, nullable: bool = False) -> JSON:
    """A kind of signed ring elements."""
    return {"repr": "ring64", "width": width, "signed": True, "nullable": nullable}


def ring128(width: int = 128, *, nullable: bool = False) -> JSON:
    """A kind of wide signed ring elements."""
    return {"repr": "ring128", "width": width, "signed": True, "nullable": nullable}


@dataclass
class Plan:
    """Operators in execution order, and the owners' data by step."""

    operators: list[JSON] = field(default_factory=list)
    data: dict[int, tuple[str, Any]] = field(default_factory=dict)
    pad_to: dict[int, int] = field(default_factory=dict)

    def add(self, op: str, **members: Any) -> int:
        """Append an operator; its step id."""
        step = len(self.operators) + 1
        self.operators.append({"id": step, "op": op, **members})
        return step

    def input(
        self,
        owner: str,
        data: Any,
        columns: dict[str, JSON],
        *,
        rows: int | None = None,
        encode: dict[str, str] | None = None,
        pad_to: int | None = None,
        ordered: bool = False,
    ) -> int:
        """An owner's table: any exporter of an Arrow stream. pad_to: announce this size instead of the true one.

        ordered: its rows may be opened in their order.
        """
        encodings = encode or {}
        listed = [
            {"name": name, "source": name, "encode": encodings.get(name, "int"), "kind": kind}
            for name, kind in columns.items()
        ]
        members: JSON = {} if pad_to is None else {"pad_to_source": True}
        members |= {"ordered": True} if ordered else {}
        step = self.add("input", owner=owner, columns=listed, rows=rows, **members)
        if pad_to is not None:
            self.pad_to[step] = pad_to
        self.data[step] = (owner, data)
        return step

    def release(self, step: int, columns: list[str], *, to: list[str] | None = None, ordered: bool = False) -> int:
        """Open a table, to the first node unless told otherwise."""
        return self.add("release", input=step, to=to or NODES[:1], columns=columns, ordered=ordered)

    def permits(self) -> list[JSON]:
        """What this plan discloses, with no bound on rows."""
        listed: list[JSON] = json.loads(_native.permits("rep3", json.dumps(self.operators), nodes=NODES))
        return listed

    def drive(self, session: _native.Session, *, everyone: bool = False) -> dict[int, _native.Opened]:
        """Execute all operators as one party (everyone: with all parties' data); what was opened, by step."""
        opened: dict[int, _native.Opened] = {}
        for operator in self.operators:
            step = operator["id"]
            match operator["op"]:
                case "input":
                    owner, data = self.data[step]
                    own = everyone or session.me == owner
                    session.input(step, data if own else None, pad_to=self.pad_to.get(step))
                case "release":
                    result = session.release(step)
                    if result is not None:
                        opened[step] = result
                case _:
                    session.run(step)
        session.close()
        return opened


def rows_of(opened: _native.Opened) -> Rows:
    """Opened rows as tuples."""
    table = pa.table(opened)
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True)) if table.num_columns else []


def run_in_clear(plan: Plan) -> dict[int, Rows]:
    """All steps on the reference engine."""
    opened = plan.drive(
        _native.Session.clear(NODES, json.dumps(plan.permits()), json.dumps(plan.operators)), everyone=True
    )
    return {step: rows_of(result) for step, result in opened.items()}


def run_in_memory(plan: Plan) -> dict[int, Rows]:
    """All steps on rep3, each node driven by its own thread; every recipient has to get the same rows."""
    sessions = _native.Session.in_memory(NODES, json.dumps(plan.permits()), json.dumps(plan.operators), engine="rep3")
    with ThreadPoolExecutor(len(NODES)) as threads:
        outcomes = list(threads.map(plan.drive, sessions))
    results: dict[int, Rows] = {}
    for node, outcome in zip(NODES, outcomes, strict=True):
        for operator in plan.operators:
            expected = operator["op"] == "release" and node in operator["to"]
            assert (operator["id"] in outcome) == expected
        for step, opened in outcome.items():
            assert results.setdefault(step, rows_of(opened)) == rows_of(opened)
    return results


ENGINES = pytest.mark.parametrize("run", [run_in_clear, run_in_memory], ids=["clear", "rep3"])
"""Each engine in turn, as argument ``run``."""

Run = Callable[[Plan], dict[int, Rows]]
