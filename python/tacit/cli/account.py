"""How the account of a query is printed: who will learn what, what it costs, and what the ledger holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table

from tacit.agent.audit import printable
from tacit.agent.cost import Cost
from tacit.agent.events import Event
from tacit.cli.screen import heading, table
from tacit.plan import StepCost, learnt, plan_hash
from tacit.plan.account.listing import LEARNT_TITLE, Listing, cost_listing, plan_listing
from tacit.plan.account.quantities import duration, size
from tacit.plan.physical.placed import PlacedPlan

SHOWN_DIGITS = 16
"""Of a plan's hash, by which one finds the run in every party's ledger."""


def show_plan(plan: PlacedPlan, screen: Console) -> None:
    """The placed plan: each step, where it runs, its public number of rows and what it does."""
    _show_listing(plan_listing(plan), screen)


def show_account(plan: PlacedPlan, screen: Console) -> None:
    """What each party will learn besides its own input, in sentences; also of those that learn nothing."""
    heading(screen, LEARNT_TITLE)
    for sentence in learnt(plan):
        show_item(screen, sentence)
    screen.print()
    screen.print(f"plan {plan_hash(plan).hex()[:SHOWN_DIGITS]}, as ledgers name it", soft_wrap=True)


def show_item(screen: Console, text: str) -> None:
    """One item of a list. On a terminal it is wrapped and indented; programs get it as one line."""
    if not screen.is_terminal:
        screen.print(f"- {text}", soft_wrap=True)
        return
    bullet = Table.grid(padding=(0, 1))
    bullet.add_row("•", text)
    screen.print(bullet)


def show_prediction(predicted: tuple[StepCost, ...], screen: Console) -> None:
    """The predicted cost of each secure step and of all together."""
    _show_listing(cost_listing(predicted), screen)


def _show_listing(listing: Listing, screen: Console) -> None:
    heading(screen, listing.title)
    if listing.rows:
        shown = table(screen, *listing.columns)
        for row in listing.rows:
            shown.add_row(*row)
        screen.print(shown)
    if listing.note is not None:
        screen.print(listing.note)


def show_comparison(cost: Cost, screen: Console) -> None:
    """Actual cost beside the predicted one."""
    heading(screen, "Actual against predicted cost")
    predicted = {step.step: step for step in (*cost.predicted, cost.predicted_total)}
    right = ("sent by all", "predicted", "rounds", "predicted", "time", "predicted")
    shown = table(screen, ("step", "left"), *((title, "right") for title in right))
    for step in (*cost.actual, cost.actual_total):
        before = predicted.get(step.step)
        expected = (
            ("", "", "") if before is None else (size(before.bytes), f"{before.rounds}", duration(before.seconds))
        )
        shown.add_row(
            step.step, size(step.bytes), expected[0], f"{step.rounds}", expected[1], duration(step.seconds), expected[2]
        )
    screen.print(shown)
    if cost.as_predicted:
        screen.print("Traffic and rounds are exactly as predicted.")


def show_entry(entry: Event, screen: Console) -> None:
    """One ledger entry. Who has signed it is shown as it stands there; `tacit ledger verify` checks it."""
    title = f"{entry['party']}, entry {entry['entry']}: {entry['kind']} at {entry['time']}"
    screen.print(title, style="bold", soft_wrap=True)
    if "query" in entry:
        _show_member(screen, "query", " ".join(entry["query"].split()))
    for disclosure in entry.get("disclosures", ()):
        _show_member(screen, "disclosed", _disclosed(disclosure))
    for each in entry.get("allowed", ()):
        _show_member(screen, "allowed", f"by {each['owner']}: {each['sentence']}")
    for sentence in entry.get("may_ask", ()):
        _show_member(screen, "may ask", sentence)
    for does in ("reads", "keeps", "drops"):
        for each in entry.get(does, ()):
            _show_member(screen, does, _kept(each))
    for did in ("kept", "dropped"):
        if did in entry:
            _show_member(screen, did, _kept(entry[did]))
    if "sentence" in entry:
        _show_member(screen, "failed", entry["sentence"])
    if "refused" in entry:
        _show_member(screen, "refused", entry["refused"])
    if "history" in entry:
        _show_member(screen, "history", entry["history"])
    if "cost" in entry:
        cost = entry["cost"]
        ahead = f" and {cost['rounds_ahead']} ahead" if cost.get("rounds_ahead") else ""
        sent = f"{size(cost['bytes_sent'])} sent, {cost['rounds']} rounds{ahead}, {duration(cost['seconds'])}"
        _show_member(screen, "cost", sent)
    for name, text in _approvals(entry):
        _show_member(screen, name, text)
    if "plan_hash" in entry:
        _show_member(screen, "plan", entry["plan_hash"])
    _show_member(screen, "previous", entry["previous"])
    _show_member(screen, "hash", entry["hash"])


def _approvals(entry: Event) -> Iterator[tuple[str, str]]:
    """What an entry says of approvals, keys and signatures."""
    if entry["kind"] == "approval":
        yield "approves", f"{entry['times']} {'run' if entry['times'] == 1 else 'runs'} until {entry['until']}"
    if "by" in entry:
        yield "by", f"the approval {entry['by']}"
    if entry["kind"] == "key":
        yield "new key", str(entry["fingerprint"])
    if entry["kind"] == "repaired":
        yield "torn", f"{entry['bytes']} bytes of a write that was cut short were moved aside"
    if "attendance" in entry:
        yield "run", str(entry["attendance"]["run"])
        ends = entry["record"]["parties"]
        signed = [f"{name} ({end['outcome']})" for name, end in ends.items()]
        yield "signed by", _and([*signed, *(f"{name} (start only)" for name in _present(entry) if name not in ends)])
    elif "signature" in entry and "party" in entry:
        yield "signed by", str(entry["party"])


def _present(entry: Event) -> list[str]:
    return list(entry["attendance"]["parties"])


def _show_member(screen: Console, name: str, text: str) -> None:
    text = printable(text)
    if not screen.is_terminal:
        screen.print(f"  {name:<10} {text}", soft_wrap=True)
        return
    row = table(screen, ("", "left"), ("", "left"))
    row.show_header, row.box = False, None
    row.columns[0].min_width = 11
    row.add_row(f"  {name}", text)
    screen.print(row)


def _kept(table: Event) -> str:
    """A kept table, as far as an entry knows it."""
    known = [f"id {table['id']}"] if table.get("id") else []
    known += [f"delivered on {table['delivered']}"] if "delivered" in table else []
    known += [f"{table['rows']:,} rows"] if table.get("rows") is not None else []
    known += [f"columns {', '.join(table['columns'])}"] if "columns" in table else []
    known += [f"made of {_and(table['made_of'])}"] if "made_of" in table else []
    return f"{table['table']} ({'; '.join(known)})" if known else str(table["table"])


def _disclosed(disclosure: Event) -> str:
    rows = disclosure.get("rows")
    count = "" if rows is None else f" ({rows:,} {'row' if rows == 1 else 'rows'})"
    return f"to {_and(disclosure['recipients'])}: {disclosure['what']}{count}"


def _and(names: Sequence[str]) -> str:
    return " and ".join(", ".join(names).rsplit(", ", 1))
