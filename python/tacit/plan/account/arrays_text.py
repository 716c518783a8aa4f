"""What an owner offers of an array, in sentences, for who answers for it and does not read TOML."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from tacit.plan.account.terms_text import Clause
from tacit.plan.facts.arrays import OfferedArray
from tacit.plan.facts.terms import ArrayTerms


def array_clauses(array: OfferedArray) -> tuple[Clause, ...]:
    """What an array's terms allow to the parties of a federation."""
    terms = array.terms
    elements = Clause("elements", _elements(array))
    if terms is None or "program" not in terms.ways:
        return elements, Clause("programs", "Closed: no program may compute on this array.")
    return (
        elements,
        Clause("programs", _programs(terms)),
        Clause("recipients", _recipients(array, terms)),
        Clause("time", f"Until {terms.until.isoformat()}, the last day, in UTC." if terms.until else "Without an end."),
    )


def array_text(array: OfferedArray) -> str:
    """Its shape, type and declared bounds."""
    return f"{shape_text(array)}, {elements_text(array)}"


def shape_text(array: OfferedArray) -> str:
    """Its shape."""
    return "one number" if not array.shape else "array of " + " x ".join(f"{each:,}" for each in array.shape)


def elements_text(array: OfferedArray) -> str:
    """The type of its elements, and their declared bounds where there are any."""
    ends = (("from", array.low), ("to", array.high))
    return " ".join([array.dtype, *(f"{word} {number_text(each)}" for word, each in ends if each is not None)])


def number_text(number: Fraction) -> str:
    """A declared number as its owner has written it: whole, or a floating-point number."""
    return f"{number.numerator}" if number.denominator == 1 else repr(float(number))


def _elements(array: OfferedArray) -> str:
    norm = array.row_norm
    rows = "" if norm is None else f", with rows of a Euclidean norm of at most {number_text(norm)}"
    whole = f"{array_text(array)}{rows}."
    return f"An {whole}" if array.shape else f"O{whole[1:]}"


def _programs(terms: ArrayTerms) -> str:
    if terms.programs is None:
        return "Any program may compute on this array, and reveal any function of it, each element as it is included."
    if not terms.programs:
        return "No program is listed, so that none may compute on this array."
    return f"No program but {_all(terms.programs)} may compute on this array."


def _recipients(array: OfferedArray, terms: ArrayTerms) -> str:
    if not terms.recipients:
        return f"Nobody but {array.owner} may receive anything that is computed of this array."
    who = f"Only {_all(terms.recipients)} may receive what is computed of this array"
    if len(terms.recipients) == 1:
        return f"{who}, in results that go to nobody else."
    return f"{who}. All recipients of a result must be among these."


def _all(names: Iterable[str]) -> str:
    listed = sorted(names)
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"
