# SPDX-License-Identifier: BSD-3-Clause
"""The times of the OSU or Intel benchmarks, bare and with the drop-in, in alternating runs: nothing may become slower.

A point is a program, a number of ranks and a size. A round runs it three times, in an order by lot: bare, with the
drop-in, and bare again. The ratio of the first to the second has the interval of its median over the rounds, and so has
that of the first to the third, which is the noise. A point is slower if its interval lies below 1/1.03 and below the
noise's, and if the drop-in takes longer by more than the 60 ns that a call which is passed on may cost: some calls that
move nothing take less. Programs with a point that looks so by its medians run in seven more rounds, and all rounds
count.
"""

import argparse
import os
import pathlib
import random
import re
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/mpi"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench/versus"))

import mpi_jobs as jobs
import mpis
import suites
from driver import figures, machine, page

ALLOWED = 1.03
PASSED_ON = 0.06  # microseconds that a call which is passed on may cost
AGAIN = 7  # more rounds of a program with a point that looks slower
BLOCKING = ("allreduce", "bcast", "reduce", "alltoall", "allgather", "gather", "scatter", "reduce_scatter", "barrier")
BLOCKING += ("allgatherv", "alltoallv", "gatherv", "scatterv")
NONBLOCKING = ("iallreduce", "ibcast", "ialltoall", "ibarrier")


def osu_times(text):
    """{bytes: microseconds}: the first column of numbers behind the size; a barrier has no size."""
    found = {}
    for line in text.splitlines():
        words = line.split()
        if not words or not all(re.fullmatch(r"[\d.]+", word) for word in words):
            continue
        if len(words) == 1 or "." in words[0]:
            found[0] = float(words[0])
        else:
            found[int(words[0])] = float(words[1])
    return found


def osu_commands(chosen, mpi):
    """{name: command} of the programs that were asked for, or of all."""
    made = {one.name: one.command[0] for one in suites.osu(chosen.source, mpi, chosen.largest)}
    options = ["-i", chosen.iterations, "-x", chosen.iterations]
    sizes = ["-m", f"{chosen.smallest}:{chosen.largest}"]
    names = chosen.programs or [f"osu_{name}" for name in (*BLOCKING, *NONBLOCKING)]
    return {name: [made[name], *options, *([] if "barrier" in name else sizes)] for name in names}


def imb_times(text):
    """{bytes: microseconds}: the mean over the ranks, or the time of communication beside computation."""
    found, columns = {}, []
    for line in text.splitlines():
        words = line.split()
        if words and words[0] in ("#bytes", "#repetitions"):
            columns = words
        elif columns and len(words) == len(columns):
            row = dict(zip(columns, words))
            found[int(row.get("#bytes", 0))] = float(row.get("t_avg[usec]") or row["t_ovrl[usec]"])
        else:
            columns = []
    return found


def imb_commands(chosen, mpi):
    """As they come with Intel's library; other libraries of its ABI run them too, if they are told where to look."""
    options = ["-npmin", "{ranks}", "-iter", chosen.iterations, "-iter_policy", "off"]
    options += ["-msglog", f"{chosen.smallest.bit_length() - 1}:{chosen.largest.bit_length() - 1}"]
    names = chosen.programs or [name.capitalize() for name in (*BLOCKING, *NONBLOCKING)]
    program = {name: "IMB-NBC" if name[0] == "I" else "IMB-MPI1" for name in names}
    front = ["env", f"LD_LIBRARY_PATH={mpi.place / 'lib'}"]
    return {name: [*front, mpis.get("impi").place / "bin" / program[name], *options, name] for name in names}


SUITES = {"osu": (osu_commands, osu_times), "imb": (imb_commands, imb_times)}


def text_of(done, name, seconds):
    """What a run printed: of a bare one that is too slow, the lines that it came to. Intel MPI's MPI_Reduce of 256 KiB
    takes 30 ms on four ranks of two cores."""
    if done.status is not None or not name.startswith("bare"):
        return done.checked()
    print(f"{name} did not end within {seconds:g} s: what it printed counts", flush=True)
    return done.out.rpartition("\n")[0]


