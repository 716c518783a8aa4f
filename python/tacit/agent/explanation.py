"""The tables of a federation, and costs, as Python shows them: lines in a console, a page in a notebook."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.plan import StepCost
from tacit.plan.account.arrays_text import elements_text, shape_text
from tacit.plan.account.notebook import Explanation as Explanation
from tacit.plan.account.notebook import facts_html, listing_html
from tacit.plan.account.quantities import duration, size
from tacit.plan.algebra.types import Field, sql_name
from tacit.plan.facts.catalog import Catalog
from tacit.plan.physical.cost import power_of_two


class PredictedCost(StepCost):
    """The cost of a whole run as it is predicted, which a notebook shows as a table."""

    def _repr_html_(self) -> str:
        return facts_html("predicted cost", cost_facts(self))


def cost_facts(cost: StepCost) -> dict[str, str]:
    """A cost in words."""
    found = {"time": duration(cost.seconds), "rounds": f"{cost.rounds:,}", "sent by all parties": size(cost.bytes)}
    if cost.rounds_ahead:
        found["rounds ahead"] = f"{cost.rounds_ahead:,}"
    if cost.failure:
        found["wrong result"] = f"with a probability of at most {power_of_two(cost.failure)}"
    return found


def tables_text(catalog: Catalog, file: str) -> str:
    """Who computes, and a line for each table. file: the federation file."""
    lines = [f"  {table}, {of}, {rows}: {columns}" for table, of, rows, columns in _tables(catalog)]
    return "\n".join([_federation(catalog, file), *lines])


def tables_html(catalog: Catalog, file: str) -> str:
    """The same as a table."""
    return listing_html(_federation(catalog, file), ("table", "of", "rows", "columns"), _tables(catalog))


def _federation(catalog: Catalog, file: str) -> str:
    return f"{file}: {', '.join(catalog.nodes)} compute (engine {catalog.engine})"


def _tables(catalog: Catalog) -> Iterator[tuple[str, str, str, str]]:
    """Name, owner, number of rows and columns of each table."""
    for table in catalog.tables:
        rows = "rows announced" if table.bound is None else f"at most {table.bound:,} rows"
        yield table.name, table.owner, rows, _columns([column.field for column in table.columns])
    for array in catalog.arrays:
        yield array.name, array.owner, shape_text(array), elements_text(array)
    for kept in catalog.kept:
        if kept.declared is None:  # a delivery is the owner's table again
            yield kept.name, "kept by the nodes", f"{kept.rows:,} rows", _columns([each.field for each in kept.columns])


def _columns(fields: list[Field]) -> str:
    return ", ".join(f"{field.name} {sql_name(field.type)}" for field in fields)
