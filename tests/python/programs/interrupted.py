# SPDX-License-Identifier: BSD-3-Clause
"""Rank 1 gets a SIGINT while it waits for rank 0 in a blocking call, which breaks the group; and signals whose handlers
end what is waited for before they raise."""

import os
import signal
import threading
import time

import numpy as np
import tutti
from causes import cause_of

# Whoever runs the tests in the background has it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)

GROUP = tutti.world()
group, doomed = GROUP.dup(), GROUP.dup()


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


def check_handler(wait, meanwhile):
    """A handler that raises is heard, whatever else it has done."""

    def handle(*_):
        meanwhile()
        raise InterruptedError("as this test wants it")

    signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        wait()
    except InterruptedError:
        return
    raise AssertionError("the handler was not heard")


def check_ended_by_handlers():
    """The request tells its own end afterwards."""
    for way in (lambda one: one.wait(), lambda one: tutti.wait_any([one])):
        request = GROUP.irecv(np.zeros(1), 0)
        check_handler(lambda way=way, one=request: way(one), fetch)
        assert request.wait().tolist() == request.wait().tolist() == [1]
    request = doomed.irecv(np.zeros(1), 0)
    check_handler(request.wait, break_doomed)
    assert cause_of(request.wait) == cause_of(request.test) == "broken"


def fetch():
    """What rank 0 sends first is there when its second message is."""
    GROUP.send(np.ones(1), 0)
    GROUP.recv(np.zeros(1), 0, 1)


def give_twice():
    for _ in range(2):
        GROUP.recv(np.zeros(1), 1)
        GROUP.send(np.ones(1), 1)
        GROUP.send(np.ones(1), 1, 1)


def break_doomed():
    """By giving up something else of that group."""
    given_up = doomed.ibarrier()
    assert cause_of(given_up.wait, 0) == "timeout"


if GROUP.rank == 1:
    check_ended_by_handlers()
    assert interrupted()
    GROUP.send_object("given up", 0)
    assert broken()
else:
    give_twice()
    GROUP.recv_object(1)
    assert broken()
assert GROUP.allreduce(1) == GROUP.size
