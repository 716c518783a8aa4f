"""The placed plan: what each party does, in order. Every party compiles it for itself; they compare its hash before any
share leaves. ``operator`` of a secure step is the JSON object that the native session executes
(docs/placed-plan.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from typing import Literal as OneOf

from tacit.plan.algebra.relations import Relation
from tacit.plan.algebra.types import Field
from tacit.plan.facts.catalog import Catalog

JSON = dict[str, Any]


@dataclass(frozen=True)
class LocalStep:
    """A party runs a relation over its own tables in its own engine. The result's columns are ``fields``."""

    id: int
    party: str
    relation: Relation
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class PhysicalColumn:
    """How one column of a local result enters MPC.

    name: its name under MPC. source: the column of the local result. encode: "int" (integer encoding of the type),
    "hash" (keyed hash of the string's bytes), "bytes" (zero-padded UTF-8 bytes).
    """

    name: str
    source: str
    encode: OneOf["int", "hash", "bytes"]
    kind: JSON


@dataclass(frozen=True)
class InputStep:
    """The owner shares the result of a local step. rows: padded size, or None: the exact size is announced.

    readers: column to the parties that may see it in clear, for explain.
    """

    id: int
    local: int
    owner: str
    columns: tuple[PhysicalColumn, ...]
    rows: int | None
    operator: JSON
    readers: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True)
class PsiSide:
    """One owner's side of a PsiStep.

    columns: what the owner gives of its local result, keys and shared columns, each under its own name. rows: to how
    many the keys are padded, or None: a size is announced.
    """

    local: int
    owner: str
    keys: tuple[str, ...]
    columns: tuple[PhysicalColumn, ...]
    rows: int | None


@dataclass(frozen=True)
class PsiStep:
    """Two owners match rows of their local results, and share columns of these rows, side by side.

    The operator is a psi, by which they learn which match, or a circuit_psi, by which nobody does. rows: of a psi, a
    public bound on the rows of the join, if there is one; their exact number is announced. Of a circuit_psi, the rows
    of its table, which follow from the sizes of both sides; None if one is announced. readers: as in InputStep.
    """

    id: int
    left: PsiSide
    right: PsiSide
    rows: int | None
    operator: JSON
    readers: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True)
class KeptStep:
    """The nodes take up their shares of a kept table. rows: its public number of rows. readers: as in InputStep."""

    id: int
    table: str
    rows: int
    operator: JSON
    readers: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True)
class SecureStep:
    """One oblivious operator over the outputs of earlier steps, run by all nodes."""

    id: int
    inputs: tuple[int, ...]
    operator: JSON
    rows_bound: str  # a human's formula for the output's public row bound, for explain
    readers: tuple[tuple[str, tuple[str, ...]], ...] = ()  # as in InputStep


@dataclass(frozen=True)
class KeepStep:
    """The nodes keep their shares of a table, under a name, for later runs.

    replace: a kept table of that name gives way. about: what later plans have to know of it (tacit.plan.physical.kept).
    rows_bound: as in SecureStep.
    """

    id: int
    input: int
    table: str
    replace: bool
    operator: JSON
    fields: tuple[Field, ...]
    about: JSON
    rows_bound: str


@dataclass(frozen=True)
class DropStep:
    """Each party removes its own part of a kept table, if it has one. It needs nobody else for that."""

    id: int
    table: str
    parties: tuple[str, ...]


@dataclass(frozen=True)
class ReleaseStep:
    """The only way out: the rows of a step are opened to the recipients."""

    id: int
    input: int
    recipients: tuple[str, ...]
    operator: JSON
    fields: tuple[Field, ...]  # the opened columns with their logical types


@dataclass(frozen=True)
class TailStep:
    """The recipient finishes in clear (division, order, names): a relation over Opened (or a local result's Scan)."""

    id: int
    recipients: tuple[str, ...]
    relation: Relation
    fields: tuple[Field, ...]


NativeStep = InputStep | PsiStep | KeptStep | SecureStep | KeepStep | ReleaseStep
"""What the native session executes."""

Step = LocalStep | NativeStep | TailStep | DropStep


@dataclass(frozen=True)
class Disclosure:
    """One thing that parties learn besides their own inputs.

    kind: "answer" (the query's own result), "value" (opened values beyond the answer), "size" (a row count), "matches"
    (which of its own rows match another owner's).
    site: name of the step that discloses it. rule: what allows it ("query", "declared size", "owner consent: filter",
    ...).
    """

    recipients: tuple[str, ...]
    kind: OneOf["answer", "value", "size", "matches"]
    site: str
    what: str
    reason: str
    rule: str
    permit: JSON  # what the native session checks when the site opens: {"site","kind","recipients","columns","rows"}


@dataclass(frozen=True)
class PlacedPlan:
    """The whole plan with its account.

    catalog: what it was compiled against; part of the plan hash. None only for plans put together by hand.
    joins: for each join of two owners, how it is done and why.
    """

    query: str
    engine: str
    nodes: tuple[str, ...]
    recipients: tuple[str, ...]
    steps: tuple[Step, ...]
    disclosures: tuple[Disclosure, ...]
    catalog: Catalog | None = None
    joins: tuple[str, ...] = ()
