"""The kinds of joins that a FROM clause can name, and what is refused of them."""

from __future__ import annotations

from typing import Literal as OneOf

from sqlglot import exp

from tacit.sql.text import Text, only

Kind = OneOf["COMMA", "INNER", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI"]
_KINDS: dict[str, Kind] = {
    "": "INNER", "INNER": "INNER", "CROSS": "INNER",
    "LEFT": "LEFT", "LEFT OUTER": "LEFT", "RIGHT": "RIGHT", "RIGHT OUTER": "RIGHT",
    "FULL": "FULL", "FULL OUTER": "FULL",
    "SEMI": "SEMI", "ANTI": "ANTI",
}  # fmt: skip
INSTEAD = "write a JOIN with ON, LEFT, RIGHT, FULL, SEMI, ANTI or CROSS"


def join_kind(join: exp.Join, text: Text) -> Kind:
    """Which rows a join has. Raises a QueryError for others, and for one without or with too many conditions."""
    named = " ".join(part for part in (join.side, join.kind) if part).upper()
    natural = join.method.upper() == "NATURAL"
    if (join.method and not natural) or named not in _KINDS:
        shown = " ".join(part for part in (join.method.upper(), named) if part)
        raise text.unsupported(join, f"{shown} JOIN", INSTEAD)
    only(join, text, {"this", "on", "using", "kind", "side", "method"}, "JOIN")
    kind = _KINDS[named]
    conditions = sum([bool(join.args.get("on")), bool(join.args.get("using")), natural])
    if not conditions and not named:
        return "COMMA"
    if named == "CROSS" and conditions:
        raise text.invalid(join, "a CROSS JOIN has no condition; write JOIN with it.")
    if named != "CROSS" and conditions != 1:
        raise text.invalid(join, f"a {named or 'NATURAL'} JOIN needs one condition; write ON or USING.")
    return kind
