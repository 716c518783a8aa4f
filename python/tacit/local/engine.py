"""What a party's run needs of the engine where its data lives, whichever that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from tacit.plan.physical.operators import Given
from tacit.plan.physical.placed import ArrayStep, LocalStep, TailStep


class ArrowStream(Protocol):
    """Anything that exports the Arrow PyCapsule stream interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows, as a capsule that can be read once."""


class Engine(Protocol):
    """A party's own engine during one run of a placed plan."""

    def check(self) -> None:
        """Check the party's tables that the plan uses against their declarations. Raises DataError."""

    def run(self, step: LocalStep | ArrayStep) -> int:
        """Execute a local part after the checks and keep its result. Returns its number of rows; raises DataError."""

    def source_rows(self, local: int) -> int:
        """The most rows that a local part could have had, had none of its filters dropped any. local: its step's id."""

    def encode(self, local: int, columns: Sequence[Given]) -> ArrowStream:
        """Columns of the kept result of a local part, encoded. local: its step's id."""

    def forget(self, local: int) -> None:
        """Drop the kept result of a local part, which was read for the last time. local: as above."""

    def tail(self, step: TailStep, opened: Mapping[int, ArrowStream]) -> ArrowStream:
        """Finish the answer in clear. opened: release step to its opened rows. The result has the step's fields."""
