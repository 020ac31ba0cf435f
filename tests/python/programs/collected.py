# SPDX-License-Identifier: BSD-3-Clause
"""A collection of garbage that would begin inside a reduction function, and find requests and groups there."""

import gc
import sys

import numpy as np
import tutti

WORLD = tutti.world()
RANK, SIZE = WORLD.rank, WORLD.size


class Cycle:
    """Only the collector ends it."""

    def __init__(self, *things):
        self.things, self.itself = things, self


def churn(lower, higher):
    """Makes so many objects that a collection is due."""
    kept = [[number] for number in range(5000)]
    return lower + higher + 0 * len(kept)


operation = tutti.op(churn)
gc.collect()
reducing, pending = WORLD.dup(), WORLD.dup()
for round_ in range(20):
    request = pending.ibarrier()
    done = pending.ibarrier()
    request.wait()
    done.wait()
    Cycle(done, WORLD.dup() if round_ % 5 == 0 else None, pending.irecv(np.empty(1), (RANK - 1) % SIZE, round_))
    pending.send(np.ones(1), (RANK + 1) % SIZE, round_)
    if sys.version_info < (3, 10):
        gc.collect()
    assert (reducing.allreduce(np.ones(64 * SIZE), op=operation) == SIZE).all()
assert gc.isenabled()
