"""The bench as text: measured figures beside the machine's limits, the floors, and SPU on the same operations."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

from floors import CREDIT_SCALE, EXPONENT, MARKET_SCALE, MATCHING_SECONDS, OPERATIONS, Floor

Measured = dict[str, Any]
"""One line of ``tacit-bench --json``, of ``spu_peer.py``, ``mpyc_peer.py`` or ``queries.py``."""

CEILINGS = {
    "plain": "loopback TCP, three parties, all ordered pairs",
    "tls": "loopback TLS 1.3, three parties, all ordered pairs",
}
"""The limits that an operation's traffic is held against."""

TIMING = ["operation", "joined", "rows", "median", "best", "spread", "rate", "B/row"]
"""Heads of the columns that tacit's and SPU's operations have in common."""

QUERIES = {
    "credit": ("credit question, everything under MPC", CREDIT_SCALE),
    "market": ("market concentration", MARKET_SCALE),
    "join-of-two": ("join on a unique key, two parties", ""),
    "demo": ("tacit demo, once built", ""),
    "two-hospitals": ("tacit demo two-hospitals, two parties", ""),
}


def heading(facts: list[tuple[str, str]]) -> str:
    """Title and origin."""
    return "tacit bench\n" + "\n".join(f"{name:<9}{value}" for name, value in facts)


def progress(each: Measured) -> str:
    """One measurement in a few words, for those who wait."""
    if "limit" in each:
        return f"{each['limit']}: {count(each['rate'])}{each['unit']}/s"
    if "matching" in each:
        return f"tacit psi, {each['rows']:,} rows: {seconds(median(each['seconds']))}"
    if "relative" in each:
        name = f"{each['relative']} {each['phase']} 2^{each['rows']} {each['transport']}"
        return f"{name}: {seconds(median(each['seconds']))}"
    if "garbled" in each:
        return f"{count(each['rows'])} {each['garbled']} {each['transport']}: {seconds(each['seconds'])}"
    if "work" in each:
        return f"{each['work']} {each['transport']}: {count(each['transfers'] / median(each['seconds']))}/s"
    if "vole" in each:
        return f"VOLE over {each['vole']} {each['transport']}: {count(each['rate'])}/s"
    if "protocol" in each:
        return f"{each['protocol']} 2^{each['rows']} {each['transport']}: {seconds(each['seconds'])}"
    if "guard" in each:
        return f"guard {each['guard']}, {each['engine']}, {each['small']}: {seconds(median(each['grouping']))}"
    if "query" in each:
        return f"{each['query']}: {seconds(median(each['seconds']))}"
    if "product" in each:
        rate_of_product = count(each["multiply_adds"] / median(each["seconds"]))
        return f"product {each['product']}, {each['bits']} bits: {rate_of_product}multiply-adds/s"
    return f"{' '.join(timing(each)[:3])}: {seconds(median(each['seconds']))}"


def limits(found: list[Measured]) -> str:
    """The machine's own limits."""
    rows = [[each["limit"], f"{count(each['rate'])}{each['unit']}/s", f"{each['load']:.2f}"] for each in found]
    return section("The machine's own limits (best of several passes)", ["limit", "rate", "load"], rows)


def products(found: list[Measured]) -> str:
    """Products of matrices and convolutions in one process."""
    head = ["product", "bits", "path", "threads", "median", "rate", "of limit", "load"]
    rows = []
    for each in found:
        time = median(each["seconds"])
        achieved = each["multiply_adds"] / time
        size = [each["product"], str(each["bits"]), each["path"], str(each["threads"]), seconds(time)]
        rows.append([*size, f"{count(achieved)}/s", f"{100 * achieved / each['limit']:.0f} %", f"{each['load']:.2f}"])
    notes = (
        "rate: multiply-adds. limit: those of the micro-kernel in the first-level cache, one core for each thread.\n"
        "Where one side is a vector it is the number of elements that these cores read from memory, if that is less."
    )
    return section("Products of matrices and convolutions, one process", head, rows, notes)


