"""Lines of a program's source, as sentences name them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby


class Line(int):
    """The number of a line, from 1. cell: the cell of a notebook that has it, such as "cell In[2]"; none in a file."""

    cell: str

    def __new__(cls, number: int, cell: str = "") -> Line:
        """A line of a cell, or of a file."""
        line = super().__new__(cls, number)
        line.cell = cell
        return line


def cell_of(line: int) -> str:
    """The cell of a line; empty where it is of a file."""
    return line.cell if isinstance(line, Line) else ""


def place(line: int) -> str:
    """A line as a sentence begins: "line 3", or "cell In[2], line 3"."""
    return _of(cell_of(line)) + f"line {int(line)}"


def places(lines: Iterable[int]) -> str:
    """Several lines, each once: "lines 3, 5", by their cells."""
    known = sorted({(cell_of(line), int(line)) for line in lines})
    found = []
    for cell, pairs in groupby(known, key=lambda pair: pair[0]):
        numbers = [str(number) for _, number in pairs]
        found.append(_of(cell) + ("line " if len(numbers) == 1 else "lines ") + ", ".join(numbers))
    return "; ".join(found)


def _of(cell: str) -> str:
    return f"{cell}, " if cell else ""
