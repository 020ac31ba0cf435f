# SPDX-License-Identifier: BSD-3-Clause
"""What the packaging tests share: the build under test, an installed copy of it, and a way to run commands."""

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*command, **options):
    """Runs a command, fails with everything it printed, and returns its standard output."""
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False, timeout=900, **options
    )
    assert done.returncode == 0, f"{command} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def build():
    return pathlib.Path(os.environ["TUTTI_BUILD"])


@pytest.fixture(scope="session")
def prefix(build, tmp_path_factory):
    """An installed copy in a place that no default search path knows."""
    place = tmp_path_factory.mktemp("installed")
    run("cmake", "--install", build, "--prefix", place)
    return place


@pytest.fixture(scope="session")
def library(prefix):
    """The installed libtutti.so."""
    found = list(prefix.rglob("libtutti.so"))
    assert len(found) == 1
    return found[0]
