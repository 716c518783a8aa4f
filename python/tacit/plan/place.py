"""The way from a bound query to its placed plan: the passes in their order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import partial

from tacit.plan.account.disclosures import (
    count_disclosures,
    key_disclosures,
    match_disclosures,
    release_disclosure,
    size_disclosures,
    slicing_disclosures,
    told_disclosures,
)
from tacit.plan.algebra.refusals import UnsupportedSQL
from tacit.plan.algebra.relations import Relation
from tacit.plan.algebra.trees import kept_scans, owner, scans
from tacit.plan.algebra.types import Double
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import fields
from tacit.plan.facts.kinds import kind_of_field, opened_rep
from tacit.plan.facts.valid import valid_bound
from tacit.plan.physical.disclosure import Disclosure
from tacit.plan.physical.kept import about
from tacit.plan.physical.lower import Lowering
from tacit.plan.physical.operators import Keep, Release
from tacit.plan.physical.placed import KeepStep, PlacedPlan, ReleaseStep, Step, TailStep
from tacit.plan.physical.secure_expressions import SecureColumn
from tacit.plan.physical.tables import SharedTable
from tacit.plan.planning import Lowered, Planning
from tacit.plan.policy.behind_rows import without_consents
from tacit.plan.policy.check import check, check_kept
from tacit.plan.policy.results import results_read
from tacit.plan.policy.sizes import with_hidden_sizes
from tacit.plan.policy.told import is_told
from tacit.plan.rules.functions import with_functions
from tacit.plan.rules.null_tests import without_null_tests
from tacit.plan.rules.push_up import Split, opened_by
from tacit.plan.rules.quotients import with_quotients_above
from tacit.plan.rules.sequence import NORMAL, RULES, SECURE, Trace, applied, ignore
from tacit.plan.rules.stage import Stage
from tacit.plan.taking_part import check_engine, check_kept_owners, check_party, check_queries, check_recipients

LEFT_OUT = 1 << 15
"""It pays to leave out this number of rows: valid ones come to the front in a few rounds."""


@dataclass(frozen=True)
class KeptAs:
    """How a table is kept: its name, whether another one of that name gives way, whether it is exactly one row.

    declared: of a delivery, the hash of what is declared of the table.
    """

    name: str
    replace: bool
    single: bool
    declared: str | None = None


@dataclass(frozen=True)
class Beneath:
    """What the steps of a core disclose: sizes, keys of slices, matches, keys that a party orders, and counts."""

    sizes: tuple[Disclosure, ...]
    sliced: tuple[Disclosure, ...]
    matches: tuple[Disclosure, ...]
    seen: tuple[Disclosure, ...]
    counts: tuple[Disclosure, ...]

    @classmethod
    def of(cls, found: Lowered, catalog: Catalog) -> Beneath:
        """Of a stage's steps."""
        lowering = found.lowering
        matched = (match_disclosures(*each, catalog) for each in lowering.matches.items())
        return cls(
            size_disclosures(lowering.announced, catalog),
            tuple(each for keys in lowering.keys for each in slicing_disclosures(keys, catalog)),
            tuple(each for match_ in matched for each in match_),
            key_disclosures(lowering.emit.keys, catalog),
            count_disclosures(lowering.counts, catalog),
        )

    @property
    def counted(self) -> tuple[Disclosure, ...]:
        """Those from which a number of rows may follow."""
        return (*self.sizes, *self.matches, *self.counts)

    @property
    def all(self) -> tuple[Disclosure, ...]:
        """All of them, in the order of accounts."""
        return (*self.sizes, *self.sliced, *self.matches, *self.seen, *self.counts)


def place(
    relation: Relation,
    catalog: Catalog,
    recipients: tuple[str, ...],
    query: str,
    trace: Trace = ignore,
    today: date | None = None,
) -> PlacedPlan:
    """The placed plan that answers a bound query to the recipients. Raises QueryError where there is none.

    today: the day by which owners' offers are read, by default this one in UTC.
    """
    trace("query", Stage(relation))
    check_recipients(recipients, "query")
    catalog = with_hidden_sizes(_check(relation, catalog, recipients))
    catalog = without_consents(catalog, (each.array for each in results_read(relation, catalog)))
    allowed = check(relation, catalog, recipients, today or datetime.now(UTC).date())
    is_alone = len(recipients) == 1 and {owner(relation)} == set(recipients)
    relation = with_quotients_above(without_null_tests(allowed.relation), exact=not is_alone)
    relation = with_functions(relation, catalog)
    planning = Planning(catalog, recipients, query, partial(_release, recipients))
    if is_alone:
        alone = applied(NORMAL, Stage(relation), planning, trace).core
        tail = TailStep(1, recipients, alone, fields(relation))
        return PlacedPlan(query, catalog.engine, catalog.nodes, recipients, (tail,), (), catalog)
    stage = applied(RULES, Stage(relation), planning, trace)
    plan = _accounted(stage, planning, lambda found: _answer(stage, found, planning))
    return replace(plan, ruling=allowed.ruling)


