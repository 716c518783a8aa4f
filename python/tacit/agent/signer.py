"""What a party signs with: the key of its certificate, which all others have pinned already."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tacit import _native
from tacit.agent.federation_members import Members
from tacit.agent.private_key import PrivateKey

Context = Literal["entry", "approval", "attendance", "record", "answer"]
"""The kind of a signature. One of one kind is none of another."""


@dataclass(frozen=True)
class Signer:
    """A party that signs. key: reads its private key, each time anew. certificate: PEM."""

    party: str
    certificate: str
    key: Callable[[], PrivateKey]

    @classmethod
    def of(cls, members: Members, party: str) -> Signer:
        """A party of this machine."""
        return cls(party, members.certificate(party), members.private(party).read_key)

    def sign(self, context: Context, content: bytes) -> str:
        """The signature, in hexadecimal."""
        return _native.sign(self.key(), context, content).hex()

    def signed(self, context: Context, content: bytes, signature: object) -> bool:
        """Whether this party has signed it."""
        return signed_by(self.certificate, context, content, signature)


def signed_by(certificate: str, context: Context, content: bytes, signature: object) -> bool:
    """Whether the key of a certificate has signed it. signature: what stands in its place, whatever that is."""
    found = unhex(signature)
    return found is not None and _native.signed_by(certificate, context, content, found)


def unhex(text: object, length: int | None = None) -> bytes | None:
    """Bytes from hexadecimal in small letters; None for anything else, or another length."""
    if not isinstance(text, str):
        return None
    try:
        found = bytes.fromhex(text)
    except ValueError:
        return None
    return found if found.hex() == text and length in (None, len(found)) else None
