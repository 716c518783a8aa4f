"""What a party's run needs of the engine where its data lives, whichever that is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from tacit.plan.physical.placed import InputStep, LocalStep, PsiSide, TailStep


class ArrowStream(Protocol):
    """Anything that exports the Arrow PyCapsule stream interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows, as a capsule that can be read once."""


class Engine(Protocol):
    """A party's own engine during one run of a placed plan."""

    def check(self) -> None:
        """Check the party's tables that the plan uses against their declarations. Raises DataError."""

    def run(self, step: LocalStep) -> int:
        """Execute a local part after the checks and keep its result. Returns its number of rows; raises DataError."""

    def source_rows(self, step: InputStep | PsiSide) -> int:
        """The most rows that the input's local part could have had, had none of its filters dropped any."""

    def encode(self, step: InputStep | PsiSide) -> ArrowStream:
        """The kept result of a local part, in encoded form under the input's column names."""

    def tail(self, step: TailStep, opened: Mapping[int, ArrowStream]) -> ArrowStream:
        """Finish the answer in clear. opened: release step to its opened rows. The result has the step's fields."""
