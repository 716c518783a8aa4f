"""Where output may be written: not over a party's own files, and where there is a folder for it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members
from tacit.agent.federation_private import PrivateFile
from tacit.agent.ledger import torn_file


def own_files(members: Members, privates: Iterable[PrivateFile]) -> dict[str, Path]:
    """What parties read and keep, by what it is: tables, keys, ledgers and the federation's files."""
    found = {"the federation file": members.path}
    for private in privates:
        found |= {f"table {name} of {private.party}": path for name, path in private.tables.items()}
        found |= {f"array {name} of {private.party}": path for name, path in private.arrays.items()}
        found[f"the private file of {private.party}"] = private.path
        found[f"the private key of {private.party}"] = private.private_key
        found[f"the ledger of {private.party}"] = private.ledger
        found[f"what was moved out of the ledger of {private.party}"] = torn_file(private.ledger)
        found[f"the history of {private.party}"] = private.history
        found[f"the offer of {private.party}"] = members.path.parent / "offers" / f"{private.party}.toml"
    return found


def check_place(path: Path) -> None:
    """Refuse a place where no file can be written, before what is to be written is computed. Raises RunError."""
    if not path.parent.is_dir():
        raise RunError(Fault.INPUT, f"{path}: the folder {path.parent} does not exist; make it first.")
    if path.is_dir():
        raise RunError(Fault.INPUT, f"{path}: is a folder; name a file in it.")
    if not os.access(path.parent, os.W_OK):
        raise RunError(Fault.INPUT, f"{path}: you may not write in the folder {path.parent}; choose another.")


def check_not_own(output: Path, files: Mapping[str, Path]) -> None:
    """Refuse an output that is one of these files, by whatever path or link. Raises RunError."""
    for what, path in files.items():
        if _same(output, path):
            raise RunError(Fault.INPUT, f"{output}: is {what}, which the output would replace; name another file.")


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:  # one of them is not there
        return one.resolve() == other.resolve()
