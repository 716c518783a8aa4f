"""Key pairs: private ones are private, and none is replaced by accident."""

from __future__ import annotations

import io
import stat
from pathlib import Path

import pytest

from tacit.agent.audit import audited
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members
from tacit.agent.key_change import check_replaceable
from tacit.agent.keys import make_keys
from tacit.agent.ledger import Ledger, LedgerError
from tacit.agent.signer import Signer
from tacit.cli import consent
from tacit.cli.main import main

FILE = """
[parties.a]
address = "127.0.0.1:7101"
[parties.b]
address = "127.0.0.1:7102"
[parties.c]
address = "127.0.0.1:7103"
"""


@pytest.fixture
def members(tmp_path: Path) -> Members:
    (tmp_path / "federation.toml").write_text(FILE)
    return Members.load(tmp_path / "federation.toml")


def test_every_party_gets_a_pair_of_its_own(members: Members, tmp_path: Path) -> None:
    made = make_keys(members, ["a", "b", "c"], replace=False)
    assert len({pair.fingerprint for pair in made.values()}) == 3
    assert {path.name for path in (tmp_path / "keys").iterdir()} == {"a.crt", "b.crt", "c.crt"}
    assert {path.name for path in (tmp_path / "private").iterdir()} == {"a.key", "b.key", "c.key"}
    assert members.fingerprint("b") == made["b"].fingerprint


def test_only_the_owner_may_read_a_private_key(members: Members) -> None:
    made = make_keys(members, ["a"], replace=False)["a"]
    assert stat.S_IMODE(made.private_key.stat().st_mode) == 0o600
    assert stat.S_IMODE(made.private_key.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(made.certificate.parent.stat().st_mode) == 0o755
    assert "PRIVATE KEY" in made.private_key.read_text()
    assert "PRIVATE" not in made.certificate.read_text()


def test_a_private_key_that_others_may_read_is_refused(members: Members) -> None:
    key = make_keys(members, ["a"], replace=False)["a"].private_key
    for mode in (0o644, 0o640, 0o604, 0o660):
        key.chmod(mode)
        with pytest.raises(RunError) as caught:
            members.private("a").read_key()
        assert str(caught.value) == (
            f"{key}: the private key is open to others of this machine (mode {mode:o}); `chmod 600 {key}` closes it."
        )
    key.chmod(0o400)
    assert members.private("a").read_key()


def test_a_ledger_that_others_may_read_is_refused(members: Members) -> None:
    make_keys(members, ["a"], replace=False)
    private = members.private("a")
    private.ledger.parent.mkdir()
    private.ledger.write_text("")
    private.ledger.chmod(0o644)
    private.check_closed()  # the folder is closed
    private.path.parent.chmod(0o711)
    with pytest.raises(RunError, match=r"a\.jsonl: the ledger is open to others .* \(mode 644\); `chmod 600 .* closes"):
        private.read_key()
    private.ledger.chmod(0o600)
    assert private.read_key()


def test_a_private_key_is_erased_when_nobody_holds_it(members: Members) -> None:
    make_keys(members, ["a"], replace=False)
    key = members.private("a").read_key()
    assert bytes(key) == members.private("a").private_key.read_bytes()
    assert f"{key} {key!r}" == "PrivateKey(secret) PrivateKey(secret)"
    key.__del__()
    assert bytes(key) == bytes(len(key))


def test_existing_keys_stay(members: Members) -> None:
    before = make_keys(members, ["b"], replace=False)["b"]
    with pytest.raises(RunError, match=r"b\.key exists already; --force replaces it") as caught:
        make_keys(members, ["a", "b"], replace=False)
    assert caught.value.fault is Fault.INPUT
    assert members.fingerprint("b") == before.fingerprint
    assert not members.private("a").private_key.exists(), "nothing is written if anything is refused"


def test_force_replaces(members: Members) -> None:
    before = make_keys(members, ["a"], replace=False)["a"]
    after = make_keys(members, ["a"], replace=True)["a"]
    assert after.fingerprint != before.fingerprint
    assert stat.S_IMODE(after.private_key.stat().st_mode) == 0o600


def test_an_unwritable_place_is_told(members: Members, tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("")
    with pytest.raises(RunError, match="cannot be written"):
        make_keys(members, ["a"], replace=False)


def test_a_new_key_goes_on_with_the_ledger(members: Members) -> None:
    make_keys(members, ["a"], replace=False)
    Ledger(members.private("a").ledger, Signer.of(members, "a")).append("approved", {"query": "SELECT 1"})
    old = members.certificate("a")
    make_keys(members, ["a"], replace=True)
    ledger = Ledger(members.private("a").ledger, Signer.of(members, "a"))
    ledger.append("approved", {"query": "SELECT 2"})
    assert [entry["kind"] for entry in ledger.entries()] == ["approved", "key", "approved"]
    assert ledger.entries()[1]["replaces"] == old
    assert audited(ledger.entries(), "a", members.certificate("a"), "it").problems == []


def test_a_key_of_a_ledger_that_was_changed_is_not_replaced(members: Members) -> None:
    """The new key would vouch for what somebody has changed."""
    made = make_keys(members, ["a"], replace=False)["a"]
    ledger = Ledger(members.private("a").ledger, Signer.of(members, "a"))
    ledger.append("approved", {"query": "SELECT 1"})
    ledger.path.write_bytes(ledger.path.read_bytes().replace(b"SELECT 1", b"SELECT 9"))
    with pytest.raises(LedgerError, match="changed after it was written"):
        make_keys(members, ["a"], replace=True)
    assert members.fingerprint("a") == made.fingerprint


def test_what_a_new_key_does_not_open_is_said_before_and_nothing_is_replaced_without_yes(
    members: Members, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = make_keys(members, ["a"], replace=False)["a"].fingerprint
    monkeypatch.setattr(consent, "_can_be_asked", lambda: True)
    command = ["keys", "--force", "--name", "a", "--federation", str(members.path)]
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    assert main(command) != 0
    told = capsys.readouterr().err
    assert "a: under a new key, matches that were interrupted" in told and "Replace the keys? [y/N]" in told
    assert members.fingerprint("a") == before
    assert main([*command, "--yes"]) == 0
    assert "prepared tables" in capsys.readouterr().err
    assert members.fingerprint("a") != before


def test_a_first_key_makes_nothing_unreadable(members: Members, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["keys", "--force", "--name", "a", "--federation", str(members.path)]) == 0
    assert capsys.readouterr().err == ""


def test_a_key_whose_certificate_is_lost_is_not_replaced_while_there_is_a_ledger(members: Members) -> None:
    """Under a new key nothing could be added to it any more."""
    make_keys(members, ["a"], replace=False)
    Ledger(members.private("a").ledger, Signer.of(members, "a")).append("approved", {"query": "SELECT 1"})
    key = members.private("a").private_key.read_bytes()
    members.parties["a"].certificate.unlink()
    with pytest.raises(RunError, match=r"a\.crt is not there, .* goes on from it alone; ask another party for a copy"):
        check_replaceable(members, "a")
    assert main(["keys", "--force", "--name", "a", "--federation", str(members.path)]) == 2
    assert members.private("a").private_key.read_bytes() == key
