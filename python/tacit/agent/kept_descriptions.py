"""Descriptions of kept tables: public files beside the offers, from which a party without a part plans queries.

A description is what every node's file says of itself, but for whose file it is. A node writes it when it has kept a
table. Whoever is no node copies it, as it copies offers; parties compare which tables they mean when they connect.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from tacit import _native
from tacit.agent.durable import sync_folder
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation import Federation
from tacit.agent.kept_store import Part, described
from tacit.plan.facts.catalog import KeptTable
from tacit.plan.physical.record import JSON

FOLDER = "kept"
SUFFIX = ".json"
PUBLIC = 0o644


class Descriptions:
    """The descriptions that lie beside a federation file."""

    def __init__(self, federation: Federation) -> None:
        self.folder = federation.path.parent / FOLDER

    def path(self, table: str) -> Path:
        """Where the description of a table is, if there is one."""
        return self.folder / (table.lower() + SUFFIX)

    def all(self) -> list[Part]:
        """What they say, by name."""
        return [_read(path) for path in sorted(self.folder.glob(f"*{SUFFIX}")) if path.is_file()]

    def approved(self, table: KeptTable) -> _native.KeptShares:
        """What a party without a part approves, which approves a plan that reads a table. Raises RunError."""
        path = self.path(table.name)
        if _read(path).table != table:
            raise RunError(
                Fault.INPUT, f"{path}: was replaced while the query was being prepared; start the query again."
            )
        return _native.KeptShares.none_of(path.read_text(encoding="utf-8"))

    def write(self, header: JSON) -> None:
        """Describe a table by what a node's file says of it. Nodes on one machine write one file. Raises RunError."""
        path = self.path(header["table"])
        text = json.dumps({**header, "node": ""}, indent=1, ensure_ascii=False) + "\n"
        try:
            self.folder.mkdir(exist_ok=True)
            descriptor, fresh = tempfile.mkstemp(".new", f".{path.stem}-", self.folder)
            try:
                with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                    os.fchmod(descriptor, PUBLIC)
                    file.write(text)
                    file.flush()
                    os.fsync(descriptor)
                Path(fresh).replace(path)
            finally:
                Path(fresh).unlink(missing_ok=True)
            sync_folder(self.folder)
        except OSError as error:
            problem = f"{path}: cannot be written ({error.strerror}); the table is kept, and its description is missing"
            raise RunError(Fault.INPUT, f"{problem}.") from error

    def remove(self, table: str, id: str | None) -> None:
        """Remove the description of a table. id: of which one, unless of any of this name. Raises RunError."""
        path = self.path(table)
        found = _read(path).table
        if id is not None and (found is None or found.id != id):
            return
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise RunError(Fault.INPUT, f"{path}: cannot be removed ({error.strerror}).") from error


def _read(path: Path) -> Part:
    try:
        header = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return Part(path.stem, path, None, problem=f"{path}: cannot be read ({error}); copy that of a node.")
    return described(path, header, "copy that of a node")
