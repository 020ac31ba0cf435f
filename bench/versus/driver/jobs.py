# SPDX-License-Identifier: BSD-3-Clause
"""Starts one job of one library, under a time limit, and reads what it measured."""

import contextlib
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import uuid

MARK = "VERSUS_JOB"  # in the environment of all that a job starts, so that all of it can be ended
START = 30  # seconds that starting and ending a job, and one very slow point, may take at most
PATIENCE = 3  # seconds beyond what is asked for in which a collective may begin a further size


class JobFailed(Exception):
    """A job that ended badly, or not in time; its text says how."""


@dataclasses.dataclass(frozen=True)
class Task:
    """What a job measures."""

    points: dict  # {collective: its sizes}
    ranks: int
    seconds: float  # for each size
    scheme: str
    cores: tuple  # or "any": ranks are bound to none
    tests: tuple = ()  # of a request; with them, overlap is measured
    least: float = 0  # seconds that it takes anyhow, because the wire is slow
    memory: str = "program"  # whose the buffers are; or "library"

    @property
    def wanted(self):
        return [(collective, size) for collective, sizes in self.points.items() for size in sizes]

    @property
    def budget(self):
        """After so many seconds no further size is begun."""
        return PATIENCE * len(self.points) + 3 * (len(self.wanted) * self.seconds + self.least)

    @property
    def limit(self):
        """After so many seconds it hangs, or is too slow to be worth a number."""
        return START + 2 * self.budget

    def arguments(self, file):
        def joined(numbers):
            return ",".join(map(str, numbers))

        cores = self.cores if self.cores == "any" else joined(self.cores)
        words = [str(file), self.scheme, repr(self.seconds), repr(self.budget), cores, self.memory]
        words.append(joined(self.tests) or "none")
        return words + [word for name, sizes in self.points.items() for word in (name, joined(sizes))]


class OneHost:
    """Where jobs run: on this machine."""

    def __init__(self, cores):
        self.cores = tuple(cores)

    def commands(self, library, ranks, words):
        """The commands that start a job together: here its launcher."""
        return [[*(part.format(ranks=ranks) for part in library.launcher), str(library.program), *words]]

    def describe(self):
        return f"cores {', '.join(map(str, self.cores))}, rank by rank"

    def environment(self):
        return {}

    def together(self, cells):
        """Cells that one job measures."""
        return [[cell] for cell in cells]

    def call_seconds(self, *_):
        """That a call takes, because of the wire alone."""
        return 0.0


def marked(mark):
    """The processes that carry a mark in their environment."""
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            if f"{MARK}={mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                yield int(entry.name)


def end(processes, mark):
    """Ends a job: first asked to, then all that it left."""
    for process in processes:
        process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        wait_for(processes, 5)
    for pid in marked(mark):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    wait_for(processes, None)


def wait_for(processes, limit):
    """Until all have ended, at most so many seconds; the first status that is not 0."""
    deadline = None if limit is None else time.monotonic() + limit
    statuses = [process.wait(deadline and max(0, deadline - time.monotonic())) for process in processes]
    return next((status for status in statuses if status), 0)


def launch(commands, environment, limit):
    """Runs commands together to their end; JobFailed with their last lines unless all succeed in time."""
    mark = uuid.uuid4().hex
    with tempfile.TemporaryFile("w+") as output:
        processes = []
        try:
            for command in commands:
                processes.append(
                    subprocess.Popen(
                        command,
                        env={**os.environ, **environment, MARK: mark},
                        stdin=subprocess.DEVNULL,
                        stdout=output,
                        stderr=subprocess.STDOUT,
                        start_new_session=True,
                    )
                )
            status = wait_for(processes, limit)
        except subprocess.TimeoutExpired:
            raise JobFailed(f"not done after {limit:.0f} s") from None
        finally:
            end(processes, mark)  # a launcher that failed may leave its ranks behind
        if status != 0:
            output.seek(0)
            raise JobFailed(f"exit status {status}: {output.read()[-800:].strip()}")


def run(library, setting, task, place):
    """A library's own name, and {collective: {bytes: point}}; without the last ones if it is too slow."""
    with tempfile.TemporaryDirectory(prefix="tutti-versus-") as folder:
        file = pathlib.Path(folder) / "points"
        commands = place.commands(library, task.ranks, task.arguments(file))
        launch(commands, {**place.environment(), **library.environment, **setting.environment}, task.limit)
        first, *lines = [json.loads(line) for line in file.read_text().splitlines()]
    measured = [(line["collective"], line["bytes"]) for line in lines]
    if first["ranks"] != task.ranks or measured != task.wanted[: len(lines)]:
        raise JobFailed("measured something else than it was asked for")
    points = {collective: {} for collective in task.points}
    for line in lines:
        points[line["collective"]][line["bytes"]] = line
    return first["library"], points


@contextlib.contextmanager
def hogs(count):
    """So many busy processes that belong to nobody's job, on no particular core."""
    # Whoever owns them may be ended in a way that leaves no time to end them.
    program = [
        sys.executable,
        "-c",
        f"import os\nprint(flush=True)\nwhile os.getppid() == {os.getpid()}:\n for _ in range(1 << 20): pass",
    ]
    busy = [subprocess.Popen(program, stdout=subprocess.PIPE) for _ in range(count)]
    try:
        for process in busy:
            process.stdout.readline()
        yield
    finally:
        for process in busy:
            process.kill()
            process.communicate()
