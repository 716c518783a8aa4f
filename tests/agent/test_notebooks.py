"""A data scientist's notebook, cell by cell, in IPython's own shell: what works across cells, and what is shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import tacit
from tacit.agent.keys import make_keys
from tacit.cli.demo.scenario import free_ports
from tacit.plan.programs.nodes import reachable
from tacit.plan.programs.operations import Sample

PARTIES = ("a", "b", "c")
X = numpy.random.default_rng(5).uniform(-2, 2, (6, 2))
OFFER = '[arrays.x]\nshape = [6, 2]\ndtype = "float64"\nmin = -2\nmax = 2\nuse = ["program"]\nprograms = "any"\n'
START = """
import numpy
import tacit
import tacit.numpy as np
fed = tacit.connect({path!r})
x = fed.private("a", "x")
"""


class Notebook:
    """Cells of a shell. shown: what the last one printed."""

    def __init__(self, shell: InteractiveShell, capture: pytest.CaptureFixture[str]) -> None:
        self.shell, self.capture = shell, capture
        self.shown = ""

    def cell(self, text: str) -> Any:
        """Run a cell, and give its value."""
        self.capture.readouterr()
        done = self.shell.run_cell(text, store_history=True)
        self.shown = self.capture.readouterr().out
        return done.result

    def page(self, text: str) -> str:
        """The HTML that a notebook shows of a cell's value."""
        data, _ = self.shell.display_formatter.format(self.cell(text))
        return str(data["text/html"])


@pytest.fixture
def notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Notebook]:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("TACIT_TRACEBACK", "")  # undone after the test, and what a cell sets with it
    ports = zip(PARTIES, free_ports(3), strict=True)
    path = tmp_path / "federation.toml"
    path.write_text(
        'recipients = ["a"]\n' + "".join(f'[parties.{name}]\naddress = "127.0.0.1:{port}"\n' for name, port in ports)
    )
    for name in ("offers", "private"):
        (tmp_path / name).mkdir(mode=0o700)
    (tmp_path / "offers" / "a.toml").write_text(OFFER)
    (tmp_path / "private" / "a.toml").write_text('[arrays.x]\npath = "../x.npy"\n')
    numpy.save(tmp_path / "x.npy", X)
    make_keys(tacit.connect(path).federation.members, PARTIES, replace=False)
    shell = InteractiveShell.instance(
        config=Config({"HistoryManager": {"enabled": False}, "InteractiveShell": {"colors": "nocolor"}})
    )
    made = Notebook(shell, capsys)
    made.cell(START.format(path=str(path)))
    try:
        yield made
    finally:
        InteractiveShell.clear_instance()


def test_a_program_of_one_cell_is_asked_in_others_and_run_by_three_parties(notebook: Notebook) -> None:
    notebook.cell("@fed.program\ndef centred(x):\n    return x - x.mean(axis=0)\n")
    notebook.cell("@fed.program\ndef gram(c, x, scale=1.0):\n    return scale * c.T @ x if x[0, 0] > 9 else c.T @ x\n")
    assert notebook.cell("c = centred(x)\nc.shape, c.ndim, str(c.dtype)") == ((6, 2), 2, "float64")
    notebook.cell("asked = gram(c, x)")
    (rewrite,) = notebook.cell("gram.check(c, x)")[:1]
    assert rewrite.startswith("cell In[3], line 3: `scale * c.T @ x if x[0, 0] > 9 else c.T @ x` is computed as")
    true = (X - X.mean(axis=0)).T @ X
    answer = notebook.cell('answer = asked.answer(to="a")\nanswer')
    assert numpy.abs(answer.arrays["result"] - true).max() < 1e-3
    page = notebook.page("answer")
    assert "array of 2 x 2, float64" in page and "What each party learnt" in page and "c learn" in page
    assert "<td>total</td>" in notebook.page("answer.cost")
    assert notebook.cell("numpy.allclose(asked.reveal(), answer.arrays['result'], atol=1e-3)") is True


def test_a_function_that_is_defined_again_is_the_new_one(notebook: Notebook) -> None:
    first = notebook.cell("@fed.program\ndef f(x):\n    return x * 2\nf(x).hash")
    notebook.cell("def twice(x):\n    return x * 2")
    assert notebook.cell("f = fed.program(lambda x: twice(x))\nf(x).hash") == first
    notebook.cell("def twice(x):\n    return x + x + 1")
    second = notebook.cell("f(x).hash")
    assert second != first
    assert notebook.cell("@fed.program\ndef f(x):\n    return x + x + 1\nf(x).hash") == second


