# SPDX-License-Identifier: BSD-3-Clause
"""`tutti bench` works without a network, beside what `make test` has installed; its figures are right; it refuses to
time what gives a wrong result."""

import json
import os
import pathlib
import subprocess
import sys
import time
import types

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["TUTTI_BUILD"])
VERSUS = ROOT / "bench/versus"
sys.path.insert(0, str(VERSUS))

from driver import command, figures, jobs, means, page, peers, rounds  # noqa: E402 - a program's folder, not a package

COLLECTIVES = subprocess.run(
    [BUILD / "bin/tutti-versus", "--list"], capture_output=True, text=True, check=True
).stdout.splitlines()
NAMES = [line.split()[0] for line in COLLECTIVES]
WITH_DATA = [line for line in COLLECTIVES if not line.endswith("without data")]


def tutti(*arguments, expected=0):
    done = subprocess.run(
        [BUILD / "bin/tutti", *map(str, arguments)],
        env={**os.environ, "TUTTI_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == expected, done.stdout + done.stderr
    return done.stdout + done.stderr


def quick(tmp_path, *arguments):
    """The results of a smoke test on two sizes and two ranks."""
    out = tmp_path / "results" / "quick"
    tutti("bench", "--quick", "--sizes", "8:64K", "--seed", 1, "--out", out, *arguments)
    return json.loads(out.with_name("quick.json").read_text()), out.with_name("quick.md").read_text()


def test_all_collectives(tmp_path):
    made, text = quick(tmp_path, "--vs", "none")
    assert [one["collective"] for one in made["series"]] == NAMES
    for one in made["series"]:
        without_data = f"{one['collective']} without data" in COLLECTIVES
        assert list(one["sizes"]) == (["0"] if without_data else ["8", "65536"])
        for points in one["sizes"].values():
            assert points["round"] == [0, 1]
            assert min(points["stamped"]) >= 3
            assert min(points["us"]) > 0
            assert all(len(ranks) == 2 for ranks in points["ranks_us"])
    assert "Tutti " in text.splitlines()[0]
    assert len(made["line_ns"]) >= 4
    assert "\nBefore each job a cache line was sent from core to core: " in text
    assert text.count("64 KiB") == len(WITH_DATA)
    assert (tmp_path / "results/quick-time-2.png").stat().st_size > 1000


@pytest.mark.parametrize("scheme", ["barrier", "window"])
def test_schemes(scheme, tmp_path):
    made, text = quick(tmp_path, "barrier", "bcast", "--vs", "none", "--scheme", scheme)
    assert f"Scheme {scheme}:" in text
    points = [points for one in made["series"] for points in one["sizes"].values()]
    assert len(points) == 3
    for one in points:
        assert min(one["stamped"]) >= 3
        assert scheme == "window" or min(one["us"]) > 0  # a busy machine may start every call late


def test_memory_of_the_library(tmp_path):
    made, text = quick(tmp_path, "allreduce", "alltoall", "--vs", "openmpi", "--memory", "library")
    assert "\nAll buffers are memory of the library's own, from tutti_allocate and MPI_Alloc_mem." in text
    assert {one["library"] for one in made["series"]} == {"tutti", "openmpi"}
    assert min(us for one in made["series"] for points in one["sizes"].values() for us in points["us"]) > 0


def test_sees_that_the_machine_is_busy(tmp_path):
    made, _ = quick(tmp_path, "barrier", "--vs", "none", "--hogs", os.cpu_count())
    (points,) = [points for one in made["series"] for points in one["sizes"].values()]
    assert all(0.8 < busy <= 1 for busy in points["busy"])


def test_beside_a_peer(tmp_path):
    made, text = quick(tmp_path, "allreduce", "--vs", "openmpi")
    measured = [one for one in made["series"] if one["sizes"]]
    assert {one["library"] for one in measured} == {"tutti", "openmpi"}
    for comparison in made["comparisons"]:
        assert comparison["ratio"] > 0
        assert comparison["peer"].partition(" ")[0] == "openmpi"
    assert "quick-ratio-2.png" in text


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["gossip"], 'no collective "gossip"'),
        (["-n", "0"], "not a list of numbers of ranks"),
        (["--sizes", "7"], "a multiple of 8 bytes"),
        (["--sizes", "8:4M:1"], "FIRST:LAST:FACTOR"),
        (["--vs", "lam"], 'no peer "lam"'),
        (["--cores", "9999"], 'no core "9999"'),
        (["--overlap", "--tests", "one"], "not a list of numbers of tests"),
    ],
)
def test_says_what_is_wrong(arguments, text, tmp_path):
    done = tutti("bench", "--quick", "--vs", "none", "--out", tmp_path / "x", *arguments, expected=2)
    assert text in " ".join(done.split())