def measure(chosen, mpi, ranks, command, rounds, order):
    """{bytes: [(bare, with it, bare again), ...]}"""
    points = {}
    words = [str(word).format(ranks=ranks) for word in command]
    for _ in range(rounds):
        runs = ["bare", chosen.policy, "bare again"]
        order.shuffle(runs)
        found = {}
        for name in runs:
            done = jobs.run(mpi, ranks, words, policy=name.split()[0], timeout=chosen.timeout)
            found[name] = SUITES[chosen.suite][1](text_of(done, name, chosen.timeout))
        for size in found["bare"].keys() & found[chosen.policy].keys() & found["bare again"].keys():
            row = found["bare"][size], found[chosen.policy][size], found["bare again"][size]
            points.setdefault(size, []).append(row)
    return points


def median(values):
    """With its confidence interval, of 95 of 100 cases where there are rounds enough: the whole range otherwise."""
    return statistics.median(values), *figures.interval(values)[:2]


def judge(rows):
    """What a point says: the ratio with its interval, the noise's, and whether it is slower."""
    ratio = median([max(bare, 0.01) / max(ours, 0.01) for bare, ours, _ in rows])
    _, low, high = median([max(bare, 0.01) / max(again, 0.01) for bare, _, again in rows])
    noise = min(low, 1 / high), max(high, 1 / low)  # which of the two was bare is chance
    bare, ours = (statistics.median(column) for column in list(zip(*rows))[:2])
    below = ratio[2] < 1 / ALLOWED and ratio[2] < noise[0]
    dearer = round(ours - bare, 3) > PASSED_ON
    return {
        "ratio": ratio,
        "noise": noise,
        "slower": below and dearer,
        "dear": below and not dearer,
        "doubtful": ratio[0] < 1 / ALLOWED and dearer,
        "bare": bare,
        "ours": ours,
    }


def say(name, ranks, size, said):
    (ratio, low, high), noise = said["ratio"], said["noise"]
    verdict = "  SLOWER" if said["slower"] else "  by a passed-on call" if said["dear"] else ""
    print(
        f"{name:22} {ranks:3} {size:9} bare {said['bare']:9.2f} us, with it {said['ours']:9.2f} us: "
        f"{ratio:5.2f} ({low:.2f}-{high:.2f}), noise {noise[0]:.2f}-{noise[1]:.2f}{verdict}",
        flush=True,
    )


def all_points(chosen, mpi):
    """Measures and prints all points; returns them."""
    order = random.Random(chosen.seed)
    commands = SUITES[chosen.suite][0](chosen, mpi)
    every = []
    for ranks in chosen.ranks:
        for name, command in commands.items():
            points = measure(chosen, mpi, ranks, command, chosen.rounds, order)
            again = [size for size, rows in points.items() if judge(rows)["doubtful"]]
            if again:
                print(f"{name}, {ranks} ranks: looks slower at {again} bytes; {AGAIN} more rounds", flush=True)
                for size, rows in measure(chosen, mpi, ranks, command, AGAIN, order).items():
                    points.setdefault(size, []).extend(rows)
            for size, rows in sorted(points.items()):
                said = {**judge(rows), "again": bool(again)}
                say(name, ranks, size, said)
                every.append({"program": name, "ranks": ranks, "bytes": size, **said})
    return every


PAGE = """{where}. {mpi}. {date}.

# The MPI drop-in beside the bare library: {suite}, {policy}

Made by `bench/mpi/times.py {command}`; the numbers are in [{name}.json]({name}.json).

Bare time / time with the drop-in, the median of {rounds} rounds of {iterations} calls each (and as many before
the clock runs, where the program has a way to say so); the three runs of a round, bare, with it and bare again, follow
one another in an order by lot. Trials are part of what is measured; of a bare run that does not end within {timeout:g}
s, what it came to counts. {count} points, geometric mean {mean:.2f}. **Bold**: slower, that is with
an interval below 1/{allowed} and below the noise between bare runs: {slower} points. †: the same, but by no more
than the {passed_on:g} ns that a call which is passed on may cost: {dear} points. *Italic*: of a program with a
point that looked slower by its medians, which ran in {again_rounds} more rounds: {again} points. The interval of a
median over {rounds} rounds holds in {level:.0%} of cases, over {all_rounds} in {level_again:.0%}.
"""


