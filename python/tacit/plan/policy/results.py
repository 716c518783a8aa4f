"""Kept tables of programs' results beneath a question: what owners' rules of programs say of it.

Such a question computes on results, and on nothing else of what these were computed of. Who may see all results of a
program can compute on them alone. So a question is allowed to whom the program could have revealed its results: the
same hash, the same recipients, on the same day. Of a table that a further query has made of results no program is
known, and owners have to allow any.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from tacit.plan.algebra.relations import Relation
from tacit.plan.facts.allowances import Allowance
from tacit.plan.facts.arrays import OfferedArray
from tacit.plan.facts.catalog import Catalog, KeptTable
from tacit.plan.facts.row_arrays import read_tables
from tacit.plan.facts.table_arrays import TableArray, offered_array
from tacit.plan.policy.behind_rows import behind
from tacit.plan.policy.programs import allowed_programs
from tacit.plan.policy.refusal import Problem


@dataclass(frozen=True)
class Result:
    """Something that an owner offers to programs, of which a program has made a kept table."""

    kept: KeptTable
    array: OfferedArray

    @property
    def listed(self) -> bool:
        """Whether its owner opens it to the program, or to any."""
        terms = self.array.terms
        return terms is None or (
            "program" in terms.ways and (terms.programs is None or self.kept.program in terms.programs)
        )


@dataclass(frozen=True)
class Judged:
    """What rules of programs say of a question. change: what the owner of the first problem writes; None where it
    has to be asked.
    """

    problems: tuple[Problem, ...] = ()
    allowances: tuple[Allowance, ...] = ()
    change: str | None = None


def computed_tables(kept: KeptTable) -> frozenset[str]:
    """The tables of which a kept table has nothing but what programs have computed: rules of programs hold of them."""
    if kept.presence is None or any(each.uses is None for each in kept.columns):
        return frozenset()
    direct = {use.source.table for use in kept.uses if "program" not in use.through or use.source.owner is None}
    return frozenset({use.source.table for use in kept.uses} - direct)


def results_read(relation: Relation, catalog: Catalog) -> tuple[Result, ...]:
    """What owners offer now of that of which programs have made the kept tables that a query reads.

    What is not offered any more is left out.
    """
    found: list[Result] = []
    for kept in read_tables(relation, catalog):
        sources = {use.source for use in kept.uses if "program" in use.through and use.source.owner is not None}
        tables = {(each.owner, each.name) for each in catalog.tables}
        offered = [
            each
            for each in sources
            if each.owner is not None
            and ((each.owner, each.table) in tables or offered_array(catalog, each.owner, each.table) is not None)
        ]
        found += [Result(kept, each) for each in behind(offered, (), catalog)]
    return tuple(found)


def check_results(relation: Relation, catalog: Catalog, recipients: tuple[str, ...], today: date) -> Judged:
    """What owners' rules of programs say of a question on results."""
    bound = [
        each
        for each in results_read(relation, catalog)
        if each.array.terms is not None and {each.array.owner} != {*recipients}
    ]
    problems = {each: tuple(_problems(each, recipients, today)) for each in bound}
    refused = next((each for each in bound if problems[each]), None)
    return Judged(
        tuple(problem for each in bound for problem in problems[each]),
        tuple(_allowance(each) for each in bound),
        None if refused is None or refused.listed or refused.kept.program is None else _change(refused),
    )


def _problems(result: Result, recipients: tuple[str, ...], today: date) -> Iterator[Problem]:
    kept, array, terms = result.kept, result.array, result.array.terms
    assert terms is not None, "only what has terms is bound"
    others = [each for each in recipients if each != array.owner]
    name = array.table if isinstance(array, TableArray) else array.name
    if not result.listed:
        opened = "no program" if "program" not in terms.ways or not terms.programs else "certain programs alone"
        which = "" if opened == "no program" else f", and not to {kept.program or 'what is computed of results'}"
        problem = f"{kept.name} is made of {array.title}, which {array.owner} opens to {opened}{which}"
        yield Problem("kept", array.owner, name, None, "keep", problem, others[0])
    for each in others:
        if each not in terms.recipients:
            problem = f"{each} is no recipient of {array.title}, of which {kept.name} is made"
            yield Problem("recipient", array.owner, name, None, "receive", problem, each)
    if terms.until is not None and today > terms.until:
        was = "were" if array.title.startswith("the columns") else "was"
        problem = f"{array.title}, of which {kept.name} is made, {was} offered until {terms.until.isoformat()}"
        yield Problem("until", array.owner, name, None, "receive", problem, others[0])


def _change(result: Result) -> str:
    array, terms = result.array, result.array.terms
    assert terms is not None, "only what has terms is refused"
    use = [array.usable] * ("program" not in terms.ways)
    written = " and ".join([*use, f'"{result.kept.program}" in allow'])
    return f"{array.owner} has to write {written} at [{array.place}] in offers/{array.owner}.toml"


def _allowance(result: Result) -> Allowance:
    of = f"{result.array.title}, of which a program has made {result.kept.name}, may be computed on"
    return Allowance(result.array.owner, None, f"{of} ({allowed_programs(result.array)})")