def operations(found: list[Measured], ceilings: list[Measured], peers: list[Measured]) -> str:
    """Every operation at every size, beside SPU and the loopback limit."""
    head = ["rounds", "cpu s", "peak", "wire", "SPU", "of SPU", "load"]
    carried = {transport: most_carried(transport, found, ceilings) for transport in CEILINGS}
    peer_rates = {(each["operation"], each["rows"], each["transport"]): rate(each) for each in peers}
    rows = []
    for each in found:
        peer = peer_rates.get((each["operation"], each["rows"], each["transport"]))
        rows.append([*timing(each), *resources(each, carried.get(each["transport"])), *beside(each, peer)])
    notes = (
        "median, best, spread: wall clock between barriers, the slowest party's; spread is the range over the median.\n"
        "B/row: payload bytes that one party sends, mean of the three. cpu: all parties. peak: largest resident\n"
        "memory of one party's process, inputs included. wire: traffic against the most that the loopback carried,\n"
        "in the limits above or in `exchange`. join: this number of rows on each side."
    )
    title = "Operations: three parties as three processes on this machine"
    return section(title, [*TIMING, *head], rows, notes)


def arrays(found: list[Measured], peers: list[Measured]) -> str:
    """Operations on arrays beside their targets and SPU."""
    head = ["rounds", "cpu s", "peak", "engine", "target", "ratio", "best", "SPU", "of SPU", "load"]
    rows, rates = [], {each["operation"]: rate(each) for each in peers}
    for each in found:
        best = each["units"] / min(each["seconds"])
        wanted = each["target"]
        target = (
            [f"{count(wanted)}{each['unit']}/s", *(ratio(r, wanted) for r in (rate(each), best))]
            if wanted
            else ["-"] * 3
        )
        peer = rates.get(each["operation"]) if each["engine"] == "rep3" else None
        rows.append([*timing(each), *resources(each, None)[:3], each["engine"], *target, *beside(each, peer)])
    notes = (
        "multiply: numbers of 16 fractional bits in a ring of 64, rounded to a neighbour (dither) or down (floor).\n"
        "matrix: the product of two of as many elements each, dithered; its rate counts multiply-adds. sigmoid: of\n"
        "any number, sigmoid-8: from -8 to 8. ratio: of the median, best: of the best repetition; 1 or more: reached.\n"
        "SPU: ABY3 over 64 bits with its own defaults for fixed-point numbers, joined by plain TCP."
    )
    return section("Arrays: three parties as three processes on this machine", [*TIMING, *head], rows, notes)


def most_carried(transport: str, found: list[Measured], ceilings: list[Measured]) -> float | None:
    """The most bytes a second that three parties exchanged over the loopback interface, with or without tacit."""
    rates = [each["rate"] for each in ceilings if each["limit"] == CEILINGS[transport]]
    rates += [rate(each) for each in found if (each["operation"], each["transport"]) == ("exchange", transport)]
    return max(rates, default=None)


def resources(each: Measured, ceiling: float | None) -> list[str]:
    """Rounds, processor, memory and wire. ceiling: what the loopback interface carries, in bytes a second."""
    wire = sum(each["bytes_sent"]) / median(each["seconds"]) / ceiling if ceiling else None
    return [
        str(each["rounds"]),
        f"{each['cpu_seconds']:.2f}" if each["cpu_seconds"] is not None else "-",
        mebibytes(max(each["peak_memory"])) if each["peak_memory"] else "-",
        f"{wire:.0%}" if wire is not None else "-",
    ]


def beside(each: Measured, peer: float | None) -> list[str]:
    """SPU's rate and how many times it tacit's is; the machine's load."""
    load = f"{each['load']:.2f}"
    return [f"{count(peer)}{each['unit']}/s", f"{rate(each) / peer:.1f}x", load] if peer else ["-", "-", load]


