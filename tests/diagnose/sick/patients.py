# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of sick programs: on this host, over the hosts of a lab, under an MPI's launcher. All can be asked the same."""

import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/launch"), str(ROOT / "tests/mpi")]

import mpi_jobs  # noqa: E402 - found above
from hosts import BUILD, Job, mpi_words  # noqa: E402
from lab import address  # noqa: E402

TUTTI = str(BUILD / "bin/tutti")
PROGRAM = str(BUILD / "bin/diagnose_sick")
RANKS = 4
SICK = 2  # the rank that is to blame in most of them
PATIENCE = 60


@dataclasses.dataclass(frozen=True)
class Answer:
    text: str
    json: dict
    finding: dict  # of these
    seconds: float  # that the text took


class Patient:
    """A job that hangs, and the questions about it."""

    def __init__(self, folder, case):
        self.case, self.file, self.log = case, folder / "file", folder / "log"
        folder.mkdir(parents=True)
        if case == "io":
            os.mkfifo(self.file)

    def printed(self):
        return self.log.read_text()

    def pids(self):
        """Of the ranks, as they know themselves, when all have begun."""
        end = time.monotonic() + PATIENCE
        while len(found := dict(re.findall(r"^rank (\d) is (\d+)$", self.printed(), re.MULTILINE))) < RANKS:
            assert time.monotonic() < end, self.printed()
            time.sleep(0.05)
        return {int(rank): int(pid) for rank, pid in found.items()}

    def why(self, *options):
        done = self.call([TUTTI, "why", str(self.pids()[0]), *options])
        assert done.returncode == 0, done.stderr
        return done.stdout

    def says(self, expression, waiting):
        """Asks until a finding is so, as text and as JSON, and these ranks wait: the job needs a moment to hang, and a
        busy host may answer too late."""
        end = time.monotonic() + PATIENCE
        while True:
            begin = time.monotonic()
            text = self.why()
            seconds = time.monotonic() - begin
            if re.search("^" + expression, text, re.MULTILINE):
                found = json.loads(self.why("--json"))
                for finding in found["findings"]:
                    if re.match(expression, finding["text"]) and sorted(finding["waiting"]) == sorted(waiting):
                        return Answer(text, found, finding, seconds)
            assert time.monotonic() < end, f"no {expression} with {waiting} waiting in\n{text}\n{self.printed()}"
            time.sleep(0.1)

    def get_well(self):
        """Gives it what it waits for."""
        if self.case == "stopped":
            self.signal(SICK, signal.SIGCONT)
        elif self.case == "io":
            with open(self.file, "w") as pipe:
                pipe.write("x")
        else:
            self.file.touch()


class OnThisHost(Patient):
    def __init__(self, folder, case, words=(), environment=None):
        super().__init__(folder, case)
        launcher = [TUTTI, "run", *(["--keep-going"] if case == "dead" else []), "-n", str(RANKS), PROGRAM]
        with open(self.log, "w") as log:
            self.job = subprocess.Popen(
                [*(words or launcher), case, str(self.file)], stdout=log, stderr=log, env=environment
            )

    def call(self, command):
        return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)

    def signal(self, rank, number):
        os.kill(self.pids()[rank], number)

    def end(self):
        """The statuses that its launcher ends with."""
        return [self.job.wait(PATIENCE)]

    def close(self):
        mpi_jobs.end(self.job)


def mpi_program(mpi):
    return str(mpi_jobs.compile_program(mpi, [pathlib.Path(__file__).parent / "mpi.c"]))


class UnderMpi(OnThisHost):
    """With `hosts`, ranks are dealt to so many in turn, which this one plays."""

    def __init__(self, folder, case, mpi, hosts=1):
        dealt = [*mpi_jobs.ON_HOSTS, str(hosts)] if hosts > 1 else []
        words = [*mpi.launch_words(RANKS), *dealt, mpi_program(mpi)]
        super().__init__(folder, case, words, mpi_jobs.environment_of(mpi, "always"))


class OverHosts(Patient):
    """Started by hand; rank i is on places[i]."""

    def __init__(self, folder, case, lab, places, port):
        super().__init__(folder, case)
        self.lab = lab
        self.job = Job(lab, places, store=f"tcp:{address(places[0])}:{port}", program=PROGRAM)
        with open(self.log, "a") as log:
            self.job.start_all(case, self.file, stdout=log)

    def call(self, command):
        return self.lab.call(1, command, timeout=PATIENCE)

    def signal(self, rank, number):
        os.kill(self.lab.process(self.pids()[rank]), number)

    def end(self):
        """The statuses of its ranks, but for one that was killed."""
        ranks = [rank for rank in range(RANKS) if self.case != "dead" or rank != SICK]
        return [self.job.end(rank)[0] for rank in ranks]

    def close(self):
        self.job.__exit__()


class UnderMpiOverHosts(Patient):
    """Two ranks on each of the first two hosts of a lab."""

    def __init__(self, folder, case, mpi, lab):
        super().__init__(folder, case)
        self.lab = lab
        words = mpi_words(mpi, folder, ("h1", "h2"), RANKS, ("LD_PRELOAD", "TUTTI_MPI"))
        # Open MPI keeps files there by process id; ids are small on a lab's hosts, and a killed job's files stay.
        self.kept = tempfile.TemporaryDirectory(prefix="tutti-")
        environment = mpi_jobs.environment_of(mpi, "always", {"TMPDIR": self.kept.name})
        with open(self.log, "w") as log:
            self.job = lab.popen(
                1, [*words, mpi_program(mpi), case, self.file], env=environment, stdout=log, stderr=log
            )

    def call(self, command):
        return self.lab.call(1, command, timeout=PATIENCE)

    def end(self):
        status = self.job.wait(PATIENCE)
        self.kept.cleanup()
        return [status]
