# SPDX-License-Identifier: BSD-3-Clause
"""Every collective on Python objects, groups of groups, and messages between two ranks."""

import numpy as np
import tutti

GROUP = tutti.world()
RANK, SIZE = GROUP.rank, GROUP.size


def thing(rank):
    """An object whose pickle has another length on every rank."""
    return {"rank": rank, "data": [rank] * 50 * rank, "text": "ä" * rank}


def check_collectives():
    everything = [thing(rank) for rank in range(SIZE)]
    for root in range(SIZE):
        assert GROUP.bcast_object(thing(RANK), root) == everything[root]
        gathered = GROUP.gather_object(thing(RANK), root)
        assert gathered == (everything if root == RANK else None)
        assert GROUP.scatter_object(everything if root == RANK else None, root) == thing(RANK)
        words = GROUP.reduce_object(f"{RANK} ", root=root)
        assert words == ("".join(f"{rank} " for rank in range(SIZE)) if root == RANK else None)
    assert GROUP.allgather_object(thing(RANK)) == everything
    assert GROUP.alltoall_object([(RANK, rank) for rank in range(SIZE)]) == [(rank, RANK) for rank in range(SIZE)]
    assert GROUP.allreduce_object(RANK, max) == SIZE - 1
    assert GROUP.allreduce_object([RANK]) == list(range(SIZE))
    big = GROUP.bcast_object(np.arange(200_000) if RANK == 0 else None)
    assert big.sum() == 199_999 * 100_000
    assert GROUP.bcast_object(None) is None


def check_messages():
    if SIZE == 1:
        return
    if RANK == 0:
        for rank in range(1, SIZE):
            GROUP.send_object(thing(rank), rank, tag=rank)
            assert GROUP.recv_object(rank) == thing(rank)
            GROUP.send(np.arange(5) * rank, rank)
    else:
        received = GROUP.recv_object(0, tag=RANK)
        assert received == thing(RANK)
        GROUP.send_object(received, 0)
        buffer = np.empty(5, int)
        assert GROUP.recv(buffer, 0) is buffer
        assert (buffer == np.arange(5) * RANK).all()
    right, left = (RANK + 1) % SIZE, (RANK - 1) % SIZE
    incoming = GROUP.irecv(np.empty(100_000), left, tag=3)
    outgoing = GROUP.isend(np.full(100_000, RANK, float), right, tag=3)
    received, nothing = tutti.wait_all([incoming, outgoing])
    assert (received == left).all()
    assert nothing is None


def check_groups():
    half = GROUP.split(RANK % 2, key=-RANK)
    assert half.allgather_object(RANK) == [rank for rank in reversed(range(SIZE)) if rank % 2 == RANK % 2]
    assert half.rank == (SIZE - 1 - RANK) // 2
    assert GROUP.split(-1 if RANK == 0 else 0) is None or RANK != 0
    copy = GROUP.dup()
    assert (copy.rank, copy.size) == (RANK, SIZE)
    assert copy.split_by_host().allreduce(1) == SIZE  # one machine
    ends = GROUP.subgroup([SIZE - 1, 0] if SIZE > 1 else [0])
    assert (ends is None) == (RANK not in (0, SIZE - 1))
    if ends is not None:
        assert ends.allgather_object(RANK) == ([SIZE - 1, 0] if SIZE > 1 else [0])
    assert repr(GROUP) == f"<tutti.Group world, rank {RANK} of {SIZE}>"
    assert tutti.world().name == "world"


check_collectives()
check_messages()
check_groups()
GROUP.barrier()
