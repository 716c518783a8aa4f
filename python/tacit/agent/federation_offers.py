"""Owners' offers: the tables and arrays of each, with types and the public bounds that everybody may rely on.

An offer is one file, ``offers/NAME.toml``, which its owner alone writes. All parties hold the same ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tacit.agent.federation_arrays import read_array
from tacit.agent.federation_column_terms import COLUMN_ENTRIES, read_column_terms
from tacit.agent.federation_section import FederationError, Section, read_section
from tacit.agent.federation_terms import check_floor, check_references, is_opened, read_terms
from tacit.agent.federation_types import is_rounded, read_type
from tacit.plan.algebra.types import Field, Varchar
from tacit.plan.facts.arrays import OfferedArray
from tacit.plan.facts.catalog import Column, Table
from tacit.plan.facts.terms import OPEN_COLUMN, Terms, open_terms, selecting

CONSENTS = ("filter", "groups", "matches", "sizes")


@dataclass(frozen=True)
class Offers:
    """What all parties offer, in the parties' order."""

    tables: tuple[Table, ...]
    arrays: tuple[OfferedArray, ...]


def read_offers(folder: Path, parties: tuple[str, ...]) -> Offers:
    """What all parties offer. Raises RunError with the first mistake."""
    offers = read_any_offers(folder, parties)
    if not offers.tables and not offers.arrays:
        raise FederationError(folder, "", "no party offers a table", "an owner writes [tables.NAME] in NAME.toml there")
    return offers


def read_any_offers(folder: Path, parties: tuple[str, ...]) -> Offers:
    """The same where parties need not offer anything: those that only match may not."""
    strangers = sorted(file for file in folder.glob("*.toml") if file.stem not in parties)
    for file in strangers:
        problem = f"there is no party {file.stem!r}"
        raise FederationError(file, "", problem, "add it to the federation file, or remove this file")
    tables: dict[str, Table] = {}
    arrays: list[OfferedArray] = []
    for owner in parties:
        offer = _read_offer(folder / f"{owner}.toml", owner, parties)
        arrays += offer.arrays
        for table in offer.tables:
            first = tables.setdefault(table.name.lower(), table)
            if first is not table:
                problem = f"{first.owner} offers a table {first.name!r} too"
                advice = "rename one, because SQL takes them for the same name"
                raise FederationError(folder / f"{owner}.toml", f"[tables.{table.name}]", problem, advice)
    check_references(tables.values(), lambda owner: folder / f"{owner}.toml")
    return Offers(tuple(tables.values()), tuple(arrays))


def _read_offer(path: Path, owner: str, parties: tuple[str, ...]) -> Offers:
    """What one owner offers; nothing without a file."""
    if not path.exists():
        return Offers((), ())
    root = read_section(path, "correct the permissions of the file")
    tables = tuple(_table(section, owner, parties) for section in root.sections("tables"))
    arrays = tuple(read_array(section, owner, parties) for section in root.sections("arrays"))
    root.close()
    return Offers(tables, arrays)


def _table(section: Section, owner: str, parties: tuple[str, ...]) -> Table:
    """A section ``[tables.NAME]``."""
    listed = section.section("columns")
    opened = is_opened(section, listed)
    terms = None if opened else read_terms(section, [name for name, _ in listed.items()], parties)
    columns = _columns(listed, owner, terms, parties)
    rows, most_rows = section.count("rows", least=0), section.count("most_rows", least=0)
    section.not_both("rows", "most_rows", "keep rows, which bounds the table and hides its number")
    table = Table(
        section.name,
        owner,
        columns,
        unique=_unique(section, columns),
        rows=rows,
        consents=_consents(section),
        most_rows=most_rows,
        delivered=section.flag("delivered", default=False),
        exact=section.flag("exact", default=False),
        terms=open_terms(parties) if terms is None else terms,
    )
    section.close()
    if table.exact and rows is None:
        raise section.error("has exact = true and no rows", "add rows = ..., the number of its rows")
    if not opened:
        check_floor(section, table)
    if table.delivered:
        _check_delivered(section, table)
    return table


def _check_delivered(section: Section, table: Table) -> None:
    """Refuse what a table that is delivered cannot have."""
    if table.consents:
        advice = "remove consents, because nothing of it is computed at its owner"
        raise section.error("is delivered and has consents", advice)
    for column in table.columns:
        if column.field.type == Varchar(None):
            problem = f"is delivered, and its column {column.field.name} is a VARCHAR without max_length"
            raise section.error(problem, "declare max_length or values, because nodes keep the bytes of strings")


def _unique(section: Section, columns: tuple[Column, ...]) -> tuple[frozenset[str], ...]:
    value = section.optional("unique")
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(each, list) and each for each in value):
        raise section.error(
            f"unique is {value!r}", 'write a list of lists of columns, for example [["id"], ["year", "nr"]]'
        )
    keys = [section.name_list("unique", each) for each in value]
    for key in keys:
        section.all_known("unique", key, (column.field.name for column in columns), "column of the table")
    return tuple(frozenset(key) for key in keys)


def _consents(section: Section) -> frozenset[str]:
    consents = section.names("consents", default=())
    section.all_known("consents", consents, CONSENTS, "consent")
    return frozenset(consents)


def _columns(section: Section, owner: str, terms: Terms | None, parties: tuple[str, ...]) -> tuple[Column, ...]:
    """All columns of a table. terms: those of the table; None if it is opened."""
    section.check_names("columns")
    columns = tuple(_column(section, name, entry, owner, terms, parties) for name, entry in section.items())
    if not columns:
        raise section.error("has no columns", 'add a line for each, for example id = "INTEGER"')
    return columns


def _column(
    section: Section, name: str, entry: object, owner: str, terms: Terms | None, parties: tuple[str, ...]
) -> Column:
    column = section.inline(name, {"type": entry} if isinstance(entry, str) else entry)
    field = Field(name, read_type(column), column.flag("nullable", default=False))
    found = _opened(column, field, parties) if terms is None else _with_terms(column, field, owner, terms, parties)
    column.close()
    return found


def _opened(column: Section, field: Field, parties: tuple[str, ...]) -> Column:
    """A column of a table that is opened: its owner may name who reads it besides answers."""
    for entry in COLUMN_ENTRIES:
        if column.has(entry):
            raise column.error(f"has {entry}, but its table has open = true", f"remove {entry}, or open")
    readers = column.names("readers", default=())
    column.all_known("readers", readers, parties, "party")
    return Column(field, frozenset(readers), OPEN_COLUMN, is_rounded(column), column.count("repeats", least=1))


def _with_terms(column: Section, field: Field, owner: str, table: Terms, parties: tuple[str, ...]) -> Column:
    terms = read_column_terms(column, field.type, table, parties)
    readers, repeats = selecting(table, terms) - {owner}, column.count("repeats", least=1)
    return Column(field, readers, terms, is_rounded(column), repeats)
