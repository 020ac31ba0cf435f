# SPDX-License-Identifier: BSD-3-Clause
"""`tutti bench --hosts`: points beside the wire limit, their goals, the table and the page."""

import dataclasses
import statistics

from . import figures, page, table, wire

FULL = 0.8  # with more of the machine's cores busy, a point tells of the machine and not of the network
NEAR = 1.25  # this many times the wire limit is near it
NEAR_PASSED_ON, PASSED_ON_BYTES = 1.6, 512 << 10  # the same of a bcast of less: hosts that pass it on take their time
# Up to so many bytes these are meant to be so much faster than the best peer, from so many hosts on, or near the wire.
SMALL = ("barrier", "allreduce", "bcast")
SMALL_BYTES = 1 << 10
FASTER = {16: 3.0, 8: 2.0, 4: 1.2}
LARGE_BYTES = 64 << 10  # from here on every collective is meant to be near the wire limit
FEW_BYTES = 4 << 10  # up to here the hierarchy is meant to gain most
THROUGH = 1 / 1.1  # through a peer's messages a call is meant to take at most 1.1 times as long as the peer's own


@dataclasses.dataclass(frozen=True)
class Point(figures.Comparison):
    """Tutti beside the best peer and the wire, at one point."""

    hosts: int = 0
    through: bool = False  # a peer's messages
    flat: bool = False  # the peer is Tutti itself

    @property
    def goal(self):
        """By how much it is meant to be faster than the best peer."""
        if self.through:
            return THROUGH
        if self.flat or not self.wire_us or self.collective not in SMALL or self.bytes > SMALL_BYTES:
            return 1.0
        return next((ratio for hosts, ratio in FASTER.items() if self.hosts >= hosts), 1.0)

    @property
    def wants_wire(self):
        """Whether it is meant to be near the wire limit, whatever the peers do."""
        return bool(self.wire_us) and self.bytes >= LARGE_BYTES and not self.through and not self.flat

    @property
    def near(self):
        """How many times the wire limit are near it."""
        passed_on = self.collective == "bcast" and LARGE_BYTES <= self.bytes < PASSED_ON_BYTES
        return NEAR_PASSED_ON if passed_on else NEAR

    @property
    def wires(self):
        """How many times the wire limit it takes; 0 without one."""
        return self.us / self.wire_us if self.wire_us else 0.0

    @property
    def mark(self):
        """ "loses": slower than the best peer beyond the noise; "below goal", or nothing."""
        if self.through:
            return "below goal" if self.peer and self.ratio < THROUGH else ""
        if lost := super().mark:
            return lost
        too_slow = bool(self.peer) and self.goal > 1 and self.ratio < self.goal
        return "below goal" if (too_slow or self.wants_wire) and self.wires > self.near else ""

    @property
    def shortfall(self):
        return min(self.ratio / self.goal if self.peer else 1.0, self.near / self.wires if self.wants_wire else 1.0)

    @property
    def goal_text(self):
        """As in the table: times as fast as the best peer, or near the wire limit."""
        return "wire" if self.wants_wire else f"{self.goal:.2g} or wire" if self.goal > 1 else f"{self.goal:.2g}"


def compare_all(run):
    """Every point, by ranks, collective and size."""
    return [
        Point(
            **vars(one) | {"wire_us": run.place.wire_us(one)},
            hosts=one.ranks // run.place.per_host,
            through=bool(run.options.through),
            flat=run.options.flat,
        )
        for one in figures.compare_all(run, {})
    ]


def remarks(one):
    """What the last column says."""
    said = [one.mark] if one.mark else []
    said += ["machine"] if one.busy > FULL else ["peer: machine"] if one.peer and one.peer_busy > FULL else []
    said += ["peer: one round"] if one.thin else []
    return "; ".join(said)


def look(names):
    """The table, with a column for each of these peers."""

    def cells(one):
        """One point, as the texts of its row."""
        texts = [table.size_text(one.bytes), table.number(one.us), f"{one.busy:.0%}"]
        texts += [table.number(one.others[name]) if name in one.others else "-" for name in names]
        if one.peer:
            texts += [one.peer, f"{one.peer_busy:.0%}", f"{one.ratio:.2f}", f"{one.low:.2f}-{one.high:.2f}"]
        else:
            texts += ["-"] * 4
        texts += [table.number(one.wire_us), f"{one.wires:.2f}"] if one.wire_us else ["-", "-"]
        return [*texts, one.goal_text, remarks(one)]

    columns = (
        "size",
        "Tutti µs",
        "cores",
        *(f"{name} µs" for name in names),
        "best peer",
        "cores",
        "ratio",
        "interval",
    )
    columns += ("wire µs", "Tutti / wire", "goal", "")
    return table.Look("ratio = best peer / Tutti", columns, cells, ("best peer", "goal", ""))


def look_of(run):
    """With a column for each peer that was measured."""
    measured = [one.library.name for every in run.series.values() for one in every if one.points]
    return look([name for name in dict.fromkeys(measured) if name != "tutti"])


