# SPDX-License-Identifier: BSD-3-Clause
"""The solver that goes on without the ranks that die finds the right answer."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["TUTTI_BUILD"])


# Rank 1 dies when it computes the truth: in the first call, before the first step, or in the second, after the last.
DYING = """
import os, signal, solver
truth, calls = solver.truth, []
def dying(*rows):
    calls.append(rows)
    if os.environ["TUTTI_RANK"] == "1" and len(calls) == int(os.environ["DIES_IN_CALL"]):
        os.kill(os.getpid(), signal.SIGKILL)
    return truth(*rows)
solver.truth = dying
solver.main()
"""
NO_NUMBER = """
import solver
solver.Solver.error = lambda self: float("nan")
solver.main()
"""


def run(ranks, *program, **environment):
    words = [BUILD / "bin/tutti", "run", "-n", ranks, "--keep-going", "--timeout", 100, sys.executable, *program]
    path = f"{ROOT / 'apps/resilient'}:{os.environ['PYTHONPATH']}"
    return subprocess.run(
        list(map(str, words)),
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def solve(ranks, *options):
    return run(ranks, ROOT / "apps/resilient/solver.py", "-n", 96, *options)


@pytest.mark.parametrize("seed", range(4))
def test_two_of_eight_die(seed, tmp_path):
    picture = tmp_path / "residual.svg"
    done = solve(8, "--lose", 2, "--seed", seed, "--picture", picture)
    assert done.returncode == 0, done.stdout + done.stderr
    lost = re.search(r"without \[(\d), (\d)\] at the end", done.stdout)
    assert lost, done.stdout + done.stderr
    for rank in lost.groups():
        assert f"rank {rank} (process" in done.stderr
    assert "residual" in picture.read_text()


def test_nobody_dies():
    done = solve(3, "--every", 7)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "on 3 ranks, without [] at the end" in done.stdout


@pytest.mark.parametrize("call", [1, 2])
def test_one_dies_outside_of_the_steps(call):
    done = run(3, "-c", DYING, "-n", 96, DIES_IN_CALL=str(call))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "on 3 ranks, without [1] at the end" in done.stdout
    assert "Traceback" not in done.stderr


def test_a_rough_answer_is_not_wrong():
    done = solve(1, "--tolerance", 1e-3)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_number_is_wrong():
    done = run(1, "-c", NO_NUMBER, "-n", 8)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "the answer is wrong: nan is more than" in done.stderr


@pytest.mark.parametrize("option", ["--every", "--tolerance"])
def test_what_has_no_end_is_refused(option):
    done = solve(1, option, 0)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"resilient: {option} 0" in done.stderr