def peers(name: str, found: list[Measured]) -> str:
    """Another system on the same operations."""
    rows = [
        [*timing(each), str(each["messages"] or "-"), mebibytes(max(each["peak_memory"])), f"{each['load']:.2f}"]
        for each in found
    ]
    return section(f"{name}: three processes on this machine", [*TIMING, "sends", "peak", "load"], rows)


def matching(found: list[Measured]) -> str:
    """The whole command."""
    head = ["identifiers", "rows", "median", "best", "floor", "ratio", "cpu s", "peak of each", "disk", "load"]
    rows = [
        [
            each["matching"],
            f"{each['rows']:,}",
            seconds(median(each["seconds"])),
            seconds(min(each["seconds"])),
            *floor_of(MATCHING_SECONDS.get(each["rows"]), median(each["seconds"])),
            f"{median(each['cpu_seconds']):.2f}",
            " ".join(map(mebibytes, each["peak_memory"])),
            f"{each['peak_disk'] / 1e9:.2f} GB",
            f"{each['load']:.2f}",
        ]
        for each in found
    ]
    notes = (
        "From the start of both processes to the end of the slower one, TLS and the check of versions included. cpu:\n"
        "of both parties. disk: beside the inputs, both parties together, as seen twice a second."
    )
    return section("tacit psi, Parquet to Parquet: two processes, half of the rows common", head, rows, notes)


def floor_of(floor: float | None, spent: float) -> list[str]:
    """A floor in seconds, and how many times it is reached."""
    return ["-", "-"] if floor is None else [seconds(floor), ratio(floor, spent)]


def floors(found: list[Measured]) -> str:
    """Measured against the floors."""
    title = f"Floors, at 2^{EXPONENT} rows (ratio of the median, and of the best repetition; 1 or more: reached)"
    head = ["operation", "joined", "what", "measured", "floor", "ratio", "best", "for scale"]
    index = {(each["operation"], each["transport"]): each for each in found if each["rows"] == 1 << EXPONENT}
    rows = []
    for floor in OPERATIONS:
        each = index.get((floor.operation, floor.transport))
        if each is not None:
            rows += [[floor.operation, floor.transport, *line, floor.scale] for line in against(floor, each)]
    return section(title, head, rows) if rows else f"{title}: this size was not measured."


def against(floor: Floor, each: Measured) -> list[list[str]]:
    """What, measured, floor and ratios, for each thing that the floor bounds."""
    found = []
    spent, least = median(each["seconds"]), min(each["seconds"])
    if floor.rate is not None:
        shown = [f"{count(value)}{each['unit']}/s" for value in (rate(each), floor.rate)]
        found.append(["rate", *shown, ratio(rate(each), floor.rate), ratio(each["units"] / least, floor.rate)])
    if floor.seconds is not None:
        shown = [seconds(value) for value in (spent, floor.seconds)]
        found.append(["time", *shown, ratio(floor.seconds, spent), ratio(floor.seconds, least)])
    if floor.bytes is not None:
        sent = bytes_per_row(each)
        found.append(["B/row", f"{sent:.1f}", f"{floor.bytes:.1f}", ratio(floor.bytes, sent), "-"])
    if floor.rounds is not None:
        found.append(["rounds", str(each["rounds"]), str(floor.rounds), ratio(floor.rounds, each["rounds"]), "-"])
    if floor.memory is not None and each["peak_memory"]:
        peak = max(each["peak_memory"])
        found.append(["memory", mebibytes(peak), mebibytes(floor.memory), ratio(floor.memory, peak), "-"])
    return found


def queries(found: list[Measured]) -> str:
    """Whole queries."""
    head = ["query", "rows", "median", "best", "floor", "ratio", "local", "sent", "rounds", "load"]
    title = "Whole queries: a process for each party, over TLS, from the question to the answer"
    notes = "local: DuckDB alone on the part that is left to the owners."
    return section(title, [*head, "peak of each party", "for scale"], [query(each) for each in found], notes)