def place_kept(relation: Relation, catalog: Catalog, kept: KeptAs, query: str, trace: Trace = ignore) -> PlacedPlan:
    """The placed plan by which the nodes keep a bound query's rows. Raises QueryError where there is none."""
    trace("query", Stage(relation))
    catalog = with_hidden_sizes(_check(relation, catalog, ()))
    check_kept(relation, catalog, delivers=kept.declared is not None)
    relation = with_functions(with_quotients_above(without_null_tests(relation)), catalog)
    for each in fields(relation):
        if isinstance(each.type, Double):
            instead = "keep SUM and COUNT, and divide in the query that reads the table"
            raise UnsupportedSQL("a DOUBLE in a kept table", instead).at(None, each.name)
    planning = Planning(catalog, (), query, partial(_keep, kept, is_told(relation, catalog)))
    # The nodes open nothing. What the description of the table tells follows from sizes.
    return _accounted(applied(SECURE, Stage(relation), planning, trace), planning, lambda found: ())


def _accounted(stage: Stage, planning: Planning, opened: Callable[[Lowered], tuple[Disclosure, ...]]) -> PlacedPlan:
    """The plan of a stage with all that it discloses. opened: what its last steps open."""
    found, catalog = planning.lowered(stage), planning.catalog
    beneath = Beneath.of(found, catalog)
    disclosed = opened(found)
    told = told_disclosures(found.last, beneath.counted, found.table.rows, catalog)
    return planning.plan(stage, (*beneath.all, *told, *disclosed))


def _answer(stage: Stage, found: Lowered, planning: Planning) -> tuple[Disclosure, ...]:
    """What the release shows."""
    split, release = _split_of(stage), found.last[0]
    assert isinstance(release, ReleaseStep), "an answer is released before its tail"
    return (release_disclosure(release, split.tail, split.beyond, stage.core, found.table, planning.catalog),)


def _split_of(stage: Stage) -> Split:
    assert stage.split is not None, "a query with an answer is split"
    return stage.split


def _release(
    recipients: tuple[str, ...], stage: Stage, table: SharedTable, lowering: Lowering
) -> tuple[tuple[Step, ...], SharedTable]:
    """The release, with columns under the names that the tail knows, and the recipients' tail."""
    split, core = _split_of(stage), stage.core
    table = shown_columns(core, table, lowering)
    names = tuple(each.name for each in fields(core))
    nullable = tuple(name for name in names if table.columns[name][0].kind.nullable)
    most = _fewer(table, core, lowering.catalog)
    release = Release(lowering.emit.next, table.step, recipients, names, nullable, split.ordered, most)
    table = replace(table, rows=table.rows.at_most(most))
    opened = opened_by(split.tail, release.id, fields(core))
    tail = TailStep(release.id + 1, recipients, opened, fields(split.tail))
    return (ReleaseStep(release, fields(core)), tail), table


def _fewer(table: SharedTable, core: Relation, catalog: Catalog) -> int | None:
    """How many rows can be valid, where it pays to leave others out."""
    most, rows = valid_bound(core, catalog), table.rows.known
    return None if most is None or rows is None or rows - most < LEFT_OUT else most


def _keep(
    kept: KeptAs, told: bool, stage: Stage, table: SharedTable, lowering: Lowering
) -> tuple[tuple[Step, ...], SharedTable]:
    """The step that keeps the table. told: as of an About."""
    core = stage.core
    table, step = shown_columns(core, table, lowering), lowering.emit.next
    operator = Keep(step, table.step, kept.name, tuple(each.name for each in fields(core)))
    facts = about(core, kept.single, kept.declared, told, lowering.catalog)
    return (KeepStep(operator, kept.replace, fields(core), facts, table.rows.text),), table


def shown_columns(core: Relation, table: SharedTable, lowering: Lowering) -> SharedTable:
    """The table with one physical column for each of the core's, under its name."""
    columns = {}
    for each in fields(core):
        source = table.column(each.name, opened_rep(each.type))
        kind = source.kind if opened_rep(each.type) == "any" else kind_of_field(each, "bytes", lowering.hashed)
        # A column that is in its representation already keeps its kind.
        columns[each.name] = (SecureColumn(each.name, source.kind if source.kind.rep == kind.rep else kind),)
    return lowering.emit.shaped(table, core, columns)


def _check(relation: Relation, catalog: Catalog, recipients: tuple[str, ...]) -> Catalog:
    """What the engine can serve at present. Returns the catalog with those kept tables that the query reads."""
    check_engine(catalog)
    check_queries(catalog)
    for party in dict.fromkeys([*recipients, *(scan.owner for scan in scans(relation))]):
        check_party(party, "recipient" if party in recipients else "owner", catalog)
    read = {scan.table for scan in kept_scans(relation)}
    kept = tuple(table for table in catalog.kept if table.name in read)
    check_kept_owners(kept, catalog)
    return replace(catalog, kept=kept, broken=())
