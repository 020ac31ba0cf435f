# SPDX-License-Identifier: BSD-3-Clause
"""The Python package on real processes."""

import signal
import subprocess

import pytest
from jobs import SIZES, command, run


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "program",
    [
        "collectives.py",
        "objects.py",
        "requests.py",
        "persistent.py",
        "memory.py",
        "layouts.py",
        "neighbors.py",
        "sums.py",
        "plans.py",
        "errors.py",
        "unpicklable.py",
    ],
)
def test_program(size, program):
    run(size, program)


@pytest.mark.parametrize("size", SIZES[1:])
def test_a_reduction_that_raises_breaks_the_group(size):
    run(size, "raising.py")


@pytest.mark.parametrize("size", [2, 3])
def test_no_call_waits_for_a_reduction_with_the_interpreter(size):
    run(size, "locked.py")


@pytest.mark.parametrize("size", [2, 3])
def test_no_garbage_is_collected_inside_a_reduction(size):
    run(size, "collected.py")


@pytest.mark.parametrize(
    ("how", "status"), [("pending", 0), ("raising", 1), ("thread", 0), ("reducing", 0), ("forking", 0)]
)
def test_a_program_ends_while_something_is_pending(how, status):
    words = command(3, "ending.py")
    done = subprocess.run([*words, how], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    # A thread that still waits when the next rank has ended hears of that, and says it.
    assert ("ValueError: of rank 1" in done.stderr) == (how == "raising")


def test_control_c_ends_a_wait():
    run(2, "interrupted.py")
    run(2, "interrupted_inside.py")


def test_control_c_ends_the_wait_at_the_start():
    done = subprocess.run(command(2, "interrupted_start.py"), capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 7, done.stdout + done.stderr


def test_the_time_limit_holds_for_blocking_calls():
    run(3, "limited.py", TUTTI_TIMEOUT="2")  # also for the start, which may be slow


def test_survivors_go_on():
    """Two of five die by SIGKILL, and the job ends well."""
    words = command(5, "survivors.py")
    done = subprocess.run(
        [*words[:2], "--keep-going", *words[2:]], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "3 of 5 go on, without [1, 4]\n"
    assert "rank 1" in done.stderr and "rank 4" in done.stderr


def test_survivors_learn_of_a_death_by_testing():
    words = command(3, "asking.py")
    done = subprocess.run(
        [*words[:2], "--keep-going", *words[2:]], capture_output=True, text=True, timeout=60, check=False
    )
    assert sorted(done.stdout.splitlines()) == ["rank 0 lost 1", "rank 2 lost 1"], done.stdout + done.stderr
    assert done.returncode == 0, done.stderr


def test_survivors_learn_of_a_death():
    done = subprocess.run(command(3, "lost.py"), capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 128 + signal.SIGKILL, done.stdout + done.stderr
    assert "rank 1" in done.stderr
