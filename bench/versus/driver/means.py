# SPDX-License-Identifier: BSD-3-Clause
"""What Tutti is meant to reach on one host: geometric means by size, and a share of the copy floor."""

import dataclasses
import math
import statistics

from .table import size_text

KINDS = {
    "all-to-all": (
        *("barrier", "allreduce", "allgather", "allgatherv", "alltoall", "alltoallv"),
        *("reduce_scatter", "reduce_scatter_block"),
    ),
    "rooted": ("bcast", "reduce", "gather", "gatherv", "scatter", "scatterv"),
}


@dataclasses.dataclass(frozen=True)
class Goal:
    """The geometric mean that some points are meant to have."""

    ranks: int
    least: int  # bytes
    most: float
    wanted: float
    kind: str = ""  # "": all collectives

    def holds(self, one):
        """Whether a compared point is among them."""
        of_kind = not self.kind or one.collective in KINDS[self.kind]
        return one.ranks == self.ranks and self.least <= one.bytes <= self.most and of_kind

    @property
    def sizes(self):
        """In words."""
        if self.most == math.inf:
            return f"from {size_text(self.least)}"
        most = size_text(self.most)
        return f"{size_text(self.least)} to {most}" if self.least else f"up to {most}"


def oversubscribed(ranks, all_to_all):
    """The goals of more ranks than cores."""
    return (
        Goal(ranks, 0, 1 << 10, all_to_all, "all-to-all"),
        Goal(ranks, 0, 1 << 10, 1.0, "rooted"),
        Goal(ranks, 2 << 10, math.inf, 1.3),
    )


GOALS = (
    Goal(2, 0, 1 << 10, 1.5),
    Goal(2, 0, 1 << 10, 1.6, "all-to-all"),
    Goal(2, 0, 1 << 10, 1.2, "rooted"),
    Goal(2, 2 << 10, 32 << 10, 1.3),
    Goal(2, 64 << 10, 512 << 10, 1.4),
    Goal(2, 1 << 20, 4 << 20, 1.1),
    *oversubscribed(4, 1.6),
    *oversubscribed(8, 2.5),
    *oversubscribed(16, 3.0),
)

FLOOR_RANKS, FLOOR_BYTES, FLOOR_SHARE = 2, 64 << 10, 0.8  # copies take so much of the time of every such point


def table(compared):
    """The goals that these points say something about, as a Markdown table; those missed in bold."""
    lines = ["| ranks | collectives | size | points | geometric mean | wanted |", "|---|---|---|---|---|---|"]
    for goal in GOALS:
        ratios = [one.ratio for one in compared if goal.holds(one)]
        if ratios:
            mean = statistics.geometric_mean(ratios)
            text = f"{mean:.2f}" if mean >= goal.wanted else f"**{mean:.2f}**"
            kind = goal.kind or "all"
            lines.append(f"| {goal.ranks} | {kind} | {goal.sizes} | {len(ratios)} | {text} | {goal.wanted:g} |")
    return "\n".join(lines) if len(lines) > 2 else ""


def near(points, share):
    """At how many of them the share is as it is meant to be."""
    shares = [getattr(one, share) for one in points]
    return f"{sum(share >= FLOOR_SHARE for share in shares)}, and {statistics.median(shares):.0%} in the median"


def meeting_text(compared, meetings):
    """How near Tutti's barriers are to the barest of so many processes, where these share the cores; "" without any."""
    barriers = {one.ranks: one.us for one in compared if one.collective == "barrier"}
    found = [
        f"of {count} processes {meetings[count]:.2f} µs (Tutti's {barriers[count]:.2f})"
        for count in sorted(meetings)
        if count in barriers
    ]
    if not found:
        return ""
    return (
        "Ranks that share a core take turns. A barrier that does nothing but what every one must (each process writes "
        f"a word and looks for the others', and whoever misses one gives its core away) takes, {'; '.join(found)}."
    )


def floor_text(compared):
    """How many points are near the copy floor, of those that are meant to be; "" without any."""
    there = [one for one in compared if one.ranks == FLOOR_RANKS and one.bytes >= FLOOR_BYTES and one.floor_share]
    if not there:
        return ""
    text = (
        f"Of {len(there)} points on {FLOOR_RANKS} ranks from {FLOOR_BYTES >> 10} KiB on, copies alone take at least "
        f"{FLOOR_SHARE:.0%} of the time at {near(there, 'floor_share')}"
    )
    if any(one.read_share for one in there):
        text += (
            "; at the speed of process_vm_readv, with which the kernel copies from one process to another, they would "
            f"at {near(there, 'read_share')}"
        )
    return text + "."
