"""Draws from a seed: the same seed gives the same choices everywhere."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")


@dataclass
class Chance:
    """Choices that a seed fixes."""

    seed: str
    _random: random.Random = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def pick(self, choices: Sequence[T]) -> T:
        """One of the choices."""
        return choices[self._random.randrange(len(choices))]

    def often(self, out_of: int) -> bool:
        """True once in ``out_of`` times."""
        return self._random.randrange(out_of) == 0

    def between(self, low: int, high: int) -> int:
        """A whole number between two, which are possible too."""
        return self._random.randint(low, high)

    def several(self, choices: Sequence[T], least: int, most: int) -> list[T]:
        """Some of the choices, none of them twice, in any order."""
        count = min(self.between(least, most), len(choices))
        return self._random.sample(list(choices), count)

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """All of them in any order."""
        return self._random.sample(list(items), len(items))
