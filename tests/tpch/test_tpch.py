"""All queries of TPC-H, as the specification writes them, over three owners' tables: equal to DuckDB's answers.

Small data in `make test`, ten times as much in the nightly suite. The tables are split by name, or by ranges of keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from benches.tpch import SPLITS, Split, generate, schema, write_federation
from tests.differential.federations import PARTIES, make_keys
from tests.differential.running import Engine, among_threads, in_clear, reference

from tacit.agent.federation import Federation
from tacit.sql import compile_query

QUERIES = sorted((Path(__file__).parent / "queries").glob("q*.sql"))
SMALL, LARGE = 0.001, 0.01
AMONG_NODES = ("q02", "q03", "q13", "q16", "q20", "q21", "q22")
"""Queries with every kind of join and subquery, which three nodes answer in `make test`, too."""


@pytest.fixture(scope="session")
def federations(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Federations]:
    yield Federations(tmp_path_factory.mktemp("tpch"))


class Federations:
    """Federations by scale and split, and the same tables in one database; each is made once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.keys = make_keys(_made(folder / "keys"))
        self.found: dict[tuple[float, Split], Federation] = {}
        self.pools: dict[float, duckdb.DuckDBPyConnection] = {}

    def split(self, scale: float, split: Split) -> Federation:
        """The federation of a scale factor, split one way."""
        if (scale, split) not in self.found:
            folder = _made(self.folder / f"{scale} {split}")
            (folder / "private").mkdir()
            for party in PARTIES:
                (folder / "private" / f"{party}.toml").write_text(f'private_key = "{self.keys / party}.key"\n')
            write_federation(scale, split, self._data(scale), folder, self._membership())
            self.found[scale, split] = Federation.load(folder / "federation.toml")
        return self.found[scale, split]

    def pooled(self, scale: float) -> duckdb.DuckDBPyConnection:
        """All tables in one database."""
        if scale not in self.pools:
            self.pools[scale] = duckdb.connect(config={"disabled_optimizers": "aggregate_function_rewriter"})
            for table in schema(scale):
                path = self._data(scale) / f"{table.name}.parquet"
                self.pools[scale].execute(f"CREATE VIEW {table.name} AS FROM read_parquet('{path}')")
        return self.pools[scale]

    def _data(self, scale: float) -> Path:
        folder = self.folder / f"{scale}"
        if not folder.exists():
            generate(scale, _made(folder))
        return folder

    def _membership(self) -> str:
        parties = [
            f'[parties.{name}]\naddress = "127.0.0.1:{at}"\ncertificate = "{self.keys / name}.crt"'
            for at, name in enumerate(PARTIES, 1)
        ]
        return "\n".join(['engine = "rep3"', f"nodes = {list(PARTIES)}", 'recipients = ["a"]', *parties])


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_small(path: Path, split: Split, federations: Federations, tmp_path: Path) -> None:
    check(path, SMALL, split, federations, in_clear, tmp_path)


@pytest.mark.parametrize("name", AMONG_NODES)
def test_small_among_three_nodes(name: str, federations: Federations, tmp_path: Path) -> None:
    check(QUERIES[int(name[1:]) - 1], SMALL, "by table", federations, among_threads, tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_large(path: Path, split: Split, federations: Federations, tmp_path: Path) -> None:
    check(path, LARGE, split, federations, in_clear, tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_large_among_three_nodes(path: Path, federations: Federations, tmp_path: Path) -> None:
    check(path, LARGE, "by table", federations, among_threads, tmp_path)


def check(path: Path, scale: float, split: Split, federations: Federations, engine: Engine, folder: Path) -> None:
    """A query's answer is DuckDB's."""
    query, federation = path.read_text(), federations.split(scale, split)
    found = engine(federation, compile_query(query, federation.catalog, ("a",)), folder)
    expected = reference(federations.pooled(scale), query)
    assert found.names == expected.names
    assert found.types == expected.types
    assert found.rows == expected.rows
