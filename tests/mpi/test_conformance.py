# SPDX-License-Identifier: BSD-3-Clause
"""Programs in C, Fortran and Python print the same, byte by byte, with the drop-in as without."""

import re
import sys

import mpi4
import mpi_jobs
import mpis
import pytest

PROGRAMS = mpi_jobs.HERE / "conformance"


def printed(mpi, command, ranks, folder, **how):
    """What each rank has written into its file."""
    folder.mkdir(parents=True)
    mpi_jobs.run(mpi, ranks, command, cwd=folder, timeout=40, **how).checked()
    files = sorted(folder.iterdir())
    assert len(files) == ranks
    return [file.read_bytes() for file in files]


def same(mpi, command, tmp_path):
    for ranks in (1, 2, 3, 4):
        bare = printed(mpi, command, ranks, tmp_path / f"bare-{ranks}")
        assert all(bare)
        for policy in ("auto", "always"):
            assert printed(mpi, command, ranks, tmp_path / f"{policy}-{ranks}", policy=policy) == bare


@pytest.mark.parametrize("name", mpis.NAMES)
def test_completion(name, tmp_path):
    mpi = mpis.get(name)
    same(mpi, [mpi_jobs.compile_program(mpi, [PROGRAMS / "statuses.c"])], tmp_path)


@pytest.mark.parametrize("program", ["apart", "wide", "sessions", "types", "refused"])
@pytest.mark.parametrize("name", mpis.ABIS)
def test_what_programs_rely_on(name, program, tmp_path):
    mpi = mpis.get(name)
    same(mpi, [mpi_jobs.compile_program(mpi, [PROGRAMS / f"{program}.c"])], tmp_path)


@pytest.mark.parametrize("program", ["early", "epoch", "deleting", "looks", "loops", "joined", "memory"])
@pytest.mark.parametrize("name", mpis.ABIS)
def test_programs_that_know_what_is_right(name, program):
    mpi = mpis.get(name)
    program = mpi_jobs.compile_program(mpi, [PROGRAMS / f"{program}.c"], "-pthread")
    for ranks in (2, 3, 4):  # alone, Open MPI's own I-collectives never end
        out = mpi_jobs.run(mpi, ranks, [program], policy="always", timeout=30).checked()
        assert sorted(out.splitlines()) == [f"rank {rank}: 0 wrong" for rank in range(ranks)]


@pytest.mark.parametrize("policy", ["auto", "always"])
@pytest.mark.parametrize("name", mpis.ABIS)
def test_what_is_not_touched(name, policy):
    mpi = mpis.get(name)
    program = mpi_jobs.compile_program(mpi, [PROGRAMS / "careful.c"], "-pthread")
    for ranks in (2, 3):
        out = mpi_jobs.run(mpi, ranks, [program], policy=policy, timeout=30).checked()
        assert sorted(out.splitlines()) == [f"rank {rank}: 0 wrong" for rank in range(ranks)]


def test_looks_without_the_functions():
    """Those of MPI 4.1 are the drop-in's own here; Open MPI 5 lacks them too, and writes more into a status."""
    mpi = mpis.get("debian-mpich")
    program = mpi_jobs.compile_program(mpi, [PROGRAMS / "looks.c"])
    out = mpi_jobs.run(mpi, 2, [program, "sends"], policy="always", timeout=30).checked()
    assert sorted(out.splitlines()) == [f"rank {rank}: 0 wrong" for rank in range(2)]


@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_failures_in_lists(name):
    mpi = mpis.get(name)
    program = mpi_jobs.compile_program(mpi, [PROGRAMS / "failing.c"])
    out = mpi_jobs.run(mpi, 2, [program], policy="always", timeout=30).checked()
    assert sorted(out.splitlines()) == [f"rank {rank}: 0 wrong" for rank in range(2)]


