"""docs/schemas are generated from the dataclasses, and what `--format json` prints obeys them.

TACIT_UPDATE_GOLDEN=1 writes them instead of comparing.
"""

from __future__ import annotations

import copy
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from tacit.plan import explain_json
from tacit.plan.account.explain import FORMAT
from tacit.plan.account.statement import Statement
from tacit.plan.facts.allowances import Allowance, Ruling
from tacit.plan.facts.catalog import DisclosureRule
from tacit.plan.physical.cost import StepCost
from tacit.plan.physical.disclosure import DisclosureKind
from tacit.plan.policy.matches import MatchAllowance
from tacit.psi import disclosures as match
from tacit.psi.explain import FORMAT as MATCH_FORMAT
from tacit.psi.explain import explained
from tacit.psi.parameters import Parameters
from tacit.psi.request import Limits
from tacit.sql import compile_query

from .catalogs import CATALOGS
from .golden import Case, cases, files
from .schemas import DIALECT, HASH, TEXT, TEXTS, Schema, Schemas, either, record, table_of, violations
from .test_golden import GOLDEN

FOLDER = Path(__file__).parents[2] / "docs" / "schemas"
ANY: Schema = {}
OBJECT: Schema = {"type": "object"}
NUMBER: Schema = {"type": "integer"}
MAYBE_NUMBER = either(NUMBER, {"type": "null"})
RULES: Schema = {"type": "array", "items": {"enum": [each.value for each in DisclosureRule]}}
ALL_CASES = [case for path in files(GOLDEN) for case in cases(path)]


def document(name: str, title: str, body: Schema, definitions: dict[str, Schema]) -> Schema:
    head = {"$schema": DIALECT, "$id": f"https://tacit.example/schemas/{name}", "title": title}
    return head | body | {"$defs": definitions}


def explain_schema() -> Schema:
    schemas = Schemas()
    statement, cost = schemas.of(Statement), schemas.of(StepCost)
    schemas.found["StepCost"]["properties"]["node"] = {"const": "StepCost"}
    schemas.found["StepCost"]["required"].append("node")
    schemas.found |= {"Use": use(), "Disclosure": disclosure()}
    plan = {
        "description": "The placed plan (docs/placed-plan.md), of which the hash is. Its other members may change.",
        "type": "object",
        "properties": {"query": TEXT, "disclosures": {"type": "array", "items": {"$ref": "#/$defs/Disclosure"}}},
        "required": ["query", "disclosures"],
        "additionalProperties": True,
    }
    members = {
        "format": {"const": FORMAT},
        "question": TEXT,
        "statement": statement,
        "learns": TEXTS,
        "plan": plan,
        "cost": {"type": "array", "items": cost},
        "hash": HASH,
    }
    return document("explain.schema.json", "tacit explain --format json", record(members), schemas.found)


def use() -> Schema:
    members = {"owner": either(TEXT, {"type": "null"}), "table": TEXT, "column": either(TEXT, {"type": "null"})}
    return record(
        {**members, "through": TEXTS}, description="A source, and the operators between it and what is shown."
    )


def disclosure() -> Schema:
    uses = {"type": "array", "items": {"$ref": "#/$defs/Use"}}
    derivation = {
        "values": table_of(uses),
        "outputs": table_of(uses),
        "presence": uses,
        "rows": MAYBE_NUMBER,
        "floor": MAYBE_NUMBER,
    }
    members = {
        "recipients": TEXTS,
        "kind": {"enum": list(get_args(DisclosureKind))},
        "site": TEXT,
        "step": NUMBER,
        "shown": OBJECT,
        "derivation": record(derivation),
        "rules": RULES,
        "permit": either(OBJECT, {"type": "null"}),
    }
    return record(members, description="One thing that parties learn besides their own inputs, as ledgers hold it.")


