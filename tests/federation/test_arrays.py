"""Arrays in offers and private files: what each entry means, and one sentence for every mistake."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tacit.agent.agreement import agreed
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation import Federation
from tacit.agent.federation_arrays import ARRAY_ENTRIES
from tacit.cli.main import main
from tacit.plan.account.arrays_text import array_clauses
from tacit.plan.account.serialise import declaration_hash, offer_hash
from tacit.plan.facts.arrays import OfferedArray
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.terms import ArrayTerms
from tacit.plan.physical.placed import PlacedPlan

MEMBERSHIP = 'nodes = ["a", "b", "c"]\n' + "".join(
    f'[parties.{name}]\naddress = "127.0.0.1:710{at}"\n' for at, name in enumerate("abc")
)
P = "p:" + "ab" * 32
OFFER = f"""\
[arrays.features]
shape = [1000, 10]
dtype = "float64"
min = -4
max = 4.5
row_norm = 12
use = ["program"]
allow = ["{P}"]
recipients = ["b"]
until = 2027-01-31

[arrays.flags]
shape = [1000]
dtype = "bool"
"""
FEATURES = OfferedArray(
    "features", "a", (1000, 10), "float64", Fraction(-4), Fraction(9, 2), Fraction(12),
    ArrayTerms(frozenset({"program"}), frozenset({"b"}), frozenset({P}), date(2027, 1, 31)),
)  # fmt: skip
DOCUMENT = Path(__file__).parents[2] / "docs" / "federation.md"


def load(folder: Path, offer: str = OFFER, private: str | None = None) -> Federation:
    (folder / "offers").mkdir(exist_ok=True)
    (folder / "federation.toml").write_text(MEMBERSHIP)
    (folder / "offers" / "a.toml").write_text(offer)
    if private is not None:
        (folder / "private").mkdir(exist_ok=True)
        (folder / "private" / "a.toml").write_text(private)
    return Federation.load(folder / "federation.toml")


def mistake(folder: Path, offer: str = OFFER, private: str | None = None) -> str:
    with pytest.raises(RunError) as caught:
        load(folder, offer, private)
    assert caught.value.fault is Fault.INPUT
    return str(caught.value).replace(f"{folder}/", "")


def test_every_entry(tmp_path: Path) -> None:
    assert load(tmp_path).catalog.arrays == (FEATURES, OfferedArray("flags", "a", (1000,), "bool", terms=ArrayTerms()))
    assert all(f"{entry} = " in OFFER or entry == "programs" for entry in ARRAY_ENTRIES)
    opened = load(tmp_path, OFFER.replace(f'allow = ["{P}"]', 'programs = "any"')).catalog.arrays[0].terms
    assert opened is not None and opened.programs is None


def test_every_entry_is_documented() -> None:
    section = DOCUMENT.read_text().partition("[arrays.ARRAY]")[2].partition("##")[0]
    assert all(f"`{entry}`" in section for entry in ARRAY_ENTRIES)


def test_a_private_file_names_the_file(tmp_path: Path) -> None:
    arrays = load(tmp_path, private='[arrays.features]\npath = "x.npy"').catalog.arrays
    assert [each.path for each in arrays] == [str(tmp_path / "private" / "x.npy"), None]


def test_an_owner_may_offer_an_array_of_a_tables_name(tmp_path: Path) -> None:
    table = '[tables.features]\nopen = true\ncolumns.x = "BOOLEAN"\n'
    assert load(tmp_path, OFFER + table).catalog.tables[0].name == "features"


MISTAKES = [
    ("shape = [1000, 10]\n", "", "has no shape; add the length of each axis, for example shape = [1000, 10]."),
    ("[1000, 10]", '"wide"', "shape is 'wide'; write the length of each axis, all from 1, for example [1000, 10]."),
    ("[1000, 10]", "[1000, 0]",
     "shape is [1000, 0]; write the length of each axis, all from 1, for example [1000, 10]."),
    ("[1000, 10]", "[true]", "shape is [True]; write the length of each axis, all from 1, for example [1000, 10]."),
    ("[1000, 10]", "[131072, 65536]", "shape is [131072, 65536], which has 8,589,934,592 elements; "
     "offer it in several arrays of fewer than 8,589,934,592 elements."),
    ('"float64"', '"float"', 'dtype is \'float\'; write "bool", "int8", "int16", "int32", "int64", "uint8", '
     '"uint16", "uint32", "float16", "float32" or "float64".'),
    ("min = -4\n", "", "has no min; declare what is commonly known, for example min = 4."),
    ("min = -4", "min = 5", "min is above max; exchange them."),
    ("min = -4", 'min = "-4"', "min is '-4'; write a number without quotes, for example 4 or 0.5."),
    ("min = -4", "min = -inf", "min is -inf; write a number without quotes, for example 4 or 0.5."),
    ("min = -4", "min = -1e40", "min is -1e+40; write a number below 2^126."),
    ('"float64"', '"int8"', "max is 4.5, and its dtype is int8; write a whole number."),
    ('"float64"\nmin = -4', '"uint8"\nmin = -4', "min is -4, which uint8 cannot hold; write a number from 0 to 255."),
    ('"float64"', '"bool"', "has min, and its dtype is bool; remove min."),
    ("row_norm = 12", "row_norm = 0", "row_norm is 0; write a number above 0."),
    ("[1000, 10]", "[]", "has row_norm, but no rows of numbers; remove row_norm."),
    ('["program"]', '["progam"]', "use names 'progam', which is no way to use an array; perhaps you mean program."),
    ('["program"]', '["select"]', "use names 'select', which is no way to use an array; write \"program\"."),
    ('use = ["program"]\n', "", 'has allow, but no use; add use = ["program"], or remove allow.'),
    (f'["{P}"]', '["q:abc"]', "allow names 'q:abc', which is no program; write p: and the 64 hexadecimal digits of its "
     "hash, which the refusal of a program says."),
    (f'["{P}"]', "[]", "allow is empty; list what is allowed, or remove allow."),
    ('use = ["program"]', 'use = ["program"]\nprograms = "any"', "has both allow and programs; "
     'keep allow, or programs = "any" to let every program compute on it.'),
    (f'allow = ["{P}"]', "programs = true", 'programs is true; write "any", or list programs in allow.'),
    ('["b"]', '["d"]', 'recipients names \'d\', which is no party; write "a", "b" or "c".'),
    ("2027-01-31", '"2027"', "until is '2027'; write a date without quotes, for example 2027-01-31."),
    ("row_norm = 12", "rownorm = 12", "there is no entry 'rownorm'; perhaps you mean row_norm."),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "sentence"), MISTAKES)
def test_a_mistake_is_one_sentence(tmp_path: Path, before: str, after: str, sentence: str) -> None:
    assert before in OFFER
    assert mistake(tmp_path, OFFER.replace(before, after, 1)) == f"offers/a.toml, [arrays.features]: {sentence}"


def test_a_mistake_in_a_private_file(tmp_path: Path) -> None:
    assert mistake(tmp_path, private='[arrays.x]\npath = "x.npy"') == (
        "private/a.toml, [arrays.x]: a offers no array of this name; "
        "declare it in offers/a.toml, or remove the section."
    )
    path = str(tmp_path / "private" / "x.csv").replace(f"{tmp_path}/", "")
    assert mistake(tmp_path, private='[arrays.flags]\npath = "x.csv"') == (
        f"private/a.toml, [arrays.flags]: path is '{path}', not .npy; store the array with numpy.save."
    )


ALTERED: dict[str, Any] = {
    "shape": (10, 1000), "dtype": "float32", "low": Fraction(-3), "high": Fraction(4), "row_norm": None,
    "ways": frozenset(), "recipients": frozenset({"b", "c"}), "programs": None, "until": None,
}  # fmt: skip


def altered(name: str) -> OfferedArray:
    assert FEATURES.terms is not None
    if name in {each.name for each in fields(ArrayTerms)}:
        return replace(FEATURES, terms=replace(FEATURES.terms, **{name: ALTERED[name]}))
    return replace(FEATURES, **{name: ALTERED[name]})


def test_no_entry_is_forgotten() -> None:
    members = {each.name for kind in (OfferedArray, ArrayTerms) for each in fields(kind)}
    assert {*ALTERED} == members - {"name", "owner", "path", "terms"}


@pytest.mark.parametrize("name", ALTERED)
def test_every_hash_and_every_sentence_covers_every_entry(name: str) -> None:
    other = altered(name)
    assert offer_hash([FEATURES]) != offer_hash([other])
    assert declaration_hash(FEATURES) != declaration_hash(other)
    assert array_clauses(FEATURES) != array_clauses(other)
    here, there = (agreed(_plan(each)) for each in (FEATURES, other))
    differing = {found for found in here.keys() | there.keys() if here.get(found) != there.get(found)}
    assert "the offer of array a.features" in differing


def test_parties_are_told_which_term_differs() -> None:
    here, there = (agreed(_plan(each)) for each in (FEATURES, altered("recipients")))
    assert {name for name in here if here[name] != there.get(name)} == {
        "the offer of array a.features", "recipients of array a.features", "the plan"
    }  # fmt: skip


def _plan(array: OfferedArray) -> PlacedPlan:
    catalog = Catalog(("a", "b", "c"), "rep3", ("a", "b", "c"), (), arrays=(array,))
    return PlacedPlan("q", "rep3", ("a", "b", "c"), ("b",), (), (), catalog)


def test_where_the_file_is_changes_nothing() -> None:
    assert offer_hash([replace(FEATURES, path="/srv/x.npy")]) == offer_hash([FEATURES])


def test_policy_show_says_it_in_sentences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    load(tmp_path, OFFER.replace("[arrays.flags]", '[arrays.flags]\nuse = ["program"]\nprograms = "any"'))
    assert main(["policy", "show", "--federation", str(tmp_path / "federation.toml")]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    for sentence in (
        "features, an array of a",
        "An array of 1,000 x 10, float64 from -4 to 4.5, with rows of a Euclidean norm of at most 12.",
        f"No program but {P} may compute on this array.",
        "Only b may receive what is computed of this array, in results that go to nobody else.",
        "Until 2027-01-31, the last day, in UTC.",
        "Any program may compute on this array",
        "Nobody but a may receive anything that is computed of this array.",
        "All tables and arrays of a, with their terms: offer ",
    ):
        assert sentence in shown
    assert main(["policy", "show", "flags", "--federation", str(tmp_path / "federation.toml"), "--format=json"]) == 0
    (said,) = json.loads(capsys.readouterr().out)
    assert (said["array"], said["use"], said["programs"], said["shape"]) == ("flags", ["program"], "any", [1000])


def test_arrays_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    load(tmp_path)
    assert main(["tables", "--federation", str(tmp_path / "federation.toml"), "--format", "json"]) == 0
    assert [(each["array"], each["rows"], each["elements"]) for each in json.loads(capsys.readouterr().out)] == [
        ("features", 10_000, "array of 1,000 x 10, float64 from -4 to 4.5"), ("flags", 1000, "array of 1,000, bool")
    ]  # fmt: skip
