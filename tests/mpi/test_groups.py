# SPDX-License-Identifier: BSD-3-Clause
"""Groups made from communicators: tutti::from_mpi, tutti_from_mpi, tutti.from_mpi."""

import os
import pathlib
import re

import mpi4
import mpi_jobs
import mpis
import numpy
import pytest

HERE = mpi_jobs.HERE / "groups"
LIBRARY = mpi_jobs.WORK / "lib"
LIBRARIES = (f"-L{LIBRARY}", "-ltutti", f"-Wl,-rpath,{LIBRARY}")


def compiled(mpi, source):
    include = f"-I{mpis.ROOT}/include"
    return mpi_jobs.compile_program(mpi, [HERE / source], include, "-Werror", libraries=LIBRARIES)


# So many ranks on so many hosts.
PLACES = ((5, 2), (3, 1))
ALL_PLACES = (*PLACES, (1, 1), (2, 2), (3, 3))


@pytest.mark.parametrize("name", mpis.NAMES)
def test_collectives(name):
    mpi = mpis.get(name)
    program = compiled(mpi, "groups.cpp")
    for ranks, hosts in ALL_PLACES if name in ("openmpi", "mpich") else PLACES:
        free = ["free"] if hosts == 2 else []
        done = mpi_jobs.run(mpi, ranks, [program, *free], hosts=hosts, environment={"TUTTI_TRACE": "no.json"})
        assert "are not recorded" in done.err
        assert done.checked().count(": 0 wrong\n") == ranks
        near = "inproc" if ranks == 1 else "shm" if hosts < ranks else ""
        ways = [*([near] if near else []), *(["mpi"] if hosts > 1 else [])]
        assert re.search(rf"^{' and '.join(ways)}( \((Open MPI|MPICH|Intel).* \d[\d.]+.*\))?$", done.out, re.MULTILINE)
        assert ("(" in done.out) == (hosts > 1)
        assert "no memory" not in done.err


def run_python(mpi, ranks, *words, hosts):
    """mpi4py is in the environment of its MPI, Tutti and what it needs in this one."""
    packages = pathlib.Path(numpy.__file__).parents[1]
    environment = {"PYTHONPATH": os.pathsep.join([os.environ["PYTHONPATH"], str(packages)])}
    return mpi_jobs.run(mpi, ranks, [mpi4.python(mpi), *words], hosts=hosts, environment=environment).checked()


@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_mpi4py(name):
    for ranks, hosts in ((1, 1), (3, 1), (3, 2), (5, 5)):
        free = ["free"] if hosts == 2 else []
        assert run_python(mpis.get(name), ranks, HERE / "script.py", *free, hosts=hosts).count("good") == ranks


@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_programs_of_the_page(name, tmp_path):
    page = (mpis.ROOT / "docs/mpi-groups.md").read_text()
    programs = re.findall(r"^```(\w+)\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert [language for language, _ in programs] == ["cpp", "c", "python"]
    mpi = mpis.get(name)
    for language, text in programs:
        source = tmp_path / f"total.{language.replace('python', 'py')}"
        source.write_text(text)
        if language == "python":
            printed = run_python(mpi, 4, source, hosts=2)
        else:
            printed = mpi_jobs.run(mpi, 4, [compiled(mpi, source)], hosts=2).checked()
        assert printed == "4 ranks, total 10\n"


@pytest.mark.parametrize("name", mpis.ABIS)
def test_beside_the_drop_in(name):
    """The program's collectives are Tutti's as well, and its groups' messages are not."""
    mpi = mpis.get(name)
    program = compiled(mpi, "groups.cpp")
    for ranks, hosts in ((3, 1), (3, 2)):
        done = mpi_jobs.run(mpi, ranks, [program], policy="always", hosts=hosts)
        assert done.checked().count(": 0 wrong\n") == ranks


SOME = ("debian-openmpi", "debian-mpich", *mpis.ABIS)


@pytest.mark.parametrize("what", ["arguments", "mismatch", "pending"])
@pytest.mark.parametrize("name", SOME)
def test_errors(name, what):
    mpi = mpis.get(name)
    program = compiled(mpi, "errors.c")
    for hosts in (1, 2, 3):
        assert mpi_jobs.run(mpi, 3, [program, what], hosts=hosts).checked().count("good") == 3


@pytest.mark.parametrize("name", mpis.ABIS)
def test_settings_of_one_rank(name):
    """What one rank's environment gets wrong, all are told."""
    mpi = mpis.get(name)
    program = compiled(mpi, "errors.c")
    one = 'test "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 1 || export "$0"; exec "$@"'
    for setting in ("TUTTI_TIMEOUT=soon", "TUTTI_ALGORITHMS=allreduce=none"):
        command = ["sh", "-c", one, setting, program, "settings", "rank 1: "]
        assert mpi_jobs.run(mpi, 3, command, hosts=2).checked().count("good") == 3


@pytest.mark.parametrize(("policy", "hosts", "times"), [("bare", 1, 1), ("always", 2, 3)])
def test_a_table_that_cannot_be_used(policy, hosts, times, tmp_path):
    """By the group's rank 0, and in a program with the drop-in by the first of each host."""
    folder = tmp_path / "tutti"
    folder.symlink_to(folder)  # where no file can be read, whatever this machine is called
    mpi = mpis.get("mpich")
    command = [compiled(mpi, "errors.c"), "arguments"]
    done = mpi_jobs.run(
        mpi, 3, command, policy=policy, hosts=hosts, environment={"XDG_CACHE_HOME": str(tmp_path), "TUTTI_TABLE": ""}
    )
    assert done.checked().count("good") == 3
    assert done.err.count(f"tutti: {folder}/") == times, done.err


@pytest.mark.parametrize("name", mpis.ABIS)
def test_progress_thread(name):
    """Between hosts it needs an MPI that any thread may call; inside a host it needs none."""
    mpi = mpis.get(name)
    program = compiled(mpi, "errors.c")
    environment = {"TUTTI_PROGRESS_THREAD": "on"}
    for hosts, words in ((3, ("settings", "MPI_THREAD_MULTIPLE")), (1, ("arguments",)), (3, ("thread",))):
        done = mpi_jobs.run(mpi, 3, [program, *words], hosts=hosts, environment=environment)
        assert done.checked().count("good") == 3


@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_the_progress_thread_finds_who_comes_late(name):
    """One that slept until a slow look is due takes 17 s; the late ranks alone take 1."""
    mpi = mpis.get(name)
    done = mpi_jobs.run(mpi, 2, [compiled(mpi, "late.cpp"), "8"], hosts=2)
    assert done.checked().count("good") == 2, done.out


def test_a_lost_rank():
    """MPICH's launcher can be told to let the others live."""
    mpi = mpis.get("debian-mpich")
    program = compiled(mpi, "errors.c")
    keep = mpis.dataclasses.replace(mpi, launcher=("mpirun.mpich", "-disable-auto-cleanup", *mpi.launcher[1:]))
    done = mpi_jobs.run(keep, 3, [program, "lost"])
    assert done.out.count("good") == 2, done.err
