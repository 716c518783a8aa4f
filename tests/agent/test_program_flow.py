"""The whole way of a program but the nodes' part: from owners' files to the arrays that a recipient gets.

What the nodes compute on shares is computed in clear here, by the reference of all engines.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import duckdb
import numpy
import pytest

import tacit
import tacit.numpy as np
from tacit.agent.array_answer import gives_arrays, load_arrays, save_arrays
from tacit.agent.connection import Connection
from tacit.agent.doctor import own_checks
from tacit.agent.verdicts import verdicts
from tacit.cli.main import main
from tacit.local.database import quoted
from tacit.local.duckdb_engine import LocalEngine
from tacit.plan.physical.placed import ArrayStep, InputStep, PlacedPlan, ProgramStep, ReleaseStep, ResultStep
from tacit.plan.place_program import place_program
from tacit.plan.programs.evaluation import Evaluation
from tacit.plan.programs.operations import Input
from tacit.plan.programs.optimiser import optimised
from tacit.plan.programs.reading import read
from tacit.plan.programs.release import released

MEMBERSHIP = 'nodes = ["a", "b", "c"]\nrecipients = ["a"]\n' + "".join(
    f'[parties.{name}]\naddress = "127.0.0.1:71{at}2"\n' for at, name in enumerate("abc")
)
OFFERS = {
    "a": '[arrays.x]\nshape = [40, 3]\ndtype = "float64"\nmin = -2\nmax = 2\nuse = ["program"]\nallow = ["HASH"]\n'
    'recipients = ["b"]\n',
    "b": '[arrays.y]\nshape = [40]\ndtype = "bool"\nuse = ["program"]\nallow = ["HASH"]\nrecipients = ["a"]\n'
    '[arrays.k]\nshape = [40]\ndtype = "int32"\nmin = -9\nmax = 9\nuse = ["program"]\nprograms = "any"\n'
    'recipients = ["a"]\n',
}
DRAW = numpy.random.default_rng(5)
VALUES = {
    "x": DRAW.uniform(-2, 2, (40, 3)),
    "y": DRAW.integers(0, 2, 40).astype(bool),
    "k": DRAW.integers(-9, 10, 40).astype(numpy.int32),
}
NO_HASH = "p:" + "0" * 64


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "federation.toml").write_text(MEMBERSHIP)
    for name in ("offers", "private"):
        (tmp_path / name).mkdir()
    offer(tmp_path, NO_HASH)
    for owner, arrays in (("a", "x"), ("b", "yk")):
        entries = "".join(f'[arrays.{each}]\npath = "../{each}.npy"\n' for each in arrays)
        (tmp_path / "private" / f"{owner}.toml").write_text(entries)
    for each, values in VALUES.items():
        numpy.save(tmp_path / f"{each}.npy", values)
    return tmp_path


def offer(folder: Path, program: str) -> None:
    """Offers that list a program."""
    for owner, text in OFFERS.items():
        (folder / "offers" / f"{owner}.toml").write_text(text.replace("HASH", program))


def connected(folder: Path) -> Connection:
    return tacit.connect(folder / "federation.toml")


def line(x: Any, y: Any) -> Any:
    w = np.zeros(3)
    for _ in range(3):
        w = np.clip(w - 0.5 * x.T @ (x @ w - y) / len(y), -4, 4)
    return w


def several(x: Any, y: Any, k: Any) -> Any:
    return {"positive": x.sum(axis=1) > 0, "count": y.sum(), "mean": x.mean(), "k": k * y}


def asked(folder: Path, function: Any, *names: str) -> Any:
    """A question about owners' arrays, by a program that offers list."""
    owners = {"x": "a", "y": "b", "k": "b"}
    fed = connected(folder)
    offer(folder, fed.program(function)(*(fed.private(owners[each], each) for each in names)).hash)
    fed = connected(folder)
    return fed.program(function)(*(fed.private(owners[each], each) for each in names))


