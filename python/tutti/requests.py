# SPDX-License-Identifier: BSD-3-Clause
"""Started operations."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator, Sequence

from tutti import _core
from tutti.arguments import look_at
from tutti.errors import Error, Timeout


class Request:
    """A started operation. It keeps its buffers alive; they are yours again when a wait has returned or raised anything
    but `Timeout` and KeyboardInterrupt.

        request = group.iallreduce(send)
        compute()
        total = request.wait()

    Inside asyncio, ``total = await request``. Dropping a pending request waits for it; after a time-out or Ctrl-C it
    gives the operation up instead, which breaks the group. Any thread may wait for it or test it, one at a time: a
    second one hears an `Error`.
    """

    __slots__ = ("_handle",)

    def __init__(self, handle: _core.Request):
        """Used by the i-forms of `Group`."""
        self._handle = handle

    def wait(self, timeout: float | None = None):
        """Waits for the end and returns what the blocking form would have returned.

        timeout: seconds; None: no limit. Raises `Timeout` when it runs out (the request is then still pending: wait
        again, or drop it), and what the operation failed with. Ctrl-C works; other threads run meanwhile.
        """
        try:
            return self._handle.wait(timeout)
        except TypeError:
            look_at(timeout=timeout)
            raise

    def test(self) -> bool:
        """Moves things on; True when the operation is complete. Raises what it failed with. Does not block."""
        return self._handle.test()

    def fileno(self) -> int:
        """A descriptor that becomes readable when the operation is complete, for select, poll and event loops.

        It belongs to the request: do not close it. Asking for it starts the library's progress thread. Raises `Error`
        for a request that is complete already.
        """
        return self._handle.fileno()

    def __await__(self) -> Generator:
        """Waits inside asyncio's loop, which runs meanwhile; one task at a time per request."""
        if not self.test():
            yield from self._readable().__await__()
        return self.wait()

    async def _readable(self) -> None:
        loop = asyncio.get_running_loop()
        descriptor = self.fileno()
        readable = asyncio.Event()
        loop.add_reader(descriptor, readable.set)
        try:
            await readable.wait()
        finally:
            loop.remove_reader(descriptor)


class Persistent(Request):
    """A collective that is called again and again with the same buffers: plan, buffers and peers are fixed once, by the
    ``_init`` form, which communicates nothing. Each start counts as one call of it on all ranks, in whatever form.

        total = group.allreduce_init(send, recv)
        for step in range(steps):
            total.start()
            compute()
            total.wait()

    Between start and the end of wait the buffers belong to the operation. Waiting for one that was not started returns
    at once; what the last start failed with is raised each time.
    """

    __slots__ = ()

    def start(self) -> None:
        """Calls the collective once more. Raises `Error` while it is under way."""
        self._handle.start()

    def run(self, timeout: float | None = None):
        """start and wait in one. timeout: seconds; None: as long as a blocking call may take (TUTTI_TIMEOUT)."""
        try:
            return self._handle.run(timeout)
        except TypeError:
            look_at(timeout=timeout)
            raise


def wait_all(requests: Sequence[Request], timeout: float | None = None) -> list:
    """Waits for all and returns their results in order.

    timeout: seconds for all together. Raises the first failure found, after all are complete or failed. After `Timeout`
    wait again: that returns all results, and raises what had failed by then.
    """
    look_at(timeout=timeout)
    until = None if timeout is None else time.monotonic() + timeout
    results, failure = [], None
    for request in requests:
        try:
            results.append(request.wait(None if until is None else max(0.0, until - time.monotonic())))
        except Timeout:
            raise
        except Exception as error:  # what a reduction of the program's own raised, too
            failure = failure or error
    if failure is not None:
        raise failure
    return results


def wait_any(requests: Sequence[Request], timeout: float | None = None) -> int | None:
    """Waits for one that is complete and returns its place; None when none is pending (collected ones are passed over).

    requests: each once, and neither a `Persistent` nor an `Exchange`. Raises what that one failed with, and `Timeout`.
    """
    for request in requests:
        if not isinstance(request, Request) or not isinstance(request._handle, _core.Request):
            raise Error(f"wait_any cannot wait for {request!r}; pass requests that the i-forms have returned")
    if len({id(request) for request in requests}) < len(requests):
        raise Error("wait_any: one request stands twice; pass each once")
    look_at(timeout=timeout)
    place = _core.wait_any([request._handle for request in requests], timeout)
    return None if place == len(requests) else place
