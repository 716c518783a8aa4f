"""What has to be reached, and what others reach: held against the measured figures, never asserted."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True)
class Floor:
    """A target for one operation. rate: units a second, at least. seconds, bytes (sent per row by one party, mean),
    rounds, memory (bytes, each party): at most. scale: what others reach."""

    operation: str
    transport: str
    rate: float | None = None
    seconds: float | None = None
    bytes: float | None = None
    rounds: int | None = None
    memory: int | None = None
    scale: str = ""


EXPONENT = 20
"""The floors of operations are for 2^20 rows."""

OPERATIONS = (
    Floor("and", "tls", rate=2e9, scale="best peer 2.1 G/s, plain"),
    Floor("and", "plain", rate=4e9, scale="best peer 2.1 G/s"),
    Floor("multiply", "tls", rate=40e6, scale="MP-SPDZ 24 M/s"),
    Floor("multiply", "plain", rate=70e6, scale="HPMPC 30 M/s, SPU 12 M/s"),
    Floor("less", "tls", rate=8e6, scale="HPMPC 7.1 M/s, plain"),
    Floor("less", "plain", rate=12e6, scale="HPMPC 7.1 M/s, SPU 0.9 M/s"),
    Floor("sort", "tls", seconds=4, bytes=5500 / 8, rounds=140, scale="SPU 5.6 s for 2^16 keys"),
    Floor("shuffle", "tls", seconds=0.5),
    Floor("join", "tls", seconds=12, memory=2048 * MIB, scale="MRR20 9.1 s, three servers, unique keys"),
    Floor("group-by", "tls", seconds=5),
)


@dataclass(frozen=True)
class Bound:
    """A target of two parties: the most seconds, bytes an item (both ways), bytes of memory of each party.

    scale: what others reach.
    """

    seconds: float | None = None
    bytes: float | None = None
    memory: float | None = None
    scale: str = ""


INTERSECTIONS = {
    ("vole", 20): Bound(0.45, 30, 200e6, "volePSI 0.82 s, 32.4 B, 277 MB; SPU 4.1 s, 697 MB"),
    ("vole-malicious", 20): Bound(0.5, scale="volePSI 0.86 s"),
    ("vole-compact", 20): Bound(1.0, 20, scale="SPU 5.8 s, 20.6 B"),
    ("vole", 24): Bound(9.0, memory=1 << 30, scale="volePSI 18.4 s, 4.3 GB; SPU 67 s"),
    ("kkrt", 20): Bound(2.0, scale="SPU 6.2 s, 115 B"),
}
"""By protocol and size, a power of two."""

MULTIPLICATIONS = 1.3
"""Most time of intersection by Diffie-Hellman against that of its scalar multiplications on all cores."""

RELATIVES = {
    "unbalanced offline": Bound(6.0, 9, scale="SPU 11.3 s, 12 B"),
    "unbalanced online": Bound(0.05, scale="SPU 0.17 s"),
    "circuit-psi": Bound(4.0, 170, scale="volePSI 21 s"),
    "private-id-oprf": Bound(10e-6 * (1 << EXPONENT), scale="Private-ID 181 us"),
    "private-id-ddh": Bound(60e-6 * (1 << EXPONENT), scale="Private-ID 181 us"),
    "sum": Bound(20e-6 * (1 << EXPONENT), scale="Private-ID's PJC 6.5 ms"),
    "ps3i": Bound(20e-6 * (1 << EXPONENT), scale="Private-ID's PS3I 16 ms"),
}
"""For sets of 2^20 items; the prepared one is asked about 2^12."""

DH_SCALE = "SPU 11.7 s, 76 B; OpenMined 203 us"

TRANSFERS = {"softspoken": 60e6, "silent": 40e6}
"""Oblivious transfers a second, by the first word of their name."""

VOLE = 25e6
"""Random VOLE a second."""

GARBLED_GATES = {"plain": 80e6, "tls": 40e6}
"""Garbled ANDs a second, by how the nodes are joined."""

COMPARISONS = {10**6: 0.8, 10**7: 8.0}
"""Seconds for garbled comparisons of 32 bits, by their number."""

GARBLING_MEMORY = 250 << 20

GARBLING_SCALE = "MP-SPDZ 31 M/s, EMP 20-23 M/s and 1 kB a row"

CREDIT_SECONDS = 15.0
CREDIT_SCALE = "Conclave 25 min with a trusted party"
MARKET_FACTOR = 1.3
MARKET_EXTRA_SECONDS = 2.0
MARKET_SCALE = "Conclave 20 min for 1.3 G rows on nine VMs"
DEMO_SECONDS = 10.0
SLICES_SECONDS = 2.0
"""Comorbidity over 200,000 rows with 20,000 different diagnoses."""
JOIN_OF_TWO_ROWS_A_SECOND = (1 << 19) / 20.0
"""Rows of both owners together."""
WIDE_AREA_JOIN_SECONDS = 11.0
"""Of 2^16 + 2^16 rows on a unique key over 40 ms and 100 Mbit/s. MRR20: 6.6 s, unique keys on both sides."""
MATCHING_SECONDS = {1 << 20: 1.2, 10**8: 150.0, 10**9: 1800.0}
"""Of the whole command, by rows of each party."""

NETWORK_SECONDS = {
    "mlp": {1: 0.010, 1000: 0.5},
    "lenet5": {1: 0.016, 1000: 1.6},
    "lenet5-relu": {1: 0.016, 1000: 1.6},
    "lenet5-normalized": {1: 0.016, 1000: 1.6},
}
"""The most seconds of a network's inference, by its batch."""
