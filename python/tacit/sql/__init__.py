"""SQL: text in DuckDB's dialect to tacit's algebra, and on to a placed plan."""

from __future__ import annotations

from datetime import UTC, date, datetime

from sqlglot import exp

from tacit.plan.algebra.refusals import QueryError
from tacit.plan.facts.catalog import Catalog
from tacit.plan.keep_program import keep_program
from tacit.plan.physical.placed import PlacedPlan
from tacit.plan.place import place
from tacit.plan.place_program import place_program
from tacit.plan.policy.allowed import Disclosed, disclosed
from tacit.plan.policy.check import check
from tacit.plan.policy.refusal import PolicyRefusal
from tacit.plan.programs.reading import is_program
from tacit.plan.rules.sequence import Trace, ignore
from tacit.sql.bind import bind, bind_query, bind_rows
from tacit.sql.changes import advise
from tacit.sql.statements import create_table, delivery, drop_table
from tacit.sql.text import Text, statements
from tacit.sql.titles import place_of

__all__ = ["bind", "bind_rows", "compile_query", "disclosures", "statements"]


def compile_query(
    sql: str, catalog: Catalog, recipients: tuple[str, ...], trace: Trace = ignore, today: date | None = None
) -> PlacedPlan:
    """The placed plan that answers a query to the recipients, or makes or drops a kept table, which has no recipients.
    A table is delivered and withdrawn by statements of tacit's own. The text of a program (tacit.plan.programs.reading)
    asks for its results.

    trace: called with each rule's name and the query after it. today: the day by which offers are read, by default this
    one in UTC.
    Every party compiles it for itself and gets the same plan. Raises tacit.plan.algebra.refusals.QueryError for a query
    that is wrong or not supported; its text is one sentence for the user. One that an owner's rules do not allow raises
    tacit.plan.policy.refusal.PolicyRefusal, with a change that passes.
    """
    today = today or datetime.now(UTC).date()
    if is_program(sql):
        return place_program(sql, catalog, recipients, today, lambda query: bind_rows(query, catalog))
    if (plan := keep_program(sql, catalog, lambda query: bind_rows(query, catalog), today)) is not None:
        return plan
    if (plan := delivery(sql, catalog, trace)) is not None:
        return plan
    try:
        text = Text(sql)
        match text.statement():
            case exp.Create() as node:
                return create_table(node, text, catalog, trace)
            case exp.Drop() as node:
                return drop_table(node, text, catalog)
            case node:
                return place(bind_query(text, node, catalog), catalog, recipients, sql, trace, today)
    except PolicyRefusal as refusal:
        advise(refusal, sql, catalog, recipients, today)
        raise
    except QueryError as error:
        if error.position is None and error.column is not None:
            error.position = Text(sql).mention(error.column) or place_of(error.column, Text(sql))
        raise


def disclosures(sql: str, catalog: Catalog, recipients: tuple[str, ...], today: date) -> tuple[Disclosed, ...]:
    """What a query discloses of other owners' columns, and by which rules. Runs and places nothing.

    Raises PolicyRefusal with a change that passes where an owner does not allow it, and other QueryErrors as ``bind``.
    """
    if not recipients:
        raise QueryError("the query has no recipient; name at least one party that gets the answer.")
    try:
        return disclosed(check(bind(sql, catalog), catalog, recipients, today).state, recipients)
    except PolicyRefusal as refusal:
        advise(refusal, sql, catalog, recipients, today)
        raise
