"""The query's text: parsing it, and finding the place in it that a syntax node comes from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches

import sqlglot
from sqlglot import TokenType, exp
from sqlglot.errors import ParseError, TokenError

from tacit.plan.algebra.refusals import InvalidSQL, Position, UnsupportedSQL

VERBS = ("SELECT", "WITH", "CREATE", "DROP", "FROM", "VALUES")
"""What statements begin with."""
SET_OPERATIONS = (TokenType.UNION, TokenType.INTERSECT, TokenType.EXCEPT)
PARTS = {
    "db": "a schema name",
    "except_": "EXCLUDE",
    "limit_options": "a percentage",
    "sample": "TABLESAMPLE",
    "expressions": "a list",
    "properties": "a property such as TEMP",
}
"""Parts of the syntax that the parser calls otherwise than people do."""

SPELLINGS = {
    "PERCENTILE_CONT": ("QUANTILE_CONT", "PERCENTILE_CONT"),
    "PERCENTILE_DISC": ("QUANTILE_DISC", "PERCENTILE_DISC"),
    "GROUP_CONCAT": ("STRING_AGG", "GROUP_CONCAT", "LISTAGG"),
}
"""How functions are written that the parser calls otherwise and keeps no place of."""


@dataclass(frozen=True)
class Text:
    """A query's text."""

    sql: str

    def position(self, node: exp.Expr) -> Position | None:
        """Line and column, from 1, of the first character the parser remembers under a node, or around it."""
        around: exp.Expr | None = node
        while around is not None:
            starts = [each.meta["start"] for each in around.walk() if "start" in each.meta]
            if starts:
                return self._place(min(starts))
            around = around.parent
        return None

    def mention(self, column: str) -> Position | None:
        """Line and column of the first place that names a column. The planner's names may have more words before."""
        places: dict[str, int] = {}
        for each in self.statement().find_all(exp.Identifier):
            if "start" in each.meta:
                start = each.meta["start"]
                places[each.name.lower()] = min(start, places.get(each.name.lower(), start))
        words = column.lower().split("_")
        names = ("_".join(words[first:]) for first in range(len(words)))
        return next((self._place(places[name]) for name in names if name in places), None)

    def written_name(self, node: exp.Expr) -> str | None:
        """The name of a function as the query writes it; None where the parser does not remember its place."""
        if "start" not in node.meta:
            return None
        found = self.sql[node.meta["start"] : node.meta["end"] + 1]
        return found if re.fullmatch(r"[A-Za-z_]\w*", found) else None

    def written(self, node: exp.Expr) -> str:
        """A literal as it was written (the parser rewrites .5 to 0.5, which has another type)."""
        if "start" not in node.meta:
            return str(node.this)
        return self.sql[node.meta["start"] : node.meta["end"] + 1].replace("_", "")

    def type_name(self, node: exp.Cast) -> str:
        """The name of a cast's type as it was written, after the value or (DATE '2020-01-01') before it."""
        places = [(each.meta["start"], each.meta["end"]) for each in node.this.walk() if "start" in each.meta]
        if not places:
            return node.to.sql("duckdb")
        start, end = min(start for start, _ in places), max(end for _, end in places)
        if (typed := self._type_before(node, start)) is not None:
            return typed
        after = re.match(r"[\s)]*(?:::|\bAS\b)\s*(\w+)", self.sql[end + 1 :], re.IGNORECASE)
        before = re.search(r"(\w+)[\s(]*$", self.sql[:start])
        found = after or before
        return node.to.sql("duckdb") if found is None else found[1]

    def word(self, node: exp.Expr) -> str:
        """The name of a function as it was written, in capitals: the parser calls some otherwise."""
        if "start" in node.meta:
            return self.sql[node.meta["start"] : node.meta["end"] + 1].strip('"').upper()
        name = node.sql_name() if isinstance(node, exp.Func) else type(node).__name__.upper()
        ends = [each.meta["start"] for each in node.walk() if "start" in each.meta]
        before = re.findall(r"(\w+)\s*\(", self.sql[: min(ends)]) if ends else []
        return next((each.upper() for each in reversed(before) if each.upper() in SPELLINGS.get(name, ())), name)

    def unsupported(self, node: exp.Expr, construct: str, instead: str) -> UnsupportedSQL:
        """The refusal of a construct at its place."""
        return UnsupportedSQL(construct, instead, self.position(node))

    def invalid(self, node: exp.Expr, sentence: str) -> InvalidSQL:
        """The error of a wrong query at its place."""
        return InvalidSQL(sentence, self.position(node))

    def statement(self) -> exp.Expr:
        """The one statement of the text, in DuckDB's dialect."""
        try:
            tree = sqlglot.parse_one(self.sql, dialect="duckdb")
        except ParseError as error:
            self._check_verb()
            self._check_values()
            raise _syntax_error(error) from None
        except TokenError:
            raise InvalidSQL("a quoted string or a comment in the query does not end; close it.") from None
        if isinstance(tree, exp.Block):
            raise self.unsupported(tree.expressions[1], "more than one statement", "ask one question at a time")
        for cast in tree.find_all(exp.Cast):
            self._typed_first(cast)
        return tree

    def _typed_first(self, cast: exp.Cast) -> None:
        """TIMESTAMP '2020-01-01'::DATE is a day: the parser casts the text to DATE first."""
        inner = cast.this
        if not isinstance(inner, exp.Cast) or "start" not in inner.this.meta:
            return
        start, end = inner.this.meta["start"], inner.this.meta["end"]
        if self._type_before(cast, start) and re.match(r"\s*::", self.sql[end + 1 :]):
            first, second = cast.to, inner.to
            inner.set("to", first.copy())
            cast.set("to", second.copy())

    def _type_before(self, cast: exp.Cast, start: int) -> str | None:
        """The type of a cast where it stands in front of a literal."""
        found = re.search(rf"\b({re.escape(cast.to.sql('duckdb'))})\s*$", self.sql[:start], re.IGNORECASE)
        return None if found is None else found[1]

    def _check_verb(self) -> None:
        """Refuse a text that begins with no statement: what the parser stumbles over comes later."""
        found = re.match(r"(?:\s|--.*\n|/\*.*?\*/|\()*([A-Za-z]\w*)", self.sql, re.DOTALL)
        if found is not None and found[1].upper() not in VERBS:
            near = get_close_matches(found[1].upper(), VERBS, n=1)
            advice = f"did you mean {near[0]}?" if near else "it begins with SELECT, WITH, CREATE TABLE or DROP TABLE."
            raise InvalidSQL(f"{found[1]!r} begins no statement; {advice}", self._place(found.start(1)))

    def _check_values(self) -> None:
        """Refuse VALUES before a set operation in FROM, which the parser takes for the end of what stands there."""
        waiting: list[bool] = []
        tokens = sqlglot.tokenize(self.sql, dialect="duckdb")
        for before, token, after in zip([None, *tokens], tokens, [*tokens[1:], None], strict=False):
            if token.token_type is TokenType.L_PAREN:
                is_table = before is not None and before.token_type in (TokenType.FROM, TokenType.JOIN, TokenType.COMMA)
                waiting.append(is_table and after is not None and after.token_type is TokenType.VALUES)
            elif token.token_type is TokenType.R_PAREN and waiting:
                waiting.pop()
            elif token.token_type in SET_OPERATIONS and waiting and waiting[-1]:
                what = f"VALUES before {token.text.upper()} in FROM"
                instead = f"name it first, WITH v AS (VALUES ... {token.text.upper()} ...), and write FROM v"
                raise UnsupportedSQL(what, instead, self._place(token.start))

    def _place(self, start: int) -> Position:
        before = self.sql[:start]
        return before.count("\n") + 1, start - (before.rfind("\n") + 1) + 1


