"""Which question a query is, whatever the rules, engine and costs are under which it is asked."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from tacit.plan.account.serialise import canonical, encoded
from tacit.plan.algebra.relations import Relation


def question_hash(query: Relation, recipients: Iterable[str]) -> str:
    """SHA-256 over a bound query, the types of the columns that it reads, and its recipients, in hexadecimal."""
    said = {"query": encoded(query), "recipients": sorted(recipients)}
    return hashlib.sha256(canonical(said).encode()).hexdigest()
