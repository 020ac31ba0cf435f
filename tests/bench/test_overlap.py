# SPDX-License-Identifier: BSD-3-Clause
"""`tutti bench --overlap`: every collective, both schemes; its figures are right."""

import json
import os
import pathlib
import subprocess
import sys
import types

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["TUTTI_BUILD"])
sys.path.insert(0, str(ROOT / "bench/versus"))

from driver import jobs, overlap, peers, rounds  # noqa: E402 - a program's folder, not a package


def bench(tmp_path, *arguments):
    out = tmp_path / "overlap"
    done = subprocess.run(
        [BUILD / "bin/tutti", "bench", "--overlap", "--quick", "--vs", "none", "--out", out, *arguments],
        env={**os.environ, "TUTTI_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(out.with_name("overlap.json").read_text()), out.with_name("overlap.md").read_text()


LISTED = subprocess.run([BUILD / "bin/tutti-versus", "--list"], capture_output=True, text=True, check=True).stdout
WITH_DATA = {line.split()[0]: not line.endswith("without data") for line in LISTED.splitlines()}


@pytest.mark.parametrize(("scheme", "names"), [("barrier", list(WITH_DATA)), ("window", ["barrier", "scan"])])
def test_with_and_without_a_thread(tmp_path, scheme, names):
    made, text = bench(tmp_path, *names, "--sizes", "8,4K", "--tests", "0,3", "--scheme", scheme)
    for name in names:
        found = [one for one in made["series"] if one["collective"] == name]
        assert [one["setting"] for one in found] == ["calls", "thread"], name
        for one in found:
            assert not one["failure"]
            assert list(one["sizes"]) == (["8", "4096"] if WITH_DATA[name] else ["0"])
            for point in one["sizes"].values():
                assert point["tests"] == [[0, 3]] * 2
                rows = [row for key in point if key.startswith(("time_", "fixed_")) for row in point[key]]
                assert len(rows) == 12  # two schemes, three quartiles, two rounds
                assert all(len(row) == 2 for row in rows)
        assert f"### {name} on 2 ranks" in text
    assert "Tutti " in text.splitlines()[0]
    assert (tmp_path / "overlap-2.png").stat().st_size > 1000


def series(library, setting, points):
    one = rounds.Series(peers.Library(library, pathlib.Path(), (), ()), peers.Setting(setting), {8})
    one.points = {8: dict(enumerate(points))}
    return one


def point(us, time, fixed):
    return {"us": us, "work_us": us, "busy": 0.5, "tests": [0, 4], "time_median_us": time, "fixed_median_us": fixed}


def test_what_is_hidden():
    every = [
        series("tutti", "calls", [point(10, [8, 6], [9, 7]), point(12, [8, 6], [9, 7]), point(11, [8, 6], [11, 5])]),
        series("tutti", "thread", [point(100, [1, 2], [30, None])]),
        series("other", "calls", []),
    ]
    run = type("Run", (), {"series": {rounds.Cell("bcast", 2): every}})
    calls, thread = overlap.combine(run)
    assert (calls.us, calls.overhead) == (11, {"time": [8, 6], "fixed": [9, 7]})
    assert calls.best("fixed") == (7, 4)
    assert calls.hidden("fixed") == pytest.approx(1 - 7 / 11)
    # The thread's own blocking call is slow: what it hides counts against the faster one.
    assert thread.hidden("time") == pytest.approx(1 - 1 / 11)
    assert thread.hidden("fixed") == pytest.approx(1 - 30 / 11)
    assert "-173%" in overlap.cells(thread)
    # Call and work together, beside the longer of them and half of the better call, for which half of the cores work.
    assert calls.stretched == pytest.approx((11 + 9) / (11 + 11 / 2))
    assert thread.stretched == pytest.approx((100 + 30) / (100 + 11 / 2))
    assert "1.21" in overlap.cells(calls)


def test_more_ranks_than_cores_yield():
    """Open MPI that spins does not come to an end there."""
    library = peers.Library("openmpi", pathlib.Path(), (), peers.PEERS["openmpi"].settings).for_overlap()
    wanted = {rounds.Cell("bcast", ranks): [8] for ranks in (2, 4)}
    run = rounds.Run([library], wanted, jobs.OneHost((0, 1)), types.SimpleNamespace(seed=1))
    assert [[one.setting.name for one in every] for every in run.series.values()] == [["calls"]] * 2
    two, four = (every[0].setting.environment["OMPI_MCA_mpi_yield_when_idle"] for every in run.series.values())
    assert (two, four) == ("0", "1")


def alone():
    """An alltoall of one rank: its copy is made when it is started, so that nothing of it can be hidden."""
    cores = tuple(sorted(os.sched_getaffinity(0)))
    task = jobs.Task({"alltoall": (1 << 20,)}, 1, 0.2, "barrier", cores, (0, 4))
    _, points = jobs.run(peers.tutti(BUILD / "bin"), peers.Setting("calls"), task, jobs.OneHost(cores))
    return points["alltoall"][1 << 20]


def test_what_cannot_be_hidden_costs_what_the_call_costs():
    """Both schemes find the call's own time; on a busy machine one of some tries does."""

    def near(found):
        numbers = [found["work_us"], *found["time_low_us"], *found["fixed_low_us"]]
        return all(0.5 < number / found["us"] < 1.5 for number in numbers)

    tries = []
    while not tries or (len(tries) < 20 and not near(tries[-1])):
        tries.append(alone())
    assert near(tries[-1]), tries
