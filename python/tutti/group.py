# SPDX-License-Identifier: BSD-3-Clause
"""Groups of processes."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tutti import _core
from tutti.arguments import whole, wholes
from tutti.collectives import Collectives
from tutti.errors import Error
from tutti.exchange import Exchanges
from tutti.objects import Objects
from tutti.parts import Parts
from tutti.plans import Plans
from tutti.sums import Sums

if TYPE_CHECKING:
    from mpi4py import MPI
    from numpy.typing import DTypeLike, NDArray


class Group(Collectives, Parts, Exchanges, Sums, Plans, Objects):
    """A group of processes and its collectives.

    One thread at a time starts operations on a group; any thread may wait. Collectives are called by all ranks of the
    group in the same order; what a method calls agreed is the same on all of them.
    """

    __slots__ = ("_handle", "_rank", "_size")

    def __init__(self, handle: _core.Group):
        """Used by `world` and by the methods that make groups."""
        self._handle = handle
        self._rank = handle.rank
        self._size = handle.size

    @property
    def rank(self) -> int:
        """This process's position in the group."""
        return self._rank

    @property
    def size(self) -> int:
        """The number of processes."""
        return self._size

    @property
    def name(self) -> str:
        """A name for messages: "world", "world/0.2" (of its split number 0, colour 2)."""
        return self._handle.name

    @property
    def transport(self) -> str:
        """How its bytes travel beside memory that is shared: "shm", "shm and mpi (Open MPI 5.0.11)"."""
        return self._handle.transport

    def __repr__(self) -> str:
        """``<tutti.Group world, rank 0 of 4>``."""
        return f"<tutti.Group {self.name}, rank {self._rank} of {self._size}>"

    def split(self, colour: int, key: int = 0) -> Group | None:
        """The ranks with the same colour, ordered by key, then by rank here; None for a negative colour. Collective."""
        return _group(self._handle.split(whole("colour", colour), whole("key", key)))

    def dup(self) -> Group:
        """The same ranks with an order of operations of their own. Collective."""
        return Group(self._handle.dup())

    def split_by_host(self, key: int = 0) -> Group:
        """The ranks that share this rank's host, and so its memory, ordered by key, then by rank here. Collective."""
        return Group(self._handle.split_by_host(whole("key", key)))

    def create(self, ranks: Sequence[int]) -> Group:
        """As `subgroup`, but only the ranks listed call it; the others need not know.

        Lists that share ranks are made in the same order on those ranks. Agreed among those listed: the list.
        """
        return Group(self._handle.create(wholes("the ranks", ranks)))

    def agree(self, flag: bool) -> bool:
        """Whether all survivors say `flag`: the same answer on all of them, also when ranks die meanwhile.

        All ranks of the group call it, and those that are lost need not. Works on a broken group too.
        """
        return self._handle.agree(bool(flag))

    def shrink(self) -> Group:
        """A new group of the survivors, in the same order; the same on all of them. Called like `agree`."""
        return Group(self._handle.shrink())

    @property
    def lost(self) -> list[int]:
        """The ranks that the last `agree` or `shrink` found lost: the same on all survivors."""
        return self._handle.lost

    def reproducible(self) -> Group:
        """The same group, whose sums of floating-point and complex numbers are rounded once. Local.

        They have the same bits whatever the algorithm, the order and the hosts, in every reduction by `tutti.SUM`. The
        groups made from it are like it. Both may be used in turn, but all ranks use the same one for a call.
        """
        return type(self)(self._handle.reproducible())

    def zeros(self, shape: int | Sequence[int], dtype: DTypeLike = float) -> NDArray:
        """A new array of zeros, as numpy.zeros makes it, in memory that this rank's host shares.

        Only this rank uses it. Collectives on large arrays that lie there are several times as fast inside a host, for
        they are copied and combined where they are (docs/memory.md). Local. Raises `tutti.Error` for types whose
        elements are Python objects, and where there is no such memory left.
        """
        kind = np.dtype(dtype)
        if kind.hasobject:
            raise Error(f"zeros: elements of {kind} are Python objects; pass a type of numbers or records")
        given = [shape] if np.ndim(shape) == 0 else list(shape)
        lengths = [whole("each length of the shape", length, 0, sys.maxsize) for length in given]
        size = whole("the bytes of the array", math.prod(lengths) * kind.itemsize, 0, sys.maxsize)
        memory = self._handle.allocate(max(1, size))
        return np.ndarray(lengths, kind, buffer=memory)

    @property
    def is_reproducible(self) -> bool:
        """Whether sums are rounded once."""
        return self._handle.is_reproducible

    def subgroup(self, ranks: Sequence[int]) -> Group | None:
        """The ranks listed, in that order; None for those not in it. Collective over this group.

        Agreed: the list. Raises Mismatch on all ranks when lists differ; the group is as before.
        """
        return _group(self._handle.subgroup(wholes("the ranks", ranks)))


def _group(handle: _core.Group | None) -> Group | None:
    return None if handle is None else Group(handle)


def world() -> Group:
    """All processes of the job; a program that was started alone is a world of one.

    The first call finds the other processes (communicates). Raises `Error` for a wrong environment.
    """
    return Group(_core.world())


def from_mpi(communicator: MPI.Intracomm) -> Group:
    """The ranks of an intracommunicator of mpi4py, in its order. Collective.

    Shared memory on each host, the MPI's messages, in a communicator of Tutti's own, between hosts. The communicator
    may be freed afterwards. Raises `Error` on all ranks for what fails on one, also for an intercommunicator and after
    ``MPI.Finalize()``, which ends the group.
    """
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is None or not isinstance(communicator, mpi.Comm):
        raise TypeError(f"from_mpi takes a communicator of mpi4py, as MPI.COMM_WORLD is, not {communicator!r}")
    return Group(_core.from_mpi(mpi._addressof(communicator)))
