"""The product as a subject: its verdict is what it compiles, its answer what its clear engine computes of the plan."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from tests.differential.federations import make_keys
from tests.differential.running import among_threads, in_clear

from tacit.agent.federation import Federation
from tacit.audit.check import judge, question
from tacit.audit.history import History
from tacit.audit.refusals import Refused
from tacit.plan import plan_hash
from tacit.plan.algebra.relations import Relation
from tacit.plan.physical.placed import PlacedPlan
from tacit.plan.policy.check import check
from tacit.plan.policy.guarded import notice
from tacit.sql import bind, compile_query

from .reference.evaluate import Data
from .reference.offers import Offers, read
from .subjects import Answer, Verdict

NOW = 1_000_000.0
"""Of all questions."""


class Product:
    """A federation whose owners make these offers. folder: for its files; every answer has a folder of its own.

    nodes: as many parties compute under MPC; by default everything is in clear.
    """

    def __init__(self, offers: Mapping[str, str], folder: Path, nodes: int = 0) -> None:
        self.offers, self.folder, self.nodes = offers, folder, nodes
        self.count = itertools.count()
        self.keys = folder / "keys"
        self.keys.mkdir()
        make_keys(self.keys, tuple(offers))
        self.federation = self.federation_of({name: [] for name in read(offers)})

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

    def shown(self, sql: str, to: tuple[str, ...], data: Data) -> object:
        """The first value of the answer; the rule where the question is refused, by the rules or an owner's agent."""
        rule = self.verdict(sql, to).rule or self.checked([sql], to, data).rule
        return rule or self.answer(sql, to, data).rows[0][0]

    def answer(self, sql: str, to: tuple[str, ...], data: Data) -> Answer:
        """What recipients get. Tables without rows in the data are empty."""
        federation = self.federation_of(data)
        plan = self._plan(federation, sql, to)
        run = among_threads if self.nodes else in_clear
        result = run(federation, plan, federation.path.parent)
        guards = check(bind(sql, federation.catalog), federation.catalog, to, date.today()).guards
        return Answer(tuple(result.names), tuple(result.rows), notice(guards))

    def checked(self, questions: Sequence[str], to: tuple[str, ...], data: Data) -> Verdict:
        """What owners' agents say of the last question, after they have counted the ones before it."""
        federation = self.federation_of(data)
        histories = dict.fromkeys(self.offers, History())
        *before, last = (bind(sql, federation.catalog) for sql in questions)
        for query in before:
            histories = _counted(query, to, federation, histories)
        try:
            _counted(last, to, federation, histories)
        except Refused as refusal:
            return Verdict(refusal.rule)
        return Verdict("")

    def hash(self, sql: str, to: tuple[str, ...], data: Data) -> str:
        """The hash of the plan that parties with this data approve."""
        return plan_hash(self._plan(self.federation_of(data), sql, to)).hex()

    def _plan(self, federation: Federation, sql: str, to: tuple[str, ...]) -> PlacedPlan:
        return compile_query(sql, federation.catalog, to)

    def federation_of(self, data: Data) -> Federation:
        """The files of a federation with this data."""
        folder = self.folder / str(next(self.count))
        for name in ("offers", "private"):
            (folder / name).mkdir(parents=True)
        (folder / "federation.toml").write_text(_membership(self.offers, self.keys, self.nodes or len(self.offers)))
        tables = read(self.offers)
        for owner, text in self.offers.items():
            (folder / "offers" / f"{owner}.toml").write_text(text)
            own = [name for name, table in tables.items() if table.owner == owner]
            sections = [f'[tables.{name}]\npath = "../{name}.csv"\n' for name in own]
            key = f'private_key = "{self.keys / owner}.key"\n'
            (folder / "private" / f"{owner}.toml").write_text("\n".join([key, *sections]))
        _write(folder, tables, data)
        return Federation.load(folder / "federation.toml")


class Agents:
    """Owners' agents with their histories. Their tables may change between questions."""

    def __init__(self, product: Product, to: tuple[str, ...]) -> None:
        self.offers, self.to = read(product.offers), to
        self.federation = product.federation_of({})
        self.histories: Mapping[str, History] = dict.fromkeys(product.offers, History())

    def refusal(self, sql: str, data: Data) -> Refused | None:
        """What they say of a question about this data. It counts as answered if they say nothing."""
        _write(self.federation.path.parent, self.offers, data)
        try:
            query = bind(sql, self.federation.catalog)
            self.histories = _counted(query, self.to, self.federation, self.histories)
        except Refused as refusal:
            return refusal
        return None


def _counted(
    query: Relation, to: tuple[str, ...], federation: Federation, histories: Mapping[str, History]
) -> dict[str, History]:
    """The owners' histories with a question in them. Raises Refused."""
    found = dict(histories)
    for owner in histories:
        asked = question(query, to, federation.catalog, owner, federation.privates[owner].forms)
        if asked is not None:
            found[owner] = judge(found[owner], asked, NOW)
    return found


def _membership(parties: Iterable[str], keys: Path, nodes: int) -> str:
    names = list(parties)
    engine = "two" if nodes == 2 else "rep3"
    lines = [f'engine = "{engine}"', f"nodes = {names[:nodes]}".replace("'", '"'), 'recipients = ["north"]']
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