def psi_schema() -> Schema:
    source = Schemas()
    source.of(match.Source)
    told = {
        "recipients": TEXTS,
        "kind": {"enum": list(get_args(match.DisclosureKind))},
        "site": {"const": "psi"},
        "shown": {"type": "object", "properties": {"node": TEXT}, "required": ["node"], "additionalProperties": True},
        "derivation": {"type": "array", "items": {"$ref": "#/$defs/Source"}},
        "rules": RULES,
        "what": TEXT,
        "rule": TEXT,
    }
    allowed = {
        **dict.fromkeys(("owner", "table", "rule", "sentence"), TEXT),
        "column": either(TEXT, {"type": "null"}),
        "way": {"enum": ["join", "filter", "group", "aggregate", "select", "count"]},
        "recipients": TEXTS,
    }
    announced = {"rows": NUMBER, "kinds": TEXTS, "columns": TEXTS, "memory": NUMBER, "workers": NUMBER}
    members = {
        "format": {"const": MATCH_FORMAT},
        "party": TEXT,
        "plan_hash": HASH,
        "match": TEXT,
        "parties": TEXTS,
        "recipients": TEXTS,
        "agreed": table_of(TEXT),
        "disclosures": {"type": "array", "items": record(told)},
        "allowed": {"type": "array", "items": record(allowed)},
        "notes": TEXTS,
        "announced": record(announced),
        "key": TEXTS,
        "predicted": either(OBJECT, {"type": "null"}),
        "output": record({"file": TEXT, "columns": either(TEXTS, {"type": "null"})}),
    }
    body = record(members, optional=("announced", "key", "predicted", "output"))
    return document("psi-explain.schema.json", "tacit psi explain --format json", body, source.found)


SCHEMAS = {"explain.schema.json": explain_schema, "psi-explain.schema.json": psi_schema}


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_are_those_of_the_code(name: str) -> None:
    text = json.dumps(SCHEMAS[name](), indent=2) + "\n"
    if os.environ.get("TACIT_UPDATE_GOLDEN") == "1":
        (FOLDER / name).write_text(text, encoding="utf-8")
    assert (FOLDER / name).read_text(encoding="utf-8") == text


def printed(case: Case) -> Any:
    """What a program reads of a query's account."""
    plan = compile_query(case.query, CATALOGS[case.catalog], case.recipients)
    rules = tuple(Allowance("p", output, "it may be shown") for output in (None, "s", "n"))
    return json.loads(json.dumps(explain_json(replace(plan, ruling=Ruling(rules)))))


@pytest.mark.parametrize("path", files(GOLDEN), ids=lambda path: path.stem)
def test_accounts_obey_their_schema(path: Path) -> None:
    schema = json.loads((FOLDER / "explain.schema.json").read_text())
    for case in cases(path):
        assert list(violations(printed(case), schema, schema)) == [], case.query


ALLOWED = [
    MatchAllowance("b", "people", "ssn", "select", ("a",), "use select, matches"),
    MatchAllowance("b", "people", None, "count", ("a",), "matches"),
]


def test_matches_obey_their_schema() -> None:
    schema = json.loads((FOLDER / "psi-explain.schema.json").read_text())
    for more in ({}, {"reveal": "ids"}, {"reveal": "sum", "summed": ("b", "amount")}, {"to": ("a",)}, {"join": "left"}):
        parameters = Parameters(**{"parties": ("a", "b"), "normalisers": ("exact",), "to": ("a", "b"), **more})
        found = explained("a", parameters, None, Limits(), None, ["a note"], ALLOWED)
        assert list(violations(json.loads(json.dumps(found)), schema, schema)) == []


def test_values_that_break_a_schema_are_found() -> None:
    schema = json.loads((FOLDER / "explain.schema.json").read_text())
    good = printed(next(case for case in ALL_CASES if "JOIN" in case.query))
    changes = {
        "$ has more": lambda said: said.update(more=1),
        "$ has no hash": lambda said: said.pop("hash"),
        "$.hash is": lambda said: said.update(hash="7f"),
        "$.format is": lambda said: said.update(format="tacit-explain/1"),
        "$.statement.answer is none": lambda said: said["statement"]["answer"]["outputs"][0].update(name=1),
        "$.learns[0] is no string": lambda said: said.update(learns=[1]),
        "$.plan.disclosures[0].rules[0] is": lambda said: said["plan"]["disclosures"][0].update(rules=["luck"]),
        "$.cost[0].rounds is no integer": lambda said: said["cost"][0].update(rounds=True),
    }
    for expected, change in changes.items():
        bad = copy.deepcopy(good)
        change(bad)
        assert any(each.startswith(expected) for each in violations(bad, schema, schema)), expected


def test_a_schema_of_unknown_keywords_is_refused() -> None:
    with pytest.raises(KeyError, match="minimum"):
        list(violations(1, {"minimum": 0}, {}))
