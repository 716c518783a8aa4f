"""Runs that need more memory than a party gives them are refused before anybody is met."""

from __future__ import annotations

from .organisations import ROWS, Consortium, only_told_that_it_stops

INPUT = 2


def declare(consortium: Consortium, party: str, budget: str, rows: int) -> None:
    """This party's budget, and so many rows in the offers of all scores that it knows of."""
    consortium.edit(party, f"rows = {ROWS}\n", f"rows = {rows}\n")
    with (consortium.private(party) / f"{party}.toml").open("a") as file:
        file.write(f'\n[memory]\nbudget = "{budget}"\n')


def test_a_plan_beyond_the_budget_is_refused_before_anything_is_shared(consortium: Consortium) -> None:
    declare(consortium, "bureau_a", "1 MiB", 100_000)
    with only_told_that_it_stops(consortium, "bureau_a"):
        end = consortium.start("bureau_a").end()
    assert end.status == INPUT
    sentence = end.sentence()
    assert (
        "of memory, and this party's budget is 1 MiB; raise the budget under [memory] in the private file" in sentence
    )
    assert consortium.kinds("bureau_a") == []


def test_a_budget_is_nobody_elses_concern(consortium: Consortium) -> None:
    declare(consortium, "bureau_b", "2 GiB", ROWS)
    ends = {party: running.end() for party, running in consortium.start_all().items()}
    assert [end.status for end in ends.values()] == [0, 0, 0]
    assert ends["regulator"].stdout.startswith("zip,avg_score\n10001,")
