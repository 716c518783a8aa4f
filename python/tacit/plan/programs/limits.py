"""What a program's text may ask of those who read it. A text comes from another party, and may be written to harm.

Each limit bounds the work before owners' rules are asked, and none is near what programs of NumPy need. What is counted
is counted in one pass over the text.
"""

from __future__ import annotations

from tacit.plan.programs.refusals import ProgramError

MOST_TEXT = 1 << 24
"""Characters. The text of a program is ASCII: a character is a byte."""

MOST_LISTS = 1 << 19
"""Lists and objects of a text. A reader of JSON makes each of them 30 times as long as it is written."""

MOST_INTEGER = 160
"""Digits of an integer that JSON has as such. The longest is a bound of squares, with 154."""

MOST_NODES = 1 << 15
"""Operations."""

MOST_OPERANDS = 1 << 17
"""Operands of all operations together."""

MOST_ENDS = 1 << 10
"""Inputs, and outputs."""

MOST_QUERIES = 16
"""Of whose rows a program reads columns. Each is bound before owners' rules are asked."""

MOST_ELEMENTS = 1 << 33
"""Of one array. Its size times its bytes has to be a number that machines hold."""

MOST_AT_ONCE = 1 << 31
"""Elements of an array that a node has at once: native code gives each a number of 32 bits."""

MOST_PUBLIC = 1 << 20
"""Public numbers of a program: elements of constants, and positions."""

MOST_ENCODED = 1 << 23
"""Public numbers that are brought to a format, each as often as it is. Rules of the optimiser have a share of them."""

MOST_QUERY = 1 << 14
"""Characters of a query's text, of whose rows a program reads columns."""

MOST_DIGITS = 1100
"""Of a public number's numerator or denominator. Those of the smallest floating-point numbers have 324."""

MOST_FRACTION = 40
MOST_NAME = 200
MOST_COLUMNS = 1 << 14
"""Characters of the name of an owner's array. Columns of a table have the name ``scores(x1,x2)``."""

MOST_FOLDED = 1 << 12
"""Bits of the numerator or denominator of a public number that the optimiser makes of two."""

FOR_RULES = 1 << 21
"""Public numbers that all rules of the optimiser together bring to a format."""

MOST_ERROR = 1 << 12
"""Bits of the error of an array. Where no error below the range is proved, products square it with every step."""

MOST_BELOW = 32
"""Operations that a rule or a fact looks through, one below the other."""

MOST_VISITS = 1 << 19
"""Operations that the optimiser visits. It begins no rule behind that, at any party: all count alike."""


def check_text(text: str) -> None:
    """Refuse a text that is too long, or would be when it is read. Raises ProgramError."""
    if len(text) > MOST_TEXT:
        raise too_many("characters", MOST_TEXT)
    if text.count("[") + text.count("{") > MOST_LISTS:
        raise too_many("lists and objects", MOST_LISTS)


def too_many(what: str, most: int) -> ProgramError:
    """The refusal of a text that has more of something than it may have."""
    return ProgramError(f"it has more than {most:,} {what}.")
