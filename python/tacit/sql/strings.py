"""Functions of strings, with what is known of the length of their results in bytes."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.plan.algebra.bounds import range_of
from tacit.plan.algebra.folding import NoValue, values_of
from tacit.plan.algebra.refusals import Position
from tacit.plan.algebra.relations import Expr, FunctionName, Literal
from tacit.plan.algebra.types import Boolean, Date, Decimal, Double, Integer, Timestamp, Varchar
from tacit.sql.arithmetic import choice, is_null, logic
from tacit.sql.calls import TEXT, call, longest, string, whole, word, written
from tacit.sql.coercion import Mismatch

BYTES = 4
"""The most bytes of a character in UTF-8."""
MOMENT, DOUBLE = 26, 25
"""The most characters of a moment and of a DOUBLE."""
MOST_LENGTH = 1 << 32


def like(value: Expr, pattern: Expr, escape: Expr | None, *, any_case: bool, position: Position | None) -> Expr:
    """LIKE and ILIKE."""
    said = "ILIKE" if any_case else "LIKE"
    args = string(value, said), string(pattern, said)
    if escape is None:
        return call("ilike" if any_case else "like", args, Boolean(), position)
    if not isinstance(escape, Literal) or not isinstance(escape.value, str) or len(escape.value) != 1:
        raise Mismatch("ESCAPE takes one character")
    if not isinstance(args[1], Literal) or _ends_open(str(args[1].value), escape.value):
        raise Mismatch(f"{said} with ESCAPE takes a constant pattern that does not end with an escape")
    return call("ilike_escape" if any_case else "like_escape", (*args, escape), Boolean(), position)


def similar(value: Expr, pattern: Expr, *, position: Position | None) -> Expr:
    """SIMILAR TO a regular expression, which has to be a constant."""
    if not isinstance(pattern, Literal):
        raise Mismatch("SIMILAR TO takes a constant pattern")
    args = string(value, "SIMILAR TO"), string(pattern, "SIMILAR TO")
    try:
        values_of("similar", [(word(""), pattern)], Boolean())
    except NoValue as error:
        raise Mismatch(f"SIMILAR TO has no such pattern: {error}") from None
    return call("similar", args, Boolean(), position)


def test(op: FunctionName, value: Expr, other: Expr, *, position: Position | None) -> Expr:
    """starts_with, ends_with and contains."""
    return call(op, (string(value, op.upper()), string(other, op.upper())), Boolean(), position)


def substring(value: Expr, start: Expr, length: Expr | None, position: Position | None) -> Expr:
    """SUBSTRING, whose places count from 1, and from the end if they are negative."""
    value, start = string(value, "SUBSTRING"), _places(start, "SUBSTRING")
    if length is None:
        return call("substring_from", (value, start), Varchar(longest(value.type)), position)
    return call("substring", (value, start, _places(length, "SUBSTRING")), _few(value, length), position)


def side(op: FunctionName, value: Expr, length: Expr, *, position: Position | None) -> Expr:
    """LEFT and RIGHT."""
    value = string(value, op.upper())
    few = _few(value, length) if (written(length) or -1) >= 0 else Varchar(longest(value.type))
    return call(op, (value, _places(length, op.upper())), few, position)


def _places(number: Expr, said: str) -> Expr:
    """A place or length. DuckDB fails beyond 32 bits, which would tell of the rows that an owner looks at alone."""
    found = whole(number, said)
    low, high = range_of(found.type)
    if low <= -MOST_LENGTH or high >= MOST_LENGTH:
        raise Mismatch(f"by its bounds a place or length in {said} is beyond 32 bits; declare tighter min and max")
    return found


def case(op: FunctionName, value: Expr, *, position: Position | None) -> Expr:
    """UPPER and LOWER. A character of two bytes can become one of three."""
    value = string(value, op.upper())
    most = longest(value.type)
    return call(op, (value,), Varchar(None if most is None else most + most // 2), position)


def trimmed(op: FunctionName, value: Expr, characters: Expr, position: Position | None) -> Expr:
    """TRIM and its like."""
    value = string(value, "TRIM")
    return call(op, (value, string(characters, "TRIM")), Varchar(longest(value.type)), position)


def length(value: Expr, position: Position | None) -> Expr:
    """LENGTH, in characters."""
    value = string(value, "LENGTH")
    most = longest(value.type)
    return call("length", (value,), Integer(0, MOST_LENGTH if most is None else most, "BIGINT"), position)


def place(value: Expr, part: Expr, *, position: Position | None) -> Expr:
    """POSITION: where a string first has another, 0 where it does not."""
    value = string(value, "POSITION")
    most = longest(value.type)
    args = value, string(part, "POSITION")
    return call("position", args, Integer(0, MOST_LENGTH if most is None else most + 1, "BIGINT"), position)


def exchanged(value: Expr, old: Expr, new: Expr, *, position: Position | None) -> Expr:
    """REPLACE."""
    value, old, new = (string(each, "REPLACE") for each in (value, old, new))
    most, by = longest(value.type), longest(new.type)
    found = None if most is None or by is None else max(most, most * by)
    return call("replace", (value, old, new), Varchar(found), position)


def backwards(value: Expr, position: Position | None) -> Expr:
    """REVERSE."""
    value = string(value, "REVERSE")
    return call("reverse", (value,), Varchar(longest(value.type)), position)


def appended(a: Expr, b: Expr, position: Position | None) -> Expr:
    """a || b, of which a number or day is taken as a string."""
    a, b = as_text(a, position), as_text(b, position)
    both = longest(a.type), longest(b.type)
    most = None if both[0] is None or both[1] is None else both[0] + both[1]
    return call("append", (a, b), Varchar(most), position)


def concatenated(values: Sequence[Expr], position: Position | None) -> Expr:
    """CONCAT: all values that are not NULL as one string."""
    found: Expr = word("")
    for each in values:
        text = as_text(each, position)
        if text.nullable:
            text = choice([(is_null(text, position), word(""))], text, position)
        found = text if found == word("") else appended(found, text, position)
    return found


def as_text(value: Expr, position: Position | None) -> Expr:
    """CAST to VARCHAR."""
    if isinstance(value, Literal) and value.value is None:
        return Literal(None, TEXT)
    if isinstance(value.type, Varchar):
        return value
    return call("text", (value,), Varchar(_characters(value)), position)


def negated(found: Expr, position: Position | None) -> Expr:
    """NOT LIKE."""
    return logic("not", (found,), position)


def _characters(value: Expr) -> int:
    match value.type:
        case Integer(low, high):
            return max(len(str(low)), len(str(high)))
        case Decimal(_, scale, low, high):
            return max(len(str(abs(low))), len(str(abs(high))), scale + 1) + 2
        case Date():
            return 10
        case Timestamp():
            return MOMENT
        case Boolean():
            return 5
        case Double():
            return DOUBLE
        case Varchar():
            raise AssertionError("a string is one already")


def _few(value: Expr, length: Expr) -> Varchar:
    """Strings of a constant number of characters."""
    most, few = longest(value.type), written(length)
    if few is None:
        return Varchar(most)
    return Varchar(BYTES * abs(few) if most is None else min(most, BYTES * abs(few)))


def _ends_open(pattern: str, escape: str) -> bool:
    """Whether a pattern's last character is an escape that escapes nothing."""
    at, open_ = 0, False
    while at < len(pattern):
        open_ = pattern[at] == escape and at + 1 == len(pattern)
        at += 2 if pattern[at] == escape else 1
    return open_
