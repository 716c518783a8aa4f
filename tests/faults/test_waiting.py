"""Parties that wait for each other: who is missing, who cannot take part, and why."""

from __future__ import annotations

import json
import socket
import ssl
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tacit.agent.channel import MOST_BYTES
from tacit.agent.federation_members import Members
from tacit.agent.meeting import PROTOCOL, Status

from .organisations import PARTIES, QUERY, SOON, Consortium, Organisation, wait_until

GONE = 5
SCORES = Path("bureau_a/scores_a.csv")


def start(consortium: Consortium, party: str, patience: str = "60s") -> Organisation:
    """A party that waits for the others."""
    return consortium.start(party, QUERY, "--wait", patience)


def says(organisation: Organisation, text: str) -> None:
    """Wait until a party has said something."""
    wait_until(lambda: text in organisation.stderr(), [organisation])


def test_who_comes_late_is_waited_for(tmp_path: Path) -> None:
    """Here a party waits longer than one that connects would."""
    with Consortium(tmp_path, "connect_timeout = 2\nidle_timeout = 20") as consortium:
        running = {"regulator": start(consortium, "regulator")}
        says(running["regulator"], "regulator waits for bureau_a and bureau_b\n")
        running["bureau_a"] = start(consortium, "bureau_a")
        says(running["regulator"], "regulator waits for bureau_b\n")
        time.sleep(3)
        running["bureau_b"] = start(consortium, "bureau_b")
        found = {party: organisation.end() for party, organisation in running.items()}
        assert [end.status for end in found.values()] == [0, 0, 0], found
        assert found["regulator"].stdout.startswith("zip,avg_score\n")
        assert all(consortium.kinds(party) == ["approved", "completed"] for party in PARTIES)


def test_who_leaves_is_missing_again(consortium: Consortium) -> None:
    regulator, bureau = start(consortium, "regulator"), start(consortium, "bureau_a")
    says(regulator, "regulator waits for bureau_b\n")
    bureau.force()
    wait_until(lambda: regulator.stderr().count("regulator waits for bureau_a and bureau_b\n") == 2, [regulator])


def test_waiting_ends(consortium: Consortium) -> None:
    end = start(consortium, "regulator", "3s").end()
    assert end.status == GONE
    sentence = end.sentence()
    assert sentence.startswith(
        "regulator: waited in vain for bureau_a and bureau_b (bureau_a: nobody listens at 127.0."
    )
    assert consortium.ledger("regulator") == [], "it approved nothing"


@pytest.mark.parametrize(
    ("spoil", "told"),
    [(Path.unlink, "is not there"), (lambda path: path.write_text("ssn,score\n1,31337\n"), "is not as it offers")],
)
def test_who_cannot_take_part_tells_those_that_wait(spoil: object, told: str, consortium: Consortium) -> None:
    waiting = {party: start(consortium, party) for party in ("regulator", "bureau_b")}
    says(waiting["regulator"], "regulator waits for bureau_a\n")
    says(waiting["bureau_b"], "bureau_b waits for bureau_a\n")
    assert callable(spoil)
    spoil(consortium.home("bureau_a") / SCORES)
    assert start(consortium, "bureau_a").end().status == 2
    for party, organisation in waiting.items():
        end = organisation.end(SOON)
        assert end.status == GONE
        assert end.sentence() == (
            f"{party}: bureau_a cannot take part: its own input was refused, the file of its table scores_a {told}."
        )
        assert "31337" not in end.stderr and str(SCORES) not in end.stderr
        assert consortium.ledger(party) == [], "it approved nothing"


@pytest.fixture
def waiting(consortium: Consortium) -> Iterator[tuple[Consortium, Organisation]]:
    """A party that waits."""
    organisation = start(consortium, "regulator")
    says(organisation, "waits for")
    yield consortium, organisation


def caller(consortium: Consortium, party: str) -> ssl.SSLSocket:
    """A connection to the waiting regulator with a party's key."""
    members = Members.load(consortium.federation(party))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols([PROTOCOL])
    context.load_cert_chain(members.parties[party].certificate, members.private(party).private_key)
    connection = socket.create_connection(consortium.address("regulator"))
    connection.settimeout(10)
    return context.wrap_socket(connection)


def framed(message: bytes, length: int | None = None) -> bytes:
    """A message as it is sent. length: that it claims."""
    return (len(message) if length is None else length).to_bytes(4, "big") + message


def answer(channel: ssl.SSLSocket) -> bytes:
    """What comes back before the other end closes the connection."""
    found = b""
    try:
        while chunk := channel.recv(1 << 16):
            found += chunk
    except OSError:
        pass
    return found


GOOD = json.dumps({"state": "ready", "version": "0", "files": {}, "reason": "", "clock": 0}).encode()
MALFORMED = [
    framed(b"", MOST_BYTES + 1),
    framed(b"{", 2**32 - 1),
    framed(b"nonsense"),
    framed(b"[" * 60000),
    framed(b"[]"),
    framed(b"{}"),
    framed(GOOD.replace(b'"ready"', b'"computing"')),
    framed(GOOD.replace(b'"ready"', b"[]")),
    framed(GOOD.replace(b'"clock": 0', b'"clock": "x"')),
    framed(GOOD.replace(b'"clock": 0', b'"clock": NaN')),
    framed(GOOD.replace(b'"clock": 0', b'"clock": 0, "more": 0')),
    framed(GOOD.replace(b'"files": {}', b'"files": {"a": 1}')),
    framed(GOOD.replace(b'"clock": 0', b'"clock": 0, "missing": 1')),
    framed(GOOD.replace(b'"clock": 0', b'"clock": 0, "missing": [1]')),
    framed(GOOD.replace(b'"reason": ""', b'"reason": "\\u001b[2J"')),
    framed(GOOD.replace(b'"reason": ""', b'"reason": "' + b"x" * 401 + b'"')),
]


def test_malformed_messages_are_left_without_an_answer(waiting: tuple[Consortium, Organisation]) -> None:
    consortium, organisation = waiting
    for message in MALFORMED:
        with caller(consortium, "bureau_a") as channel:
            channel.sendall(message)
            assert answer(channel) == b"", message[:60]
    with caller(consortium, "bureau_a") as channel:
        channel.sendall(framed(GOOD))
        said = Status.read(answer(channel)[4:])
    assert said.state == "ready" and set(said.files) >= {"federation.toml", "offers/bureau_a.toml"}
    assert organisation.process.poll() is None
    assert organisation.stderr().count("waits for") == 1, "who only calls is not there"


def test_a_stranger_is_told_nothing(waiting: tuple[Consortium, Organisation], tmp_path: Path) -> None:
    from tacit import _native

    consortium, organisation = waiting
    key, certificate = _native.generate_keys("bureau_a")
    (consortium.private("bureau_a") / "bureau_a.key").write_bytes(key)
    (consortium.home("bureau_a") / "keys" / "bureau_a.crt").write_text(certificate)
    try:
        with caller(consortium, "bureau_a") as channel:
            channel.sendall(framed(GOOD))
            assert answer(channel) == b""
    except OSError:
        pass  # turned away within TLS
    assert organisation.process.poll() is None
