"""An owner's own check of a question against its history: kept answers, numbers of questions, differences."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256

from tacit.audit import texts
from tacit.audit.atoms import Atom
from tacit.audit.history import Answer, History
from tacit.audit.linear import isolates
from tacit.audit.own_data import OwnData, Version
from tacit.audit.pieces import Columns
from tacit.audit.record import Record
from tacit.audit.refusals import foretold, too_near, unclear, used_up
from tacit.audit.sets import RowSet, Selection, row_sets
from tacit.audit.tracked import Unclear, instances
from tacit.audit.tracking import Tracker
from tacit.audit.wording import regions
from tacit.local.csv_form import CsvForm
from tacit.plan.account.serialise import canonical
from tacit.plan.algebra.relations import Relation
from tacit.plan.algebra.trees import kept_scans, scans
from tacit.plan.facts.catalog import Catalog, Table
from tacit.plan.facts.terms import Terms, selecting
from tacit.plan.policy.guarded import adds_up
from tacit.plan.policy.question import question_hash
from tacit.plan.policy.results import computed_tables

DAY = 86_400.0


@dataclass(frozen=True)
class Asked:
    """What a question reads of one table. sets: of the rows that enter what may be shown. columns: of hashed values."""

    table: Table
    terms: Terms
    columns: tuple[str, ...]
    sets: tuple[RowSet, ...]
    versions: Mapping[int, Version]


@dataclass(frozen=True)
class Worded:
    """What a question's words select of a table of which no data are looked at: regions, as JSON."""

    table: Table
    terms: Terms
    regions: tuple[str, ...]


@dataclass(frozen=True)
class Question:
    """A question as its owner sees it. hash: which question. inputs: a hash of the own tables that it reads.

    repeats: the same inputs give the same answer. Not if others' data enter it, or if no data are looked at.
    """

    hash: str
    inputs: str
    repeats: bool
    asked: tuple[Asked | Worded, ...]


def checked_tables(query: Relation, recipients: Iterable[str], catalog: Catalog, me: str) -> list[Table]:
    """The tables of a query whose owner checks what is asked of them. None where the owner alone gets the answer."""
    if set(recipients) <= {me}:
        return []
    read = {scan.table for scan in scans(query)} | {name for kept in _kept(query, catalog) for name in kept}
    own = (each for each in catalog.tables if each.owner == me and each.name in read)
    return [each for each in own if each.terms is not None and each.terms.differences != "off"]


def question(
    query: Relation, recipients: tuple[str, ...], catalog: Catalog, me: str, forms: Mapping[str, CsvForm]
) -> Question | None:
    """What a query asks of this owner's tables; None if none of them is checked. Raises Refused and DataError."""
    tables = checked_tables(query, recipients, catalog, me)
    if not tables:
        return None
    mine = {each.name for each in catalog.tables if each.owner == me}
    if any(mine.intersection(kept) for kept in _kept(query, catalog)):
        raise unclear(tables[0], "a kept table")
    hash, others = question_hash(query, catalog, recipients), frozenset(recipients) - {me}
    worded = [_worded(query, others, table, me) for table in tables if _is_worded(table)]
    if len(worded) == len(tables):
        return Question(hash, "", False, tuple(worded))
    own = [each for each in catalog.tables if any(each.name == scan.table for _, scan in instances(query, me))]
    with OwnData(own, forms) as data:
        asked = [_asked(query, catalog, others, table, me, data) for table in tables if not _is_worded(table)]
        inputs = sha256(canonical([[table.name, data.digest(table)] for table in own]).encode()).hexdigest()
    alone = not kept_scans(query) and all(scan.owner == me for scan in scans(query))
    return Question(hash, inputs, alone and not worded, (*worded, *asked))


def judge(history: History, asked: Question, now: float) -> History:
    """The history with this question in it; the same history if its answer is known already. Raises Refused."""
    begins = {each.table.name: now - each.terms.period * DAY for each in asked.asked}
    if asked.repeats and _answered(history, asked, max(begins.values())):
        return history
    records, said = dict(history.records), dict(history.texts)
    for each in asked.asked:
        name, begin = each.table.name, begins[each.table.name]
        if sum(name in a.tables and a.asked >= begin for a in history.answers) >= each.terms.questions:
            raise used_up(each.table, "questions")
        if sum(table == name and at >= begin for table, at in history.refusals) >= each.terms.refusals:
            raise used_up(each.table, "refusals")
    for each in asked.asked:
        begin = begins[each.table.name]
        if isinstance(each, Worded):
            said[each.table.name] = _with_words(said.get(each.table.name, ()), each, begin, now)
        else:
            known = records.get(_named(each.table), Record(each.columns))
            records[_named(each.table)] = _with(known, each, begin, now)
    answer = Answer(secrets.token_hex(8), asked.hash, asked.inputs, tuple(begins), now)
    return replace(history, answers=(*history.answers, answer), records=records, texts=said)


def refused(history: History, table: str, now: float) -> History:
    """The history with a refusal in it."""
    return replace(history, refusals=(*history.refusals, (table, now)))


