"""Lowering of a resize: the rows of a step without padding, by a bound or by their number."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tacit.plan.algebra.relations import Relation
from tacit.plan.physical import operators as ops
from tacit.plan.physical.demands import Want
from tacit.plan.physical.disclosure import Site
from tacit.plan.physical.emitter import Emitter
from tacit.plan.physical.placed import PsiStep, SecureStep
from tacit.plan.physical.tables import Rows, SharedTable
from tacit.plan.rules.stage import Resized


@dataclass(frozen=True)
class ShownCount:
    """The number of valid rows that nodes see. step, op: of which step. most: no more than this."""

    site: Site
    relation: Relation
    step: int
    op: str
    most: int


def place_resize(
    resized: Resized, table: SharedTable, want: Want, emit: Emitter
) -> tuple[SharedTable, tuple[ShownCount, ...]]:
    """The step behind that of a relation, and what it shows. Columns that nothing uses any more do not move."""
    source = emit.steps[table.step - 1]
    assert isinstance(source, SecureStep | PsiStep), "rows that the nodes hold"
    table = emit.prepared(table, resized.relation, [], want)
    operator = ops.Resize(emit.next, table.step, resized.most)
    counted = Rows(None, f"rows({operator.id})", table.rows.most)
    rows = counted if resized.most is None else table.rows.at_most(resized.most)
    emit.steps.append(
        SecureStep(
            operator,
            rows.text,
            emit.readable(resized.relation, table.columns),
            None if resized.most is not None else resized.expected,
        )
    )
    site = Site(operator.id, operator.op)
    shown = ShownCount(site, resized.relation, source.id, source.operator.op, rows.most)
    return replace(table, step=operator.id, rows=rows), (shown,) if resized.most is None else ()
