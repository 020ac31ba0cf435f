# SPDX-License-Identifier: BSD-3-Clause
"""The OSU micro-benchmarks' times, bare and with the drop-in, in alternating runs: nothing may become slower.

A point is a program, a number of ranks and a size. Each run of a point is paired with the one beside it; the ratio bare
to drop-in has the interval of its median over the pairs, and the same is computed between the bare runs themselves,
which is the noise. A point is slower if its interval lies below 1/1.03 and below the noise's.
"""

import argparse
import json
import math
import pathlib
import random
import re
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/mpi"))

import mpi_jobs as jobs
import mpis
import suites

ALLOWED = 1.03
DEFAULT = [
    *(f"osu_{name}" for name in ("allreduce", "bcast", "reduce", "alltoall", "allgather", "gather", "scatter")),
    *(f"osu_{name}" for name in ("reduce_scatter", "barrier", "allgatherv", "alltoallv", "gatherv", "scatterv")),
    *(f"osu_i{name}" for name in ("allreduce", "bcast", "alltoall", "barrier")),
]


def times_of(text):
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


def interval(values):
    """The median and its interval that holds in 95 of 100 cases, between order statistics."""
    values = sorted(values)
    rank = max(int(len(values) / 2 - math.sqrt(len(values))), 0)
    return statistics.median(values), values[rank], values[-1 - rank]


def play(mpi, ranks, command, policy, timeout):
    done = jobs.run(mpi, ranks, command, policy=policy, timeout=timeout)
    return times_of(done.checked())


def measure(chosen, mpi, ranks, command, order):
    """{bytes: [(bare, with it, bare again), ...]}"""
    points = {}
    for _ in range(chosen.rounds):
        runs = ["bare", chosen.policy, "bare again"]
        order.shuffle(runs)
        found = {name: play(mpi, ranks, command, name.split()[0], chosen.timeout) for name in runs}
        for size in found["bare"].keys() & found[chosen.policy].keys() & found["bare again"].keys():
            row = found["bare"][size], found[chosen.policy][size], found["bare again"][size]
            points.setdefault(size, []).append(row)
    return points


def judge(rows):
    """What a point says: the ratio with its interval, the noise's, and whether it is slower."""
    ratio = interval([statistics.mean((bare, again)) / max(ours, 0.01) for bare, ours, again in rows])
    noise = interval([x for bare, _, again in rows for x in (bare / max(again, 0.01), again / max(bare, 0.01))])
    slower = ratio[2] < 1 / ALLOWED and ratio[2] < noise[1]
    return {
        "ratio": ratio,
        "noise": noise,
        "slower": slower,
        "bare": statistics.median(row[0] for row in rows),
        "ours": statistics.median(row[1] for row in rows),
    }


def say(name, ranks, size, said):
    (ratio, low, high), noise = said["ratio"], said["noise"]
    verdict = "  SLOWER" if said["slower"] else ""
    print(
        f"{name:22} {ranks:3} {size:9} bare {said['bare']:9.2f} us, with it {said['ours']:9.2f} us: "
        f"{ratio:5.2f} ({low:.2f}-{high:.2f}), noise {noise[1]:.2f}-{noise[2]:.2f}{verdict}",
        flush=True,
    )


def all_points(chosen, mpi):
    """Measures and prints all points; returns them."""
    commands = {one.name: one.command[0] for one in suites.osu(chosen.source, mpi, chosen.largest)}
    order = random.Random(chosen.seed)
    every = []
    for ranks in chosen.ranks:
        for name in chosen.programs:
            options = ["-i", str(chosen.iterations), "-x", str(chosen.iterations)]
            if "barrier" not in name:
                options += ["-m", f"{chosen.smallest}:{chosen.largest}"]
            for size, rows in sorted(measure(chosen, mpi, ranks, [commands[name], *options], order).items()):
                said = judge(rows)
                say(name, ranks, size, said)
                every.append({"program": name, "ranks": ranks, "bytes": size, **said})
    return every


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=pathlib.Path, required=True, help=suites.OSU_SOURCE)
    parser.add_argument("--mpi", choices=mpis.NAMES, default="openmpi")
    parser.add_argument("--ranks", nargs="+", type=int, default=[2, 4])
    parser.add_argument("--policy", default="auto", choices=("auto", "always", "never"))
    parser.add_argument("--programs", nargs="+", default=DEFAULT)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=1000, help="of each size")
    parser.add_argument("--smallest", type=int, default=4)
    parser.add_argument("--largest", type=int, default=1 << 20)
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path, help="all points as JSON")
    chosen = parser.parse_args()
    print(f"{chosen.mpi}, {chosen.policy}, seed {chosen.seed}, {chosen.rounds} rounds of {chosen.iterations} calls")
    try:
        every = all_points(chosen, mpis.get(chosen.mpi))
    except suites.Missing as missing:
        parser.error(str(missing))
    slower = sum(one["slower"] for one in every)
    mean = statistics.geometric_mean(one["ratio"][0] for one in every)
    print(f"{len(every)} points, {slower} slower; geometric mean {mean:.2f}")
    if chosen.out:
        chosen.out.write_text(json.dumps({"mpi": chosen.mpi, "policy": chosen.policy, "points": every}, indent=1))
    return 1 if slower or not every else 0


if __name__ == "__main__":
    sys.exit(main())
