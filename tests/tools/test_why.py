# SPDX-License-Identifier: BSD-3-Clause
"""`tutti why` on jobs of Python programs: file and line of each wait, as text and as JSON."""

import json
import pathlib
import signal
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "tests" / "python" / "programs" / "waiting.py"
LINES = PROGRAM.read_text().splitlines()


def why(*arguments):
    done = subprocess.run(["tutti", "why", *arguments], capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("how", "operation", "line"),
    [
        ("blocking", "allreduce", "world.allreduce"),
        ("request", "allreduce", ".wait()"),
        ("any", "allreduce", "wait_any"),
        ("recv", "recv", "world.recv"),
        ("split", "allgather", "world.split"),
        ("grid", "allgather", "tutti.cartesian"),
        ("agree", "agree", "world.agree"),
    ],
)
def test_file_and_line(how, operation, line):
    job = subprocess.Popen(["tutti", "run", "-n", "2", sys.executable, str(PROGRAM), how])
    try:
        number = next(i for i, text in enumerate(LINES, 1) if line in text)
        place = f"{PROGRAM}:{number} in step"[-127:]
        for _ in range(200):
            time.sleep(0.1)
            if place in (text := why(str(job.pid))):
                break
        assert f"at {place}" in text.splitlines()[1], text
        found = json.loads(why(str(job.pid), "--json"))
    finally:
        job.send_signal(signal.SIGTERM)
        job.wait(timeout=20)
    assert found["launcher"] == job.pid
    assert found["size"] == 2
    cause = found["findings"][0]
    assert cause["kind"] == ("message" if operation == "recv" else "missing")
    assert (cause["ranks"], cause["waiting"], cause["group"]) == ([1], [0], "world")
    waiting, absent = found["ranks"]
    assert (waiting["state"], absent["state"]) == ("waiting", "sleeping")
    wait = waiting["waits"][0]
    assert (wait["operation"], wait["group"], wait["for"], wait["site"]) == (operation, "world", [1], place)
    assert wait["tag"] == (9 if operation == "recv" else None)
    assert wait["nanoseconds"] > 0
    assert absent["waits"] == []
    assert found["groups"][0]["name"] == "world"
    assert [member["rank"] for member in found["groups"][0]["members"]] == [0, 1]


def test_list_is_json():
    job = subprocess.Popen(["tutti", "run", "-n", "1", "sleep", "30"])
    try:
        time.sleep(0.3)
        jobs = json.loads(why("--json"))
    finally:
        job.send_signal(signal.SIGTERM)
        job.wait(timeout=20)
    mine = next(found for found in jobs if found["launcher"] == job.pid)
    assert len(mine["job"]) == 16
    assert mine["problem"] is None
    assert mine["command"].startswith("tutti run -n 1 sleep")
