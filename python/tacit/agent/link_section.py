"""The section ``[link]`` of a federation file, written into it. All else of the file stays as it is, comments too."""

from __future__ import annotations

import fcntl
import re
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import read_membership
from tacit.agent.federation_section import FederationError
from tacit.agent.keys import write_whole
from tacit.plan.facts.catalog import Link

HEADER = re.compile(r"^[ \t]*\[[ \t]*link[ \t]*\][^\n]*\n", re.MULTILINE)
NEXT_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)


def link_section(link: Link) -> str:
    """The section that declares a link."""
    return "".join(["[link]\n", *(f"{name} = {value}\n" for name, value in _entries(link).items())])


def check_writable(path: Path, *, replace: bool) -> None:
    """Refuse a federation file into which ``write_link`` could not write. Raises RunError.

    replace: whether a section that is there already may be replaced.
    """
    if read_membership(path).has("link") and not replace:
        raise RunError(Fault.INPUT, f"{path} declares a [link] already; --force replaces it.")
    _with_link(path, path.read_bytes().decode(), Link(1.0, 1.0))


def write_link(path: Path, link: Link) -> None:
    """Declare a link in a federation file, in place of the one that it declares. Raises RunError.

    Parties of one machine that have the same file may write at the same time.
    """
    path = path.resolve()  # A link to a file that several parties share stays one.
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            read_membership(path)
            before = path.read_bytes()
            text = _with_link(path, before.decode(), link).encode()
            if text != before:
                write_whole(path, text, path.stat().st_mode & 0o777)
    except OSError as error:
        raise RunError(Fault.INPUT, f"{path}: cannot be written ({error.strerror}).") from None


def _with_link(path: Path, text: str, link: Link) -> str:
    """The text of a federation file in which a link is declared. Raises FederationError if one is there that is written
    otherwise than as a section with its two lines."""
    before = tomllib.loads(text)
    ending = "\r\n" if "\r\n" in text else "\n"
    if "link" not in before:
        return text.rstrip("\r\n") + 2 * ending + link_section(link).replace("\n", ending)
    header = HEADER.search(text)
    start = header.end() if header else len(text)
    following = NEXT_HEADER.search(text, start)
    end = following.start() if following else len(text)
    section, replaced = text[start:end], list[int]()
    for name, value in _entries(link).items():
        line = re.compile(rf"^([ \t]*{name}[ \t]*=[ \t]*)[^\s#]+", re.MULTILINE)
        section, count = line.subn(rf"\g<1>{value}", section)
        replaced.append(count)
    written = text[:start] + section + text[end:]
    declared = {**before, "link": {"latency": link.latency, "bandwidth": link.bandwidth}}
    if replaced != [1, 1] or _read(written) != declared:
        problem = "is not written as a section of two lines, latency = ... and bandwidth = ..."
        raise FederationError(path, "[link]", problem, "write it so, or leave out --write and copy what is printed")
    return written


def _read(text: str) -> dict[str, Any] | None:
    """What a text declares, None if it is not TOML."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _entries(link: Link) -> dict[str, str]:
    """The entries as TOML writes them, without exponents."""
    return {"latency": _plain(link.latency), "bandwidth": _plain(link.bandwidth)}


def _plain(number: float) -> str:
    return f"{int(number):_}" if number.is_integer() else f"{Decimal(str(number)):f}"
