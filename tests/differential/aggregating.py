"""Generated aggregates: outputs of a SELECT, and what HAVING says of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from . import statistics
from .expressions import Name, Writer
from .scalars import is_small
from .selects import Output


@dataclass(frozen=True)
class Aggregates:
    """Draws aggregates. fresh: makes a name that nothing has, of a letter."""

    writer: Writer
    fresh: Callable[[str], str]

    def having(self, scope: Sequence[Name]) -> str:
        writer = self.writer
        numbers = [name for name in scope if name.family in ("whole", "decimal")]
        aggregates = ["COUNT(*)", f"COUNT({writer.pick(scope).text})"]
        aggregates += [f"{function}({writer.pick(numbers).text})" for function in ("SUM", "MAX", "MIN") if numbers]
        condition = f"{writer.pick(aggregates)} {writer.pick(['>', '<=', '<>'])} {writer.pick(['1', '0', '10'])}"
        return writer.note("HAVING", f" HAVING {condition}")

    def several(self, scope: Sequence[Name]) -> list[Output]:
        return [self._one(scope) for _ in range(self.writer.pick([1, 2, 3]))]

    def _one(self, scope: Sequence[Name]) -> Output:
        """An aggregate, or an expression over some."""
        writer, name = self.writer, self.fresh("o")
        numbers = [each for each in scope if each.family in ("whole", "decimal")]
        # Of numbers beyond 2^53 DuckDB rounds the two middle ones before it adds them, and tacit does not.
        middling = [each for each in numbers if is_small(each)]
        shown = [each for each in scope if each.shown]
        kinds = ["COUNT(*)", "COUNT", "SUM", "COUNT(DISTINCT)", "MIN", "MAX", "AVG", "MEDIAN", "quotient", "expression"]
        kinds += ["rounded AVG", "SUM of a half"]
        kinds += ["FILTER", "BOOL_OR", "SUM(DISTINCT)", "QUANTILE_DISC", "QUANTILE_CONT"]
        if writer.often(5) and (found := self._statistic(scope, middling, name)):
            return found
        match writer.pick(kinds):
            case "COUNT":
                text = writer.note("COUNT", f"COUNT({self._any(scope)})")
            case "COUNT(DISTINCT)":
                text = writer.note("COUNT(DISTINCT)", f"COUNT(DISTINCT {writer.pick(scope).text})")
            case "SUM" if numbers:
                text = writer.note("SUM", f"SUM({writer.number(scope, writer.pick([0, 0, 2]))})")
            case "AVG" if numbers:
                return Output(writer.note("AVG", f"AVG({writer.pick(numbers).text})"), name, double=True)
            case "rounded AVG" if middling:
                return self._rounded(writer.pick(middling).text, name)
            case "SUM of a half" if middling:
                forms = ["SUM({} / 2)", "AVG({} / 4)", "MIN({} / -2)", "MAX({} * 0.5e0)", "SUM(DISTINCT {} / 2)"]
                text = writer.note("aggregate of a half", writer.pick(forms).format(writer.pick(middling).text))
                return Output(text, name, double=True)
            case "MEDIAN" if middling:
                return Output(writer.note("MEDIAN", f"MEDIAN({writer.pick(middling).text})"), name, double=True)
            case "FILTER":
                text, double = statistics.filtered(writer, scope)
                return Output(text, name, double)
            case "BOOL_OR":
                function = writer.pick(["BOOL_OR", "BOOL_AND", "COUNT_IF"])
                text = writer.note("BOOL_OR", f"{function}({writer.flag(scope, 1)})")
            case "SUM(DISTINCT)" if numbers:
                text = writer.note("SUM(DISTINCT)", f"SUM(DISTINCT {writer.pick(numbers).text})")
            case "QUANTILE_DISC" if middling:
                share = writer.pick(["0.25", "0.9", "0.5"])
                text = writer.note("QUANTILE_DISC", f"QUANTILE_DISC({writer.pick(middling).text}, {share})")
            case "QUANTILE_CONT" if middling:
                share = writer.pick(["0.25", "0.75"])
                text = writer.note("QUANTILE_CONT", f"QUANTILE_CONT({writer.pick(middling).text}, {share})")
                return Output(text, name, double=True)
            case "quotient" if numbers:
                text = f"SUM({writer.pick(numbers).text}) / COUNT({writer.pick(numbers).text})"
                return Output(writer.note("division", text), name, double=True)
            case "expression" if numbers:
                number = writer.pick(numbers).text
                text = writer.pick(
                    [
                        f"COALESCE(SUM({number}), 0)",
                        f"SUM({number}) - COUNT(*)",
                        f"CASE WHEN COUNT(*) > 1 THEN MAX({number}) END",
                        f"2 * COUNT({number}) + 1",
                    ]
                )
                writer.note("expression over aggregates", "")
            case "MIN" | "MAX" as function if shown:
                text = writer.note(function, f"{function}({writer.pick(shown).text})")
            case _:
                text = writer.note("COUNT(*)", "COUNT(*)")
        return Output(text, name)

    def _rounded(self, number: str, name: str) -> Output:
        """An average of whole numbers, rounded where a DOUBLE has the middle between two exactly."""
        writer = self.writer
        form = writer.pick(["ROUND(AVG({}))", "FLOOR(AVG({}))", "CEIL(AVG({}))", "CAST(AVG({}) AS BIGINT)"])
        return Output(writer.note("rounded AVG", form.format(number)), name, double=not form.startswith("CAST"))

    def _statistic(self, scope: Sequence[Name], small: Sequence[Name], name: str) -> Output | None:
        """A less usual aggregate, if the scope has a column for it."""
        match self.writer.pick(["loose", "WITHIN GROUP", "ANY_VALUE"]):
            case "loose" if text := statistics.loose(self.writer, scope):
                return Output(text, name, double=True, loose=True)
            case "WITHIN GROUP" if small:
                text, double = statistics.within_group(self.writer, small)
                return Output(text, name, double, loose=double)
            case "ANY_VALUE" if text := statistics.any_value(self.writer, scope):
                return Output(text, name)
            case _:
                return None

    def _any(self, scope: Sequence[Name]) -> str:
        subject = self.writer.pick(scope)
        return (
            self.writer.expression(scope, subject.family, 1) if self.writer.often(3) and subject.shown else subject.text
        )
