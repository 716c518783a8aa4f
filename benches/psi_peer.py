"""Other systems' intersection on the sets that ``tacit-bench psi`` takes: 2^rows items each, half of them common.

    python benches/psi_peer.py --rows 16,20 --only spu-rr22,spu-rr22-low,spu-kkrt,spu-ecdh,openmined

It needs an interpreter with SPU (``pip install spu 'numpy<2'``) or OpenMined's library (``pip install openmined-psi``)
and prints one JSON object a line, with the members of ``tacit-bench psi --json``; a system that is not installed is
left out.

SPU: two processes over plain TCP on loopback, CSV files in and out, as its interface has it; the clock runs from its
own barrier to the end of the call. Its link does not count bytes. OpenMined: one process plays client and server in
turn, so its time is that of one core; bytes are those of its serialised messages.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import resource
import socket
import tempfile
import time
from collections.abc import Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any

SPU = {
    "spu-rr22": ("PROTOCOL_RR22", False),
    "spu-rr22-low": ("PROTOCOL_RR22", True),
    "spu-kkrt": ("PROTOCOL_KKRT", False),
    "spu-ecdh": ("PROTOCOL_ECDH", False),
}
OPENMINED = "openmined"
LARGEST = {"spu-ecdh": 20, OPENMINED: 16}
"""Largest sizes, as powers of two: beyond, a repetition takes minutes."""
RECEIVER = 1


def main() -> None:
    """Measure what the command line asks for and print it."""
    parser = argparse.ArgumentParser(description="Measure the intersection of other systems.")
    parser.add_argument("--rows", default="16,20", help="sizes, as powers of two")
    parser.add_argument("--only", default=",".join([*SPU, OPENMINED]), help=f"of: {' '.join([*SPU, OPENMINED])}")
    parser.add_argument("--repeats", type=int, default=3, help="measured repetitions")
    options = parser.parse_args()
    for name in options.only.split(","):
        for rows in map(int, options.rows.split(",")):
            if installed(name) and rows <= LARGEST.get(name, 24):
                runs = [
                    openmined(1 << rows) if name == OPENMINED else spu(name, 1 << rows) for _ in range(options.repeats)
                ]
                print(json.dumps(summary(name, rows, runs)), flush=True)


def installed(name: str) -> bool:
    """Whether the system is there."""
    return importlib.util.find_spec("private_set_intersection" if name == OPENMINED else "spu") is not None


def summary(name: str, rows: int, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """What the repetitions come to."""
    times = [run["seconds"] for run in runs]
    return {
        "protocol": name,
        "rows": rows,
        "transport": "plain",
        "seconds": median(times),
        "spread": (max(times) - min(times)) / median(times),
        "bytes_per_item": runs[0]["bytes"] / (1 << rows) if runs[0]["bytes"] else None,
        "peak_bytes": max(run["peak_bytes"] for run in runs),
        "load": os.getloadavg()[0],
    }


def items(party: int, count: int) -> Iterator[str]:
    """Identifiers of a party: the first half is common."""
    common, own = random.Random(9), random.Random(party)
    for number in range(count):
        yield f"{(common if number < count // 2 else own).getrandbits(128):032x}"


def spu(name: str, count: int) -> dict[str, Any]:
    """One run of SPU: two processes."""
    ports = free_ports(2)
    context = get_context("spawn")
    pipes = [context.Pipe() for _ in ports]
    with tempfile.TemporaryDirectory() as folder:
        processes = [
            context.Process(target=spu_party, args=(name, rank, ports, count, folder, pipes[rank][1]))
            for rank in (0, 1)
        ]
        for process in processes:
            process.start()
        results = [pipe[0].recv() for pipe in pipes]
        for process in processes:
            process.join()
    return {
        "seconds": max(seconds for seconds, _ in results),
        "bytes": None,
        "peak_bytes": max(peak for _, peak in results),
    }


def spu_party(name: str, rank: int, ports: list[int], count: int, folder: str, pipe: Connection) -> None:
    """One party of SPU: its seconds and its peak memory go into the pipe."""
    from spu import libspu, psi

    path = Path(folder) / f"{rank}.csv"
    with path.open("w") as file:
        file.write("id\n")
        file.writelines(f"{item}\n" for item in items(rank, count))
    group = libspu.link.Desc()
    for other, port in enumerate(ports):
        group.add_party(f"party{other}", f"127.0.0.1:{port}")
    link = libspu.link.create_brpc(group, rank)
    protocol, low = SPU[name]
    config = psi.PsiExecuteConfig(
        protocol_conf=psi.PsiProtocolConfig(
            protocol=psi.parse_protocol(protocol),
            receiver_rank=RECEIVER,
            rr22_params=psi.Rr22Rarams(low_comm_mode=low),
            ecdh_params=psi.EcdhParams(curve=psi.parse_curve_type("CURVE_25519")),
        ),
        input_params=psi.InputParams(path=str(path), selected_keys=["id"], keys_unique=True),
        output_params=psi.OutputParams(path=str(Path(folder) / f"{rank}.out.csv"), disable_alignment=True),
    )
    link.barrier()
    start = time.perf_counter()
    report = psi.psi_execute(config, link)
    elapsed = time.perf_counter() - start
    if rank == RECEIVER and report.intersection_count != count // 2:
        raise SystemExit(f"{name} found {report.intersection_count} of {count // 2}")
    pipe.send((elapsed, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10))
    link.stop_link()


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on at this moment."""
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [int(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return ports


def openmined(count: int) -> dict[str, Any]:
    """One run of OpenMined's library, with its compressed set of the server's items."""
    from private_set_intersection import python as library

    sets = [list(items(party, count)) for party in (0, 1)]
    start = time.perf_counter()
    client = library.client.CreateWithNewKey(True)
    server = library.server.CreateWithNewKey(True)
    setup = server.CreateSetupMessage(2.0**-40, count, sets[0], library.DataStructure.GCS)
    request = client.CreateRequest(sets[1])
    response = server.ProcessRequest(request)
    found = client.GetIntersection(setup, response)
    elapsed = time.perf_counter() - start
    if len(found) != count // 2:
        raise SystemExit(f"{OPENMINED} found {len(found)} of {count // 2}")
    sent = sum(len(message.SerializeToString()) for message in (setup, request, response))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    return {"seconds": elapsed, "bytes": sent, "peak_bytes": peak}


if __name__ == "__main__":
    main()
