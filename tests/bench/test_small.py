# SPDX-License-Identifier: BSD-3-Clause
"""tutti-small where the system allows no more processes."""

import os
import pathlib
import subprocess

BUILD = pathlib.Path(os.environ["TUTTI_BUILD"])


def test_ends_nobody_else_when_a_busy_process_cannot_be_started():
    """As a user who owns nothing else here: what is wrong may end all processes of his, first of all the launcher."""
    if os.geteuid() != 0:
        return  # Only root can become somebody else.
    done = subprocess.run(
        [
            *("setpriv", "--reuid=65534", "--clear-groups", BUILD / "bin/tutti", "run", "-n", "1"),
            *("prlimit", "--nproc=1", BUILD / "bench/tutti-small", "--hogs", "1", "--seconds", "0.01"),
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "cannot start a busy process; lower --hogs" in done.stderr
