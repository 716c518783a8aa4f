"""Slicing (SMCQL): rows whose key only one owner has are computed on by that owner; shared keys alone enter MPC.

A part of a query can be sliced by key columns where rows of different keys never meet (tacit.plan.facts.partitions).
Then it is the union of what it is of the rows of each key. Of a key that one owner alone has, that owner computes it in
its own engine, and its result enters MPC beside that of shared keys. So nobody sees more of the answer than before.

For that the owners open their different keys to each other. All parties of the question have to be allowed to read
them: its nodes, its recipients and the owners of its tables. Numbers of rows that follow from keys are told to nodes.
Keys are those of the largest local part that all may read: its key columns, and those that decide its rows, have all of
these parties as readers (tacit.plan.facts.readers). A floor promises that nothing is shown of few rows, so that a table
with one is not sliced. Nor is one whose terms do not let all of these parties learn which of its rows match others.
An owner that alone gets an answer is not bound by its own rules, so that nothing has held the question against them.
Then its table is not sliced if the rules have a last day or a list of questions.

Of the plans with and without slices the one is taken that the cost model finds fastest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from tacit.plan.algebra.refusals import QueryError
from tacit.plan.algebra.trees import scans
from tacit.plan.facts.readers import Parties, Readers
from tacit.plan.rules.sliceable import Sliceable, Slicing, replaced
from tacit.plan.rules.stage import Pricing, Stage

Rest = Callable[[Stage], Stage]
"""The rules that follow."""


def choose_slices(stage: Stage, pricing: Pricing, rest: Rest) -> Stage:
    """The stage with slices where they are allowed and faster, and why each part is computed as it is."""
    if not _has_readers(stage, pricing):
        return stage
    readers, parties = Readers(pricing.catalog), _parties(stage, pricing)
    slicing = Slicing(pricing.catalog, readers, parties, _alone(pricing))
    parts = _each_once(slicing.parts(stage.core))
    if not parts:
        some = Slicing(pricing.catalog, readers, None)
        return replace(stage, slicing=tuple(_unread(part, some, parties) for part in some.parts(stage.core)))
    for part in parts:
        sliced = replace(stage, core=replaced(stage.core, part.target, slicing.sliced(part)))
        without, within = (_seconds(each, pricing, rest) for each in (stage, sliced))
        if without is not None and within is not None:
            reason = _reason(part, within, without)
            stage = replace(sliced if within < without else stage, slicing=(*stage.slicing, reason))
    return stage


def _each_once(parts: Iterable[Sliceable]) -> tuple[Sliceable, ...]:
    """The parts; one that several relations read without what these filter and compute, so that it stays one."""
    listed = tuple(dict.fromkeys(parts))
    read = Counter(part.base for part in listed)
    shared = (part if part.counting or read[part.base] == 1 else replace(part, whole=part.base) for part in listed)
    return tuple(dict.fromkeys(shared))


def _has_readers(stage: Stage, pricing: Pricing) -> bool:
    """Whether anybody but its owner may read a column: otherwise nothing is sliced, and there is nothing to say."""
    read = {scan.table for scan in scans(stage.core)}
    return any(column.readers for table in pricing.catalog.tables if table.name in read for column in table.columns)


def _parties(stage: Stage, pricing: Pricing) -> Parties:
    """All who take part in a question: whatever any of them learns of keys, they may all read."""
    owners = {scan.owner for scan in scans(stage.core)}
    kept = {party for table in pricing.catalog.kept for party in table.owners}
    return frozenset({*pricing.catalog.nodes, *pricing.recipients, *owners, *kept})


def _alone(pricing: Pricing) -> str | None:
    """The party that alone gets the answer, if one does."""
    found = set(pricing.recipients)
    return found.pop() if len(found) == 1 else None


def _seconds(stage: Stage, pricing: Pricing, rest: Rest) -> float | None:
    """The predicted time; None where there is no such plan, which is refused later."""
    try:
        return pricing.seconds(rest(stage))
    except QueryError:
        return None


def _reason(part: Sliceable, within: float, without: float) -> str:
    guess = "half of the rows or more are taken to have a key that another owner has"
    if within < without:
        chosen = "rows whose key one owner alone has are computed on by that owner"
        return f"{_named(part)}: {chosen}: predicted {within:.3f} s in all, {without:.3f} s without slices; {guess}"
    return f"{_named(part)}: not sliced: predicted {without:.3f} s in all, {within:.3f} s with slices; {guess}"


def _unread(part: Sliceable, slicing: Slicing, parties: Parties) -> str:
    """Why a part is not sliced whose keys some others may read."""
    missing = sorted({party for leaf in part.leaves for party in parties - slicing.who_reads(leaf)})
    return f"{_named(part)}: not sliced: {' and '.join(missing)} may not read the keys of all rows"


def _named(part: Sliceable) -> str:
    tables = dict.fromkeys(scan.table for leaf in part.leaves for scan in scans(leaf.relation))
    return f"{' and '.join(part.keys)} of {' and '.join(tables)}"
