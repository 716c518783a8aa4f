"""What a person reads while tables are matched."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from tacit.psi.choice import Chosen
from tacit.psi.parameters import Parameters
from tacit.psi.report import Report


class Screen:
    """What a person reads, on stderr: whole lines, and on a terminal one line that changes while bins are matched."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._live = sys.stderr.isatty()
        self._last = 0

    def line(self, text: str) -> None:
        if not self._quiet:
            sys.stderr.write(f"{text}\n")

    def choice(self, choice: Chosen, parameters: Parameters) -> None:
        each = zip(parameters.parties, choice.sent, strict=True)
        sent = ", ".join(f"{party} sends {size(sent)}" for party, sent in each)
        workers = f"{choice.workers} worker{'s' if choice.workers > 1 else ''}"
        bins = f"{choice.bins} bin{'s' if choice.bins > 1 else ''}"
        self.line(f"{choice.protocol}, {bins}, {workers}: {sent}, about {choice.seconds:.1f} s")
        for sentence in (*choice.why, *choice.may_ask):
            self.line(f"- {sentence}")

    def progress(self, metrics: Mapping[str, int], bins: int) -> None:
        if self._quiet or not self._live:
            return
        sent, received = metrics["bytes_sent"], metrics["bytes_received"]
        rate = (sent + received - self._last) / 0.2
        self._last = sent + received
        end = "\n" if metrics["bins"] == bins else ""
        bin = f"bin {metrics['bins']} of {bins}, " if bins > 1 else ""
        done = f"{bin}{size(sent)} sent, {size(received)} received, {size(rate)}/s"
        sys.stderr.write(f"\r\033[K{done}{end}")

    def report(self, report: Report, count: int, learns: bool, entry: int) -> None:
        keyless = report.null + sum(report.invalid.values())
        rows = f"{report.rows:,} rows" + (f", {keyless:,} of them without a valid key" if keyless else "")
        self.line(f"{rows}{_found(report)}" + (f"; {count:,} rows written" if learns else ""))
        self.line(
            f"{size(report.bytes_sent)} sent, {size(report.bytes_received)} received, {report.seconds:.1f} s; "
            f"ledger entry {entry}"
        )


def _found(report: Report) -> str:
    several = (
        f" ({report.repeated:,} rows of this party share keys with several of the other)" if report.repeated else ""
    )
    if report.union is not None and report.keys is None:
        return f"; {report.union:,} ids in all, which tells the number of pairs that match: {report.pairs:,}{several}"
    if report.union is not None:
        return f"; {report.union:,} ids in all, which tells the number of common keys: {report.keys:,}"
    if report.rate is not None:
        return f"; {report.keys:,} {'key' if report.keys == 1 else 'keys'} matched ({report.rate:.1%})"
    if report.keys is None and (report.pairs or report.repeated):
        return f"; {report.pairs:,} pairs of rows matched{several}"
    return ""


def size(count: float) -> str:
    """Bytes, for people."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count:.0f} B"
