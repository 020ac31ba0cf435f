# SPDX-License-Identifier: BSD-3-Clause
"""Grids, graphs, the collectives along their edges, and sparse_exchange."""

import asyncio

import numpy as np
import tutti

world = tutti.world()
rank, size = world.rank, world.size
before, after = (rank - 1) % size, (rank + 1) % size


def expect_error(text, call):
    try:
        call()
    except tutti.Error as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"no error: {text}")


# A ring: what goes in negative direction arrives from positive direction, also on one and on two ranks.
ring = tutti.cartesian(world, [size], [True])
assert isinstance(ring, tutti.Grid) and ring.dims == [size] and ring.periodic == [True]
assert ring.sources == ring.destinations == [before, after]
assert ring.coordinates() == [rank] and ring.coordinates(after) == [after] and ring.rank_at([-1]) == size - 1
assert ring.shift(0) == (before, after)
send = np.array([[rank, 1], [rank, 2]])
assert ring.neighbor_alltoall(send).tolist() == [[before, 2], [after, 1]]
assert ring.ineighbor_alltoall(send).wait().tolist() == [[before, 2], [after, 1]]
assert ring.dup().neighbor_allgather([rank, 5]).tolist() == [[before, 5], [after, 5]]
assert ring.neighbor_reduce([rank, 5]).tolist() == [before + after, 10]
assert ring.ineighbor_reduce(rank, op=tutti.MAX).wait() == max(before, after)
listed = tutti.op(lambda left, right: left * 100 + right, commutative=False)
kept = ring.neighbor_reduce_init(np.array([rank]), op=listed)
assert kept.run().tolist() == kept.run().tolist() == [before * 100 + after]
again = ring.neighbor_alltoall_init(send)
for step in range(3):
    send[:, 0] = rank + step
    assert again.run().tolist() == [[before + step, 2], [after + step, 1]]
expect_error("in place", lambda: ring.neighbor_alltoall(send, send))
expect_error("must have", lambda: ring.neighbor_alltoall(send, np.zeros(3, send.dtype)))
expect_error("block for each destination", lambda: ring.neighbor_alltoall(np.zeros(3)))

# A line with borders, and what is left of a grid when a dimension is cut.
line = tutti.cartesian(world, tutti.dims_create(size, 2))
rows = line.dims[0]
assert line.sources[0] == (None if rank == 0 else rank - line.dims[1])
assert line.rank_at([rows, 0]) is None
came = line.neighbor_allgather(float(rank + 1))
assert came.shape == (4,)
assert came.tolist() == [0.0 if source is None else source + 1.0 for source in line.sources]
assert line.sub([True, False]).size == rows
nothing = tutti.adjacent_graph(world, [], [])
assert nothing.neighbor_reduce([rank]).tolist() == [0]
empty = np.empty((0, 4))
assert nothing.neighbor_alltoall(empty, empty) is empty
assert line.sub([False, False]).neighbor_allgather(1.0).shape == (0,)

# A star from edges that rank 0 gives: twice from 0 to everybody, itself included.
star = tutti.graph(world, [(0, other) for other in range(size) for _ in range(2)] if rank == 0 else [])
assert star.sources == [0, 0]
assert star.destinations == ([other for other in range(size) for _ in range(2)] if rank == 0 else [])
mine = np.arange(2 * size if rank == 0 else 0).reshape(-1, 1)
assert star.neighbor_reduce([1.5, rank]).tolist() == [3.0, 0.0]
assert star.neighbor_alltoall(mine).tolist() == [[2 * rank], [2 * rank + 1]]
exact = star.reproducible()
assert isinstance(exact, tutti.Graph) and exact.is_reproducible and exact.sources == [0, 0]
assert exact.neighbor_reduce([1.5, rank]).tolist() == [3.0, 0.0]
expect_error("no neighbours", lambda: tutti.Graph(world._handle))
expect_error("both ends", lambda: tutti.adjacent_graph(world, [rank], []))

# Blocks of any length: rank r has r + 1 elements for the rank after it.
chain = tutti.adjacent_graph(world, [before, None], [after])
data = np.full(rank + 1, rank)
for algorithm in ("", "linear"):
    got = chain.neighbor_alltoallv(data, [rank + 1], None, [before + 1, 2], algorithm=algorithm)
    assert got.tolist() == [before] * (before + 1) + [0, 0]
    got = chain.neighbor_allgatherv(data, None, [before + 1, 0], algorithm=algorithm)
    assert got.tolist() == [before] * (before + 1)
