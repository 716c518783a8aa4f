"""Programs on a federation's arrays, from Python: what is asked, what is clear, and what is refused before a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest

import tacit
import tacit.numpy as np
from tacit.agent.connection import Connection

MEMBERSHIP = 'nodes = ["a", "b", "c"]\n' + "".join(
    f'[parties.{name}]\naddress = "127.0.0.1:71{at}1"\n' for at, name in enumerate("abc")
)
FEATURES = '[arrays.features]\nshape = [4, 2]\ndtype = "float64"\nmin = -4\nmax = 4\nuse = ["program"]\n'
LABELS = '[arrays.labels]\nshape = [4]\ndtype = "bool"\nuse = ["program"]\nprograms = "any"\nrecipients = ["a"]\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "federation.toml").write_text(MEMBERSHIP)
    (tmp_path / "offers").mkdir()
    (tmp_path / "offers" / "a.toml").write_text(FEATURES + 'recipients = ["a"]\nprograms = "any"\n')
    (tmp_path / "offers" / "b.toml").write_text(LABELS)
    return tmp_path


def connected(folder: Path) -> Connection:
    return tacit.connect(folder / "federation.toml")


def line(x: Any, y: Any) -> Any:
    return x.T @ (y - 0.5) / len(y)


def test_an_owners_array_says_what_is_public(folder: Path) -> None:
    x = connected(folder).private("a", "features")
    assert (x.shape, x.ndim, x.size, x.dtype) == ((4, 2), 2, 8, numpy.dtype("float64"))
    assert repr(x) == "a.features: array of 4 x 2, float64 from -4 to 4"
    assert connected(folder).private("a", "features.npy") == x


def test_a_federation_lists_its_arrays(folder: Path) -> None:
    assert repr(connected(folder)).splitlines()[1:] == [
        "  features, a, array of 4 x 2: float64 from -4 to 4",
        "  labels, b, array of 4: bool",
    ]


def test_the_name_of_its_file_is_known_at_its_owner(folder: Path) -> None:
    (folder / "private").mkdir()
    (folder / "private" / "a.toml").write_text('[arrays.features]\npath = "x1.npy"\n')
    assert connected(folder).private("a", "x1.npy").offered.name == "features"


@pytest.mark.parametrize(
    ("owner", "name", "sentence"),
    [
        ("a", "feature", "a offers no array 'feature'; perhaps you mean features."),
        ("a", "z", "a offers no array 'z'; there is features."),
        ("c", "x", "c offers no array; it declares [arrays.NAME] in offers/c.toml."),
        ("d", "x", "there is no party 'd'; there is a, b, c."),
    ],
)
def test_arrays_that_are_not_there(folder: Path, owner: str, name: str, sentence: str) -> None:
    with pytest.raises(tacit.InputError) as caught:
        connected(folder).private(owner, name)
    assert str(caught.value) == sentence


def test_no_function_of_numpy_takes_it(folder: Path) -> None:
    x: Any = connected(folder).private("a", "features")
    for use in (numpy.exp, numpy.sum, numpy.asarray, numpy.sort):
        with pytest.raises(tacit.InputError, match="features is an array of a, whose elements nobody sees; compute on"):
            use(x)


def test_numpys_arrays_give_the_clear_result(folder: Path) -> None:
    train = connected(folder).program(line)
    x, y = numpy.ones((4, 2)), numpy.array([True, False, True, True])
    assert numpy.array_equal(train(x, y), line(x, y))
    assert train.__name__ == "line"


def test_owners_arrays_give_a_question_with_a_hash(folder: Path) -> None:
    fed = connected(folder)
    x, y = fed.private("a", "features"), fed.private("b", "labels")
    train = fed.program(line)
    asked = train(x, y=y)
    assert repr(asked) == "line of a.features, b.labels, not yet revealed"
    assert asked.hash == connected(folder).program(line)(x, y).hash
    assert asked.hash != fed.program(fraction=20)(line)(x, y).hash
    assert len(asked.hash) == 66 and asked.hash.startswith("p:")


def test_public_arguments_are_part_of_the_program(folder: Path) -> None:
    fed = connected(folder)
    x = fed.private("a", "features")

    @fed.program
    def repeated(x: Any, times: int, scale: float = 2.0) -> Any:
        for _ in range(times):
            x = np.clip(x * scale, -4, 4)
        return x

    assert len({repeated(x, 1).hash, repeated(x, 2).hash, repeated(x, 2, scale=3.0).hash}) == 3
    assert repeated(x, 2).hash == repeated(x, times=2, scale=2.0).hash


def test_mistakes_are_one_sentence(folder: Path) -> None:
    fed = connected(folder)
    x = fed.private("a", "features")
    with pytest.raises(tacit.InputError, match="line is given no owner's array"):
        fed.program(line).explain(numpy.ones((4, 2)), numpy.ones(4))
    with pytest.raises(tacit.InputError, match="a program has 1 to 40 bits after the point"):
        fed.program(fraction=60)

    @fed.program
    def several(*arrays: Any) -> Any:
        return arrays[0]

    with pytest.raises(tacit.InputError, match="several has an argument arrays without a name"):
        several(x)

    @fed.program
    def branching(x: Any) -> Any:
        if x.sum() > 0:
            return x
        return -x

    with pytest.raises(tacit.InputError, match=r"line [0-9]+: "):
        branching(x).reveal()
