# SPDX-License-Identifier: BSD-3-Clause
"""Ranks on 8 and 16 hosts, of which one to three die, and hosts that nobody reaches any more: the others go on.

TUTTI_SEEDS=n runs so many seeds, TUTTI_BASE=n others, TUTTI_SEED=n that one alone.
"""

import os
import pathlib
import re
import signal
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "launch"))

from hosts import BUILD, Job
from lab import Lab

SURVIVOR = str(BUILD / "bin/survivor")
LONGEST = 1000  # milliseconds, of a shrink: also after a host has gone
KILLED = signal.SIGKILL  # as setsid says it, which the lab starts all by


def seeds(usual):
    """Which seeds to run."""
    if "TUTTI_SEED" in os.environ:
        return [int(os.environ["TUTTI_SEED"])]
    first = int(os.environ.get("TUTTI_BASE", "0"))
    return range(first, first + int(os.environ.get("TUTTI_SEEDS", usual)))


def run(lab, places, seed):
    """One job: what was decided, by all that decided it, and the longest shrink in milliseconds."""
    with Job(lab, places, program=SURVIVOR) as job:
        job.start_all(seed, TUTTI_TIMEOUT=50, TUTTI_LOG="off")
        ends = [job.end(rank) for rank in range(len(places))]
    fate = ends[0][2].splitlines()[0]
    dying = {int(rank) for rank in re.findall(r"rank (\d+) dies", fate)}
    decided, longest = "", 0.0
    for rank, (status, out, err) in enumerate(ends):
        what = f"{fate}\nrank {rank} ended with {status}:\n{out}{err}"
        assert status == 0 or (rank in dying and status == KILLED), what
        longer, shorter = sorted((decided, out), key=len, reverse=True)
        assert longer.startswith(shorter), f"{what}another one decided\n{decided}"
        decided = longer
        longest = max([longest, *map(float, re.findall(r"longest shrink: ([\d.]+)", err))])
    return decided, longest


@pytest.mark.parametrize(("hosts", "each", "count"), [(8, 1, 4), (16, 1, 4), (8, 2, 2)])
def test_some_die(hosts, each, count):
    shrinks, times = 0, []
    with Lab(hosts=hosts) as lab:
        for seed in seeds(count):
            decided, longest = run(lab, [1 + rank // each for rank in range(hosts * each)], seed)
            shrinks += decided.count("shrunk")
            times.append(longest)
    print(f"{hosts} hosts, {each} on each: {shrinks} shrinks, the longest took {max(times):.0f} ms")
    assert max(times) < LONGEST


PARTED = """
import sys, time, numpy, tutti
world = tutti.world()
total = numpy.zeros(world.size)
world.allgather(numpy.array([float(world.rank)]), total)
world.agree(True)
print("ready", flush=True)
try:
    while True:
        world.barrier()
except tutti.PeerLost:
    pass
try:
    began = time.monotonic()
    left = world.shrink()
    took = time.monotonic() - began
    left.allgather(numpy.array([float(world.rank)]), total[:left.size])
    print(f"{left.size} go on without {world.lost}", flush=True)
    print(f"shrink took {1000 * took:.0f} ms", file=sys.stderr)
except tutti.PeerLost as error:
    print(f"out: {error}", flush=True)
"""


def test_a_host_that_nobody_reaches_is_out(tmp_path):
    """Its processes live and would go on by themselves: they must not."""
    program = tmp_path / "parted.py"
    program.write_text(PARTED)
    with Lab(hosts=4) as lab, Job(lab, [1, 2, 3, 4, 4], program=sys.executable) as job:
        job.start_all(str(program), TUTTI_LOG="off")
        for process in job.running.values():
            assert process.stdout.readline() == "ready\n"
        lab.plug(4, "down")
        others = [job.end(rank) for rank in (0, 1, 2)]
        alone = [job.end(rank) for rank in (3, 4)]
    for status, out, err in others:
        assert (status, out) == (0, "3 go on without [3, 4]\n"), err
        print(err.strip())
    for status, out, err in alone:
        assert status == 0 and out.startswith("out: rank "), out + err
        assert "reaches too few of the group" in out or "declared lost by the others" in out, out
