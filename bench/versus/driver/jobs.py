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
import uuid

MARK = "VERSUS_JOB"  # in the environment of all that a job starts, so that all of it can be ended
START = 30  # seconds that starting and ending a job, and one very slow point, may take at most


class JobFailed(Exception):
    """A job that ended badly, or not in time; its text says how."""


@dataclasses.dataclass(frozen=True)
class Task:
    """What a job measures."""

    collective: str
    ranks: int
    sizes: tuple
    seconds: float  # for each size
    scheme: str
    cores: tuple
    tests: tuple = ()  # of a request; with them, overlap is measured

    def arguments(self, file):
        join = ",".join
        sizes, cores = join(map(str, self.sizes)), join(map(str, self.cores))
        return [
            str(file),
            self.scheme,
            repr(self.seconds),
            cores,
            self.collective,
            sizes,
            *([join(map(str, self.tests))] if self.tests else []),
        ]

    def limit(self):
        """After so many seconds it hangs, or is too slow to be worth a number."""
        return START + 5 * len(self.sizes) * self.seconds


def marked(mark):
    """The processes that carry a mark in their environment."""
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            if f"{MARK}={mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                yield int(entry.name)


def end(process, mark):
    """Ends a job: first asked to, then all that it left."""
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(5)
    for pid in marked(mark):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait()


def launch(command, environment, limit):
    """Runs a command to its end; JobFailed with its last lines unless it succeeds in time."""
    mark = uuid.uuid4().hex
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            command,
            env={**os.environ, **environment, MARK: mark},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            raise JobFailed(f"not done after {limit:.0f} s") from None
        finally:
            end(process, mark) if process.returncode is None else None
        if status != 0:
            output.seek(0)
            raise JobFailed(f"exit status {status}: {output.read()[-800:].strip()}")


def run(library, setting, task):
    """The name that a library gives itself, and its points by size; without the last ones if it is too slow."""
    with tempfile.TemporaryDirectory(prefix="tutti-versus-") as folder:
        file = pathlib.Path(folder) / "points"
        launcher = [part.format(ranks=task.ranks) for part in library.launcher]
        command = [*launcher, str(library.program), *task.arguments(file)]
        launch(command, {**library.environment, **setting.environment}, task.limit())
        first, *lines = [json.loads(line) for line in file.read_text().splitlines()]
    if first["ranks"] != task.ranks or [line["bytes"] for line in lines] != list(task.sizes[: len(lines)]):
        raise JobFailed("measured something else than it was asked for")
    return first["library"], {line["bytes"]: line for line in lines}


@contextlib.contextmanager
def hogs(count):
    """So many busy processes that belong to nobody's job, on no particular core."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()
