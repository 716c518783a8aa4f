"""Each demo question on two inputs with the same answer and declared sizes: no party can tell them apart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from .rehearsal import Seen, compiled, rehearse, write
from .twins import TWINS, Twins


@pytest.fixture(scope="module", params=TWINS, ids=lambda twins: twins.scenario.name)
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Twins, list[dict[str, Seen]]]:
    """A question and what the parties saw of its two runs."""
    twins: Twins = request.param
    runs = []
    for name, files in (("one", twins.one), ("other", twins.other)):
        federation = write(twins.scenario, twins.tables, files, tmp_path_factory.mktemp("run") / name)
        runs.append(rehearse(federation, compiled(twins.scenario, federation)))
    return twins, runs


Pair = tuple[Twins, list[dict[str, Seen]]]


def test_both_runs_end_in_order_and_move_data(pair: Pair) -> None:
    """A client sends or gets a few messages of each step in which it has a part."""
    twins, runs = pair
    for run in runs:
        assert set(run) == set(twins.scenario.everybody)
        for party, seen in run.items():
            assert seen.error is None
            assert len(seen.messages) > (80 if party in twins.scenario.parties else 5)


def test_every_message_has_the_same_size_at_the_same_place(pair: Pair) -> None:
    _, (one, other) = pair
    for party, seen in one.items():
        assert seen.messages == other[party].messages, party


def test_recipients_see_the_same_values_and_the_others_none(pair: Pair) -> None:
    twins, (one, other) = pair
    for party, seen in one.items():
        assert seen.opened == other[party].opened, party
        assert seen.released == other[party].released, party
        assert bool(seen.opened) == bool(seen.released) == (party in twins.scenario.recipients), party


def test_parties_see_only_the_release_and_keys_by_permit(pair: Pair, tmp_path: Path) -> None:
    twins, (one, _) = pair
    plan = compiled(twins.scenario, write(twins.scenario, twins.tables, twins.one, tmp_path / "plan"))
    keys = [each for each in plan.permits if each.kind == "keys"]
    for party, seen in one.items():
        released = {f"{step}.release" for step in seen.released}
        permitted = {each.site for each in keys if party in each.recipients}
        assert {step.split("/")[0] for step, _ in seen.opened} == released | permitted, party


def test_reports_and_ledgers_agree_except_for_times(pair: Pair) -> None:
    _, (one, other) = pair
    for party, seen in one.items():
        assert _last_figures(seen, party) == _last_figures(other[party], party), party


def _last_figures(seen: Seen, party: str) -> dict[str, tuple[object, ...]]:
    """What a party's last report says about the secure steps, which all parties may know."""
    metrics = [event["steps"] for event in seen.events if event["event"] == "metrics"][-1]
    public = ("rows", "rounds", "rounds_ahead", "bytes_sent", "bytes_received", "finished")
    secure = {name: figures for name, figures in metrics.items() if not name.endswith((".local", ".tail"))}
    assert secure, party
    return {name: tuple(figures[key] for key in public) for name, figures in secure.items()}


def test_the_inputs_do_differ_and_an_announced_size_shows_it(tmp_path: Path) -> None:
    """The check can fail: without declared rows the true counts are announced, and messages follow them."""
    twins = TWINS[0]
    announced = tuple(
        replace(table, declaration="\n".join(line for line in table.declaration.splitlines() if "rows" not in line))
        for table in twins.tables
    )
    runs = []
    for name, files in (("one", twins.one), ("other", twins.other)):
        federation = write(twins.scenario, announced, files, tmp_path / name)
        runs.append(rehearse(federation, compiled(twins.scenario, federation)))
    assert runs[0]["bureau_b"].error is None
    assert runs[0]["bureau_b"].messages != runs[1]["bureau_b"].messages
    assert runs[0]["regulator"].released == runs[1]["regulator"].released
