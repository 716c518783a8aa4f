"""The part of an account that people approve: who gets what, made of whose columns, and what else anybody learns.

Each part holds its data for programs and its sentence for people, made from the plan's disclosures.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tacit.plan.account.origins import Origin, origins
from tacit.plan.account.phrases import listed, value_text
from tacit.plan.account.programs import results
from tacit.plan.account.sentences import (
    EachRow,
    allowed,
    beyond,
    each_row,
    may_refuse,
    notes,
    outputs,
    reason,
    rows,
    what,
)
from tacit.plan.account.sizes import declared_sizes, keeping, own_sizes
from tacit.plan.algebra.bounds import UNDECLARED_ROWS
from tacit.plan.facts.allowances import Allowance, Ruling
from tacit.plan.facts.sources import Use
from tacit.plan.physical.disclosure import (
    ArrayRows,
    Disclosure,
    DisclosureKind,
    OpenedArray,
    OpenedBound,
    OpenedColumns,
    OpenedRows,
)
from tacit.plan.physical.placed import DropStep, InputStep, KeepStep, KeptStep, PlacedPlan, ProgramStep, PsiStep

NOTHING_ELSE = "Nobody learns anything else."
PROGRAM_NOTE = (
    "A program may show whatever it computes: read it, or the program that has its hash, before you approve it. What "
    "it learns of the arrays, such as a model, tells of them."
)
NOTHING_OPENED = "Nothing is opened to anybody."


@dataclass(frozen=True)
class Output:
    """A column that is opened. sources: what it is made of. allowed: owners' rules that allow it."""

    name: str
    made_of: str
    sources: tuple[Origin, ...]
    allowed: tuple[str, ...]


@dataclass(frozen=True)
class Answered:
    """What recipients get. beyond: columns that are opened besides the answer; divided: its columns that need them.

    most_rows: None where nothing bounds them. most_values: of rows and all columns. least_group: of rows of tables that
    each row stands for, by the question itself. each_row: what a row of the answer stands for. decided_by: what
    decides which rows there are. notes: the same in sentences.
    """

    recipients: tuple[str, ...]
    step: str
    rows: str
    most_rows: int | None
    most_values: int | None
    least_group: int | None
    each_row: EachRow
    outputs: tuple[Output, ...]
    beyond: tuple[Output, ...]
    divided: tuple[str, ...]
    decided_by: tuple[Origin, ...]
    notes: tuple[str, ...]
    allowed: tuple[str, ...]


@dataclass(frozen=True)
class Besides:
    """What parties learn besides the answer: a number of rows, which of their rows match, keys that they order, or
    whether checked bounds hold."""

    recipients: tuple[str, ...]
    kind: DisclosureKind
    step: str
    sentence: str
    most_rows: int | None
    sources: tuple[Origin, ...]
    rules: tuple[str, ...]


@dataclass(frozen=True)
class Statement:
    """All of it. parties: who takes part. untold: who learns nothing. sizes, kept, nodes_see: sentences.

    keeps: columns that nodes keep as shares. keeps_rows: what decides which rows they keep. keeps_allowed: by which
    owners' rules.
    """

    parties: tuple[str, ...]
    recipients: tuple[str, ...]
    nodes: tuple[str, ...]
    engine: str
    answer: Answered | None
    besides: tuple[Besides, ...]
    untold: tuple[str, ...]
    keeps: tuple[Output, ...]
    keeps_rows: tuple[Origin, ...]
    keeps_allowed: tuple[str, ...]
    sizes: tuple[str, ...]
    kept: tuple[str, ...]
    nodes_see: tuple[str, ...]
    closing: str


def statement(plan: PlacedPlan) -> Statement:
    """The statement of a plan."""
    told = [
        each
        for each in plan.disclosures
        if each.kind in ("keys", "size", "matches", "bound") and not _is_public(each, plan)
    ]
    opened = [each for each in plan.disclosures if each.kind in ("answer", "value")]
    sizes, parties = declared_sizes(plan), takes_part(plan)
    learning = {party for each in (*told, *opened) for party in learners(each, plan)} | set(plan.recipients)
    return Statement(
        parties,
        plan.recipients,
        plan.nodes,
        plan.engine,
        _answer(opened, plan),
        tuple(_besides(each, plan) for each in told if learners(each, plan)),
        tuple(party for party in parties if party not in learning),
        _keeps(plan),
        _keeps_rows(plan),
        () if plan.recipients else _by_rules(None, plan.ruling.allowances),
        tuple(sizes),
        tuple(keeping(plan)),
        nodes_see(plan),
        NOTHING_ELSE,
    )


def takes_part(plan: PlacedPlan) -> tuple[str, ...]:
    """Nodes, recipients, owners that are no nodes, and whoever else is told something."""
    told = (party for each in plan.disclosures for party in each.recipients)
    computed = () if is_local(plan) else (*plan.nodes, *plan.clients)
    return tuple(dict.fromkeys((*computed, *plan.recipients, *told)))


def is_local(plan: PlacedPlan) -> bool:
    """Whether a recipient answers from its own tables alone."""
    return bool(plan.recipients) and not any(isinstance(each, InputStep | KeptStep | PsiStep) for each in plan.steps)


def learners(disclosure: Disclosure, plan: PlacedPlan) -> tuple[str, ...]:
    """Who learns something new: a party knows the size of its own data."""
    if disclosure.kind != "size":
        return disclosure.recipients
    return tuple(
        party
        for party in disclosure.recipients
        if not any(disclosure.site.name in own_sizes(step, party) for step in plan.steps)
    )


