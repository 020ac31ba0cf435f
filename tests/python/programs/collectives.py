# SPDX-License-Identifier: BSD-3-Clause
"""Every collective on arrays, in both forms, for all roots; values are checked on every rank."""

import numpy as np
import tutti
from numpy.testing import assert_array_equal

GROUP = tutti.world()
RANK, SIZE = GROUP.rank, GROUP.size
DTYPES = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8", "c16")
SHAPES = ((), (0,), (1,), (3, 4), (1000,))


def values(rank, shape, dtype="i8"):
    """What a rank contributes: different everywhere, exact in every dtype."""
    return (np.arange(int(np.prod(shape))) % 7 + 10 * rank).reshape(shape).astype(dtype)


def both(name, *arguments, **options):
    """The blocking form and the i-form of a collective must return the same."""
    waited = getattr(GROUP, "i" + name)(*arguments, **options).wait()
    returned = getattr(GROUP, name)(*arguments, **options)
    if returned is None:
        assert waited is None
    else:
        assert_array_equal(waited, returned)
    return returned


def check_bcast(shape, root):
    expected = values(root, shape)
    for name in ("bcast", "ibcast"):
        buffer = values(RANK, shape)
        result = getattr(GROUP, name)(buffer, root)
        result = result.wait() if name == "ibcast" else result
        assert result is buffer
        assert_array_equal(buffer, expected)


def check_rooted(shape, root):
    everything = np.stack([values(rank, shape) for rank in range(SIZE)])
    for name, expected in (("reduce", everything.sum(0)), ("gather", everything)):
        result = both(name, values(RANK, shape), root=root)
        if root == RANK:
            assert_array_equal(result, expected)
            assert result.shape == expected.shape
        else:
            assert result is None
    block = np.empty(shape, "i8")
    assert both("scatter", everything if root == RANK else None, block, root) is block
    assert_array_equal(block, values(RANK, shape))


def check_unrooted(shape):
    everything = np.stack([values(rank, shape) for rank in range(SIZE)])
    assert_array_equal(both("allgather", values(RANK, shape)), everything)
    result = both("allreduce", values(RANK, shape))
    assert_array_equal(result, everything.sum(0))
    assert result.shape == shape
    matrix = np.stack([values(100 * RANK + rank, shape) for rank in range(SIZE)])
    expected = np.stack([values(100 * rank + RANK, shape) for rank in range(SIZE)])
    assert_array_equal(both("alltoall", matrix), expected)


