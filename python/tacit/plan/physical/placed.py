"""The placed plan: what each party does, in order. Every party compiles it for itself; they compare its hash before any
share leaves. Steps with an ``operator`` are executed by the native session (docs/placed-plan.md).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tacit.plan.algebra.relations import Relation
from tacit.plan.algebra.types import Field
from tacit.plan.facts.allowances import Ruling
from tacit.plan.facts.catalog import Catalog
from tacit.plan.physical.disclosure import Disclosure, Permit
from tacit.plan.physical.kept import About
from tacit.plan.physical.operators import Input, Keep, Kept, Matching, Program, Release, Secure, Side

Readable = tuple[tuple[str, tuple[str, ...]], ...]
"""Column to the parties that may see it in clear."""


@dataclass(frozen=True)
class LocalStep:
    """A party runs a relation over its own tables in its own engine. The result's columns are ``fields``."""

    id: int
    party: str
    relation: Relation
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class ArrayStep:
    """A party gives its array as a table of one column "value": its elements row by row, in C order.

    They are integers: the elements times 2^fraction, rounded to the nearest, of two the upper; of bits 0 and 1. block:
    the first of the rows that it gives, and the one behind the last; None for all of the array.
    """

    id: int
    party: str
    array: str
    fraction: int
    block: tuple[int, int] | None = None


@dataclass(frozen=True)
class InputStep:
    """The owner shares the result of a local step. readers: column to the parties that may see it in clear.

    expected: with how many rows it is priced where its size is announced; None for what any input is priced with.
    exact: of an array, its number of elements, which all parties know before its owner announces it.
    """

    local: int
    operator: Input
    readers: Readable = ()
    expected: int | None = None
    exact: int | None = None

    @property
    def id(self) -> int:
        """The step's id."""
        return self.operator.id


@dataclass(frozen=True)
class PsiStep:
    """Two owners match rows of their local results, and share columns of these rows, side by side.

    The operator is a psi, by which they learn which match, a circuit_psi, by which nobody does, or universal_ids, by
    which they learn how many do. rows: of a psi or universal_ids, a public bound on the rows of the join, if there is
    one; their exact number is announced. Of a circuit_psi, the rows of its table, which follow from the sizes of both
    sides; None if one is announced. readers: as in InputStep.
    """

    operator: Matching
    rows: int | None
    readers: Readable = ()

    @property
    def id(self) -> int:
        """The step's id."""
        return self.operator.id

    @property
    def sides(self) -> tuple[Side, Side]:
        """Both sides, left first."""
        return self.operator.left, self.operator.right


@dataclass(frozen=True)
class KeptStep:
    """The nodes take up their shares of a kept table. readers: as in InputStep."""

    operator: Kept
    readers: Readable = ()

    @property
    def id(self) -> int:
        """The step's id."""
        return self.operator.id


@dataclass(frozen=True)
class SecureStep:
    """One oblivious operator over the outputs of earlier steps, run by all nodes.

    rows_bound: a human's formula for the output's public row bound. readers: as in InputStep. expected: of a resize to
    the number of valid rows, how many it is priced with.
    """

    operator: Secure
    rows_bound: str
    readers: Readable = ()
    expected: int | None = None

    @property
    def id(self) -> int:
        """The step's id."""
        return self.operator.id


@dataclass(frozen=True)
class ProgramStep:
    """Arrays computed from arrays by all nodes. rows_bound: of each output, as of a SecureStep."""

    operator: Program
    rows_bound: str

    @property
    def id(self) -> int:
        """The step's id."""
        return self.operator.id


@dataclass(frozen=True)
class KeepStep:
    """The nodes keep their shares of a table, under a name, for later runs. Clients have no part of it.

    replace: a kept table of that name gives way. about: what later plans have to know of it (tacit.plan.physical.kept).
    rows_bound: as in SecureStep.
    """

    operator: Keep
    replace: bool
    fields: tuple[Field, ...]
    about: About
    rows_bound: str

    @property
    def id(self) -> int:
        """The step's id."""
        return self.operator.id


@dataclass(frozen=True)
class DropStep:
    """Each party removes its own part of a kept table, if it has one. It needs nobody else for that."""

    id: int
    table: str
    parties: tuple[str, ...]


@dataclass(frozen=True)
class ReleaseStep:
    """The only way out: the rows of a step are opened to the recipients. fields: the opened columns' logical types."""

    operator: Release
    fields: tuple[Field, ...]

    @property
    def id(self) -> int:
        """The step's id."""
        return self.operator.id


@dataclass(frozen=True)
class GuardStep:
    """One bit is opened to all parties of the run: whether a bound that the program checks does not hold.

    Where it is set, every party ends the run, and nothing behind this step is opened.
    """

    operator: Release

    @property
    def id(self) -> int:
        """The step's id."""
        return self.operator.id


@dataclass(frozen=True)
class KeysStep:
    """The different keys that an owner's rows have are opened to owners that split their rows by them.

    fields: the opened columns' logical types.
    """

    operator: Release
    owner: str
    fields: tuple[Field, ...]

    @property
    def id(self) -> int:
        """The step's id."""
        return self.operator.id


@dataclass(frozen=True)
class TailStep:
    """The recipient finishes in clear (division, order, names): a relation over Opened (or a local result's Scan)."""

    id: int
    recipients: tuple[str, ...]
    relation: Relation
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class Result:
    """An array of an answer: the rows that a release opens are its elements times 2^fraction, row by row.

    dtype: "bool", an integer type of NumPy, or "fixed" for numbers with bits after the point.
    """

    name: str
    release: int
    shape: tuple[int, ...]
    dtype: str
    fraction: int


@dataclass(frozen=True)
class ResultStep:
    """The recipients make arrays of what was opened."""

    id: int
    recipients: tuple[str, ...]
    arrays: tuple[Result, ...]


NativeStep = InputStep | KeysStep | PsiStep | KeptStep | SecureStep | ProgramStep | KeepStep | GuardStep | ReleaseStep
"""What the native session executes."""

Step = LocalStep | ArrayStep | NativeStep | TailStep | ResultStep | DropStep


@dataclass(frozen=True)
class PlacedPlan:
    """The whole plan with its account.

    catalog: what it was compiled against; part of the plan hash. None only for plans put together by hand.
    joins: for each join of two owners, how it is done and why. slicing: the same of what is sliced or could be.
    resizing: where padding is dropped, and what that saves. ruling: what owners' rules say of the query.
    """

    query: str
    engine: str
    nodes: tuple[str, ...]
    recipients: tuple[str, ...]
    steps: tuple[Step, ...]
    disclosures: tuple[Disclosure, ...]
    catalog: Catalog | None = None
    joins: tuple[str, ...] = ()
    slicing: tuple[str, ...] = ()
    resizing: tuple[str, ...] = ()
    ruling: Ruling = field(default_factory=Ruling)

    @property
    def permits(self) -> tuple[Permit, ...]:
        """What the session may show, in the order of the disclosures that allow it."""
        return tuple(each.permit for each in self.disclosures if each.permit is not None)

    @property
    def clients(self) -> tuple[str, ...]:
        """The owners, of kept tables too, and recipients of secure steps that are no nodes, by name."""
        found: set[str] = set()
        for step in self.steps:
            match step:
                case InputStep():
                    found.add(step.operator.owner)
                case KeptStep():
                    found |= set(step.operator.owners)
                case ReleaseStep() | GuardStep() | KeysStep():
                    found |= set(step.operator.to)
                case _:
                    pass
        return tuple(sorted(found - set(self.nodes)))
