"""What each party of a plan learns, in sentences, also for those that learn nothing."""

from __future__ import annotations

from tacit.plan.algebra import Relation
from tacit.plan.placed import Disclosure, InputStep, LocalStep, PlacedPlan, PsiStep, Step
from tacit.plan.trees import scans

NOTHING_MORE = "Nobody learns anything else: not more than the answer and the declared sizes."


def account(plan: PlacedPlan) -> tuple[str, ...]:
    """A sentence for each thing a party learns, and for each party that learns nothing; a closing one if all is so."""
    parties = tuple(dict.fromkeys((*plan.nodes, *plan.recipients)))
    sentences = [sentence for party in parties for sentence in _of_party(party, plan)]
    if all(each.kind == "answer" for each in plan.disclosures):
        sentences.append(NOTHING_MORE)
    return tuple(sentences)


def _of_party(party: str, plan: PlacedPlan) -> list[str]:
    mine = [each for each in plan.disclosures if party in each.recipients and not _own_size(each, party, plan)]
    if mine:
        return [
            f"{party} learns {each.what} ({each.reason}; allowed by: {each.rule}; step {each.site})." for each in mine
        ]
    if party in plan.recipients:
        return [f"{party} gets the answer from its own tables and learns nothing new."]
    sizes = declared_sizes(plan)
    return [f"{party} learns nothing but the declared sizes{f': {sizes}' if sizes else ''}."]


def declared_sizes(plan: PlacedPlan) -> str:
    """The public sizes that inputs are padded to."""
    found = []
    locals_ = {step.id: step for step in plan.steps if isinstance(step, LocalStep)}
    for step in plan.steps:
        sides = (step,) if isinstance(step, InputStep) else (step.left, step.right) if isinstance(step, PsiStep) else ()
        for side in sides:
            if side.rows is not None:
                count = "1 row" if side.rows == 1 else f"{side.rows:,} rows"
                done = "shares" if isinstance(side, InputStep) else "matches"
                found.append(f"{side.owner} {done} {count} of {tables(locals_[side.local].relation)}")
    return ", ".join(dict.fromkeys(found))


def tables(relation: Relation) -> str:
    """The names of the tables beneath a relation."""
    return " and ".join(dict.fromkeys(scan.table for scan in scans(relation)))


def _own_size(disclosure: Disclosure, party: str, plan: PlacedPlan) -> bool:
    """Whether a disclosed size is the party's own, which it knows."""
    return disclosure.kind == "size" and any(disclosure.site in own_sizes(step, party) for step in plan.steps)


def own_sizes(step: Step, party: str) -> tuple[str, ...]:
    """The sites at which a step announces sizes of a party's own data."""
    match step:
        case InputStep() if step.owner == party:
            return (f"{step.id}.input",)
        case PsiStep():
            op, sides = step.operator["op"], (("left", step.left), ("right", step.right))
            return tuple(f"{step.id}.{op}/{name}" for name, side in sides if side.owner == party)
        case _:
            return ()
