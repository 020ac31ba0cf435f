# SPDX-License-Identifier: BSD-3-Clause
"""Rank 1 gets a SIGINT in calls that wait inside for rank 0: those that make groups break theirs, agree goes on."""

import os
import signal
import threading
import time

import tutti
from causes import cause_of

# Whoever runs the tests in the background has it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)

WORLD = tutti.world()


def interrupted(call):
    """Waits for what does not come until Ctrl-C."""
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    before = time.monotonic()
    try:
        call()
    except KeyboardInterrupt:
        assert time.monotonic() - before < 10
        return True
    return False


CALLS = [
    lambda group: group.split(0),
    lambda group: group.dup(),
    lambda group: group.create([0, 1]),
    lambda group: group.subgroup([1, 0]),
    lambda group: tutti.cartesian(group, [2]),
    lambda group: tutti.adjacent_graph(group, [], []),
    lambda group: tutti.graph(group, []),
    lambda group: group.check(tutti.PlanBuilder("nothing", group.rank, group.size).commit()),
]
groups = [WORLD.dup() for _ in CALLS]
agreeing = [WORLD.dup() for _ in range(2)]
if WORLD.rank == 1:
    for call, group in zip(CALLS, groups):
        assert interrupted(lambda call=call, group=group: call(group))
        assert cause_of(group.barrier) == "broken"
    for call in (lambda: agreeing[0].agree(True), agreeing[1].shrink):
        assert interrupted(call)
    WORLD.send_object("given up", 0)
else:
    WORLD.recv_object(1)
    for group in groups:
        assert cause_of(group.barrier) == "broken"
assert agreeing[0].agree(True)
assert agreeing[1].shrink().size == 2
assert WORLD.allreduce(1) == 2