def revealed(plan: PlacedPlan, folder: Path) -> dict[str, Any]:
    """The arrays that a plan's recipient gets, with the nodes' part in clear."""
    catalog = connected(folder).federation.catalog
    given: dict[tuple[str, str], Any] = {}
    for step in plan.steps:
        if isinstance(step, ArrayStep):
            with LocalEngine(plan, step.party, catalog) as engine:
                rows = engine.run(step)
                share = next(each for each in plan.steps if isinstance(each, InputStep) and each.local == step.id)
                stream: Any = engine.encode(step.id, share.operator.columns)
                given[step.party, step.array] = [int(value) for (value,) in stream.fetchall()]
            assert rows == share.exact == len(given[step.party, step.array])
    program = read(plan.query)
    outputs = released(program.graph, optimised(program.graph, program.outputs).after)
    inputs = {
        node.operation.name: _integers(given[source.owner, source.array], node.array.shape)
        for node in program.graph.nodes.values()
        if isinstance(node.operation, Input)
        for source in [program.sources[node.operation.name]]
    }
    found = dict(zip(outputs, Evaluation(inputs, Random(1)).run(outputs.values()), strict=True))
    (result,) = (step for step in plan.steps if isinstance(step, ResultStep))
    columns = {step.id: step.operator.columns[0] for step in plan.steps if isinstance(step, ReleaseStep)}
    opened = {each.release: _stream(found[each.name], columns[each.release]) for each in result.arrays}
    with LocalEngine(plan, plan.recipients[0], catalog) as engine:
        return engine.arrays(result, opened)


def _integers(values: list[int], shape: tuple[int, ...]) -> Any:
    found = numpy.empty(len(values), dtype=object)
    found[:] = values
    return found.reshape(shape)


def _stream(integers: Any, column: str) -> Any:
    listed = ", ".join(f"({at}, {value})" for at, value in enumerate(integers.reshape(-1).tolist()))
    rows = f"(VALUES {listed}) t(i, v)"
    return duckdb.connect().sql(f"SELECT CAST(v AS DECIMAL(38, 0)) AS {quoted(column)} FROM {rows} ORDER BY i")


def test_a_model_is_that_of_numpy(folder: Path) -> None:
    question = asked(folder, line, "x", "y")
    plan = question.connection.plan(question.text)
    assert gives_arrays(plan)
    assert [type(step) for step in plan.steps].count(ArrayStep) == 2
    arrays = question.program.traced.returned(revealed(plan, folder))
    error = float(question.program.traced.outputs["result"].array.absolute_error) + 2**-15
    assert arrays.dtype == numpy.float64
    assert numpy.abs(arrays - line(VALUES["x"], VALUES["y"])).max() <= error


def test_results_have_numpys_types(folder: Path) -> None:
    question = asked(folder, several, "x", "y", "k")
    plan = question.connection.plan(question.text)
    found, clear = question.program.traced.returned(revealed(plan, folder)), several(*VALUES.values())
    assert list(found) == list(clear)
    assert found["positive"].dtype == bool and found["count"].shape == found["mean"].shape == ()
    assert found["k"].dtype == numpy.int32 == clear["k"].dtype
    sums = VALUES["x"].sum(axis=1)
    assert numpy.array_equal(found["positive"][abs(sums) > 1e-3], clear["positive"][abs(sums) > 1e-3])
    assert found["count"] == clear["count"] and abs(found["mean"] - clear["mean"]) < 1e-4
    assert numpy.array_equal(found["k"], clear["k"])


def test_the_hash_that_an_owner_lists_is_the_one_that_a_refusal_says(folder: Path) -> None:
    fed = connected(folder)
    question = fed.program(line)(fed.private("a", "x"), fed.private("b", "y"))
    with pytest.raises(tacit.PolicyError) as caught:
        question.reveal(to="a")
    assert str(caught.value) == (
        f"refused by b: allow: the array y is open to certain programs, and not to {question.hash}; "
        f'b has to write "{question.hash}" in allow at [arrays.y] in offers/b.toml.'
    )
    offer(folder, question.hash)
    for to in ("a", "b", ["a", "b"]):
        assert connected(folder).plan(question.text, to).ruling.allowances
    for to in ("c", ["a", "c"]):
        with pytest.raises(tacit.PolicyError, match="recipient: c is no recipient of the array x; a has to write"):
            connected(folder).plan(question.text, to)


def test_what_every_party_holds_against_its_own_offers(folder: Path) -> None:
    question = asked(folder, line, "x", "y")
    path = folder / "offers" / "a.toml"
    path.write_text(path.read_text().replace("max = 2", "max = 3"))
    with pytest.raises(tacit.InputError, match="the program takes x for: "):
        connected(folder).plan(question.text)


