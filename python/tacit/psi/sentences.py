"""Disclosures of a match in sentences, as people read them before it runs and in ledgers."""

from __future__ import annotations

from tacit.psi.agreement import Agreement, together
from tacit.psi.disclosures import (
    AskedRows,
    Budget,
    ColumnNames,
    CommonKeys,
    Disclosure,
    Facts,
    HeldPublished,
    MatchingKeys,
    MatchingPairs,
    PooledKeys,
    PreparedKeys,
    QuestionsBeyond,
    RecognisedKeys,
    Refusal,
    RowsOfSum,
    SharedPattern,
    UniversalIds,
)


def account(agreement: Agreement) -> list[str]:
    """What each party learns besides its own data, a sentence each."""
    return [sentence(each, agreement.parties) for each in agreement.disclosures()]


def sentence(disclosure: Disclosure, parties: tuple[str, ...]) -> str:
    """One thing that is learnt, and who learns it."""
    match disclosure.shown:
        case HeldPublished(owner):
            (asker,) = disclosure.recipients
            return (
                f"{asker} keeps what {owner} has prepared, which tells nothing about what it does not ask {owner}, and "
                "may ask again"
            )
        case RowsOfSum(column):
            (owner,) = disclosure.recipients
            return f"{owner} knows all values of {column}, and may find which of its rows add up to the sum"
        case RecognisedKeys():
            return (
                "if a key repeats as no other of its table does, the table's owner may find by that whether the other "
                "has it, and how often"
            )
        case PooledKeys(finders):
            finder = finders[0] if len(finders) == 1 else f"the one of {together(finders)} that finds the matches"
            return (
                f"parties that pool what they see with {finder} can learn which of its keys all remaining parties "
                "have; any others that pool what they see learn nothing more"
            )
        case QuestionsBeyond(times, few):
            return (
                "if a party deviates, it may ask about more items than it declares rows: at most "
                f"{times} times as many, or {times * few} where that is more"
            )
        case _:
            return f"{_who(disclosure.recipients, parties)} {_learnt(disclosure)}"


def _who(recipients: tuple[str, ...], parties: tuple[str, ...]) -> str:
    """The subject and its verb."""
    if len(recipients) > 1 and recipients == parties:
        return "both learn" if len(parties) == 2 else "all learn"
    return f"{together(recipients)} {'learns' if len(recipients) == 1 else 'learn'}"


def _learnt(disclosure: Disclosure) -> str:
    match disclosure.shown:
        case MatchingKeys(others, repeats):
            has = f"{others[0]} has" if len(others) == 1 else f"{together(others)} all have"
            return f"which of its own keys {has} too{_repeated(repeats)}"
        case PreparedKeys(owner):
            return f"which of its own keys {owner} had when it prepared its table"
        case AskedRows(asker):
            return f"about how many rows {asker} asks"
        case Budget(owner):
            return (
                f"{owner}'s budget and how many rows it may ask about now, and so what is left for all who ask, where "
                "that is less than --most"
            )
        case CommonKeys(None):
            return "how many keys both have"
        case CommonKeys((owner, column), least):
            enough = f" if these are {least} keys or more" if least > 1 else ""
            return f"how many keys both have, and the sum of {owner}'s {column} over the rows that have them{enough}"
        case UniversalIds(counted):
            found = "keys both have" if counted == "keys" else "pairs of rows match"
            return f"how many ids both tables have together, and so how many {found}, but not which"
        case MatchingPairs():
            return "how many pairs of rows match"
        case SharedPattern(several):
            equal = "share which of their keys" if several else "have equal keys"
            return f"which rows, in no known order, {equal}, and so how often keys repeat in each table"
        case ColumnNames():
            return "the names of the columns that the other shares"
        case Refusal():
            return "whether keys repeat so often that the rows do not fit into memory"
        case Facts():
            return _facts(disclosure.shown, disclosure.recipients)
        case shown:
            raise AssertionError(f"{type(shown).__name__} has a sentence of its own")


def _repeated(parties: tuple[str, ...]) -> str:
    """How often the keys repeat at these parties, if at any."""
    if not parties:
        return ""
    return f", and how many rows {together(parties)} {'has' if len(parties) == 1 else 'have'} with each of these"


def _facts(facts: Facts, parties: tuple[str, ...]) -> str:
    two = len(parties) == 2
    rows = "the other's number of rows" if two else "the others' numbers of rows"
    if not facts.limits:
        return f"{rows}, and {together(facts.kinds)} the kind of each key column"
    declare = "that the other declares" if two else "that the others declare"
    lists = f"{rows} and the kind of each key column, and" if two else f"{rows}, the kind of each key column, and"
    return f"{lists} the memory, workers and network {declare}"
