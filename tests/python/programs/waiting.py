# SPDX-License-Identifier: BSD-3-Clause
"""Rank 1 stays away from a collective, and from a message."""

import sys
import time

import numpy as np
import tutti

world = tutti.world()


def step():
    """The line that the test looks for."""
    if sys.argv[1] == "request":
        world.iallreduce(np.ones(3)).wait()
    elif sys.argv[1] == "any":
        tutti.wait_any([world.iallreduce(np.ones(3))])
    elif sys.argv[1] == "recv":
        world.recv(np.empty(3), 1, tag=9)
    elif sys.argv[1] == "split":
        world.split(world.rank)
    elif sys.argv[1] == "grid":
        tutti.cartesian(world, [2])
    elif sys.argv[1] == "agree":
        world.agree(True)
    else:
        world.allreduce(np.ones(3))


if world.rank == 0:
    step()
time.sleep(60)
