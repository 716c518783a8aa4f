"""Who takes part in a placed plan, and what of it is secure, as every party derives it for itself."""

from __future__ import annotations

from tacit.plan.algebra.trees import slices
from tacit.plan.physical.operators import Operator
from tacit.plan.physical.placed import (
    ArrayStep,
    DropStep,
    GuardStep,
    InputStep,
    KeepStep,
    KeptStep,
    KeysStep,
    LocalStep,
    NativeStep,
    PlacedPlan,
    ProgramStep,
    PsiStep,
    ReleaseStep,
    ResultStep,
    SecureStep,
    TailStep,
)


def secure_operators(plan: PlacedPlan) -> list[Operator]:
    """The operators that the native session executes, in order. Empty if the whole query is local to one party."""
    return [step.operator for step in plan.steps if isinstance(step, NativeStep)]


def awaits_keys(step: LocalStep) -> bool:
    """Whether a local part needs keys that other owners open in the run."""
    return bool(slices(step.relation))


def participants(plan: PlacedPlan, parties: tuple[str, ...]) -> tuple[str, ...]:
    """Who takes part in a run, in the federation's order: who has a step, and the nodes if any step is secure."""
    found = set(plan.nodes) if secure_operators(plan) else set()
    for step in plan.steps:
        match step:
            case LocalStep() | ArrayStep():
                found.add(step.party)
            case InputStep():
                found.add(step.operator.owner)
            case PsiStep():
                found |= {side.owner for side in step.sides}
            case ReleaseStep() | GuardStep():
                found |= set(step.operator.to)
            case KeysStep():
                found |= {step.owner, *step.operator.to}
            case TailStep() | ResultStep():
                found |= set(step.recipients)
            case DropStep():
                found |= set(step.parties)
            case KeptStep():
                found |= set(step.operator.owners)
            case SecureStep() | ProgramStep() | KeepStep():
                pass
    return tuple(party for party in parties if party in found)
