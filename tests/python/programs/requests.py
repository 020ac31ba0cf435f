# SPDX-License-Identifier: BSD-3-Clause
"""Requests: tests, time-outs, descriptors, asyncio, threads, buffers that nobody else keeps."""

import asyncio
import contextlib
import gc
import select
import signal
import threading
import time

import numpy as np
import tutti
from causes import cause_of

GROUP = tutti.world()
RANK, SIZE = GROUP.rank, GROUP.size


def check_forms():
    request = GROUP.iallreduce(np.ones(4))
    result = request.wait()
    assert (result == SIZE).all()
    assert request.wait() is result  # as often as one likes
    assert request.test()
    request = GROUP.ibarrier()
    while not request.test():
        pass
    request = GROUP.ibarrier()
    ready, _, _ = select.select([request], [], [], 60)
    assert ready == [request]
    assert request.test()


def check_many():
    requests = [GROUP.iallreduce(np.array([i])) for i in range(100)]
    gc.collect()  # the requests alone keep the arrays
    assert [int(result[0]) for result in tutti.wait_all(requests)] == [i * SIZE for i in range(100)]
    requests = [GROUP.ibarrier() for _ in range(10)]
    seen = {tutti.wait_any(requests) for _ in requests}
    assert seen == set(range(10))
    assert tutti.wait_any(requests) is None
    assert tutti.wait_all([]) == []


def raises_timeout(wait):
    before = time.monotonic()
    try:
        wait()
    except tutti.Timeout as error:
        assert error.cause == "timeout"
        assert time.monotonic() - before < 10
        return True
    return False


def check_time_out():
    """Rank 0 lets the others wait until they have seen their time run out."""
    if RANK == 0:
        for rank in range(1, SIZE):
            GROUP.recv_object(rank)
        GROUP.barrier()
        return
    request = GROUP.ibarrier()
    assert raises_timeout(lambda: request.wait(0.02))
    assert raises_timeout(lambda: request.wait(timeout=0))
    assert raises_timeout(lambda: tutti.wait_all([request], 0.02))
    assert raises_timeout(lambda: tutti.wait_any([request], 0.08))
    assert not request.test()
    GROUP.send_object("go on", 0)
    request.wait(60)


async def talk(group):
    """Two collectives and a clock that ticks meanwhile."""
    ticks = 0

    async def tick():
        nonlocal ticks
        while True:
            await asyncio.sleep(0.005)
            ticks += 1

    clock = asyncio.ensure_future(tick())
    if RANK == 0:
        await asyncio.sleep(0.2)
    first, second = group.iallreduce(np.array([1.0])), group.iallgather(np.array([RANK]))
    total, ranks = await asyncio.gather(wait(first), wait(second))
    clock.cancel()
    assert total[0] == SIZE
    assert (ranks.ravel() == np.arange(SIZE)).all()
    assert await first is total  # complete already
    assert SIZE == 1 or ticks > 5


async def wait(request):
    """A coroutine of an awaitable."""
    return await request


def check_threads():
    """A thread that waits leaves the interpreter to the others."""
    group = GROUP.dup()
    request = group.ibarrier()
    results = []
    thread = threading.Thread(target=lambda: results.append(request.wait()))
    if RANK == 0:
        GROUP.barrier()  # the others' threads wait for rank 0's operation, which has started: nothing blocks this one
    else:
        GROUP.barrier()
    thread.start()
    thread.join(60)
    assert results == [None]


def check_overlap():
    """A rank computes while the others' thread waits in a blocking call."""
    group = GROUP.dup()
    counted = 0
    if RANK == 0:
        for rank in range(1, SIZE):
            GROUP.recv_object(rank)
        group.barrier()
        return
    thread = threading.Thread(target=group.barrier)
    thread.start()
    until = time.monotonic() + 0.1
    while time.monotonic() < until:
        counted += 1
    assert counted > 100
    GROUP.send_object(counted, 0)
    thread.join(60)
    assert not thread.is_alive()


