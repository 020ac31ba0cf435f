# SPDX-License-Identifier: BSD-3-Clause
"""With TUTTI_TIMEOUT, a blocking collective that rank 0 does not join ends by itself, and gives the group up."""

import tutti

GROUP = tutti.world()
group = GROUP.dup()


def cause_of_barrier():
    """What a barrier fails with."""
    try:
        group.barrier()
    except tutti.Error as error:
        return error.cause
    return None


if GROUP.rank == 0:
    for rank in range(1, GROUP.size):
        GROUP.recv_object(rank)
    assert cause_of_barrier() == "broken"
else:
    assert cause_of_barrier() in ("timeout", "broken")
    GROUP.send_object("over", 0)
    assert cause_of_barrier() == "broken"
