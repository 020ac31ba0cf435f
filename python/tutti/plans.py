# SPDX-License-Identifier: BSD-3-Clause
"""Plans of one's own: what each rank of a group does for one operation, as data.

def shift(rank, size):  # everybody gets its left neighbour's element
    plan = tutti.PlanBuilder("shift", rank, size, send=1, recv=1)
    plan.send((rank + 1) % size, plan.input)
    plan.recv((rank - 1) % size, plan.output)
    return plan.commit()

tutti.check_plans(shift, 5)
group.run(group.plan("shift", shift), mine, theirs)
"""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np

from tutti import _core
from tutti.arguments import whole
from tutti.collectives import _array, _operation, _sendable
from tutti.errors import Error
from tutti.operations import Operation
from tutti.requests import Persistent, Request

_INPUT, _OUTPUT, _SCRATCH = range(3)


class Slice:
    """Elements side by side in a buffer of a plan; ``slice[2:5]`` is a part of it."""

    __slots__ = ("_buffer", "_count", "_offset")

    def __init__(self, buffer: int, offset: int, count: int):
        """Used by `PlanBuilder`."""
        self._buffer, self._offset, self._count = buffer, offset, count

    def __len__(self) -> int:
        """The number of elements."""
        return self._count

    def __getitem__(self, part: slice) -> Slice:
        """A part: ``slice[begin:end]``, in elements from its beginning. What does not lie in the buffer is refused."""
        if not isinstance(part, slice) or part.step not in (None, 1):
            raise Error("a part of a slice is [begin:end], without a step")
        begin = 0 if part.start is None else operator.index(part.start)
        end = self._count if part.stop is None else operator.index(part.stop)
        if begin < 0 or end < begin:
            raise Error(
                f"[{begin}:{end}] is no part of a slice; count from its beginning, and end behind the beginning"
            )
        return Slice(self._buffer, self._offset + begin, end - begin)

    def __repr__(self) -> str:
        """``output[2:5]``."""
        name = ("input", "output", "scratch")[self._buffer]
        return f"{name}[{self._offset}:{self._offset + self._count}]"


class Step:
    """A step of a plan that is being built. None may stand for a step that is not there: to wait for it is no edge."""

    __slots__ = ("_builder", "index")

    def __init__(self, builder: _core.PlanBuilder, index: int):
        """Used by `PlanBuilder`."""
        self._builder = builder
        self.index = index

    def after(self, *steps: Step | None) -> Step:
        """This step starts after all of these, which are earlier ones. Returns itself."""
        self._builder.after(self.index, self._numbers(steps))
        return self

    def after_any(self, *steps: Step | None) -> Step:
        """This step starts after the first of these; the others are cancelled. Returns itself."""
        self._builder.after_any(self.index, self._numbers(steps))
        return self

    def _numbers(self, steps) -> list[int]:
        there = [step for step in steps if step is not None]
        for step in there:
            if step._builder is not self._builder:
                raise Error(f"step s{self.index} waits for step s{step.index} of another plan")
        return [step.index for step in there]

    def __repr__(self) -> str:
        """``<step s3>``."""
        return f"<step s{self.index}>"


class Plan:
    """What one rank does: made by `PlanBuilder.commit`, never changed, started by `Group.run`, `start` and `init`."""

    __slots__ = ("_handle",)

    def __init__(self, handle: _core.Plan):
        """Used by `PlanBuilder.commit`."""
        self._handle = handle

    @property
    def name(self) -> str:
        """What messages and `tutti why` call it."""
        return self._handle.name

    @property
    def rank(self) -> int:
        """Whose plan it is."""
        return self._handle.rank

    @property
    def size(self) -> int:
        """For a group of how many ranks."""
        return self._handle.size

    @property
    def steps(self) -> int:
        """How many steps it has."""
        return self._handle.steps

    @property
    def text(self) -> str:
        """One step a line, as `tutti plan show` prints them."""
        return self._handle.text

    def __repr__(self) -> str:
        """``<tutti.Plan ring, rank 0 of 4>``."""
        return f"<tutti.Plan {self.name}, rank {self.rank} of {self.size}>"


