"""United tables: names in the membership for the rows of several owners' tables together (docs/federation.md)."""

from __future__ import annotations

from tacit.agent.federation_section import FederationError, Section
from tacit.plan.algebra.types import Field, Varchar, sql_name
from tacit.plan.facts.catalog import Table, UnitedTable


def read_united(root: Section, tables: tuple[Table, ...]) -> tuple[UnitedTable, ...]:
    """The section ``[united]`` of a federation file. Raises FederationError with the first mistake."""
    section = root.section("united")
    section.check_names("united tables")
    return tuple(_united(section, name, listed, tables) for name, listed in section.items())


def _united(section: Section, name: str, listed: object, tables: tuple[Table, ...]) -> UnitedTable:
    parts = section.name_list(name, listed)
    offered = {table.name: table for table in tables}
    section.all_known(name, parts, offered, "owner's table")
    same = next((table for table in tables if table.name.lower() == name.lower()), None)
    if same is not None:
        problem = f"{name!r} is a name of {same.owner}'s table too"
        raise section.error(problem, "rename one, because SQL takes them for the same name")
    if len(parts) < 2:
        raise section.error(f"{name} names {len(parts)} table", "name at least two tables, or query the one itself")
    first, *others = (offered[part] for part in parts)
    for other in others:
        _check_same(section, name, first, other)
    return UnitedTable(name, parts)


def _check_same(section: Section, name: str, first: Table, other: Table) -> None:
    """Refuse tables whose columns differ in more than bounds."""
    columns = [{column.field.name: column.field for column in table.columns} for table in (first, other)]
    if list(columns[0]) != list(columns[1]):
        raise _differ(section, name, first, other, "name or order of columns")
    for mine, its in zip(columns[0].values(), columns[1].values(), strict=True):
        if _kind(mine) != _kind(its):
            raise _differ(section, name, first, other, f"the type of {mine.name}")


def _differ(section: Section, name: str, first: Table, other: Table, what: str) -> FederationError:
    problem = f"{name} unites {first.name} of {first.owner} and {other.name} of {other.owner}, which differ in {what}"
    return section.error(problem, "their owners declare the same columns, where only bounds may differ")


def _kind(field: Field) -> object:
    """What has to be the same: the SQL type, and the strings of a column that lists them."""
    return sql_name(field.type), field.type.values if isinstance(field.type, Varchar) else None
