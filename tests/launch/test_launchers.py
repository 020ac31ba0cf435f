# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that the launchers of clusters start, on one host and several: no option is given, and no variable set."""

import os
import re
import subprocess
import time

import hosts
import mpis
import pytest
from lab import Lab

LAUNCHERS = ("openmpi", "debian-openmpi", "mpich", "debian-mpich", "impi")


def environment_of(mpi):
    """Without what a job around this one would say."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TUTTI_", "PMI", "OMPI_"))}
    return {**kept, **mpi.environment}


def run(mpi, ranks, *command, timeout=60, **variables):
    """Runs it on one host: (status, output, errors). What hangs is ended through its launcher."""
    process = subprocess.Popen(
        [*mpi.launch_words(ranks), *map(str, command)],
        env={**environment_of(mpi), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.terminate()
        out, err = process.communicate(timeout=30)
        raise AssertionError(f"took more than {timeout} s: {out}{err}") from None
    return process.returncode, out, err


def kind_of(name):
    return "PMIx" if "openmpi" in name else "PMI-1"


@pytest.mark.parametrize("name", LAUNCHERS)
def test_one_host(name):
    mpi = mpis.get(name)
    status, out, err = run(mpi, 3, hosts.PROBE, *hosts.STEPS)
    assert status == 0, out + err
    hosts.check(out, [0, 0, 0], f"by {kind_of(name)}")
    if name == "openmpi":
        assert str(mpis.PEERS / "openmpi") in out, "not the launcher's own libpmix"
    status, out, err = run(mpi, 1, hosts.PROBE, "join", "who", "launcher")
    assert status == 0, out + err
    assert re.match(r"0 of 1\n.*a world of one\n", out), out


@pytest.mark.parametrize("name", LAUNCHERS)
def test_three_hosts(name, tmp_path):
    mpi = mpis.get(name)
    words = hosts.mpi_words(mpi, tmp_path, ("h1", "h2", "h3"), 5)
    with Lab(hosts=3) as lab:
        done = lab.call(1, [*words, hosts.PROBE, *hosts.STEPS], env=environment_of(mpi))
        assert done.returncode == 0, done.stdout + done.stderr
        hosts.check(done.stdout, [0, 0, 1, 1, 2], f"by {kind_of(name)}")


@pytest.mark.parametrize("name", LAUNCHERS)
def test_a_rank_that_does_not_join(name):
    """Open MPI ends the others. hydra does not, for it has never heard of that rank: then they give up."""
    status, out, err = run(mpis.get(name), 3, hosts.PROBE, "patience=2", "1/exit=3", "join", "leave")
    assert status != 0, out + err
    if kind_of(name) == "PMI-1":
        assert "the launcher or the other ranks (PMI-1) did not answer in the time given" in out + err


@pytest.mark.parametrize("name", LAUNCHERS)
def test_a_rank_that_joins_too_late(name):
    """No launcher can know that it will not join: those who have given up say so, and end."""
    start = time.monotonic()
    status, out, err = run(mpis.get(name), 3, hosts.PROBE, "patience=2", "1/sleep=40", "join", "leave")
    assert status != 0, out + err
    assert f"the launcher or the other ranks ({kind_of(name)}) did not answer in the time given" in out + err
    assert time.monotonic() - start < 30


def test_by_hand_goes_before_a_launcher():
    job = {"TUTTI_RANK": "0", "TUTTI_SIZE": "1", "TUTTI_STORE": "tcp:localhost:29511", "TUTTI_SECRET": "0" * 32}
    status, out, _ = run(mpis.get("mpich"), 1, hosts.PROBE, "join", "launcher", "leave", **job)
    assert (status, out) == (0, "by hand: TUTTI_STORE=tcp:localhost:29511, served by rank 0\n")


@pytest.mark.parametrize("name", ["debian-mpich", "debian-openmpi"])
def test_a_network_that_is_not_there(name):
    _, out, err = run(mpis.get(name), 2, hosts.PROBE, "join", TUTTI_NETWORK="eth7,10.9.8.0/24")
    assert 'TUTTI_NETWORK is "eth7,10.9.8.0/24", and this host has lo 127.0.0.1' in out + err


@pytest.mark.parametrize("order", ["before", "after"])
@pytest.mark.parametrize("name", ["openmpi", "mpich", "debian-openmpi", "debian-mpich"])
def test_programs_with_an_mpi(name, order, tmp_path):
    """The launcher's connection is the MPI's as well, which comes first."""
    mpi = mpis.get(name)
    front, back = mpi.compile_words("c++")
    library = hosts.BUILD / "src"
    words = [
        "-std=c++20",
        f"-I{hosts.BUILD}/rooms/launch",
        f"-I{hosts.BUILD}/rooms/host",
        f"-I{hosts.BUILD}/rooms/base",
    ]
    words += [f"-I{hosts.ROOT}/include", "-o", str(tmp_path / "program"), str(hosts.ROOT / "tests/launch/with_mpi.cpp")]
    words += [str(library / f"libtutti_{room}.a") for room in ("launch", "transport", "host", "base")]
    made = subprocess.run([*front, *words, *back, "-lpthread", "-ldl"], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    status, out, err = run(mpi, 3, tmp_path / "program", order)
    if order == "after":
        assert status == 0, out + err
        assert sorted(out.splitlines()) == [f"{rank} of 3, {rank} of 3" for rank in range(3)]
    else:
        assert status != 0
        assert "call MPI_Init before Tutti starts" in out + err


def test_info_under_a_launcher():
    status, out, err = run(mpis.get("debian-mpich"), 3, hosts.BUILD / "bin/tutti", "info")
    assert status == 0, out + err
    assert re.search(r"^hosts +1 host, 3 ranks$", out, re.MULTILINE), out
    assert re.search(r"^network +\w+ [\d.]+", out, re.MULTILINE), out
