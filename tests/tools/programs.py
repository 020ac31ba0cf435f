# SPDX-License-Identifier: BSD-3-Clause
"""What these tests share: running `tutti`."""

import os
import subprocess


def tutti(*words, program="tutti", expected=0, timeout=60, **environment):
    """Runs it, expects a status, and returns what it printed."""
    done = subprocess.run(
        [str(program), *map(str, words)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == expected, done.stdout + done.stderr
    return done