@pytest.fixture(scope="module")
def mutant(tmp_path_factory):
    """The benchmark over a library with every collective replaced by one that can be made wrong."""
    folder = tmp_path_factory.mktemp("mutant")
    (folder / "mutant.c").write_text('#include "mutant.h"\n' + "".join(f"MUTANT({name})\n" for name in NAMES))
    sources = [VERSUS / file for file in (*peers.COMMON, "layer/tutti.c", "layer/world/own.c")]
    include = [f"-I{path}" for path in (VERSUS, ROOT / "tests/bench", ROOT / "include")]
    link = [
        f"-L{BUILD}/lib",
        "-ltutti",
        f"-Wl,-rpath,{BUILD}/lib",
        *(f"-Wl,--wrap=layer_{name}" for name in ["wait", *NAMES, *(f"i{name}" for name in NAMES)]),
    ]
    program = folder / "mutant"
    peers.run("cc", *peers.FLAGS, "-o", program, folder / "mutant.c", *sources, *include, *link)

    def run(collective, tests="none", **environment):
        size = "0" if collective == "barrier" else "24"
        arguments = [folder / "points", "loop", "0.01", "5", "0", "program", tests, collective, size]
        return subprocess.run(
            [BUILD / "bin/tutti", "run", "-n", "3", "--timeout", "60", program, *arguments],
            env={**os.environ, "TUTTI_TIMEOUT": "20", **environment},
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )

    return run


@pytest.mark.parametrize("tests", ["none", "0,2"], ids=["calls", "overlap"])
def test_times_what_is_right(mutant, tests):
    for name in NAMES:
        done = mutant(name, tests)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("rank", ["0", "2"])
@pytest.mark.parametrize("kind", ["wrong", "beyond", "skip"])
@pytest.mark.parametrize("collective", [line.split()[0] for line in WITH_DATA])
def test_refuses_to_time_what_is_wrong(mutant, collective, kind, rank):
    done = mutant(collective, MUTANT=kind, MUTANT_OF=collective, MUTANT_RANK=rank)
    assert done.returncode == 1
    assert "wrong result" in done.stderr or (kind == "skip" and "tutti-versus:" in done.stderr), done.stderr


@pytest.mark.parametrize("kind", ["wrong", "beyond", "skip"])
@pytest.mark.parametrize("collective", [line.split()[0] for line in WITH_DATA])
def test_refuses_to_time_a_started_call_that_is_wrong(mutant, collective, kind):
    done = mutant(collective, tests="0,2", MUTANT=kind, MUTANT_OF=f"i{collective}", MUTANT_RANK="2")
    assert done.returncode == 1
    assert "wrong result" in done.stderr or (kind == "skip" and "tutti-versus:" in done.stderr), done.stderr


def test_refuses_a_barrier_that_holds_nobody(mutant):
    done = mutant("barrier", MUTANT="skip", MUTANT_OF="barrier", MUTANT_RANK="all")
    assert done.returncode == 1
    assert "left the barrier before" in done.stderr, done.stderr


def is_running(pid):
    """Not one that is dead, and waits for init to take note."""
    try:
        return pathlib.Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_a_job_is_ended_with_all_that_it_started(tmp_path):
    note = tmp_path / "pid"
    with pytest.raises(jobs.JobFailed, match="not done after 1 s"):
        jobs.launch([["bash", "-c", f"setsid sleep 1000 & echo $! >{note}; wait"]], {}, 1)
    deadline = time.monotonic() + 20
    while is_running(note.read_text().strip()):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_interval():
    """By order statistics: of six values the whole range has 97 %; of more values less of it suffices."""
    assert figures.interval([3, 1, 2, 6, 5, 4])[:2] == (1, 6)
    assert figures.interval([3, 1, 2, 6, 5, 4])[2] == pytest.approx(1 - 2 / 64)
    assert figures.interval(range(1, 10))[:2] == (2, 8)
    assert figures.interval(range(1, 10))[2] == pytest.approx(1 - 20 / 512)
    assert figures.interval([5]) == (5, 5, 0)


