# SPDX-License-Identifier: BSD-3-Clause
"""The collectives on Python objects, which travel pickled: any picklable object, slower than arrays.

Only receive objects from processes of one's own job: unpickling runs what it is told to. All raise what the collectives
on arrays raise.
"""

from __future__ import annotations

import functools
import operator
import pickle
from collections.abc import Callable, Sequence
from itertools import accumulate

import numpy as np

from tutti.errors import Error

_PROTOCOL = 5


def _pickled(thing) -> np.ndarray:
    return np.frombuffer(pickle.dumps(thing, _PROTOCOL), np.uint8)


def _joined(pieces: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate(pieces) if pieces else np.empty(0, np.uint8)


def _lengths(pieces: Sequence[np.ndarray]) -> np.ndarray:
    return np.array([piece.size for piece in pieces], np.int64)


def _unpickled(data: np.ndarray, counts: np.ndarray) -> list:
    ends = accumulate(int(count) for count in counts)
    return [pickle.loads(data[end - count : end]) for count, end in zip(counts, ends)]


class Objects:
    """The part of `Group` that works on Python objects."""

    __slots__ = ()

    def _expect_one_each(self, things: Sequence, name: str) -> None:
        if things is None or len(things) != self.size:
            raise Error(f"{name} needs a sequence with one object per rank, {self.size}")

    def bcast_object(self, thing=None, root: int = 0):
        """Returns the root's object on all ranks. Agreed: root."""
        mine = _pickled(thing) if self.rank == root else None
        length = np.array([0 if mine is None else mine.size], np.int64)
        self.bcast(length, root)
        data = self.bcast(np.empty(int(length[0]), np.uint8) if mine is None else mine, root)
        return thing if self.rank == root else pickle.loads(data)

    def gather_object(self, thing, root: int = 0) -> list | None:
        """Returns everybody's objects by rank at the root, None elsewhere. Agreed: root."""
        mine = _pickled(thing)
        counts = self.gather(np.array([mine.size], np.int64), root=root)
        if self.rank != root:
            self.gatherv(mine, root=root)
            return None
        counts = counts.ravel()
        return _unpickled(self.gatherv(mine, counts=counts, root=root), counts)

    def allgather_object(self, thing) -> list:
        """Returns everybody's objects by rank, on all ranks."""
        mine = _pickled(thing)
        counts = self.allgather(np.array([mine.size], np.int64)).ravel()
        return _unpickled(self.allgatherv(mine, counts=counts), counts)

    def scatter_object(self, things: Sequence | None = None, root: int = 0):
        """Returns this rank's object of the root's sequence, which has one per rank. Agreed: root."""
        length = np.empty(1, np.int64)
        if self.rank != root:
            self.scatter(None, length, root)
            return pickle.loads(self.scatterv(recv=np.empty(int(length[0]), np.uint8), root=root))
        self._expect_one_each(things, "scatter_object")
        pieces = [_pickled(thing) for thing in things]
        counts = _lengths(pieces)
        self.scatter(counts, length, root)
        return pickle.loads(self.scatterv(_joined(pieces), counts=counts, root=root))

    def alltoall_object(self, things: Sequence) -> list:
        """Sends things[j] to rank j and returns what came, by rank. things has one object per rank."""
        self._expect_one_each(things, "alltoall_object")
        pieces = [_pickled(thing) for thing in things]
        send_counts = _lengths(pieces)
        recv_counts = self.alltoall(send_counts)
        return _unpickled(self.alltoallv(_joined(pieces), send_counts, recv_counts=recv_counts), recv_counts)

    def reduce_object(self, thing, op: Callable = operator.add, root: int = 0):
        """Combines everybody's objects by op(lower, higher), in the order of the ranks; None but at the root.

        Agreed: root. op runs at the root alone.
        """
        things = self.gather_object(thing, root)
        return None if things is None else functools.reduce(op, things)

    def allreduce_object(self, thing, op: Callable = operator.add):
        """Combines everybody's objects by op(lower, higher), in the order of the ranks, on all ranks.

        op runs on every rank and must give the same everywhere.
        """
        return functools.reduce(op, self.allgather_object(thing))

    def send_object(self, thing, to: int, tag: int = 0) -> None:
        """Sends an object to another rank's `recv_object` with the same tag."""
        data = _pickled(thing)
        self.send(np.array([data.size], np.int64), to, tag)
        self.send(data, to, tag)

    def recv_object(self, source: int, tag: int = 0):
        """Returns an object that another rank sends by `send_object` with the same tag."""
        length = self.recv(np.empty(1, np.int64), source, tag)
        return pickle.loads(self.recv(np.empty(int(length[0]), np.uint8), source, tag))