def query(each: Measured) -> list[str]:
    """One query's line."""
    title, scale = QUERIES[each["query"]]
    spent = median(each["seconds"])
    return [
        title,
        f"{each['rows']:,}" if each["rows"] else "-",
        seconds(spent),
        seconds(min(each["seconds"])),
        seconds(each["floor"]),
        ratio(each["floor"], spent),
        seconds(median(each["local_seconds"])) if "local_seconds" in each else "-",
        f"{count(each['bytes'])}B" if "bytes" in each else "-",
        str(each.get("rounds", "-")),
        f"{each['load']:.2f}",
        " ".join(f"{party} {mebibytes(peak)}" for party, peak in sorted(each["peak_memory"].items())),
        scale,
    ]


def guards(found: list[Measured]) -> str:
    """A group-by with each guard, beside the same one without."""
    head = [
        "guard",
        "small groups",
        "engine",
        "rows",
        "group-by and after",
        "predicted",
        "against none",
        "sent",
        "rounds",
    ]
    title = "Guards: a group-by of two owners' rows, and what follows it up to the answer"
    notes = "once: each row is a unit; repeats: distinct units are counted."
    return section(title, [*head, "load"], [guard(each, found) for each in found], notes)


def guard(each: Measured, found: list[Measured]) -> list[str]:
    """One guard's line."""
    without = next((other for other in found if other["guard"] == "none" and other["engine"] == each["engine"]), None)
    spent = median(each["grouping"])
    return [
        each["guard"],
        each["small"],
        each["engine"],
        f"{each['rows']:,}",
        seconds(spent),
        seconds(each["predicted"]),
        "-" if without is None else f"{spent / median(without['grouping']):.2f}",
        f"{count(each['bytes'])}B",
        str(each["rounds"]),
        f"{each['load']:.2f}",
    ]


def timing(each: Measured) -> list[str]:
    """The columns under ``TIMING``."""
    spent = each["seconds"]
    spread = (max(spent) - min(spent)) / median(spent)
    return [
        each["operation"],
        each["transport"],
        size(each["rows"]),
        seconds(median(spent)),
        seconds(min(spent)),
        f"{spread:.0%}",
        f"{count(rate(each))}{each['unit']}/s",
        f"{bytes_per_row(each):.2f}",
    ]


def size(rows: int) -> str:
    """A power of two as one."""
    return f"2^{rows.bit_length() - 1}" if rows.bit_count() == 1 else f"{rows:,}"


def rate(each: Measured) -> float:
    """Units a second, of the median repetition."""
    return float(each["units"] / median(each["seconds"]))


def bytes_per_row(each: Measured) -> float:
    """Payload bytes that one party sends for a row: the mean of the parties."""
    return float(sum(each["bytes_sent"]) / len(each["bytes_sent"]) / each["rows"])


def section(title: str, head: Sequence[str], rows: list[list[str]], notes: str = "") -> str:
    """A table in aligned columns: the first one to the left, the others to the right."""
    lines = [list(head), *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    text = ["  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip() for line in lines]
    return "\n".join([title, "-" * len(title), *text, *([notes] if notes else [])])


def ratio(better: float, worse: float) -> str:
    return f"{better / worse:.2f}"


def count(value: float) -> str:
    """Three significant digits with a decimal prefix."""
    for size, prefix in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= size:
            return f"{value / size:.3g}{prefix}"
    return f"{value:.3g} "


def seconds(value: float) -> str:
    if value >= 1:
        return f"{value:.3f} s"
    return f"{value * 1e3:.2f} ms" if value >= 1e-3 else f"{value * 1e6:.0f} us"


def mebibytes(size: float) -> str:
    return f"{size / (1 << 20):.0f} MiB"
