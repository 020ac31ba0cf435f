# SPDX-License-Identifier: BSD-3-Clause
"""Rank 1 dies; the others, who only ask now and then, learn it in time, and hear it again when they ask again."""

import os
import signal
import sys

import numpy as np
import tutti

GROUP = tutti.world()
if GROUP.rank == 1:
    for other in (0, 2):  # they have started
        GROUP.recv(np.empty(1), other)
    os.kill(os.getpid(), signal.SIGKILL)
requests = [GROUP.ibarrier(), GROUP.isparse_exchange({GROUP.rank: [1.0]})]
told = GROUP.isend(np.ones(1), 1)
try:
    while not requests[0].test():
        pass
    sys.exit(3)
except tutti.PeerLost:
    pass
lost = []
for request in requests * 2:
    try:
        request.wait()
        sys.exit(4)
    except tutti.PeerLost as error:
        lost.append(error.peer)
assert lost == [1] * 4, lost
print(f"rank {GROUP.rank} lost 1", flush=True)
