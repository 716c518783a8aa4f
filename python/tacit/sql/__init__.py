"""SQL: text in DuckDB's dialect to tacit's algebra, and on to a placed plan."""

from __future__ import annotations

from tacit.plan.catalog import Catalog
from tacit.plan.place import place
from tacit.plan.placed import PlacedPlan
from tacit.plan.refusals import QueryError
from tacit.sql.bind import bind
from tacit.sql.text import Text
from tacit.sql.titles import place_of

__all__ = ["bind", "compile_query"]


def compile_query(sql: str, catalog: Catalog, recipients: tuple[str, ...]) -> PlacedPlan:
    """The placed plan that answers a query to the recipients.

    Every party compiles it for itself and gets the same plan. Raises tacit.plan.refusals.QueryError for a query that is
    wrong or not supported; its text is one sentence for the user.
    """
    try:
        return place(bind(sql, catalog), catalog, recipients, sql)
    except QueryError as error:
        if error.position is None and error.column is not None:
            error.position = Text(sql).mention(error.column) or place_of(error.column, Text(sql))
        raise
