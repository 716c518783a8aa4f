"""What owners offer of that stands behind the rows of a query that a program reads.

Each column that a row's values, or which rows there are, derive from has to be open to the program, as if it read this
column itself. Of a kept table that is all that it was made of, whichever of its columns a query reads: the order of its
rows tells of the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tacit.plan.algebra.refusals import QueryError
from tacit.plan.facts.arrays import OfferedArray
from tacit.plan.facts.catalog import Catalog, KeptTable, Table
from tacit.plan.facts.sources import Source
from tacit.plan.facts.table_arrays import TableArray, offered_array, terms_of
from tacit.plan.policy.refusal import PolicyRefusal, Problem


@dataclass(frozen=True)
class Behind(TableArray):
    """Columns of a table that rows derive from; none where which rows it has is all. kept: by way of these tables."""

    kept: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What it is, in a noun."""
        of = f", of which the kept table {' and '.join(self.kept)} is made," if self.kept else ""
        return f"{super().title}{of}"


def behind(sources: Iterable[Source], kept: Sequence[KeptTable], catalog: Catalog) -> tuple[OfferedArray, ...]:
    """What owners offer of sources, in one order for all parties. kept: the kept tables by way of which.

    Raises QueryError where a kept table does not say what it is made of, PolicyRefusal where that is not offered.
    """
    found: dict[tuple[str, str], set[str]] = {}
    for each in sources:
        if each.owner is None:
            raise QueryError(
                f"the kept table {each.table} does not say what it is made of; DROP TABLE {each.table} and make it "
                "again, so that owners' rules of programs can be held."
            )
        found.setdefault((each.owner, each.table), set()).update([] if each.column is None else [each.column])
    return tuple(each for key, columns in sorted(found.items()) for each in _offered(*key, columns, kept, catalog))


def _offered(
    owner: str, name: str, columns: set[str], kept: Sequence[KeptTable], catalog: Catalog
) -> list[OfferedArray]:
    """What an owner offers under a name: columns of a table, and an array of which a program has made rows.

    Where both have one name, the rules of both hold: a source does not say which it is.
    """
    by_way = tuple(each.name for each in kept if name in each.tables)
    tables = [each for each in catalog.tables if (each.owner, each.name) == (owner, name)]
    found: list[OfferedArray] = [_of_table(each, tuple(sorted(columns)), by_way) for each in tables]
    array = offered_array(catalog, owner, name)
    found += [] if array is None else [array]
    if not found:
        problem = f"the kept table {' and '.join(by_way)} has data of {name}, which {owner} does not offer any more"
        raise PolicyRefusal((Problem("kept", owner, name, None, "program", problem, "nodes"),))
    return found


def _of_table(table: Table, names: tuple[str, ...], kept: tuple[str, ...]) -> Behind:
    columns = [each for each in table.columns if each.field.name in names]
    terms = terms_of(table, columns)
    if terms is not None and len(columns) < len(names):  # a column that is offered no more is closed
        terms = replace(terms, ways=frozenset())
    return Behind(
        f"{table.name}({','.join(names)})",
        table.owner,
        (),
        "bool",
        terms=terms,
        table=table.name,
        columns=names,
        kept=kept,
    )


def without_consents(catalog: Catalog, read: Iterable[OfferedArray]) -> Catalog:
    """The catalog without consents to sizes and matches of tables whose rules bind programs, and without readers of
    their columns, also in kept tables.

    A program that is allowed tells its recipients what it computes, and the nodes nothing.
    """
    bound = _bound(catalog, read)
    tables = (_untold(each) if each.name in bound else each for each in catalog.tables)
    kept = (each if bound.isdisjoint(each.tables) else _unread(each) for each in catalog.kept)
    return replace(catalog, tables=tuple(tables), kept=tuple(kept))


def _untold(table: Table) -> Table:
    columns = (replace(each, readers=frozenset()) for each in table.columns)
    return replace(table, columns=tuple(columns), consents=frozenset())


def _unread(kept: KeptTable) -> KeptTable:
    return replace(kept, columns=tuple(replace(each, readers=frozenset()) for each in kept.columns))


def check_sizes(catalog: Catalog, read: Iterable[OfferedArray]) -> None:
    """Refuse tables whose rules bind programs, and whose number of rows the nodes would be told."""
    bound = _bound(catalog, read)
    for table in catalog.tables:
        if table.name in bound and table.rows is None:
            problem = f"{table.name} declares no number of rows to pad to, so that all nodes would learn the exact one"
            raise PolicyRefusal((Problem("sizes", table.owner, table.name, None, "program", problem, "nodes"),))


def _bound(catalog: Catalog, read: Iterable[OfferedArray]) -> set[str]:
    """The tables of which not every party may be told whatever a program computes."""
    return {each.table for each in read if isinstance(each, Behind) and _binds(each, catalog)}


def _binds(behind: Behind, catalog: Catalog) -> bool:
    terms = behind.terms
    if terms is None:
        return False
    to_all = terms.recipients | {behind.owner} >= {*catalog.parties}
    return not (to_all and terms.programs is None and terms.until is None and "program" in terms.ways)