@pytest.mark.parametrize("name", ["mpich", "mpich-abi"])
def test_nothing_has_no_type(name):
    """Open MPI refuses that, and MPICH 4.0 ends in MPI_Bcast."""
    mpi = mpis.get(name)
    program = mpi_jobs.compile_program(mpi, [PROGRAMS / "nothing.c"])
    for policy in ("bare", "auto", "always"):
        out = mpi_jobs.run(mpi, 3, [program], policy=policy, timeout=30).checked()
        assert sorted(out.splitlines()) == [f"rank {rank}: 0 wrong" for rank in range(3)]


@pytest.mark.parametrize("program", ["edges", "outlive"])
@pytest.mark.parametrize("name", mpis.ABIS)
def test_what_goes_on_every_mpi(name, program):
    mpi = mpis.get(name)
    program = mpi_jobs.compile_program(mpi, [PROGRAMS / f"{program}.c"])
    for policy, hosts in (("bare", 1), ("auto", 1), ("always", 1), ("always", 2)):
        out = mpi_jobs.run(mpi, 3, [program], policy=policy, timeout=30, hosts=hosts).checked()
        assert sorted(out.splitlines()) == [f"rank {rank}: 0 wrong" for rank in range(3)]


def test_two_worlds():
    mpi = mpis.get("openmpi")  # MPICH's launchers here start nobody
    program = mpi_jobs.compile_program(mpi, [PROGRAMS / "spawned.c"])
    for ranks, more in ((1, 2), (2, 1), (2, 2)):
        both = {"parent": range(ranks), "child": range(ranks, ranks + more)}
        lines = [f"{who} {rank} of {ranks + more}: right" for who, some in both.items() for rank in some]
        lines += [f"start {rank} of {ranks}: right" for rank in range(ranks)]
        lines += [f"alone {rank} of {more}: right" for rank in range(more)]
        out = mpi_jobs.run(mpi, ranks, [program, more], policy="always", timeout=20).checked()
        assert sorted(out.splitlines()) == sorted(lines)


@pytest.mark.parametrize("name", ["openmpi", "debian-openmpi"])
def test_what_the_mpi_lacks(name, tmp_path):
    """Programs that look whether a function is there, as mpi4py does, find the drop-in's name for it."""
    mpi = mpis.get(name)
    program = mpi_jobs.compile_program(mpi, [PROGRAMS / "absent.c"])
    for what in ("large", *(["return"] if name == "debian-openmpi" else [])):
        out = mpi_jobs.run(mpi, 2, [program, what], policy="always", timeout=30, cwd=tmp_path).checked()
        assert sorted(out.splitlines()) == [f"rank {rank}: 0 wrong" for rank in range(2)]
    out = mpi_jobs.run(mpi, 2, [program, "others"], policy="never", timeout=30).checked()
    assert sorted(out.splitlines()) == [f"rank {rank}: 0 wrong" for rank in range(2)]
    if name != "debian-openmpi":  # the only one without sessions
        return
    done = mpi_jobs.run(mpi, 2, [program], policy="always", timeout=30)
    assert done.status not in (0, None)
    assert "the program calls MPI_Intercomm_create_from_groups, which its MPI does not have" in done.err
    assert "wrong" not in done.out


@pytest.mark.parametrize("name", mpis.ABIS)
def test_after_the_end(name):
    """What the MPI says then names the function that the program has called."""
    mpi = mpis.get(name)
    program = mpi_jobs.compile_program(mpi, [PROGRAMS / "after.c"])
    for policy in ("bare", "always"):
        done = mpi_jobs.run(mpi, 2, [program], policy=policy, timeout=20)
        assert done.status not in (0, None)
        assert "after the end" not in done.out
        assert set(re.findall(r"(?:MPIX?|internal)_(\w+)\(?\)", done.err)) == {"Barrier"}, done.err


# Open MPI reads memory that is gone, MPICH's standard ABI lists of requests that are not there.
REFUSED = (("openmpi", "refused_on_one"), ("mpich", "refused_on_one"), ("mpich", "stale"), ("mpich-abi", "stale"))


@pytest.mark.parametrize("policy", ["bare", "auto", "always"])
@pytest.mark.parametrize(("name", "program"), REFUSED)
def test_what_the_mpi_refuses(name, program, policy):
    mpi = mpis.get(name)
    program = mpi_jobs.compile_program(mpi, [PROGRAMS / f"{program}.c"])
    out = mpi_jobs.run(mpi, 3, [program], policy=policy, timeout=30).checked()
    assert sorted(out.splitlines()) == [f"rank {rank}: 0 wrong" for rank in range(3)]


