# SPDX-License-Identifier: BSD-3-Clause
"""The collectives on Python objects, which travel pickled: any picklable object, slower than arrays.

Only receive objects from processes of one's own job: unpickling runs what it is told to. All raise what the collectives
on arrays raise, and `Error` (cause "usage") for what cannot be pickled or unpickled.
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


class _Parcel:
    """A pickled object, or several one behind the other; or why there is none, which travels in their place.

    The sign of `length` tells which: receivers learn it before the bytes, and nobody waits for what never comes.
    """

    __slots__ = ("data", "length", "problem")

    def __init__(self, name: str, things: Sequence, expected: int):
        """Pickles each of `expected` things."""
        self.problem = None
        try:
            if things is None or len(things) != expected:
                raise Error(f"{name} needs a sequence with one object per rank, {expected}")
            pieces = [np.frombuffer(pickle.dumps(thing, _PROTOCOL), np.uint8) for thing in things]
            self.data = pieces[0] if expected == 1 else np.concatenate(pieces)
            self.length = np.array([piece.size for piece in pieces], np.int64)
        except Exception as problem:  # whatever a class of the user's raises
            self.problem = problem
            text = str(problem) if isinstance(problem, Error) else f"cannot pickle: {_described(problem)}"
            self.data = np.frombuffer(text.encode(errors="replace"), np.uint8)
            self.length = np.full(expected, -self.data.size, np.int64)


def _described(problem: BaseException) -> str:
    try:
        return f"{type(problem).__name__}: {problem}"
    except Exception:  # of the user's class again
        return type(problem).__name__


def _raise(name: str, rank: int, text: np.ndarray, problem: Exception | None = None):
    reason = text.tobytes().decode(errors="replace")
    raise Error(f"{name}: rank {rank}: {reason} (all ranks raise this; the group is as before)") from problem


def _unpickled(data: np.ndarray, name: str, source: int):
    try:
        return pickle.loads(data)
    except Exception as problem:
        raise Error(f"{name}: cannot unpickle what rank {source} sent: {_described(problem)}") from problem


def _all_unpickled(data: np.ndarray, counts: np.ndarray, name: str) -> list:
    ends = accumulate(int(count) for count in counts)
    return [_unpickled(data[end - count : end], name, rank) for rank, (count, end) in enumerate(zip(counts, ends))]


class Objects:
    """The part of `Group` that works on Python objects.

    When an object cannot be pickled on one rank, all ranks that take part raise an `Error` that names it.
    """

    __slots__ = ()

    def _check(self, lengths: np.ndarray, parcel: _Parcel, name: str) -> None:
        """Raises on all ranks alike when a length, which all know, stands for a problem."""
        failed = np.flatnonzero(lengths < 0)
        if failed.size == 0:
            return
        counts = np.where(lengths < 0, -lengths, 0)
        nothing = np.empty(0, np.uint8)
        texts = self.allgatherv(nothing if parcel.problem is None else parcel.data, counts=counts)
        _raise(name, int(failed[0]), texts[: counts[failed[0]]], parcel.problem)

    def bcast_object(self, thing=None, root: int = 0):
        """Returns the root's object on all ranks. Agreed: root."""
        parcel = _Parcel("bcast_object", [thing], 1) if self.rank == root else None
        length = np.empty(1, np.int64) if parcel is None else parcel.length
        self.bcast(length, root)
        data = self.bcast(np.empty(abs(int(length[0])), np.uint8) if parcel is None else parcel.data, root)
        if length[0] < 0:
            _raise("bcast_object", root, data, None if parcel is None else parcel.problem)
        return thing if self.rank == root else _unpickled(data, "bcast_object", root)

    def gather_object(self, thing, root: int = 0) -> list | None:
        """Returns everybody's objects by rank at the root, None elsewhere. Agreed: root."""
        parcel = _Parcel("gather_object", [thing], 1)
        counts = self.allgather(parcel.length).ravel()
        self._check(counts, parcel, "gather_object")
        gathered = self.gatherv(parcel.data, counts=counts, root=root)
        return None if gathered is None else _all_unpickled(gathered, counts, "gather_object")

    def allgather_object(self, thing) -> list:
        """Returns everybody's objects by rank, on all ranks."""
        parcel = _Parcel("allgather_object", [thing], 1)
        counts = self.allgather(parcel.length).ravel()
        self._check(counts, parcel, "allgather_object")
        return _all_unpickled(self.allgatherv(parcel.data, counts=counts), counts, "allgather_object")

    def scatter_object(self, things: Sequence | None = None, root: int = 0):
        """Returns this rank's object of the root's sequence, which has one per rank. Agreed: root."""
        parcel = _Parcel("scatter_object", things, self.size) if self.rank == root else None
        length = np.empty(1, np.int64)
        self.scatter(None if parcel is None else parcel.length, length, root)
        if length[0] < 0:
            text = self.bcast(np.empty(-int(length[0]), np.uint8) if parcel is None else parcel.data, root)
            _raise("scatter_object", root, text, None if parcel is None else parcel.problem)
        mine = np.empty(int(length[0]), np.uint8)
        if parcel is None:
            self.scatterv(recv=mine, root=root)
        else:
            self.scatterv(parcel.data, mine, parcel.length, root=root)
        return _unpickled(mine, "scatter_object", root)

    def alltoall_object(self, things: Sequence) -> list:
        """Sends things[j] to rank j and returns what came, by rank. things has one object per rank."""
        parcel = _Parcel("alltoall_object", things, self.size)
        counts = self.alltoall(parcel.length)
        self._check(counts, parcel, "alltoall_object")
        received = self.alltoallv(parcel.data, parcel.length, recv_counts=counts)
        return _all_unpickled(received, counts, "alltoall_object")

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
        parcel = _Parcel("send_object", [thing], 1)
        self.send(parcel.length, to, tag)
        self.send(parcel.data, to, tag)
        if parcel.problem is not None:
            _raise("send_object", self.rank, parcel.data, parcel.problem)

    def recv_object(self, source: int, tag: int = 0):
        """Returns an object that another rank sends by `send_object` with the same tag."""
        length = self.recv(np.empty(1, np.int64), source, tag)
        data = self.recv(np.empty(abs(int(length[0])), np.uint8), source, tag)
        if length[0] < 0:
            _raise("recv_object", source, data)
        return _unpickled(data, "recv_object", source)