def test_says_how_far_apart_cores_were():
    moved = page.lines_text([70.0] * 17 + [30.0, 31.0, 150.0])
    assert moved.endswith("from core to core: 70 ns in the median, 31 to 74 in nine of ten cases.")
    assert page.lines_text([70.0]) == page.lines_text([]) == ""


def compared(collective, ranks, size, ratio, **more):
    """A point beside its best peer."""
    floor = more.pop("floor_share", 0)
    more = {"low": ratio, "high": ratio, "peer_us": ratio, **more}
    return figures.Comparison(collective, ranks, size, 1, 0, floor, peer="a (spin)", ratio=ratio, **more)


def test_goals():
    """Each point counts in the means that it is part of, and in no other."""
    points = [compared("barrier", 2, 0, 4.0), compared("bcast", 2, 1024, 1.0), compared("scan", 2, 8, 2.0)]
    points += [compared("bcast", 2, 4096, 1.2), compared("gather", 4, 8, 0.9), compared("alltoall", 8, 4096, 1.4)]
    rows = [line.strip("| ").split(" | ") for line in means.table(points).splitlines()[2:]]
    assert rows == [
        ["2", "all", "up to 1 KiB", "3", "2.00", "1.5"],
        ["2", "all-to-all", "up to 1 KiB", "1", "4.00", "1.6"],
        ["2", "rooted", "up to 1 KiB", "1", "**1.00**", "1.2"],
        ["2", "all", "2 KiB to 32 KiB", "1", "**1.20**", "1.3"],
        ["4", "rooted", "up to 1 KiB", "1", "**0.90**", "1"],
        ["8", "all", "from 2 KiB", "1", "1.40", "1.3"],
    ]
    assert means.table([compared("bcast", 3, 8, 2.0)]) == ""


def test_floor():
    near, far = (compared("bcast", 2, 64 << 10, 1.0, floor_share=share) for share in (0.8, 0.4))
    small, many = compared("bcast", 2, 8, 1.0, floor_share=0.9), compared("bcast", 4, 64 << 10, 1.0, floor_share=0.9)
    text = means.floor_text([near, far, far, small, many])
    assert text.startswith("Of 3 points on 2 ranks from 64 KiB on") and "at 1, and 40% in the median." in text
    fast = compared("bcast", 2, 1 << 20, 1.0, floor_share=0.4, read_share=1.2)
    assert "would at 1, and 0% in the median." in means.floor_text([near, far, fast])
    assert means.floor_text([small, many]) == ""


def test_says_how_near_barriers_are_to_the_barest(tmp_path):
    out = tmp_path / "crowded"
    tutti("bench", "barrier", "--quick", "--cores", min(os.sched_getaffinity(0)), "--vs", "none", "--out", out)
    made = json.loads(out.with_suffix(".json").read_text())
    meeting, barrier = made["meeting_us"]["2"], made["comparisons"][0]["us"]
    assert meeting > 0
    assert f"takes, of 2 processes {meeting:.2f} µs (Tutti's {barrier:.2f})." in out.with_suffix(".md").read_text()


def series(library, setting, times):
    """What a library needs in each round, in microseconds, at 8 bytes."""
    points = {number: {"us": time, "skew_us": 0.1, "copied": 1} for number, time in enumerate(times) if time}
    library, setting = peers.Library(library, pathlib.Path(), (), ()), peers.Setting(setting)
    return type("Series", (), {"library": library, "setting": setting, "points": {8: points}})()


