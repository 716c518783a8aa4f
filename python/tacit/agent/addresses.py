"""Addresses of this machine: those that a federation file has, and free ones for parties that all run here."""

from __future__ import annotations

import ipaddress
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager

from tacit.agent.faults import Fault, RunError


def host_and_port(address: str) -> tuple[str, int]:
    """The two parts of host:port, an IPv6 host without its brackets."""
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


def is_loopback(address: str) -> bool:
    """Whether an address can be reached from this machine alone."""
    host, _ = host_and_port(address)
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@contextmanager
def free_ports(addresses: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """The same hosts with ports that nobody uses, so that several runs do not meet. Raises RunError without any.

    Until the context ends, Linux gives the ports to nobody who does not ask for them by number.
    """
    with ExitStack() as held:
        found = {name: _free_port(address, held) for name, address in addresses.items()}
        if not sys.platform.startswith("linux"):  # elsewhere a held port cannot be listened on
            held.close()
        yield found


def _free_port(address: str, held: ExitStack) -> str:
    host, _ = host_and_port(address)
    try:
        family, *_, bound = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        holder = held.enter_context(socket.socket(family, socket.SOCK_STREAM))
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the party does that listens there
        holder.bind(bound)
    except OSError as error:
        raise RunError(Fault.INPUT, f"no port is free at {host} ({error.strerror}).") from None
    return f"{address.rpartition(':')[0]}:{holder.getsockname()[1]}"
