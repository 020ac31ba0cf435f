# SPDX-License-Identifier: BSD-3-Clause
"""What Tutti raises. Every text says what failed, where, why, and what to do."""

from __future__ import annotations


class Error(Exception):
    """The base of everything Tutti raises.

    ``cause`` is one of "usage", "mismatch", "peer_lost", "timeout", "broken", "system" and "interrupted": after "usage"
    nothing was sent and the group is intact. ``peer`` is the rank that is lost or disagrees, or None.
    """

    def __init__(self, text: str, cause: str = "usage", peer: int | None = None):
        """Makes an error with its text, cause and peer."""
        super().__init__(text)
        self.cause = cause
        self.peer = peer

    def __reduce__(self):
        """Errors can be pickled, so that they cross process pools."""
        return type(self), (str(self), self.cause, self.peer)


class PeerLost(Error):
    """A process of the group is gone; the group is broken."""


class Mismatch(Error):
    """Ranks called operations that do not belong together; the group is broken."""


class Timeout(Error):
    """The time ran out. A request is still pending; a blocking call (TUTTI_TIMEOUT) was given up: broken group."""


_classes = {"peer_lost": PeerLost, "mismatch": Mismatch, "timeout": Timeout}


def make(text: str, cause: str, peer: int) -> Error:
    """Makes the error that belongs to a cause of the engine; a negative peer is none."""
    return _classes.get(cause, Error)(text, cause, None if peer < 0 else peer)
