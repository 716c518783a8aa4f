"""Window functions as DuckDB SQL."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from tacit.local.expressions import column
from tacit.plan.algebra.relations import Frame, Window, WindowOutput

AMONG_PEERS = "\x00peers"
"""A column that orders peers where a function tells them apart."""

FUNCTIONS: dict[str, type[exp.Expr]] = {
    "row_number": exp.RowNumber, "rank": exp.Rank, "dense_rank": exp.DenseRank, "owner_rank": exp.DenseRank,
    "ntile": exp.Ntile,
    "lag": exp.Lag, "lead": exp.Lead, "first_value": exp.FirstValue, "last_value": exp.LastValue,
    "count_rows": exp.Count, "count": exp.Count, "sum": exp.Sum, "min": exp.Min, "max": exp.Max,
}  # fmt: skip
NUMBERS = ("row_number", "rank", "dense_rank", "owner_rank")
OF_FRAMES = ("count_rows", "count", "sum", "min", "max", "first_value", "last_value")


def tells_peers_apart(output: WindowOutput) -> bool:
    """Whether an output may differ between rows that are equal in partition and order."""
    match output.function:
        case "rank" | "dense_rank" | "owner_rank":
            return False
        case "count_rows" | "count" | "sum" | "min" | "max":
            return output.frame.unit == "rows"
        case _:
            return True


def windowed(window: Window, among_peers: str | None = None) -> Iterator[tuple[str, exp.Expr]]:
    """The outputs of a window over the input. among_peers: a column by which peers are told apart."""
    for each in window.outputs:
        order = [exp.Ordered(this=column(k.column), desc=k.descending, nulls_first=k.nulls_first) for k in window.order]
        apart = among_peers is not None and tells_peers_apart(each)
        whole = [*order, exp.Ordered(this=column(among_peers), desc=False, nulls_first=False)] if among_peers else order
        order = whole if apart and _counts_rows(each) else order
        yield (
            each.name,
            exp.Window(
                this=_call(each, whole if apart and not _counts_rows(each) else []),
                partition_by=[column(name) for name in window.partition],
                order=exp.Order(expressions=order) if order else None,
                spec=_spec(each.frame) if each.function in OF_FRAMES else None,
            ),
        )


def _counts_rows(output: WindowOutput) -> bool:
    """Whether one more term of the order leaves the frame as it is: peers are counted in the order as it is."""
    return output.frame.unit == "rows" or output.function not in OF_FRAMES


def _call(output: WindowOutput, among: list[exp.Ordered]) -> exp.Expr:
    """The function. among: the order in which a frame of peers has a first and a last row."""
    call = FUNCTIONS[output.function]
    match output.function:
        case "count_rows":
            return call(this=exp.Star())
        case "ntile":
            return call(this=exp.Literal.number(output.number or 1))
        case "lag" | "lead":
            default = None if output.default is None else column(output.default)
            return call(this=column(output.column or ""), offset=exp.Literal.number(output.number), default=default)
        case _ if output.function in NUMBERS:
            return call()
        case _:
            argument: exp.Expr = column(output.column or "")
            return call(this=exp.Order(this=argument, expressions=among) if among else argument)


def _spec(frame: Frame) -> exp.WindowSpec:
    return exp.WindowSpec(
        kind=frame.unit.upper(),
        **_bound("start", frame.start, "PRECEDING"),
        **_bound("end", frame.end, "FOLLOWING"),
    )


def _bound(side: str, distance: int | None, beyond: str) -> dict[str, object]:
    if distance is None:
        return {side: "UNBOUNDED", f"{side}_side": beyond}
    if distance == 0:
        return {side: "CURRENT ROW"}
    direction = "PRECEDING" if distance < 0 else "FOLLOWING"
    return {side: exp.Literal.number(abs(distance)), f"{side}_side": direction}
