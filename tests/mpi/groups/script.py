# SPDX-License-Identifier: BSD-3-Clause
"""Groups made from mpi4py's communicators."""

import sys

import numpy
import tutti
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()


def refused(communicator, *words):
    """The text of the error says what to do."""
    try:
        tutti.from_mpi(communicator)
    except tutti.Error as error:
        assert error.cause == "usage"
        assert all(word in str(error) for word in words), error
    else:
        raise AssertionError(f"a group of {communicator}")


def check(communicator):
    group = tutti.from_mpi(communicator)
    assert (group.rank, group.size) == (communicator.Get_rank(), communicator.Get_size())
    for count in (0, 3, 50_001):
        total = group.allreduce(numpy.full(count, group.rank + 1.5))
        assert (total == group.size * (group.size + 2) / 2).all()
    assert group.allgather_object(str(group.rank)) == [str(one) for one in range(group.size)]
    assert group.bcast_object({"from": group.rank}, root=group.size - 1) == {"from": group.size - 1}
    return group


everyone = check(world)
assert everyone.name == "MPI_COMM_WORLD"
assert check(MPI.COMM_SELF).size == 1
halves = world.Split(rank % 2, -rank)
part = check(halves)
if size > 1:
    others = max(one for one in range(size) if one % 2 != rank % 2)  # the other half's first: it counts backwards
    between = halves.Create_intercomm(0, world, others, 7)
    refused(between, "Intercomm_merge")
halves.Free()
assert part.allreduce(1) == part.size
refused(MPI.COMM_NULL, "MPI_COMM_NULL")
for something in (3, None, "MPI_COMM_WORLD"):
    try:
        tutti.from_mpi(something)
    except TypeError as error:
        assert "mpi4py" in str(error)
    else:
        raise AssertionError(something)
if len(sys.argv) > 1:
    del everyone, part
MPI.Finalize()
if len(sys.argv) == 1:
    try:
        everyone.barrier()
    except tutti.Error as error:
        assert error.cause == "broken"
        assert "MPI_Finalize" in str(error)
    else:
        raise AssertionError("a barrier after MPI_Finalize")
refused(MPI.COMM_WORLD, "MPI_Finalize")
print("good")
