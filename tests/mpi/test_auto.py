# SPDX-License-Identifier: BSD-3-Clause
"""The policy auto takes what is faster, and the report says what was done."""

import re
import subprocess

import mpi_jobs
import mpis
import pytest

CALLS = 2000
# Messages of this host by TCP: a call takes this MPI ten times as long.
SLOW = {"OMPI_MCA_btl": "tcp,self", "OMPI_MCA_pml": "ob1"}


def report(ranks, policy, environment):
    """{collective: (size, calls by MPI, calls by Tutti)} and all that was printed."""
    mpi = mpis.get("openmpi")
    program = mpi_jobs.compile_program(mpi, [mpi_jobs.HERE / "auto/calls.c"])
    settings = {"TUTTI_MPI_REPORT": "1", **environment}
    done = mpi_jobs.run(mpi, ranks, [program, CALLS], policy=policy, timeout=120, environment=settings)
    assert done.checked() == "0 wrong\n"
    rows = [line.split() for line in done.err.splitlines() if line.endswith("%")]
    return {row[0]: (row[1], int(row[2]), int(row[3])) for row in rows}, done.err


def test_auto_takes_the_faster_one():
    rows, text = report(4, "auto", SLOW)
    for collective in ("allreduce", "iallreduce"):
        size, by_mpi, by_tutti = rows[collective]
        assert size == "128"
        assert by_mpi + by_tutti == CALLS
        assert by_tutti > 0.8 * CALLS, text
    assert sum(rows["barrier"][1:]) == CALLS // 8  # the first, of a communicator not yet known, has a row of its own


@pytest.mark.parametrize(("policy", "side"), [("always", 2), ("never", 1)])
def test_policies_are_obeyed(policy, side):
    rows, text = report(3, policy, {})
    assert rows["allreduce"][side] == rows["iallreduce"][side] == CALLS, text


def test_exceptions_alone_are_those_to_auto():
    rows, text = report(2, "auto", {"TUTTI_MPI": "barrier:never"})
    assert rows["allreduce"][2] > 0, text
    assert rows["barrier"][2] == 0, text


@pytest.mark.parametrize("name", mpis.ABIS)
def test_tutti_mpi_before_a_launcher(name):
    mpi = mpis.get(name)
    program = mpi_jobs.compile_program(mpi, [mpi_jobs.HERE / "auto/calls.c"])
    words = [mpi_jobs.WORK / "bin/tutti", "mpi", "--policy", "always", *mpi.launch_words(3), program, "20"]
    environment = mpi_jobs.environment_of(mpi, "bare", {"TUTTI_MPI_REPORT": "1"})
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "0 wrong\n"
    assert re.search(r"^allreduce +128 +0 +20 ", done.stderr, re.MULTILINE), done.stderr


def test_a_policy_that_means_nothing():
    mpi = mpis.get("mpich")
    program = mpi_jobs.compile_program(mpi, [mpi_jobs.HERE / "auto/calls.c"])
    settings = {"TUTTI_MPI": "always,gossip:never", "TUTTI_MPI_REPORT": "1"}
    done = mpi_jobs.run(mpi, 2, [program, 20], policy="always", environment=settings)
    assert done.checked() == "0 wrong\n"
    assert done.err.count("gossip") == 1
    assert "all collectives are the MPI's" in done.err


@pytest.mark.parametrize("setting", ["TUTTI_ALGORITHMS", "TUTTI_TABLE", "TUTTI_CACHES"])
@pytest.mark.parametrize("rank", [0, 1])
def test_settings_of_one_rank_that_mean_nothing(rank, setting):
    """No rank waits for that one."""
    mpi = mpis.get("mpich")
    program = mpi_jobs.compile_program(mpi, [mpi_jobs.HERE / "auto/calls.c"])
    wrong = f'[ "$PMI_RANK" != {rank} ] || export {setting}=gossip; exec "$@"'
    done = mpi_jobs.run(mpi, 2, ["sh", "-c", wrong, "sh", program, 20], policy="always")
    assert done.checked() == "0 wrong\n"
    assert len(re.findall(f"{setting}.*gossip", done.err)) == 1
    assert f"all collectives are the MPI's: rank {rank}: {setting}" in done.err


def test_report_names_what_was_passed_on():
    _, text = report(2, "auto", {})
    assert "Passed on: communicators of one rank" in text
