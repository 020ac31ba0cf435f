# SPDX-License-Identifier: BSD-3-Clause
"""Rank 1 gets a SIGINT while it waits for rank 0 in a blocking call, which breaks the group."""

import os
import signal
import threading
import time

import tutti

# Whoever runs the tests in the background has it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)

GROUP = tutti.world()
group = GROUP.dup()


def interrupted():
    """Waits for what does not come until Ctrl-C."""
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    before = time.monotonic()
    try:
        group.barrier()
    except KeyboardInterrupt:
        assert time.monotonic() - before < 5
        return True
    return False


def broken():
    """Waits for rank 1, which has given up."""
    try:
        group.barrier()
    except tutti.Error as error:
        return error.cause in ("broken", "peer_lost", "mismatch")
    return False


if GROUP.rank == 1:
    assert interrupted()
    GROUP.send_object("given up", 0)
    assert broken()
else:
    GROUP.recv_object(1)
    assert broken()
assert GROUP.allreduce(1) == GROUP.size
