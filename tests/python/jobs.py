# SPDX-License-Identifier: BSD-3-Clause
"""Starts programs of tests/python/programs as jobs."""

import os
import pathlib
import shutil
import subprocess
import sys

PROGRAMS = pathlib.Path(__file__).parent / "programs"
BUILD = pathlib.Path(os.environ["TUTTI_BUILD"])
SIZES = (1, 2, 3, 5)


def launcher() -> str:
    """The native `tutti` of the build under test."""
    found = shutil.which("tutti", path=BUILD / "bin")
    assert found, f"{BUILD}/bin has no tutti"
    return found


def command(size, program):
    """The command line that runs a program on `size` ranks."""
    return [launcher(), "run", "-n", str(size), sys.executable, str(PROGRAMS / program)]


def run(size, program, **environment):
    """Runs a program on `size` ranks, expects it to succeed on all, and returns what it printed."""
    done = subprocess.run(
        command(size, program),
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{program} on {size} ranks ended with {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout
