"""Parties that hold different keys, questions or federation files find out before any share leaves."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from tacit import _native

from .organisations import PARTIES, QUERY, Consortium, End, Organisation, only_told_that_it_stops

PEER, GONE = 4, 5


def ends(running: dict[str, Organisation]) -> dict[str, End]:
    """How all parties ended; each within seconds of the last start."""
    return {party: organisation.end(30) for party, organisation in running.items()}


def assert_nothing_left(consortium: Consortium) -> None:
    """No party sent a byte of any step. A ledger has nothing, or says that the run failed without a disclosure."""
    for party in consortium.parties:
        if not consortium.ledger(party):
            continue
        approved, failed = consortium.ledger(party)
        assert (approved["kind"], failed["kind"]) == ("approved", "failed")
        assert failed["disclosures"] == []
        assert failed["cost"]["bytes_sent"] == 0


def assert_disagreement(consortium: Consortium, found: dict[str, End], *words: str) -> None:
    """All ended for a peer's sake; at least one party says what differs."""
    sentences = {party: end.sentence() for party, end in found.items()}
    assert {end.status for end in found.values()} <= {PEER, GONE}
    told = [party for party, end in found.items() if end.status == PEER]
    assert told
    for party in told:
        assert all(word in sentences[party] for word in words), sentences[party]
    assert_nothing_left(consortium)


def test_another_query_at_one_party(consortium: Consortium) -> None:
    other = QUERY.replace("AVG(s.score)", "MAX(s.score)")
    running = {party: consortium.start(party, other if party == "bureau_b" else QUERY) for party in PARTIES}
    assert_disagreement(consortium, ends(running), "has started something else: the query is #", "; agree, and start")


def test_other_recipients_at_one_party(consortium: Consortium) -> None:
    running = {party: consortium.start(party) for party in PARTIES[:2]}
    running["bureau_b"] = consortium.start("bureau_b", QUERY, "--to", "bureau_b")
    found = ends(running)
    assert_disagreement(consortium, found, "who gets the answer is ", "bureau_b", "regulator")
    assert "the query is" not in found["regulator"].sentence() + found["bureau_a"].sentence()


def test_other_bounds_at_one_party(consortium: Consortium) -> None:
    consortium.edit("bureau_a", "max = 850", "max = 900")
    assert_disagreement(consortium, ends(consortium.start_all()), "the offer of table scores_a is #")


def test_other_terms_at_one_party(consortium: Consortium) -> None:
    """One party's copy of an offer restricts what the others' copies leave open."""
    offer = consortium.home("regulator") / "offers" / "bureau_b.toml"
    everybody = ", ".join(f'"{party}"' for party in PARTIES)
    terms = f"recipients = [{everybody}]\nquestions = 7"
    offer.write_text(offer.read_text().replace("open = true", terms).replace(" }", ', use = ["select"] }'))
    found = ends(consortium.start_all())
    assert_disagreement(consortium, found, "the offer of table scores_b is #", "questions of table scores_b is ")
    assert any("is 7 here and not given at" in end.sentence() for end in found.values()) or any(
        "is not given here and 7 at regulator" in end.sentence() for end in found.values()
    )


def test_another_key_at_one_party(consortium: Consortium) -> None:
    """The party made a new pair and told nobody."""
    key, certificate = _native.generate_keys("bureau_a")
    (consortium.private("bureau_a") / "bureau_a.key").write_bytes(key)
    (consortium.home("bureau_a") / "keys" / "bureau_a.crt").write_text(certificate)
    found = ends(consortium.start_all())
    assert_disagreement(consortium, found, "wrong key")
    assert '"bureau_a"' in found["regulator"].sentence()


def test_certificates_swapped_at_one_party(consortium: Consortium) -> None:
    keys = consortium.home("regulator") / "keys"
    one, other = (keys / f"{name}.crt" for name in ("bureau_a", "bureau_b"))
    both = one.read_text(), other.read_text()
    one.write_text(both[1])
    other.write_text(both[0])
    assert_disagreement(consortium, ends(consortium.start_all()), "wrong key")


def _other_key(home: Path) -> None:
    (home / "keys" / "bureau_a.crt").write_text(_native.generate_keys("bureau_a")[1])


def _same_certificate(home: Path) -> None:
    shutil.copy(home / "keys" / "regulator.crt", home / "keys" / "bureau_b.crt")


def _no_key(home: Path) -> None:
    (home / "private" / "bureau_a.key").unlink()


def _garbled_key(home: Path) -> None:
    (home / "private" / "bureau_a.key").write_text("-----BEGIN PRIVATE KEY-----\nnonsense\n-----END PRIVATE KEY-----\n")


def _no_certificate(home: Path) -> None:
    (home / "keys" / "regulator.crt").unlink()


def _garbled_certificate(home: Path) -> None:
    (home / "keys" / "regulator.crt").write_text("nonsense")


KeyMistake = Callable[[Path], None]


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (_other_key, "is not that of its certificate"),
        (_same_certificate, "the same certificate"),
        (_no_key, "private key"),
        (_garbled_key, "private key"),
        (_no_certificate, "certificate"),
        (_garbled_certificate, "no certificate"),
    ],
)
def test_ones_own_unusable_keys_are_an_input_error_before_anybody_is_dialled(
    spoil: KeyMistake, words: str, consortium: Consortium
) -> None:
    spoil(consortium.home("bureau_a"))
    with only_told_that_it_stops(consortium, "bureau_a"):
        end = consortium.start("bureau_a").end()
    assert end.status == 2
    assert words in end.sentence()
    assert "nonsense" not in end.stderr


def test_an_address_in_use_is_named(consortium: Consortium) -> None:
    host, port = consortium.address("bureau_a")
    with socket.create_server((host, port)):
        end = consortium.start("bureau_a").end()
    assert end.status == 2
    assert f"{host}:{port}" in end.sentence()
    assert "in use" in end.sentence()
