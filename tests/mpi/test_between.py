# SPDX-License-Identifier: BSD-3-Clause
"""Between hosts: the MPI's messages as a transport, and programs whose ranks are on several hosts. TUTTI_HOST makes
several hosts of one."""

import mpi_jobs
import mpis
import pytest
import seeds

SUITE = mpis.ROOT / "tests/transport"
BACK = mpis.ROOT / "bindings/mpi/back"
# Those in which ranks die: an MPI's job dies with them.
WITH_DEATHS = ("*Faults.what_was_sent_before_death*", "*Faults.a_rank_dies*", "*Faults.a_rank_is_killed*")


@pytest.mark.parametrize("name", mpis.ABIS)
def test_transport(name):
    mpi = mpis.get(name)
    sources = [mpi_jobs.HERE / "carrier/harness.cpp", BACK / "carrier.cpp", BACK / "real.cpp"]
    sources += [SUITE / f"{part}.cpp" for part in ("conformance", "conformance_test", "faults_test")]
    sources += [mpi_jobs.WORK / f"src/libtutti_{room}.a" for room in ("transport", "host", "base")]
    flags = ["-DTUTTI_MPI_STANDARD_ABI"] if mpi.name.endswith("-abi") else []
    program = mpi_jobs.compile_program(
        mpi, sources, *flags, f"-I{BACK}", f"-I{SUITE}", libraries=("-lgtest", "-lpthread", "-ldl")
    )
    out = mpi_jobs.run(mpi, 5, [program, "--gtest_filter=-" + ":".join(WITH_DEATHS)], timeout=200).checked()
    assert out.count("[  PASSED  ] ") == 5


@pytest.mark.parametrize(
    ("name", "program"),
    # Open MPI's I-collectives end in memory that is not there.
    [*((name, "epoch") for name in mpis.ABIS), *((name, "early") for name in mpis.ABIS if name != "openmpi")],
)
def test_what_programs_get_wrong_themselves(name, program):
    mpi = mpis.get(name)
    program = mpi_jobs.compile_program(mpi, [mpi_jobs.HERE / f"conformance/{program}.c"])
    for ranks, hosts in ((2, 2), (4, 2), (4, 3)):
        out = mpi_jobs.run(mpi, ranks, [program], policy="always", timeout=30, hosts=hosts).checked()
        assert sorted(out.splitlines()) == [f"rank {rank}: 0 wrong" for rank in range(ranks)]


@pytest.mark.parametrize("threads", [False, True])
@pytest.mark.parametrize("name", mpis.ABIS)
def test_random_programs(name, threads):
    """With threads, operations between hosts may stay open."""
    mpi = mpis.get(name)
    environment = {"RANDOM_THREADS": "1"} if threads else {}
    for ranks, hosts in ((2, 2), (5, 2), (5, 5)):
        some = range(700 + 20 * hosts, 710 + 20 * hosts)
        compared, complaints, _ = seeds.compare(mpi, ranks, some, policy="always", hosts=hosts, environment=environment)
        assert not complaints, "\n".join(complaints)
        assert compared >= 8


@pytest.mark.parametrize("hosts", [2, 3])
@pytest.mark.parametrize("name", mpis.ABIS)
def test_serves_what_it_can_wait_for(name, hosts):
    """Without threads that may call the MPI, nothing between hosts stays open."""
    mpi = mpis.get(name)
    program = mpi_jobs.compile_program(mpi, [mpi_jobs.HERE / "auto/calls.c"])
    environment = {"TUTTI_MPI_REPORT": "1"}
    done = mpi_jobs.run(mpi, 3, [program, 200], policy="always", hosts=hosts, environment=environment)
    assert done.checked() == "0 wrong\n"
    rows = {line.split()[0]: line.split()[2:4] for line in done.err.splitlines() if line.endswith("%")}
    assert rows["allreduce"] == ["0", "200"], done.err
    assert rows["iallreduce"] == ["200", "0"], done.err