def check_scans(shape):
    everything = np.stack([values(rank, shape) for rank in range(SIZE)])
    assert_array_equal(both("scan", values(RANK, shape)), everything[: RANK + 1].sum(0))
    assert_array_equal(both("exscan", values(RANK, shape)), everything[:RANK].sum(0))
    blocks = np.stack([values(100 * RANK + rank, shape) for rank in range(SIZE)])
    expected = np.stack([values(100 * rank + RANK, shape) for rank in range(SIZE)]).sum(0)
    block = both("reduce_scatter_block", blocks)
    assert_array_equal(block, expected)
    counts = [(rank + 1) % 3 * len(blocks.flat) // SIZE for rank in range(SIZE)]
    joined = np.arange(sum(counts)) + RANK
    first = sum(counts[:RANK])
    total = SIZE * np.arange(sum(counts)) + SIZE * (SIZE - 1) // 2
    mine = total[first : first + counts[RANK]]
    assert_array_equal(both("reduce_scatter", joined, counts=counts), mine)
    for whole in (False, True):
        again = joined.copy()
        GROUP.reduce_scatter(again, again if whole else again[: counts[RANK]], counts)
        assert_array_equal(again[: counts[RANK]], mine)
        assert_array_equal(again[counts[RANK] :], joined[counts[RANK] :])
        again = blocks.copy()
        GROUP.reduce_scatter_block(again, again if whole else again[:1])
        assert_array_equal(again[0], expected)
        assert_array_equal(again[1:], blocks[1:])
    again = values(RANK, shape)
    assert GROUP.scan(again, again, tutti.MAX) is again
    assert_array_equal(again, values(RANK, shape))
    GROUP.exscan(again, again)
    assert_array_equal(again, everything[:RANK].sum(0) if RANK > 0 else values(0, shape))


def check_in_place():
    mine = values(RANK, (5,))
    assert GROUP.allreduce(mine, mine, tutti.MAX) is mine
    assert_array_equal(mine, values(SIZE - 1, (5,)))
    everything = np.zeros((SIZE, 3), "i8")
    everything[RANK] = RANK
    assert GROUP.allgather(everything, everything) is everything
    assert_array_equal(everything[:, 0], np.arange(SIZE))
    if RANK == 0:
        everything[0] = -1
        assert GROUP.gather(everything[0], everything) is everything  # the block is in place already
        assert_array_equal(everything[:, 1], [-1, *range(1, SIZE)])
        assert GROUP.scatter(everything, everything) is everything
    else:
        GROUP.gather(everything[RANK])
        assert_array_equal(GROUP.scatter(recv=np.empty(3, "i8")), np.full(3, RANK))
    matrix = np.arange(SIZE) + 100 * RANK
    GROUP.alltoall(matrix, matrix)
    assert_array_equal(matrix, 100 * np.arange(SIZE) + RANK)


def check_varying(root):
    counts = [2 * rank for rank in range(SIZE)]
    mine = values(RANK, (counts[RANK],))
    joined = np.concatenate([values(rank, (counts[rank],)) for rank in range(SIZE)])
    gathered = both("gatherv", mine, counts=counts, root=root)
    if root == RANK:
        assert_array_equal(gathered, joined)
    assert_array_equal(both("allgatherv", mine, counts=np.array(counts)), joined)
    block = np.empty(counts[RANK], "i8")
    both("scatterv", joined if root == RANK else None, block, counts, root=root)
    assert_array_equal(block, mine)
    row = [(RANK + rank) % 3 for rank in range(SIZE)]
    send = np.concatenate([np.full(count, 100 * RANK + rank) for rank, count in enumerate(row)])
    expected = np.concatenate([np.full(count, 100 * rank + RANK) for rank, count in enumerate(row)])
    assert_array_equal(both("alltoallv", send, row, recv_counts=row), expected)
    # What is sent and what is received in one array, side by side, and then in place.
    total = sum(row)
    field = np.concatenate([send, np.full(total, -1)])
    behind = np.cumsum([total, *row])[:-1]
    for sent in (field[:total], field):
        field[total:] = -1
        GROUP.alltoallv(sent, row, field, row, None, behind)
        assert_array_equal(field, np.concatenate([send, expected]))
    assert_array_equal(GROUP.alltoallv(field[:total], row, field, row)[:total], expected)
    assert_array_equal(GROUP.alltoallv(field, None, field, row)[:total], send)
    offsets = np.arange(SIZE) * (2 * SIZE)
    spread = np.full(2 * SIZE * SIZE, -1)
    GROUP.allgatherv(mine, spread, counts, offsets)
    for rank in range(SIZE):
        assert_array_equal(spread[offsets[rank] :][: counts[rank]], values(rank, (counts[rank],)))
        assert (spread[offsets[rank] :][counts[rank] : 2 * SIZE] == -1).all()


def check_operations():
    for dtype in DTYPES:
        mine = values(RANK, (9,), dtype)
        assert_array_equal(GROUP.allreduce(mine), sum(values(rank, (9,), dtype) for rank in range(SIZE)))
    bits = np.array([1 << RANK, 255], "u4")
    everything = np.stack([np.array([1 << rank, 255], "u4") for rank in range(SIZE)])
    for op, expected in (
        (tutti.PROD, everything.prod(0, dtype="u4")),
        (tutti.MIN, everything.min(0)),
        (tutti.MAX, everything.max(0)),
        (tutti.BAND, np.bitwise_and.reduce(everything)),
        (tutti.BOR, np.bitwise_or.reduce(everything)),
        (tutti.BXOR, np.bitwise_xor.reduce(everything)),
    ):
        assert_array_equal(GROUP.allreduce(bits, op=op), expected, err_msg=repr(op))
    truth = np.array([RANK == 0, True, False])
    assert_array_equal(GROUP.allreduce(truth, op=tutti.LAND), [SIZE == 1, True, False])
    assert_array_equal(GROUP.allreduce(truth, op=tutti.LOR), [True, True, False])
    assert_array_equal(GROUP.allreduce(truth, op=tutti.LXOR), [True, SIZE % 2 == 1, False])
    nan = np.array([np.nan if RANK == 0 else 1.0])
    assert np.isnan(GROUP.allreduce(nan, op=tutti.MIN))
    for value in ("i1", "i4", "u8", "f4", "f8"):
        located = np.array([(RANK // 2, RANK)], tutti.located(value))
        assert GROUP.allreduce(located, op=tutti.MINLOC)["index"] == 0
        assert GROUP.allreduce(located, op=tutti.MAXLOC)["index"] == (SIZE - 1) // 2 * 2


def check_functions():
    def compose(lower, higher):
        result = np.empty_like(higher)
        result["m"] = lower["m"] * higher["m"]
        result["c"] = lower["c"] * higher["m"] + higher["c"]
        return result

    affine = np.dtype([("m", "u4"), ("c", "u4")])
    everything = [np.array([(rank + 2, 1)] * 10, affine) for rank in range(SIZE)]
    expected = everything[0]
    for other in everything[1:]:
        expected = compose(expected, other)
    op = tutti.op(compose, commutative=False)
    assert_array_equal(both("allreduce", everything[RANK], op=op), expected)
    expected = everything[0]
    for other in everything[1 : RANK + 1]:
        expected = compose(expected, other)
    assert_array_equal(both("scan", everything[RANK], op=op), expected)

    def fails(lower, higher):
        raise ArithmeticError("as this test wants it")

    raised = False
    try:
        GROUP.dup().allreduce(np.ones(3), op=tutti.op(fails))  # breaks that group
    except ArithmeticError:
        raised = True
    except tutti.Error as error:
        assert error.cause == "broken"
    # Where it runs is the algorithm's choice; somewhere it does, when there is something to combine.
    assert GROUP.allreduce(np.array([raised]), op=tutti.LOR)[0] == (SIZE > 1)


def check_buffers():
    assert GROUP.allreduce(RANK + 1) == SIZE * (SIZE + 1) // 2
    assert_array_equal(GROUP.allreduce([1.5, 2]), [1.5 * SIZE, 2 * SIZE])
    target = bytearray(3 * SIZE)
    assert GROUP.allgather(b"abc", target) is target
    assert target == b"abc" * SIZE
    half = GROUP.bcast(np.array([RANK, 1], "f2"), SIZE - 1)  # travels, although it has no arithmetic
    assert_array_equal(half, [SIZE - 1, 1])
    matrix = np.arange(12).reshape(3, 4)
    assert_array_equal(GROUP.allreduce(matrix.T), SIZE * matrix.T)  # sent where it lies
    text = GROUP.bcast(np.array(["tutti" if RANK == 0 else "     "]))
    assert text[0] == "tutti"
    read_only = np.arange(3)
    read_only.flags.writeable = RANK != 0
    GROUP.bcast(read_only)


def check_algorithm():
    assert_array_equal(GROUP.allreduce(np.ones(10), algorithm="ring"), np.full(10, SIZE))
    assert_array_equal(GROUP.iallreduce(np.ones(10), algorithm="ring").wait(), np.full(10, SIZE))


for shape in SHAPES:
    check_unrooted(shape)
    check_scans(shape)
    for root in range(SIZE):
        check_bcast(shape, root)
        check_rooted(shape, root)
for root in range(SIZE):
    check_varying(root)
check_in_place()
check_operations()
check_functions()
check_buffers()
check_algorithm()
GROUP.barrier()
GROUP.ibarrier().wait()
