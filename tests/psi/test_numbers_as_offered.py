"""Matches of tables of offers have the numbers that DuckDB has of their typed values, with guards and without."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest

import tacit.psi
from tacit.agent.faults import RunError
from tacit.psi.report import Report

from .pairs import Ended
from .ruled import HIDDEN, JOINED, MATCHED, PEOPLE, SEEN, Ruled

KEYS = {
    "n": ("BIGINT", 'type = "BIGINT", min = 0, max = 1000', "lpad(n::VARCHAR, 4, '0')", "'+' || n"),
    "x": ("DECIMAL(9,2)", 'type = "DOUBLE", scale = 2, min = 0, max = 1000', "(x + 0.001)::VARCHAR", "x || '1'"),
    "d": ("DATE", 'type = "DATE", min = 1970-01-01, max = 2030-01-01', "d::VARCHAR", "strftime(d, '%d.%m.%Y')"),
    "b": ("BOOLEAN", 'type = "BOOLEAN"', "b::VARCHAR", "upper(b::VARCHAR)"),
    "t": ("VARCHAR", 'type = "VARCHAR", max_length = 9', "t", "t"),
    "m": ("TIMESTAMP", "", "", ""),
}
"""Of each key: its type in SQL, what its offers say, and how the two parties write it."""

NORTH = "i AS n, (i % 7) + 0.25 AS x, DATE '2024-01-01' + (i % 50)::INTEGER AS d, i > 30 AS b, '0' || i AS t"
SOUTH = (
    "3 * i AS n, (i % 5) + 0.25 AS x, DATE '2024-02-01' + (i % 50)::INTEGER AS d, i % 2 = 0 AS b, i::VARCHAR AS t, "
    "'2024-02-01'::TIMESTAMP + to_hours((12 * i)::INTEGER) AS m"
)


def typed(database: duckdb.DuckDBPyConnection, party: str, rows: str) -> None:
    """The values of a party, of which every ninth row is NULL throughout."""
    listed = [name for name in KEYS if name != "m" or party == "south"]
    columns = ", ".join(f"CASE WHEN i % 9 > 0 THEN {each}::{KEYS[each][0]} END AS {each}" for each in listed)
    database.execute(f"CREATE TABLE {party} AS SELECT {columns} FROM (SELECT i, {rows} FROM range(1, 61) t(i))")


@pytest.fixture(scope="module")
def open_tables(tmp_path_factory: pytest.TempPathFactory) -> tuple[Ruled, duckdb.DuckDBPyConnection]:
    """North writes a CSV file in the usual form, south one with semicolons and decimal commas; both show all."""
    ruled = Ruled.make(tmp_path_factory.mktemp("typed"))
    ruled.fill()
    database = duckdb.connect()
    for party, table, rows, written in (("north", "lefts", NORTH, 2), ("south", "rights", SOUTH, 3)):
        typed(database, party, rows)
        keys = {name: said for name, said in KEYS.items() if name != "m"}
        columns = [f"columns.{name} = {{ {said[1]}, nullable = true }}" for name, said in keys.items()]
        texts = [f"{said[written]} AS {name}" for name, said in keys.items()]
        form, private = "", ""
        if party == "south":
            columns.append('columns.m = { type = "TIMESTAMP", min = 2024-01-01, max = 2030-01-01, nullable = true }')
            texts = [*(each.replace("x || '1' AS x", "replace(x || '1', '.', ',') AS x") for each in texts), "m"]
            form = ", DELIMITER ';', NULLSTR 'NA'"
            private = 'csv = { delimiter = ";", decimal = ",", date_format = "%d.%m.%Y", null = ["NA"] }\n'
        listed = "\n".join(columns)
        ruled.offer(party, f"[tables.{table}]\nopen = true\nrows = 60\n{listed}\n")
        path = ruled.folder / f"{table}.csv"
        database.execute(f"COPY (SELECT {', '.join(texts)} FROM {party}) TO '{path}' (HEADER{form})")
        network = "[network]\nconnect_timeout = 20\n"
        (ruled.folder / "private" / f"{party}.toml").write_text(
            f'{network}[tables.{table}]\npath = "../{table}.csv"\n{private}'
        )
    ruled.offer("west", "")
    (ruled.folder / "private" / "west.toml").write_text("")
    return ruled, database


def counted(ruled: Ruled, key: str) -> list[int | None]:
    """How many keys both parties say that they have in common."""

    def one(me: str, other: str) -> Report:
        return tacit.psi.aggregate(
            None, federation=ruled.folder / "federation.toml", me=me, other=other, key=key.split(","),
            tables=["lefts", "rights"],
        )  # fmt: skip

    with ThreadPoolExecutor(2) as threads:
        running = [threads.submit(one, *each) for each in (("north", "south"), ("south", "north"))]
        return [each.result(60).keys for each in running]


@pytest.mark.parametrize("key", ["n", "x", "d", "b", "t", "lefts.d=rights.m", "n,b", "x,b,lefts.d=rights.m"])
def test_keys_match_as_duckdb_compares_their_typed_values(
    open_tables: tuple[Ruled, duckdb.DuckDBPyConnection], key: str
) -> None:
    ruled, database = open_tables
    pairs = [each.replace("lefts.", "").replace("rights.", "").split("=") for each in key.split(",")]
    equal = " AND ".join(f"north.{each[0]} = south.{each[-1]}" for each in pairs)
    of_north = ", ".join(f"north.{each[0]}" for each in pairs)
    ((expected,),) = database.execute(
        f"SELECT count(*) FROM (SELECT DISTINCT {of_north} FROM north JOIN south ON {equal})"
    ).fetchall()
    assert counted(ruled, key) == [expected, expected]
    assert expected > 0 or key == "t", "07 and 7 are two texts"


def ends(ruled: Ruled, *options: str) -> list[Ended]:
    running = [
        ruled.start(me, "--with", other, "--tables", "customers,people", "--key", "ssn", *options, "--quiet")
        for me, other in (("north", "south"), ("south", "north"))
    ]
    told = [each.communicate(timeout=120)[0] for each in running]
    return [Ended(each.returncode, text) for each, text in zip(running, told, strict=True)]


def test_a_sum_is_the_same_with_and_without_guards(tmp_path: Path) -> None:
    """Of keys with zeros in front, and amounts of more decimals than their offer has, in a CSV file of another form."""
    found = []
    for name, table, ssn in (("match", MATCHED, SEEN), ("query", HIDDEN, JOINED)):
        (tmp_path / name).mkdir()
        ruled = Ruled.make(tmp_path / name, table, ssn)
        ruled.fill(60)
        offer = PEOPLE.replace('salary = {{ type = "INTEGER"', 'salary = {{ type = "DOUBLE", scale = 1')
        if name == "match":
            offer = offer.replace('use = ["aggregate"], least_group = 20', 'use = ["select"]')
        ruled.offer("south", offer.format(table=table, ssn=ssn))
        database = duckdb.connect()
        people = (
            "lpad(ssn::VARCHAR, 6, '0') AS ssn, (salary::DECIMAL(9,3) + 0.449)::VARCHAR.replace('.', ',') AS salary"
        )
        database.execute(
            f"COPY (SELECT * REPLACE ({people}) FROM '{ruled.folder}/people.parquet') TO '{ruled.folder}/people.csv' "
            "(HEADER, DELIMITER ';')"
        )
        private = ruled.folder / "private" / "south.toml"
        form = 'csv = { delimiter = ";", decimal = "," }\n'
        private.write_text(private.read_text().replace(".parquet", ".csv") + form)
        done = ends(ruled, "--reveal", "sum(south.salary)", "--to", "north")
        assert [each.status for each in done] == [0, 0], done
        found.append(done[0].told)
    ((total,),) = duckdb.execute("SELECT sum((100 * i + 0.449)::DECIMAL(9,1)) FROM range(1, 61) t(i)").fetchall()
    assert found == [f"matching keys: 60\nsum: {total}\n"] * 2


def test_how_a_file_is_written_stands_beside_where_it_is(matched: Ruled) -> None:
    done = ends(matched, "--csv", "delimiter=;", "--reveal", "cardinality", "--to", "north")
    said = "tacit: --tables names {}, whose file the private file of {} knows; write csv = {{ ... }} there, and leave"
    for each, names in zip(done, (("customers", "north"), ("people", "south")), strict=True):
        assert each.status == 2 and said.format(*names) in each.told, each
    hidden = matched.again(HIDDEN, JOINED)
    done = ends(hidden, "--csv", "delimiter=;", "--reveal", "cardinality", "--to", "north")
    assert [each.status for each in done] == [2, 2] and "leave out --csv" in done[0].told, done
    with pytest.raises(RunError, match="leave out --csv"):
        tacit.psi.intersect(
            None, federation=matched.folder / "federation.toml", me="south", key=["ssn"], other="north",
            tables=["customers", "people"], csv={"delimiter": ";"},
        )  # fmt: skip


def test_numbers_are_spelt_in_no_way(matched: Ruled) -> None:
    """Docs: what --normalise reads are texts. Before the offer counted, so were the keys of CSV files."""
    as_csv(matched, "south", "people", "ssn::VARCHAR")
    done = ends(matched, "--normalise", "ssn=name", "--output", "o.parquet")
    for each, table in zip(done, ("customers.parquet", "people.csv"), strict=True):
        assert each.status == 2 and each.told.rstrip().endswith(
            f"{table}, column ssn: it is number, and --normalise ssn=name spells texts alike; leave out --normalise at "
            "all parties."
        ), each


def as_csv(ruled: Ruled, party: str, table: str, written: str) -> None:
    """A party's table as a CSV file whose keys are written so."""
    duckdb.connect().execute(
        f"COPY (SELECT * REPLACE ({written} AS ssn) FROM '{ruled.folder}/{table}.parquet') "
        f"TO '{ruled.folder}/{table}.csv'"
    )
    private = ruled.folder / "private" / f"{party}.toml"
    private.write_text(private.read_text().replace(".parquet", ".csv"))


