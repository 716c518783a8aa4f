"""Keys that owners open to each other, so that each can split its rows into slices (tacit.plan.rules.slicing).

An owner shares its different keys, in their order, as any table. The nodes open them to the owners that split their
rows by them. That comes before any step in which rows are shared.
"""

from __future__ import annotations

from dataclasses import dataclass

from tacit.plan.algebra.relations import Opened, Relation, Sort, SortKey
from tacit.plan.algebra.trees import owner, slices
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.expected import expected_rows
from tacit.plan.facts.fields import fields
from tacit.plan.facts.kinds import opened_rep
from tacit.plan.facts.sizes import Counted, key_size
from tacit.plan.physical.disclosure import Site
from tacit.plan.physical.emitter import Emitter
from tacit.plan.physical.lower_input import Announcement, entering
from tacit.plan.physical.operators import Input, Named, Release
from tacit.plan.physical.placed import InputStep, KeysStep, LocalStep


@dataclass(frozen=True)
class OpenedKeys:
    """An owner's keys, as a step opens them. columns: with their kinds. counted: the keys. most: no more keys."""

    step: KeysStep
    relation: Relation
    columns: tuple[Named, ...]
    counted: tuple[Counted, ...]
    most: int


def key_owners(core: Relation) -> dict[Relation, tuple[str, ...]]:
    """The keys of owners by which others slice their rows, and who these are."""
    found: dict[Relation, dict[str, None]] = {}
    for each in slices(core):
        party = owner(each)
        assert party is not None, "a slice has one owner"
        for keys in each.others:
            found.setdefault(keys, {})[party] = None
    return {keys: tuple(parties) for keys, parties in found.items()}


def place_keys(keys: Relation, to: tuple[str, ...], catalog: Catalog, emit: Emitter) -> tuple[OpenedKeys, Announcement]:
    """Append the steps that open an owner's keys to others. They are known to the emitter from then on."""
    party, size = owner(keys), key_size(keys, catalog)
    assert party is not None, "keys have one owner"
    ordered = Sort(keys, tuple(SortKey(each.name, descending=False, nulls_first=False) for each in fields(keys)))
    want = {each.name: frozenset({opened_rep(each.type)}) for each in fields(keys)}
    columns, physical = entering(ordered, want, emit.hashed, set())
    emit.steps.append(LocalStep(emit.next, party, ordered, fields(ordered)))
    step = emit.next
    operator = Input(step, party, physical, None, ordered=True)
    emit.steps.append(InputStep(step - 1, operator, emit.readable(keys, columns), expected_rows(keys)))
    nullable = tuple(each.name for each in fields(keys) if each.nullable)
    release = Release(emit.next, step, to, tuple(each.name for each in physical), nullable, ordered=True)
    opened = KeysStep(release, party, fields(keys))
    emit.steps.append(opened)
    emit.opened[keys] = Opened(release.id, fields(keys))
    named = tuple(Named(each.name, each.kind) for each in physical)
    return OpenedKeys(opened, keys, named, size.counted, size.most), Announcement(Site(step, operator.op), keys, size)
