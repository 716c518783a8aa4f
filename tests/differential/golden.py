"""Golden files of SQL behaviour (tests/slt): what they look like.

A file is a sequence of blocks with blank lines between them; lines that start with # are comments. A block's first line
says what it is:

    tables                                  a section of an offer with the table's owner and path, then the rows as CSV;
                                            it replaces a table of the same name
    query [ordered] [psi] [circuit] [trusted] [sliced] [tls] [to PARTY...]
                                            SQL, then names and types of the result, then its rows
    refused [to PARTY...]                   SQL, then the sentence that refuses it
    fails [to PARTY...]                     SQL, then the sentence that ends its run

``ordered``: the query fixes the order of all rows; otherwise they are listed sorted. ``tls``: it is also run by three
processes. ``psi``, ``circuit``: its plan matches rows of two owners, who see which match, or do not. ``trusted``: a
party orders rows of its plan. ``sliced``: owners open keys to each other in it. The two parts of a block are divided by
a line of four dashes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

from .federations import Declared
from .running import Result

KINDS = ("tables", "query", "refused", "fails")
DIVIDER = "----"
SEPARATOR = " | "


@dataclass(frozen=True)
class Block:
    """A block of a golden file. line: of its header, from 1. first, second: the parts beside the divider."""

    line: int
    header: str
    first: str
    second: str

    @property
    def kind(self) -> str:
        """What it is."""
        return self.words[0]

    @property
    def words(self) -> list[str]:
        """The words of its header."""
        return self.header.replace(",", " ").split()

    @property
    def recipients(self) -> tuple[str, ...]:
        """Who gets the answer."""
        return tuple(self.words[self.words.index("to") + 1 :]) if "to" in self.words else ("a",)

    @property
    def ordered(self) -> bool:
        """Whether the query fixes the order of the rows."""
        return "ordered" in self.words

    def declared(self) -> tuple[str, Declared]:
        """The table that a ``tables`` block declares, with its name."""
        found = re.search(r"^\[tables\.(\w+)\]$", self.first, re.M)
        assert found is not None, f"line {self.line}: a tables block starts with [tables.NAME]"
        return found[1], Declared(self.first, self.second + "\n")

    def text(self, second: str) -> str:
        """The block as the file has it, with another second part."""
        return "\n".join([self.header, self.first, DIVIDER, *([second] if second else [])])


def blocks(path: Path) -> list[Block | str]:
    """The file's blocks; comments between them as they are."""
    found: list[Block | str] = []
    lines = path.read_text(encoding="utf-8").split("\n")
    start = 0
    for end in [at for at, line in enumerate([*lines, ""]) if not line]:
        if start < end:
            found.append(_block(start + 1, lines[start:end]))
        start = end + 1
    return found


def shown(result: Result, *, ordered: bool) -> str:
    """A result as the files have it."""
    header = SEPARATOR.join(f"{name} {type_}" for name, type_ in zip(result.names, result.types, strict=True))
    rows = [SEPARATOR.join(map(_value, row)) for row in result.rows]
    return "\n".join([header, *(rows if ordered else sorted(rows))])


def _block(line: int, lines: list[str]) -> Block | str:
    """A paragraph: a block, or only comments."""
    if all(each.startswith("#") for each in lines):
        return "\n".join(lines)
    if lines[0].split()[0] not in KINDS:
        raise ValueError(f"line {line}: {lines[0]!r} does not start a block")
    divider = lines.index(DIVIDER) if DIVIDER in lines else len(lines)
    return Block(line, lines[0], "\n".join(lines[1:divider]), "\n".join(lines[divider + 1 :]))


def _value(value: object) -> str:
    match value:
        case None:
            return "NULL"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case bool():
            return "TRUE" if value else "FALSE"
        case datetime():
            return str(value)
        case date():
            return value.isoformat()
        case Decimal():
            return f"{value:f}"
        case _:
            return repr(value)
