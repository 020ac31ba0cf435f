# SPDX-License-Identifier: BSD-3-Clause
"""Alternating rounds: in each, every library measures the same points, within seconds of each other."""

import dataclasses
import math
import random
import time

from . import figures, jobs

BEATEN = 1.25  # a setting this many times slower than the same peer's best one, at every size, likewise


@dataclasses.dataclass
class Series:
    """What one library with one setting measured at one collective and number of ranks."""

    library: object
    setting: object
    sizes: set
    points: dict = dataclasses.field(default_factory=dict)  # {bytes: {round: point}}
    failure: str = ""

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

    def __init__(self, libraries, cells, sizes, options):
        self.options = options
        self.random = random.Random(options.seed)
        self.names = {}
        self.rounds = 0
        self.series = {
            cell: [
                Series(library, setting, set(sizes[cell.collective]))
                for library in libraries
                for setting in library.settings
            ]
            for cell in cells
        }

    def round(self, step):
        """Measures everything that is still measured once; `step` is told before each job."""
        cells = list(self.series)
        self.random.shuffle(cells)
        for cell in cells:
            order = [series for series in self.series[cell] if series.sizes and not series.failure]
            self.random.shuffle(order)
            sizes = sorted(set().union(*(series.sizes for series in order)))
            self.random.shuffle(sizes)
            for series in order:
                step(cell, series)
                self.measure(cell, series, [size for size in sizes if size in series.sizes])
            if self.rounds == 0 and not self.options.full and not self.options.tests:
                self.thin_out(cell)
        self.rounds += 1

    def failures(self):
        """[(cell, series)] of what could not be measured."""
        return [(cell, one) for cell, every in self.series.items() for one in every if one.failure]

    def measure(self, cell, series, sizes):
        options = self.options
        seconds = options.seconds / max(1, min(len(sizes), 8))
        task = jobs.Task(
            cell.collective, cell.ranks, tuple(sizes), seconds, options.scheme, tuple(options.cores), options.tests
        )
        try:
            name, points = jobs.run(series.library, series.setting, task)
        except jobs.JobFailed as failure:
            series.failure = str(failure)
            return
        self.names[series.library.name] = name
        for size, point in points.items():
            series.points.setdefault(size, {})[self.rounds] = point

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

    def go(self, step, after_round):
        """Rounds, as many as are asked for and fit into the time."""
        begin = time.monotonic()
        longest = 0
        while self.rounds < self.options.rounds:
            start = time.monotonic()
            if self.rounds and start - begin + longest > 60 * self.options.minutes:
                break
            self.round(step)
            longest = time.monotonic() - start if self.rounds > 1 else 0.8 * (time.monotonic() - start)
            after_round(self)


def beaten(series, mates, size, statistic):
    times = [mate.best(size, statistic) for mate in mates]
    return (series.best(size, statistic) or math.inf) > BEATEN * min(time or math.inf for time in times)


def thin(series, ours, size, statistic):
    return (series.best(size, statistic) or 0) > figures.THIN * (ours.best(size, statistic) or math.inf)
