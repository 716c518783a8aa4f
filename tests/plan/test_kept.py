"""What plans know of kept tables, what they say of them, and what their hashes cover."""

from __future__ import annotations

import json
from dataclasses import astuple, replace

import pytest

from tacit.plan import learnt, plan_hash
from tacit.plan.algebra.refusals import QueryError
from tacit.plan.algebra.types import Integer
from tacit.plan.facts.catalog import Catalog, DisclosureRule, KeptTable
from tacit.plan.facts.lineage import Lineage, lineage
from tacit.plan.physical.disclosure import KeptRows
from tacit.plan.physical.kept import About, MalformedHeader, _bound, kept_table
from tacit.plan.physical.operators import Join
from tacit.plan.physical.placed import InputStep, KeepStep, KeptStep, PlacedPlan, SecureStep
from tacit.plan.physical.record import JSON
from tacit.sql import bind, compile_query

from .catalogs import CREDIT, MIXED, catalog, table

TOTALS = """CREATE TABLE totals AS SELECT d.ssn, MIN(d.zip) AS zip, SUM(s.score) AS score
FROM demographics d JOIN scores_a s ON d.ssn = s.ssn GROUP BY d.ssn"""


def compiled(query: str, catalog: Catalog) -> PlacedPlan:
    return compile_query(query, catalog, catalog.nodes[:1])


def kept(
    query: str, catalog: Catalog, id: str = "0" * 32, forget: tuple[str, ...] = (), rename: bool = False
) -> KeptTable:
    """The table that a query keeps, as its files would describe it. forget: what they do not say. rename: they are
    about columns of other names."""
    plan = compiled(query, catalog)
    step = plan.steps[-1]
    assert isinstance(step, KeepStep)
    assert (plan.recipients, [each.kind for each in plan.disclosures if each.kind != "size"]) == ((), [])
    source = next(each for each in plan.steps if each.id == step.operator.input)
    columns = [{"name": name, **_physical(name, source.operator.json())} for name in step.operator.columns]
    header = {"table": step.operator.table, "id": id, "rows": 100, "padded": True, "columns": columns}
    about = step.about.json() | {"plan_hash": plan_hash(plan).hex(), "query": query}
    about["fields"] = [without(each, forget) for each in about["fields"]]
    if rename:
        about["fields"] = [each | {"name": each["name"] + "_"} for each in about["fields"]]
    about = without(about, forget)
    return kept_table(json.dumps(json.loads(json.dumps(header | {"about": about}), parse_int=_rounded)))


def _rounded(digits: str) -> int | float:
    """A number as native code passes it on."""
    return int(digits) if abs(int(digits)) < 1 << 63 else float(digits)


def without(members: JSON, names: tuple[str, ...]) -> JSON:
    return {name: each for name, each in members.items() if name not in names}


def _physical(name: str, operator: JSON) -> JSON:
    """A column of an operator that lists its columns with their kinds; a key's kind does not matter here."""
    listed = [*operator.get("columns", []), *operator.get("aggregates", [])]
    found = [each for each in listed if isinstance(each, dict) and each["name"] == name]
    kind = found[0]["kind"] if found else {"repr": "bits", "width": 30, "signed": False, "nullable": False}
    return {"encode": found[0].get("encode", "int") if found else "int", "kind": kind}


@pytest.fixture
def credit() -> Catalog:
    """The credit question's catalog with a kept table."""
    return replace(CREDIT, kept=(kept(TOTALS, CREDIT),))


def test_types_keys_readers_and_origins_go_along(credit: Catalog) -> None:
    (table,) = credit.kept
    score, ssn = table.columns[2].field, table.columns[0].field
    assert (ssn.name, ssn.type) == ("ssn", CREDIT.tables[0].columns[0].field.type)
    # Up to 850 a row, of at most as many rows as the joined table declares.
    assert (score.type.high, score.nullable) == (850 * 100_000, True)
    assert frozenset({"ssn"}) in table.unique
    assert (table.owners, table.tables) == (("bureau_a", "regulator"), ("demographics", "scores_a"))
    # bureau_a lets the regulator read its ssn and nobody its score; the regulator lets nobody read anything.
    assert [each.readers for each in table.columns] == [frozenset({"regulator"}), frozenset({"regulator"}), frozenset()]


def test_origins_are_passed_on(credit: Catalog) -> None:
    query = "CREATE TABLE more AS SELECT t.zip, s.score FROM totals t JOIN scores_b s ON t.ssn = s.ssn"
    table = kept(query, credit)
    assert table.owners == ("bureau_a", "bureau_b", "regulator")
    assert table.tables == ("demographics", "scores_a", "scores_b")


