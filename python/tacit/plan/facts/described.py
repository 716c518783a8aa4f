"""The owners' columns behind those of a relation, for advice on what to declare."""

from __future__ import annotations

from tacit.plan.algebra.relations import ColumnRef, Filter, KeptScan, Project, Relation, Scan


def described(relation: Relation, keys: tuple[str, ...]) -> str | None:
    """The table and columns behind join keys, where they come straight from a table."""
    match relation:
        case Scan(table, _, columns) | KeptScan(table, columns):
            return f"{table}({', '.join(dict(columns)[key] for key in keys)})"
        case Filter(input, _):
            return described(input, keys)
        case Project(input, outputs):
            sources = [dict(outputs)[key] for key in keys]
            if all(isinstance(source, ColumnRef) for source in sources):
                return described(input, tuple(source.name for source in sources if isinstance(source, ColumnRef)))
            return None
        case _:
            return None
