# SPDX-License-Identifier: BSD-3-Clause
"""Arrays that are not contiguous, as buffers of every collective; and a list of arrays, one per rank."""

import numpy as np
import tutti
from numpy.testing import assert_array_equal

GROUP = tutti.world()
RANK, SIZE = GROUP.rank, GROUP.size
POISON = -7.0


def places(length):
    """Views of `length` elements in arrays of their own, each lying in another way, with the array around it."""
    wide = np.full(3 * length + 2, POISON)
    yield wide[1 : 1 + 3 * length : 3], wide
    table = np.full((length, 5), POISON)
    yield table[:, 2], table
    yield wide[3 * length : 0 : -3], wide
    block = np.full((length + 2, 7), POISON)
    yield block[1:-1, 2:3].T.reshape(-1) if length == 1 else block[1:-1, 2], block
    cube = np.full((3, 2, length), POISON, "f8")
    yield cube[1, 1], cube


def value(rank, length):
    """What a rank contributes."""
    return 100.0 * rank + np.arange(length)


def mine(length, which):
    """This rank's contribution, lying in a way of its own."""
    chosen = list(places(length))[(RANK + which) % 5][0]
    chosen[...] = value(RANK, length)
    return chosen


def room(length, which):
    """A place to receive in, and the array around it."""
    chosen, around = list(places(length))[(RANK + which + 2) % 5]
    around[...] = POISON
    return chosen, around


def expect(received, around, values):
    """The elements are there, and nothing around them has changed."""
    assert_array_equal(received, values)
    assert (around == POISON).sum() == around.size - received.size


def three_forms(name, *arguments):
    """The blocking form, the request and the persistent one."""
    yield lambda: getattr(GROUP, name)(*arguments)
    yield lambda: getattr(GROUP, "i" + name)(*arguments).wait()
    persistent = getattr(GROUP, name + "_init")(*arguments)
    persistent.start()
    yield persistent.wait


def check(name, send, length, which, values, *rest):
    """One collective in its three forms; values None: this rank receives nothing."""
    for form in range(3):
        received, around = room(length, which + form)
        for i, call in enumerate(three_forms(name, send, received, *rest)):
            if i != form:
                continue
            call()
            if values is not None:
                expect(received, around, values)
            break


everybody = [value(rank, 4) for rank in range(SIZE)]
for which in range(5):
    total = sum(everybody)
    check("allreduce", mine(4, which), 4, which, total)
    check("scan", mine(4, which), 4, which, sum(everybody[: RANK + 1]))
    check("reduce", mine(4, which), 4, which, total if RANK == SIZE - 1 else None, tutti.SUM, SIZE - 1)
    check("allgather", mine(4, which), 4 * SIZE, which, np.concatenate(everybody))
    check("gather", mine(4, which), 4 * SIZE, which, np.concatenate(everybody) if RANK == 0 else None)
    blocks = [value(rank, 2 * SIZE) for rank in range(SIZE)]
    mine_of_all = sum(block[2 * RANK : 2 * RANK + 2] for block in blocks)
    check("reduce_scatter_block", mine(2 * SIZE, which), 2, which, mine_of_all)
    check(
        "alltoall", mine(2 * SIZE, which), 2 * SIZE, which, np.concatenate([b[2 * RANK : 2 * RANK + 2] for b in blocks])
    )
    check("scatter", mine(2 * SIZE, which), 2, which, blocks[0][2 * RANK : 2 * RANK + 2])
    received, around = room(6, which)
    received[...] = value(RANK, 6)
    GROUP.bcast(received, SIZE - 1)
    expect(received, around, value(SIZE - 1, 6))
    received, around = room(6, which)
    received[...] = value(RANK, 6)
    GROUP.allreduce(received, received)  # in place
    expect(received, around, sum(value(rank, 6) for rank in range(SIZE)))

# The result of a scattered reduction may lie in the beginning of what was sent, and what lies between stays.
for length in (1, 10):
    for reduction, *counts in (GROUP.reduce_scatter_block,), (GROUP.reduce_scatter, [length] * SIZE):
        for forth in (True, False):
            around = np.full(2 * length * SIZE + 9, POISON)
            whole = around[: 2 * length * SIZE : 2] if forth else around[: length * SIZE][::-1]
            whole[...] = np.arange(length * SIZE)
            reduction(whole, whole[:length], *counts)
            assert_array_equal(whole[:length], SIZE * (np.arange(length) + length * RANK))
            assert (around == POISON).sum() == around.size - whole.size

# Every other element of one array is sent, the ones between are filled.
both = np.arange(2000.0)
GROUP.allreduce(both[::2], both[1::2])
assert_array_equal(both[1::2], SIZE * np.arange(0, 2000, 2))
assert_array_equal(both[::2], np.arange(0, 2000, 2))

# A persistent call sends what the buffer holds at each start, also when it is not contiguous.
table = np.zeros((5, 4))
column = GROUP.allreduce_init(table[:, 1])
for step in range(3):
    table[:, 1] = step
    column.start()
    assert_array_equal(column.wait(), np.full(5, step * SIZE))

# A message: a column becomes a row.
if SIZE > 1 and RANK < 2:
    square = np.arange(9.0).reshape(3, 3) + 10 * RANK
    if RANK == 0:
        GROUP.send(square[:, 2], 1)
    else:
        GROUP.recv(square[0], 0)
        assert_array_equal(square, [[2, 5, 8], [13, 14, 15], [16, 17, 18]])

# Each pair of ranks has a type and a place of its own; rank 0 gets nothing from the last one.
TYPES = ["f8", "i4", "c16", "u1"]


def sent(source, to):
    """What `source` sends to `to`."""
    return (np.arange(to + 1) + 10 * source).astype(TYPES[(source + to) % 4])


def nothing(source, to):
    """Whether these two have nothing for each other."""
    return source == SIZE - 1 and to == 0


for form in range(3):
    send = [None if nothing(RANK, to) else np.repeat(sent(RANK, to), 3)[1::3] for to in range(SIZE)]
    around = [np.full((RANK + 1, 4), 77, TYPES[(source + RANK) % 4]) for source in range(SIZE)]
    recv = [None if nothing(source, RANK) else around[source][:, 2] for source in range(SIZE)]
    for i, call in enumerate(three_forms("alltoallw", send, recv)):
        if i == form:
            call()
            break
    for source in range(SIZE):
        assert (np.delete(around[source], 2, axis=1) == 77).all()
        assert_array_equal(around[source][:, 2], 77 if nothing(source, RANK) else sent(source, RANK))

# In place: rows become columns, as in the transposition of a matrix over the ranks.
matrix = np.arange(SIZE, dtype="i8") + 100 * RANK
parts = [matrix[i : i + 1] for i in range(SIZE)]
GROUP.alltoallw(parts, list(parts))  # the same arrays: in place
assert_array_equal(matrix, 100 * np.arange(SIZE) + RANK)
