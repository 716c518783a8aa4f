"""The check of owners' rules of arrays: whether a program may compute on them, by its hash and offers alone.

Every party runs it for all offers. An owner's rules do not bind a program whose results go to that owner alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from tacit.plan.facts.allowances import Allowance, Ruling
from tacit.plan.facts.arrays import OfferedArray
from tacit.plan.facts.sources import Source
from tacit.plan.facts.terms import ArrayTerms
from tacit.plan.policy.refusal import PolicyRefusal, Problem, Rule


@dataclass(frozen=True)
class Bound:
    """The bit that says whether checked bounds hold. told: all parties of the run. of: what arrays it depends on."""

    told: tuple[str, ...]
    of: tuple[Source, ...]


def program_hash(digest: str) -> str:
    """The hash of a program as offers list it. digest: SHA-256 of its text, in hexadecimal."""
    return f"p:{digest}"


def check_program(
    arrays: Sequence[OfferedArray],
    program: str,
    recipients: tuple[str, ...],
    today: date,
    bit: Bound | None = None,
) -> Ruling:
    """What the owners of all arrays that a program reads say of it. program: its hash, as offers list it. bit: what
    its checked bounds show, which is a result of the arrays that it depends on.

    Raises PolicyRefusal where one of them does not allow it.
    """
    told = {each: _told(each, recipients, bit) for each in arrays}
    bound = [each for each in arrays if each.terms is not None and set(told[each]) != {each.owner}]
    refused = {each: tuple(_problems(each, program, recipients, told[each], today)) for each in bound}
    problems = tuple(problem for found in refused.values() for problem in found)
    if problems:
        refusal = PolicyRefusal(problems)
        first = next(each for each, found in refused.items() if found)
        refusal.change = _change(first, refused[first], program, today)
        raise refusal
    return Ruling(tuple(_allowance(each, _shows(bit, each)) for each in bound))


def check_kept_program(arrays: Sequence[OfferedArray], program: str, today: date) -> Ruling:
    """What the owners of all arrays that a program reads say of keeping its results. program: its hash.

    Nobody receives them. Who asks for them later is held against the owners' rules as if the program revealed them
    then (tacit.plan.policy.results). Raises PolicyRefusal where one of them does not allow the program.
    """
    bound = [each for each in arrays if each.terms is not None]
    for each in bound:
        problems = tuple(_of_keeping(each, program, today))
        if problems:
            refusal = PolicyRefusal(problems)
            refusal.change = _change(each, problems, program, today)
            raise refusal
    return Ruling(tuple(_allowance(each, bounded=False) for each in bound))


def _of_keeping(array: OfferedArray, program: str, today: date) -> Iterator[Problem]:
    terms, name = _terms(array), array.title
    if "program" not in terms.ways:
        yield _problem("closed", array, f"{name} {_is(array)} closed", "nodes")
    elif terms.programs is not None and program not in terms.programs:
        certain = "certain programs, and not to" if terms.programs else "no program, and so not to"
        yield _problem("allow", array, f"{name} {_is(array)} open to {certain} {program}", "nodes")
    if terms.until is not None and today > terms.until:
        ended = f"{name} {_is(array, 'was', 'were')} offered until {terms.until.isoformat()}"
        yield _problem("until", array, ended, "nodes")


def _told(array: OfferedArray, recipients: tuple[str, ...], bit: Bound | None) -> tuple[str, ...]:
    """Who learns anything that is computed of an array."""
    return tuple(dict.fromkeys((*recipients, *(bit.told if bit is not None and _shows(bit, array) else ()))))


def _shows(bit: Bound | None, array: OfferedArray) -> bool:
    """Whether the bit of checked bounds depends on an array."""
    return bit is not None and Source(array.owner, array.name, None) in bit.of


def _problems(
    array: OfferedArray, program: str, recipients: tuple[str, ...], told: tuple[str, ...], today: date
) -> Iterator[Problem]:
    terms, name = _terms(array), array.title
    others = [each for each in told if each != array.owner]
    if "program" not in terms.ways:
        yield _problem("closed", array, f"{name} {_is(array)} closed", others[0])
    elif terms.programs is not None and program not in terms.programs:
        certain = "certain programs, and not to" if terms.programs else "no program, and so not to"
        yield _problem("allow", array, f"{name} {_is(array)} open to {certain} {program}", others[0])
    for each in others:
        if each not in terms.recipients:
            bit = "" if each in recipients else ", and would be told whether the bounds that the program checks hold"
            yield _problem("recipient", array, f"{each} is no recipient of {name}{bit}", each)
    if terms.until is not None and today > terms.until:
        yield _problem(
            "until", array, f"{name} {_is(array, 'was', 'were')} offered until {terms.until.isoformat()}", others[0]
        )


def _problem(rule: Rule, array: OfferedArray, sentence: str, recipient: str) -> Problem:
    return Problem(rule, array.owner, array.name, None, "program", sentence, recipient)


def _change(array: OfferedArray, problems: Iterable[Problem], program: str, today: date) -> str:
    """What the owner writes so that its offer allows the program."""
    rules = {each.rule for each in problems}
    refused = [each.recipient for each in problems if each.rule == "recipient"]
    entries = [
        *([array.usable] if "closed" in rules else []),
        *([f'"{program}" in allow'] if _needs_listing(array, rules, program) else []),
        *(f'"{each}" in recipients' for each in refused),
        *([f"until = {today.isoformat()} or later"] if "until" in rules else []),
    ]
    listed = entries[0] if len(entries) == 1 else f"{', '.join(entries[:-1])} and {entries[-1]}"
    return f"{array.owner} has to write {listed} at [{array.place}] in offers/{array.owner}.toml"


def _needs_listing(array: OfferedArray, rules: set[Rule], program: str) -> bool:
    programs = _terms(array).programs
    return "allow" in rules or ("closed" in rules and programs is not None and program not in programs)


def allowed_programs(array: OfferedArray) -> str:
    """Which entry of an array's terms allows a program that is allowed."""
    return (
        'any program may compute on it, programs = "any"' if _terms(array).programs is None else "it lists this program"
    )


def _allowance(array: OfferedArray, bounded: bool) -> Allowance:
    """bounded: whether the bit of checked bounds depends on the array."""
    which = allowed_programs(array)
    told = "; all parties of the run may be told whether checked bounds hold" if bounded else ""
    return Allowance(array.owner, None, f"{array.title} may be computed on ({which}){told}")


def _is(array: OfferedArray, one: str = "is", several: str = "are") -> str:
    """The verb of its title."""
    return several if array.title.startswith("the columns") else one


def _terms(array: OfferedArray) -> ArrayTerms:
    assert array.terms is not None, "only arrays with terms are bound"
    return array.terms
