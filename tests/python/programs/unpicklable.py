# SPDX-License-Identifier: BSD-3-Clause
"""Objects that one rank alone cannot pickle, or unpickle: nobody waits for ever, all learn who and why."""

import threading

import tutti

GROUP = tutti.world()
RANK, SIZE = GROUP.rank, GROUP.size


class Fragile:
    """Can be pickled; whether it can be unpickled depends on who does it."""

    def __reduce__(self):
        """Unpickling calls `made`."""
        return made, ()


class Speechless(Exception):
    """Even its text raises."""

    def __str__(self):
        """As a broken class may do it."""
        raise OSError("no words")


class Mute:
    """Cannot be pickled, and does not say why."""

    def __reduce__(self):
        """Called by pickle."""
        raise Speechless


def made():
    """Fails on the last rank."""
    if RANK == SIZE - 1:
        raise OSError("out of glue")
    return "glued"


def refused(text, call, *arguments, **options):
    """The call raises an Error with that text; the group is as before."""
    try:
        call(*arguments, **options)
    except tutti.Error as error:
        assert error.cause == "usage", error.cause
        assert text in str(error), str(error)
    else:
        raise AssertionError(f"{call} did not raise")
    assert GROUP.allreduce(1) == SIZE


def check_pickling(bad):
    """`bad` is the rank whose object is none."""
    thing = threading.Lock() if bad == RANK else "good"
    why = f"rank {bad}: cannot pickle: TypeError"
    refused(why, GROUP.bcast_object, thing, bad)
    refused(why, GROUP.gather_object, thing, 0)
    refused(why, GROUP.gather_object, thing, SIZE - 1)
    refused(why, GROUP.allgather_object, thing)
    refused(why, GROUP.scatter_object, [*range(SIZE - 1), thing], bad)
    refused(f"rank {bad}: scatter_object needs", GROUP.scatter_object, [1] * (SIZE + 1), bad)
    refused(why, GROUP.alltoall_object, [thing] * SIZE)
    refused(f"rank {bad}: cannot pickle: Speechless", GROUP.allgather_object, Mute() if bad == RANK else 1)
    refused(f"rank {bad}: alltoall_object needs", GROUP.alltoall_object, [1] * (SIZE + (bad == RANK)))
    refused(why, GROUP.reduce_object, thing)
    refused(why, GROUP.allreduce_object, thing)
    assert GROUP.allgather_object(RANK) == list(range(SIZE))


def check_messages():
    if SIZE == 1:
        return
    if RANK == 0:
        refused("rank 0: cannot pickle", GROUP.send_object, threading.Lock(), 1)
    elif RANK == 1:
        refused("rank 0: cannot pickle", GROUP.recv_object, 0)
    else:
        assert GROUP.allreduce(1) == SIZE


def check_unpickling():
    if RANK == SIZE - 1:
        refused("cannot unpickle what rank 0 sent: OSError: out of glue", GROUP.allgather_object, Fragile())
    else:
        assert GROUP.allgather_object(Fragile()) == ["glued"] * SIZE
        assert GROUP.allreduce(1) == SIZE


for rank in sorted({0, SIZE // 2, SIZE - 1}):
    check_pickling(rank)
check_messages()
check_unpickling()
