"""The section [link] is written into a federation file, of which nothing else changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.agent.faults import RunError
from tacit.agent.federation import Federation
from tacit.agent.federation_members import Members
from tacit.agent.link import measuring_parties
from tacit.agent.link_section import check_writable, link_section, write_link
from tacit.plan.facts.catalog import Link

LINK = Link(0.000065, 850e6)
PARTIES = "".join(
    f'\n[parties.{name}] # its party\naddress = "127.0.0.1:{port}"\n' for port, name in enumerate("abc", 1)
)
DECLARED = "[link]\nlatency = 0.000065\nbandwidth = 850_000_000\n"


def written(path: Path, text: str, link: Link = LINK) -> str:
    """A file's text after a link was declared in it."""
    path.write_bytes(text.encode())
    check_writable(path, replace=True)
    write_link(path, link)
    return path.read_bytes().decode()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "offers").mkdir()
    (tmp_path / "offers" / "a.toml").write_text('[tables.t]\nopen = true\n[tables.t.columns]\nx = "INTEGER"\n')
    return tmp_path / "federation.toml"


def test_it_is_added_at_the_end(path: Path) -> None:
    assert link_section(LINK) == DECLARED
    assert written(path, f"# ours\n{PARTIES}\n\n") == f"# ours\n{PARTIES}\n{DECLARED}"
    windows = f"# ours\n{PARTIES}".replace("\n", "\r\n")
    assert written(path, windows) == f"# ours\n{PARTIES}\n{DECLARED}".replace("\n", "\r\n")
    assert Federation.load(path).catalog.link == LINK


def test_numbers_are_replaced_where_they_stand(path: Path) -> None:
    before = "# ours\n[ link ] # measured\n  bandwidth = 1e6 # slow\n\nlatency=0.5\n"
    after = "# ours\n[ link ] # measured\n  bandwidth = 850_000_000 # slow\n\nlatency=0.000065\n"
    assert written(path, before + PARTIES) == after + PARTIES
    assert written(path, PARTIES + before) == PARTIES + after
    assert written(path, before.replace("\n", "\r\n")[:-2] + PARTIES) == after.replace("\n", "\r\n")[:-2] + PARTIES


@pytest.mark.parametrize("link", [Link(2.0, 1.5), Link(1e-7, 1e3), Link(0.00025, 1.2e10)])
def test_odd_numbers_are_read_as_they_were_meant(link: Link, path: Path) -> None:
    written(path, PARTIES)
    written(path, path.read_text(), link)
    assert Federation.load(path).catalog.link == link


@pytest.mark.parametrize(
    "before",
    [
        "link = { latency = 0.1, bandwidth = 1 }\n",
        "link.latency = 0.1\nlink.bandwidth = 1\n",
        "[link]\nlatency = 0.1\n",
        '[link]\nlatency = 0.1\n"bandwidth" = 1\n',
        "[link]\nlatency = 0.1\nbandwidth = 1\nloss = 0.1\n",
        '[link]\nlatency = "a b"\nbandwidth = 1\n',
        'nodes = ["""\n[link]\nlatency = 1\n"""]\nlink = {}\n',
    ],
)
def test_one_that_is_written_otherwise_is_refused_and_stays(before: str, path: Path) -> None:
    path.write_text(before + PARTIES)
    for attempt in (lambda: check_writable(path, replace=True), lambda: write_link(path, LINK)):
        with pytest.raises(RunError, match=r"federation.toml, \[link\]: is not written as a section of two lines"):
            attempt()
    assert path.read_text() == before + PARTIES


def test_one_that_is_there_is_not_replaced_unasked(path: Path) -> None:
    written(path, PARTIES)
    with pytest.raises(RunError, match=r"federation.toml declares a \[link\] already; --force replaces it\."):
        check_writable(path, replace=False)


def test_a_file_keeps_its_mode_and_is_left_alone_where_it_is_right(path: Path) -> None:
    path.write_text(PARTIES)
    path.chmod(0o640)
    write_link(path, LINK)
    assert path.stat().st_mode & 0o777 == 0o640
    before = path.stat()
    write_link(path, LINK)
    assert path.stat().st_ino == before.st_ino


@pytest.mark.parametrize(
    ("top", "parties"),
    [
        ("", "abc"),
        ('engine = "two"\n', "ab"),
        ('engine = "two"\nnodes = ["c", "b"]\n', "cb"),
    ],
)
def test_nodes_measure(top: str, parties: str, path: Path) -> None:
    path.write_text(top + PARTIES)
    assert measuring_parties(Members.load(path), parties[1]) == tuple(parties)


def test_without_nodes_all_measure(path: Path) -> None:
    path.write_text(PARTIES[: PARTIES.index("\n[parties.c]")])
    assert measuring_parties(Members.load(path), "b") == ("a", "b")


def test_who_cannot_measure_is_told(path: Path) -> None:
    path.write_text(f'engine = "two"\n{PARTIES}')
    with pytest.raises(RunError, match="c is no node, and the link is that between the nodes; measure it at a and b"):
        measuring_parties(Members.load(path), "c")
    path.write_text(PARTIES[: PARTIES.index("\n[parties.b]")])
    with pytest.raises(RunError, match="names a alone, and a link has two ends"):
        measuring_parties(Members.load(path), "a")
