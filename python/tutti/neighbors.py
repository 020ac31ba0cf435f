# SPDX-License-Identifier: BSD-3-Clause
"""Groups whose ranks have neighbours: graphs and grids, and the collectives along their edges.

Blocks stand in the order of the neighbours; those of edges that lead nowhere are not touched. Buffers must not overlap.
A rank reads only what its sources give: at a fixed number of edges the cost does not grow with the group.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tutti import _core
from tutti.arguments import counted, whole, wholes
from tutti.collectives import _array, _operation, _sendable, room
from tutti.errors import Error
from tutti.group import Group
from tutti.operations import SUM, Operation
from tutti.parts import _parts
from tutti.requests import Persistent, Request

_NEIGHBOR_ALLGATHER, _NEIGHBOR_ALLGATHERV, _NEIGHBOR_ALLTOALL, _NEIGHBOR_ALLTOALLV = (
    _core.kinds[f"neighbor_{name}"] for name in ("allgather", "allgatherv", "alltoall", "alltoallv")
)
_NEIGHBOR_ALLTOALLW, _NEIGHBOR_REDUCE = (_core.kinds[f"neighbor_{name}"] for name in ("alltoallw", "reduce"))


def _somebody(rank: int) -> int | None:
    return None if rank < 0 else rank


def _ends(ranks: Iterable[int | None]) -> list[int]:
    return wholes("the sources and destinations", (-1 if rank is None else rank for rank in ranks))


class Graph(Group):
    """A group in which each rank has sources, from which it receives, and destinations, to which it sends.

    Several edges between two ranks and edges of a rank to itself are edges like others.
    """

    __slots__ = ("_destinations", "_sources")

    def __init__(self, handle: _core.Group):
        """Used by `graph` and `adjacent_graph`."""
        super().__init__(handle)
        self._sources = [_somebody(rank) for rank in _core.sources(handle)]
        self._destinations = [_somebody(rank) for rank in _core.destinations(handle)]

    @property
    def sources(self) -> list[int | None]:
        """From whom this rank receives, in the order of the blocks; None where an edge leads nowhere."""
        return list(self._sources)

    @property
    def destinations(self) -> list[int | None]:
        """To whom this rank sends, in the order of the blocks; None where an edge leads nowhere."""
        return list(self._destinations)

    def dup(self) -> Graph:
        """The same ranks and edges with an order of operations of their own. Collective."""
        return type(self)(self._handle.dup())

    def _neighbor_allgather(self, send, recv, algorithm):
        send = _sendable(send)
        if recv is None:
            like = _array(send)
            recv = np.zeros((len(self._sources), *like.shape), like.dtype)
        return _NEIGHBOR_ALLGATHER, send, recv, None, 0, algorithm

    def neighbor_allgather(self, send, recv=None, *, algorithm: str = ""):
        """Collects the sources' arrays and returns recv.

        recv: for each source as many elements as send; None: a new array (sources, *send.shape), zero where nothing
        comes. Agreed: length of send, type.
        """
        return self._run(*self._neighbor_allgather(send, recv, algorithm))

    def ineighbor_allgather(self, send, recv=None, *, algorithm: str = "") -> Request:
        """Starts a `neighbor_allgather`."""
        return self._start(*self._neighbor_allgather(send, recv, algorithm))

    def neighbor_allgather_init(self, send, recv=None, *, algorithm: str = "") -> Persistent:
        """Makes a `neighbor_allgather` of these buffers ready for many calls."""
        return self._init(*self._neighbor_allgather(send, recv, algorithm))

    def _neighbor_reduce(self, send, recv, op, algorithm):
        send = _sendable(send)
        recv = np.zeros_like(_array(send)) if recv is None else recv
        return _NEIGHBOR_REDUCE, send, recv, _operation(op, send), 0, algorithm

    def neighbor_reduce(self, send, recv=None, op: Operation = SUM, *, algorithm: str = ""):
        """Combines the sources' arrays element by element, in the order of the edges, and returns recv.

        A source counts once for each of its edges. recv: as send; None: a new array, zero where a rank has no sources.
        Agreed: length of send, type, op.
        """
        return self._run(*self._neighbor_reduce(send, recv, op, algorithm))

    def ineighbor_reduce(self, send, recv=None, op: Operation = SUM, *, algorithm: str = "") -> Request:
        """Starts a `neighbor_reduce`."""
        return self._start(*self._neighbor_reduce(send, recv, op, algorithm))

    def neighbor_reduce_init(self, send, recv=None, op: Operation = SUM, *, algorithm: str = "") -> Persistent:
        """Makes a `neighbor_reduce` of these buffers ready for many calls."""
        return self._init(*self._neighbor_reduce(send, recv, op, algorithm))

    def _neighbor_alltoall(self, send, recv, algorithm):
        send = _sendable(send)
        like = _array(send)
        if like.ndim == 0 or (self._destinations and like.shape[0] % len(self._destinations) != 0):
            raise Error(f"neighbor_alltoall: send has the shape {like.shape}, and not a block for each destination")
        block = like.shape[1:]
        if self._destinations and like.shape[0] != len(self._destinations):
            block = (like.shape[0] // len(self._destinations), *block)
        count = int(np.prod(block, dtype=np.int64))
        if not self._destinations and recv is not None and self._sources:
            count = _array(recv).size // len(self._sources)
        if recv is None:
            recv = np.zeros((len(self._sources), *block), like.dtype)
        return _NEIGHBOR_ALLTOALL, send, recv, None, 0, algorithm, [count]

    def neighbor_alltoall(self, send, recv=None, *, algorithm: str = ""):
        """Sends a block along each edge out, receives one along each edge in, and returns recv.

        send: (destinations, ...); a rank without destinations passes an array (0, ...) of the same blocks. recv: a
        block for each source; None: a new array (sources, ...), zero where nothing comes. Agreed: length of a block,
        type.
        """
        return self._run(*self._neighbor_alltoall(send, recv, algorithm))

    def ineighbor_alltoall(self, send, recv=None, *, algorithm: str = "") -> Request:
        """Starts a `neighbor_alltoall`."""
        return self._start(*self._neighbor_alltoall(send, recv, algorithm))

    def neighbor_alltoall_init(self, send, recv=None, *, algorithm: str = "") -> Persistent:
        """Makes a `neighbor_alltoall` of these buffers ready for many calls."""
        return self._init(*self._neighbor_alltoall(send, recv, algorithm))

    def _neighbor_allgatherv(self, send, recv, counts, offsets, algorithm):
        send, counts, offsets = _sendable(send), counted(counts), counted(offsets)
        recv = room("neighbor_allgatherv", "counts", send, counts, offsets) if recv is None else recv
        return _NEIGHBOR_ALLGATHERV, send, recv, None, 0, algorithm, None, None, counts, offsets

    def neighbor_allgatherv(self, send, recv=None, counts=None, offsets=None, *, algorithm: str = ""):
        """Collects the sources' arrays of different lengths and returns recv.

        counts, offsets: one number per source, in elements of recv (offsets None: side by side). recv None: a new array
        of sum(counts) elements. Agreed: type; each count is its source's.
        """
        return self._run(*self._neighbor_allgatherv(send, recv, counts, offsets, algorithm))

    def ineighbor_allgatherv(self, send, recv=None, counts=None, offsets=None, *, algorithm: str = "") -> Request:
        """Starts a `neighbor_allgatherv`."""
        return self._start(*self._neighbor_allgatherv(send, recv, counts, offsets, algorithm))

    def neighbor_allgatherv_init(
        self, send, recv=None, counts=None, offsets=None, *, algorithm: str = ""
    ) -> Persistent:
        """Makes a `neighbor_allgatherv` of these buffers ready for many calls."""
        return self._init(*self._neighbor_allgatherv(send, recv, counts, offsets, algorithm))

    def _neighbor_alltoallv(self, send, send_counts, recv, recv_counts, send_offsets, recv_offsets, algorithm):
        send = _sendable(send)
        send_counts, recv_counts = counted(send_counts), counted(recv_counts)
        send_offsets, recv_offsets = counted(send_offsets), counted(recv_offsets)
        if recv is None:
            recv = room("neighbor_alltoallv", "recv_counts", send, recv_counts, recv_offsets)
        counts = send_counts, send_offsets, recv_counts, recv_offsets
        return _NEIGHBOR_ALLTOALLV, send, recv, None, 0, algorithm, *counts

    def neighbor_alltoallv(
        self,
        send,
        send_counts,
        recv=None,
        recv_counts=None,
        send_offsets=None,
        recv_offsets=None,
        *,
        algorithm: str = "",
    ):
        """Sends blocks of different lengths along the edges out, receives those along the edges in, and returns recv.

        Counts and offsets: one number per destination or source, in elements (offsets None: side by side). recv None: a
        new array of sum(recv_counts) elements. Agreed: type; each send count is the recv count at the edge's other end.
        """
        given = send, send_counts, recv, recv_counts, send_offsets, recv_offsets
        return self._run(*self._neighbor_alltoallv(*given, algorithm))

    def ineighbor_alltoallv(
        self,
        send,
        send_counts,
        recv=None,
        recv_counts=None,
        send_offsets=None,
        recv_offsets=None,
        *,
        algorithm: str = "",
    ) -> Request:
        """Starts a `neighbor_alltoallv`."""
        given = send, send_counts, recv, recv_counts, send_offsets, recv_offsets
        return self._start(*self._neighbor_alltoallv(*given, algorithm))

    def neighbor_alltoallv_init(
        self,
        send,
        send_counts,
        recv=None,
        recv_counts=None,
        send_offsets=None,
        recv_offsets=None,
        *,
        algorithm: str = "",
    ) -> Persistent:
        """Makes a `neighbor_alltoallv` of these buffers ready for many calls."""
        given = send, send_counts, recv, recv_counts, send_offsets, recv_offsets
        return self._init(*self._neighbor_alltoallv(*given, algorithm))

    def neighbor_alltoallw(self, send, recv, *, algorithm: str = ""):
        """Sends array send[d] along edge d, fills array recv[s] with what comes along edge s, and returns recv.

        send, recv: one array per destination and per source, of any type and shape, or None for nothing; both ends have
        the same number of bytes. They may be parts of one array that lie apart, so that a halo is filled where it lies.
        """
        return self._run(*_parts(_NEIGHBOR_ALLTOALLW, send, recv, algorithm))

    def ineighbor_alltoallw(self, send, recv, *, algorithm: str = "") -> Request:
        """Starts a `neighbor_alltoallw`."""
        return self._start(*_parts(_NEIGHBOR_ALLTOALLW, send, recv, algorithm))

    def neighbor_alltoallw_init(self, send, recv, *, algorithm: str = "") -> Persistent:
        """Makes a `neighbor_alltoallw` of these arrays ready for many calls."""
        return self._init(*_parts(_NEIGHBOR_ALLTOALLW, send, recv, algorithm))


class Grid(Graph):
    """A Cartesian grid, the last dimension running fastest.

    Neighbours: for each dimension the one in negative direction, then the one in positive direction; None beyond the
    border of a dimension that is not periodic. What a rank sends in negative direction arrives as what the other has
    from positive direction, also where both are the same rank.
    """

    __slots__ = ()

    @property
    def dims(self) -> list[int]:
        """How many ranks each dimension has."""
        return _core.dims(self._handle)

    @property
    def periodic(self) -> list[bool]:
        """Which dimensions go around."""
        return _core.periodic(self._handle)

    def coordinates(self, rank: int | None = None) -> list[int]:
        """Where a rank, or this one, stands."""
        return _core.coordinates(self._handle, self.rank if rank is None else whole("rank", rank))

    def rank_at(self, coordinates: Sequence[int]) -> int | None:
        """The rank there, around periodic dimensions; None outside the others."""
        return _somebody(_core.rank_at(self._handle, wholes("the coordinates", coordinates)))

    def shift(self, dimension: int, by: int = 1) -> tuple[int | None, int | None]:
        """The ranks `by` steps before this one and behind it: its source and destination when all data move so far."""
        source, destination = _core.shift(self._handle, whole("dimension", dimension), whole("by", by))
        return _somebody(source), _somebody(destination)

    def sub(self, keep: Sequence[bool]) -> Grid:
        """The grids that are left when the dimensions that are not kept are cut: this rank's. Collective.

        Agreed: keep. `Error` on all ranks where it differs, or has not one choice for each dimension.
        """
        return Grid(_core.sub_grid(self._handle, [bool(one) for one in keep]))


def dims_create(size: int, dims: Sequence[int] | int) -> list[int]:
    """Sizes of a grid of `size` ranks, as equal as they can be and descending where dims has zeros; the others stay.

    dims may be just the number of dimensions. Local.
    """
    return _core.dims_create(whole("size", size), [0] * dims if isinstance(dims, int) else wholes("the dims", dims))


def cartesian(group: Group, dims: Sequence[int], periodic: Sequence[bool] = (), reorder: bool = False) -> Grid | None:
    """The first ranks of a group as a grid; None for ranks that are left over. Collective. Agreed: all arguments.

    periodic: for each dimension whether it goes around; none: no dimension does. reorder: allows ranks to be
    numbered anew; they keep their numbers so far. Error on all ranks where arguments differ, or the grid does not fit.
    """
    around = [bool(one) for one in periodic]
    handle = _core.cartesian(group._handle, wholes("the dims", dims), around, reorder)
    return None if handle is None else Grid(handle)


def adjacent_graph(group: Group, sources: Iterable[int | None], destinations: Iterable[int | None]) -> Graph:
    """A graph from what each rank knows of itself: from whom it receives, to whom it sends (None: nobody). Collective.

    Parallel edges between two ranks are paired in the order in which each end lists them. Raises `Error` on all ranks
    when an edge is not named at both ends.
    """
    return Graph(_core.adjacent_graph(group._handle, _ends(sources), _ends(destinations)))


def graph(group: Group, edges: Iterable[tuple[int, int]]) -> Graph:
    """A graph from edges (source, destination) that any rank may give, each once. Collective.

    A rank's edges stand in the order of those who gave them, and as given.
    """
    given = [wholes("the ranks of an edge", edge) for edge in edges]
    for edge in given:
        if len(edge) != 2:
            raise Error(f"an edge must be a source and a destination, not {edge}")
    return Graph(_core.graph(group._handle, [(source, destination) for source, destination in given]))
