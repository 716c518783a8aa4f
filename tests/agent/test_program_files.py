"""The file of a program's results and its certificate: whole, signed, and told apart from any other."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import numpy
import pytest
from tests.programs.test_placing import CATALOG, fit, placed

from tacit.agent.array_answer import ArrayAnswer, check_file
from tacit.agent.cost import Cost
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members
from tacit.agent.proof import Proof, beside, check
from tacit.cli import output
from tacit.sql import compile_query

from .signing import Party, run

ARRAYS = {"w": numpy.array([0.5, -1.25, 3.0]), "share": numpy.float64(0.25)}


@pytest.fixture
def answer(parties: dict[str, Party]) -> ArrayAnswer:
    run([*parties.values()], "SELECT 1")
    north = parties["north"]
    return ArrayAnswer(ARRAYS, placed(fit), Cost((), {}), Proof(north.entries()[-1], north.signer))


def test_arrays_and_their_certificate(answer: ArrayAnswer, members: Members, tmp_path: Path) -> None:
    answer.write(tmp_path / "model.npz")
    with numpy.load(tmp_path / "model.npz", allow_pickle=False) as found:
        assert found.files == ["w", "share"]
        assert numpy.array_equal(found["w"], ARRAYS["w"]) and found["share"] == 0.25 and found["share"].shape == ()
    assert set(check(tmp_path / "model.npz", members).signers) == {"north", "south", "helper"}


def test_one_array(answer: ArrayAnswer, members: Members, tmp_path: Path) -> None:
    one = ArrayAnswer({"result": ARRAYS["w"]}, placed(lambda x: x.sum(axis=0)), answer.cost, answer.proof)
    one.write(tmp_path / "w.npy")
    assert numpy.array_equal(numpy.load(tmp_path / "w.npy"), ARRAYS["w"])
    assert check(tmp_path / "w.npy", members).recipient == "north"


def test_tampering_is_told(answer: ArrayAnswer, members: Members, tmp_path: Path) -> None:
    file = tmp_path / "w.npz"
    answer.write(file)
    whole = file.read_bytes()
    place = whole.index(ARRAYS["w"].tobytes())
    changes = [whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :], whole[:-1], whole + b"\0", b""]
    for changed in changes:
        file.write_bytes(changed)
        with pytest.raises(RunError, match="is not the file that north has signed"):
            check(file, members)
    file.write_bytes(whole)
    assert check(file, members).recipient == "north"
    other = tmp_path / "other.npz"
    ArrayAnswer(ARRAYS | {"w": ARRAYS["w"] + 1}, answer.plan, answer.cost, None).write(other)
    with pytest.raises(RunError, match="is not there"):
        check(other, members)
    beside(other).write_bytes(beside(file).read_bytes())
    with pytest.raises(RunError, match="is not the file that north has signed"):
        check(other, members)


def test_files_that_take_no_arrays(tmp_path: Path) -> None:
    several, odd = placed(fit), placed(lambda x: {"../w": x})
    for plan, name, sentence in (
        (several, "w.csv", "name it .npy for one array, or .npz"),
        (several, "w.npy", "a .npy file has one array, and the program gives 2"),
        (odd, "w.npz", r"the result '\.\./w' has no name for a file"),
        (several, "none/w.npz", "does not exist"),
    ):
        with pytest.raises(RunError, match=sentence) as caught:
            check_file(tmp_path / name, plan)
        assert caught.value.fault is Fault.INPUT
    check_file(tmp_path / "w.npy", odd)
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises(RunError, match="is a folder"):
        check_file(tmp_path / "folder.npz", several)


def options(file: Path | None, form: str | None = None) -> Namespace:
    return Namespace(output=form, output_file=file)


def test_the_command_line_writes_arrays(
    answer: ArrayAnswer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "w.npz"
    output.check_arguments(options(file))
    output.check_arrays(answer.plan, options(file))
    output.put_arrays(answer, options(file))
    assert file.exists() and beside(file).exists() and capsys.readouterr().out == ""
    output.put_arrays(answer, options(None))
    assert "share = 0.25" in capsys.readouterr().out
    file.chmod(0o600)
    query = compile_query("SELECT 1 AS one", CATALOG, ("a",))
    for plan, given, sentence in (
        (answer.plan, options(None, "csv"), "gives arrays, and no table to write; leave --output out"),
        (answer.plan, options(tmp_path / "w.csv"), "name it .npy for one array"),
        (query, options(file), "has arrays, and a query gives a table; name it .csv"),
    ):
        with pytest.raises(RunError, match=sentence):
            output.check_arrays(plan, given)


def test_a_file_that_cannot_be_written_loses_nothing(
    answer: ArrayAnswer, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: ArrayAnswer, path: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ArrayAnswer, "write", full)
    with pytest.raises(RunError, match=r"No space left on device\); the arrays are on stdout instead"):
        output.put_arrays(answer, options(tmp_path / "w.npz"))
    assert "share = 0.25" in capsys.readouterr().out
