# SPDX-License-Identifier: BSD-3-Clause
"""Programs that end while something is pending, in globals and in a thread: lost with them, and nobody waits for it.

pending: all end in order. raising: rank 1 dies of an exception, and the others hear of it. thread: daemon threads of
each rank wait inside Tutti. reducing: one is inside a reduction function. forking: a child ends while a thread waits.
"""

import os
import sys
import threading
import time

import numpy as np
import tutti
from causes import cause_of

WORLD = tutti.world()
RANK, SIZE = WORLD.rank, WORLD.size
NEXT = (RANK + 1) % SIZE
how = sys.argv[1]
waiting, reducing = WORLD.dup(), WORLD.dup()
started = [WORLD.irecv(np.empty(3), NEXT), waiting.ibarrier() if RANK == 0 else None]
again = WORLD.dup().allreduce_init(np.ones(4), np.empty(4))
if RANK == 0:
    again.start()
sent = WORLD.isparse_exchange({NEXT: np.ones(2)}) if RANK == 0 else None

if how == "raising":
    if RANK == 1:
        raise ValueError("of rank 1")
    assert cause_of(WORLD.barrier) == "peer_lost"
elif how == "thread":
    for number in range(3):
        threading.Thread(target=lambda tag=number: WORLD.recv(np.empty(1), NEXT, 7 + tag), daemon=True).start()
    time.sleep(0.2)
elif how == "reducing":

    def slow(lower, higher):
        """Gives the interpreter away."""
        time.sleep(0.002)
        return lower + higher

    def reduce_for_ever():
        while True:
            reducing.allreduce(np.ones(1000), op=tutti.op(slow))

    threading.Thread(target=reduce_for_ever, daemon=True).start()
    time.sleep(0.2)
elif how == "forking":
    threading.Thread(target=started[0].wait, daemon=True).start()
    for _ in range(20):
        if os.fork() == 0:
            sys.exit(0)
        os.wait()