SCORES = "SELECT zip, SUM(score) AS score FROM totals WHERE ssn > 5 GROUP BY zip"


def listed(found: Lineage) -> dict[str, set[tuple[str | None, str, str | None]]]:
    uses = {**found.values, "rows": found.presence}
    return {name: {astuple(use.source) for use in each} for name, each in uses.items()}


def test_lineage_goes_back_to_what_the_table_was_made_of(credit: Catalog) -> None:
    found = lineage(bind(SCORES, credit), credit)
    assert listed(found)["zip"] == {("regulator", "demographics", "zip")}
    assert listed(found)["score"] == {("bureau_a", "scores_a", "score")}
    keys = {("regulator", "demographics", "ssn"), ("bureau_a", "scores_a", "ssn")}
    rows = {("regulator", "demographics", None), ("bureau_a", "scores_a", None), ("regulator", "demographics", "zip")}
    assert listed(found)["rows"] == keys | rows
    (score,) = found.values["score"]
    assert score.through == ("sum",), "a sum of sums"


def test_a_table_whose_files_do_not_say_is_a_source_itself(credit: Catalog) -> None:
    silent = tuple(replace(each, uses=None) for each in credit.kept[0].columns)
    catalog = replace(credit, kept=(replace(credit.kept[0], columns=silent, presence=None),))
    found = lineage(bind(SCORES, catalog), catalog)
    assert listed(found)["score"] == {(None, "totals", "score")}
    assert listed(found)["rows"] == {(None, "totals", None), (None, "totals", "ssn"), (None, "totals", "zip")}


def test_headers_of_earlier_versions_are_read(credit: Catalog) -> None:
    assert kept(TOTALS, CREDIT, forget=("uses", "presence")).presence is None


def test_wide_bounds_stay_exact() -> None:
    whole = Integer(-(2**63), 2**63 - 1, "BIGINT")
    wide = catalog(
        ("a", "b", "c"), table("t", "a", [("v", whole, False)], rows=3), table("u", "b", [("v", whole, False)], rows=3)
    )
    both = "(SELECT v FROM t UNION ALL SELECT v FROM u) x"
    found = kept(f"CREATE TABLE sums AS SELECT SUM(v) AS s FROM {both}", wide).columns[0].field.type
    assert found == Integer(-6 * 2**63, 6 * (2**63 - 1), "HUGEINT")


def test_wide_bounds_of_earlier_files_hold() -> None:
    assert _bound("low", float(-(2**66) - 9)) <= -(2**66) - 9 and _bound("high", float(2**66 + 9)) >= 2**66 + 9


def test_a_time_that_no_clock_shows_is_damage(credit: Catalog) -> None:
    header = {"about": {}, "made": 2**64 - 1}
    with pytest.raises(ValueError, match="after 1970"):
        kept_table(json.dumps(header))


def test_what_is_written_of_a_table_is_what_is_read() -> None:
    step = compiled(TOTALS, CREDIT).steps[-1]
    assert isinstance(step, KeepStep)
    assert About.of(json.loads(json.dumps(step.about.json()))) == step.about


@pytest.mark.parametrize("member", ["fields", "single", "unique", "owners", "tables"])
def test_a_header_that_leaves_something_out_is_refused_in_a_sentence(member: str) -> None:
    with pytest.raises(MalformedHeader, match=r"^the header does not say .* as tacit writes it .*\.$"):
        kept(TOTALS, CREDIT, forget=(member,))


def test_a_header_about_other_columns_is_refused() -> None:
    with pytest.raises(MalformedHeader, match="lists columns ssn, zip, score, and is about others"):
        kept(TOTALS, CREDIT, rename=True)


@pytest.mark.parametrize("text", ["", "[]", "3", "{}", "[" * 100_000])
def test_what_is_no_header_is_refused(text: str) -> None:
    with pytest.raises(MalformedHeader):
        kept_table(text)


def test_the_hash_covers_which_table_is_read_and_no_other(credit: Catalog) -> None:
    query = "SELECT zip, SUM(score) AS score FROM totals GROUP BY zip"
    plan = compiled(query, credit)
    assert isinstance(plan.steps[0], KeptStep)
    assert plan.catalog is not None
    assert plan.catalog.kept == credit.kept
    other = kept(TOTALS, CREDIT, id="1" * 32)
    assert plan_hash(plan) != plan_hash(compiled(query, replace(credit, kept=(other,))))
    beside = replace(other, name="beside")
    torn = replace(credit, kept=(*credit.kept, beside), broken=(("torn", "the parts differ."),))
    assert plan_hash(plan) == plan_hash(compiled(query, torn))


