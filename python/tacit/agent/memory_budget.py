"""A party's memory budget: what its private file says, and which runs are refused for it before they begin."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_section import Section
from tacit.plan import StepCost
from tacit.plan.account.quantities import memory

SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(KiB|MiB|GiB|TiB)")
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


@dataclass(frozen=True)
class Memory:
    """What a party gives to its part of a run. budget: in bytes; None where there is none.

    folder: where tables beyond it lie, encrypted and without a name, while they wait.
    """

    budget: int | None
    folder: Path

    @property
    def native(self) -> tuple[int, Path] | None:
        """As the native session takes it."""
        return None if self.budget is None else (self.budget, self.folder)

    def admit(self, costs: Iterable[StepCost]) -> None:
        """Refuse a plan of which a step alone needs more. Where sizes are announced, the run finds that out itself.

        Raises RunError.
        """
        if self.budget is None:
            return
        known = [cost for cost in costs if not cost.assumed]
        largest = max(known, key=lambda cost: cost.memory_alone, default=None)
        if largest is None or largest.memory_alone <= self.budget:
            return
        need, budget = memory(largest.memory_alone), memory(self.budget)
        raise RunError(
            Fault.INPUT,
            f"{largest.step} needs about {need} of memory, and this party's budget is {budget}; raise the budget under "
            "[memory] in the private file, or ask about fewer rows or columns.",
        )


def read_memory(section: Section) -> Memory:
    """The section of a private file. Raises FederationError."""
    said = section.optional("budget")
    found = Memory(None if said is None else _bytes(section, said), section.path("folder", "."))
    if found.budget is not None and not found.folder.is_dir():
        raise section.error(f"folder is {str(found.folder)!r}, which is no folder", "make it, or name another one")
    section.close()
    return found


def _bytes(section: Section, said: object) -> int:
    found = SIZE.fullmatch(said) if isinstance(said, str) else None
    size = int(float(found[1]) * UNITS[found[2]]) if found else 0
    if size < UNITS["MiB"]:
        raise section.error(f"budget is {said!r}", 'write a size of at least "1 MiB", for example "6 GiB"')
    return size
