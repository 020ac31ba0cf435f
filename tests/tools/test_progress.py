# SPDX-License-Identifier: BSD-3-Clause
"""TUTTI_PROGRESS_THREAD: who gets a progress thread, what is said about it, and that it does its work."""

import functools
import re
import sys

import programs
import pytest

NUMBERS = re.compile(r"take (\d+) us with one, (\d+) us without; it won (\d+) of 9 rounds")


tutti = functools.partial(programs.tutti, timeout=120)


def row(ranks, **environment):
    """What `tutti info` says about it."""
    text = tutti("info", "-n", ranks, **environment).stdout
    return re.search(r"^progress +(.*)$", text, re.MULTILINE).group(1)


def threads(ranks, **environment):
    """How many threads each rank's process has, and what was said on standard error."""
    program = "import os, tutti; tutti.world(); print(len(os.listdir('/proc/self/task')))"
    done = tutti("run", "-n", ranks, sys.executable, "-c", program, OPENBLAS_NUM_THREADS="1", **environment)
    return [int(line) for line in done.stdout.split()], done.stderr


def test_nobody_gets_one_who_does_not_ask():
    assert row(2).startswith("no thread: calls move requests on")
    assert row(2, TUTTI_PROGRESS_THREAD="off") == row(2)
    assert threads(3)[0] == [1, 1, 1]


def test_on_means_on():
    assert row(2, TUTTI_PROGRESS_THREAD="on") == "a thread: TUTTI_PROGRESS_THREAD=on"
    assert threads(3, TUTTI_PROGRESS_THREAD="on")[0] == [2, 2, 2]


@pytest.mark.parametrize("wanted", ["on", "auto"])
def test_a_world_of_one_needs_none(wanted):
    assert row(1, TUTTI_PROGRESS_THREAD=wanted) == "no thread: a world of one waits for nobody"
    assert threads(1, TUTTI_PROGRESS_THREAD=wanted)[0] == [1]


@pytest.mark.parametrize("ranks", [2, 3])
def test_a_probe_decides_and_says_why(ranks):
    said = row(ranks, TUTTI_PROGRESS_THREAD="auto")
    with_one, without, won = map(int, NUMBERS.search(said).groups())
    assert with_one > 0
    assert without > 0
    # The numbers that are printed are rounded; what lies on the border may be either.
    if won < 8 or with_one > without:
        assert said.startswith("no thread: ")
    elif with_one < 0.9 * without:
        assert said.startswith("a thread: ")


def test_all_ranks_do_what_was_decided():
    counts, said = threads(3, TUTTI_PROGRESS_THREAD="auto")
    assert counts == [2 if "progress: a thread" in said else 1] * 3
    assert len(NUMBERS.findall(said)) == 1  # rank 0 alone
    assert not threads(2, TUTTI_PROGRESS_THREAD="auto", TUTTI_LOG="off")[1]


def test_rank_zero_decides_for_all():
    line = "[ $TUTTI_RANK = 0 ] || export TUTTI_PROGRESS_THREAD=off; exec tutti info"
    assert "TUTTI_PROGRESS_THREAD=on" in tutti("run", "-n", 2, "sh", "-c", line, TUTTI_PROGRESS_THREAD="on").stdout


def test_a_request_moves_on_without_calls(tmp_path):
    """The rank in the middle of a chain hands on what it gets while it does something else: the last rank ends it."""
    program = tmp_path / "chain.py"
    program.write_text(
        """
import pathlib, sys, time
import numpy, tutti

world, done = tutti.world(), pathlib.Path(sys.argv[1])
data = numpy.full(1 << 20, float(world.rank == 0))
request = world.ibcast(data)
if world.rank == 1:
    deadline = time.monotonic() + float(sys.argv[2])
    while not done.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    print("handed on" if done.exists() else "still here")
request.wait()
if world.rank == 2:
    done.touch()
"""
    )

    def run(name, seconds, **environment):
        words = ["run", "-n", 3, sys.executable, program, tmp_path / name, seconds]
        return tutti(*words, TUTTI_ALGORITHMS="bcast=chain", TUTTI_SINGLE_COPY="off", **environment).stdout.strip()

    assert run("with", 60, TUTTI_PROGRESS_THREAD="on") == "handed on"
    assert run("without", 1) == "still here"