def test_a_table_that_cannot_be_read_says_why(credit: Catalog) -> None:
    torn = replace(credit, broken=(("torn", "the parts differ."),))
    with pytest.raises(QueryError, match=r"column 15: the parts differ\."):
        compiled("SELECT * FROM Torn", torn)
    with pytest.raises(QueryError, match="there is a kept table 'TORN' already"):
        compiled("CREATE TABLE TORN AS SELECT zip FROM totals", torn)
    assert compiled("CREATE OR REPLACE TABLE torn AS SELECT zip FROM totals", torn).steps
    assert compiled("DROP TABLE torn", torn).steps


def test_the_account_names_what_is_kept_and_read(credit: Catalog) -> None:
    (table,) = credit.kept
    made = learnt(compiled(TOTALS, CREDIT))
    assert "Nothing is opened to anybody." in made
    assert made[-3] == (
        "regulator, bureau_a and bureau_b keep ssn, zip, score as shares under the name totals, for later queries "
        "that all of them approve: 100,000 rows, made of demographics and scores_a."
    )
    assert made[-2] == (
        "All parties may know the description of totals: when it was made and by which query, whose tables it is made "
        "of, its number of rows, and its columns with their types, keys and lineage."
    )
    read = learnt(compiled("SELECT COUNT(*) AS n FROM totals", credit))
    assert "bureau_a and bureau_b learn nothing from the tables of others." in read, read
    assert "Everybody knows before: the kept table totals has 100 rows." in read
    assert read[-2] == (
        "The kept table totals (00000000) is read: shares made of demographics and scores_a, by plan "
        f"{table.plan_hash[:8]}."
    )


def test_the_description_tells_parties_that_are_no_nodes_an_announced_number_of_rows() -> None:
    outside = replace(MIXED, engine="two", nodes=("p", "q"))
    plan = compiled("CREATE TABLE few AS SELECT id FROM announced", outside)
    size, told = plan.disclosures
    assert (told.recipients, told.kind, told.site.name) == (("r",), "size", f"{plan.steps[-1].id}.keep")
    assert told.shown == KeptRows("few") and told.rules == (DisclosureRule.QUERY,)
    assert told.derivation.presence == size.derivation.presence != ()
    assert plan.permits == (size.permit,), "no session opens the number"
    assert any(
        each.startswith("r learns how many rows the kept table few has, those that do not count included: ")
        for each in learnt(plan)
    )


def test_a_declared_number_of_rows_is_told_to_nobody_anew() -> None:
    outside = replace(MIXED, engine="two", nodes=("p", "q"))
    assert compiled("CREATE TABLE some AS SELECT id FROM padded", outside).disclosures == ()
    one = compiled("CREATE TABLE one AS SELECT COUNT(*) AS n FROM announced", outside)
    assert not any(isinstance(each.shown, KeptRows) for each in one.disclosures)
    among_nodes = compiled("CREATE TABLE few AS SELECT id FROM announced", MIXED)
    assert not any(isinstance(each.shown, KeptRows) for each in among_nodes.disclosures)


def test_a_table_of_a_party_that_has_left_is_refused() -> None:
    names = kept("CREATE TABLE names AS SELECT DISTINCT w FROM padded", MIXED)
    catalog = replace(MIXED, kept=(replace(names, owners=(*names.owners, "gone")),))
    with pytest.raises(QueryError, match="has data of 'gone', which would have to approve the query and is not one of"):
        compiled("SELECT COUNT(*) AS n FROM names", catalog)


def test_kept_strings_are_compared_by_their_bytes() -> None:
    """A hash has the key of one plan; the strings beside have to do without as well."""
    catalog = replace(MIXED, kept=(kept("CREATE TABLE names AS SELECT DISTINCT w FROM padded", MIXED),))
    plan = compiled("SELECT COUNT(*) AS n FROM names n JOIN announced a ON n.w = a.w", catalog)
    kinds = [
        each.kind.width
        for step in plan.steps
        if isinstance(step, InputStep | KeptStep)
        for each in step.operator.columns
    ]
    assert kinds == [8 * 30, 8 * 30]
    assert any(isinstance(step, SecureStep) and isinstance(step.operator, Join) for step in plan.steps)
    with pytest.raises(QueryError, match="a VARCHAR without a max_length beside strings of a kept table"):
        compiled("SELECT COUNT(DISTINCT a.x) AS n FROM names n JOIN announced a ON n.w = a.w", catalog)
