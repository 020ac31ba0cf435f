# SPDX-License-Identifier: BSD-3-Clause
"""Calls that take locks of the engine, while the progress thread holds them in a reduction that needs the interpreter.

None may wait for such a lock and keep the interpreter to itself.
"""

import contextlib
import faulthandler
import time

import numpy as np
import tutti

WORLD = tutti.world()
RANK, SIZE = WORLD.rank, WORLD.size
faulthandler.dump_traceback_later(60, exit=True)  # a deadlock shows where it is


def slow(lower, higher):
    """Lets other threads have the interpreter meanwhile."""
    time.sleep(0.005)
    return lower + higher


def while_reducing(group, call):
    """Calls again and again while a request of the group is under way, some ten reductions long."""
    for _ in range(3):
        request = group.iallreduce(np.ones(200_000 * SIZE), op=tutti.op(slow), algorithm="ring")
        request.fileno()  # starts the progress thread
        for _ in range(10):
            time.sleep(0.002)
            call(request)
        assert (request.wait() == SIZE).all()


def through(rank, size):
    """A plan that any group may run."""
    plan = tutti.PlanBuilder("through", rank, size, send=1, recv=1)
    plan.copy(plan.input, plan.output)
    return plan.commit()


def time_out(request):
    with contextlib.suppress(tutti.Timeout):
        tutti.wait_any([request], 0)


reducing = WORLD.dup()
plan, one = through(RANK, SIZE), np.ones(1)
while_reducing(reducing, lambda _: reducing.allreduce_init(one))
while_reducing(reducing, lambda _: reducing.init(plan, one))
while_reducing(reducing, time_out)
for make in (
    WORLD.dup,
    lambda: WORLD.dup().reproducible(),
    lambda: tutti.cartesian(WORLD, [SIZE]),
    lambda: tutti.adjacent_graph(WORLD, [(RANK + 1) % SIZE], [(RANK - 1) % SIZE]),
):
    dropped = [make() for _ in range(30)]
    while_reducing(reducing, lambda _, dropped=dropped: dropped.pop())
    assert not dropped
