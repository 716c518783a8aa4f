"""Names for columns that a query does not have."""

from __future__ import annotations

from tacit.plan.algebra.relations import Relation
from tacit.plan.algebra.trees import children
from tacit.plan.facts.fields import names


class Names:
    """Names that no column of a query has, in the order in which they are asked for."""

    def __init__(self, relation: Relation) -> None:
        self._taken = _all(relation)
        self._number = 0

    def fresh(self, what: str) -> str:
        """One more name."""
        while True:
            self._number += 1
            name = f"{what}_{self._number}"
            if name not in self._taken:
                return name


def _all(relation: Relation) -> frozenset[str]:
    own = frozenset(name.lower() for name in names(relation))
    return own.union(*map(_all, children(relation)))
