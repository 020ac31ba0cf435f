# SPDX-License-Identifier: BSD-3-Clause
"""From points to comparisons: medians, paired ratios with confidence intervals, shares of the copy floor."""

import dataclasses
import math
import statistics

THIN = 20  # a peer this many times slower than Tutti is measured in the first round only
LEVEL = 0.95


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Tutti beside the best peer, at one point."""

    collective: str
    ranks: int
    bytes: int
    us: float
    skew_us: float
    floor_share: float  # of the time that copying alone takes; 0 where nothing is copied or no floor is known
    read_share: float = 0  # the same where the kernel copies, from one process to another
    peer: str = ""  # with its setting; "" when nobody else was measured
    peer_us: float = 0
    peer_skew_us: float = 0
    ratio: float = 0
    low: float = 0
    high: float = 0
    level: float = 0  # the confidence that low..high has
    rounds: int = 0
    thin: bool = False  # the best peer was measured in one round only
    others: dict = dataclasses.field(default_factory=dict)  # {peer: its best time in microseconds}
    busy: float = 0  # the share of the machine's cores while Tutti was measured, and while the best peer was
    peer_busy: float = 0
    wire_us: float = 0  # what the busiest link needs for the bytes that cannot be avoided; 0: it is on one host

    @property
    def undecided(self):
        """Whether more rounds may say something else: who is faster, or how much where one round has said so."""
        return bool(self.peer) and (self.low < 1 <= self.high or (self.thin and self.ratio < THIN))

    @property
    def mark(self):
        """ "loses": slower than the best peer beyond the noise; or nothing."""
        return "loses" if self.peer and self.high < 1 else ""

    @property
    def shortfall(self):
        """How far from what is wanted a point is: the less, the worse."""
        return self.ratio


def time_of(point, statistic):
    """A point in microseconds. run: run time / calls; median, best: of the batches, for machines that others load."""
    return point["us"] if statistic == "run" else point.get(f"batch_{statistic}_us", point["us"])


def interval(values):
    """The median's confidence interval by order statistics, and the confidence that it really has."""
    ordered, n = sorted(values), len(values)
    below = 0.0  # the chance that at most k - 1 of n values are under the true median
    best = (ordered[0], ordered[-1], max(0.0, 1 - 2 * 0.5**n))
    for k in range(1, n // 2 + 1):
        below += math.comb(n, k - 1) * 0.5**n
        if 1 - 2 * below < LEVEL:
            break
        best = (ordered[k - 1], ordered[n - k], 1 - 2 * below)
    return best


def times(series, size, statistic):
    """{round: microseconds}."""
    found = {number: time_of(point, statistic) for number, point in series.points.get(size, {}).items()}
    return {number: time for number, time in found.items() if time}


def median_of(points, key):
    """Over the rounds; 0 where none of them has it."""
    there = [point[key] for point in points.values() if point.get(key) is not None]
    return statistics.median(there) if there else 0.0


def floor_share(point, us, size, ranks, cores, floors):
    """How much of its time a call would take if it were nothing but the copies that cannot be avoided."""
    if size not in floors or not point["copied"] or not us:
        return 0.0
    return point["copied"] * floors[size] / min(ranks, len(cores)) / us


def compare(cell, every, size, statistic, cores, facts):
    """One point of the table; None when Tutti has none."""
    ours = next(series for series in every if series.library.name == "tutti")
    mine = times(ours, size, statistic)
    if not mine:
        return None
    us = statistics.median(mine.values())
    points = ours.points[size]
    common = {"collective": cell.collective, "ranks": cell.ranks, "bytes": size, "us": us}
    common.update(skew_us=median_of(points, "skew_us"), rounds=len(mine))
    point = next(iter(points.values()))
    for share, floors in (("floor_share", "copy_us"), ("read_share", "read_us")):
        common[share] = floor_share(point, us, size, cell.ranks, cores, facts.get(floors, {}))
    common["busy"] = median_of(points, "busy")
    # Only rounds that both measured make pairs.
    peers = [
        (series, {number: time for number, time in times(series, size, statistic).items() if number in mine})
        for series in every
        if series is not ours
    ]
    ranked = sorted((statistics.median(found.values()), i) for i, (_, found) in enumerate(peers) if found)
    if not ranked:
        return Comparison(**common)
    others = {}
    for median, i in ranked:
        others.setdefault(peers[i][0].library.name, median)
    peer_us, best = ranked[0]
    series, found = peers[best]
    ratios = [found[number] / mine[number] for number in found]
    low, high, level = interval(ratios)
    return Comparison(
        **common,
        peer=f"{series.library.name} ({series.setting.name})",
        peer_us=peer_us,
        peer_skew_us=median_of(series.points[size], "skew_us"),
        peer_busy=median_of(series.points[size], "busy"),
        ratio=statistics.median(ratios),
        low=low,
        high=high,
        level=level,
        thin=len(ratios) == 1,
        others=others,
    )


def compare_all(run, facts):
    """Every point, by ranks, collective and size. `facts`: how fast the machine copies, where that is known."""
    options = run.options
    found = []
    for cell, every in run.series.items():
        sizes = sorted({size for series in every for size in series.points})
        found += [compare(cell, every, size, options.statistic, options.cores, facts) for size in sizes]
    return [one for one in found if one]