def only(node: exp.Expr, text: Text, allowed: dict[str, str] | set[str], what: str) -> None:
    """Refuse a node that uses any part of its syntax besides the allowed ones."""
    for part, value in node.args.items():
        if part in allowed or value is None or value is False or value == []:
            continue
        place = next((each for each in ([value] if isinstance(value, exp.Expr) else []) if each), node)
        name = PARTS.get(part, part.rstrip("_").upper().replace("_", " "))
        raise text.unsupported(place, f"{name} in {what}", f"write {what} without it")


def _syntax_error(error: ParseError) -> InvalidSQL:
    if not error.errors:
        return InvalidSQL("the query is not SQL; check its syntax.")
    first = error.errors[0]
    token = first.get("highlight") or ""
    near = f" near {token!r}" if token else ""
    line, end = first.get("line"), first.get("col")
    position = None if line is None or end is None else (line, max(end - len(token) + 1, 1))
    return InvalidSQL(f"the query is not valid SQL{near}; check the syntax there.", position)


def statements(sql: str) -> list[str]:
    """The statements of a text, which semicolons divide, without these."""
    try:
        tokens = sqlglot.tokenize(sql, dialect="duckdb")
    except TokenError:
        return [sql]  # whoever parses it says what does not end
    ends = [each.start for each in tokens if each.token_type is TokenType.SEMICOLON]
    parts = [sql[start:end] for start, end in zip([0, *(end + 1 for end in ends)], [*ends, len(sql)], strict=True)]
    return [each for each in parts if sqlglot.tokenize(each, dialect="duckdb")]
