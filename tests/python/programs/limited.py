# SPDX-License-Identifier: BSD-3-Clause
"""With TUTTI_TIMEOUT, a blocking call that rank 0 does not join ends by itself, and gives the group up."""

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


def check_messages(receiving, sending):
    large = np.zeros(1_000_000)
    if RANK == 1:
        assert cause_of(receiving.recv, large, 0) == "timeout"
        assert cause_of(sending.send, large, 0) == "timeout"
        assert cause_of(receiving.recv, large, 0) == "broken"
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
        del total  # gives it up
        GROUP.isend(np.ones(1), 0).wait()


# Made first, together: nothing that blocks may wait for rank 1 afterwards.
groups = [GROUP.dup() for _ in range(4)]
check_collectives(groups[0])
check_persistent(groups[1])
check_messages(*groups[2:])
