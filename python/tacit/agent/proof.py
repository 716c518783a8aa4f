"""The certificate of an answer's file: what the file holds, by the recipient's signature, and which run gave it, by the
signatures of all parties.

It lies beside the file, as `answer.csv.tacit.json`, whatever the format. Only the recipient can say what was in the
answer, and signs the file's SHA-256. The others sign the run: the plan, what was disclosed, and that it was completed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tacit.agent.audit import printable
from tacit.agent.durable import whole_file
from tacit.agent.entry import JSON, canonical
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members
from tacit.agent.record import COMPLETED, RunRecord
from tacit.agent.signer import Signer, signed_by

FORM = 1
"""The version of the form."""
SUFFIX = ".tacit.json"
SAID = ("sha256", "plan_hash", "run", "recipient", "parties")
"""What the recipient signs. run: the hash of its entry that approved the run."""
MEMBERS = {"tacit_answer", *SAID, "attendance", "record", "certificate", "signature"}
"""What a certificate says, and nothing beside: the rest would be signed by nobody."""


@dataclass(frozen=True)
class Proof:
    """What a recipient can prove of its answers. entry: its ledger's entry that ends the run."""

    entry: Mapping[str, object]
    signer: Signer

    def certify(self, file: Path) -> None:
        """Write the certificate of a file beside it. Raises OSError."""
        signed: JSON = {name: self.entry[name] for name in ("attendance", "record") if name in self.entry}
        said = {
            "sha256": _sha256(file), "plan_hash": self.entry["plan_hash"], "run": self.entry["run"],
            "recipient": self.signer.party,
            "parties": sorted(signed["attendance"]["parties"]) if signed else [self.signer.party],
        }  # fmt: skip
        content = {
            "tacit_answer": FORM, **said, **signed, "certificate": self.signer.certificate,
            "signature": self.signer.sign("answer", canonical(said)),
        }  # fmt: skip
        with whole_file(beside(file)) as whole:
            whole.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")


@dataclass(frozen=True)
class Checked:
    """A file that is what its certificate says. signers: who has signed the run. run: its name, or its entry's hash."""

    recipient: str
    run: str
    plan_hash: str
    signers: tuple[str, ...]


def beside(file: Path) -> Path:
    """Where the certificate of a file is."""
    return file.with_name(file.name + SUFFIX)


def check(file: Path, members: Members) -> Checked:
    """Check a file and its certificate by the parties' certificates that are here, without asking anybody.

    Raises RunError with what is wrong.
    """
    content = _read(beside(file))
    said = {name: content.get(name) for name in SAID}
    recipient = said["recipient"]
    if not isinstance(recipient, str) or recipient not in members.parties:
        raise _wrong(file, "its certificate is of no party of this federation", "name its federation file")
    if said["sha256"] != _sha256(file):
        raise _wrong(file, f"is not the file that {recipient} has signed: it was changed or replaced", "get it anew")
    if not signed_by(members.certificate(recipient), "answer", canonical(said), content.get("signature")):
        problem = f"{recipient} has not signed its certificate, or had another key then"
        raise _wrong(file, problem, f"compare the fingerprint of {recipient}")
    if str(content.get("certificate")).strip() != members.certificate(recipient).strip():
        raise _wrong(file, f"it has another certificate of {recipient} than the one here", "get it anew")
    plan_hash = str(said["plan_hash"])
    if said["parties"] == [recipient]:
        return Checked(recipient, str(said["run"]), plan_hash, (recipient,))
    return Checked(recipient, *_run(file, content, members, recipient))


def _run(file: Path, content: JSON, members: Members, recipient: str) -> tuple[str, str, tuple[str, ...]]:
    """The name of the run, its plan's hash, and who has signed it: all parties, as completed."""
    try:
        record = RunRecord.read(content)
    except ValueError:
        raise _wrong(file, "its certificate has no proper record of a run", "get it anew") from None
    if sorted(record.certificates) != content["parties"]:
        raise _wrong(file, "its certificate is of other parties than the run", "get it anew")
    for name, certificate in record.certificates.items():
        if name not in members.parties or members.certificate(name).strip() != certificate.strip():
            raise _wrong(file, f"the run was signed under another certificate of {name} than the one here",
                f"compare the fingerprint of {name}")  # fmt: skip
    for name, ended in record.said.items():
        for other in sorted(ended.previous.keys() - record.certificates.keys()):
            problem = f"{name} took part with {printable(other)}, which it leaves out"
            raise _wrong(file, f"in its certificate {problem}", "get it anew")
    for problem in record.problems():
        raise _wrong(file, f"in its certificate {problem}", "get it anew")
    if record.previous.get(recipient) != content.get("run"):
        raise _wrong(file, f"its certificate is of another run of {recipient}", "get it anew")
    unsigned = [name for name in record.certificates if name not in record.said]
    if unsigned:
        raise _wrong(file, f"{' and '.join(unsigned)} did not sign the end of the run", "ask the question again")
    failed = [name for name, said in record.said.items() if said.outcome != COMPLETED]
    if failed:
        raise _wrong(file, f"{' and '.join(failed)} signed that the run failed", "ask the question again")
    return record.run, record.plan_hash, tuple(record.said)


def _read(path: Path) -> JSON:
    try:
        content = json.loads(path.read_bytes(), object_pairs_hook=_once)
        canonical(content)  # no text and no number that has none
    except FileNotFoundError:
        raise RunError(Fault.INPUT, f"{path}: is not there; answers are written with it (--output-file).") from None
    except OSError as error:
        raise RunError(Fault.INPUT, f"{path}: cannot be read ({error.strerror}).") from error
    except (RecursionError, ValueError):
        content = None
    if not isinstance(content, dict) or content.get("tacit_answer") != FORM or not content.keys() <= MEMBERS:
        raise RunError(Fault.INPUT, f"{path}: is no certificate of an answer; get it anew.")
    return content


def _once(members: list[tuple[str, object]]) -> JSON:
    """An object that has no member twice, of which readers would read one or the other. Raises ValueError."""
    found = dict(members)
    if len(found) != len(members):
        raise ValueError("a member twice")
    return found


def _sha256(file: Path) -> str:
    try:
        with file.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as error:
        raise RunError(Fault.INPUT, f"{file}: cannot be read ({error.strerror}).") from error


def _wrong(file: Path, problem: str, advice: str) -> RunError:
    return RunError(Fault.INPUT, f"{file}: {problem}; {advice}.")
