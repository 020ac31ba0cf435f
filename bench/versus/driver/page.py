# SPDX-License-Identifier: BSD-3-Clause
"""The files of one run: all of it as JSON, the page in Markdown. Nothing in them is written by hand."""

import dataclasses
import json
import statistics

from . import means, table
from .figures import THIN

SCHEMES = {
    "loop": "call after call; a point = run time / calls, of the slowest rank.",
    "barrier": "a barrier before each call; a point = the median over calls of the slowest rank's time.",
    "window": "all ranks start each call at one time; a point = the median over calls of the last rank's end.",
}
STATISTICS = {
    "run": "",
    "median": " The time of a round is that of its median batch.",
    "best": " The time of a round is that of its best batch: others used the machine meanwhile.",
}


def columns(by_round):
    """The points of one size: {what: [its value in each round]}."""
    points = list(by_round.values())
    names = [name for name in points[0] if name not in ("collective", "bytes")]
    return {"round": list(by_round)} | {name: [point.get(name) for point in points] for name in names}


def document(run, facts, comparisons):
    """Everything about a run, for JSON."""
    options = run.options
    series = [
        {
            "collective": cell.collective,
            "ranks": cell.ranks,
            "library": one.library.name,
            "setting": one.setting.name,
            "failure": one.failure,
            "sizes": {str(size): columns(by_round) for size, by_round in sorted(one.points.items())},
        }
        for cell, every in run.series.items()
        for one in every
    ]
    return {
        **facts,
        "libraries": run.names,
        "rounds": run.rounds,
        "again": run.again,
        "options": {
            name: value for name, value in vars(options).items() if isinstance(value, (int, float, str, list, bool))
        },
        "comparisons": [dataclasses.asdict(one) | {"mark": one.mark} for one in comparisons],
        "series": series,
    }


def write_json(path, made):
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".json.part")
    partial.write_text(json.dumps(made, indent=None, separators=(",", ":")) + "\n")
    partial.rename(path)


MEMORY = {
    "program": "",
    "library": "\nAll buffers are memory of the library's own, from tutti_allocate and MPI_Alloc_mem.",
}

METHOD = """{rounds}; seed {seed}; {minutes:.0f} minutes; {place}; {hogs} busy
processes beside. Other programs used {before:.2f} of the machine's cores before, and {after:.2f} after.{lines}

Scheme {scheme} Every result is checked first, on every rank. Each peer counts with the best of its ways to wait,
point by point. **ratio** = best peer / Tutti, the median over rounds of both in the same round; **interval**: that
median's confidence interval by order statistics, of {level:.0%} or more. **skew**: how long after the first rank the
last one was done. **floor**: the share of the time that the copies alone take which the call cannot avoid, dealt over
the cores, at the best speed of copying while all cores copy. "Peer: one round": it was measured no more, as one that
is more than {thin} times slower, or has a setting that is far better.{memory}
Bold, and "loses": slower than the best peer, by the whole of the interval."""


def lines_text(nanoseconds):
    """How far apart the cores were, by what was measured before each job."""
    if len(nanoseconds) < 2:
        return ""
    low, middle, high = (cut for cut in statistics.quantiles(nanoseconds, n=20, method="inclusive")[::9])
    return (
        f"\nBefore each job a cache line was sent from core to core: {middle:.0f} ns in the median, {low:.0f} to "
        f"{high:.0f} in nine of ten cases."
    )


def rounds_text(run):
    """How many rounds there were, and of what."""
    more = f", and {run.again} more of the points at which it was not clear who is faster" if run.again else ""
    return f"{run.rounds - run.again} alternating rounds{more}"


def method(run, facts):
    options = run.options
    return METHOD.format(
        rounds=rounds_text(run),
        seed=options.seed,
        minutes=facts["minutes"],
        place=run.place.describe(),
        hogs=options.hogs,
        before=facts["foreign_load"],
        after=facts["foreign_after"],
        lines=lines_text(facts["line_ns"]),
        scheme=f"{options.scheme}: {SCHEMES[options.scheme]}{STATISTICS[options.statistic]}",
        level=facts["level"],
        thin=THIN,
        memory=MEMORY[options.memory],
    )


def first_line(text):
    return text.partition("\n")[0]


def failures(run):
    """Sections about what could not be measured, if there is any."""

    def line(cell, one, text):
        return f"- {one.library.name} ({one.setting.name}), {cell.collective} on {cell.ranks} ranks: {text}"

    failed = [line(cell, one, first_line(one.failure)) for cell, one in run.failures()]
    late = [line(cell, one, ", ".join(map(table.size_text, sizes))) for cell, one, sizes in run.missing()]
    again = [f"- {first_line(text)}" for text in run.repeated]
    made = ["## What could not be measured\n\n" + "\n".join(failed)] if failed else []
    made += ["## Points that no job came to in its time\n\n" + "\n".join(late)] if late else []
    return made + (["## Jobs that failed, and were measured in parts\n\n" + "\n".join(again)] if again else [])


def markdown(run, facts, comparisons, pictures):
    """The page."""
    names = "; ".join(run.names.values())
    compared = [one for one in comparisons if one.peer]
    parts = [
        f"{facts['machine']}. {names}. {facts['date']}.",
        "# One host: Tutti beside its peers",
        f"Made by `tutti bench {facts['arguments']}`; the numbers are in [{facts['json']}]({facts['json']}).",
        method(run, facts),
        f"## Points to win\n\n{len(compared)} points were compared; Tutti loses "
        f"{sum(one.mark == 'loses' for one in compared)}, and at "
        f"{sum(one.undecided for one in compared)} more the interval does not say who is faster.\n\n"
        f"{table.losing(compared, table.ONE_HOST)}",
    ]
    floors = (means.floor_text(compared), means.meeting_text(comparisons, facts["meeting_us"]))
    goals = [text for text in (means.table(compared), *floors) if text]
    parts += ["\n\n".join(["## Goals", *goals])] if goals else []
    parts += failures(run)
    parts += table.sections(comparisons, pictures, table.ONE_HOST)
    return "\n\n".join(parts) + "\n"
