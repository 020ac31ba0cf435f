# SPDX-License-Identifier: BSD-3-Clause
"""`tutti bench --overlap`: how much of a call's time can be hidden behind work; table, page and pictures."""

from __future__ import annotations

import dataclasses
import statistics

import matplotlib.pyplot as plt
import rich.table

from . import page
from .pictures import COLOURS, OTHER
from .table import number, size_text

SCHEMES = ("time", "fixed")


@dataclasses.dataclass(frozen=True)
class Point:
    """One library with one setting, at one collective and size: microseconds, over the rounds."""

    collective: str
    ranks: int
    bytes: int
    library: str
    setting: str
    us: float  # of the blocking call
    work_us: float
    tests: tuple
    overhead: dict  # {scheme: a number for each of `tests`, or None}
    processor_us: float | None = None  # of all cores, for the blocking call; None: too short to tell
    call_us: float = 0  # the library's blocking call in its better setting

    @property
    def name(self):
        return f"{self.library} ({self.setting})"

    def best(self, scheme):
        """(overhead, number of tests) with the number of tests that serves it best; None without any."""
        return min(
            ((us, tests) for us, tests in zip(self.overhead[scheme], self.tests) if us is not None), default=None
        )

    def hidden(self, scheme):
        """The share of the blocking call's time that is gone; negative where the started form costs more than it.

        A setting that makes the blocking call slow hides nothing by hiding what it has made: so the better one counts.
        """
        best = self.best(scheme)
        return 1 - best[0] / self.call_us if best and self.call_us else None

    @property
    def stretched(self):
        """Call and work without a test, as times the longer of the two and the processors' time for the call: what
        nobody can hide where ranks that compute keep all cores busy."""
        if self.processor_us is None or self.tests[0] != 0 or self.overhead["fixed"][0] is None:
            return None
        return (self.work_us + self.overhead["fixed"][0]) / (max(self.call_us, self.work_us) + self.processor_us)


def middle(values):
    """The median of what the rounds gave; None without any. (The best would not do: a difference of two times is small
    where one of them was measured badly.)"""
    there = [value for value in values if value is not None]
    return statistics.median(there) if there else None


def point_of(cell, size, series):
    """What the rounds say together; None when they say nothing."""
    rounds = list(series.points.get(size, {}).values())
    us = middle([point["us"] for point in rounds])
    if us is None:
        return None
    busy = middle([point["busy"] for point in rounds])
    overhead = {
        scheme: [middle(column) for column in zip(*(point[f"{scheme}_median_us"] for point in rounds))]
        for scheme in SCHEMES
    }
    return Point(
        cell.collective,
        cell.ranks,
        size,
        series.library.name,
        series.setting.name,
        us,
        middle([point["work_us"] for point in rounds]),
        tuple(rounds[0]["tests"]),
        overhead,
        busy and busy * us,
    )


def combine(run):
    """Every point, by ranks, collective and size."""
    made = []
    for cell, every in run.series.items():
        for size in sorted({size for series in every for size in series.points}):
            points = [point_of(cell, size, series) for series in every]
            there = [point for point in points if point]
            for point in there:
                better = min((other for other in there if other.library == point.library), key=lambda other: other.us)
                processor_us = better.processor_us
                made.append(dataclasses.replace(point, call_us=better.us, processor_us=processor_us))
    return made


def headings(points):
    tests = points[0].tests if points else ()
    columns = [f"{scheme} {count}" for scheme in SCHEMES for count in tests]
    return ["size", "library", "call µs", *columns, "hidden by time", "hidden", "processors µs", "stretched"]


def share(value):
    if value is None:
        return "-"
    return f"{value:.0%}" if value > -10 else "< -1000%"


def cells(point):
    overheads = [us for scheme in SCHEMES for us in point.overhead[scheme]]
    return [
        size_text(point.bytes),
        point.name,
        number(point.us),
        *("-" if us is None else number(us) for us in overheads),
        *(share(point.hidden(scheme)) for scheme in SCHEMES),
        "-" if point.processor_us is None else number(point.processor_us),
        "-" if point.stretched is None else f"{point.stretched:.2f}",
    ]


def grouped(points):
    """[((ranks, collective), points)]."""
    groups = {}
    for point in points:
        groups.setdefault((point.ranks, point.collective), []).append(point)
    return list(groups.items())


