# SPDX-License-Identifier: BSD-3-Clause
"""A reduction that raises on one rank: that rank gets what was raised, the others an error, and nobody a result."""

import numpy as np
import tutti
from causes import cause_of

WORLD = tutti.world()
RANK, SIZE = WORLD.rank, WORLD.size
GUILTY = SIZE - 1
MINE = np.arange(3.0 * SIZE)


def raises(lower, higher):
    """A sum, but not everywhere."""
    if RANK == GUILTY:
        raise ArithmeticError("as this test wants it")
    return lower + higher


# In a ring, each rank combines something that all others need.
HOW = {"op": tutti.op(raises), "algorithm": "ring"}


def expect_failure(call):
    """The call fails as it does on this rank: where nothing was raised, a start may fail as well as a wait."""
    try:
        result = call()
    except ArithmeticError:
        assert RANK == GUILTY
    except tutti.Error as error:
        assert RANK != GUILTY, error
        assert error.cause == "broken" and f"rank {GUILTY}" in str(error) and "reduction function" in str(error), error
    else:
        raise AssertionError(f"nothing was raised, and the result is {result}")


def through_guilty(rank, size):
    """A plan in which one rank combines what all have."""
    count = len(MINE)
    plan = tutti.PlanBuilder("through_guilty", rank, size, send=count, recv=count)
    others = [other for other in range(size) if other != GUILTY]
    if rank == GUILTY:
        have = plan.copy(plan.input, plan.output)
        for other in others:
            have = plan.recv_reduce(other, plan.output).after(have)
        for other in others:
            plan.send(other, plan.output).after(have)
    else:
        plan.send(GUILTY, plan.input)
        plan.recv(GUILTY, plan.output)
    return plan.commit()


def check_blocking(group):
    expect_failure(lambda: group.allreduce(MINE, **HOW))


def check_request(group):
    kept = []

    def call():
        kept.append(group.iallreduce(MINE, **HOW))
        kept[0].wait()

    expect_failure(call)
    for request in kept:
        expect_failure(request.wait)  # as often as one asks


def complete(request):
    """By tests alone, on all ranks."""
    while not request.test():
        pass
    request.wait()


def check_test(group):
    expect_failure(lambda: complete(group.iallreduce(MINE, **HOW)))


def check_wait_any(group):
    expect_failure(lambda: tutti.wait_any([group.iallreduce(MINE, **HOW)]))


def check_persistent(group):
    again = group.allreduce_init(MINE, **HOW)
    expect_failure(again.run)
    assert cause_of(again.run) == "broken"  # and not what was raised before


def check_persistent_test(group):
    again = group.allreduce_init(MINE, **HOW)

    def call():
        again.start()
        complete(again)

    expect_failure(call)
    if RANK == GUILTY:
        expect_failure(again.wait)


def check_plan(group):
    expect_failure(lambda: group.run(through_guilty(RANK, SIZE), MINE, op=HOW["op"]))


def check_started_plan(group):
    expect_failure(lambda: group.start(through_guilty(RANK, SIZE), MINE, op=HOW["op"]).wait())


for check in (
    check_blocking,
    check_request,
    check_test,
    check_wait_any,
    check_persistent,
    check_persistent_test,
    check_plan,
    check_started_plan,
):
    broken = WORLD.dup()
    check(broken)
    assert cause_of(broken.barrier) == "broken"
assert WORLD.allreduce(1) == SIZE  # it goes on
