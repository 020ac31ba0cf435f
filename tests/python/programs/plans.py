# SPDX-License-Identifier: BSD-3-Clause
"""Plans of one's own on real processes: built, proved, drawn, kept, run in every form, and refused."""

import numpy as np
import pytest
import tutti

WORLD = tutti.world()
RANK, SIZE = WORLD.rank, WORLD.size


def ring(rank, size, count):
    """The sum of everybody's elements, in place of nothing: combined once around, handed on once around."""
    plan = tutti.PlanBuilder("ring", rank, size, send=count, recv=count)
    ends = [count * r // size for r in range(size + 1)]
    blocks = [plan.output[begin:end] for begin, end in zip(ends, ends[1:])]
    after, before = (rank + 1) % size, (rank - 1) % size
    have = plan.copy(plan.input, plan.output)
    sent = []
    for i in range(size - 1):
        sent.append(plan.send(after, blocks[(rank - i) % size]).after(have))
        have = plan.recv_reduce(before, blocks[(rank - i - 1) % size]).after(have)
    for i in range(size - 1):
        plan.send(after, blocks[(rank + 1 - i) % size]).after(have)
        have = plan.recv(before, blocks[(rank - i) % size]).after(have, sent[i])
    return plan.commit()


def barrier(rank, size):
    """Dissemination."""
    plan = tutti.PlanBuilder("barrier", rank, size)
    distance = 1
    while distance < size:
        plan.send((rank + distance) % size, plan.input)
        plan.recv((rank - distance) % size, plan.output)
        plan.round()
        distance *= 2
    return plan.commit()


def from_left(rank, size):
    """By way of scratch; an edge to a step of an earlier round, and one to nothing."""
    plan = tutti.PlanBuilder("from_left", rank, size, send=1, recv=1)
    cell = plan.scratch(2)[1:]
    if size > 1:
        plan.send((rank + 1) % size, plan.input)
        came = plan.recv((rank - 1) % size, cell)
    else:
        came = plan.copy(plan.input, cell)
    plan.round()
    plan.copy(cell, plan.output).after(came, None)
    return plan.commit()


def check_runs():
    for count in (0, 1, SIZE - 1, SIZE, SIZE + 1, 50_000):
        plan = ring(RANK, SIZE, count)
        mine = np.arange(count, dtype="f8") + RANK
        total = np.arange(count) * SIZE + SIZE * (SIZE - 1) / 2
        assert np.array_equal(WORLD.run(plan, mine, op=tutti.SUM), total) or count == 0
        recv = np.full(count + 2, -7.0)
        assert WORLD.run(plan, mine, recv[1:-1], tutti.SUM) is not None
        assert np.array_equal(recv, [-7, *total, -7])
        recv[...] = -7
        request = WORLD.start(plan, mine, recv[1:-1], tutti.op(lambda a, b: a + b))
        assert np.array_equal(request.wait(), total)
        again = WORLD.init(plan, mine, recv[1:-1], tutti.MAX)
        for _ in range(3):
            recv[...] = -7
            again.start()
            assert np.array_equal(again.wait(), np.arange(count) + SIZE - 1)
        columns = np.full((count, 2), -7.0)
        columns[:, 0] = mine
        WORLD.run(plan, columns[:, 0], columns[:, 1].copy(), tutti.SUM)
    assert WORLD.run(from_left(RANK, SIZE), [RANK + 0.5]) == (RANK - 1) % SIZE + 0.5
    for _ in range(3):
        assert WORLD.run(barrier(RANK, SIZE)) is None
    WORLD.start(barrier(RANK, SIZE)).wait(60)


def check_looks():
    for count in (0, 1, 2 * SIZE + 1):
        tutti.check_plans(lambda rank, size, n=count: ring(rank, size, n), SIZE, implements="allreduce", count=count)
    tutti.check_plans(barrier, SIZE, implements="barrier")
    tutti.check_plans(from_left, SIZE)
    picture = tutti.draw_plans(from_left, SIZE)
    assert picture.startswith("<svg") and f"rank {SIZE - 1}" in picture
    plan = from_left(RANK, SIZE)
    assert (plan.name, plan.rank, plan.size, plan.steps) == ("from_left", RANK, SIZE, 3 if SIZE > 1 else 2)
    assert plan.text.startswith("// from_left: input 1, output 1\n") and "scratch[1..2)" in plan.text
    assert repr(plan) == f"<tutti.Plan from_left, rank {RANK} of {SIZE}>"
    WORLD.check(plan)


def check_kept():
    calls = []

    def build(rank, size):
        calls.append((rank, size))
        return ring(rank, size, 3)

    for _ in range(4):
        assert WORLD.run(WORLD.plan("ring of 3", build), np.ones(3), op=tutti.SUM)[0] == SIZE
    assert calls == [(RANK, SIZE)]
    WORLD.dup().plan("ring of 3", build)
    assert len(calls) == 2
    with pytest.raises(ZeroDivisionError):
        WORLD.plan("fails", lambda rank, size: 1 // 0)
    assert WORLD.plan("fails", build).name == "ring"


def refused(text, call, *arguments, **named):
    with pytest.raises(tutti.Error, match=text) as caught:
        call(*arguments, **named)
    assert caught.value.cause == "usage"


def check_refusals():
    refused("cannot be the name", tutti.PlanBuilder, "two words", RANK, SIZE)
    plan = tutti.PlanBuilder("halo", RANK, SIZE, send=4, recv=4)
    refused(f"plan halo, rank {RANK}, step s0: rank {SIZE} is not in", plan.send, SIZE, plan.input)
    refused(r"input\[2\.\.6\) reaches beyond its 4", plan.copy, plan.input[2:6], plan.output)
    refused("writes input", plan.copy, plan.output, plan.input)
    refused("is no slice", plan.copy, plan.output, [1, 2])
    refused("is no part of a slice", lambda: plan.input[-1:])
    refused("without a step", lambda: plan.input[::2])
    first = plan.copy(plan.input, plan.output)
    refused("not an earlier step", first.after, first)
    other = tutti.PlanBuilder("other", RANK, SIZE, send=1, recv=1)
    refused("of another plan", first.after, other.copy(other.input, other.output))
    done = plan.commit()
    refused("committed", plan.commit)
    refused("plan halo: send has 3 elements and must have 4", WORLD.run, done, np.ones(3), np.ones(4))
    refused("plan halo: recv has 5 elements", WORLD.run, done, np.ones(4), np.ones(5))
    refused("must pass send", WORLD.run, done, None, np.ones(4))
    same = np.ones(4)
    refused("overlap", WORLD.run, done, same, same)
    refused("is no plan", WORLD.run, "ring")
    refused("it is the plan of rank", WORLD.run, ring(0, SIZE + 1, 0))
    if SIZE > 1:
        refused("combines elements; pass an operation", WORLD.run, ring(RANK, SIZE, 4), np.ones(4))
        refused("plan from_left, rank ", tutti.check_plans, from_left, SIZE, implements="allreduce", count=1)
        refused("no collective", tutti.check_plans, from_left, SIZE, implements="all")
        lonely = tutti.PlanBuilder("lonely", RANK, SIZE, recv=1)
        if RANK == 1:
            lonely.recv(0, lonely.output)
        refused("plan lonely, rank 1, step s0 .*: rank 0 sends no such message", WORLD.check, lonely.commit())


def check_memory():
    """Scratch that no machine has is the operating system's refusal, before anything is sent."""
    plan = tutti.PlanBuilder("vast", RANK, SIZE, send=1, recv=1)
    vast = plan.scratch(1 << 50)
    kept = plan.copy(plan.input, vast[:1])
    plan.copy(vast[:1], plan.output).after(kept)
    done = plan.commit()
    for call in (WORLD.run, WORLD.start):
        with pytest.raises(
            tutti.Error, match=f"plan vast on group world, rank {RANK}: no memory.*less scratch"
        ) as caught:
            call(done, np.ones(1), np.ones(1))
        assert caught.value.cause == "system"
    assert WORLD.allreduce(1) == SIZE


def check_mismatch():
    group = WORLD.dup()
    plan = ring(RANK, SIZE, 4) if RANK else from_left(RANK, SIZE)
    with pytest.raises(tutti.Mismatch, match=r"plan ring.*plan from_left|plan from_left.*plan ring"):
        group.run(plan, np.ones(4 if RANK else 1), op=tutti.SUM)
        group.barrier()


check_runs()
check_looks()
check_kept()
check_refusals()
check_memory()
if SIZE > 1:
    check_mismatch()
WORLD.barrier()
