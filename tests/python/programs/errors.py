# SPDX-License-Identifier: BSD-3-Clause
"""Wrong calls: those found before anything is sent leave the group intact; ranks that disagree break theirs alone."""

import pickle

import numpy as np
import tutti

GROUP = tutti.world()
RANK, SIZE = GROUP.rank, GROUP.size


def refuses(part_of_text, call, *arguments, **options):
    """The call raises Error with the cause "usage", and the text helps."""
    try:
        call(*arguments, **options)
    except tutti.Error as error:
        assert error.cause == "usage", error.cause
        assert part_of_text in str(error), str(error)
        assert error.peer is None
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), again.cause) == (type(error), str(error), error.cause)
    else:
        raise AssertionError(f"{call} with {arguments} {options} did not raise")


def check_no_numbers(ones):
    """What should be a number, or a name, and is none."""
    for call in (GROUP.bcast, GROUP.ibcast, GROUP.bcast_init, GROUP.bcast_object):
        refuses("root must be a whole number, not 0.0", call, ones, 0.0)
    refuses("root must be from", GROUP.bcast, ones, 1 << 40)
    for call in (GROUP.allreduce, GROUP.iallreduce, GROUP.allreduce_init, GROUP.sum):
        refuses("algorithm must be a name", call, ones, algorithm=3)
    refuses("to must be a whole number", GROUP.isend, ones, "0")
    refuses("source must be a whole number", GROUP.irecv, ones, None)
    refuses("tag must be from 0", GROUP.send, ones, 0, -1)
    refuses("colour must be a whole number", GROUP.split, "red")
    refuses("key must be from", GROUP.split_by_host, 1 << 31)
    refuses("each of the ranks must be a whole number", GROUP.create, ["a"])
    refuses("the ranks must be several", GROUP.subgroup, 0)
    refuses("each of the dims must be a whole number, not 1.5", tutti.cartesian, GROUP, [1.5])
    refuses("a source and a destination", tutti.graph, GROUP, [(0,)])
    refuses("each of the sources", tutti.adjacent_graph, GROUP, ["a"], [])
    refuses("a parcel's rank must be", GROUP.sparse_exchange, {"a": ones})
    refuses("rank must be a whole number", tutti.PlanBuilder, "plan", 0.5, 2)
    prepared = GROUP.allreduce_init(ones)
    for call in (prepared.run, prepared.wait, lambda time: tutti.wait_all([], time)):
        refuses("timeout must be a number of seconds", call, "soon")
    pending = GROUP.ibarrier()
    for call in (prepared.run, prepared.wait, pending.wait, lambda time, one=pending: tutti.wait_any([one], time)):
        refuses("time", call, float("nan"))
    pending.wait()  # what was refused has given up nothing
    assert (GROUP.bcast(ones, np.int64(0)) == ones).all()


