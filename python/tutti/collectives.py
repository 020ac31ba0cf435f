# SPDX-License-Identifier: BSD-3-Clause
"""The collectives on arrays: numpy's, and every other buffer.

What holds for every method here: what is sent may be any buffer, a number or a (nested) list, which become an array;
what is received is written into a writable buffer of the same elements. Arrays need not be contiguous: a column, every
second element or a transposed block is sent and filled where it lies, its elements in the order of its indices.
``algorithm`` overrides the table's choice for this call, as ``tutti plan list`` names them (agreed). The i-forms return
a `Request`; leave their buffers alone until it is complete. All raise `Error` with the cause "usage" before anything is
sent, `Mismatch` when the ranks' calls do not belong together, and `PeerLost`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tutti import _core
from tutti.arguments import counted, look_at
from tutti.errors import Error
from tutti.operations import SUM, Operation
from tutti.requests import Persistent, Request

_BARRIER, _BCAST, _REDUCE, _ALLREDUCE, _SCAN, _EXSCAN = (
    _core.kinds[name] for name in ("barrier", "bcast", "reduce", "allreduce", "scan", "exscan")
)
_GATHER, _GATHERV, _SCATTER, _SCATTERV = (_core.kinds[name] for name in ("gather", "gatherv", "scatter", "scatterv"))
_ALLGATHER, _ALLGATHERV, _ALLTOALL, _ALLTOALLV = (
    _core.kinds[name] for name in ("allgather", "allgatherv", "alltoall", "alltoallv")
)
_REDUCE_SCATTER_BLOCK, _REDUCE_SCATTER = (_core.kinds[name] for name in ("reduce_scatter_block", "reduce_scatter"))


def _sendable(value):
    """What can be sent as it is; numbers and lists become an array."""
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return np.asarray(value)  # as buffers they say that they are bytes
    try:
        memoryview(value).release()
    except TypeError:
        return np.asarray(value)
    return value


def _array(value) -> np.ndarray:
    return value if isinstance(value, np.ndarray) else np.asarray(memoryview(value))


def _operation(op: Operation, send):
    if not isinstance(op, Operation):
        raise Error(f"op must be an operation, such as tutti.SUM, not {op!r}; wrap a function by tutti.op(function)")
    return op.over(_array(send).dtype)


def room(call: str, name: str, send, counts: Sequence[int] | None, offsets: Sequence[int] | None) -> np.ndarray:
    """A new array for blocks of what `send` holds, side by side. name: what `call` calls its counts."""
    if counts is None:
        raise Error(f"{call}: pass recv, or {name}: how many elements each block has that comes")
    if offsets is not None:
        raise Error(f"{call}: pass recv when you pass offsets: they do not say how long it is")
    return np.zeros(sum(counts), _array(send).dtype)


def _send(call, data, to, tag):
    try:
        return call(_sendable(data), to, tag)
    except TypeError:
        look_at(to=to, tag=tag)
        raise


def _recv(call, buffer, source, tag):
    try:
        return call(buffer, source, tag)
    except TypeError:
        look_at(source=source, tag=tag)
        raise


class Collectives:
    """The part of `Group` that works on arrays."""

    __slots__ = ()

    def _run(self, kind, send, recv, op=None, root=0, algorithm="", *counts):
        try:
            self._handle.run(kind, send, recv, op, root, algorithm, *counts)
        except TypeError:
            look_at(root=root, algorithm=algorithm)
            raise
        return recv

    def _start(self, kind, send, recv, op=None, root=0, algorithm="", *counts) -> Request:
        try:
            return Request(self._handle.start(kind, send, recv, op, root, algorithm, *counts))
        except TypeError:
            look_at(root=root, algorithm=algorithm)
            raise

    def _init(self, kind, send, recv, op=None, root=0, algorithm="", *counts) -> Persistent:
        try:
            return Persistent(self._handle.init(kind, send, recv, op, root, algorithm, *counts))
        except TypeError:
            look_at(root=root, algorithm=algorithm)
            raise

    def barrier(self, *, algorithm: str = "") -> None:
        """Returns when all ranks have called it."""
        self._run(_BARRIER, None, None, None, 0, algorithm)

    def ibarrier(self, *, algorithm: str = "") -> Request:
        """Starts a `barrier`."""
        return self._start(_BARRIER, None, None, None, 0, algorithm)

    def barrier_init(self, *, algorithm: str = "") -> Persistent:
        """Makes a `barrier` of these buffers ready for many calls."""
        return self._init(_BARRIER, None, None, None, 0, algorithm)

    def bcast(self, buffer, root: int = 0, *, algorithm: str = ""):
        """Gives everybody the root's elements and returns buffer.

        buffer: the root's is sent, everybody else's filled. Agreed: length, type, root.
        """
        return self._run(_BCAST, None, buffer, None, root, algorithm)

    def ibcast(self, buffer, root: int = 0, *, algorithm: str = "") -> Request:
        """Starts a `bcast`."""
        return self._start(_BCAST, None, buffer, None, root, algorithm)

    def bcast_init(self, buffer, root: int = 0, *, algorithm: str = "") -> Persistent:
        """Makes a `bcast` of these buffers ready for many calls."""
        return self._init(_BCAST, None, buffer, None, root, algorithm)

    def _reduce(self, kind, send, recv, op, root, algorithm):
        send, same = _sendable(send), recv is send
        if kind == _REDUCE and self.rank != root:
            recv = None
        elif recv is None:
            like = _array(send)
            recv = (np.zeros if kind == _EXSCAN else np.empty)(like.shape, like.dtype)
        return kind, recv if same and recv is not None else send, recv, _operation(op, send), root, algorithm

    def allreduce(self, send, recv=None, op: Operation = SUM, *, algorithm: str = ""):
        """Combines everybody's arrays element by element and returns recv, on all ranks.

        recv: as send; None: a new array; send itself: in place (then on all ranks). Agreed: length, type, op.
        """
        return self._run(*self._reduce(_ALLREDUCE, send, recv, op, 0, algorithm))

    def iallreduce(self, send, recv=None, op: Operation = SUM, *, algorithm: str = "") -> Request:
        """Starts an `allreduce`."""
        return self._start(*self._reduce(_ALLREDUCE, send, recv, op, 0, algorithm))

    def allreduce_init(self, send, recv=None, op: Operation = SUM, *, algorithm: str = "") -> Persistent:
        """Makes an `allreduce` of these buffers ready for many calls."""
        return self._init(*self._reduce(_ALLREDUCE, send, recv, op, 0, algorithm))

    def reduce(self, send, recv=None, op: Operation = SUM, root: int = 0, *, algorithm: str = ""):
        """Combines everybody's arrays element by element and returns recv at the root, None elsewhere.

        recv: at the root as send; None: a new array; send itself: in place. Not used elsewhere. Agreed: length, type,
        op, root.
        """
        return self._run(*self._reduce(_REDUCE, send, recv, op, root, algorithm))

    def ireduce(self, send, recv=None, op: Operation = SUM, root: int = 0, *, algorithm: str = "") -> Request:
        """Starts a `reduce`."""
        return self._start(*self._reduce(_REDUCE, send, recv, op, root, algorithm))

    def reduce_init(self, send, recv=None, op: Operation = SUM, root: int = 0, *, algorithm: str = "") -> Persistent:
        """Makes a `reduce` of these buffers ready for many calls."""
        return self._init(*self._reduce(_REDUCE, send, recv, op, root, algorithm))

    def scan(self, send, recv=None, op: Operation = SUM, *, algorithm: str = ""):
        """Combines the arrays of ranks 0 up to this one element by element and returns recv.

        recv: as send; None: a new array; send itself: in place. Agreed: length, type, op.
        """
        return self._run(*self._reduce(_SCAN, send, recv, op, 0, algorithm))

    def iscan(self, send, recv=None, op: Operation = SUM, *, algorithm: str = "") -> Request:
        """Starts a `scan`."""
        return self._start(*self._reduce(_SCAN, send, recv, op, 0, algorithm))

    def scan_init(self, send, recv=None, op: Operation = SUM, *, algorithm: str = "") -> Persistent:
        """Makes a `scan` of these buffers ready for many calls."""
        return self._init(*self._reduce(_SCAN, send, recv, op, 0, algorithm))

    def exscan(self, send, recv=None, op: Operation = SUM, *, algorithm: str = ""):
        """Combines the arrays of the ranks before this one element by element and returns recv.

        recv: as send; None: a new array; send itself: in place. Rank 0's stays as it is; a new one holds zeros. Agreed:
        length, type, op.
        """
        return self._run(*self._reduce(_EXSCAN, send, recv, op, 0, algorithm))

    def iexscan(self, send, recv=None, op: Operation = SUM, *, algorithm: str = "") -> Request:
        """Starts an `exscan`."""
        return self._start(*self._reduce(_EXSCAN, send, recv, op, 0, algorithm))

    def exscan_init(self, send, recv=None, op: Operation = SUM, *, algorithm: str = "") -> Persistent:
        """Makes an `exscan` of these buffers ready for many calls."""
        return self._init(*self._reduce(_EXSCAN, send, recv, op, 0, algorithm))

    def _share(self, name, send):
        """A new array for one of the blocks of send, one for each rank."""
        like = _array(send)
        if like.ndim == 0 or like.shape[0] % self.size != 0:
            raise Error(f"{name}: send has the shape {like.shape}, which {self.size} ranks cannot share equally")
        rows = like.shape[0] // self.size
        return np.empty(like.shape[1:] if rows == 1 and like.ndim > 1 else (rows, *like.shape[1:]), like.dtype)

    def _reduce_scatter_block(self, send, recv, op, algorithm):
        send, same = _sendable(send), recv is send
        if recv is None:
            recv = self._share("reduce_scatter_block", send)
        return _REDUCE_SCATTER_BLOCK, recv if same else send, recv, _operation(op, send), 0, algorithm

    def reduce_scatter_block(self, send, recv=None, op: Operation = SUM, *, algorithm: str = ""):
        """Combines everybody's arrays element by element, fills recv with this rank's block, and returns recv.

        send: size times as many elements as recv. recv None: a new array, of the shape of one row of send where each
        rank gets one; the first block of send, or send itself: in place, the result lies in that block. Agreed: length,
        type, op.
        """
        return self._run(*self._reduce_scatter_block(send, recv, op, algorithm))

    def ireduce_scatter_block(self, send, recv=None, op: Operation = SUM, *, algorithm: str = "") -> Request:
        """Starts a `reduce_scatter_block`."""
        return self._start(*self._reduce_scatter_block(send, recv, op, algorithm))

    def reduce_scatter_block_init(self, send, recv=None, op: Operation = SUM, *, algorithm: str = "") -> Persistent:
        """Makes a `reduce_scatter_block` of these buffers ready for many calls."""
        return self._init(*self._reduce_scatter_block(send, recv, op, algorithm))

    def _reduce_scatter(self, send, recv, counts, op, algorithm):
        send, same, counts = _sendable(send), recv is send, counted(counts)
        if recv is None:
            if counts is None or len(counts) != self.size:
                raise Error("reduce_scatter: this rank must pass counts, one number per rank")
            recv = np.empty(counts[self.rank], _array(send).dtype)
        send = recv if same else send
        return _REDUCE_SCATTER, send, recv, _operation(op, send), 0, algorithm, None, None, counts

    def reduce_scatter(self, send, recv=None, counts=None, op: Operation = SUM, *, algorithm: str = ""):
        """Combines everybody's arrays element by element, fills recv with this rank's block, and returns recv.

        counts: one number per rank; send: sum(counts) elements, the blocks side by side; recv: counts[rank] elements.
        recv None: a new array; the beginning of send, or send itself: in place, the result lies there. Agreed: counts,
        type, op.
        """
        return self._run(*self._reduce_scatter(send, recv, counts, op, algorithm))

    def ireduce_scatter(self, send, recv=None, counts=None, op: Operation = SUM, *, algorithm: str = "") -> Request:
        """Starts a `reduce_scatter`."""
        return self._start(*self._reduce_scatter(send, recv, counts, op, algorithm))

    def reduce_scatter_init(
        self, send, recv=None, counts=None, op: Operation = SUM, *, algorithm: str = ""
    ) -> Persistent:
        """Makes a `reduce_scatter` of these buffers ready for many calls."""
        return self._init(*self._reduce_scatter(send, recv, counts, op, algorithm))

    def _gather(self, kind, send, recv, root, algorithm):
        send = _sendable(send)
        if kind == _GATHER and self.rank != root:
            recv = None
        elif recv is None:
            like = _array(send)
            recv = np.empty((self.size, *like.shape), like.dtype)
        return kind, send, recv, None, root, algorithm

    def gather(self, send, recv=None, root: int = 0, *, algorithm: str = ""):
        """Collects everybody's arrays by rank and returns recv at the root, None elsewhere.

        recv: at the root size times as many elements as send; None: a new array (size, *send.shape); send itself: in
        place, the root's block already lies in it. Not used elsewhere. Agreed: length, type, root.
        """
        return self._run(*self._gather(_GATHER, send, recv, root, algorithm))

    def igather(self, send, recv=None, root: int = 0, *, algorithm: str = "") -> Request:
        """Starts a `gather`."""
        return self._start(*self._gather(_GATHER, send, recv, root, algorithm))

    def gather_init(self, send, recv=None, root: int = 0, *, algorithm: str = "") -> Persistent:
        """Makes a `gather` of these buffers ready for many calls."""
        return self._init(*self._gather(_GATHER, send, recv, root, algorithm))

    def allgather(self, send, recv=None, *, algorithm: str = ""):
        """Collects everybody's arrays by rank and returns recv, on all ranks.

        recv: size times as many elements as send; None: a new array (size, *send.shape); send itself: in place, each
        block already lies in it (then on all ranks). Agreed: length, type.
        """
        return self._run(*self._gather(_ALLGATHER, send, recv, 0, algorithm))

    def iallgather(self, send, recv=None, *, algorithm: str = "") -> Request:
        """Starts an `allgather`."""
        return self._start(*self._gather(_ALLGATHER, send, recv, 0, algorithm))

    def allgather_init(self, send, recv=None, *, algorithm: str = "") -> Persistent:
        """Makes an `allgather` of these buffers ready for many calls."""
        return self._init(*self._gather(_ALLGATHER, send, recv, 0, algorithm))

    def _scatter(self, send, recv, root, algorithm):
        if self.rank != root:
            return _SCATTER, None, recv, None, root, algorithm
        send = _sendable(send)
        if recv is None:
            recv = self._share("scatter", send)
        return _SCATTER, send, recv, None, root, algorithm

    def scatter(self, send=None, recv=None, root: int = 0, *, algorithm: str = ""):
        """Hands the blocks of the root's array out by rank and returns recv.

        send: at the root size times as many elements as recv; not used elsewhere. recv: this rank's block; None at the
        root: a new array, of the shape of one row of send where each rank gets one; send itself at the root: its block
        stays where it is. Agreed: length of recv, type, root.
        """
        return self._run(*self._scatter(send, recv, root, algorithm))

    def iscatter(self, send=None, recv=None, root: int = 0, *, algorithm: str = "") -> Request:
        """Starts a `scatter`."""
        return self._start(*self._scatter(send, recv, root, algorithm))

    def scatter_init(self, send=None, recv=None, root: int = 0, *, algorithm: str = "") -> Persistent:
        """Makes a `scatter` of these buffers ready for many calls."""
        return self._init(*self._scatter(send, recv, root, algorithm))

    def _alltoall(self, send, recv, algorithm):
        send = _sendable(send)
        if recv is None:
            like = _array(send)
            recv = np.empty(like.shape, like.dtype)
        return _ALLTOALL, send, recv, None, 0, algorithm

    def alltoall(self, send, recv=None, *, algorithm: str = ""):
        """Sends block j of send to rank j, fills block i of recv from rank i, and returns recv.

        send, recv: size blocks of one length; None: a new array; send itself: in place (then on all ranks). Agreed:
        length, type.
        """
        return self._run(*self._alltoall(send, recv, algorithm))

    def ialltoall(self, send, recv=None, *, algorithm: str = "") -> Request:
        """Starts an `alltoall`."""
        return self._start(*self._alltoall(send, recv, algorithm))

    def alltoall_init(self, send, recv=None, *, algorithm: str = "") -> Persistent:
        """Makes an `alltoall` of these buffers ready for many calls."""
        return self._init(*self._alltoall(send, recv, algorithm))

    def _gatherv(self, kind, send, recv, counts, offsets, root, algorithm):
        send, counts, offsets = _sendable(send), counted(counts), counted(offsets)
        if kind == _GATHERV and self.rank != root:
            return kind, send, None, None, root, algorithm
        if recv is None:
            recv = room("gatherv" if kind == _GATHERV else "allgatherv", "counts", send, counts, offsets)
        return kind, send, recv, None, root, algorithm, None, None, counts, offsets

    def gatherv(self, send, recv=None, counts=None, offsets=None, root: int = 0, *, algorithm: str = ""):
        """Collects arrays of different lengths and returns recv at the root, None elsewhere.

        counts, offsets: one number per rank at the root, in elements of recv (offsets None: side by side); not used
        elsewhere, like recv. recv None: a new array of sum(counts) elements. Agreed: type, root; each send has the
        length that the root's counts name.
        """
        return self._run(*self._gatherv(_GATHERV, send, recv, counts, offsets, root, algorithm))

    def igatherv(self, send, recv=None, counts=None, offsets=None, root: int = 0, *, algorithm: str = "") -> Request:
        """Starts a `gatherv`."""
        return self._start(*self._gatherv(_GATHERV, send, recv, counts, offsets, root, algorithm))

    def gatherv_init(
        self, send, recv=None, counts=None, offsets=None, root: int = 0, *, algorithm: str = ""
    ) -> Persistent:
        """Makes a `gatherv` of these buffers ready for many calls."""
        return self._init(*self._gatherv(_GATHERV, send, recv, counts, offsets, root, algorithm))

    def allgatherv(self, send, recv=None, counts=None, offsets=None, *, algorithm: str = ""):
        """Collects arrays of different lengths and returns recv, on all ranks.

        counts, offsets: one number per rank, in elements of recv (offsets None: side by side). recv None: a new array
        of sum(counts) elements. Agreed: counts, type.
        """
        return self._run(*self._gatherv(_ALLGATHERV, send, recv, counts, offsets, 0, algorithm))

    def iallgatherv(self, send, recv=None, counts=None, offsets=None, *, algorithm: str = "") -> Request:
        """Starts an `allgatherv`."""
        return self._start(*self._gatherv(_ALLGATHERV, send, recv, counts, offsets, 0, algorithm))

    def allgatherv_init(self, send, recv=None, counts=None, offsets=None, *, algorithm: str = "") -> Persistent:
        """Makes an `allgatherv` of these buffers ready for many calls."""
        return self._init(*self._gatherv(_ALLGATHERV, send, recv, counts, offsets, 0, algorithm))

    def _scatterv(self, send, recv, counts, offsets, root, algorithm):
        if self.rank != root:
            return _SCATTERV, None, recv, None, root, algorithm
        send, counts, offsets = _sendable(send), counted(counts), counted(offsets)
        if recv is None:
            if counts is None or len(counts) != self.size:
                raise Error("scatterv: the root must pass counts, one number per rank")
            recv = np.empty(counts[self.rank], _array(send).dtype)
        return _SCATTERV, send, recv, None, root, algorithm, counts, offsets

    def scatterv(self, send=None, recv=None, counts=None, offsets=None, root: int = 0, *, algorithm: str = ""):
        """Hands blocks of different lengths out and returns recv.

        send, counts, offsets: at the root, one number per rank in elements of send (offsets None: side by side); not
        used elsewhere. recv: as many elements as the root's counts name; None at the root: a new array. Agreed: type,
        root.
        """
        return self._run(*self._scatterv(send, recv, counts, offsets, root, algorithm))

    def iscatterv(
        self, send=None, recv=None, counts=None, offsets=None, root: int = 0, *, algorithm: str = ""
    ) -> Request:
        """Starts a `scatterv`."""
        return self._start(*self._scatterv(send, recv, counts, offsets, root, algorithm))

    def scatterv_init(
        self, send=None, recv=None, counts=None, offsets=None, root: int = 0, *, algorithm: str = ""
    ) -> Persistent:
        """Makes a `scatterv` of these buffers ready for many calls."""
        return self._init(*self._scatterv(send, recv, counts, offsets, root, algorithm))

    def _alltoallv(self, send, send_counts, recv, recv_counts, send_offsets, recv_offsets, algorithm):
        send = _sendable(send)
        send_counts, recv_counts = counted(send_counts), counted(recv_counts)
        send_offsets, recv_offsets = counted(send_offsets), counted(recv_offsets)
        if recv is None:
            recv = room("alltoallv", "recv_counts", send, recv_counts, recv_offsets)
        return _ALLTOALLV, send, recv, None, 0, algorithm, send_counts, send_offsets, recv_counts, recv_offsets

    def alltoallv(
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
        """Sends send_counts[j] elements to rank j, receives recv_counts[i] from rank i, and returns recv.

        Counts and offsets: one number per rank, in elements (offsets None: side by side). recv None: a new array of
        sum(recv_counts) elements; send itself: in place by recv_counts (then on all ranks). Agreed: type; each send
        count is its receiver's recv count.
        """
        return self._run(*self._alltoallv(send, send_counts, recv, recv_counts, send_offsets, recv_offsets, algorithm))

    def ialltoallv(
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
        """Starts an `alltoallv`."""
        return self._start(
            *self._alltoallv(send, send_counts, recv, recv_counts, send_offsets, recv_offsets, algorithm)
        )

    def alltoallv_init(
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
        """Makes an `alltoallv` of these buffers ready for many calls."""
        return self._init(*self._alltoallv(send, send_counts, recv, recv_counts, send_offsets, recv_offsets, algorithm))

    def send(self, data, to: int, tag: int = 0) -> None:
        """Sends elements to another rank, whose `recv` has the same length, type and tag. Messages stay in order."""
        _send(self._handle.send, data, to, tag)

    def isend(self, data, to: int, tag: int = 0) -> Request:
        """Starts a `send`."""
        return Request(_send(self._handle.start_send, data, to, tag))

    def recv(self, buffer, source: int, tag: int = 0):
        """Receives elements from another rank into buffer, which has the message's length, and returns it."""
        return _recv(self._handle.recv, buffer, source, tag)

    def irecv(self, buffer, source: int, tag: int = 0) -> Request:
        """Starts a `recv`."""
        return Request(_recv(self._handle.start_recv, buffer, source, tag))
