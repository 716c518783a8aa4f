"""The answer of a program: NumPy's arrays, on their way from a party's process to who asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.agent.cost import Cost
from tacit.plan import learnt
from tacit.plan.physical.disclosure import Disclosure
from tacit.plan.physical.placed import PlacedPlan, ResultStep

if TYPE_CHECKING:
    import numpy

    Values = numpy.ndarray[Any, Any]


@dataclass(frozen=True)
class ArrayAnswer:
    """What a program has revealed. arrays: by their names. cost: predicted and actual, step by step."""

    arrays: Mapping[str, Values]
    plan: PlacedPlan
    cost: Cost

    @property
    def disclosures(self) -> tuple[Disclosure, ...]:
        """Everything that any party learnt besides its own input, as data."""
        return self.plan.disclosures

    @property
    def learnt(self) -> tuple[str, ...]:
        """The same in sentences, also about parties that learnt nothing."""
        return learnt(self.plan)


def gives_arrays(plan: PlacedPlan) -> bool:
    """Whether a plan is that of a program."""
    return any(isinstance(step, ResultStep) for step in plan.steps)


def save_arrays(arrays: Mapping[str, Values], path: Path) -> None:
    """Write a recipient's arrays, in their order, to a new file."""
    import numpy

    with path.open("xb") as file:
        numpy.savez(file, *arrays.values())


def load_arrays(path: Path, plan: PlacedPlan) -> dict[str, Values]:
    """The arrays of such a file, by the names that the plan has for them."""
    import numpy

    names = [each.name for step in plan.steps if isinstance(step, ResultStep) for each in step.arrays]
    with numpy.load(path, allow_pickle=False) as found:
        return {name: found[f"arr_{place}"] for place, name in enumerate(names)}