def _answered(history: History, asked: Question, begin: float) -> bool:
    """Whether the same question over the same tables has been answered. To ask it again tells nothing."""
    return any(a.question == asked.hash and a.inputs == asked.inputs and a.asked >= begin for a in history.answers)


def _with(known: Record, asked: Asked, begin: float, now: float) -> Record:
    """The record with this question's sets. Raises Refused if they are too near to each other, or to those of it.

    Where rows are named by their values, a row that is gone may be another now: nothing can be told of it.
    """
    before = known.with_columns(asked.columns).since(begin)
    here = {each.name for each in asked.versions.values()}
    if not asked.table.unique and any(each.name not in here for each in before.rows):
        raise too_near(asked.table)
    after = before.with_sets(asked.sets, asked.versions, now)
    if any(isolates(atoms, least) for atoms, least in _matrices(after, asked)):
        raise too_near(asked.table)
    return after


def _with_words(
    known: tuple[tuple[str, float], ...], asked: Worded, begin: float, now: float
) -> tuple[tuple[str, float], ...]:
    """The regions with this question's. Raises Refused if they are too near to each other, as far as words tell."""
    found = {said: at for said, at in known if at >= begin} | dict.fromkeys(asked.regions, now)
    if texts.too_near([json.loads(each) for each in found], asked.table.columns):
        raise foretold(asked.table)
    return tuple(found.items())


def _matrices(record: Record, asked: Asked) -> Iterator[tuple[list[Atom], int]]:
    """What must isolate nobody, each with its floor.

    All sets as if values never changed. Those that a column with a higher floor entered. The sums of each column of
    which values have changed, where a changed row is another one.
    """
    least = asked.terms.least_group
    if least is None:
        return
    higher = {each.field.name: max(least, each.terms.least_group or 0) for each in asked.table.columns}
    yield record.atoms(), least
    for column, floor in higher.items():
        if floor > least:
            yield record.atoms_using(column), floor
        if column in record.columns and (changed := record.atoms_measuring(column)) is not None:
            yield changed, floor


def _is_worded(table: Table) -> bool:
    return table.terms is not None and table.terms.differences == "text"


def _worded(query: Relation, recipients: frozenset[str], table: Table, me: str) -> Worded:
    """What a query's words select of a table. Raises Refused if they do not say it."""
    assert table.terms is not None
    found = dict[str, None]()
    for path, scan in instances(query, me):
        if scan.table == table.name and table.terms.least_group is not None:
            try:
                said = regions(query, path, me)
            except Unclear as reason:
                raise unclear(table, str(reason)) from None
            found |= {canonical(each): None for each, uses in said if not _is_open(uses, table, recipients)}
    return Worded(table, table.terms, tuple(found))


def _asked(
    query: Relation, catalog: Catalog, recipients: frozenset[str], table: Table, me: str, data: OwnData
) -> Asked:
    assert table.terms is not None
    columns = tuple(each.field.name for each in table.columns if each.terms.ways & {"aggregate", "select"})
    versions = data.versions(table, columns)
    sets = tuple(_sets(query, catalog, table, table.terms, me, data, versions))
    protected = (each for each in sets if not _is_open(each.uses, table, recipients))
    return Asked(table, table.terms, columns, tuple(protected), versions)


def _sets(
    query: Relation,
    catalog: Catalog,
    table: Table,
    terms: Terms,
    me: str,
    data: OwnData,
    versions: Mapping[int, Version],
) -> Iterator[RowSet]:
    """The sets of all instances of a table. Raises Refused if what one selects cannot be told."""
    units = {row: each.unit for row, each in versions.items()}
    for path, scan in instances(query, me):
        if scan.table == table.name and terms.least_group is not None:
            try:
                site = Tracker(table, me, catalog.tables).site(query, path)
            except Unclear as found:
                raise unclear(table, str(found)) from None
            if site is not None:
                selection = Selection.of(site)
                rows = selection.rows(data.rows(selection.relation, selection.fields))
                folds = terms.small == "fold" and not terms.complement
                apart = adds_up(site.aggregate, (scan, terms.unit), catalog)
                yield from row_sets(selection, rows, units, terms.least_group, folds, apart)


def _is_open(uses: Columns, table: Table, recipients: frozenset[str]) -> bool:
    """Whether these columns may be seen row by row by all recipients, so that a set of rows by them needs no floor."""
    assert table.terms is not None
    seen = {each.field.name: selecting(table.terms, each.terms) for each in table.columns}
    return bool(uses) and all(recipients <= seen[name] for name in uses)


def _kept(query: Relation, catalog: Catalog) -> list[tuple[str, ...]]:
    """Of each kept table that a query reads, the tables of which it was made, but for results of programs.

    Results are not compared with answers, whether they are revealed or kept: owners have allowed the program.
    """
    read = {scan.table for scan in kept_scans(query)}
    kept = (each for each in catalog.kept if each.name in read)
    return [tuple(name for name in each.tables if name not in computed_tables(each)) for each in kept]


def _named(table: Table) -> str:
    """A table and what names its rows and units: sets under other names cannot be compared."""
    unit = table.terms.unit if table.terms else ()
    return canonical([table.name, sorted(unit), [sorted(each) for each in table.unique]])
