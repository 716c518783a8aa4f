"""What each party of a plan learns, in sentences, also for those that learn nothing."""

from __future__ import annotations

from tacit.plan.account.sentences import reason, rule, what
from tacit.plan.algebra.relations import Relation
from tacit.plan.algebra.trees import scans
from tacit.plan.facts.catalog import DisclosureRule, KeptTable
from tacit.plan.facts.deliveries import approving, day
from tacit.plan.physical.disclosure import Disclosure
from tacit.plan.physical.placed import (
    DropStep,
    InputStep,
    KeepStep,
    KeptStep,
    LocalStep,
    PlacedPlan,
    PsiStep,
    Step,
)

NOTHING_MORE = "Nobody learns anything else: not more than the answer and the declared sizes."
NOTHING_BESIDES = "Nobody learns anything else: not more than this list and the declared sizes."
NOTHING_OPENED = "Nothing is opened to anybody."


def learnt(plan: PlacedPlan) -> tuple[str, ...]:
    """A sentence for each thing a party learns, and for each party that learns nothing; a closing one if all is so."""
    told = (party for each in plan.disclosures for party in each.recipients)
    parties = tuple(dict.fromkeys((*plan.nodes, *plan.recipients, *plan.clients, *told)))
    dropped = [f"Each node removes its own part of the kept table {step.table}." for step in _drops(plan)]
    if dropped:
        return tuple(dropped)
    sentences = [sentence for party in parties for sentence in _of_party(party, plan)]
    if all(each.kind == "answer" for each in plan.disclosures):
        sentences.append(NOTHING_MORE if plan.recipients else NOTHING_OPENED)
    else:
        sentences.append(NOTHING_BESIDES)
    return (*sentences, *_keeping(plan))


def _drops(plan: PlacedPlan) -> list[DropStep]:
    return [step for step in plan.steps if isinstance(step, DropStep)]


def _keeping(plan: PlacedPlan) -> list[str]:
    """Which kept tables a plan reads and makes, and whose data is in them."""
    tables = plan.catalog.kept if plan.catalog else ()
    read = [_delivered(each, plan) if each.declared else _read(each) for each in tables]
    made = [each for step in plan.steps if isinstance(step, KeepStep) for each in _kept_by(step, plan)]
    return read + made


def _read(table: KeptTable) -> str:
    return (
        f"The kept table {table.name} ({table.id[:8]}) is read: shares made of {' and '.join(table.tables)}, by plan "
        f"{table.plan_hash[:8]}."
    )


def _delivered(table: KeptTable, plan: PlacedPlan) -> str:
    """What is read in place of an owner's table."""
    (owner,), (name,) = table.owners, table.tables
    part = "gives nothing now" if owner in {*plan.nodes, *plan.clients, *plan.recipients} else "takes no part"
    return f"{name} is read as {owner} delivered it on {day(table)} (shares {table.id[:8]}): {owner} {part}."


def _kept_by(step: KeepStep, plan: PlacedPlan) -> tuple[str, str]:
    """What nodes keep, and who has to approve what is asked about it later; and what others may know of it."""
    owners, tables, declared = step.about.owners, step.about.tables, step.about.declared
    outside = approving(owners, declared, plan.nodes)
    without = f" and {owners[0]} need not" if declared is not None and owners[0] not in plan.nodes else ""
    return (
        f"{' and '.join(plan.nodes)} keep {', '.join(each.name for each in step.fields)} as shares under the name "
        f"{step.operator.table}, for later queries that all of {' and '.join(['them', *outside])} approve{without}: "
        f"{step.rows_bound} rows, made of {' and '.join(tables)}.",
        f"All parties may know the description of {step.operator.table}: when it was made and by which query, whose "
        "tables it is made of, its number of rows, and its columns with their types, keys and lineage.",
    )


def _of_party(party: str, plan: PlacedPlan) -> list[str]:
    mine = [each for each in plan.disclosures if party in each.recipients and not _own_size(each, party, plan)]
    if mine:
        return [
            f"{party} learns {what(each)} ({reason(each)}; {_allowed(each)}; step {each.site.name})." for each in mine
        ]
    if party in plan.recipients:
        return [f"{party} gets the answer from its own tables and learns nothing new."]
    sizes = declared_sizes(plan)
    return [f"{party} learns nothing but the declared sizes{f': {sizes}' if sizes else ''}."]


def _allowed(disclosure: Disclosure) -> str:
    """What allows a disclosure, in a clause."""
    if disclosure.rules == (DisclosureRule.QUERY,):
        return "each party allows it by starting this query"
    return f"allowed by: {rule(disclosure)}"


def declared_sizes(plan: PlacedPlan) -> str:
    """The public sizes that inputs are padded to."""
    found = []
    locals_ = {step.id: step for step in plan.steps if isinstance(step, LocalStep)}
    for step in plan.steps:
        if isinstance(step, KeptStep):
            found.append(f"{step.operator.table} was kept with {_count(step.operator.rows)}")
        if isinstance(step, InputStep) and step.operator.rows is not None:
            of = tables(locals_[step.local].relation)
            found.append(f"{step.operator.owner} puts {_count(step.operator.rows)} of {of} into secret shares")
        for side in step.sides if isinstance(step, PsiStep) else ():
            if side.rows is not None:
                found.append(f"{side.owner} matches {_count(side.rows)} of {tables(locals_[side.local].relation)}")
    return ", ".join(dict.fromkeys(found))


def _count(rows: int) -> str:
    return "1 row" if rows == 1 else f"{rows:,} rows"


def tables(relation: Relation) -> str:
    """The names of the tables beneath a relation."""
    return " and ".join(dict.fromkeys(scan.table for scan in scans(relation)))


def _own_size(disclosure: Disclosure, party: str, plan: PlacedPlan) -> bool:
    """Whether a disclosed size is the party's own, which it knows."""
    return disclosure.kind == "size" and any(disclosure.site.name in own_sizes(step, party) for step in plan.steps)


def own_sizes(step: Step, party: str) -> tuple[str, ...]:
    """The sites at which a step announces sizes of a party's own data."""
    match step:
        case InputStep() if step.operator.owner == party:
            return (f"{step.id}.input",)
        case PsiStep():
            sides = zip(("left", "right"), step.sides, strict=True)
            return tuple(f"{step.id}.{step.operator.op}/{name}" for name, side in sides if side.owner == party)
        case _:
            return ()
