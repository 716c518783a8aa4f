"""INSECURE, an example of a plug-in only: the sender shows a hash of every item, and whoever guesses items finds them.

tacit psi ... --plugin insecure_hashes:InsecureHashes
"""

import hashlib
import random
import struct


class InsecureHashes:
    """One round: the sender's hashes in random order."""

    name = "insecure_hashes"

    def declared(self, sender, receiver):
        return (0, 0, 0), (1, 16 * sender, 0)

    def party(self, role):
        return Sender() if role == "sender" else Receiver()


class Party:
    """What both roles have in common: no setup, and two calls for one message."""

    def setup_round_count(self):
        return 0

    def setup(self, id, received):
        raise AssertionError("there is no setup")

    def online_round_count(self):
        return 2

    def begin(self, items, sender, receiver):
        self.items = [items[at : at + 16] for at in range(0, len(items), 16)]


class Sender(Party):
    def round(self, id, received):
        if id == 1:
            return b""
        self.order = list(range(len(self.items)))
        random.SystemRandom().shuffle(self.order)
        return b"".join(digest(self.items[at]) for at in self.order)

    def outcome(self):
        return struct.pack(f"<{len(self.order)}I", *self.order)


class Receiver(Party):
    def round(self, id, received):
        if id == 1:
            places = {received[16 * at : 16 * at + 16]: at for at in range(len(received) // 16)}
            found = ((mine, places.get(digest(item))) for mine, item in enumerate(self.items))
            self.matches = [pair for pair in found if pair[1] is not None]
        return b""

    def outcome(self):
        return b"".join(struct.pack("<2I", *pair) for pair in self.matches)


def digest(item):
    return hashlib.sha256(item).digest()[:16]
