# SPDX-License-Identifier: BSD-3-Clause
"""Messages to ranks that do not expect them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from tutti import _core
from tutti.arguments import whole
from tutti.errors import Error
from tutti.requests import Request


class Exchange(Request):
    """A started `Group.sparse_exchange`; its result is what came. Not for `wait_any`."""

    __slots__ = ("_came", "_dtype")

    def __init__(self, handle: _core.Exchange, dtype: np.dtype):
        """Used by `Group.isparse_exchange`."""
        super().__init__(handle)
        self._dtype = dtype
        self._came: list | None = None

    def wait(self, timeout: float | None = None) -> list[tuple[int, np.ndarray]]:
        """Waits for the end and returns what came: (rank, array), in the order of the ranks.

        timeout: seconds; None: no limit. Raises `Timeout` when it runs out, and what the operation failed with.
        """
        if self._came is None:
            self._came = _arrays(super().wait(timeout), self._dtype)
        return self._came


def _arrays(came: list[tuple[int, bytearray]], dtype: np.dtype) -> list[tuple[int, np.ndarray]]:
    return [(source, np.frombuffer(data, dtype) if data else np.empty(0, dtype)) for source, data in came]


def _elements(data, dtype) -> np.ndarray:
    """An array of this dtype. Numbers do not become others of a lower kind: 1.7 is no int."""
    array = np.asarray(data) if dtype is None or np.dtype(dtype).names is None else np.asarray(data, dtype)
    if dtype is None or array.dtype == dtype:
        return array
    if array.size > 0 and not np.can_cast(array.dtype, dtype, "same_kind"):
        raise Error(f"sparse_exchange: {array.dtype} cannot be sent as {np.dtype(dtype)}; convert the array first")
    return array.astype(dtype)


def _parcels(parcels: Mapping[int, object] | Iterable[tuple[int, object]], dtype):
    """What is sent, and an array of the elements."""
    pairs = parcels.items() if isinstance(parcels, Mapping) else parcels
    given = [(whole("a parcel's rank", rank), _elements(data, dtype)) for rank, data in pairs]
    if dtype is None and not given:
        raise Error("sparse_exchange: a rank that sends nothing must pass dtype, which is the same on all ranks")
    return given, np.empty(0, given[0][1].dtype if dtype is None else dtype)


class Exchanges:
    """The part of `Group` for messages to ranks that do not expect them."""

    __slots__ = ()

    def sparse_exchange(self, parcels: Mapping[int, object] | Iterable[tuple[int, object]], dtype=None):
        """Hands each parcel to its rank and returns those that came for this one: a list of (rank, array).

        parcels: arrays by rank, or pairs (rank, array), which may name a rank several times. dtype: of all elements;
        None: that of the parcels, so that a rank without any must say it. Arrays come flat, in the order of the ranks;
        several of one rank in the order in which it gave them. Collective. Agreed: dtype.
        """
        given, like = _parcels(parcels, dtype)
        return _arrays(_core.sparse_exchange(self._handle, given, like), like.dtype)

    def isparse_exchange(self, parcels: Mapping[int, object] | Iterable[tuple[int, object]], dtype=None) -> Exchange:
        """Starts a `sparse_exchange`."""
        given, like = _parcels(parcels, dtype)
        return Exchange(_core.Exchange(self._handle, given, like), like.dtype)