METHOD = """{rounds}; seed {seed}; {minutes:.0f} minutes; {place}. They share
the machine's cores and no memory; no rank is bound to a core. Other programs used {before:.2f} of the cores before, and
{after:.2f} after.

Scheme {scheme} In one job a library measures all collectives on the same hosts. Every result is checked first, on
every rank. Each peer counts with the best of its settings, point by point. **size**: of a block; elements are doubles.
**ratio** = best peer / Tutti, the median over rounds of both in the same round; **interval**: that median's confidence
interval by order statistics, of {level:.0%} or more. **goal**: 2 or wire, for one, is twice as fast as the best peer or
near the wire limit. **cores**: the share of the machine's cores that was busy while the point was measured, with
everything that ran. The last column says **machine** where it was above {full:.0%} for Tutti, **peer: machine** where
it was for the peer alone: such a point measures this machine, not the network. (A library that polls while it waits
keeps cores busy whatever it waits for.)"""

WIRE = """## The wire limit

What the busiest link needs, in its busier direction, for the bytes that a call cannot avoid; H hosts, K ranks on each,
P = H K, n: bytes of a block. In frames of {mtu} bytes behind the Ethernet header, each with {frame} bytes of headers
({headers}); acknowledgements and frames that are not full come on top, and count against the library. A link that was
idle lets {burst} bytes pass at once, so that a few frames may be faster than its rate.

{table}"""

THROUGH_GOALS = """## Goals

Tutti's group is made by `from_mpi` ([mpi-groups.md](../mpi-groups.md)), and between hosts it uses the messages of
{peer}: a call is meant to take at most 1.1 times as long as the peer's own (ratio {goal:.2f}).

{compared} points were compared; {below} take longer. The geometric mean of all ratios is {mean:.2f}.

{losing}"""

FLAT_GOALS = """## Goals

Beside Tutti stand its own algorithms that do not know which ranks share a host, for each collective the one of the
fewest rounds and the one of the fewest bytes. Nowhere is what knows the hosts meant to be slower, beyond the interval.

{compared} points were compared; what knows the hosts is slower at {loses}. The geometric mean of all ratios is
{mean:.2f}; up to {small}, {small_mean:.2f}.

{losing}"""

GOALS = """## Goals

{small} of up to {bytes}: faster than the best peer, {faster}; or within {near:g} times the wire limit. From {large}:
every collective within {near:g} times the wire limit, and bcast of less than {passed_on}, which hosts pass on, within
{near_passed_on:g}. Everywhere: not slower than the best peer, beyond the
interval.{unlimited}

{compared} points were compared. Tutti is slower than the best peer at {loses}, and misses another goal at {below} more.

{losing}"""


def method(run, facts):
    options = run.options
    return METHOD.format(
        rounds=page.rounds_text(run),
        seed=options.seed,
        minutes=facts["minutes"],
        before=facts["foreign_load"],
        after=facts["foreign_after"],
        place=run.place.describe(),
        scheme=f"{options.scheme}: {page.SCHEMES[options.scheme]}{page.STATISTICS[options.statistic]}",
        level=facts["level"],
        full=FULL,
    )


def mean_of(compared):
    """The geometric mean of the ratios."""
    return statistics.geometric_mean([one.ratio for one in compared] or [1])


def goals(run, points):
    compared = [one for one in points if one.peer]
    if run.options.through:
        return THROUGH_GOALS.format(
            peer=run.options.through,
            goal=THROUGH,
            compared=len(compared),
            below=sum(one.mark == "below goal" for one in compared),
            mean=mean_of(compared),
            losing=table.losing(points, look_of(run)),
        )
    if run.options.flat:
        return FLAT_GOALS.format(
            compared=len(compared),
            loses=sum(one.mark == "loses" for one in compared),
            mean=mean_of(compared),
            small=table.size_text(FEW_BYTES),
            small_mean=mean_of([one for one in compared if one.bytes <= FEW_BYTES]),
            losing=table.losing(points, look_of(run)),
        )
    return GOALS.format(
        small=", ".join(SMALL),
        bytes=table.size_text(SMALL_BYTES),
        faster=", ".join(f"{ratio:g} times on {hosts} hosts" for hosts, ratio in sorted(FASTER.items())),
        near=NEAR,
        near_passed_on=NEAR_PASSED_ON,
        passed_on=table.size_text(PASSED_ON_BYTES),
        large=table.size_text(LARGE_BYTES),
        unlimited="" if run.place.network.rate else " Without a rate only the last one counts.",
        compared=len(compared),
        loses=sum(one.mark == "loses" for one in points),
        below=sum(one.mark == "below goal" for one in points),
        losing=table.losing(points, look_of(run)),
    )


def left_out(run, facts):
    """A section about points that the wire makes too slow to be measured, if there are any."""
    lines = [f"- {text}" for text in facts["left_out"]]
    head = f"## What takes too long\n\nThe wire alone needs more than {run.options.longest:g} s for a call:\n\n"
    return [head + "\n".join(lines)] if lines else []


def markdown(run, facts, points, pictures):
    """The page."""
    network = run.place.network
    parts = [
        f"{facts['machine']}. {'; '.join(run.names.values())}. {facts['date']}.",
        "# Many hosts: Tutti beside its peers",
        f"Made by `tutti bench {facts['arguments']}`; the numbers are in [{facts['json']}]({facts['json']}).",
        method(run, facts),
        goals(run, points),
    ]
    if network.rate:
        headers = ", ".join(f"{name} {bytes}" for name, bytes in wire.HEADERS.items())
        parts.append(
            WIRE.format(mtu=network.mtu, burst=network.burst, frame=wire.FRAME, headers=headers, table=wire.table())
        )
    parts += [*left_out(run, facts), *page.failures(run), *table.sections(points, pictures, look_of(run))]
    return "\n\n".join(parts) + "\n"
