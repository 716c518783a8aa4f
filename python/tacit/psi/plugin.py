"""Protocols from elsewhere: a Python object with the rounds of a protocol, or a shared library with a C interface.

A plug-in has a ``name`` and two methods:

| method | gives |
|---|---|
| ``declared(sender, receiver)`` | upper bounds: (rounds, sender's bytes, receiver's bytes) of setup, and of two sets |
| ``party(role)`` | an object that plays "sender" or "receiver", with the methods of ``Party`` |

The interface is that of Spark-PSI (Badrinarayanan et al., section 4.3): it knows no transport. What a plug-in promises
about its security is its own; both parties name it and compare the name before anything leaves.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Protocol

from tacit.agent.faults import Fault, RunError


class Party(Protocol):
    """One party. Round ``id`` takes what the peer's round ``id - 1`` returned; the last round returns nothing.

    Setup serves any number of pairs of sets. An item has 16 bytes. ``outcome`` is packed in 32-bit little-endian
    numbers. At the sender it is a fresh random order of its items; at the receiver, for every match, its own item and
    the position in that order.
    """

    def setup_round_count(self) -> int: ...
    def setup(self, id: int, received: bytes) -> bytes: ...
    def begin(self, items: bytes, sender: int, receiver: int) -> None: ...
    def online_round_count(self) -> int: ...
    def round(self, id: int, received: bytes) -> bytes: ...
    def outcome(self) -> bytes: ...


class SharedLibrary:
    """A plug-in in a shared library that exports the functions of docs/examples/tacit_psi.h."""

    def __init__(self, path: Path | str) -> None:
        """Load it. Raises RunError if it cannot be loaded or lacks a function."""
        self.name = Path(path).stem
        try:
            self._library = ctypes.CDLL(str(Path(path).resolve()))
            _declare(self._library)
        except (OSError, AttributeError) as error:
            raise RunError(Fault.INPUT, f"{path}: is no plug-in ({error}); see docs/matching.md.") from None

    def declared(self, sender: int, receiver: int) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """Upper bounds of setup and of a pair of sets."""
        figures = (ctypes.c_uint64 * 6)()
        _succeed(self._library.tacit_psi_declared(sender, receiver, figures))
        a, b, c, d, e, f = figures
        return (a, b, c), (d, e, f)

    def party(self, role: str) -> _LibraryParty:
        """A party with the role "sender" or "receiver"."""
        return _LibraryParty(self._library, role)


class _LibraryParty:
    def __init__(self, library: ctypes.CDLL, role: str) -> None:
        self._library = library
        self._party = library.tacit_psi_new(0 if role == "sender" else 1)
        if not self._party:
            raise MemoryError("the plug-in made no party")

    def __del__(self) -> None:
        if self._party:
            self._library.tacit_psi_free(self._party)

    def setup_round_count(self) -> int:
        return int(self._library.tacit_psi_setup_round_count(self._party))

    def setup(self, id: int, received: bytes) -> bytes:
        return self._bytes("tacit_psi_setup", id, received)

    def begin(self, items: bytes, sender: int, receiver: int) -> None:
        _succeed(self._library.tacit_psi_begin(self._party, items, sender, receiver))

    def online_round_count(self) -> int:
        return int(self._library.tacit_psi_online_round_count(self._party))

    def round(self, id: int, received: bytes) -> bytes:
        return self._bytes("tacit_psi_round", id, received)

    def outcome(self) -> bytes:
        out, length = ctypes.POINTER(ctypes.c_uint8)(), ctypes.c_size_t()
        _succeed(self._library.tacit_psi_outcome(self._party, ctypes.byref(out), ctypes.byref(length)))
        return ctypes.string_at(out, length.value)

    def _bytes(self, function: str, id: int, received: bytes) -> bytes:
        out, length = ctypes.POINTER(ctypes.c_uint8)(), ctypes.c_size_t()
        call = getattr(self._library, function)
        _succeed(call(self._party, id, received, len(received), ctypes.byref(out), ctypes.byref(length)))
        return ctypes.string_at(out, length.value)


def _succeed(status: int) -> None:
    if status != 0:
        raise RuntimeError(f"status {status}")


def _declare(library: ctypes.CDLL) -> None:
    party, out, length = (
        ctypes.c_void_p,
        ctypes.POINTER(ctypes.POINTER(ctypes.c_uint8)),
        ctypes.POINTER(ctypes.c_size_t),
    )
    moves = [party, ctypes.c_uint32, ctypes.c_char_p, ctypes.c_size_t, out, length]
    declarations = {
        "tacit_psi_declared": ([ctypes.c_uint64, ctypes.c_uint64, ctypes.POINTER(ctypes.c_uint64)], ctypes.c_int),
        "tacit_psi_new": ([ctypes.c_int], party),
        "tacit_psi_free": ([party], None),
        "tacit_psi_setup_round_count": ([party], ctypes.c_uint32),
        "tacit_psi_setup": (moves, ctypes.c_int),
        "tacit_psi_begin": ([party, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64], ctypes.c_int),
        "tacit_psi_online_round_count": ([party], ctypes.c_uint32),
        "tacit_psi_round": (moves, ctypes.c_int),
        "tacit_psi_outcome": ([party, out, length], ctypes.c_int),
    }
    for name, (arguments, result) in declarations.items():
        function = getattr(library, name)
        function.argtypes, function.restype = arguments, result


def plugin_named(reference: str) -> object:
    """A plug-in by a path to a shared library, or by ``module:attribute``. Raises RunError."""
    if ":" not in reference:
        return SharedLibrary(reference)
    module, _, attribute = reference.partition(":")
    from importlib import import_module

    try:
        return getattr(import_module(module), attribute)()
    except Exception as error:  # whatever the plug-in's own code raises when it is loaded
        reason = str(error) or type(error).__name__
        raise RunError(Fault.INPUT, f"--plugin {reference}: {reason}; name a library, or MODULE:CLASS.") from None
