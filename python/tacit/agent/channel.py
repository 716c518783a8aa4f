"""Connections by which parties say short things to each other outside a run: TLS 1.3 between their certificates.

Its key exchange is not against quantum computers, so nothing that is secret may be said there.
"""

from __future__ import annotations

import os
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

from tacit.agent.addresses import host_and_port
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members

MOST_BYTES = 1 << 16
"""Of a message: names and hashes of a federation's files take a small part of it."""
PATIENCE = 3.0
"""Seconds for a whole call, TLS and messages."""


def secure(members: Members, me: str, others: Sequence[str], end: int, protocol: str) -> ssl.SSLContext:
    """TLS with this party's key, that accepts the certificates of some others alone. protocol: what is spoken in it."""
    context = ssl.SSLContext(end)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.verify_mode = ssl.CERT_REQUIRED
    context.verify_flags = ssl.VERIFY_X509_PARTIAL_CHAIN
    context.set_alpn_protocols([protocol])
    members.private(me).check_closed()
    try:
        context.load_cert_chain(members.parties[me].certificate, members.private(me).private_key)
        for name in others:
            context.load_verify_locations(cadata=members.certificate(name))
    except (OSError, ssl.SSLError):
        problem = f"the keys of {me} and the certificates of {', '.join(others)} cannot all be used"
        raise RunError(Fault.INPUT, f"{problem}; `tacit doctor --name {me}` says which is wrong.") from None
    return context


def der(members: Members, name: str) -> bytes:
    """A party's certificate, as TLS shows it."""
    try:
        return ssl.PEM_cert_to_DER_cert(members.certificate(name).strip())
    except ValueError:
        problem = f"{members.parties[name].certificate}: is no certificate; get that of {name}."
        raise RunError(Fault.INPUT, problem) from None


def listen(address: str) -> socket.socket:
    """A listener on exactly this address."""
    host, port = host_and_port(address)
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except OSError as error:
        # Of a port in use Python's own text names the address once more.
        reason = error.strerror if isinstance(error, socket.gaierror) or not error.errno else os.strerror(error.errno)
        problem = f"this party cannot listen on its address {address} ({reason})"
        raise RunError(Fault.INPUT, f"{problem}; free the port or choose another.") from None


@contextmanager
def secured(
    context: ssl.SSLContext,
    connection: socket.socket,
    stranger: Callable[[ssl.SSLSocket], AbstractContextManager[object]] = nullcontext,
) -> Iterator[ssl.SSLSocket]:
    """TLS over a connection, which is closed in the end. Handshake and each message have a time limit.

    stranger: entered until the other end has shown its certificate.
    """
    server = context.protocol == ssl.PROTOCOL_TLS_SERVER
    with connection:
        connection.settimeout(PATIENCE)
        with context.wrap_socket(connection, server_side=server, do_handshake_on_connect=False) as channel:
            with stranger(channel):
                channel.do_handshake()
            yield channel


def send(channel: ssl.SSLSocket, message: bytes) -> None:
    """Send a message."""
    channel.sendall(len(message).to_bytes(4, "big") + message)


def receive(channel: ssl.SSLSocket, most: int = MOST_BYTES) -> bytes:
    """A message. Raises ValueError if it is too long, OSError if it does not come whole and in time.

    most: bytes that it may have.
    """
    deadline = time.monotonic() + PATIENCE
    length = int.from_bytes(_exactly(channel, 4, deadline), "big")
    if length > most:
        raise ValueError("too long")
    return _exactly(channel, length, deadline)


def _exactly(channel: ssl.SSLSocket, length: int, deadline: float) -> bytes:
    found = bytearray()
    while len(found) < length:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        channel.settimeout(left)
        chunk = channel.recv(length - len(found))
        if not chunk:
            raise ConnectionResetError
        found += chunk
    return bytes(found)
