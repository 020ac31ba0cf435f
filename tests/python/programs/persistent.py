# SPDX-License-Identifier: BSD-3-Clause
"""Collectives that are started again and again."""

import asyncio
import gc

import numpy as np
import tutti

world = tutti.world()
rank, size = world.rank, world.size


def expect_error(text, call):
    try:
        call()
    except tutti.Error as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"no error: {text}")


def everyone(step):
    return sum(r + step for r in range(size))


# Each start sends what the buffer holds then; the result is the same array each time.
send = np.zeros(3)
total = world.allreduce_init(send)
results = set()
for step in range(6):
    send[:] = rank + step
    if step % 3 == 0:
        result = total.run()
    else:
        total.start()
        if step % 3 == 1:
            while not total.test():
                pass
        result = total.wait(60)
    assert (result == everyone(step)).all(), (step, result)
    results.add(id(result))
assert len(results) == 1
assert (total.wait() == everyone(5)).all()  # not started: at once

# It is the same call as the other forms, with any function.
news = np.zeros(1, int)
last = world.bcast_init(news, root=size - 1)
for step in range(6):
    if rank == size - 1:
        news[0] = step
    last.run() if (step + rank) % 2 else world.bcast(news, root=size - 1)
    assert news[0] == step
longest = world.allreduce_init(np.array([float(rank)]), op=tutti.op(np.maximum))
assert longest.run()[0] == size - 1

# Every form makes one.
block, blocks, counts = np.full(2, rank), np.arange(2 * size) + rank, [2] * size
for made, expected in [
    (world.scan_init(block), sum(range(rank + 1))),
    (world.exscan_init(block), sum(range(rank))),
    (world.reduce_init(block), sum(range(size)) if rank == 0 else None),
    (world.reduce_scatter_block_init(np.repeat(block, size)), sum(range(size))),
    (world.reduce_scatter_init(np.repeat(block, size), counts=counts), sum(range(size))),
    (world.gather_init(block), np.repeat(np.arange(size), 2) if rank == 0 else None),
    (world.gatherv_init(block, counts=counts), np.repeat(np.arange(size), 2) if rank == 0 else None),
    (world.allgather_init(block), np.repeat(np.arange(size), 2)),
    (world.allgatherv_init(block, counts=counts), np.repeat(np.arange(size), 2)),
    (world.scatter_init(blocks, np.empty(2, int)), np.arange(2) + 2 * rank),
    (world.scatterv_init(blocks, np.empty(2, int), counts=counts), np.arange(2) + 2 * rank),
    (world.alltoall_init(np.repeat(block, size)), np.repeat(np.arange(size), 2)),
    (
        world.alltoallv_init(np.repeat(block, size), counts, None, counts),
        np.repeat(np.arange(size), 2),
    ),
    (world.barrier_init(), None),
]:
    for _ in range(2):
        result = made.run()
        assert expected is None or (np.ravel(result) == expected).all(), (result, expected)

# Wrong use.
total.start()
expect_error("still under way", total.start)
total.wait()
expect_error("not in the group", lambda: world.bcast_init(news, root=size))
expect_error("elements", lambda: world.allreduce_init(np.zeros(3), np.zeros(2)))


async def wait_inside_asyncio():
    for step in range(3):
        send[:] = rank + step
        total.start()
        assert ((await total) == everyone(step)).all()


asyncio.run(wait_inside_asyncio())

# It keeps its buffers, and dropping it while it is under way waits for it.
for _ in range(20):
    dropped = world.allreduce_init(np.full(100_000, rank))
    dropped.start()
    del dropped
    gc.collect()
world.barrier()
