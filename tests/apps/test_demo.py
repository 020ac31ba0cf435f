# SPDX-License-Identifier: BSD-3-Clause
"""What the demo of tutti-compress prepares: its input and the load beside it."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "apps/compress"))
import demo  # noqa: E402 - its folder has to be known first

OWNER = """
import os, sys
import demo
print(demo.keep_busy(min(os.sched_getaffinity(0))).pid, flush=True)
sys.stdin.read()
"""


def test_the_input_is_as_large_as_told(tmp_path, monkeypatch):
    (tmp_path / "files").mkdir()
    for index in range(12):
        (tmp_path / f"files/{index}").write_bytes(bytes(300_000))
    monkeypatch.setattr(demo, "FOLDERS", [str(tmp_path / "files")])
    for megabytes in (2, 1, 3, 2):  # a smaller and a larger one than was made before
        size = demo.make_input(tmp_path / "demo", megabytes).stat().st_size
        assert (megabytes - 0.5) * 2**20 < size <= megabytes * 2**20


def words_of(pid):
    """Of a process; none when it has ended."""
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_text().split("\0")[:-1]
    except (FileNotFoundError, ProcessLookupError):
        return []


def wait_until(condition):
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.01)
    pytest.fail("it has not come in ten seconds")


def test_the_load_ends_with_its_owner():
    words = [sys.executable, "-c", OWNER]
    with subprocess.Popen(words, cwd=ROOT / "apps/compress", stdin=subprocess.PIPE, stdout=subprocess.PIPE) as owner:
        load = int(owner.stdout.readline())
        try:
            wait_until(lambda: words_of(load)[:1] == [sys.executable])  # before, it has not yet asked to be ended
            owner.kill()
            wait_until(lambda: words_of(load) == [])
        finally:
            if words_of(load):
                os.kill(load, signal.SIGKILL)
