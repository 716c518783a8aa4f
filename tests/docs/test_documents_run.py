"""Every command and example in the documents runs, in order, in an empty folder, and prints what the document says.

Of each document, ``sh`` and ``python`` blocks are executed one after another in one temporary folder; a ``text`` block
directly after one of them is what it prints (stdout; spaces at line ends do not count). A block that is introduced by
``<!-- not run: reason -->`` is left out.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
from collections.abc import Callable
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import pytest

from tacit.cli.demo.scenario import free_ports

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"(?P<skip><!-- not run: [^>]+-->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.M | re.S)


@dataclass(frozen=True)
class Example:
    """A block to execute. line: where it starts in the document. prints: what it must print, if the document says."""

    line: int
    language: str
    text: str
    prints: str | None


def examples(document: str) -> list[Example]:
    """The executable blocks of a document, in order."""
    blocks = list(BLOCK.finditer(document))
    found = []
    for block, following in zip_longest(blocks, blocks[1:]):
        if block["language"] not in ("sh", "python") or block["skip"]:
            continue
        adjacent = following is not None and not document[block.end() : following.start("language")].strip("`\n ")
        prints = following["text"] if following is not None and adjacent and following["language"] == "text" else None
        found.append(Example(document.count("\n", 0, block.start()) + 1, block["language"], block["text"], prints))
    return found


def execute(
    example: Example, folder: Path, python: str = sys.executable, programs: str = os.environ["PATH"]
) -> subprocess.CompletedProcess[str]:
    """Run an example. python: what has tacit. programs: where there are others."""
    interpreters = {"sh": ["bash", "-euo", "pipefail", "-c"], "python": [python, "-c"]}
    path = f"{Path(python).parent}{os.pathsep}{programs}"
    return subprocess.run(
        [*interpreters[example.language], example.text],
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def on_free_ports(document: str) -> str:
    """The document with ports that nobody uses, so that several runs of the tests do not meet."""
    written = sorted(set(re.findall(r"127\.0\.0\.1:\d+", document)))
    for address, port in zip(written, free_ports(len(written)), strict=True):
        document = document.replace(address, f"127.0.0.1:{port}")
    return document


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def check(document: Path, run: Callable[[Example], subprocess.CompletedProcess[str]]) -> None:
    """Run all examples, each where those before it left the folder."""
    for example in examples(on_free_ports(document.read_text())):
        where = f"{document.name}, line {example.line}"
        done = run(example)
        assert done.returncode == 0, f"{where} ended with {done.returncode}:\n{done.stderr}"
        if example.prints is not None:
            assert lines(done.stdout) == lines(example.prints), f"{where} prints something else"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_examples_run_and_print_what_the_document_says(document: Path, tmp_path: Path) -> None:
    check(document, lambda example: execute(example, tmp_path))


@pytest.mark.nightly
def test_a_wheel_is_small_and_runs_the_tour_where_there_is_no_compiler(tmp_path: Path) -> None:
    run(sys.executable, "-m", "maturin", "build", "--quiet", "--release", "--out", str(tmp_path))
    (wheel,) = tmp_path.glob("*.whl")
    assert "-abi3-" in wheel.name
    assert wheel.stat().st_size < 30e6
    venv.create(tmp_path / "venv", symlinks=True)
    python = str(tmp_path / "venv" / "bin" / "python")
    packages = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    install(python, str(wheel))
    assert sum(file.stat().st_size for file in packages.rglob("*") if file.is_file()) < 120e6
    clock = "import time; start = time.perf_counter(); import tacit; print(time.perf_counter() - start)"
    assert min(float(run(python, "-c", clock)) for _ in range(5)) < 0.3
    install(python, f"{wheel}[polars]")
    folder = tmp_path / "tour"
    folder.mkdir()
    check(ROOT / "README.md", lambda example: execute(example, folder, python, "/usr/bin:/bin"))


def install(python: str, wheel: str) -> None:
    """Install a wheel and what it needs for an interpreter, in the tested versions and as they come."""
    pins = ["--constraint", str(ROOT / "constraints.txt"), "--only-binary", ":all:", "--no-compile"]
    run(
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "--disable-pip-version-check",
        "install",
        "--quiet",
        *pins,
        wheel,
    )


def run(*command: str) -> str:
    """What a program prints."""
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def test_blocks_are_found_with_their_output() -> None:
    document = (
        "a\n```sh\necho 1\n```\n```text\n1\n```\n\n<!-- not run: needs make -->\n```sh\nmake\n```\n```python\nx\n```\n"
    )
    found = [(example.line, example.language, example.prints) for example in examples(document)]
    assert found == [(2, "sh", "1\n"), (13, "python", None)]
