# SPDX-License-Identifier: BSD-3-Clause
"""Jobs over several hosts, started by hand: what each rank printed, and how it ended. The program is
tests/launcher/probe.cpp if nothing else is said. What jobs of a cluster's launcher print is checked here, too."""

import os
import pathlib
import re
import secrets
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/lab"), str(ROOT / "tests/mpi")]

import mpis  # noqa: E402 - found above
from lab import address  # noqa: E402

BUILD = pathlib.Path(os.environ["TUTTI_BUILD"])
PROBE = str(BUILD / "bin/launcher_probe")
PORT = 29500
PATIENCE = 60
STEPS = ("join", "hosts", "neighbors", "launcher", "leave")


def check(out, places, launcher):
    """What all ranks of a job print at these steps: every one knows every host, shares memory with its neighbours, and
    was started in that way."""
    places = list(places)
    jobs = set(re.findall(r"job (\w+)", out))
    assert len(jobs) == 1, out
    text = " ".join(map(str, places))
    for rank, place in enumerate(places):
        here = [other for other, where in enumerate(places) if where == place]
        assert f"rank {rank}: job {jobs.copy().pop()}, hosts {text}, segment of {len(here)}\n" in out
        assert f"rank {rank} reads {' '.join(str(1000 + other) for other in here)}\n" in out
    assert out.count(f"{launcher} (") == len(places), out


def mpi_words(mpi, folder, hosts, ranks, exported=()):
    """An MPI's launcher, over hosts of a lab with two ranks each. `exported`: variables for the ranks."""
    launcher = mpi.launcher[0]
    agent = folder / "agent"
    agent.write_text(f'#!/bin/sh\nexec {sys.executable} {ROOT}/tests/lab/lab.py rsh "$@"\n')
    agent.chmod(0o755)
    if "openmpi" in mpi.name:
        option = ("--prtemca", "plm_ssh_agent") if mpi.peer else ("--mca", "plm_rsh_agent")
        places = ",".join(f"{host}:2" for host in hosts)
        exports = [word for name in exported for word in ("-x", name)]
        return [launcher, *mpis.OPENMPI_OPTIONS[:-2], *option, agent, "-H", places, *exports, "-n", str(ranks)]
    words = ["-launcher", "ssh", "-launcher-exec", agent, "-hosts", ",".join(hosts), "-ppn", "2", "-n", str(ranks)]
    return [launcher, *words]


class Job:
    """Ranks on hosts of a lab; rank i is on places[i]."""

    def __init__(self, lab, places, store="", secret="", program=PROBE):
        self.lab, self.places, self.program = lab, places, program
        self.store = store or f"tcp:{address(places[0])}:{PORT}"
        self.secret = secret or secrets.token_hex(16)
        self.running = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for rank in self.running:  # what waits here is not the rank itself
            self.lab.signal(self.places[rank], signal.SIGKILL)
        for process in self.running.values():
            process.communicate(timeout=PATIENCE)

    def start(self, rank, *steps, stdout=subprocess.PIPE, **variables):
        """One rank, with steps of the probe, or the program's own arguments."""
        told = {"TUTTI_RANK": rank, "TUTTI_SIZE": len(self.places), "TUTTI_STORE": self.store}
        told.update({"TUTTI_SECRET": self.secret, **variables})
        command = [
            "env",
            *(f"{name}={value}" for name, value in told.items() if value is not None),
            self.program,
            *map(str, steps),
        ]
        pipes = {"stdout": stdout, "stderr": subprocess.PIPE, "text": True}
        self.running[rank] = self.lab.popen(self.places[rank], command, **pipes)
        return self.running[rank]

    def start_all(self, *steps, **variables):
        for rank in range(len(self.places)):
            self.start(rank, *steps, **variables)
        return self

    def signal(self, rank, number):
        """To a rank alone, and not to others on its host."""
        told = f"TUTTI_RANK={rank}\0TUTTI_SIZE={len(self.places)}\0TUTTI_STORE={self.store}\0"
        for pid in self.lab.processes(self.places[rank]):
            try:
                environment = pathlib.Path(f"/proc/{pid}/environ").read_text()
            except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
                continue
            if told in environment:
                os.kill(pid, number)

    def end(self, rank):
        """(status, output, errors) of a rank that ends by itself."""
        process = self.running.pop(rank)
        out, err = process.communicate(timeout=PATIENCE)
        return process.returncode, out, err

    def succeed(self):
        """What all ranks printed; they have to end well."""
        printed = []
        for rank in sorted(self.running):
            status, out, err = self.end(rank)
            assert status == 0, f"rank {rank} ended with {status}: {out}{err}"
            printed.append(out)
        return printed

    def fail(self, rank):
        """What a rank complained about."""
        status, out, err = self.end(rank)
        assert status == 5, f"rank {rank} ended with {status}: {out}{err}"
        return err
