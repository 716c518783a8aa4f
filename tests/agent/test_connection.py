"""The Python door: a question from Python, its answer with everything behind it, and the mistakes one can make."""

from __future__ import annotations

import pickle
import pydoc
import re
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

import tacit
import tacit.psi
from tacit import _native
from tacit.agent.addresses import host_and_port
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
    federation = tacit.connect(folder / "federation.toml")
    for to in (["bureau_b"], "bureau_b"):
        assert federation.plan(JOIN, to=to).recipients == ("bureau_b",)
    answer = federation.sql(JOIN, to="bureau_b")
    assert answer.disclosures[0].recipients == ("bureau_b",)


def test_a_question_about_ones_own_tables_needs_nobody_else(folder: Path) -> None:
    """Here the other parties' data and keys do not even exist."""
    for path in [*folder.glob("bureau_*/*"), *folder.glob("keys/bureau_*"), *folder.glob("private/bureau_*")]:
        path.unlink()
    answer = tacit.connect(folder / "federation.toml").sql(OWN)
    assert answer.rows() == [(24,)]
    assert answer.disclosures == ()
    assert "learns nothing new" in answer._repr_html_()
    assert answer.cost.actual_total.bytes == 0


def test_explain_as_text_and_as_an_object(folder: Path) -> None:
    federation = tacit.connect(folder / "federation.toml")
    text = federation.explain(JOIN)
    assert isinstance(text, str)
    assert "Who gets what" in text
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
    with pytest.raises(tacit.InputError, match=r"line 1, column 8: .*did you mean 'zip'") as caught:
        tacit.connect(folder / "federation.toml").sql("SELECT zap FROM demographics")
    assert caught.value.position == (1, 8)
    assert isinstance(caught.value.__cause__, QueryError)


def test_an_unknown_party_is_told(folder: Path) -> None:
    with pytest.raises(RunError, match="there is no party 'nobody'; it names regulator, bureau_a, bureau_b"):
        tacit.connect(folder / "federation.toml", party="nobody")


def test_parties_elsewhere_are_not_started_here(folder: Path) -> None:
    federation = tacit.connect(
        edited(folder, '[parties.bureau_a]\naddress = "127.0.0.1', '[parties.bureau_a]\naddress = "10.0.0.5')
    )
    with pytest.raises(
        RunError, match=r"bureau_a is at no address .* alone, as 127\.0\.0\.1 is; start `tacit party --name NAME"
    ) as caught:
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


def test_several_questions_at_once(folder: Path) -> None:
    """From threads of one process and from another one; the ports of the federation file are in use, too."""
    federation = tacit.connect(folder / "federation.toml")
    answers: list[object] = []

    def ask() -> None:
        try:
            answers.append(federation.sql(JOIN).rows())
        except tacit.Error as error:
            answers.append(error)

    with ExitStack() as busy:
        for party in federation.federation.parties:
            busy.enter_context(socket.create_server(host_and_port(federation.federation.address(party))))
        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        command = [sys.executable, "-m", "tacit", "sql", "--quiet", "--output", "csv", JOIN]
        other = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=60)
        for thread in threads:
            thread.join()
    assert answers == [[(20,)]] * 3
    assert (other.stdout, other.stderr) == ("n\n20\n", "")


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault.INPUT, tacit.InputError),
        (Fault.POLICY, tacit.PolicyError),
        (Fault.PEER, tacit.PeerError),
        (Fault.PEER_GONE, tacit.PeerGoneError),
        (Fault.CHEATING, tacit.CheatingError),
        (Fault.INTERRUPTED, tacit.InterruptedRunError),
        (Fault.INTERNAL, tacit.InternalError),
    ],
)
def test_errors_have_one_base_and_a_kind_for_each_fault(fault: Fault, kind: type[tacit.Error]) -> None:
    error = RunError(fault, "it is wrong.", "a", (1, 2))
    assert type(error) is kind and issubclass(kind, tacit.Error)
    assert f"{kind.__module__}.{kind.__qualname__}" == f"tacit.{kind.__name__}"
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.exit_status, again.position) == (
        kind, "a: it is wrong.", fault.exit_status, (1, 2),
    )  # fmt: skip
    assert getattr(tacit, kind.__name__) is kind


def test_all_that_goes_wrong_is_an_error_of_tacit(folder: Path) -> None:
    with pytest.raises(tacit.InputError, match=r"nope\.toml: cannot be read .*give the path of the federation file"):
        tacit.connect("nope.toml")
    federation = tacit.connect(folder / "federation.toml")
    with pytest.raises(tacit.InputError, match="recipient 'nobody' is not one of the parties"):
        federation.sql(JOIN, to="nobody")
    (folder / "keys" / "bureau_a.crt").write_text("no certificate")
    with pytest.raises(tacit.Error) as caught:
        federation.sql(JOIN)
    assert caught.value.exit_status == 2


def test_public_names_can_be_found() -> None:
    assert set(tacit.__all__) <= set(dir(tacit))
    assert not {"Any", "TYPE_CHECKING", "annotations"} & set(dir(tacit))
    assert all(getattr(tacit, name) is not None for name in dir(tacit))
    assert set(dir(tacit.psi)) == set(tacit.psi.__all__)
    assert tacit.__version__ == _native.version()
    told = re.sub(r".\x08", "", pydoc.render_doc(tacit))
    assert "connect(federation:" in told and "class PeerGoneError" in told


def test_a_federation_and_an_account_show_what_there_is(folder: Path) -> None:
    federation = tacit.connect(folder / "federation.toml")
    lines = repr(federation).splitlines()
    assert lines[0].endswith("federation.toml: regulator, bureau_a, bureau_b compute (engine rep3)")
    assert [line.split(",")[0].strip() for line in lines[1:]] == ["demographics", "scores_a", "scores_b"]
    page = federation._repr_html_()
    assert page.count("<tr>") == 4 and "scores_a" in page
    account = federation.explain("SELECT zip FROM demographics WHERE zip < 5")
    assert isinstance(account, tacit.Explanation)
    assert repr(account) == str(account) and "Who gets what" in account
    page = account._repr_html_()
    assert "<b>Who gets what</b>" in page and "&lt; 5" in page
    assert page.count("\n") == account.count("\n") - 1
