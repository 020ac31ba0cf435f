# SPDX-License-Identifier: BSD-3-Clause
"""`tutti why` on jobs over several hosts, asked on one of them: it names rank, host, call and reason."""

import json
import os
import pathlib
import re
import signal
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/launch")]

from hosts import BUILD, Job  # noqa: E402 - found above
from lab import Lab  # noqa: E402

TUTTI = str(BUILD / "bin/tutti")
PROGRAM = str(BUILD / "bin/diagnose_hang")
PATIENCE = 40
PAIRS = [1, 1, 2, 2, 3, 3, 4, 4]
ALONE = [1, 2, 3, 4]


class Sick:
    """A job of tests/diagnose/hang.cpp, asked on host 1."""

    def __init__(self, lab, job, how):
        self.lab, self.job = lab, job
        job.start_all(how)

    def why(self, *options):
        listed = self.lab.call(1, [TUTTI, "why", "--json"])
        jobs = [one["job"] for one in json.loads(listed.stdout)] if listed.returncode == 0 else []
        if not jobs:
            return None
        done = self.lab.call(1, [TUTTI, "why", jobs[0], *options])
        return done.stdout if done.returncode == 0 else None

    def says(self, expression):
        """Asks until the answer has it: the job needs a moment to hang."""
        end = time.monotonic() + PATIENCE
        while not re.search(expression, text := self.why() or ""):
            assert time.monotonic() < end, f"no {expression} in\n{text}"
            time.sleep(0.1)
        return text

    def signal(self, rank, number):
        """To a rank, found in the table."""
        row = re.search(rf"\n{rank} +h\d+:(\d+) ", self.why())
        os.kill(self.lab.process(int(row[1])), number)


@pytest.fixture(name="sick")
def make_sick():
    with Lab(hosts=4) as lab:
        jobs = []

        def start(how, places):
            jobs.append(Job(lab, places, program=PROGRAM))
            return Sick(lab, jobs[-1], how)

        yield start
        for job in jobs:
            job.__exit__()


@pytest.mark.parametrize(
    ("how", "places", "said"),
    [
        ("plan", PAIRS, r"rank 1 \(pid \d+ on h1\) has not called plan halo #1 of group world"),
        ("no_receiver", ALONE, r"rank 1 \(pid \d+ on h2\) has not received a message with tag 5 [^\n]* from rank 0"),
        ("unfinished", ALONE, r"rank 1 \(pid \d+ on h2\) has started allreduce #1 of group world, but does not wait"),
    ],
)
def test_hangs(sick, how, places, said):
    job = sick(how, places)
    text = job.says(said)
    assert f"{len(places)} ranks on 4 hosts" in text
    end = time.monotonic() + PATIENCE  # a busy host may answer late, and is then known by its address
    while True:
        found = json.loads(job.why("--json"))
        assert found["size"] == len(places)
        hosts = [rank["host"] for rank in found["ranks"]]
        if hosts == [f"h{place}" for place in places]:
            break
        assert time.monotonic() < end, hosts


def test_hosts_that_do_not_answer(sick):
    job = sick("sleep", ALONE)
    job.says("4 ranks on 4 hosts")
    job.signal(3, signal.SIGSTOP)
    job.says(r"\nrank 3 \([^)]*\) is silent \(stopped, which kill -CONT ends, or its host has no time for it\)")
    job.signal(1, signal.SIGKILL)
    job.says(r"\nrank 1 \([^)]*\) is not there any more")
    job.lab.plug(3, "down")
    job.says(r"\nrank 2 \([^)]*\) is on a host of which nothing is heard")