@pytest.mark.parametrize("policy", ["bare", "auto", "always"])
def test_revoked(policy):
    mpi = mpis.get("openmpi")  # MPICH ends in an assertion
    program = mpi_jobs.compile_program(mpi, [PROGRAMS / "revoked.c"])
    for ranks in (2, 3):
        out = mpi_jobs.run(mpi, ranks, [program], policy=policy, timeout=30).checked()
        assert sorted(out.splitlines()) == [f"rank {rank}: 0 wrong" for rank in range(ranks)]


@pytest.mark.parametrize("policy", ["auto", "always"])
@pytest.mark.parametrize("name", mpis.ABIS)
def test_threads(name, policy):
    mpi = mpis.get(name)
    program = mpi_jobs.compile_program(mpi, [PROGRAMS / "threads.c"], "-pthread")
    for ranks, hosts in ((2, 1), (3, 1), (3, 2)):
        out = mpi_jobs.run(mpi, ranks, [program], policy=policy, timeout=60, hosts=hosts).checked()
        assert sorted(out.splitlines()) == [f"rank {rank}: 0 wrong" for rank in range(ranks)]


@pytest.mark.parametrize("program", ["legacy", "older", "modern"])
@pytest.mark.parametrize("name", mpis.WITH_FORTRAN)
def test_fortran(name, program, tmp_path):
    mpi = mpis.get(name)
    same(mpi, [mpi_jobs.compile_program(mpi, [PROGRAMS / f"{program}.f90"])], tmp_path)


@pytest.mark.parametrize("program", ["legacy", "older", "modern"])
@pytest.mark.parametrize("name", mpis.WITH_FORTRAN)
def test_fortran_is_served(name, program, tmp_path):
    mpi = mpis.get(name)
    program = mpi_jobs.compile_program(mpi, [PROGRAMS / f"{program}.f90"])
    how = {"policy": "always", "environment": {"TUTTI_MPI_REPORT": "1"}, "cwd": tmp_path}
    done = mpi_jobs.run(mpi, 2, [program], **how)
    done.checked()
    table = {row[0]: row[1:] for row in re.findall(r"^(\w+) +\w+ +(\d+) +(\d+) ", done.err, re.MULTILINE)}
    served = {kind for kind, (by_mpi, by_tutti) in table.items() if by_mpi == "0" and by_tutti != "0"}
    assert {"iallreduce", "ibarrier"} & served, done.err


@pytest.mark.parametrize("name", mpis.WITH_FORTRAN)
def test_fortran_that_is_loaded_late(name, tmp_path):
    """As a module of Python's: the MPI and the names of Fortran's constants are for its loader alone."""
    mpi = mpis.get(name)
    module = mpi_jobs.compile_program(mpi, [PROGRAMS / "module.f90"], "-fPIC", shared=True)
    same(mpi, [mpi_jobs.compile_program(mpi, [PROGRAMS / "loader.c"]), module], tmp_path / "loader")
    first = f"import ctypes; ctypes.CDLL({str(module)!r}).solve()"  # and knows of no MPI before
    same(mpi, [sys.executable, "-c", first], tmp_path / "python")


def test_lengths_in_fortran():
    """Open MPI's own Fortran takes as many neighbours as there are ranks, which is wrong."""
    mpi = mpis.get("debian-mpich")
    program = mpi_jobs.compile_program(mpi, [PROGRAMS / "lengths.f90"])
    for ranks in (1, 2, 3):
        out = mpi_jobs.run(mpi, ranks, [program], policy="always", timeout=20).checked()
        assert sorted(out.splitlines()) == [f"rank {rank}: 0 wrong" for rank in range(ranks)]


@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_python(name, tmp_path):
    mpi = mpis.get(name)
    same(mpi, [mpi4.python(mpi), PROGRAMS / "script.py"], tmp_path)
