"""Why a use of a column is refused, in words: offers and names are public, so sentences tell nothing of data."""

from __future__ import annotations

from decimal import Decimal as Number

from tacit.plan.algebra import moments
from tacit.plan.algebra.types import Date, Decimal, Timestamp, Type
from tacit.plan.facts.terms import FUNCTIONS, ColumnTerms
from tacit.plan.policy.exposure import floor_of, terms_of
from tacit.plan.policy.refusal import Problem, Rule
from tacit.plan.policy.state import Item

RULES: dict[str, Rule] = {
    "row": "select",
    "row filter": "select",
    "row sort": "select",
    "row join": "matches",
    "row distinct": "matches",
    "present": "select",
    "aggregate": "function",
    "rows": "function",
    "single": "function",
    "one": "floor",
    "value": "select",
    "sort": "select",
    "chosen": "weights",
    "distinct": "group",
}
"""The rule that a reason falls under, where they differ."""

NAMES = {"count_distinct": "COUNT(DISTINCT)", "quantile": "a quantile"}


def problem(item: Item, reason: str, recipient: str) -> Problem:
    """A use that is refused for a reason."""
    table = item.instance.table
    rule = RULES.get(reason) or _rule(reason)
    way = item.role if item.function is None else f"{item.role}({item.function})"
    sentence = _sentence(item, reason)
    return Problem(rule, table.owner, table.name, item.column, way, sentence, recipient, item.detail, item.position)


def _rule(reason: str) -> Rule:
    known: tuple[Rule, ...] = (
        "closed", "function", "linear", "weights", "repeats", "cuts", "constants", "with", "matches", "floor", "kept",
        "window", "filter", "join", "group",
    )  # fmt: skip
    return next(each for each in known if each == reason)


def _sentence(item: Item, reason: str) -> str:
    table = item.instance.table
    name = table.name if item.column is None else f"{table.name}.{item.column}"
    terms = None if item.column is None else terms_of(table, item.column)
    match reason:
        case "closed":
            programs = terms is not None and "program" in terms.ways
            return f"{name} is {'open to programs alone' if programs else 'closed'}"
        case "row":
            return f"{name} would be seen row by row; {_may(terms)}"
        case "row filter":
            return f"which rows are shown tells {name} of each"
        case "row sort" | "sort":
            return f"the order tells {name}'s ranks"
        case "present":
            return f"each row tells of one of {table.name}, of which no column is seen row by row"
        case "row join" | "row distinct":
            return f"each row tells that this {_unit(item)} is in {table.name}"
        case "one":
            return f"each group is one {_unit(item)} of {table.name}; groups need {floor_of(table)}"
        case "function":
            return f"{_function(item)} {_gives(item)} {name}; {_functions(terms)}"
        case "aggregate":
            return f"{_function(item)} {_gives(item)} {name}; {_may(terms)}"
        case "linear" if item.column is None:
            return f"more than a multiple of how many rows of {name} a unit has is added up"
        case "linear":
            return f"more than a multiple of {name} is added up"
        case "weights":
            owner, _, column = item.detail.partition(" ")
            return f"values that {owner} knows, {column}, are added over rows that {table.name} decides"
        case "chosen":
            owner, _, column = item.detail.partition(" ")
            return f"{owner} chooses which {column} stand beside rows of {table.name}"
        case "rows":
            return f"{_function(item)} {_gives(item)} how many rows of {table.name} a unit has"
        case "single":
            return f"{_function(item)} {_gives(item)} {name}, and tells that its row is counted"
        case "repeats" if item.detail == "UNION":
            return f"{table.name} stands on both sides of a UNION, which may differ by few units"
        case "repeats":
            return f"{item.detail} may count a row of {table.name} several times"
        case "with":
            return f"{name} would meet {item.detail}; {_partners(terms)}"
        case "cuts" | "constants":
            return f"{name} {_constants(item, terms)}"
        case "matches":
            return f"a full join tells {item.detail} which rows of {table.name} have a partner"
        case "floor":
            return _floor(item)
        case "kept":
            return f"a kept table has data of {table.name}, whose rules cannot be held there"
        case "window":
            return _window(item)
        case "filter":
            key = " is a key of joins;" if terms is not None and terms.queried == {"join"} else ":"
            return f"{name}{key} conditions on it are closed"
        case "join" | "group" | "distinct" | "value":
            doing = {"join": "be a key of joins", "value": "be seen"}
            return f"{name} would {doing.get(reason, 'make groups')}; {_may(terms)}"
    raise AssertionError(f"no sentence for {reason}")


