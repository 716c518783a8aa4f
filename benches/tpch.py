"""TPC-H over three owners: its tables at any scale, as files and offers, split by table or by ranges of keys.

The data come from tpchgen-cli, which draws the rows of the specification's own generator. Declared bounds are what the
specification says of the columns; numbers of rows are declared.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal as OneOf

import duckdb

PARTIES = ("a", "b", "c")
Split = OneOf["by table", "by range"]
SPLITS: tuple[Split, ...] = ("by table", "by range")

OWNERS = {
    "customer": "a", "orders": "a", "nation": "a", "lineitem": "b",
    "part": "c", "supplier": "c", "partsupp": "c", "region": "c",
}  # fmt: skip
"""Who has a table where tables are split by name, and nation and region always."""
NATIONS = """ALGERIA ARGENTINA BRAZIL CANADA EGYPT ETHIOPIA FRANCE GERMANY INDIA INDONESIA IRAN IRAQ JAPAN JORDAN KENYA
MOROCCO MOZAMBIQUE PERU CHINA ROMANIA SAUDI_ARABIA VIETNAM RUSSIA UNITED_KINGDOM UNITED_STATES"""
SYLLABLES = (
    ("STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"),
    ("ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"),
    ("TIN", "NICKEL", "BRASS", "STEEL", "COPPER"),
)
CONTAINERS = ("SM", "LG", "MED", "JUMBO", "WRAP"), ("CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM")


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.replace("_", " ") for word in text.split())


def _one_of(values: Iterable[str]) -> str:
    return 'type = "VARCHAR", values = [' + ", ".join(f'"{value}"' for value in values) + "]"


def _text(length: int) -> str:
    return f'type = "VARCHAR", max_length = {length}'


def _number(low: str, high: str) -> str:
    return f'type = "DECIMAL(15,2)", min = "{low}", max = "{high}"'


def _whole(low: int, high: int) -> str:
    return f'type = "INTEGER", min = {low}, max = {high}'


def _key(high: int) -> str:
    return f'type = "BIGINT", min = 0, max = {high}'


DAY = 'type = "DATE", min = 1992-01-01, max = 1998-12-31'
BALANCE = _number("-999.99", "9999.99")


@dataclass(frozen=True)
class TpchTable:
    """A table of the benchmark. unique: its primary key; its first column divides it into ranges.

    columns: the declaration of each in an offer.
    """

    name: str
    unique: tuple[str, ...]
    columns: dict[str, str]


def schema(scale: float) -> tuple[TpchTable, ...]:
    """All tables, with the bounds that keys have at a scale factor."""
    orders, customers, parts, suppliers = (round(scale * each) for each in (6_000_000, 150_000, 200_000, 10_000))
    types = (" ".join((a, b, c)) for a in SYLLABLES[0] for b in SYLLABLES[1] for c in SYLLABLES[2])
    return (
        TpchTable("region", ("r_regionkey",), {
            "r_regionkey": _whole(0, 4),
            "r_name": _one_of(_words("AFRICA AMERICA ASIA EUROPE MIDDLE_EAST")),
            "r_comment": _text(152),
        }),
        TpchTable("nation", ("n_nationkey",), {
            "n_nationkey": _whole(0, 24),
            "n_name": _one_of(_words(NATIONS)),
            "n_regionkey": _whole(0, 4),
            "n_comment": _text(152),
        }),
        TpchTable("supplier", ("s_suppkey",), {
            "s_suppkey": _key(suppliers), "s_name": _text(25), "s_address": _text(40), "s_nationkey": _whole(0, 24),
            "s_phone": _text(15), "s_acctbal": BALANCE, "s_comment": _text(101),
        }),
        TpchTable("customer", ("c_custkey",), {
            "c_custkey": _key(customers), "c_name": _text(25), "c_address": _text(40), "c_nationkey": _whole(0, 24),
            "c_phone": _text(15), "c_acctbal": BALANCE,
            "c_mktsegment": _one_of(_words("AUTOMOBILE BUILDING FURNITURE HOUSEHOLD MACHINERY")),
            "c_comment": _text(117),
        }),
        TpchTable("part", ("p_partkey",), {
            "p_partkey": _key(parts), "p_name": _text(55),
            "p_mfgr": _one_of(f"Manufacturer#{i}" for i in range(1, 6)),
            "p_brand": _one_of(f"Brand#{i}{j}" for i in range(1, 6) for j in range(1, 6)),
            "p_type": _one_of(types), "p_size": _whole(1, 50),
            "p_container": _one_of(f"{a} {b}" for a in CONTAINERS[0] for b in CONTAINERS[1]),
            "p_retailprice": _number("900", "2100"), "p_comment": _text(23),
        }),
        TpchTable("partsupp", ("ps_partkey", "ps_suppkey"), {
            "ps_partkey": _key(parts), "ps_suppkey": _key(suppliers), "ps_availqty": _whole(1, 9999),
            "ps_supplycost": _number("1", "1000"), "ps_comment": _text(199),
        }),
        TpchTable("orders", ("o_orderkey",), {
            "o_orderkey": _key(orders), "o_custkey": _key(customers), "o_orderstatus": _one_of("FOP"),
            "o_totalprice": _number("0", "1000000"), "o_orderdate": DAY,
            "o_orderpriority": _one_of(("1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW")),
            "o_clerk": _text(15), "o_shippriority": _whole(0, 0), "o_comment": _text(79),
        }),
        TpchTable("lineitem", ("l_orderkey", "l_linenumber"), {
            "l_orderkey": _key(orders), "l_partkey": _key(parts), "l_suppkey": _key(suppliers),
            "l_linenumber": _whole(1, 7), "l_quantity": _number("1", "50"),
            "l_extendedprice": _number("900", "105000"), "l_discount": _number("0", "0.10"),
            "l_tax": _number("0", "0.08"), "l_returnflag": _one_of("ANR"), "l_linestatus": _one_of("FO"),
            "l_shipdate": DAY, "l_commitdate": DAY, "l_receiptdate": DAY,
            "l_shipinstruct": _one_of(("COLLECT COD", "DELIVER IN PERSON", "NONE", "TAKE BACK RETURN")),
            "l_shipmode": _one_of(("AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK")),
            "l_comment": _text(44),
        }),
    )  # fmt: skip


def generate(scale: float, folder: Path) -> None:
    """Write each table as NAME.parquet. Of few suppliers the generator repeats some for a part: each stays once."""
    generator = Path(sys.executable).with_name("tpchgen-cli")
    subprocess.run(
        [generator, "parquet", "--scale-factor", str(scale), "--output-dir", folder], check=True, capture_output=True
    )
    with duckdb.connect() as database:
        path = folder / "partsupp.parquet"
        once = f"SELECT DISTINCT ON (ps_partkey, ps_suppkey) * FROM read_parquet('{path}') ORDER BY ALL"
        database.execute(f"CREATE TABLE once AS {once}")
        database.execute(f"COPY once TO '{path}' (FORMAT parquet)")


def write_federation(scale: float, split: Split, data: Path, folder: Path, membership: str) -> None:
    """Offers, private files and the owners' files of a federation. data: what ``generate`` has written.

    membership: the top of the federation file with its parties, a, b and c.
    """
    united: list[str] = []
    offers: dict[str, list[str]] = {party: [] for party in PARTIES}
    for table in schema(scale):
        parts = _parts(table, split)
        for name, owner, (low, high) in parts:
            source = (
                f"FROM read_parquet('{data / table.name}.parquet') WHERE {table.unique[0]} BETWEEN {low} AND {high}"
            )
            path = folder / "data" / owner / f"{name}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            duckdb.execute(f"COPY (SELECT {_typed(table)} {source}) TO '{path}' (FORMAT parquet)").fetchall()
            ((count,),) = duckdb.execute(f"SELECT COUNT(*) {source}").fetchall()
            offers[owner] += _section(name, table, count, low, high)
        if len(parts) > 1:
            united.append(f"{table.name} = {[name for name, _, _ in parts]}")
    for kind in ("offers", "private"):
        (folder / kind).mkdir(exist_ok=True)
    for owner, lines in offers.items():
        (folder / "offers" / f"{owner}.toml").write_text("\n".join(lines) + "\n")
        names = [line.removeprefix("[tables.").removesuffix("]") for line in lines if line.startswith("[tables.")]
        paths = [f'[tables.{name}]\npath = "../data/{owner}/{name}.parquet"' for name in names]
        with (folder / "private" / f"{owner}.toml").open("a") as private:
            private.write("\n".join(paths) + "\n")
    section = "\n".join(["[united]", *united]) if united else ""
    (folder / "federation.toml").write_text(f"{membership}\n{section}\n")


def _parts(table: TpchTable, split: Split) -> list[tuple[str, str, tuple[int, int]]]:
    """The pieces of a table: name, owner, and the bounds of its first key column."""
    declared = table.columns[table.unique[0]]
    high = int(declared.rpartition(" ")[2])
    if split == "by table" or table.name in ("nation", "region"):
        return [(table.name, OWNERS[table.name], (0, high))]
    cuts = [round(high * each / len(PARTIES)) for each in range(len(PARTIES) + 1)]
    bounds = [(cuts[at] + (at > 0), cuts[at + 1]) for at in range(len(PARTIES))]
    return [(f"{table.name}_{party}", party, bound) for party, bound in zip(PARTIES, bounds, strict=True)]


def _section(name: str, table: TpchTable, rows: int, low: int, high: int) -> list[str]:
    """A table's section of an offer."""
    unique = ", ".join(f'"{column}"' for column in table.unique)
    lines = [f"[tables.{name}]", "open = true", f"unique = [[{unique}]]", f"rows = {rows}"]
    for column, declaration in table.columns.items():
        if column == table.unique[0]:
            declaration = f"{declaration.partition(',')[0]}, min = {low}, max = {high}"
        lines.append(f"columns.{column} = {{ {declaration} }}")
    return lines


def _typed(table: TpchTable) -> str:
    """A table's columns in their declared types."""
    types = {column: declaration.split('"')[1] for column, declaration in table.columns.items()}
    return ", ".join(f"CAST({column} AS {type_}) AS {column}" for column, type_ in types.items())