class PlanBuilder:
    """Writes one rank's plan: one call a step.

    Steps without an edge between them run at the same time, whatever their order here; `Step.after` and `round` make
    edges. Messages from one rank to another match in the order in which both ends add them. Raises `Error`, which names
    plan, rank and step, for what cannot be; whether the ranks' plans fit each other, `check_plans` says.
    """

    __slots__ = ("_handle", "_lengths", "rank", "size")

    def __init__(self, name: str, rank: int, size: int, *, send: int = 0, recv: int = 0):
        """name: 1 to 16 letters, digits, "_", "." and "-", the same on all ranks. send, recv: the elements of the
        buffers that a start will bring, each rank's own.
        """
        lengths = (whole(which, length, 0, (1 << 62) - 1) for which, length in (("send", send), ("recv", recv)))
        self._handle = _core.PlanBuilder(name, whole("rank", rank), whole("size", size), *lengths)
        self._lengths = send, recv
        self.rank, self.size = rank, size

    @property
    def input(self) -> Slice:
        """What is sent: it is only read."""
        return Slice(_INPUT, 0, self._lengths[0])

    @property
    def output(self) -> Slice:
        """What is received."""
        return Slice(_OUTPUT, 0, self._lengths[1])

    def scratch(self, count: int) -> Slice:
        """Fresh elements that Tutti brings along; undefined until a step writes them."""
        return Slice(_SCRATCH, self._handle.scratch(count), count)

    def send(self, to: int, source: Slice) -> Step:
        """Sends to rank `to`. Done when source may be written again, which may need the receiver."""
        return self._step(self._handle.send(to, *_parts(source)))

    def recv(self, source: int, target: Slice) -> Step:
        """Receives from rank `source` into target."""
        return self._step(self._handle.recv(source, *_parts(target)))

    def recv_reduce(self, source: int, target: Slice, *, right: bool = False) -> Step:
        """Combines what comes from rank `source` into target.

        right: target = target op what comes, else what comes op target; it matters to operations that do not commute.
        """
        return self._step(self._handle.recv_reduce(source, *_parts(target), right))

    def reduce(self, source: Slice, target: Slice, *, right: bool = False) -> Step:
        """Combines source into target; right: as in `recv_reduce`."""
        return self._step(self._handle.reduce(*_parts(source), *_parts(target), right))

    def copy(self, source: Slice, target: Slice) -> Step:
        """Copies source to target."""
        return self._step(self._handle.copy(*_parts(source), *_parts(target)))

    def round(self) -> None:
        """Everything added from now on starts after everything added before."""
        self._handle.round()

    def commit(self) -> Plan:
        """The finished plan. Nothing can be added afterwards."""
        return Plan(self._handle.commit())

    def _step(self, index: int) -> Step:
        return Step(self._handle, index)


PlanFunction = Callable[[int, int], Plan]


def _parts(piece: Slice) -> tuple[int, int, int]:
    if not isinstance(piece, Slice):
        raise Error(f"{piece!r} is no slice of a plan's buffer; pass plan.input[0:4] and the like")
    return piece._buffer, piece._offset, piece._count


def _plan(plan: Plan) -> _core.Plan:
    if not isinstance(plan, Plan):
        raise Error(f"{plan!r} is no plan; pass what PlanBuilder.commit returns")
    return plan._handle


def _all(build: PlanFunction, size: int) -> list[_core.Plan]:
    return [_plan(build(rank, size)) for rank in range(size)]


def check_plans(
    build: PlanFunction,
    size: int,
    *,
    implements: str | None = None,
    count: int = 0,
    root: int = 0,
    commutative: bool = True,
) -> None:
    """Proves that the plans of all ranks fit each other, without running them; raises `Error` when they do not.

    Every message has one sender and one receiver and one length, nothing waits for ever even when a send waits for its
    receiver, no two steps that may run at the same time touch the same elements unless both read, no scratch is read
    before it is written. implements: also that they do what this collective ("allreduce") does with that count, root
    and kind of operation. The error names rank, step and reason. Local.
    """
    plans = _all(build, size)
    if implements is None:
        _core.check_plans(plans)
    else:
        _core.check_plans_as(plans, implements, count, root, commutative)


def draw_plans(build: PlanFunction, size: int) -> str:
    """A picture of the plans of all ranks, an SVG: time from left to right, an arrow for each message. Local."""
    return _core.draw_plans(_all(build, size))


class Plans:
    """The part of `Group` for plans of one's own."""

    __slots__ = ()

    def plan(self, key: str, build: PlanFunction) -> Plan:
        """This rank's plan by ``build(rank, size)``, called once for each key and kept with the group. Local."""
        return Plan(self._handle.plan(key, lambda rank, size: _plan(build(rank, size))))

    def run(self, plan: Plan, send=None, recv=None, op: Operation | None = None):
        """Does what the plan says and returns recv.

        send, recv: buffers of the lengths that the plan was built for, of one type; None where it has none; recv None
        where it has one: a new array like send. op: combines, if the plan does. Collective: all ranks pass plans of one
        name. Agreed: name, type, op.
        """
        send, recv, op = self._buffers(plan, send, recv, op)
        self._handle.run_plan(_plan(plan), send, recv, op)
        return recv

    def start(self, plan: Plan, send=None, recv=None, op: Operation | None = None) -> Request:
        """Starts what `run` does."""
        return Request(self._handle.start_plan(_plan(plan), *self._buffers(plan, send, recv, op)))

    def init(self, plan: Plan, send=None, recv=None, op: Operation | None = None) -> Persistent:
        """Makes a plan with these buffers ready for many starts."""
        return Persistent(self._handle.init_plan(_plan(plan), *self._buffers(plan, send, recv, op)))

    def check(self, plan: Plan) -> None:
        """`check_plans` of the plans that the ranks pass, each its own; raises the same `Error` on all. Collective."""
        self._handle.check_plan(_plan(plan))

    @staticmethod
    def _buffers(plan: Plan, send, recv, op):
        handle = _plan(plan)
        send = None if send is None else _sendable(send)
        if recv is None and send is not None and handle.recv > 0:
            recv = np.empty(handle.recv, _array(send).dtype)
        like = recv if send is None else send
        if op is not None and like is None:
            raise Error("a plan without buffers combines nothing; pass no op")
        return send, recv, None if op is None else _operation(op, like)
