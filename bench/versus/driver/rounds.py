# SPDX-License-Identifier: BSD-3-Clause
"""Alternating rounds: in each, every library measures the same points, within seconds of each other."""

import dataclasses
import math
import random
import statistics
import time

from . import figures, jobs

LEAST_CALLS = 8  # that measuring one point takes, however slow they are
# Of overlap: checking and calibrating, and in each of seven rounds call, work and two samples for each number of tests.
LEAST_OVERLAP, LEAST_SAMPLE = 40, 7 * 2.5
NEAR = 1.1  # a setting this many times slower than the best one does not count when points are measured again
FIRST = 0.75  # the share of the time that is given to the rounds of all points
BEATEN = 1.25  # a setting this many times slower than the same peer's best one, at every size, likewise


@dataclasses.dataclass
class Series:
    """What one library with one setting measured at one collective and number of ranks."""

    library: object
    setting: object
    sizes: set
    points: dict = dataclasses.field(default_factory=dict)  # {bytes: {round: point}}
    failure: str = ""

    @property
    def wanted(self):
        """Whether there is still something to measure."""
        return bool(self.sizes) and not self.failure

    def best(self, size, statistic):
        """The shortest time of a call so far, in microseconds; None when there is none."""
        return min(figures.times(self, size, statistic).values(), default=None)


@dataclasses.dataclass(frozen=True)
class Cell:
    """One collective on one number of ranks."""

    collective: str
    ranks: int


class Run:
    """A whole comparison."""

    def __init__(self, libraries, sizes, place, options):
        """`sizes`: {cell: bytes of the blocks}."""
        self.place, self.options = place, options
        self.random = random.Random(options.seed)
        self.names = {}
        self.rounds = 0
        self.again = 0  # of them only of points at which it was not clear who is faster
        self.repeated = []  # what went wrong with jobs of several cells, which were then measured each alone
        self.asked = sizes
        self.series = {
            cell: [
                Series(library, setting, set(wanted))
                for library in libraries
                for setting in library.settings_on(cell.ranks, place.cores)
            ]
            for cell, wanted in sizes.items()
        }

    def round(self, step):
        """Measures everything that is still measured once; `step` is told before each job."""
        jobs_of_round = self.place.together(self.series)
        self.random.shuffle(jobs_of_round)
        for cells in jobs_of_round:
            self.random.shuffle(cells)
            sizes = {cell: self.sizes_of(cell) for cell in cells}
            ways = list(range(len(self.series[cells[0]])))
            self.random.shuffle(ways)
            for way in ways:
                there = {cell: self.series[cell][way] for cell in cells if self.series[cell][way].wanted}
                if there:
                    self.measure(there, sizes, step)
            if self.rounds == 0 and not self.options.full and not self.options.tests:
                for cell in cells:
                    self.thin_out(cell)
        self.rounds += 1

    def sizes_of(self, cell):
        """The sizes that somebody still measures, in the order of this round."""
        sizes = sorted(set().union(*(series.sizes for series in self.series[cell] if series.wanted)))
        self.random.shuffle(sizes)
        return sizes

    def failures(self):
        """[(cell, series)] of what could not be measured."""
        return [(cell, one) for cell, every in self.series.items() for one in every if one.failure]

    def missing(self):
        """[(cell, series, sizes)] of what no job came to before its time was over."""
        every = [(cell, one) for cell, series in self.series.items() for one in series if not one.failure]
        found = [(cell, one, [size for size in self.asked[cell] if size not in one.points]) for cell, one in every]
        return [(cell, one, sizes) for cell, one, sizes in found if sizes]

    def measure(self, there, sizes, step):
        """One job of one library and setting: {cell: series}. When it fails, each cell alone, so that one does not take
        the others with it."""
        one = next(iter(there.values()))
        step(list(there), one)
        try:
            name, points = jobs.run(one.library, one.setting, self.task(there, sizes), self.place)
        except jobs.JobFailed as failure:
            if len(there) == 1:
                one.failure = str(failure)
                return
            ranks = next(iter(there)).ranks
            self.repeated.append(f"{one.library.name} ({one.setting.name}) on {ranks} ranks: {failure}")
            for cell, series in there.items():
                self.measure({cell: series}, sizes, step)
            return
        self.names[one.library.name] = name
        for cell, series in there.items():
            for size, point in points[cell.collective].items():
                series.points.setdefault(size, {})[self.rounds] = point

    def task(self, there, sizes):
        options = self.options
        wanted = {cell: [size for size in sizes[cell] if size in series.sizes] for cell, series in there.items()}
        return jobs.Task(
            points={cell.collective: tuple(found) for cell, found in wanted.items()},
            ranks=next(iter(there)).ranks,
            seconds=options.seconds / max(1, min(max(map(len, wanted.values())), 8)),
            scheme=options.scheme,
            cores=self.place.cores,
            tests=options.tests,
            memory=options.memory,
            least=(LEAST_OVERLAP + LEAST_SAMPLE * (2 + 2 * len(options.tests)) if options.tests else LEAST_CALLS)
            * sum(self.place.call_seconds(cell, size) for cell, found in wanted.items() for size in found),
        )

    def thin_out(self, cell):
        """After the first round: what is hopeless is not measured again, so that the rest gets the time."""
        every, statistic = self.series[cell], self.options.statistic
        ours = next(series for series in every if series.library.name == "tutti")
        for series in every:
            if series is ours:
                continue
            mates = [mate for mate in every if mate.library is series.library]
            if all(beaten(series, mates, size, statistic) for size in series.points):
                series.sizes = set()
            series.sizes = {size for size in series.sizes if not thin(series, ours, size, statistic)}

    def narrow(self, points):
        """From now on only these points are measured, and of the peers who is near the best there."""
        of_cell = {}
        for one in points:
            of_cell.setdefault(Cell(one.collective, one.ranks), {})[one.bytes] = one
        for cell, every in self.series.items():
            there = of_cell.get(cell, {})
            for series in every:
                series.sizes = {size for size in series.points if size in there and self.is_near(series, there[size])}

    def is_near(self, series, point):
        """Tutti, and who is hardly slower than the point's best peer."""
        times = figures.times(series, point.bytes, self.options.statistic).values()
        return series.library.name == "tutti" or (times and statistics.median(times) <= NEAR * point.peer_us)

    def go(self, step, after_round, unsure):
        """Rounds of all points, as many as are asked for and fit into the time; then of those that are unsure: those
        at which Tutti looks slower, and just as well those at which it may look faster by chance."""
        begin = time.monotonic()
        share = FIRST if self.options.again else 1
        self.go_on(self.options.rounds, begin + 60 * self.options.minutes * share, step, after_round)
        points = unsure(self) if self.options.again else []
        if points:
            before = self.rounds
            self.narrow(points)
            self.go_on(before + self.options.again, begin + 60 * self.options.minutes, step, after_round)
            self.again = self.rounds - before

    def go_on(self, wanted, deadline, step, after_round):
        """Until so many rounds are done, or another one would end too late; the very first is done anyhow."""
        longest = 0
        while self.rounds < wanted:
            start = time.monotonic()
            if self.rounds and start + longest > deadline:
                break
            self.round(step)
            longest = time.monotonic() - start if self.rounds > 1 else 0.8 * (time.monotonic() - start)
            after_round(self)


def beaten(series, mates, size, statistic):
    times = [mate.best(size, statistic) for mate in mates]
    return (series.best(size, statistic) or math.inf) > BEATEN * min(time or math.inf for time in times)


def thin(series, ours, size, statistic):
    return (series.best(size, statistic) or 0) > figures.THIN * (ours.best(size, statistic) or math.inf)
