# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in memory of the host: made, computed in, shared with nobody, given back."""

import numpy as np
import tutti

GROUP = tutti.world()
RANK, SIZE = GROUP.rank, GROUP.size

field = GROUP.zeros((300, 200))
assert field.shape == (300, 200) and field.dtype == float and not field.any()
field += RANK
total = GROUP.zeros(field.shape)
GROUP.allreduce(field, total)
field[:] = -1  # it is this rank's again
assert (total == SIZE * (SIZE - 1) / 2).all()
blocks = GROUP.zeros((SIZE, 20000), np.int32)
blocks[:] = np.arange(SIZE)[:, None] + 100 * RANK
found = GROUP.alltoall(blocks)
blocks[:] = -1
assert (found == (100 * np.arange(SIZE) + RANK)[:, None]).all()
request = GROUP.ibcast(field if RANK == 0 else total, root=0)
request.wait()
assert RANK == 0 or (total == -1).all()

view = GROUP.zeros(100000)[10:20]  # the memory stays with its last view
view[:] = RANK
assert (view == RANK).all()
for _ in range(20000):  # 16 GB, if nothing were given back
    GROUP.zeros(100000)
assert GROUP.zeros(7, np.dtype([("a", "i4"), ("b", "f8")])).shape == (7,)
assert GROUP.zeros(()).shape == () and GROUP.zeros(0).shape == (0,) and GROUP.zeros((3, 0)).shape == (3, 0)

HUGE = 1 << 50
for wrong in (
    {"shape": -1},
    {"shape": (2, 1.5)},
    {"shape": 3, "dtype": object},
    {"shape": HUGE},
    {"shape": (HUGE, HUGE)},
):
    try:
        GROUP.zeros(**wrong)
        raise SystemExit(f"{wrong} was taken")
    except tutti.Error as error:
        assert str(error), wrong
GROUP.barrier()
print(f"rank {RANK} all right", flush=True)
