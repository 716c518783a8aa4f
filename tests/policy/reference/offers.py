"""Owners' offers as the rules read them, straight from their TOML."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EVERY_USE = frozenset({"join", "filter", "group", "aggregate", "select"})
FUNCTIONS = frozenset({"count", "sum", "avg", "stddev", "count_distinct", "min", "max", "quantile"})


@dataclass(frozen=True)
class Column:
    """A column. to: who may see it row by row. partners: with what it may be joined or compared.

    least, most, values, length: what its values are, None where nothing is declared.
    """

    type: str
    nullable: bool
    use: frozenset[str]
    functions: frozenset[str]
    least_group: int
    to: frozenset[str]
    partners: frozenset[str] | None
    cuts: tuple[Any, ...] | str | None
    constants: frozenset[Any] | None
    least: Any = None
    most: Any = None
    values: tuple[Any, ...] | None = None
    length: int | None = None


@dataclass(frozen=True)
class Table:
    """A table with what its owner allows. open: everything, to everybody. unit: () for the row."""

    name: str
    owner: str
    columns: Mapping[str, Column]
    unique: tuple[frozenset[str], ...]
    open: bool
    recipients: frozenset[str]
    least_group: int
    unit: tuple[str, ...]
    drop: bool
    matches: frozenset[str]
    weights: frozenset[str]
    complement: bool

    def binds(self, recipient: str) -> bool:
        """Whether its rules stand between the table and a recipient."""
        return not self.open and self.owner != recipient

    def shows_rows(self, recipient: str) -> bool:
        """Whether some column may be seen row by row, so that the number of rows is no secret."""
        return any("select" in column.use and recipient in column.to for column in self.columns.values())


Offers = Mapping[str, Table]
"""All tables by their names."""


def read(texts: Mapping[str, str]) -> dict[str, Table]:
    """texts: each owner's offer."""
    entries = {owner: tomllib.loads(text).get("tables", {}) for owner, text in texts.items()}
    return {name: _table(name, owner, entry) for owner, tables in entries.items() for name, entry in tables.items()}


def texts_of(folder: Path) -> dict[str, str]:
    """Each owner's offer in the folder of a federation."""
    return {path.stem: path.read_text() for path in sorted((folder / "offers").glob("*.toml"))}


def _table(name: str, owner: str, entry: Mapping[str, Any]) -> Table:
    recipients = frozenset(entry.get("recipients", ()))
    unit = entry.get("unit", ())
    floor = entry.get("least_group", 1)
    is_open = entry.get("open", False)
    return Table(
        name,
        owner,
        {key: _column(value, is_open, floor, recipients) for key, value in entry["columns"].items()},
        tuple(map(frozenset, entry.get("unique", ()))),
        is_open,
        recipients,
        floor,
        (unit,) if isinstance(unit, str) else tuple(unit),
        entry.get("small", "fold") == "drop",
        frozenset(entry.get("matches", ())),
        frozenset(entry.get("weights", ())),
        entry.get("complement", False),
    )


def _column(entry: Any, is_open: bool, floor: int, recipients: frozenset[str]) -> Column:
    given: Mapping[str, Any] = {"type": entry} if isinstance(entry, str) else entry
    cuts, partners, constants, values = (given.get(key) for key in ("cuts", "with", "constants", "values"))
    return Column(
        given["type"],
        given.get("nullable", False),
        EVERY_USE if is_open else frozenset(given.get("use", ())),
        FUNCTIONS if is_open else frozenset(given.get("functions", ("count", "sum", "avg"))),
        max(floor, given.get("least_group", floor)),
        frozenset(given.get("to", recipients)),
        None if partners is None else frozenset(partners),
        tuple(cuts) if isinstance(cuts, list) else cuts,
        None if constants is None else frozenset(constants),
        given.get("min"),
        given.get("max"),
        None if values is None else tuple(values),
        given.get("max_length"),
    )
