"""The product as a subject: its verdict is what it compiles, its answer what its clear engine computes of the plan."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.differential.federations import make_keys
from tests.differential.running import in_clear

from tacit.agent.federation import Federation
from tacit.plan.physical.placed import PlacedPlan
from tacit.sql import compile_query

from .reference.evaluate import Data
from .reference.offers import Offers, read
from .subjects import Answer, Verdict


class Product:
    """A federation whose owners make these offers. folder: for its files; every answer has a folder of its own."""

    def __init__(self, offers: Mapping[str, str], folder: Path) -> None:
        self.offers, self.folder = offers, folder
        self.count = itertools.count()
        self.keys = folder / "keys"
        self.keys.mkdir()
        make_keys(self.keys, tuple(offers))
        self.federation = self._federation({name: [] for name in read(offers)})

    def verdict(self, sql: str, to: tuple[str, ...]) -> Verdict:
        """A refusal by a rule says which. Every other error, as that of wrong SQL, is raised."""
        try:
            self._plan(self.federation, sql, to)
        except Exception as error:
            rule = getattr(error, "rule", None)
            if rule is None:
                raise
            return Verdict(str(rule))
        return Verdict("")

    def answer(self, sql: str, to: tuple[str, ...], data: Data) -> Answer:
        """What recipients get. Tables without rows in the data are empty."""
        federation = self._federation(data)
        plan = self._plan(federation, sql, to)
        result = in_clear(federation, plan, federation.path.parent)
        return Answer(tuple(result.names), tuple(result.rows))

    def _plan(self, federation: Federation, sql: str, to: tuple[str, ...]) -> PlacedPlan:
        return compile_query(sql, federation.catalog, to)

    def _federation(self, data: Data) -> Federation:
        """The files of a federation with this data."""
        folder = self.folder / str(next(self.count))
        for name in ("offers", "private"):
            (folder / name).mkdir(parents=True)
        (folder / "federation.toml").write_text(_membership(self.offers, self.keys))
        tables = read(self.offers)
        for owner, text in self.offers.items():
            (folder / "offers" / f"{owner}.toml").write_text(text)
            own = [name for name, table in tables.items() if table.owner == owner]
            sections = [f'[tables.{name}]\npath = "../{name}.csv"\n' for name in own]
            key = f'private_key = "{self.keys / owner}.key"\n'
            (folder / "private" / f"{owner}.toml").write_text("\n".join([key, *sections]))
        _write(folder, tables, data)
        return Federation.load(folder / "federation.toml")


def _membership(parties: Iterable[str], keys: Path) -> str:
    names = list(parties)
    lines = ['engine = "rep3"', f"nodes = {names}".replace("'", '"'), 'recipients = ["north"]']
    for at, name in enumerate(names):
        lines += [f"[parties.{name}]", f'address = "127.0.0.1:{7100 + at}"', f'certificate = "{keys / name}.crt"']
    return "\n".join(lines)


def _write(folder: Path, tables: Offers, data: Data) -> None:
    """Each table's file."""
    for name, table in tables.items():
        with (folder / f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(table.columns)
            writer.writerows([_cell(row.get(column)) for column in table.columns] for row in data.get(name, ()))


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