def _is_public(disclosure: Disclosure, plan: PlacedPlan) -> bool:
    """Whether a number of rows is that of a program's array, which the program and offers say."""
    is_program = any(isinstance(each, ProgramStep) for each in plan.steps)
    return isinstance(disclosure.shown, ArrayRows) or (isinstance(disclosure.shown, OpenedRows) and is_program)


def _answer(opened: Sequence[Disclosure], plan: PlacedPlan) -> Answered | None:
    """What recipients get: of a program all results together."""
    if not opened or not isinstance(opened[0].shown, OpenedArray):
        return _answered(opened[0], plan.ruling) if opened else None
    parts = [_answered(each, plan.ruling) for each in opened]
    return replace(
        parts[0],
        rows=results(opened),
        most_rows=sum(each.most_rows or 0 for each in parts),
        most_values=None,
        outputs=tuple(output for each in parts for output in each.outputs),
        notes=(PROGRAM_NOTE, *parts[0].notes),
    )


def _answered(disclosure: Disclosure, ruling: Ruling) -> Answered:
    derivation = disclosure.derivation
    most = derivation.rows if derivation.rows is not None and derivation.rows < UNDECLARED_ROWS else None
    besides = beyond(disclosure)
    opened = tuple(each for each in derivation.values if each[0] in dict(besides))
    columns = len(derivation.outputs) + len(besides)
    return Answered(
        disclosure.recipients,
        disclosure.site.name,
        rows(disclosure),
        most,
        None if most is None else most * columns,
        derivation.floor,
        each_row(disclosure),
        _outputs(derivation.outputs, outputs(disclosure), ruling.allowances),
        _outputs(opened, besides, ruling.allowances),
        _divided(disclosure),
        origins(derivation.presence, rows=True),
        (*notes(disclosure, ruling.withheld), *map(may_refuse, ruling.refusing)),
        (f"{allowed(disclosure)}", *_by_rules(None, ruling.allowances)),
    )


def _divided(disclosure: Disclosure) -> tuple[str, ...]:
    shown = disclosure.shown
    return tuple(each.output for each in shown.beyond) if isinstance(shown, OpenedColumns) else ()


def _outputs(
    columns: Iterable[tuple[str, tuple[Use, ...]]], texts: Iterable[tuple[str, str]], rules: Sequence[Allowance]
) -> tuple[Output, ...]:
    pairs = zip(columns, texts, strict=True)
    return tuple(Output(name, text, origins(uses), _by_rules(name, rules)) for (name, uses), (_, text) in pairs)


def _by_rules(output: str | None, allowances: Iterable[Allowance]) -> tuple[str, ...]:
    return tuple(f"{each.owner}'s rule: {each.sentence}" for each in allowances if each.output == output)


def _keeps(plan: PlacedPlan) -> tuple[Output, ...]:
    """The columns of a table that nodes keep: what they are made of is what later questions may open."""
    kept = [each for step in plan.steps if isinstance(step, KeepStep) for each in step.about.fields]
    found = [(each.field.name, origins(each.uses or ())) for each in kept]
    return tuple(Output(name, value_text(made_of, ()), made_of, ()) for name, made_of in found)


def _keeps_rows(plan: PlacedPlan) -> tuple[Origin, ...]:
    keeps = [step for step in plan.steps if isinstance(step, KeepStep)]
    return origins([use for step in keeps for use in step.about.presence or ()], rows=True)


def _besides(disclosure: Disclosure, plan: PlacedPlan) -> Besides:
    who = learners(disclosure, plan)
    sentence = (
        f"{listed(who)} {'learns' if len(who) == 1 else 'learn'} {what(disclosure)}: {reason(disclosure)}. "
        f"Allowed by {allowed(disclosure)}."
    )
    derivation = disclosure.derivation
    sources, most = origins(derivation.presence, rows=True), derivation.rows
    if isinstance(disclosure.shown, OpenedBound):
        sources = origins(use for _, uses in derivation.values for use in uses)
    rules = tuple(rule.value for rule in disclosure.rules)
    return Besides(who, disclosure.kind, disclosure.site.name, sentence, most, sources, rules)


def nodes_see(plan: PlacedPlan) -> tuple[str, ...]:
    """What those see that compute, and what they could see together."""
    if any(isinstance(each, DropStep) for each in plan.steps):
        return ()
    if is_local(plan):
        return (f"Nothing is sent: {listed(plan.recipients)} answers from its own tables alone.",)
    nodes = listed(plan.nodes)
    shares = f"{nodes} compute on secret shares: numbers that look random to each. All connections are encrypted."
    honest = "This holds while each node runs the protocol as it is (SECURITY.md says what else is assumed)."
    match plan.engine:
        case "clear":
            return (f"{nodes} see all values in clear: the engine clear protects nothing and is for tests.",)
        case "four":
            first, second, *assistants = plan.nodes
            held = f"{first} and {second} hold the shares; {listed(assistants)} are sent some for each operation."
            weak = f"It protects against one of {nodes} alone: four nodes are no stronger than three."
            pooled = f"Any two of {nodes} that put what they have together could read more than stands here."
            return (shares, held, weak, pooled, honest)
        case "two":
            return (shares, f"{nodes} would have to put their shares together to read more than stands here.", honest)
        case _:
            pooled = f"Any two of {nodes} that put their shares together could read more than stands here."
            return (shares, pooled, honest)