def test_compares_with_the_best_peer_in_its_best_setting():
    every = [
        series("tutti", "default", [1.0, 2.0, 1.0]),
        series("a", "spin", [9.0, 9.0, 9.0]),
        series("a", "yield", [3.0, 4.0, 2.5]),
        series("b", "default", [4.0, 4.0, 3.0]),
    ]
    cell = type("Cell", (), {"collective": "bcast", "ranks": 2})
    one = figures.compare(cell, every, 8, "run", [0, 1], {"copy_us": {8: 0.25}, "read_us": {8: 1.0}})
    assert (one.peer, one.us, one.peer_us) == ("a (yield)", 1.0, 3.0)
    assert (one.ratio, one.low, one.high) == (2.5, 2.0, 3.0)  # by rounds: 3, 2, 2.5
    assert one.others == {"a": 3.0, "b": 4.0}
    assert one.floor_share == pytest.approx(0.125)
    assert one.read_share == pytest.approx(0.5)
    assert one.mark == ""
    late = figures.compare(
        cell, [series("tutti", "default", [None, 4.0]), series("a", "spin", [1.0])], 8, "run", [0], {}
    )
    assert late.peer == ""  # no round has both
    slow = figures.compare(cell, [series("tutti", "default", [4.0, 5.0]), every[2]], 8, "run", [0, 1], {})
    assert slow.mark == "loses" and not slow.undecided
    unsure = figures.compare(cell, [series("tutti", "default", [4.0, 2.0, 4.0]), every[2]], 8, "run", [0, 1], {})
    assert (unsure.low, unsure.high) == (0.625, 2.0)
    assert unsure.mark == "" and unsure.undecided
    lucky = figures.compare(cell, [series("tutti", "default", [1.0, 2.6, 1.0]), every[2]], 8, "run", [0, 1], {})
    assert lucky.ratio > 2 and lucky.undecided == (lucky.low < 1)
    once = figures.compare(cell, [every[0], series("a", "spin", [9.0])], 8, "run", [0, 1], {})
    assert once.thin and once.undecided
    hopeless = figures.compare(cell, [every[0], series("a", "spin", [90.0])], 8, "run", [0, 1], {})
    assert hopeless.thin and not hopeless.undecided


def test_measures_again_what_looks_slower():
    """Further rounds of these points alone, and of the peers near the best."""
    ours, near, far = "tutti default", "a spin", "a yield"
    us = {(ours, 8): 2.0, (near, 8): 1.0, (far, 8): 1.2, (ours, 16): 1.0, (near, 16): 2.0, (far, 16): 1.0}
    measured = []

    class Played(rounds.Run):
        def measure(self, there, sizes, step):
            for series in there.values():
                name = f"{series.library.name} {series.setting.name}"
                for size in sorted(series.sizes):
                    measured.append((self.rounds, name, size))
                    series.points.setdefault(size, {})[self.rounds] = {"us": us[name, size], "copied": 1}

    a, tutti_ = (
        peers.Library(name, pathlib.Path(), (), tuple(map(peers.Setting, settings)))
        for name, settings in (("a", ("spin", "yield")), ("tutti", ("default",)))
    )
    options = types.SimpleNamespace(
        seed=1, rounds=2, again=3, minutes=1, full=True, tests=(), statistic="run", cores=[0]
    )
    run = Played([tutti_, a], {rounds.Cell("bcast", 2): [8, 16]}, jobs.OneHost([0]), options)
    run.go(None, lambda _: None, lambda run: [one for one in figures.compare_all(run, {}) if one.mark == "loses"])
    assert (run.rounds, run.again) == (5, 3)
    assert {one for one in measured if one[0] < 2} == {(number, *point) for number in (0, 1) for point in us}
    assert sorted(one for one in measured if one[0] >= 2) == [
        (number, name, 8) for number in (2, 3, 4) for name in (near, ours)
    ]
    assert page.rounds_text(run) == (
        "2 alternating rounds, and 3 more of the points at which it was not clear who is faster"
    )


def test_reads_sizes():
    assert command.read_sizes("8:4M", 8) == [8, 64, 512, 4096, 32 << 10, 256 << 10, 2 << 20, 4 << 20]
    assert command.read_sizes("8:64:2", 8) == [8, 16, 32, 64]
    assert command.read_sizes("64K,8", 8) == [8, 64 << 10]


def test_works_from_an_installed_copy(tmp_path):
    peers.run("cmake", "--install", BUILD, "--prefix", tmp_path / "there")
    arguments = ["bench", "barrier", "--quick", "--vs", "none", "--out", tmp_path / "one"]
    done = subprocess.run(
        [tmp_path / "there/bin/tutti", *arguments],
        env={**os.environ, "TUTTI_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "No tutti-floor" in done.stdout
    assert "barrier" in (tmp_path / "one.md").read_text()
