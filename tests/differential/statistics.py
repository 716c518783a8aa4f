"""Generated aggregates beside the usual ones: variances, WITHIN GROUP, ANY_VALUE, and FILTER on any of them."""

from __future__ import annotations

from collections.abc import Sequence

from .columns import literal
from .expressions import Name, Writer
from .scalars import is_small

ONE = ("VARIANCE", "VAR_POP", "STDDEV", "STDDEV_POP", "STDDEV_SAMP")
TWO = ("COVAR_POP", "COVAR_SAMP", "CORR", "REGR_SLOPE")


def loose(writer: Writer, scope: Sequence[Name]) -> str | None:
    """A statistic that DuckDB rounds row by row, of numbers of three digits."""
    few = [each for each in scope if is_small(each) and all(abs(v) < 10_000 for v in _values(each))]
    if not few:
        return None
    if writer.often(2):
        text = f"{writer.pick(TWO)}({writer.pick(few).text}, {writer.pick(few).text})"
        return writer.note("COVAR and its like", text)
    return writer.note("VARIANCE and its like", f"{writer.pick(ONE)}({writer.pick(few).text})")


def filtered(writer: Writer, scope: Sequence[Name]) -> tuple[str, bool]:
    """An aggregate of the rows that a condition keeps, and whether it is a DOUBLE."""
    numbers = [each for each in scope if each.family in ("whole", "decimal")]
    shown = [each for each in scope if each.shown]
    calls = ["COUNT(*)", f"COUNT(DISTINCT {writer.pick(scope).text})", f"COUNT({writer.pick(scope).text})"]
    calls += [f"{name}({writer.pick(numbers).text})" for name in ("SUM", "MAX", "AVG", "SUM") if numbers]
    calls += [f"{name}({writer.pick(shown).text})" for name in ("MIN", "MAX") if shown]
    call = writer.pick(calls)
    return writer.note("FILTER", f"{call} FILTER (WHERE {writer.flag(scope, 1)})"), call.startswith("AVG")


def within_group(writer: Writer, small: Sequence[Name]) -> tuple[str, bool]:
    """A percentile of a column in an order, and whether it is a DOUBLE."""
    kind, share = writer.pick(["DISC", "CONT"]), writer.pick(["0.25", "0.5", "0.9"])
    direction = writer.pick(["", " DESC"])
    text = f"PERCENTILE_{kind}({share}) WITHIN GROUP (ORDER BY {writer.pick(small).text}{direction})"
    return writer.note("WITHIN GROUP", text), kind == "CONT"


def any_value(writer: Writer, scope: Sequence[Name]) -> str | None:
    """A value of rows that all have the same."""
    known = [each for each in scope if each.origin is not None and each.shown]
    if not known:
        return None
    name = writer.pick(known)
    assert name.origin is not None
    value = literal(writer.pick(name.origin.values))
    return writer.note("ANY_VALUE", f"ANY_VALUE({name.text}) FILTER (WHERE {name.text} = {value})")


def _values(name: Name) -> list[int]:
    assert name.origin is not None
    return [value for value in name.origin.values if isinstance(value, int)]