def check_refused():
    ones = np.ones(4)
    refuses("root", GROUP.bcast, ones, SIZE)
    check_no_numbers(ones)
    refuses("recv has", GROUP.allreduce, ones, np.ones(4, "f4"))
    refuses("no buffer can hold", GROUP.allreduce, np.timedelta64(300, "s"), op=tutti.MAX)
    refuses("recv has", GROUP.allreduce, ones, np.ones((2, 2)))
    refuses("elements", GROUP.allgather, ones, np.ones(4 * SIZE + 1))
    refuses("overlap", GROUP.allreduce, np.ones(4), np.lib.stride_tricks.as_strided(np.ones(8), (4,), (4,)))
    square = np.ones((3, 3))
    refuses("overlap", GROUP.allreduce, square, square.T)
    long = np.ones((3000 * SIZE, 2))
    refuses("overlap", GROUP.reduce_scatter_block, long[:, 0], long.reshape(-1)[:3000])
    refuses("overlap", GROUP.alltoallw, [ones[:3]] * SIZE, [square[0]] * SIZE) if SIZE > 1 else None
    check_columns()
    refuses("one per rank", GROUP.alltoallw, [ones] * (SIZE + 1), [square] * SIZE)
    for fixed in (np.frombuffer(bytes(32)), bytes(32)):
        refuses("recv is read-only; pass a writable array", GROUP.allreduce, ones, fixed)
    refuses("must be", GROUP.allreduce, ones, [1, 2, 3, 4])
    refuses("_object", GROUP.allreduce, np.array([None]))
    refuses("tutti.op", GROUP.allreduce, ones, op=max)
    for function in (3, None):
        refuses("tutti.op needs a function", tutti.op, function)
    refuses("located", GROUP.allreduce, ones, op=tutti.MINLOC)
    check_elements()
    refuses("dtype >f8; convert", GROUP.allreduce, np.ones(4, ">f8"))
    refuses("dtype float16; convert", GROUP.reduce_scatter_block, np.ones(SIZE, "f2"))
    refuses("or pass a function", GROUP.scan, np.ones(4, np.longdouble))
    refuses("band", GROUP.allreduce, ones, op=tutti.BAND)
    refuses("no such thing", GROUP.allreduce, ones, algorithm="no such thing")
    refuses("counts", GROUP.allgatherv, ones)
    refuses("counts", GROUP.allgatherv, ones, np.ones(4 * SIZE), [4] * (SIZE + 1))
    refuses("does not lie in `recv`", GROUP.allgatherv, ones, np.ones(4 * SIZE - 1), [4] * SIZE)
    refuses("whole number", GROUP.allgatherv, ones, np.ones(4 * SIZE), [4.5] * SIZE)
    refuses("a count or an offset must be from 0", GROUP.allgatherv, ones, None, [-4] * SIZE)
    refuses("a count or an offset must be from 0", GROUP.allgatherv, ones, None, [1 << 70] * SIZE)
    refuses(
        "a count or an offset must be from 0", GROUP.alltoallv, ones, [1] * SIZE, ones, [1] * SIZE, None, [-1] * SIZE
    )
    refuses("alltoallv: pass recv, or recv_counts", GROUP.alltoallv, ones, [1] * SIZE)
    refuses(
        "scatterv: offsets has 1 numbers", GROUP.scatterv, ones, np.ones(1), [1] * SIZE, [0], RANK
    ) if SIZE > 1 else None
    refuses("does not lie in `send`", GROUP.scatterv, ones, np.ones(1), [5] * SIZE, None, RANK)
    refuses("gives itself 4 elements and takes 3", GROUP.gatherv, ones, None, [3] * SIZE, None, RANK)
    if SIZE > 1:
        refuses("overlap", GROUP.allgatherv, ones, np.ones(4 * SIZE), [4] * SIZE, [0] * SIZE)
        refuses("overlap", GROUP.allgatherv, ones, np.ones(4 * SIZE), [4] * SIZE, list(range(SIZE))[::-1])
    refuses("overlap", GROUP.allreduce, *overlapping())
    refuses("one object per rank", GROUP.alltoall_object, [1] * (SIZE + 1))
    refuses("no such rank", GROUP.send, ones, SIZE)
    refuses("recv", GROUP.scatter, None, None, (RANK + 1) % SIZE) if SIZE > 1 else None
    refuses("complete", finished().fileno)
    assert GROUP.allreduce(1) == SIZE


def check_elements():
    """What is alike in size alone, and what no buffer holds."""
    close = np.dtype({"names": ["value", "index"], "formats": ["f4", "i8"], "offsets": [0, 4], "itemsize": 16})
    refuses("at byte 8", GROUP.allreduce, np.zeros(2, close), op=tutti.MAXLOC)
    refuses("recv has", GROUP.allgather, np.ones(2, "f2"), np.empty((SIZE, 2), ">f2"))
    refuses("recv has", GROUP.allgather, np.ones(2, ">f4"), np.empty((SIZE, 2), ">i4"))
    refuses("a.view('i8')", GROUP.bcast, np.array(["2024-01-01"], "M8[D]"))
    refuses("a.view('i8')", GROUP.allreduce, np.ones(1), np.array(["2024-01-01"], "M8[D]"))
    refuses("float64 cannot be sent as int64", GROUP.sparse_exchange, {0: [1.7]}, "i8")


def check_columns():
    """Columns of an array share nothing with the columns beside them, and all of it with themselves, however many."""
    for rows in (3, 30_000):
        pairs = np.zeros((rows, 2))
        pairs[:, 0] = 1
        assert GROUP.allreduce(pairs[:, 0], pairs[:, 1]).sum() == rows * SIZE
        flat = pairs.reshape(-1)
        refuses("overlap", GROUP.allreduce, flat[::2], flat[:rows])
        refuses("overlap", GROUP.allreduce, flat[::2], flat[rows - 1 :: -1])
        refuses("overlap", GROUP.allreduce, pairs[:-1], pairs[1:])
    wide = np.ones((40, 4001))
    refuses("overlap", GROUP.allreduce, wide[:, :-1], wide[:, 1:])
    wide[:, 2000:] = 0
    assert GROUP.allreduce(wide[:, :2000], wide[:, 2000:4000]).min() == SIZE


def overlapping():
    """Two arrays that share some of their memory."""
    whole = np.ones(5)
    return whole[1:], whole[:-1]


def finished():
    """A request whose end has been collected."""
    request = GROUP.ibarrier()
    request.wait()
    return request


def check_mismatch():
    group = GROUP.dup()
    try:
        if RANK == 0:
            group.allreduce(np.ones(3))
        else:
            group.allreduce(np.ones(4))
    except tutti.Error as error:
        assert isinstance(error, tutti.Mismatch) or error.cause == "broken", repr(error)
    else:
        raise AssertionError("lengths that differ were not noticed")
    try:
        group.barrier()
    except tutti.Error as error:
        assert error.cause in ("mismatch", "broken")
    else:
        raise AssertionError("the group is not broken")
    assert GROUP.allreduce(1) == SIZE


check_refused()
if SIZE > 1:
    check_mismatch()
