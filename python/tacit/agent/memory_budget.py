"""A party's memory budget: what its private file says, or the federation of programs, and which runs are refused for it
before they begin.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_section import Section
from tacit.plan import StepCost
from tacit.plan.account.quantities import memory

SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(KiB|MiB|GiB|TiB)")
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
DISK_ROOM = 1.2
"""Free space that a run takes, for each byte that may wait in files."""


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

    def of_program(self, declared: int | None) -> Memory:
        """For a program: where the party says nothing, what the federation declares. declared: that, in bytes."""
        return self if self.budget is not None else replace(self, budget=declared)

    def admit(self, costs: Iterable[StepCost], parties: int = 1) -> None:
        """Refuse a plan of which a step alone needs more, or whose tables need more disk than is free. Where sizes are
        announced, the run finds that out itself.

        parties: how many share this machine's disk. Raises RunError.
        """
        if self.budget is None:
            return
        known = [cost for cost in costs if not cost.assumed]
        if not known:
            return
        largest = max(known, key=lambda cost: cost.memory_alone)
        budget = memory(self.budget)
        if largest.memory_alone > self.budget:
            raise RunError(
                Fault.INPUT,
                f"{largest.step} needs about {memory(largest.memory_alone)} of memory, and this party's budget is "
                f"{budget}; raise the budget under [memory] in the private file, or ask about fewer rows or columns.",
            )
        most = max(cost.memory for cost in known)
        needed = int(DISK_ROOM * parties * most) if most > self.budget else 0
        free = shutil.disk_usage(self.folder).free
        if needed > free:
            raise RunError(
                Fault.INPUT,
                f"up to {memory(needed)} wait in files beyond the budget of {budget}, and {self.folder} has "
                f"{memory(free)} free; name a folder on a larger disk under [memory] in the private file.",
            )


def read_program_memory(section: Section) -> int | None:
    """The section of a federation file about programs: bytes that every node has for one. Raises FederationError."""
    said = section.optional("memory")
    section.close()
    return None if said is None else _bytes(section, "memory", said)


def read_memory(section: Section) -> Memory:
    """The section of a private file. Raises FederationError."""
    said = section.optional("budget")
    found = Memory(None if said is None else _bytes(section, "budget", said), section.path("folder", "."))
    if found.budget is not None and not found.folder.is_dir():
        raise section.error(f"folder is {str(found.folder)!r}, which is no folder", "make it, or name another one")
    section.close()
    return found


def _bytes(section: Section, entry: str, said: object) -> int:
    found = SIZE.fullmatch(said) if isinstance(said, str) else None
    size = int(float(found[1]) * UNITS[found[2]]) if found else 0
    if size < UNITS["MiB"]:
        raise section.error(f"{entry} is {said!r}", 'write a size of at least "1 MiB", for example "6 GiB"')
    return size
