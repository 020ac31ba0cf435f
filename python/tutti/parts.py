# SPDX-License-Identifier: BSD-3-Clause
"""Collectives in which every pair of ranks has an array of its own."""

from __future__ import annotations

import operator

from tutti import _core
from tutti.collectives import _sendable
from tutti.requests import Persistent, Request

_ALLTOALLW = _core.kinds["alltoallw"]


def _parts(kind, send, recv, algorithm):
    """What a collective with a list of arrays on each side is called with."""
    filled = recv if isinstance(recv, list) else list(recv)
    if recv is send:
        return kind, filled, filled, None, 0, algorithm
    sent = [None if one is None else _sendable(one) for one in send]
    if len(sent) == len(filled) and any(one is not None for one in sent) and all(map(operator.is_, sent, filled)):
        sent = filled  # the same arrays in another list
    return kind, sent, filled, None, 0, algorithm


class Parts:
    """The part of `Group` that takes a list of arrays, one per rank."""

    __slots__ = ()

    def alltoallw(self, send, recv, *, algorithm: str = ""):
        """Sends array send[j] to rank j, fills array recv[i] with what comes from rank i, and returns recv.

        send, recv: one array per rank, of any type and shape, or None for nothing; both ends have the same number of
        bytes. recv is send, or has the same arrays: in place, they are both sent and filled (then on all ranks). Nobody
        looks whether others of them share memory: they must not.
        """
        return self._run(*_parts(_ALLTOALLW, send, recv, algorithm))

    def ialltoallw(self, send, recv, *, algorithm: str = "") -> Request:
        """Starts an `alltoallw`."""
        return self._start(*_parts(_ALLTOALLW, send, recv, algorithm))

    def alltoallw_init(self, send, recv, *, algorithm: str = "") -> Persistent:
        """Makes an `alltoallw` of these arrays ready for many calls."""
        return self._init(*_parts(_ALLTOALLW, send, recv, algorithm))
