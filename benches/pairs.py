"""The bench's tables of two parties: intersections, their relatives, oblivious transfers, VOLE, beside their floors."""

from __future__ import annotations

from statistics import median

from floors import (
    COMPARISONS,
    DH_SCALE,
    EXPONENT,
    GARBLED_GATES,
    GARBLING_MEMORY,
    GARBLING_SCALE,
    INTERSECTIONS,
    MULTIPLICATIONS,
    RELATIVES,
    TRANSFERS,
    VOLE,
    Bound,
)
from report import Measured, count, mebibytes, ratio, seconds, section


def intersections(found: list[Measured]) -> str:
    """Intersection of two sets of the same size, tacit's protocols and other systems'."""
    head = ["protocol", "items", "joined", "time", "+-", "B/item", "peak", "load", *BOUND]
    rows = [
        [
            each["protocol"],
            f"2^{each['rows']}",
            each["transport"],
            seconds(each["seconds"]),
            f"{50 * each['spread']:.0f} %",
            f"{each['bytes_per_item']:.1f}" if each["bytes_per_item"] else "-",
            mebibytes(each["peak_bytes"]),
            f"{each['load']:.2f}",
            *against(
                INTERSECTIONS.get((each["protocol"], each["rows"])),
                each["seconds"],
                each["bytes_per_item"] or 0.0,
                each["peak_bytes"],
            ),
        ]
        for each in found
    ]
    notes = "B/item: of both parties, base OTs included, for each item of one set. peak: the larger party's."
    return section("Intersection: two processes on this machine, half of the items common", head, rows, notes)


def relatives(found: list[Measured]) -> str:
    """Ids, sums, shares, prepared sets, and intersection by Diffie-Hellman."""
    head = ["what", "items", "joined", "time", "an item", "cpu s of each", "B/item", "peak", "load", *BOUND]
    rows = []
    for each in found:
        spent, sent = median(each["seconds"]), sum(each["bytes_sent"]) / each["items"]
        name = f"{each['relative']} {each['phase']}".strip()
        bound = RELATIVES.get(name) if each["rows"] == EXPONENT else None
        if "multiplications" in each:
            steps, a_second = each["multiplications"]
            bound = Bound(MULTIPLICATIONS * steps / a_second, scale=DH_SCALE)
        rows.append(
            [
                name,
                f"2^{each['items'].bit_length() - 1}",
                each["transport"],
                seconds(spent),
                seconds(spent / each["items"]),
                " ".join(f"{cpu:.2f}" for cpu in each["cpu_seconds"]),
                f"{sent:.1f}",
                mebibytes(each["peak_memory"]),
                f"{each['load']:.2f}",
                *against(bound, spent, sent, each["peak_memory"]),
            ]
        )
    notes = (
        "items: of each set; of the prepared set when it is prepared and published, of the question when it is asked.\n"
        f"Floors are for 2^{EXPONENT} items. That of dh: {MULTIPLICATIONS} times what its scalar multiplications take\n"
        "on all cores, measured in the same run. circuit-psi: payloads of 64 bits, until all that it gives is shared."
    )
    return section("Relatives of intersection: two processes, half of the items common", head, rows, notes)


def transfers(found: list[Measured]) -> str:
    """Oblivious transfers and VOLE."""
    head = ["what", "joined", "number", "time", "rate", "bits each", "peak", "load", "floor", "ratio"]
    rows = []
    for each in found:
        if "vole" in each:
            name, number, spent = f"VOLE over {each['vole']}", each["correlations"], each["seconds"]
            bits, peak, floor = each["bits_per_correlation"], each["peak_bytes"], VOLE
        else:
            name, number, spent = each["work"], each["transfers"], median(each["seconds"])
            bits, peak = 8 * sum(each["bytes_sent"]) / number, each["peak_memory"]
            floor = TRANSFERS.get(name.split()[0], 0.0)
        rate = number / spent
        bound = [f"{count(floor)}/s", ratio(rate, floor)] if floor else ["-", "-"]
        cells = [count(number), seconds(spent), f"{count(rate)}/s", f"{bits:.2f}", mebibytes(peak)]
        rows.append([name, each["transport"], *cells, f"{each['load']:.2f}", *bound])
    notes = "VOLE: base OTs included. Transfers: in batches after one setup. ratio: 1 or more is reached."
    return section("Oblivious transfer and VOLE: two processes on this machine", head, rows, notes)


def garbled(found: list[Measured], ceilings: list[Measured]) -> str:
    """Garbled circuits: speed, and memory beside the number of rows."""
    head = [
        "what",
        "joined",
        "rows",
        "time",
        "+-",
        "ANDs",
        "of the wire",
        "cpu s of each",
        "peak",
        "inputs",
        "load",
        *BOUND,
    ]
    wire = {each["limit"]: each["rate"] for each in ceilings}
    limits = {"plain": "loopback TCP, one connection", "tls": "loopback TLS 1.3 AES-128-GCM, one connection"}
    rows = []
    for each in found:
        carried = wire.get(limits[each["transport"]])
        sides = ("garbler", "evaluator")
        peak = max(each[f"peak_{side}"] for side in sides)
        if each["garbled"] == "products":
            bound = Bound(
                each["gates"] / GARBLED_GATES[each["transport"]], memory=GARBLING_MEMORY, scale=GARBLING_SCALE
            )
        else:
            limit = COMPARISONS.get(each["rows"]) if each["transport"] == "plain" else None
            bound = Bound(limit, memory=GARBLING_MEMORY)
        rows.append(
            [
                each["garbled"],
                each["transport"],
                count(each["rows"]),
                seconds(each["seconds"]),
                f"{50 * each['spread']:.0f} %",
                f"{count(each['rate'])}/s",
                f"{100 * each['rate'] * each['bytes_per_gate'] / carried:.0f} %" if carried else "-",
                " ".join(f"{each[f'cpu_{side}']:.2f}" for side in sides),
                " ".join(mebibytes(each[f"peak_{side}"]) for side in sides),
                " ".join(mebibytes(each[f"inputs_{side}"]) for side in sides),
                f"{each['load']:.2f}",
                *against(bound, each["seconds"], 0.0, peak),
            ]
        )
    notes = (
        "Numbers of 32 bits, one of each party; transfers of the evaluator's inputs and their setup included. of the\n"
        "wire: bytes of both directions beside what one loopback connection carries in the same run. Each: garbler,\n"
        "evaluator. inputs: resident memory before the circuit, which grows with the rows; what the peak adds does not."
    )
    return section("Garbled circuits: two processes on this machine", head, rows, notes)


BOUND = ["floor", "", "for scale"]
"""Heads of what ``against`` says."""


def against(bound: Bound | None, spent: float, sent: float, peak: float) -> list[str]:
    """A bound in words, whether it is met or what misses it, and what others reach."""
    if bound is None:
        return ["-", "-", ""]
    parts = [
        ("time", bound.seconds, spent, seconds),
        ("traffic", bound.bytes, sent, lambda size: f"{size:.0f} B"),
        ("memory", bound.memory, peak, mebibytes),
    ]
    stated = [(what, most, value, show) for what, most, value, show in parts if most is not None]
    missed = [f"{what} {value / most:.2f} times" for what, most, value, _ in stated if value > most]
    floor = ", ".join(show(most) for _, most, _, show in stated)
    return [floor, "missed: " + ", ".join(missed) if missed else "met", bound.scale]
