# SPDX-License-Identifier: BSD-3-Clause
"""With TUTTI_TIMEOUT, a blocking call that rank 0 does not join ends by itself, and gives the group up."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import tutti
from causes import cause_of

GROUP = tutti.world()
RANK = GROUP.rank


def check_collectives(group):
    if RANK == 0:
        for rank in range(1, GROUP.size):
            GROUP.irecv(np.empty(1), rank).wait()
        assert cause_of(group.barrier) == "broken"
    else:
        assert cause_of(group.barrier) in ("timeout", "broken")
        GROUP.isend(np.ones(1), 0).wait()
        assert cause_of(group.barrier) == "broken"


def check_given_up(call, group):
    """It was given up, although what was raised, and with it everything on the way, is still there."""
    try:
        call(group)
    except tutti.Timeout:
        assert cause_of(group.recv, np.empty(1), 0) == "broken"
    else:
        raise AssertionError("nobody has run out of time")


def check_others(*groups):
    """All at the same time: each takes as long as the limit."""
    calls = (
        lambda group: group.recv(np.zeros(1_000_000), 0),
        lambda group: group.send(np.zeros(1_000_000), 0),
        lambda group: group.sum([1.0]),
        lambda group: group.sparse_exchange({}, float),
    )
    if RANK == 1:
        with ThreadPoolExecutor(len(calls)) as pool:
            list(pool.map(check_given_up, calls, groups))
    GROUP.ibarrier().wait()


def check_persistent(group):
    """Rank 0 starts it as well, but only when the others have given up."""
    total = group.allreduce_init(np.ones(1), np.empty(1))
    if RANK == 0:
        for rank in range(1, GROUP.size):
            GROUP.irecv(np.empty(1), rank).wait()
        assert cause_of(total.run) == "broken"
    else:
        assert cause_of(total.run) in ("timeout", "broken")
        assert cause_of(total.wait) in ("timeout", "broken")  # what it has ended with, as often as one asks
        assert cause_of(total.run) == "broken"  # it was given up
        GROUP.isend(np.ones(1), 0).wait()


# Made first, together: nothing that blocks may wait for rank 1 afterwards.
groups = [GROUP.dup() for _ in range(6)]
check_collectives(groups[0])
check_persistent(groups[1])
check_others(*groups[2:])
