"""Which sizes everybody knows before a run, and which kept tables a plan reads and makes: in sentences."""

from __future__ import annotations

from tacit.plan.account.phrases import counted, listed
from tacit.plan.algebra.relations import Relation
from tacit.plan.algebra.trees import scans
from tacit.plan.facts.catalog import KeptTable
from tacit.plan.facts.deliveries import approving, day
from tacit.plan.physical.placed import (
    ArrayStep,
    InputStep,
    KeepStep,
    KeptStep,
    LocalStep,
    PlacedPlan,
    PsiStep,
    Step,
)


def keeping(plan: PlacedPlan) -> list[str]:
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
        f"{listed(plan.nodes)} keep {', '.join(each.name for each in step.fields)} as shares under the name "
        f"{step.operator.table}, for later queries that all of {' and '.join(['them', *outside])} approve{without}: "
        f"{_rows(step.rows_bound)}, made of {' and '.join(tables)}.",
        f"All parties may know the description of {step.operator.table}: when it was made and by which query, whose "
        "tables it is made of, its number of rows, and its columns with their types, keys and lineage.",
    )


def _rows(bound: str) -> str:
    """A bound for people, who need not know how it follows from sizes that are told in a run."""
    return f"{bound} rows" if bound.replace(",", "").isdigit() else "a number of rows that is told in its run"


def declared_sizes(plan: PlacedPlan) -> list[str]:
    """The public sizes that true ones are filled up to, in a sentence."""
    found = []
    locals_ = {step.id: step for step in plan.steps if isinstance(step, LocalStep)}
    arrays = {step.id: step for step in plan.steps if isinstance(step, ArrayStep)}
    for step in plan.steps:
        if isinstance(step, KeptStep):
            found.append(f"the kept table {step.operator.table} has {counted(step.operator.rows)}")
        if isinstance(step, InputStep) and step.local in arrays:
            array = f"the {_elements(step, plan):,} elements of its array {arrays[step.local].array}"
            found.append(f"{step.operator.owner} puts {array} into secret shares")
        elif isinstance(step, InputStep) and step.operator.rows is not None:
            of = tables(locals_[step.local].relation)
            found.append(f"{step.operator.owner} puts {counted(step.operator.rows)} made of {of} into secret shares")
        for side in step.sides if isinstance(step, PsiStep) else ():
            if side.rows is not None:
                found.append(
                    f"{side.owner} matches {counted(side.rows)} made of {tables(locals_[side.local].relation)}"
                )
    if not found:
        return []
    filled = " Fewer true rows are filled up to that, so that nobody learns how many there are."
    padded = any(not each.startswith("the kept table") for each in found) and not arrays
    return [f"Everybody knows before: {listed(list(dict.fromkeys(found)))}.{filled * padded}"]


def _elements(step: InputStep, plan: PlacedPlan) -> int:
    """How many elements of an owner's array are shared as this step shares them, in all blocks of rows together."""
    given = {each.id: each for each in plan.steps if isinstance(each, ArrayStep)}

    def same(other: InputStep) -> bool:
        one, another = given.get(step.local), given.get(other.local)
        alike = one and another and (one.party, one.array) == (another.party, another.array)
        return bool(alike) and step.operator.columns == other.operator.columns

    return sum(each.exact or 0 for each in plan.steps if isinstance(each, InputStep) and same(each))


def tables(relation: Relation) -> str:
    """The names of the tables beneath a relation."""
    return " and ".join(dict.fromkeys(scan.table for scan in scans(relation)))


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