def cell(point):
    """Its ratio, bold or in italics."""
    mark = "**" if point["slower"] else "*" if point["again"] else ""
    return f"{mark}{point['ratio'][0]:.2f}{'†' if point['dear'] else ''}{mark}"


def table(points, ranks):
    """The ratios of all programs and sizes at a number of ranks."""
    of_size = {(one["program"], one["bytes"]): one for one in points if one["ranks"] == ranks}
    sizes = sorted({size for _, size in of_size})
    lines = [f"## {ranks} ranks", "", f"| bytes | {' | '.join(map(str, sizes))} |", "|---" * (len(sizes) + 1) + "|"]
    for program in dict.fromkeys(name for name, _ in of_size):
        cells = []
        for size in sizes:
            one = of_size.get((program, size))
            cells.append("" if one is None else cell(one))
        lines.append(f"| {program} | {' | '.join(cells)} |")
    return "\n".join(lines)


def write_page(chosen, points):
    """A page and its numbers, beside one another."""
    facts = {"suite": chosen.suite, "mpi": chosen.mpi, "policy": chosen.policy, "rounds": chosen.rounds}
    page.write_json(chosen.out.with_suffix(".json"), {**facts, "points": points})
    more = {
        "where": machine.describe(sorted(os.sched_getaffinity(0))),
        "date": machine.now(),
        "command": " ".join(sys.argv[1:]),
        "name": chosen.out.name,
        "iterations": chosen.iterations,
        "timeout": chosen.timeout,
        "count": len(points),
        "mean": statistics.geometric_mean(one["ratio"][0] for one in points),
        "allowed": ALLOWED,
        "slower": sum(one["slower"] for one in points),
        "dear": sum(one["dear"] for one in points),
        "passed_on": 1000 * PASSED_ON,
        "again": sum(one["again"] for one in points),
        "again_rounds": AGAIN,
        "all_rounds": chosen.rounds + AGAIN,
        "level": figures.interval(range(chosen.rounds))[2],
        "level_again": figures.interval(range(chosen.rounds + AGAIN))[2],
    }
    tables = [table(points, ranks) for ranks in chosen.ranks]
    chosen.out.with_suffix(".md").write_text("\n".join([PAGE.format(**facts, **more), *tables]) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("--source", type=pathlib.Path, help=suites.OSU_SOURCE)
    parser.add_argument("--mpi", choices=mpis.NAMES, default="openmpi")
    parser.add_argument("--ranks", nargs="+", type=int, default=[2, 4])
    parser.add_argument("--policy", default="auto", choices=("auto", "always", "never"))
    parser.add_argument("--programs", nargs="+", help="without it: most")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=1000, help="of each size")
    parser.add_argument("--smallest", type=int, default=4)
    parser.add_argument("--largest", type=int, default=1 << 20)
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path, help="writes a page, NAME.md, and NAME.json")
    chosen = parser.parse_args()
    print(f"{chosen.mpi}, {chosen.policy}, seed {chosen.seed}, {chosen.rounds} rounds of {chosen.iterations} calls")
    try:
        every = all_points(chosen, mpis.get(chosen.mpi))
    except suites.Missing as missing:
        parser.error(str(missing))
    slower = sum(one["slower"] for one in every)
    mean = statistics.geometric_mean(one["ratio"][0] for one in every)
    print(f"{len(every)} points, {slower} slower; geometric mean {mean:.2f}")
    if chosen.out and every:
        write_page(chosen, every)
    return 1 if slower or not every else 0


if __name__ == "__main__":
    sys.exit(main())
