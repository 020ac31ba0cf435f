# SPDX-License-Identifier: BSD-3-Clause
"""Ranks 1 and 4 are killed; the others agree on it, and go on in a group of their own."""

import os
import signal

import numpy as np
import tutti

world = tutti.world()
assert world.agree(True) is True
assert world.agree(world.rank != 0) is False
assert world.lost == []
if world.rank in (1, 4):
    os.kill(os.getpid(), signal.SIGKILL)
worked = True
try:
    while True:
        world.barrier()
except tutti.PeerLost:
    worked = False
assert world.agree(worked) is False
left = world.shrink()
assert world.lost == [1, 4], world.lost
total = np.zeros(1)
left.allreduce(np.array([float(world.rank)]), total)
assert total[0] == 0 + 2 + 3
try:
    world.barrier()
    raise SystemExit("a broken group works")
except tutti.PeerLost:
    pass
if left.rank == 0:
    print(f"{left.size} of {world.size} go on, without {world.lost}")
