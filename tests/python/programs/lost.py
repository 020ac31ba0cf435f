# SPDX-License-Identifier: BSD-3-Clause
"""Rank 1 dies; the others learn it in time, and say so."""

import os
import signal
import sys

import tutti

GROUP = tutti.world()
if GROUP.rank == 1:
    os.kill(os.getpid(), signal.SIGKILL)
try:
    GROUP.barrier()
except tutti.PeerLost as error:
    print(f"rank {GROUP.rank} lost {error.peer}", flush=True)
    sys.exit(0)
sys.exit(3)