def show(console, points):
    for (ranks, collective), rows in grouped(points):
        title = f"{collective} on {ranks} ranks: overhead in µs, by scheme and number of tests"
        table = rich.table.Table(title=title, title_justify="left", padding=0)
        for index, heading in enumerate(headings(rows)):
            table.add_column(heading, justify="left" if index == 1 else "right")
        for point in rows:
            table.add_row(*cells(point))
        console.print(table)


METHOD = """{rounds} alternating rounds; seed {seed}; {minutes:.0f} minutes; {place}. Other programs
used {before:.2f} of the machine's cores before, and {after:.2f} after. Each sample is started {start}. Peers wait
in the first of their ways, with more ranks than cores on one host in the one that yields.

Results were checked first, of the blocking and the started form, on every rank. **call**: the blocking call.
**time N**: started, then computed until as much time had passed, tested N times meanwhile, waited: the time inside the
calls. **fixed N**: the same with an amount of work that alone takes as long as the call: the time of everything, less
that of the work alone. The slowest rank's, the median over samples and rounds.
**hidden**: 1 - the best of fixed / the library's blocking call, in its better setting; **hidden by time**: the same by
the other scheme, which does not see what a thread takes from the work. **processors**: the blocking call's time, times
the share of the machine's cores that is busy meanwhile; **stretched**: call and work without a test, as times the
longer of both and that. How to read them: [overlap.md]({docs})."""


def method(run, facts):
    options = run.options
    return METHOD.format(
        rounds=run.rounds,
        seed=options.seed,
        minutes=facts["minutes"],
        place=run.place.describe(),
        before=facts["foreign_load"],
        after=facts["foreign_after"],
        start="at an agreed time" if options.scheme == "window" else "behind a barrier",
        docs="../overlap.md",
    )


def markdown(run, facts, points, pictures):
    """The page, with every point."""
    parts = [
        f"{facts['machine']}. {'; '.join(run.names.values())}. {facts['date']}.",
        f"# Overlap {'between hosts' if run.options.hosts else 'on one host'}",
        f"Made by `tutti bench {facts['arguments']}`; the numbers are in [{facts['json']}]({facts['json']}).",
        method(run, facts),
        *page.failures(run),
    ]
    for (ranks, collective), rows in grouped(points):
        if pictures.get(ranks):
            parts.append(f"## {ranks} ranks\n\n![{pictures[ranks]}]({pictures.pop(ranks)})")
        head = headings(rows)
        lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
        lines += ["| " + " | ".join(cells(point)) + " |" for point in rows]
        parts.append(f"### {collective} on {ranks} ranks\n\n" + "\n".join(lines))
    return "\n\n".join(parts) + "\n"


def draw_one(axes, points):
    """Overhead / time of the call by size: what is under 1 is gained. Dotted: by time, which is too good."""
    for name in dict.fromkeys(point.name for point in points):
        line = [point for point in points if point.name == name]
        colour = COLOURS.get(line[0].library, OTHER)
        for scheme, style in (("fixed", "-" if line[0].setting == "calls" else "--"), ("time", ":")):
            there = [(max(point.bytes, 1), 1 - point.hidden(scheme)) for point in line if point.best(scheme)]
            label = name if scheme == "fixed" else None
            width = 1.5 if scheme == "fixed" else 0.7
            axes.plot(*zip(*there), style, marker=".", linewidth=width, color=colour, label=label)
    axes.axhline(1, color="black", linewidth=0.5)
    axes.set_xscale("log", base=10)
    axes.set_ylim(-0.2, 3)
    axes.set_xlabel("bytes", fontsize=8)


def draw(points, base):
    """One picture for each number of ranks, beside `base`: {ranks: file name}."""
    drawn = {}
    for ranks in sorted({point.ranks for point in points}):
        groups = [(name, rows) for (count, name), rows in grouped(points) if count == ranks]
        columns = min(4, len(groups))
        rows = -(-len(groups) // columns)
        figure, grid = plt.subplots(
            rows, columns, figsize=(3.6 * columns, 2.8 * rows), layout="constrained", squeeze=False
        )
        for axes, (name, some) in zip(grid.flat, groups):
            draw_one(axes, some)
            axes.set_title(name, fontsize=10)
        for axes in grid.flat[len(groups) :]:
            axes.set_visible(False)
        grid.flat[0].legend(fontsize=7)
        figure.suptitle(f"{ranks} ranks: overhead / time of the blocking call (thick: fixed work; dotted: by time)")
        path = base.parent / f"{base.name}-{ranks}.png"
        figure.savefig(path, dpi=80)
        plt.close(figure)
        drawn[ranks] = path.name
    return drawn