def test_a_text_that_names_other_arrays_is_another_program(folder: Path) -> None:
    path = folder / "offers" / "b.toml"
    question = asked(folder, lambda x, k: x[:, 0] * k, "x", "k")
    path.write_text(path.read_text() + '[arrays.m]\nshape = [40]\ndtype = "int32"\nmin = -9\nmax = 9\n')
    fed = connected(folder)
    fed.plan(question.text, ["a", "b"])
    assert question.text.count('"array":"k"') == 1
    with pytest.raises(
        tacit.PolicyError, match="refused by a: allow: the array x is open to certain programs, and not"
    ):
        fed.plan(question.text.replace('"array":"k"', '"array":"m"'), ["a", "b"])
    with pytest.raises(tacit.PolicyError, match="refused by b: closed: the array m is closed"):
        fed.plan(question.text.replace('"array":"k"', '"array":"m"'), "a")
    for changed in (question.text + " ", question.text.replace(",", ", ", 1), question.text.replace('"k"', '"none"')):
        with pytest.raises(tacit.InputError):
            fed.plan(changed, "a")


def test_explain_says_what_refuses(folder: Path) -> None:
    fed = connected(folder)
    train, x, y = fed.program(line), fed.private("a", "x"), fed.private("b", "y")
    text = train.explain(x, y)
    assert text.startswith(
        f"program line\nhash {train(x, y).hash}\ninputs:\n  x: a.x: array of 40 x 3, float64 from -2"
    )
    assert text.splitlines()[-1].startswith("refused by b: allow: ")
    with pytest.raises(tacit.PolicyError):
        train.check(x, y)


def test_check_says_what_allows(folder: Path) -> None:
    question = asked(folder, several, "x", "y", "k")
    assert question.check() == [
        "b allows: the array y may be computed on (it lists this program)",
        'b allows: the array k may be computed on (any program may compute on it, programs = "any")',
    ]


def test_verdicts_of_a_program(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fed = connected(folder)
    question = fed.program(line)(fed.private("a", "x"), fed.private("b", "y"))
    (refused,) = verdicts(question.text, fed.federation.catalog, ("a",))
    assert refused.json()["verdict"] == "refused" and refused.json()["refusal"]["table"] == "y"
    offer(folder, question.hash)
    (folder / "program.json").write_text(question.text + "\n")
    command = ["policy", "test", str(folder / "program.json"), "--federation", str(folder / "federation.toml")]
    assert main([*command, "--to", "a"]) == 0
    assert capsys.readouterr().out == (
        f"program {question.hash}\n  allowed\n  b allows: the array y may be computed on (it lists this program)\n"
    )
    assert main([*command, "--to", "c"]) == 3
    assert "refused by a: recipient: c is no recipient of the array x" in capsys.readouterr().out
    assert main(["policy", "test", "train.py", *command[3:]]) == 2
    assert "train.py: is a script; give the text of its program" in capsys.readouterr().err


def test_arrays_are_saved_without_objects(tmp_path: Path, folder: Path) -> None:
    question = asked(folder, several, "x", "y", "k")
    plan = question.connection.plan(question.text)
    arrays = several(*VALUES.values())
    named = {name: numpy.asarray(arrays[name]) for name in ("positive", "count", "mean", "k")}
    save_arrays(named, tmp_path / "answer")
    loaded = load_arrays(tmp_path / "answer", plan)
    assert all(numpy.array_equal(loaded[name], each) for name, each in named.items())
    with pytest.raises(FileExistsError):
        save_arrays(named, tmp_path / "answer")


def test_each_operator_has_its_permit(folder: Path) -> None:
    question = asked(folder, line, "x", "y")
    plan = place_program(question.text, question.connection.federation.catalog, ("a",))
    assert [type(step) for step in plan.steps[-3:]] == [ProgramStep, ReleaseStep, ResultStep]
    assert [permit.recipients for permit in plan.permits if permit.kind == "answer"] == [("a",)]


def test_parties_elsewhere_start_the_same_script(folder: Path) -> None:
    question = asked(folder, line, "x", "y")
    path = folder / "federation.toml"
    path.write_text(path.read_text().replace("127.0.0.1:7122", "10.0.0.5:7122"))
    elsewhere = connected(folder)
    with pytest.raises(tacit.InputError, match=r"c is at no address .* start `tacit run SCRIPT --name NAME` at each"):
        elsewhere.parties_here(elsewhere.plan(question.text))


def test_a_doctor_looks_at_arrays(folder: Path) -> None:
    members = connected(folder).federation.members
    found = {each.subject: each for each in own_checks(members, "b")}
    assert found["membership, offers"].found == "parties: 3, tables: 0, arrays: 3"
    assert (found["array y"].found, found["array k"].found) == ("40 elements are as offered",) * 2
    numpy.save(folder / "k.npy", VALUES["k"][1:])
    wrong = {each.subject: each for each in own_checks(members, "b")}["array k"].wrong
    assert "its shape is 39, not the declared 40" in wrong
