# SPDX-License-Identifier: BSD-3-Clause
"""Collectives by way of mpi4py, on buffers and on objects; what they give is printed."""

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()


def say(*what):
    with open(f"script.{rank}", "a", encoding="utf-8") as out:
        print(*what, file=out)


say("bcast", world.bcast({"from": 0, "list": [1, 2, 3]} if rank == 0 else None))
say("gather", world.gather(("rank", rank), root=size - 1))
say("scatter", world.scatter([f"to {i}" for i in range(size)] if rank == 0 else None))
say("allgather", world.allgather(rank * 1.5))
say("alltoall", world.alltoall([rank * 10 + i for i in range(size)]))
say("allreduce", world.allreduce({rank}, op=MPI.Op.Create(lambda a, b, _: a | b, commute=True)))
say("scan", world.scan(rank), "exscan", world.exscan(rank))
say("minloc", world.allreduce((rank % 2, rank), op=MPI.MINLOC))

data = bytearray(range(16 * size))
if rank:
    data = bytearray(16 * size)
requests = [world.Ibcast([data, MPI.BYTE]), world.Ibarrier()]
MPI.Request.Waitall(requests)
say("Ibcast", sum(data))
part = bytearray(16)
world.Scatter([data, 16, MPI.BYTE] if rank == 0 else None, [part, 16, MPI.BYTE])
say("Scatter", bytes(part))
halves = world.Split(rank % 2, -rank)
say("Split", halves.Get_size(), halves.allgather(rank))
halves.Free()
ring = world.Create_cart([size], periods=[True])
say("neighbours", ring.neighbor_allgather(rank), ring.neighbor_alltoall([rank * 2, rank * 2 + 1]))
ring.Free()
