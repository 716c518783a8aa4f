"""Federations of three or two parties on this machine, from table sections and rows as text."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb

from tacit import _native
from tacit.agent.federation import Federation
from tacit.agent.keys import write_whole
from tacit.cli.demo.scenario import Offered, write_offers
from tacit.local.database import quoted
from tacit.plan.algebra.types import sql_name
from tacit.plan.facts.catalog import Column, Table

PARTIES = ("a", "b", "c")
MEMBERS = {"rep3": PARTIES, "two": PARTIES[:2]}
"""The parties of a federation, which are the nodes of its engine."""
DUCKDB = duckdb.connect(config={"enable_external_file_cache": False})
"""One instance, of which every use is a cursor: to open another takes 17 ms of a processor."""
NUMBERS = itertools.count()
"""Of the databases in it."""
CSV = "header = true, delim = ',', quote = '\"', escape = '\"', all_varchar = true, allow_quoted_nulls = false"


@dataclass(frozen=True)
class Declared:
    """A table: its section of the offer with owner and path, and its rows as CSV text, whatever the file's format."""

    section: str
    csv: str


def between_two(tables: Mapping[str, Declared]) -> dict[str, Declared]:
    """The same tables where there is no third party: what c owned, b does, and c reads nothing."""
    sections = {
        name: table.section.replace('owner = "c"', 'owner = "b"').replace('"b", "c"]', '"b"]')
        for name, table in tables.items()
    }
    return {name: Declared(sections[name], table.csv) for name, table in tables.items()}


def recipients_of_two(names: tuple[str, ...]) -> tuple[str, ...]:
    """The same recipients where there is no third party."""
    return tuple(dict.fromkeys("b" if name == "c" else name for name in names))


def make_keys(folder: Path, parties: tuple[str, ...] = PARTIES) -> Path:
    """A key pair for each party. Returns the folder."""
    for party in parties:
        private_key, certificate = _native.generate_keys(party)
        write_whole(folder / f"{party}.key", private_key, 0o600)
        (folder / f"{party}.crt").write_text(certificate)
    return folder


def store(
    tables: Mapping[str, Declared],
    folder: Path,
    keys: Path,
    ports: list[int] | None = None,
    engine: str = "rep3",
    clients: tuple[str, ...] = (),
    united: Mapping[str, tuple[str, ...]] | None = None,
) -> Federation:
    """Write the federation's files and all data files. tables: by name. keys: the folder of the parties' keys.

    clients: parties that are no nodes. united: names for the rows of several tables together.
    """
    path, parties = folder / "federation.toml", (*MEMBERS[engine], *clients)
    together = "".join(f"{name} = {list(names)}\n" for name, names in (united or {}).items())
    membership = _membership(keys, parties, ports or list(range(1, len(parties) + 1)), engine)
    path.write_text(membership + (f"[united]\n{together}" if together else ""))
    private = {party: f'private_key = "{keys / party}.key"' for party in parties}
    write_offers(folder, [_offered(name, table.section) for name, table in tables.items()], private)
    federation = Federation.load(path)
    for table in federation.catalog.tables:
        _store_rows(table, tables[table.name].csv)
    return federation


@contextmanager
def pooled(federation: Federation) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database with all owners' tables in clear, read from their files without tacit's help.

    It takes AVG by its word: one of DuckDB's optimizers replaces it by a quotient of DOUBLEs in some queries, which is
    less exact in the last bit. Without that one, another loses rows of a HAVING beside an average of no rows.
    """
    name = f"pool_{next(NUMBERS)}"
    with DUCKDB.cursor() as database:
        database.execute("SET disabled_optimizers = 'aggregate_function_rewriter,statistics_propagation'")
        database.execute(f"ATTACH ':memory:' AS {name}")
        database.execute(f"USE {name}")
        try:
            _fill(database, federation)
            yield database
        finally:
            database.execute("USE memory")
            database.execute(f"DETACH {name}")


def _fill(database: duckdb.DuckDBPyConnection, federation: Federation) -> None:
    for table in federation.catalog.tables:
        path = Path(str(table.path))
        rows = f"read_csv('{path}', {CSV})" if path.suffix == ".csv" else f"read_parquet('{path}')"
        database.execute(f"CREATE TABLE {quoted(table.name)} AS {_typed(table, rows)}")
    for united in federation.catalog.united:
        rows = " UNION ALL ".join(f"SELECT * FROM {quoted(name)}" for name in united.tables)
        database.execute(f"CREATE VIEW {quoted(united.name)} AS {rows}")


def _store_rows(table: Table, csv: str) -> None:
    path = Path(str(table.path))
    path.parent.mkdir(exist_ok=True)
    written = path.with_suffix(".csv")
    written.write_text(csv, encoding="utf-8")
    if path.suffix == ".parquet":
        rows = _columns(table, f"read_csv('{written}', {CSV})", _stored)
        with DUCKDB.cursor() as database:
            database.execute(f"COPY ({rows}) TO '{path}' (FORMAT parquet)")


def _typed(table: Table, rows: str) -> str:
    """A query for a table's rows with their declared types, rounded as DuckDB rounds."""
    return _columns(table, rows, lambda column: f"CAST({_stored(column)} AS {sql_name(column.field.type)})")


def _stored(column: Column) -> str:
    """A column in the type of a Parquet file."""
    stored = "DOUBLE" if column.rounded else sql_name(column.field.type)
    return f"CAST({quoted(column.field.name)} AS {stored})"


def _columns(table: Table, rows: str, read: Callable[[Column], str]) -> str:
    columns = ", ".join(f"{read(column)} AS {quoted(column.field.name)}" for column in table.columns)
    return f"SELECT {columns} FROM {rows}"


def _offered(name: str, section: str) -> Offered:
    """A table as its owner offers it: owner and path stand elsewhere, and a section without terms is opened."""
    (owner,), (path,) = (re.findall(rf'^{entry} = "(.*)"$', section, re.M) for entry in ("owner", "path"))
    declared = re.sub(r"^(\[tables\.\w+\]|owner = .*|path = .*)\n", "", section, flags=re.M)
    return Offered(name, owner, path, declared if "use = [" in declared else f"open = true\n{declared}")


def _membership(keys: Path, parties: tuple[str, ...], ports: list[int], engine: str) -> str:
    lines = [f'engine = "{engine}"', f"nodes = {list(MEMBERS[engine])}", 'recipients = ["a"]']
    for party, port in zip(parties, ports, strict=False):
        lines += [f"[parties.{party}]", f'address = "127.0.0.1:{port}"']
        lines += [f'certificate = "{keys / party}.crt"']
    return "\n".join(lines) + "\n"
