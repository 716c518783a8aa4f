"""Disclosures of a match: data that ledgers hold, from which the sentences are written."""

from __future__ import annotations

import json
from typing import get_args

from tacit.plan.facts.catalog import DisclosureRule
from tacit.psi.account import account
from tacit.psi.disclosures import MatchingKeys, Shown, Source
from tacit.psi.parameters import MALICIOUS, Parameters
from tacit.psi.prepared import query_parameters

AB, KEY = ("a", "b"), ("exact",)


def agreements() -> list[Parameters]:
    """One of every kind that there is."""
    two = [
        Parameters(AB, KEY, AB),
        Parameters(AB, KEY, ("b",), protocol=MALICIOUS),
        Parameters(AB, KEY, AB, reveal="cardinality"),
        Parameters(AB, KEY, AB, reveal="sum", summed=("b", "amount")),
        Parameters(AB, KEY, AB, reveal="ids"),
        Parameters(AB, ("exact", "exact"), AB, reveal="ids", widths=(1, 1)),
        Parameters(AB, KEY, AB, reveal="shares", shared=(("number",), ("amount", "even"))),
        query_parameters(AB, "a", KEY),
    ]
    abc = ("a", "b", "c")
    return [
        *two,
        Parameters(abc, KEY, abc),
        Parameters(abc, KEY, ("b", "c")),
        Parameters(abc, KEY, ("a",)),
    ]


def test_all_that_is_shown_names_its_recipients_and_whose_data_it_derives_from() -> None:
    shown = set()
    for agreement in agreements():
        for disclosure in agreement.disclosures():
            shown.add(type(disclosure.shown))
            assert disclosure.recipients and set(disclosure.recipients) <= set(agreement.parties)
            owners = {source.owner for source in disclosure.derivation}
            assert owners and owners <= set(agreement.parties)
            assert owners != set(disclosure.recipients) or len(owners) > 1, "what derives from its own data is known"
            written = json.loads(json.dumps(disclosure.json()))
            assert written["shown"]["node"] == type(disclosure.shown).__name__ and written["rules"] == ["query"]
    assert shown == set(get_args(Shown)), "every kind is of some match"


def test_each_has_one_sentence_of_its_own() -> None:
    for agreement in agreements():
        sentences = account(agreement)
        assert len(sentences) == len(agreement.disclosures()) == len(set(sentences))
        assert all(sentence and not sentence.endswith(".") for sentence in sentences)


def test_what_both_learn_of_the_rows_that_match() -> None:
    first, second, _ = Parameters(AB, KEY, AB).disclosures()
    assert (first.recipients, first.shown) == (("a",), MatchingKeys(("b",), ("b",)))
    assert (second.recipients, second.shown) == (("b",), MatchingKeys(("a",), ("a",)))
    assert first.derivation == (Source("a", "keys"), Source("b", "keys")) and first.rules == (DisclosureRule.QUERY,)
    alone, _ = Parameters(AB, KEY, ("b",)).disclosures()
    assert alone.shown == MatchingKeys(("a",)) and alone.recipients == ("b",)


def test_a_sum_derives_from_its_column_too() -> None:
    disclosures = Parameters(AB, KEY, AB, reveal="sum", summed=("b", "amount")).disclosures()
    assert [each.shown.kind for each in disclosures] == ["value", "value", "matches", "fact", "fact"]
    assert all(Source("b", "columns", "amount") in each.derivation for each in disclosures[:3])
