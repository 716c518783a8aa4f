"""The account: one disclosure for everything that any party learns besides its own input.

Each disclosure carries the permit without which the native session opens nothing; the permits of all disclosures are
exactly what a run may open. Padded sizes and declared bounds are public before the run and disclose nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from tacit.plan.catalog import Catalog
from tacit.plan.placed import Disclosure, ReleaseStep
from tacit.plan.push_up import Beyond
from tacit.plan.sizes import Announced


def size_disclosures(announced: Mapping[int, Announced], catalog: Catalog) -> tuple[Disclosure, ...]:
    """The exact sizes that input steps announce to all nodes."""
    return tuple(
        Disclosure(
            recipients=catalog.nodes,
            kind="size",
            site=f"{step}.input",
            what=shown.what,
            reason=shown.reason,
            rule=shown.rule,
            permit={"site": f"{step}.input", "kind": "size", "recipients": list(catalog.nodes), "columns": []},
        )
        for step, shown in announced.items()
    )


def release_disclosure(
    release: ReleaseStep, outputs: tuple[str, ...], beyond: tuple[Beyond, ...], rows: str
) -> Disclosure:
    """What the recipients see: the answer, and whatever operands of quotients the answer does not imply."""
    site = f"{release.id}.release"
    columns = [each.name for each in release.fields]
    answer = (
        f"the answer: {_listed(outputs)}, of at most {rows} rows"
        if rows != "1"
        else f"the answer: {_listed(outputs)}, one row"
    )
    extra = "".join(f"; and beyond it {_listed(each.columns)}, from which {each.output} is computed" for each in beyond)
    reason = (
        "they ask the query" if not extra else "only clear arithmetic divides, so the recipient divides opened values"
    )
    kind = "value" if beyond else "answer"
    return Disclosure(
        recipients=release.recipients,
        kind="value" if beyond else "answer",
        site=site,
        what=answer + extra,
        reason=reason,
        rule="query",
        permit={"site": site, "kind": kind, "recipients": list(release.recipients), "columns": columns},
    )


def _listed(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
