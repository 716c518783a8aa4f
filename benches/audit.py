"""How long the check of differences takes, in seconds of the processor: `.venv/bin/python benches/audit.py`."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator

from tacit.audit.atoms import Atom
from tacit.audit.linear import isolates

QUESTIONS, ATOMS, LEAST = 500, 10_000, 10


def drawn(units: Callable[[int], int]) -> Iterator[Atom]:
    """Atoms of random sets. units: how many an atom has, by its number."""
    draw, first = random.Random(1), 0
    for number in range(ATOMS):
        sets = draw.getrandbits(QUESTIONS)
        count = units(number)
        names = frozenset(each.to_bytes(4, "big") for each in range(first, first + count))
        first += count
        yield Atom((sets,), names)


def grouped(groups: int) -> Iterator[Atom]:
    """Cells of many GROUP BYs of a table, and each one's total."""
    draw, first = random.Random(2), 0
    for _ in range(ATOMS):
        names = frozenset(each.to_bytes(4, "big") for each in range(first, first + 12))
        first += 12
        cells = [at * groups + draw.randrange(groups) for at in range(QUESTIONS // groups)]
        yield Atom((sum(1 << at for at in (*cells, QUESTIONS)),), names)


def main() -> None:
    kinds = {
        "random sets, all atoms large": drawn(lambda _: LEAST),
        "random sets, all atoms small": drawn(lambda _: 3),
        "random sets, one atom in 100 large": drawn(lambda number: 1 if number % 100 else LEAST),
        "groups and totals, all atoms large": grouped(20),
    }
    for kind, atoms in kinds.items():
        found = [*atoms]
        begun = time.process_time()
        refused = isolates(found, LEAST)
        print(f"{kind}: {time.process_time() - begun:.2f} s, {'refused' if refused else 'allowed'}")


if __name__ == "__main__":
    main()
