"""What is wrong with a program, in a sentence that says where and what to write instead."""

from __future__ import annotations

from tacit.plan.algebra.refusals import QueryError
from tacit.plan.programs.source_lines import place


class ProgramError(QueryError):
    """A program that cannot run as it is written. line: of its source, where it is known."""

    def __init__(self, sentence: str, line: int | None = None) -> None:
        super().__init__(sentence)
        self.line = line

    def __str__(self) -> str:
        return self.sentence if self.line is None else f"{place(self.line)}: {self.sentence}"


class TooWide(ProgramError):
    """An array whose numbers may leave the ring. low and high: what its integers may reach."""

    def __init__(self, what: str, low: int, high: int, fraction: int, line: int | None = None) -> None:
        self.low, self.high = low, high
        bits = max(abs(low), abs(high)).bit_length()
        super().__init__(
            f"{what} may reach any number from {number(low, fraction)} to {number(high, fraction)}, which needs {bits} "
            f"bits with {fraction} after the point, more than the 126 that there are; declare tighter bounds for the "
            "inputs, bound the array with np.clip, or ask for fewer bits after the point.",
            line,
        )


class OutOfDomain(ProgramError):
    """A function of numbers for which it is not defined, or an array that an operation does not take."""


def number(encoded: int, fraction: int) -> str:
    """An encoded number for people: exact where it is short."""
    if fraction <= 0:
        encoded, fraction = encoded << -fraction, 0
    if encoded % (1 << fraction) == 0 and abs(encoded >> fraction) < 10**7:
        return str(encoded >> fraction)
    bits = encoded.bit_length() - fraction
    return f"{encoded / (1 << fraction):.6g}" if bits < 1000 else f"{'-' * (encoded < 0)}2^{bits}"
