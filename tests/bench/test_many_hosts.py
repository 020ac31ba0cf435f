# SPDX-License-Identifier: BSD-3-Clause
"""`tutti bench --hosts` measures between hosts; the wire limit and the goals are right."""

import json
import os
import pathlib
import subprocess
import sys

import pytest
import rich.console

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["TUTTI_BUILD"])
sys.path[:0] = [str(ROOT / "bench/versus"), str(ROOT / "tests/lab")]

from driver import between, command, hosts, jobs, page, peers, rounds, table, wire  # noqa: E402 - found above
from lab import Network  # noqa: E402

RATE = Network(rate="100mbit")


def bench(*arguments, expected=0):
    done = subprocess.run(
        [BUILD / "bin/tutti", "bench", "--quick", "--seed", "1", *map(str, arguments)],
        env={**os.environ, "TUTTI_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == expected, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_beside_peers(tmp_path):
    there = ["openmpi", "mpich"]
    names = ["barrier", "allreduce"]
    out = ["--out", tmp_path / "found", "--vs", ",".join(there)]
    bench("--hosts", "2", "--rate", "100mbit", "--sizes", "8,4K", *out, *names)
    made, page = json.loads((tmp_path / "found.json").read_text()), (tmp_path / "found.md").read_text()
    assert {(one["collective"], one["library"]) for one in made["series"]} == {
        (name, library) for name in names for library in ("tutti", *there)
    }
    for one in made["series"]:
        assert not one["failure"]
        assert list(one["sizes"]) == (["0"] if one["collective"] == "barrier" else ["8", "4096"])
        for points in one["sizes"].values():
            assert min(points["us"]) > 0
            assert all(busy is None or 0 <= busy <= 1 for busy in points["busy"])
            assert all(len(ranks) == 2 for ranks in points["ranks_us"])
    wires = {(one["collective"], one["bytes"]): one["wire_us"] for one in made["comparisons"]}
    assert wires == {("barrier", 0): 5.36, ("allreduce", 8): 5.92, ("allreduce", 4096): pytest.approx(343.52)}
    assert "links of 100mbit in each direction" in page
    assert "| allgather, allgatherv | n (P - K) |" in page


@pytest.mark.parametrize("peer", ["openmpi", "mpich"])
def test_through_a_peer(peer, tmp_path):
    """Tutti's group is of the peer's communicator, and beside it stands what the peer's own call takes."""
    out = ["--out", tmp_path / "found", "--through", peer, "--vs", peer]
    bench("--hosts", "3", *out, "--sizes", "8,4K", "allreduce")
    made, text = json.loads((tmp_path / "found.json").read_text()), (tmp_path / "found.md").read_text()
    assert {one["library"] for one in made["series"] if one["sizes"]} == {"tutti", peer}
    assert not any(one["failure"] for one in made["series"])
    assert [(one["ranks"], one["bytes"], one["through"]) for one in made["comparisons"]] == [
        (3, 8, True),
        (3, 4096, True),
    ]
    assert all(one["ratio"] > 0 for one in made["comparisons"])
    assert f"it uses the messages of\n{peer}: a call is meant to take at most 1.1 times as long" in text


def test_the_rate_is_kept_and_more_ranks_share_a_host(tmp_path):
    """Of 96 KiB each rank gets what two others on the other host have: no library can be faster than the wire."""
    out = ["--out", tmp_path / "found", "--vs", "none", "--sizes", "32K"]
    bench("--hosts", "2", "--per-host", "2", "--rate", "20mbit", *out, "allgather")
    (one,) = json.loads((tmp_path / "found.json").read_text())["comparisons"]
    assert (one["ranks"], one["hosts"], one["bytes"]) == (4, 2, 32 << 10)
    assert one["wire_us"] == pytest.approx((65536 + 46 * 66) * 8 / 20)
    assert one["us"] > 0.9 * one["wire_us"]
    assert "2 ranks on each" in (tmp_path / "found.md").read_text()


def test_beside_algorithms_that_see_no_hosts(tmp_path):
    """With the better of two settings at each point; every name in them is one that Tutti knows."""
    names = [item.partition("=")[0] for item in peers.FLAT[0].environment["TUTTI_ALGORITHMS"].split()]
    out = ["--out", tmp_path / "found", "--vs", "none", "--sizes", "8"]
    bench("--hosts", "2", "--per-host", "2", "--flat", *out, *names)
    made = json.loads((tmp_path / "found.json").read_text())
    assert {(one["collective"], one["library"], one["setting"]) for one in made["series"]} == {
        (name, *series)
        for name in names
        for series in (("tutti", "default"), *(("flat", one.name) for one in peers.FLAT))
    }
    assert not any(one["failure"] for one in made["series"])
    assert all(one["peer"].startswith("flat (") and one["ratio"] > 0 for one in made["comparisons"])
    assert "what knows the hosts is slower at " in (tmp_path / "found.md").read_text()


def test_overlap_between_hosts(tmp_path):
    out = ["--out", tmp_path / "found", "--vs", "none", "--sizes", "4K", "--tests", "0"]
    bench("--hosts", "2", "--overlap", *out, "alltoall")
    made = json.loads((tmp_path / "found.json").read_text())
    assert [(one["setting"], list(one["sizes"]), one["failure"]) for one in made["series"]] == [
        ("calls", ["4096"], ""),
        ("thread", ["4096"], ""),
    ]
    assert "# Overlap between hosts" in (tmp_path / "found.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        (["--hosts", "none"], 2, "not a list of numbers of hosts"),
        (["--hosts", "2", "-n", "2"], 2, "with --hosts the ranks are"),
        (["--rate", "100mbit"], 2, "--rate, --per-host and --through are about --hosts"),
        (["--hosts", "2", "--vs", "impi"], 2, 'no peer "impi"'),
        (["--hosts", "2", "--flat"], 2, "--flat is about more than one rank on each"),
        (["--hosts", "2", "--through", "impi"], 2, 'no peer "impi"'),
        (["--hosts", "2", "--through", "openmpi,mpich"], 2, "--through is one of openmpi, mpich"),
        (["--through", "openmpi"], 2, "--rate, --per-host and --through are about --hosts"),
        (["--hosts", "2", "--rate", "100"], 1, "rate 100: write it as in 100mbit"),
        (["--hosts", "2", "--rate", "1kbit", "--sizes", "1M", "bcast"], 1, "nothing is left to measure"),
    ],
)
def test_says_what_is_wrong(arguments, status, text, tmp_path):
    said = bench("--vs", "none", "--out", tmp_path / "x", *arguments, expected=status)
    assert text in " ".join(said.split())


def test_an_installed_copy_says_what_it_lacks(monkeypatch, tmp_path):
    monkeypatch.setattr(hosts, "LAB", tmp_path / "lab.py")
    with pytest.raises(peers.Failure, match="which is in Tutti's source tree and is not installed"):
        hosts.load_lab()


@pytest.mark.parametrize(
    ("collective", "size", "count", "per_host", "frames", "payload"),
    [
        ("barrier", 0, 4, 1, 1, 1),
        ("bcast", 8, 16, 1, 1, 8),
        ("bcast", 1448, 2, 1, 1, 1448),
        ("bcast", 1449, 2, 1, 2, 1449),
        ("bcast", 1 << 20, 8, 4, 725, 1048576),
        ("allreduce", 1 << 20, 4, 1, 1087, 1572864),  # 2 * 3/4
        ("allreduce", 8, 2, 8, 1, 8),
        ("allgather", 64 << 10, 4, 1, 136, 196608),  # three others' blocks
        ("allgatherv", 64 << 10, 4, 1, 136, 196608),
        ("alltoall", 64 << 10, 4, 1, 136, 196608),
        ("alltoall", 1024, 2, 3, 7, 9216),  # three ranks send to three others
        ("allgather", 1024, 2, 3, 3, 3072),
        ("reduce_scatter", 1024, 16, 1, 11, 15360),  # (P - 1) / P of 16 KiB
        ("gather", 1024, 3, 2, 3, 4096),
        ("scatterv", 1024, 3, 2, 3, 4096),
        ("reduce", 1024, 3, 2, 1, 1024),
        ("exscan", 1024, 3, 2, 1, 1024),
    ],
)
def test_wire_limit(collective, size, count, per_host, frames, payload):
    """By hand: 1448 bytes in a frame of 1514, at 12.5 bytes in a microsecond."""
    expected = (payload + 66 * frames) / 12.5e6
    assert wire.limit(collective, size, count, per_host, RATE) == pytest.approx(expected, rel=1e-9)
    assert wire.limit(collective, size, 1, per_host, RATE) == 0
    assert wire.limit(collective, size, count, per_host, Network()) == 0


def test_every_collective_has_a_wire_limit():
    listed = subprocess.run([BUILD / "bin/tutti-versus", "--list"], capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        assert wire.limit(line.split()[0], 8, 2, 1, RATE) > 0


def point(collective, size, count, us, wire_us=100.0, peer_us=0.0, spread=0.1, **more):
    ratio = peer_us / us
    known = {"peer": "a (b)", "peer_us": peer_us, "ratio": ratio, "low": ratio - spread, "high": ratio + spread}
    where = {"collective": collective, "ranks": count, "hosts": count, "bytes": size, "us": us, "wire_us": wire_us}
    return between.Point(**where | {"skew_us": 0, "floor_share": 0} | (known if peer_us else {}) | more)


@pytest.mark.parametrize(
    ("one", "mark"),
    [
        (point("allreduce", 8, 4, 200, peer_us=250), ""),
        (point("allreduce", 8, 4, 200, peer_us=230), "below goal"),
        (point("allreduce", 8, 4, 120, peer_us=120), ""),  # near the wire limit
        (point("allreduce", 8, 2, 200, peer_us=200), ""),
        (point("bcast", 1024, 8, 200, peer_us=390), "below goal"),
        (point("bcast", 1024, 8, 200, peer_us=400), ""),
        (point("barrier", 0, 16, 200, peer_us=590), "below goal"),
        (point("barrier", 0, 12, 200, peer_us=390), "below goal"),
        (point("barrier", 0, 12, 200, peer_us=400), ""),
        (point("bcast", 1032, 16, 200, peer_us=200), ""),
        (point("alltoall", 8, 16, 200, peer_us=200), ""),
        (point("alltoall", 8, 16, 200, peer_us=190), ""),  # the interval has 1
        (point("alltoall", 8, 16, 200, peer_us=170), "loses"),
        (point("alltoall", 8, 16, 110, peer_us=90), "loses"),  # near the wire limit or not
        (point("alltoall", 64 << 10, 4, 125, peer_us=200), ""),
        (point("alltoall", 64 << 10, 4, 126, peer_us=200), "below goal"),
        (point("alltoall", 64 << 10, 4, 126), "below goal"),
        (point("bcast", 64 << 10, 4, 160), ""),  # hosts pass it on
        (point("bcast", 64 << 10, 4, 161), "below goal"),
        (point("bcast", 512 << 10, 4, 125), ""),
        (point("bcast", 512 << 10, 4, 126), "below goal"),
        (point("alltoall", 64 << 10, 4, 126, wire_us=0, peer_us=126), ""),  # without a rate
        (point("barrier", 0, 16, 200, wire_us=0, peer_us=170), "loses"),
        (point("barrier", 0, 16, 200, peer_us=182, through=True), ""),  # at most 1.1 times as long
        (point("bcast", 8, 16, 200, peer_us=181, through=True), "below goal"),
        (point("alltoall", 64 << 10, 4, 126, peer_us=126, through=True), ""),  # the wire is the peer's
        (point("allreduce", 8, 16, 200, peer_us=190, flat=True), ""),  # the peer is Tutti itself
        (point("allreduce", 8, 16, 200, peer_us=170, flat=True), "loses"),
        (point("alltoall", 64 << 10, 4, 126, peer_us=126, flat=True), ""),
    ],
)
def test_goals(one, mark):
    assert one.mark == mark


def test_says_what_the_machine_limits():
    assert between.remarks(point("bcast", 8, 2, 10, peer_us=20, busy=0.81, peer_busy=0.9)) == "machine"
    assert between.remarks(point("bcast", 8, 2, 10, peer_us=20, busy=0.8, peer_busy=0.9)) == "peer: machine"
    assert between.remarks(point("bcast", 8, 2, 10, peer_us=5, busy=0.8, peer_busy=0.8)) == "loses"
    cells = between.look(["a", "c"]).cells(point("bcast", 8, 2, 10, peer_us=20, others={"a": 20.0}))
    assert cells[:5] == ["8 B", "10", "0%", "20", "-"]
    assert cells[9:] == ["100", "0.10", "1", ""]


class Place:
    """A place where collective "bad" fails, and takes a whole job with it."""

    cores = "any"

    def together(self, cells):
        return [list(cells)]

    def call_seconds(self, *_):
        return 0.25


def test_a_failing_collective_takes_no_other_with_it(monkeypatch):
    asked = []

    def run(library, setting, task, place):
        asked.append(sorted(task.points))
        assert task.least == rounds.LEAST_CALLS * 0.25 * len(task.points)
        if "bad" in task.points:
            raise jobs.JobFailed("it hung\nand more")
        return "Tutti", {name: {8: {"us": 1.0}} for name in task.points}

    monkeypatch.setattr(jobs, "run", run)
    library = peers.Library("tutti", pathlib.Path(), (), (peers.Setting("default"),))
    options = {
        "seed": 1,
        "seconds": 1,
        "scheme": "loop",
        "tests": (),
        "full": True,
        "statistic": "run",
        "memory": "program",
    }
    cells = [rounds.Cell(name, 2) for name in ("good", "bad", "fine")]
    made = rounds.Run([library], {cell: [8] for cell in cells}, Place(), type("Options", (), options))
    made.round(lambda cells, series: None)
    assert asked[0] == ["bad", "fine", "good"]
    assert sorted(asked[1:]) == [["bad"], ["fine"], ["good"]]
    assert [(cell.collective, one.failure) for cell, one in made.failures()] == [("bad", "it hung\nand more")]
    assert made.repeated == ["tutti (default) on 2 ranks: it hung\nand more"]
    made.round(lambda cells, series: None)
    assert asked[4:] == [["fine", "good"]]
    assert all(list(one.points[8]) == [0, 1] for cell, (one,) in made.series.items() if cell.collective != "bad")


def test_points_that_no_job_came_to_are_named(monkeypatch, capsys):
    def run(library, setting, task, place):
        assert task.least == (rounds.LEAST_OVERLAP + 4 * rounds.LEAST_SAMPLE) * 0.25 * len(task.wanted)
        first, *_ = task.wanted
        return "Tutti", {
            name: {size: {} for size in sizes if (name, size) == first} for name, sizes in task.points.items()
        }

    monkeypatch.setattr(jobs, "run", run)
    library = peers.Library("tutti", pathlib.Path(), (), (peers.Setting("calls"),))
    options = {"seed": 1, "seconds": 1, "scheme": "loop", "tests": (0,), "full": True, "memory": "program"}
    made = rounds.Run([library], {rounds.Cell("bcast", 2): [8, 64]}, Place(), type("Options", (), options))
    made.round(lambda cells, series: None)
    ((_, one, sizes),) = made.missing()
    assert sorted([*one.points, *sizes]) == [8, 64]
    assert page.failures(made) == [
        f"## Points that no job came to in its time\n\n- tutti (calls), bcast on 2 ranks: {sizes[0]} B"
    ]
    command.say_what_failed(made, rich.console.Console())
    assert "Points that no job came to in its time: 1; the page names them." in capsys.readouterr().out
    one.points[sizes[0]] = {}
    assert not made.missing()
    assert not page.failures(made)
    command.say_what_failed(made, rich.console.Console())
    assert "no job came" not in capsys.readouterr().out


def test_a_job_has_the_time_that_the_wire_needs():
    quick = jobs.Task({"bcast": (8, 64)}, 2, 0.5, "loop", "any")
    slow = jobs.Task({"bcast": (8, 64)}, 2, 0.5, "loop", "any", least=10)
    assert quick.budget == 3 + 3 * 1
    assert slow.budget - quick.budget == 30
    assert slow.limit > slow.budget + 30
    assert quick.arguments("f") == ["f", "loop", "0.5", "6.0", "any", "program", "none", "bcast", "8,64"]


def test_losing_points_are_listed_worst_first():
    points = [
        point("bcast", 64 << 10, 4, 190),
        point("bcast", 1 << 20, 4, 100),
        point("alltoall", 8, 4, 200, peer_us=20),
        point("allgather", 64 << 10, 4, 300),
    ]
    lines = table.losing(points, between.look(["a"])).splitlines()[2:]
    assert [line.split(" | ")[1] for line in lines] == ["alltoall", "allgather", "bcast"]
