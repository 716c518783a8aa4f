"""The Python door: a question from Python, its answer with everything behind it, and the mistakes one can make."""

from __future__ import annotations

from pathlib import Path

import pytest

import tacit
from tacit.agent.faults import Fault, RunError
from tacit.agent.keys import make_keys
from tacit.cli.demo.credit import SCENARIO
from tacit.cli.demo.scenario import write_scenario
from tacit.plan.algebra.refusals import QueryError

JOIN = "SELECT COUNT(*) AS n FROM demographics d JOIN scores_a s ON d.ssn = s.ssn"
OWN = "SELECT COUNT(*) AS people FROM demographics"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_scenario(SCENARIO, 20, tmp_path)
    federation = tacit.connect(tmp_path / "federation.toml").federation
    make_keys(federation.members, federation.catalog.parties, replace=False)
    return tmp_path


def edited(folder: Path, old: str, new: str) -> Path:
    path = folder / "federation.toml"
    path.write_text(path.read_text().replace(old, new))
    return path


def test_an_answer_knows_where_it_comes_from(folder: Path) -> None:
    answer = tacit.connect(folder / "federation.toml").sql(JOIN)
    assert isinstance(answer, tacit.Answer)
    assert answer.rows() == [(20,)]
    assert answer.plan.query == JOIN
    assert [each.recipients for each in answer.disclosures] == [("regulator",)]
    assert answer.cost.as_predicted
    assert answer.cost.actual_total.bytes == answer.cost.predicted_total.bytes > 0
    assert set(answer.cost.as_json()) == {"predicted", "actual"}


def test_recipients_can_be_named(folder: Path) -> None:
    answer = tacit.connect(folder / "federation.toml").sql(JOIN, to=["bureau_b"])
    assert answer.disclosures[0].recipients == ("bureau_b",)


def test_a_question_about_ones_own_tables_needs_nobody_else(folder: Path) -> None:
    """Here the other parties' data and keys do not even exist."""
    for path in [*folder.glob("bureau_*/*"), *folder.glob("keys/bureau_*"), *folder.glob("private/bureau_*")]:
        path.unlink()
    answer = tacit.connect(folder / "federation.toml").sql(OWN)
    assert answer.rows() == [(24,)]
    assert answer.disclosures == ()
    assert answer.cost.actual_total.bytes == 0


def test_explain_as_text_and_as_an_object(folder: Path) -> None:
    federation = tacit.connect(folder / "federation.toml")
    text = federation.explain(JOIN)
    assert isinstance(text, str)
    assert "What each party will learn" in text
    account = federation.explain(JOIN, format="json")
    assert isinstance(account, dict)
    assert account["hash"] in text


def test_a_slower_network_takes_longer(folder: Path) -> None:
    path = folder / "federation.toml"
    near = tacit.connect(path)
    plan = near.plan(JOIN)
    (folder / "private" / "bureau_b.toml").write_text("[network]\nlatency = 0.05\n")
    far = tacit.connect(path)
    assert sum(c.seconds for c in far.predict(plan)) > 10 * sum(c.seconds for c in near.predict(plan))


def test_a_wrong_query_is_told_with_its_place(folder: Path) -> None:
    with pytest.raises(QueryError, match=r"line 1, column 8: .*did you mean 'zip'"):
        tacit.connect(folder / "federation.toml").sql("SELECT zap FROM demographics")


def test_an_unknown_party_is_told(folder: Path) -> None:
    with pytest.raises(RunError, match="there is no party 'nobody'; it names regulator, bureau_a, bureau_b"):
        tacit.connect(folder / "federation.toml", party="nobody")


def test_parties_elsewhere_are_not_started_here(folder: Path) -> None:
    federation = tacit.connect(
        edited(folder, '[parties.bureau_a]\naddress = "127.0.0.1', '[parties.bureau_a]\naddress = "10.0.0.5')
    )
    with pytest.raises(RunError, match=r"bureau_a is not on this machine; start `tacit party --name NAME") as caught:
        federation.sql(JOIN)
    assert caught.value.fault is Fault.INPUT


def test_a_party_without_a_part_is_told(folder: Path) -> None:
    with pytest.raises(RunError, match="bureau_a has no part in this query; it is regulator"):
        tacit.connect(folder / "federation.toml", party="bureau_a").sql(OWN)


def test_the_data_is_checked_before_anything_is_shared(folder: Path) -> None:
    scores = folder / "bureau_a" / "scores_a.csv"
    lines = scores.read_text().splitlines()
    lines[7] = "123456789,9999"
    scores.write_text("\n".join(lines) + "\n")
    with pytest.raises(RunError, match=r"^bureau_a: .*scores_a\.csv, row 7, column score") as caught:
        tacit.connect(folder / "federation.toml").sql(JOIN.replace("COUNT(*)", "MAX(s.score)"))
    assert caught.value.fault is Fault.INPUT
    assert not (folder / "private" / "ledger" / "bureau_a.jsonl").exists(), (
        "nothing was approved, so nothing is recorded"
    )
