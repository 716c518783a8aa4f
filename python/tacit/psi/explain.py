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
from tacit.psi.account import account, disclosed
from tacit.psi.choice import Chosen, choose
from tacit.psi.disclosures import together
from tacit.psi.match import announcement
from tacit.psi.parameters import UNBALANCED, Parameters
from tacit.psi.request import Limits
from tacit.psi.source import Source
from tacit.psi.whole import choose_leader, choose_whole

JSON = dict[str, Any]


def explained(
    me: str, parameters: Parameters, source: Source | None, limits: Limits, output: Path | None, notes: Sequence[str]
) -> JSON:
    """The account as data. source: None where a party answers about a table that it has prepared."""
    found: JSON = {
        "party": me,
        "plan_hash": parameters.plan_hash.hex(),
        "match": parameters.what(),
        "parties": list(parameters.parties),
        "recipients": list(parameters.to),
        "agreed": parameters.options(),
        "disclosures": disclosed(parameters),
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
    facts = (told,) * len(parameters.parties)
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


def lines(found: JSON, parameters: Parameters) -> list[str]:
    """The account for people."""
    parties = found["parties"]
    shown = [f"{parameters.what()} of {together(parties)}, as {found['party']} would start it", ""]
    shown += ["What each party will learn", *(f"- {line}" for line in account(parameters)), ""]
    shown += ["What all parties have to say alike"]
    shown += [f"- {name}: {value}" for name, value in found["agreed"].items()]
    if "announced" in found:
        shown += ["", f"What {found['party']} tells the others", *(f"- {line}" for line in _announced(found))]
    if "output" in found:
        shown += ["", f"What {found['party']} gets", f"- {_output(found, parameters)}"]
    if found.get("predicted"):
        shown += ["", "How it would run", *(f"- {line}" for line in _run(found["predicted"]))]
    if found["notes"]:
        shown += ["", "Of its own table", *(f"- {note}" for note in found["notes"])]
    shown += ["", f"plan {found['plan_hash']}", "Nothing has run: nobody was contacted, and nothing was written."]
    return shown


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
    file, columns = found["output"]["file"], together(found["output"]["columns"] or ["no column"])
    match parameters.reveal:
        case "shares":
            return f"{file}: shares of the columns that both parties name, a row for each pair of rows that match"
        case "ids":
            return f"{file}: a universal id for each row of both tables, beside {columns} of its own rows"
    rows = "rows that match nothing" if parameters.join == "anti" else f"rows of the {parameters.join} join"
    return f"{file}: {columns} of its own {rows}"


def _run(predicted: JSON) -> list[str]:
    if "refused" in predicted:
        return [f"if each party had as many rows, it would be refused: {predicted['refused']}"]
    sent = ", ".join(f"{party} sends {count:,} B" for party, count in predicted["bytes_sent"].items())
    cost = f"{sent}; {predicted['rounds']} rounds; about {predicted['seconds']:.1f} s"
    return [f"if each party had {predicted['rows_of_each']:,} rows: {cost}", *predicted["why"], *predicted["may_ask"]]
