"""Generated window functions: over rows, under a name of their own, and over groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .expressions import Name, Writer
from .selects import Output


@dataclass(frozen=True)
class Windows:
    """Draws window functions. fresh: makes a name that nothing has, of a letter."""

    writer: Writer
    fresh: Callable[[str], str]

    def named(self, scope: Sequence[Name], outputs: list[Output]) -> str:
        """A window with a name of its own, and functions over it."""
        writer, name = self.writer, self.fresh("w")
        for _ in range(writer.pick([1, 2])):
            call = writer.pick(["count(*)", f"count({writer.pick(scope).text})", "rank()", "dense_rank()"])
            outputs.append(Output(writer.note("named window", f"{call} OVER {name}"), self.fresh("o")))
        order = writer.pick([each for each in scope if each.shown]).text
        return f" WINDOW {name} AS (PARTITION BY {writer.pick(scope).text} ORDER BY {order}{self._direction()})"

    def several(self, scope: Sequence[Name], count: int) -> list[Output]:
        """Window functions of one query, of which the first alone may tell peers apart.

        Rows that are the same in all columns that can show might have the number of one in one order, and of the other
        in another one. So partitions are by such columns, too.
        """
        shown = [name for name in scope if name.shown]
        return [self._window(scope if count == 1 else shown, shown, telling=at == 0) for at in range(count)]

    def _window(self, scope: Sequence[Name], shown: Sequence[Name], *, telling: bool) -> Output:
        """One that tells peers apart is over rows in the order of all columns that it can show."""
        writer = self.writer
        numbers = [name for name in shown if name.family in ("whole", "decimal")]
        partition = f"PARTITION BY {writer.pick(scope).text} " if writer.often(2) else ""
        some = ", ".join(f"{writer.pick(shown).text}{self._direction()}" for _ in range(writer.pick([1, 1, 2])))
        order = f"ORDER BY {some}" if not writer.often(3) else ""
        total = f"ORDER BY {', '.join(f'{name.text}{self._direction()}' for name in writer.chance.shuffled(shown))}"
        frame = ""
        if telling and writer.often(2):
            start, end = sorted((writer.pick([-9, -3, -1, 0, 1, 4]), writer.pick([-2, -1, 0, 1, 2, 9])))
            bounds = [self._bound(start), self._bound(end)]
            bounds[0] = writer.pick([bounds[0], bounds[0], "UNBOUNDED PRECEDING"])
            bounds[1] = writer.pick([bounds[1], bounds[1], "UNBOUNDED FOLLOWING"])
            frame, order = writer.note("ROWS frame", f" ROWS BETWEEN {bounds[0]} AND {bounds[1]}"), total
        elif order and writer.often(4):
            peers = writer.pick(["UNBOUNDED PRECEDING AND CURRENT ROW", "CURRENT ROW AND UNBOUNDED FOLLOWING"])
            frame = writer.note("RANGE frame", f" RANGE BETWEEN {peers}")
        of = writer.pick(shown).text
        shifted = f"{of}, {writer.pick([1, 1, 2, 0, 40])}{writer.pick(['', f', {of}'])}"
        calls = {
            "rank()": f"ORDER BY {some}", "dense_rank()": f"ORDER BY {some}",
            "count(*)": order + frame, f"count({of})": order + frame, f"min({of})": order + frame,
            f"max({of})": order + frame,
        }  # fmt: skip
        calls |= {f"{name}({writer.pick(numbers).text})": order + frame for name in ("sum", "avg") if numbers}
        if telling:
            calls |= {
                "row_number()": total, f"ntile({writer.pick([1, 3, 7])})": total, f"lag({shifted})": total,
                f"lead({shifted})": total, f"first_value({of})": total + frame, f"last_value({of})": total + frame,
            }  # fmt: skip
        call = writer.pick(sorted(calls))
        text = writer.note(f"{call.split('(')[0]} OVER", f"{call} OVER ({partition}{calls[call]})")
        return Output(text, self.fresh("o"), double=call.startswith("avg"))

    def _direction(self) -> str:
        return self.writer.pick(["", "", " DESC"]) + self.writer.pick(["", "", " NULLS FIRST"])

    def _bound(self, distance: int) -> str:
        if distance == 0:
            return "CURRENT ROW"
        return f"{abs(distance)} {'PRECEDING' if distance < 0 else 'FOLLOWING'}"

    def over_groups(self, keys: Sequence[Output], scope: Sequence[Name]) -> Output:
        """A window over the groups, in an order by how many rows they have."""
        writer, name = self.writer, self.fresh("o")
        call = writer.pick(["RANK()", "DENSE_RANK()", "SUM(COUNT(*))", "COUNT(*)", "MAX(COUNT(*))"])
        over = f"ORDER BY COUNT({writer.pick(scope).text}){self._direction()}"
        if writer.often(3) and " OVER " not in keys[0].text:  # DuckDB has no window in a window's definition
            over = f"PARTITION BY {keys[0].text} {over}"
        return Output(writer.note("window over groups", f"{call} OVER ({over})"), name)
