"""Hosts are set up by copying public files only, as their users do it: each a folder that begins empty."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tacit.cli.demo.scenario import free_ports

QUERY = (
    "SELECT city, COUNT(*) AS n FROM (SELECT city FROM x UNION ALL SELECT city FROM y) t GROUP BY city ORDER BY city"
)
COLUMNS = 'open = true\ncolumns.city = { type = "VARCHAR", values = ["Bergen", "Oslo"] }\nrows = 4\n'
PUBLIC = ("federation.toml", "keys", "offers")


def start(host: Path, *arguments: str) -> subprocess.Popen[str]:
    """A command under way in a host's folder."""
    command = [sys.executable, "-m", "tacit", *arguments]
    return subprocess.Popen(command, cwd=host, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def tacit(host: Path, *arguments: str) -> str:
    """What a command says that succeeds."""
    running = start(host, *arguments)
    told, wrong = running.communicate(timeout=60)
    assert running.returncode == 0, wrong
    return told


def refused(host: Path, *arguments: str) -> str:
    """The one sentence of a command that is refused, which writes nothing."""
    before = files(host)
    running = start(host, *arguments)
    told, wrong = running.communicate(timeout=60)
    assert (running.returncode, told) == (2, "")
    assert wrong.startswith("tacit: ") and wrong.count("\n") == 1
    assert files(host) == before
    return wrong.removeprefix("tacit: ").rstrip("\n")


def files(folder: Path) -> dict[str, bytes]:
    """All that a folder holds."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def copy(source: Path, target: Path, *names: str) -> None:
    """Copy files or folders, as people do, over what is there."""
    for name in names:
        if (source / name).is_dir():
            shutil.copytree(source / name, target / name, dirs_exist_ok=True)
        else:
            (target / name).parent.mkdir(exist_ok=True)
            shutil.copy(source / name, target / name)


def set_up(folder: Path, names: str, engine: str = "rep3") -> dict[str, Path]:
    """Hosts, one for each letter, with all of them as members, set up as the commands say."""
    found = {name: folder / name for name in names}
    for place, ((name, host), port) in enumerate(zip(found.items(), free_ports(len(names)), strict=True)):
        host.mkdir()
        others = names[:place]
        if others:
            copy(found[others[-1]], host, *PUBLIC)
        begin = ("join",) if others else ("init", "--engine", engine)
        told = tacit(host, *begin, "--name", name, "--address", f"127.0.0.1:{port}")
        if others:
            own = ("federation.toml", f"keys/{name}.crt", f"offers/{name}.toml")
            assert f"Copy {', '.join(own)} to {' and '.join(others)}." in told
            for other in others:
                copy(host, found[other], *own)
    return found


def offer(hosts: dict[str, Path], owner: str, table: str) -> None:
    """An owner has a table of three rows, and all others get a copy of what it offers."""
    (hosts[owner] / f"{table}.csv").write_text("city\nOslo\nBergen\nOslo\n")
    (hosts[owner] / "offers" / f"{owner}.toml").write_text(f"[tables.{table}]\n{COLUMNS}")
    (hosts[owner] / "private" / f"{owner}.toml").write_text(f'[tables.{table}]\npath = "../{table}.csv"\n')
    for other in hosts.keys() - {owner}:
        copy(hosts[owner], hosts[other], f"offers/{owner}.toml")


@pytest.fixture
def hosts(tmp_path: Path) -> dict[str, Path]:
    """Three hosts, each with a, b and c as members."""
    return set_up(tmp_path, "abc")


@pytest.mark.parametrize("engine", ["rep3", pytest.param("two", marks=pytest.mark.nightly)])
def test_five_hosts_of_which_the_first_compute(tmp_path: Path, engine: str) -> None:
    """Owners are a node and a host that computes nothing, the answer is for another one; one host has no part in it."""
    hosts = set_up(tmp_path, "abcde", engine)
    assert len({(host / "federation.toml").read_bytes() for host in hosts.values()}) == 1
    offer(hosts, "a", "x")
    offer(hosts, "d", "y")
    nodes = "abc" if engine == "rep3" else "ab"
    command = ("party", "--output", "csv", "--to", "e", QUERY, "--name")
    running = {name: start(hosts[name], *command, name) for name in (*nodes, "d", "e")}
    ends = {name: process.communicate(timeout=60) for name, process in running.items()}
    assert {process.returncode for process in running.values()} == {0}, ends
    assert {name: told for name, (told, _) in ends.items()} == {
        **dict.fromkeys((*nodes, "d"), ""), "e": "city,n\nBergen,2\nOslo,4\n",
    }  # fmt: skip
    ledgers = {name for name, host in hosts.items() if (host / "private" / "ledger" / f"{name}.jsonl").exists()}
    assert ledgers == running.keys()


@pytest.mark.usefixtures("new_interpreters")
def test_three_hosts_that_were_set_up_by_public_files_answer_a_query(hosts: dict[str, Path]) -> None:
    offer(hosts, "a", "x")
    offer(hosts, "b", "y")
    running = {name: start(host, "party", "--name", name, "--output", "csv", QUERY) for name, host in hosts.items()}
    ends = {name: process.communicate(timeout=60) for name, process in running.items()}
    assert [process.returncode for process in running.values()] == [0, 0, 0], ends
    assert {name: told for name, (told, _) in ends.items()} == {"a": "city,n\nBergen,2\nOslo,4\n", "b": "", "c": ""}
    for name, host in hosts.items():
        verified = tacit(host, "ledger", "verify")
        assert f"{name}: 2 entries, chain intact, all signed by {name}" in verified
        assert all(f"{other} (1)" in verified for other in hosts if other != name)
        assert "note:" not in verified
    for reader, other in (("a", "b"), ("b", "c"), ("c", "a")):
        copy = hosts[reader] / "copy.jsonl"
        tacit(hosts[other], "ledger", "export", str(copy), "--for", reader)
        compared = tacit(hosts[reader], "ledger", "verify", "--with", "copy.jsonl")
        assert f"copy.jsonl: 2 entries of {other}, whole" in compared


def test_private_files_are_their_users_alone(hosts: dict[str, Path]) -> None:
    for name, host in hosts.items():
        private = {path for path in files(host) if path.startswith("private")}
        assert private == {"private/.gitignore", f"private/{name}.key", f"private/{name}.toml"}
        assert stat.S_IMODE((host / "private").stat().st_mode) == 0o700
        assert {stat.S_IMODE((host / path).stat().st_mode) for path in private} == {0o600}
        assert set(files(host)) - private == {
            "federation.toml", *(f"keys/{each}.crt" for each in "abc"), *(f"offers/{each}.toml" for each in "abc"),
        }  # fmt: skip


def test_git_leaves_private_files_alone(hosts: dict[str, Path]) -> None:
    subprocess.run(["git", "init", "--quiet"], cwd=hosts["a"], check=True)
    listed = ["git", "ls-files", "--others", "--exclude-standard"]
    shown = subprocess.run(listed, cwd=hosts["a"], check=True, capture_output=True, text=True).stdout
    assert "keys/a.crt" in shown
    assert "private" not in shown


def test_bad_states_are_one_sentence_and_nothing_is_written(hosts: dict[str, Path], tmp_path: Path) -> None:
    at = ("--address", "127.0.0.1:7999")
    a = hosts["a"]
    assert refused(a, "init", "--name", "d", *at) == (
        "federation.toml exists already; join it with `tacit join`, or name another --federation."
    )
    assert refused(a, "join", "--name", "A", *at).startswith("federation.toml, [parties]: 'a' and 'A' differ in case")
    assert refused(a, "join", "--name", "b", *at).endswith(
        "and not at 127.0.0.1:7999; correct it there, or leave out --address."
    )
    assert refused(a, "join", "--name", "d") == (
        "federation.toml does not name d; say where d listens with --address HOST:PORT."
    )
    for address in ("here", "10.0.0.5\n:7101", "10.0.0.5:" + 5000 * "1", '10.0.0.5":7101'):
        told = refused(a, "join", "--name", "d", "--address", address)
        assert told == f"the address is {address!r}; write it as host:port, for example 10.0.0.5:7101."
    assert refused(a, "join", "--name", "d-1", *at).startswith("'d-1' cannot name a party; use letters")
    (a / "private" / "a.key").rename(a / "private" / "old.key")
    assert "keys/a.crt exists without" in refused(a, "join", "--name", "a")
    empty = tmp_path / "empty"
    empty.mkdir()
    assert refused(empty, "join", "--name", "d", *at) == (
        "federation.toml: cannot be read (No such file or directory); "
        "give the path of the federation file, which `tacit init` makes."
    )
    tacit(empty, "init", "--name", "d", *at)
    assert refused(empty, "explain", "SELECT 1 FROM t") == (
        "federation.toml: names 1 party, but engine rep3 needs 3 for its nodes; "
        "a further party adds itself with `tacit join`, and copies the file to the others."
    )


@pytest.mark.parametrize(
    ("membership", "told"),
    [
        ('parties = { a = { address = "127.0.0.1:7998" } }\n', "has its parties in one line; write a section "
         "[parties.NAME] for each."),
        ('engine = "rep4"\nparties.a.address = "127.0.0.1:7998"\n',
         ": engine is 'rep4'; write \"rep3\", \"two\" or \"four\"."),
        (f"engine = {5000 * '1'}\n", ": has a number of thousands of digits; write a shorter one."),
    ],
    ids=["one line", "unknown engine", "long number"],
)  # fmt: skip
def test_a_membership_that_nobody_can_join_is_one_sentence(tmp_path: Path, membership: str, told: str) -> None:
    (tmp_path / "federation.toml").write_text(membership)
    found = refused(tmp_path, "join", "--name", "d", "--address", "127.0.0.1:7999")
    assert found.startswith("federation.toml") and found.endswith(told), found


def test_joining_again_leaves_everything_as_it_is(hosts: dict[str, Path]) -> None:
    (hosts["c"] / "offers" / "c.toml").write_text("# mine\n")
    before = files(hosts["c"])
    tacit(hosts["c"], "join", "--name", "c")
    assert files(hosts["c"]) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert "cannot be written" in refused(tmp_path, "init", "--name", "a", "--address", "127.0.0.1:7999")
