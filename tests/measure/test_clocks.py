# SPDX-License-Identifier: BSD-3-Clause
"""Clocks of real processes, wrong by known amounts: on one host, and on hosts of a lab, which share the real one."""

import pathlib
import random
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/launch")]

from hosts import BUILD, Job  # noqa: E402 - found above
from lab import Lab  # noqa: E402

PROGRAM = str(BUILD / "bin/measure_clocks")
RANK = r"^(tree|linear) rank (\d+): error (\d+) bound (\d+) round (\d+)$"
ATTEMPTS = 5
SEED = random.randrange(1 << 32)


def check(printed, size):
    """No rank's error is larger than the timeline says; returns how many times faster the tree was."""
    found = re.findall(RANK, printed, re.MULTILINE)
    assert len(found) == 2 * (size - 1), printed
    for scheme in ("tree", "linear"):
        errors = [tuple(map(int, numbers)) for name, *numbers in found if name == scheme]
        worst, bound, trip = (max(one[i] for one in errors) for i in (1, 2, 3))
        print(f"seed {SEED}, {size} ranks, {scheme}: worst error {worst} ns, bound {bound} ns, round trip {trip} ns")
        for rank, error, bound, _ in errors:
            assert error <= bound, f"rank {rank}, seed {SEED}: {printed}"
    tree, linear = map(int, re.search(r"^tree (\d+) linear (\d+)$", printed, re.MULTILINE).groups())
    print(f"{size} ranks: tree {tree / 1e6:.1f} ms, linear {linear / 1e6:.1f} ms")
    return linear / tree


@pytest.mark.parametrize("size", [2, 5])
def test_one_host(size):
    done = subprocess.run(
        ["tutti", "run", "-n", str(size), PROGRAM, str(SEED)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    check(done.stdout, size)


@pytest.mark.parametrize("size", [2, 5, 8])
def test_hosts(size):
    places = range(1, size + 1)
    with Lab(hosts=size) as lab, Job(lab, list(places), program=PROGRAM) as job:
        check(job.start_all(str(SEED)).succeed()[0], size)


def test_the_tree_is_faster_on_32_hosts():
    """On slow wires, so that a round trip is a wait and not work for the two cores that all hosts share. Beside other
    programs it is work all the same: it counts what the tree can do, once in ATTEMPTS."""
    with Lab(hosts=32, rate="4mbit") as lab:
        for _ in range(ATTEMPTS):
            with Job(lab, list(range(1, 33)), program=PROGRAM) as job:
                faster = check(job.start_all(str(SEED)).succeed()[0], 32)
            print(f"tree {faster:.1f} times as fast")
            if faster > 2:
                return
    pytest.fail(f"the tree was not twice as fast as one by one, {ATTEMPTS} times")