def check_given_up():
    """After a time-out of wait_any, and of a persistent call's wait, dropping a request takes no time."""
    if SIZE == 1:
        return
    groups = [GROUP.dup() for _ in range(3)]
    if RANK != 1:
        GROUP.recv_object(1)
    else:
        requests = [group.ibarrier() for group in groups[:2]]
        again = groups[2].barrier_init()
        again.start()
        assert raises_timeout(lambda: tutti.wait_any(requests, 0.05))
        assert raises_timeout(lambda: again.wait(0.05))
        assert cause_of(again.start) == "usage"  # it is under way
        before = time.monotonic()
        del requests, again
        assert time.monotonic() - before < 10
        for rank in range(SIZE):
            if rank != 1:
                GROUP.send_object("go on", rank)
    for group in groups:
        assert cause_of(group.barrier) == "broken"


def check_failing():
    """wait_all comes to the end of all, whatever one of them raises; wait_any refuses what it cannot wait for."""
    bad, good = GROUP.dup(), GROUP.dup()
    requests = []
    with contextlib.suppress(tutti.Error):  # another rank may have broken the group already
        requests.append(bad.iallreduce(np.ones(1), op=tutti.op(lambda lower, higher: 1 / 0)))
    if RANK == 0:
        time.sleep(0.3)
    requests.append(good.ibarrier())
    with contextlib.suppress(ZeroDivisionError, tutti.Error):
        tutti.wait_all(requests)
    assert requests[-1].test()
    request = good.ibarrier()
    assert cause_of(tutti.wait_any, [request, request]) == "usage"
    assert cause_of(tutti.wait_any, [request, good.barrier_init()]) == "usage"
    request.wait()


def check_failing_before_a_time_out():
    """What failed while another ran out of time is raised by the next wait_all."""
    if SIZE == 1:
        return
    broken, late = GROUP.dup(), GROUP.dup()
    if RANK > 0:
        assert cause_of(broken.allreduce, np.ones(1)) == "mismatch"
        GROUP.recv_object(0)
        late.barrier()
        return
    again = broken.barrier_init()
    again.start()
    requests = [again, late.ibarrier()]
    assert raises_timeout(lambda: tutti.wait_all(requests, 0.2))
    for rank in range(1, SIZE):
        GROUP.send_object("go on", rank)
    assert cause_of(tutti.wait_all, requests) == "mismatch"
    assert requests[1].test()
    assert cause_of(again.test) == "mismatch"
    assert cause_of(again.start) == "mismatch"  # as every call on this group


def check_one_at_a_time():
    """Who asks for a request that is waited for, from a thread or a signal handler, hears so; the wait goes on."""
    if RANK == 0:
        for rank in range(1, SIZE):
            GROUP.recv_object(rank)
        GROUP.barrier()
        return
    heard = []

    def ask(*_):
        heard.extend(cause_of(call) for call in (request.test, request.wait))

    request = GROUP.ibarrier()
    before = signal.signal(signal.SIGALRM, ask)
    for limited in (lambda: request.wait(0.3), lambda: tutti.wait_any([request], 0.3)):
        heard.clear()
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        assert raises_timeout(limited)
        assert heard == ["usage", "usage"], heard
    signal.signal(signal.SIGALRM, before)

    def wait_for_it():
        while cause_of(lambda: heard.append(request.wait())) is not None:  # the loop below has it just now
            pass

    first = threading.Thread(target=wait_for_it)
    first.start()
    until = time.monotonic() + 60
    while cause_of(lambda: request.wait(0)) != "usage":  # "timeout" before the thread waits
        assert time.monotonic() < until
    GROUP.send_object("go on", 0)
    first.join(60)
    assert heard[-1] is None and request.test()


def check_dropped_by_an_exception():
    """An exception leaves behind a request that others let wait, and stays the exception it is."""
    if SIZE == 1:
        return
    if RANK == 0:
        numbers = np.zeros(4)
        try:
            tutti.wait_all([GROUP.irecv(numbers, 1), GROUP.isend(numbers, SIZE)])
        except tutti.Error as error:
            assert "no such rank" in str(error)
        else:
            raise AssertionError("there is such a rank")
    elif RANK == 1:
        time.sleep(0.3)
        GROUP.send(np.ones(4), 0)


check_forms()
check_many()
check_time_out()
check_given_up()
check_failing()
check_failing_before_a_time_out()
asyncio.run(talk(GROUP))
check_threads()
check_overlap()
check_one_at_a_time()
check_dropped_by_an_exception()
del_me = GROUP.iallreduce(np.ones(10))
del del_me  # waits
GROUP.barrier()
