# SPDX-License-Identifier: BSD-3-Clause
"""Random MPI programs leave the same in memory with the drop-in as without; and the comparison sees what is wrong."""

import mpi_jobs
import mpis
import pytest
import seeds

AMOUNT = 40  # of programs for each number of ranks; bench/mpi/random_programs.py plays more
LEFT_OUT = 0.05  # of them that the library which is the reference may fail at


@pytest.mark.parametrize(
    ("name", "ranks"),
    # Open MPI itself hangs in programs of 5 ranks, each for its time limit. Intel MPI sees requests with other eyes.
    [(name, ranks) for name in mpis.ABIS for ranks in (2, 3, 5) if (name, ranks) != ("openmpi", 5)] + [("impi", 4)],
)
def test_same_with_the_drop_in(name, ranks):
    first = 10000 * ranks
    compared, complaints, left_out = seeds.compare(mpis.get(name), ranks, range(first, first + AMOUNT), policy="always")
    assert not complaints, "\n".join(complaints)
    assert len(left_out) <= LEFT_OUT * AMOUNT, left_out
    assert compared + len(left_out) == AMOUNT


def test_same_while_trials_alternate():
    """Calls of one program go either way: also while operations are open on some ranks only."""
    compared, complaints, left_out = seeds.compare(mpis.get("mpich-abi"), 2, range(30, 30 + AMOUNT), policy="auto")
    assert not complaints, "\n".join(complaints)
    assert compared + len(left_out) == AMOUNT


@pytest.mark.parametrize("mutation", ["one byte", "guard", "tag"])
def test_sees_what_is_wrong(mutation):
    mpi = mpis.get("mpich")
    mutant = mpi_jobs.compile_program(mpi, [mpi_jobs.HERE / "layers/mutant.c"], shared=True)
    _, complaints, _ = seeds.compare(mpi, 3, range(1, 41), preload=[mutant], environment={"MUTANT": mutation})
    assert complaints
    assert all("wanted" in one for one in complaints)
    assert mutation == "tag" or len(complaints) == 1


def test_sees_what_is_wrong_where_the_library_differs_from_its_reference():
    mpi = mpis.get("openmpi")
    mutant = mpi_jobs.compile_program(mpi, [mpi_jobs.HERE / "layers/mutant.c"], shared=True)
    _, complaints, _ = seeds.compare(mpi, 3, range(1, 4), preload=[mutant], environment={"MUTANT": "one byte"})
    assert complaints
    assert "wanted" in complaints[0]


def test_sees_nothing_wrong_without_a_mutation():
    mpi = mpis.get("mpich")
    mutant = mpi_jobs.compile_program(mpi, [mpi_jobs.HERE / "layers/mutant.c"], shared=True)
    compared, complaints, _ = seeds.compare(mpi, 3, range(1, 41), preload=[mutant])
    assert compared == 40
    assert not complaints