def psi(ruled: Ruled, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tacit", "psi", *options]
    return subprocess.run(command, cwd=ruled.folder, capture_output=True, text=True, timeout=60, check=False)


def test_rows_and_ids_match_by_the_types_of_offers_and_keep_their_texts(matched: Ruled) -> None:
    as_csv(matched, "north", "customers", "lpad(ssn::VARCHAR, 5, '0')")
    as_csv(matched, "south", "people", "ssn::VARCHAR || '.0'")
    both = ("--tables", "customers,people", "--key", "ssn")
    done = matched.match(*both, "--columns", "ssn")
    assert {each.status for each in done} == {0}, done
    assert matched.rows("SELECT min(ssn), max(ssn), count(*) FROM 'north-matched.parquet'") == [("00071", "00100", 30)]
    assert {each.status for each in matched.match(*both, "--columns", "ssn", "--reveal", "ids")} == {0}
    common = "'north-matched.parquet' n JOIN 'south-matched.parquet' s USING (universal_id)"
    assert matched.rows(f"SELECT count(*) FROM {common} WHERE n.ssn::INTEGER = s.ssn::DOUBLE") == [(30,)]


def asked(ruled: Ruled) -> list[Ended]:
    both = ("--tables", "customers,people", "--key", "ssn", "--prepared")
    running = [
        ruled.start("north", "--with", "south", *both, "north.published", "--output", "n.parquet"),
        ruled.start("south", "--with", "north", *both, "south.prepared"),
    ]
    told = [each.communicate(timeout=60)[0] for each in running]
    return [Ended(each.returncode, text) for each, text in zip(running, told, strict=True)]


def test_a_prepared_table_has_keys_as_they_are_offered(matched: Ruled) -> None:
    as_csv(matched, "south", "people", "lpad(ssn::VARCHAR, 5, '0')")
    prepared = psi(matched, "--as", "south", "--tables", "people", "--key", "ssn", "--prepare", "south.prepared")
    assert prepared.returncode == 0, prepared
    assert [each.status for each in asked(matched)] == [0, 0]
    assert matched.rows("SELECT COUNT(*) FROM 'n.parquet'") == [(30,)]
    offer = matched.folder / "offers" / "south.toml"
    offer.write_text(offer.read_text().replace('ssn = { type = "BIGINT"', 'ssn = { type = "DECIMAL(12,0)"'))
    answering = psi(matched, "explain", "--as", "south", "--with", "north", "--prepared", "south.prepared")
    assert answering.returncode == 2, answering
    assert "keys of people were prepared as BIGINT, and are offered as DECIMAL(12,0); prepare it anew." in (
        answering.stderr
    )


def test_texts_that_were_prepared_before_they_were_offered_as_numbers_are_prepared_anew(matched: Ruled) -> None:
    as_csv(matched, "south", "people", "ssn::VARCHAR")
    private, offer = matched.folder / "private" / "south.toml", matched.folder / "offers" / "south.toml"
    said, offered = private.read_text(), offer.read_text()
    private.write_text("")
    offer.unlink()
    prepared = psi(matched, "--as", "south", "--input", "people.csv", "--key", "ssn", "--prepare", "south.prepared")
    assert prepared.returncode == 0, prepared
    private.write_text(said)
    offer.write_text(offered)
    answering = psi(matched, "explain", "--as", "south", "--with", "north", "--prepared", "south.prepared")
    assert answering.returncode == 2, answering
    assert "keys of people were prepared as VARCHAR, and are offered as BIGINT; prepare it anew." in answering.stderr
