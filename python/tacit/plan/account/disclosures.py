"""The account: one disclosure for everything that any party learns besides its own input.

Each disclosure carries the permit without which the native session opens nothing; the permits of all disclosures are
exactly what a run may open. Padded sizes and declared bounds are public before the run and disclose nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from tacit.plan.algebra.relations import Aggregate, Match, Project, Relation
from tacit.plan.algebra.trees import owner, scans
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.sizes import Announced, most_matches
from tacit.plan.physical.operators import Named
from tacit.plan.physical.placed import Disclosure, DisclosureKind, Permit, ReleaseStep
from tacit.plan.physical.tables import SharedTable
from tacit.plan.rules.matching import permission
from tacit.plan.rules.push_up import Beyond


def size_disclosures(announced: Mapping[str, Announced], catalog: Catalog) -> tuple[Disclosure, ...]:
    """The sizes that are announced to all nodes, by their sites."""
    return tuple(
        Disclosure(
            recipients=catalog.nodes,
            kind="size",
            site=site,
            what=shown.what,
            reason=shown.reason,
            rule=shown.rule,
            permit=Permit(site, "size", catalog.nodes, rows=shown.most),
        )
        for site, shown in announced.items()
    )


def match_disclosures(step: int, match_: Match, catalog: Catalog) -> tuple[Disclosure, ...]:
    """What a Match shows: both owners which rows match, the left one how often, and all nodes how many there are."""
    left, right = (_rows(side) for side in (match_.left, match_.right))
    on = " and ".join(f"{a} = {b}" for a, b in zip(match_.left_keys, match_.right_keys, strict=True))
    often = "" if match_.right_unique else f", and how many {right} match each of these"
    of_left = f"which of its {left} match {right} on {on}{often}"
    of_right = f"which of its {right} match {left} on {on}"
    parties = ((match_.left, of_left), (match_.right, of_right))
    reason, rule = "private set intersection replaces an oblivious join", permission(match_, catalog)
    site = f"{step}.psi"
    shown = [(_owner(side), what) for side, what in parties]
    matches = tuple(
        Disclosure((party,), "matches", site, what, reason, rule, Permit(site, "matches", (party,)))
        for party, what in shown
    )
    rows = f"the exact number of {right} that match {left} on {on}"
    permit = Permit(site, "size", catalog.nodes, rows=most_matches(match_, catalog))
    size = Disclosure(catalog.nodes, "size", site, rows, "only these enter MPC", rule, permit)
    return (*matches, size)


def _rows(side: Relation) -> str:
    """What the rows of a side are: those of its table, or groups of these."""
    match side:
        case Project(input, _):
            return _rows(input)
        case Aggregate(input, _, _):
            return f"groups of {_rows(input)}"
        case _:
            return "rows of " + " and ".join(dict.fromkeys(scan.table for scan in scans(side)))


def _owner(side: Relation) -> str:
    party = owner(side)
    assert party is not None, "each side of a Match has one owner"
    return party


def release_disclosure(
    release: ReleaseStep, outputs: tuple[str, ...], beyond: tuple[Beyond, ...], table: SharedTable
) -> Disclosure:
    """What the recipients see: the answer, and whatever operands of quotients the answer does not imply.

    table: what is opened, each column under its own name.
    """
    site = f"{release.id}.release"
    recipients = release.operator.to
    columns = tuple(Named(each.name, table.columns[each.name][0].kind) for each in release.fields)
    answer = (
        f"the answer: {_listed(outputs)}, of at most {table.rows.text} rows"
        if table.rows.text != "1"
        else f"the answer: {_listed(outputs)}, one row"
    )
    extra = "".join(f"; and beyond it {_listed(each.columns)}, from which {each.output} is computed" for each in beyond)
    reason = (
        "they ask the query" if not extra else "only clear arithmetic divides, so the recipient divides opened values"
    )
    kind: DisclosureKind = "value" if beyond else "answer"
    return Disclosure(
        recipients=recipients,
        kind=kind,
        site=site,
        what=answer + extra,
        reason=reason,
        rule="query",
        permit=Permit(site, kind, recipients, columns, table.rows.most),
    )


def _listed(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