got = np.full(before + 3, -1)
chain.ineighbor_alltoallv(data, [rank + 1], got, [before + 1, 0], recv_offsets=[1, 0]).wait()
assert got.tolist() == [-1] + [before] * (before + 1) + [-1]
chain.neighbor_allgatherv_init(data, got, [before + 1, 0]).run()
assert got[0] == before
chain.neighbor_alltoallv_init(data, [rank + 1], got, [before + 1, 0]).run()
chain.ineighbor_allgatherv(data, got, [before + 1, 0]).wait()
chain.neighbor_allgather_init(7.0).run()
expect_error("one per neighbour", lambda: chain.neighbor_alltoallv(data, [rank + 1], got, [1]))

# Blocks of any layout: a halo around a field, filled where it lies, on a grid with borders.
grid = tutti.cartesian(world, [size, 1], [False, True])
for call in ("blocking", "request", "persistent"):
    field = np.full((4, 5), -1)
    field[1:3, 1:4] = rank * 100 + np.arange(6).reshape(2, 3)
    inside = [field[1, 1:4], field[2, 1:4], field[1:3, 1], field[1:3, 3]]
    halo = [field[0, 1:4], field[3, 1:4], field[1:3, 0], field[1:3, 4]]
    if call == "blocking":
        assert grid.neighbor_alltoallw(inside, halo) is halo
    elif call == "request":
        grid.ineighbor_alltoallw(inside, halo, algorithm="linear").wait()
    else:
        grid.neighbor_alltoallw_init(inside, halo).run()
    above = [-1] * 3 if rank == 0 else [rank * 100 - 100 + i for i in (3, 4, 5)]
    below = [-1] * 3 if rank == size - 1 else [rank * 100 + 100 + i for i in (0, 1, 2)]
    assert field[0].tolist() == [-1, *above, -1] and field[3].tolist() == [-1, *below, -1]
    assert field[1].tolist() == [rank * 100 + i for i in (2, 0, 1, 2, 0)]
expect_error("one per neighbour", lambda: grid.neighbor_alltoallw(inside[:3], halo))
expect_error("in place", lambda: grid.neighbor_alltoallw(halo, halo))
expect_error("overlap", lambda: grid.neighbor_alltoallw(inside, [halo[0], halo[0], *halo[2:]]))
if size > 1:
    wide = np.zeros((2, 6))
    wide[:, ::3] = rank
    assert grid.neighbor_allgather(wide[:, ::3]).shape == (4, 2, 2)

# Messages to ranks that do not expect them.
came = world.sparse_exchange({0: np.arange(rank + 1.0)}, float)
assert [(source, array.tolist()) for source, array in came] == [
    (r, list(range(r + 1))) for r in range(size) if rank == 0
]
came = world.sparse_exchange([(after, [rank]), (after, []), (after, [rank, rank])], np.int32)
assert [(source, array.tolist()) for source, array in came] == [(before, [before] * n) for n in (1, 0, 2)]
assert came[0][1].dtype == np.int32
came[0][1][0] = 5  # an array of one's own
request = world.isparse_exchange({}, float)
assert world.allreduce(1) == size
assert request.wait() == request.wait() == []
assert request.test()
square = np.arange(9).reshape(3, 3) + rank
came = world.sparse_exchange([(after, square[:, 1]), (after, square.T)], int)
assert [array.tolist() for _, array in came] == [
    [before + i for i in (1, 4, 7)],
    [before + i for i in (0, 3, 6, 1, 4, 7, 2, 5, 8)],
]
expect_error("must pass dtype", lambda: world.sparse_exchange({}))
expect_error("name ranks", lambda: world.sparse_exchange({size: [1.0]}))


async def wait_for_one():
    return await world.isparse_exchange({after: [rank]}, int)


assert [source for source, _ in asyncio.run(wait_for_one())] == [before]

# Groups made by their members alone.
if rank % 2 == 0:
    even = world.create(range(0, size, 2))
    assert even.rank == rank // 2 and even.allreduce(1) == (size + 1) // 2
assert world.split_by_host(-rank).rank == size - 1 - rank
world.barrier()
