"""The whole account of a match before anything runs: who learns what, what is told, and what it would cost.

It reads this party's own table, connects with nobody and writes nothing. What the other parties have is not known here:
costs are those of as many rows at each.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tacit import _native
from tacit.agent.faults import RunError
from tacit.plan.account.page import BESIDES_TITLE, GETS_TITLE, hash_line, indented, items, technical_title, wrapped
from tacit.plan.account.statement import NOTHING_ELSE
from tacit.plan.policy.matches import MatchAllowance
from tacit.psi.account import account, disclosed
from tacit.psi.choice import Chosen, choose
from tacit.psi.disclosures import CommonKeys, MatchingKeys, MatchingPairs, PreparedKeys, UniversalIds, together
from tacit.psi.match import announcement
from tacit.psi.number_columns import NumberColumn
from tacit.psi.parameters import UNBALANCED, Parameters
from tacit.psi.request import Limits
from tacit.psi.source import Source
from tacit.psi.whole import choose_leader, choose_whole

JSON = dict[str, Any]

HONEST = "This holds while each party runs the protocol as it is (SECURITY.md says what else is assumed)."

FORMAT = "tacit-psi-explain/2"
"""Of the JSON: a new one where members change their meaning or go."""

Result = CommonKeys | MatchingKeys | MatchingPairs | PreparedKeys | UniversalIds
"""What a match is started for; all else is learnt beside it."""


def explained(
    me: str,
    parameters: Parameters,
    source: Source | None,
    limits: Limits,
    output: Path | None,
    notes: Sequence[str],
    rules: Sequence[MatchAllowance] = (),
) -> JSON:
    """The account as data. source: None where a party answers about a table that it has prepared. rules: what owners
    allow of tables that their offers name."""
    found: JSON = {
        "format": FORMAT,
        "party": me,
        "plan_hash": parameters.plan_hash.hex(),
        "match": parameters.what(),
        "parties": list(parameters.parties),
        "recipients": list(parameters.to),
        "agreed": parameters.options(),
        "disclosures": disclosed(parameters),
        "allowed": [{**each.json(), "sentence": each.sentence} for each in rules],
        "notes": list(notes),
    }
    if source is not None:
        told = announcement(parameters, source, limits)
        found["announced"] = {
            "rows": told.rows,
            "kinds": told.kinds,
            "columns": told.columns,
            "memory": told.memory,
            "workers": limits.offered(),
        }
        found["key"] = list(source.key)
        found["predicted"] = None if parameters.protocol == UNBALANCED else _predicted(parameters, told)
    if output is not None and source is not None and me in parameters.to:
        found["output"] = {"file": str(output), "columns": list(source.columns)}
    return found


def _predicted(parameters: Parameters, told: _native.Announcement) -> JSON:
    """How it would run if all parties were as this one."""
    facts = tuple(_as_here(parameters, party, told) for party in parameters.parties)
    try:
        chosen: Chosen
        if parameters.several:
            chosen = choose_leader(parameters, facts)
        elif parameters.reveal == "intersection":
            chosen = choose(parameters, facts)
        else:
            chosen = choose_whole(parameters, facts)
    except RunError as refused:
        return {"refused": refused.sentence}
    return {
        "rows_of_each": told.rows,
        "protocol": chosen.protocol,
        "bins": chosen.bins,
        "workers": chosen.workers,
        "bytes_sent": dict(zip(parameters.parties, chosen.sent, strict=True)),
        "rounds": chosen.rounds,
        "seconds": chosen.seconds,
        "why": list(chosen.why),
        "may_ask": list(chosen.may_ask),
    }


def _as_here(parameters: Parameters, party: str, told: _native.Announcement) -> _native.Announcement:
    """What a party would announce that is as this one, but for the columns that it shares."""
    if parameters.reveal != "shares":
        return told
    columns = [NumberColumn(name, 0).announced() for name in parameters.shared_by(party)]
    return _native.Announcement(rows=told.rows, memory=told.memory, workers=1, kinds=told.kinds, columns=columns)


def lines(found: JSON, parameters: Parameters) -> list[str]:
    """The account for people: the page that they approve, and apart from it what engineers need."""
    me, results = found["party"], [isinstance(each.shown, Result) for each in parameters.disclosures()]
    told = list(zip(account(parameters), results, strict=True))
    gets = [line for line, is_result in told if is_result] + ([_output(found, parameters)] if "output" in found else [])
    gets += [f"{each['owner']} allows: {each['sentence']}" for each in found["allowed"]]
    gets.append("Allowed by each party that takes part, by starting this match.")
    besides = [line for line, is_result in told if not is_result]
    besides += [f"{me} tells {_others(found)} {line}" for line in _announced(found)] if "announced" in found else []
    shown = [
        *_section("Who asks", wrapped(_asks(found, parameters))),
        *_section(GETS_TITLE, items(gets)),
        *_section(BESIDES_TITLE, items(besides)),
        *_section("What leaves a party", items(_leaves(parameters))),
        *_section(f"What {me} should know of its own table", items(found["notes"])),
        NOTHING_ELSE,
        "",
        technical_title(),
    ]
    shown += _section("Options that all parties have to say alike", items(_agreed(found)))
    if found.get("predicted"):
        shown += _section("How it would run", items(_run(found["predicted"])))
    return [*shown, "Nothing has run: nobody was contacted, and nothing was written.", hash_line(found["plan_hash"])]


def _section(title: str, lines: list[str]) -> list[str]:
    return [title, *indented(lines), ""] if lines else []


def _asks(found: JSON, parameters: Parameters) -> str:
    what = f"{found['party']} would start this match: {parameters.what()} of {together(found['parties'])}."
    return f"{what} Nothing runs unless each of them starts the same one."


def _others(found: JSON) -> str:
    return together([name for name in found["parties"] if name != found["party"]])


def _leaves(parameters: Parameters) -> list[str]:
    """What is on the line, and how sure that is."""
    if parameters.plugin is not None:
        return [f"The plug-in {parameters.plugin} matches: what it sends is for its author to say."]
    clear = "No key and no other value of a table leaves a party in clear. All connections are encrypted."
    if parameters.shared:
        shared = f"As shares, of which each party gets one: {parameters.options()['--columns']}."
        return [clear, f"{shared} Who has both has the values, of each pair of rows that match.", HONEST]
    if parameters.malicious:
        return [clear, "This holds even if another party deviates from the protocol, but for what stands above."]
    return [clear, HONEST]


def _agreed(found: JSON) -> list[str]:
    return [f"{name}: {value}" for name, value in found["agreed"].items()]


def _announced(found: JSON) -> list[str]:
    told = found["announced"]
    keys = [f"{column} ({kind})" for column, kind in zip(found["key"], told["kinds"], strict=True)]
    each = [
        f"its number of rows, {told['rows']:,}",
        f"the kinds of its key columns, not their names: {together(keys)}",
        f"its memory, {told['memory'] >> 20:,} MiB, and workers, {told['workers']}",
    ]
    if told["columns"]:
        said = [f"{name} (decimals: {decimals})" for decimals, _, name in map(_parted, told["columns"])]
        each.append(f"the names and decimals of the columns that are computed with: {together(said)}")
    return each


def _parted(announced: str) -> tuple[str, str, str]:
    return announced.partition(" ")


def _output(found: JSON, parameters: Parameters) -> str:
    me, file, columns = found["party"], found["output"]["file"], together(found["output"]["columns"] or ["no column"])
    match parameters.reveal:
        case "shares":
            shares = "shares of the columns that both parties name, a row for each pair of rows that match"
            return f"{me} writes {file}: {shares}"
        case "ids":
            return f"{me} writes {file}: a universal id for each row of both tables, beside {columns} of its own rows"
    rows = "rows that match nothing" if parameters.join == "anti" else f"rows of the {parameters.join} join"
    return f"{me} writes {file}: {columns} of its own {rows}"


def _run(predicted: JSON) -> list[str]:
    if "refused" in predicted:
        return [f"if each party had as many rows, it would be refused: {predicted['refused']}"]
    sent = ", ".join(f"{party} sends {count:,} B" for party, count in predicted["bytes_sent"].items())
    cost = f"{sent}; {predicted['rounds']} rounds; about {predicted['seconds']:.1f} s"
    return [f"if each party had {predicted['rows_of_each']:,} rows: {cost}", *predicted["why"], *predicted["may_ask"]]
