# SPDX-License-Identifier: BSD-3-Clause
"""A tool that stands before the drop-in, as profilers do, sees what the program calls; Tutti serves what it goes on
with."""

import re

import mpi_jobs
import mpis
import pytest
import seeds

SEEDS = range(500, 520)


def tool(mpi):
    return mpi_jobs.compile_program(mpi, [mpi_jobs.HERE / "layers/profiler.c"], shared=True)


@pytest.mark.parametrize("name", ["openmpi", "mpich", "mpich-abi"])
def test_same_behind_a_tool(name):
    mpi = mpis.get(name)
    compared, complaints, left_out = seeds.compare(mpi, 3, SEEDS, policy="always", preload=[tool(mpi)])
    assert not complaints, "\n".join(complaints)
    assert compared + len(left_out) == len(SEEDS)
    assert len(left_out) <= 1, left_out


@pytest.mark.parametrize("name", ["openmpi", "mpich", "debian-openmpi", "debian-mpich"])
def test_both_have_the_calls(name):
    mpi = mpis.get(name)
    program = mpi_jobs.compile_program(mpi, [mpi_jobs.HERE / "auto/calls.c"])
    how = {"policy": "always", "environment": {"TUTTI_MPI_REPORT": "1"}}
    done = mpi_jobs.run(mpi, 2, [program, 100], preload=[tool(mpi)], **how)
    assert done.checked() == "0 wrong\n"
    # Init, 100 reductions, as many waits and what stands between them.
    assert int(re.search(r"^profiler: (\d+) calls$", done.err, re.MULTILINE)[1]) > 200
    table = {row[0]: row[1:] for row in re.findall(r"^(\w+) +\d+ +(\d+) +(\d+) ", done.err, re.MULTILINE)}
    assert (table["allreduce"], table["iallreduce"]) == (("0", "100"), ("0", "100")), done.err