def _floor(item: Item) -> str:
    table = item.instance.table.name
    what, _, number = item.detail.partition(" ")
    match what:
        case "squares":
            return f"a variance gives the values of two units; {table} needs a least_group of {number}"
        case "count":
            return f"no group of {number} or more fulfils the condition"
        case "conditions":
            return f"sums for each unit of {table} have more than {number} conditions and NULLs beneath"
        case "padded":
            return f"rows of {table} that are seen are added to others, of which alone the floor is not known"
        case "limited":
            return f"a LIMIT tells how many rows of {table} there are, and so how many a condition leaves out"
        case "absent":
            return f"a join that is not an inner one tells which units of {table} are missing, and nothing counts them"
        case "many":
            return f"a join whose keys repeat on both sides has rows of {table} several times, and nothing counts them"
        case "blended":
            return f"a condition tells which units of {table} others match, and something else beside"
        case "branched":
            return f"{table}.{item.column} is added up, and a condition or key leaves no interval of it"
        case "united":
            return f"equal values match rows of {table} with those of others in a UNION, and nothing counts how many"
        case "overflow":
            beyond = f"a value computed of {table} may be beyond its type, unless it is cast to a wider one"
            return f"{beyond}; an error would tell of single rows"
        case "delivered":
            return f"{table} is read as delivered, where its units are not counted"
        case "rows":
            return f"rows of {table} may repeat, and no unit or unique key tells them apart"
        case _:
            return f"{table} has no least_group, so that no group of it is shown"


def _window(item: Item) -> str:
    table, (reason, _, function) = item.instance.table.name, item.detail.partition(" ")
    match reason:
        case "rows":
            return f"{function} OVER tells of other rows of {table} than it stands beside, which nothing counts"
        case "order":
            return f"{function} OVER takes rows of {table} that are equal in its order in any order, as RANK does not"
        case _:
            return f"{function} OVER is computed of {table} and of others' rows or conditions, which nothing counts"


def _unit(item: Item) -> str:
    """Whom a rule protects: with a unit it is somebody, else a row."""
    terms = item.instance.table.terms
    return "unit" if terms is not None and terms.unit else "row"


def _function(item: Item) -> str:
    return NAMES.get(item.function or "", (item.function or "").upper())


def _gives(item: Item) -> str:
    return "gives one value of" if item.function in ("min", "max", "quantile") else "would be computed of"


def _functions(terms: ColumnTerms | None) -> str:
    known = [each for each in FUNCTIONS if terms is not None and each in terms.functions]
    return f"{', '.join(known)} are allowed" if len(known) > 1 else f"{''.join(known) or 'nothing'} is allowed"


def _may(terms: ColumnTerms | None) -> str:
    if terms is not None and "select" in terms.ways:
        return "not all who ask may see it"
    ways = {"join": "joined", "filter": "filtered", "group": "grouped by", "aggregate": "aggregated"}
    known = [word for way, word in ways.items() if terms is not None and way in terms.ways]
    return f"it may be {' or '.join(known)}" if known else "it is closed"


def _partners(terms: ColumnTerms | None) -> str:
    known = sorted(terms.partners or ()) if terms is not None else []
    return f"it may meet {', '.join(known)}" if known else "it may be compared with constants only"


def _constants(item: Item, terms: ColumnTerms | None) -> str:
    """What a column may be compared with, as people write it."""
    assert terms is not None, "only columns have constants"
    type_ = next(each.field.type for each in item.instance.table.columns if each.field.name == item.column)
    parts = []
    if terms.cuts is not None:
        cuts = "months" if terms.cuts == "month" else ", ".join(_written(each, type_) for each in terms.cuts)
        parts.append(f"may be cut at {cuts}")
    if terms.constants is not None:
        parts.append(f"may be equal to {', '.join(sorted(_written(each, type_) for each in terms.constants))}")
    return " and ".join(parts) + ", and tested in no other way"


def _written(value: int | bool | str, type_: Type) -> str:
    match type_:
        case Date() if isinstance(value, int):
            return moments.day_text(value)
        case Timestamp() if isinstance(value, int):
            return moments.moment_text(value)
        case Decimal(_, scale) if isinstance(value, int):
            return str(Number(value).scaleb(-scale))
        case _:
            return f"'{value}'" if isinstance(value, str) else str(value)