def test_a_part_is_computed_once_and_changed_by_nobody(notebook: Notebook) -> None:
    notebook.cell("@fed.program\ndef noisy(x):\n    return x + np.random.uniform(size=x.shape)\n")
    notebook.cell("@fed.program\ndef grown(n, x):\n    n += 1\n    return n.sum(axis=0)\n")
    notebook.cell("@fed.program\ndef rest(n, m, k):\n    return n - m, k.sum()\n")
    asked = notebook.cell("n = noisy(x)\nasked = rest(n, n, grown(n, x))\nasked")
    nodes = reachable(asked.program.traced.outputs.values())
    assert sum(isinstance(node.operation, Sample) for node in nodes) == 1
    difference = asked.program.traced.outputs["0"]
    assert difference.args[0] is difference.args[1]
    assert list(asked.inputs) == ["x"]


def test_errors_are_one_sentence_with_cell_and_line(notebook: Notebook) -> None:
    notebook.cell("@fed.program\ndef f(x):\n    if x.sum() > 0:\n        return x\n    return -x\n")
    notebook.cell("f(x).reveal()")
    assert notebook.shown.count("\n") == 1 and notebook.shown.startswith(
        "InputError: cell In[2], line 3: the private condition `x.sum() > 0` decides which way: "
    )
    notebook.cell("def helper(z):\n    y = z * 100\n    return np.exp(y)")
    notebook.cell("@fed.program\ndef g(x):\n    return helper(x)\n")
    notebook.cell("g(x).check()")
    assert notebook.shown.startswith("InputError: cell In[4], line 3: ") and notebook.shown.count("\n") == 1
    notebook.cell("@fed.program\ndef h(x):\n    return missing(x)\nh(x).explain()")
    assert notebook.shown == "InputError: cell In[7], line 3: NameError: name 'missing' is not defined.\n"
    notebook.cell("h(x, 3)")
    assert notebook.shown == "InputError: too many positional arguments; the program is h(x).\n"
    notebook.cell("import numpy\nnumpy.exp(g(x))")
    assert notebook.shown.startswith("InputError: what g gives is not revealed, and nobody has it; compute on it in a")
    notebook.cell("u, v = g(x)")
    assert notebook.shown.startswith("InputError: what g gives is not revealed")
    notebook.cell("fed.program(fraction=20)(lambda c: c)(g(x))")
    assert "20 bits after the point, rounding dither, and its argument c comes from a program with 16" in notebook.shown
    notebook.cell("tacit.program(x=tacit.Declared((2,), 'float64', -1, 1))(lambda x: 1 / x).check()")
    assert notebook.shown.startswith("OutOfDomain: cell In[12], line 1: ") and notebook.shown.count("\n") == 1


def test_the_traceback_is_there_for_who_asks(notebook: Notebook) -> None:
    notebook.cell("import os\nos.environ['TACIT_TRACEBACK'] = '1'\nfed.private('a', 'z')")
    assert "Traceback (most recent call last)" in notebook.shown and "there is x" in notebook.shown


def test_pages_say_what_is_public_and_show_no_element(notebook: Notebook) -> None:
    notebook.cell('@fed.program\ndef f(x):\n    """Sums of columns.\n\n    Of all rows."""\n    return x.sum(axis=0)\n')
    array = notebook.page("x")
    assert all(each in array for each in ("<pre>a</pre>", "array of 6 x 2", "float64 from -2 to 2", "nobody sees them"))
    program = notebook.page("f")
    assert "program f" in program and "(x)" in program and "Sums of columns.</pre>" in program
    assert notebook.cell("repr(f)") == "program f(x), 16 bits after the point, rounding dither"
    question = notebook.page("f(x)")
    assert "a.x" in question and "array of 2, fixed, from -12 to 12" in question and "nobody has it yet" in question
    assert "rounds</th>" in notebook.page("f.cost(x)")
    assert notebook.page("f.check(x)") == "<ul></ul>"
    refused = notebook.page("fed.program(lambda x: float(x[0, 0]))(x)")
    assert "<td>refused</td>" in refused and "is no Python number" in refused
    declared = notebook.page("tacit.program(x=tacit.Declared((2,), 'float64', -1, 1))(lambda x: x)")
    assert "Declared(shape=(2,)" in declared


def test_long_sections_are_folded_but_for_what_is_disclosed(notebook: Notebook) -> None:
    notebook.cell(
        "@fed.program\ndef f(x):\n    for _ in range(20):\n        x = np.clip(x * 1.5, -2, 2)\n    return x\n"
    )
    page = notebook.page("f.explain(x)")
    assert "<summary><b>Who asks</b> (" in page
    assert "<b>Who gets what</b>" in page and "<summary><b>Who gets" not in page
    assert page.count("<details>") == page.count("</details>") < 6
