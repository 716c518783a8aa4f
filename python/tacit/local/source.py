"""An owner's table as its party's database sees it, whatever file it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tacit.local.errors import DataError
from tacit.local.stored import stamp
from tacit.plan.algebra.types import Field
from tacit.plan.facts.catalog import Table


@dataclass(frozen=True)
class Source:
    """A table that is open, with the columns that the plan uses.

    relation: the database's table or view with the columns in their declared types.
    raw: a FROM item with the same columns in the types of the file, from which statistics are cheapest.
    numbered: the same with the expression ``position``, which counts rows from 0 in the file's order.
    stamp: see ``tacit.local.stored.stamp``. may_have_nul: False if no string can contain a NUL character.
    """

    table: Table
    path: str
    fields: tuple[Field, ...]
    relation: str
    raw: str
    numbered: str
    position: str
    stamp: tuple[int, ...]
    may_have_nul: bool = True

    def verify_unchanged(self) -> None:
        """The file is still the one that was opened. Raises DataError."""
        if stamp(self.path) != self.stamp:
            raise DataError(self.path, "the file changed while it was read", "ask again once it is complete")


def data_path(table: Table) -> str:
    """The file of a table that this party owns. Raises DataError if it has none."""
    if table.path is None:
        raise DataError(f"table {table.name}", "it has no file", f"write its path in private/{table.owner}.toml")
    return table.path


def used_fields(table: Table, used: Iterable[str]) -> tuple[Field, ...]:
    """The declared columns that a plan uses, in their declared order."""
    wanted = frozenset(used)
    return tuple(column.field for column in table.columns if column.field.name in wanted)


def positions(path: str, wanted: Iterable[Field], present: Sequence[str]) -> dict[str, int]:
    """Where in the file each wanted column is; names are compared as SQL does, without case. Raises DataError.

    Columns of the file that nothing wants stay unread: an owner need not declare all it has.
    """
    found: dict[str, int] = {}
    for field in wanted:
        matches = [at for at, name in enumerate(present) if name.lower() == field.name.lower()]
        if not matches:
            advice = "add it, or correct its name in the offer"
            raise DataError(path, f"there is no column {field.name}, only {', '.join(present)}", advice)
        if len(matches) > 1:
            raise DataError(path, f"{len(matches)} columns are called {field.name}", "rename all but one")
        found[field.name] = matches[0]
    return found
