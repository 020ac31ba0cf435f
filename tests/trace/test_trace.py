# SPDX-License-Identifier: BSD-3-Clause
"""Traces of programs that are known beforehand: what is recorded, merged, summed up and drawn."""

import json
import pathlib
import re
import signal
import subprocess
import sys
from xml.etree import ElementTree

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/launch")]

from hosts import BUILD, Job  # noqa: E402 - found above
from lab import Lab  # noqa: E402

PROGRAM = str(BUILD / "bin/trace_traced")
LATE = 190e3  # microseconds; rank 1 sleeps for 240 ms
THREADS = 64  # of a rank


def run(*words, status=0):
    done = subprocess.run(["tutti", *map(str, words)], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def record(folder, what, ranks, *options, status=0):
    file = folder / "trace.json"
    said = run("run", "-n", ranks, "--trace", file, *options, PROGRAM, what, status=status)
    assert list(folder.iterdir()) == [file], said
    return json.loads(file.read_text())


def parts(file):
    """Job and rank of each; nothing else lies beside the file."""
    names = sorted(path.name for path in file.parent.iterdir() if path != file)
    found = [re.fullmatch(re.escape(file.name) + r"\.([0-9a-f]{16})\.(\d+)\.part", name) for name in names]
    assert all(found), names
    return [(name[1], int(name[2])) for name in found]


def leave_parts(file, ranks):
    """Of a job that nobody merges; its number."""
    before = parts(file)
    run("run", "-n", ranks, "--env", f"TUTTI_TRACE={file}", PROGRAM, "killed", status=128 + signal.SIGKILL)
    left = [part for part in parts(file) if part not in before]
    assert [rank for _, rank in left] == list(range(ranks))
    return left[0][0]


def write(file, *events, **about):
    """A trace of two ranks by hand."""
    of_ranks = [{"rank": rank, "finished": True} for rank in (0, 1)]
    head = {"tutti": 2, "ranks": 2, "dropped": 0, "nameless": 0, "clocks": "one", "clock_error_ns": 0}
    text = json.dumps(head | {"of_ranks": of_ranks} | about)
    lines = ",\n".join(map(json.dumps, events))
    file.write_text(f'{{"displayTimeUnit": "ns", "otherData": {text}, "traceEvents": [\n{lines}\n]}}\n')


def collective(rank, number=1, **args):
    args = {"group": "world", "context": "0" * 16, "number": number, "site": "here"} | args
    place = {"pid": 1, "tid": rank * THREADS, "ts": 5.0 * rank, "dur": 10.0}
    return {"ph": "X", **place, "name": "allreduce", "cat": "collective", "args": args}


def slices(trace, category="collective", **wanted):
    """By rank of the world."""
    found = [event for event in trace["traceEvents"] if event["ph"] == "X" and event["cat"] == category]
    found = [event for event in found if all(event["args"].get(key) == value for key, value in wanted.items())]
    return {event["tid"] // THREADS: event for event in found}


def end(event):
    return event["ts"] + event["dur"]


def check_causes(trace):
    """No rank leaves an allreduce before all have come to it."""
    slack = 2 * trace["otherData"]["clock_error_ns"] / 1e3 + 1
    numbers = {event["args"]["number"] for event in trace["traceEvents"] if event.get("cat") == "collective"}
    checked = 0
    for number in numbers:
        calls = [call for call in slices(trace, group="world", number=number).values() if call["name"] == "allreduce"]
        if len(calls) == trace["otherData"]["ranks"] and len(calls) > 1:
            assert min(map(end, calls)) >= max(call["ts"] for call in calls) - slack, (number, calls)
            checked += 1
    assert checked >= 5


def check_known(trace, ranks):
    """What traced.cpp does, with Tutti's own allreduce before it."""
    assert trace["otherData"]["ranks"] == ranks
    assert trace["otherData"]["dropped"] == 0
    check_causes(trace)
    for number in range(1, 6):
        calls = slices(trace, group="world", number=number)
        assert sorted(calls) == list(range(ranks))
        for rank, call in calls.items():
            assert call["name"] == "allreduce"
            assert (call["args"]["bytes"], call["args"]["rank"], call["args"]["size"]) == (1024, rank, ranks)
            assert "add_up" in call["args"]["site"]
            assert call["args"]["late_ns"] / 1e3 == pytest.approx(call["ts"] - min(one["ts"] for one in calls.values()))
            if number == 3 and rank == 1:
                assert call["args"]["late_ns"] / 1e3 > LATE
            elif number == 3:
                assert call["dur"] > LATE
                assert call["args"]["waiting_ns"] / 1e3 > LATE
            assert call["args"]["waiting_ns"] / 1e3 <= call["dur"] + 0.002
    bcast = slices(trace, group="world", number=6)
    assert {(call["name"], call["args"]["root"]) for call in bcast.values()} == {("bcast", 1)}
    assert all("spread" in call["args"]["site"] for call in bcast.values())
    phases = [event for event in trace["traceEvents"] if event.get("cat") == "phase" and event["args"]["number"] == 6]
    assert [event["name"] for event in phases] == ["startup", "intermediate", "final"]
    assert phases[0]["dur"] > LATE
    assert {call["name"] for call in slices(trace, number=7).values()} == {"iallreduce"}
    halves = {call["args"]["group"] for call in slices(trace, number=0).values()}
    assert {"world/0.0", "world/0.1"} <= halves | {"world"}
    sent, received = slices(trace, "message")[0], slices(trace, "message")[1]
    assert (sent["name"], received["name"], sent["args"]["tag"]) == ("send 1", "recv 0", 7)
    arrows = [event for event in trace["traceEvents"] if event["ph"] in "sf"]
    assert any(event["tid"] == sent["tid"] and event["ts"] == sent["ts"] for event in arrows)


def check_nesting(trace):
    """On every thread slices are apart, or one inside of the other; steps lie inside of their calls."""
    threads = {}
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            threads.setdefault((event["pid"], event["tid"]), []).append(event)
    for events in threads.values():
        opened = []
        for event in sorted(events, key=lambda event: (event["ts"], -event["dur"])):
            while opened and end(opened[-1]) <= event["ts"] + 1e-3:
                opened.pop()
            assert not opened or end(event) <= end(opened[-1]) + 2e-3, (opened[-1], event)
            opened.append(event)
    for event in trace["traceEvents"]:
        if event.get("cat") == "step":
            args = event["args"]
            call = slices(trace, group=args["group"], number=args["number"])[event["tid"] // THREADS]
            assert call["ts"] - 2e-3 <= event["ts"]
            assert end(event) <= end(call) + 2e-3


@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_one_host(tmp_path, ranks):
    trace = record(tmp_path, "known", ranks)
    assert trace["otherData"]["clocks"] == "one"
    check_known(trace, ranks)
    check_nesting(trace)
    picture = tmp_path / "trace.svg"
    said = run("trace", tmp_path / "trace.json", "--picture", picture)
    assert f"{ranks} ranks, " in said
    assert re.search(r"^  1 +2\d\d\.\d\d ms +allreduce #3 of world +trace_traced: .*add_up", said, re.MULTILINE), said
    assert re.search(r"^  bcast +1 +2\d\d\.\d\d ms .* rank 1 \(1\)$", said, re.MULTILINE), said
    costliest = said[said.index("The costliest calls") :]
    assert "spread" in costliest
    # The program waits for requests; how long messages are under way costs it nothing.
    assert not re.search(r"^  (send|recv) \d", costliest, re.MULTILINE), costliest
    drawn = ElementTree.fromstring(picture.read_text())
    titles = [title.text for title in drawn.iter("{http://www.w3.org/2000/svg}title")]
    assert sum(title.startswith("allreduce #3 of world") for title in titles) == ranks


def test_one_rank(tmp_path):
    check_nesting(record(tmp_path, "many", 1))


def test_large_messages(tmp_path):
    trace = record(tmp_path, "large", 3)
    check_nesting(trace)
    steps = [event for event in trace["traceEvents"] if event.get("cat") == "step"]
    assert any(step["name"] in ("reduce", "copy") and step["dur"] > 0 for step in steps)
    assert any(step["name"].startswith("await") for step in steps)


PYTHON = """
import numpy as np, tutti
world = tutti.world()
def step():
    world.allreduce(np.ones(3))
def later():
    request = world.ibarrier()
    request.wait()
step()
later()
repeated = world.bcast_init(np.ones(3), 0)
for _ in range(2):
    repeated.start()
    repeated.wait()
"""


def test_python_says_where_its_calls_stand(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PYTHON)
    file = tmp_path / "trace.json"
    run("run", "-n", 2, "--trace", file, sys.executable, program)
    trace = json.loads(file.read_text())
    said = [
        (call["name"], call["args"]["site"]) for number in range(1, 5) for call in [slices(trace, number=number)[1]]
    ]
    assert said == [
        ("allreduce", f"{program}:5 in step"),
        ("ibarrier", f"{program}:7 in later"),
        ("ibcast", f"{program}:13 in <module>"),
        ("ibcast", f"{program}:13 in <module>"),
    ]


@pytest.mark.parametrize(("what", "status"), [("killed", 128 + signal.SIGKILL), ("missing", 3)])
def test_a_rank_that_ends_early(tmp_path, what, status):
    trace = record(tmp_path, what, 3, status=status)
    assert sorted(slices(trace, group="world", number=1)) == [0, 1, 2]
    # The launcher may end the others before they know.
    ends = {rank: call["args"] for rank, call in slices(trace, group="world", number=2).items()}
    assert set(ends) <= {0, 2}
    assert all(call.get("failed") or call.get("unfinished") for call in ends.values())
    assert what == "killed" or any(call.get("failed") for call in ends.values())
    assert all("add_up" in call["args"]["site"] for call in slices(trace, group="world", number=1).values())
    finished = {one["rank"]: one["finished"] for one in trace["otherData"]["of_ranks"]}
    assert finished[1] == (what == "missing")
    said = run("trace", tmp_path / "trace.json")
    assert ("died before the end" in said) == (not all(finished.values()))


def test_a_rank_that_ends_early_breaks_nothing(tmp_path):
    trace = record(tmp_path, "early", 3, "--env", "TUTTI_TRACE_PATIENCE=0.2")
    assert all(one["finished"] for one in trace["otherData"]["of_ranks"])


def test_times_are_right_when_all_ranks_are_killed(tmp_path):
    file = tmp_path / "trace.json"
    said = run("run", "-n", 2, "--trace", file, PROGRAM, "all killed", status=128 + signal.SIGKILL)
    trace = json.loads(file.read_text())
    assert not any(one["finished"] for one in trace["otherData"]["of_ranks"])
    assert trace["otherData"]["clocks"] == "one"
    begun = [slices(trace, group="world", number=number)[0]["ts"] for number in (2, 3)]
    apart = float(re.search(r"apart: ([\d.]+) us", said)[1])
    # The counter of a processor goes 2 to 4 times as fast as nanoseconds; readings that are near each other tell it
    # within some per cent.
    assert begun[1] - begun[0] == pytest.approx(apart, rel=0.1)


def test_what_has_no_room_is_counted(tmp_path):
    trace = record(tmp_path, "many", 2, "--env", "TUTTI_TRACE_EVENTS=100")
    dropped = trace["otherData"]["dropped"]
    for rank in (0, 1):
        kept = [event for event in trace["traceEvents"] if event["ph"] == "X" and event["tid"] // THREADS == rank]
        assert 64 <= len(kept) <= 128
    assert dropped >= 2 * (1001 - 128)
    assert f"DROPPED: {dropped} events" in run("trace", tmp_path / "trace.json")


def test_of_very_many_calls_some_stand_for_all(tmp_path):
    trace = record(tmp_path, "very many", 2)
    assert trace["otherData"]["dropped"] == 0
    noted = {}
    for event in trace["traceEvents"]:
        if event.get("cat") == "collective":
            noted.setdefault(event["tid"] // THREADS, {})[event["args"]["number"]] = event["args"]
    stride = {n: 2 ** max(0, (n // (1 << 12)).bit_length()) for n in range(40001)}
    wanted = {n: stride[n] for n in stride if n % stride[n] == 0}
    assert len(wanted) < 12000
    for rank in (0, 1):
        assert {n: args.get("stands_for", 1) for n, args in noted[rank].items()} == wanted
    all_of_them = sum(wanted.values())
    assert abs(all_of_them - 40001) < max(wanted.values())
    waits = [event for event in trace["traceEvents"] if event.get("cat") == "wait"]
    assert {event["args"]["number"] for event in waits} <= {n for n in wanted if n > 0 and n % 3 == 0}
    said = run("trace", tmp_path / "trace.json")
    assert f"2 ranks, {all_of_them} collectives in " in said
    assert f"noted: {len(wanted)} of the collectives" in said
    arrivals = said[said.index("From the first rank's arrival") : said.index("What ranks do")]
    assert sum(map(int, re.findall(r"^  i?allreduce +(\d+) ", arrivals, re.MULTILINE))) == all_of_them, said


def test_nothing_is_written_without_being_asked(tmp_path):
    subprocess.run(["tutti", "run", "-n", "2", PROGRAM, "many"], cwd=tmp_path, timeout=60, check=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["x", "-1", "31", "99999999999"])
def test_a_wrong_number_of_events(tmp_path, text):
    words = ("--trace", tmp_path / "trace.json", "--env", f"TUTTI_TRACE_EVENTS={text}", PROGRAM, "many")
    done = subprocess.run(["tutti", "run", "-n", "1", *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert f"TUTTI_TRACE_EVENTS={text} is no number of events" in done.stderr


def test_a_folder_that_is_not_there(tmp_path):
    words = ("--trace", tmp_path / "none/trace.json", PROGRAM, "many")
    done = subprocess.run(["tutti", "run", "-n", "1", *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "cannot record in" in done.stderr


def test_files_that_are_no_traces(tmp_path):
    file = tmp_path / "trace.json"
    for text in ("", "{}\n", "no\n", '{"traceEvents": [\n]}\n'):
        file.write_text(text)
        assert "is no trace of Tutti's" in run("trace", file, status=1)
    assert "is no trace of Tutti's" in run("trace", tmp_path / "other", status=1)
    for ranks in (-1, 0, 1 << 21):
        write(file, ranks=ranks, of_ranks=[])
        assert "line 1: no job has so many ranks" in run("trace", file, status=1)
    for wrong in (collective(2), collective(-1), collective(1 << 40), {"ph": "s", "id": 1, "tid": 128, "ts": 0}):
        write(file, collective(0), wrong)
        assert "line 3: there is no such rank" in run("trace", file, status=1)
    file.unlink()
    record(tmp_path, "many", 2)
    whole = file.read_text()
    file.write_text(whole[: len(whole) // 2])
    assert "is no trace of Tutti's" in run("trace", file, status=1)
    assert "there are no parts of" in run("trace", "--merge", file, status=2)


def test_what_a_file_says_is_fit_for_a_terminal(tmp_path):
    file = tmp_path / "trace.json"
    evil = "\x1b[31m\x9b"
    write(file, *(collective(rank, group=evil, site=evil) | {"name": evil} for rank in (0, 1)), clocks=evil)
    said = run("trace", file, "--picture", tmp_path / "trace.svg")
    assert said.count("?[31m?") >= 4
    assert not set(evil[0] + evil[-1]) & set(said + (tmp_path / "trace.svg").read_text())


def test_parts_of_several_jobs(tmp_path):
    file = tmp_path / "trace.json"
    old, new = leave_parts(file, 3), leave_parts(file, 2)
    said = run("trace", "--merge", file)
    assert "2 ranks, " in said
    assert f"parts of other jobs stay as they are: {file}.{old}.*.part; " in said
    assert parts(file) == [(old, rank) for rank in range(3)]
    good = file.read_text()
    assert f"is newer than the parts beside it, {file}.{old}.*.part: " in run("trace", "--merge", file, status=2)
    # A job of the launcher's merges its own.
    run("run", "-n", 2, "--trace", file, PROGRAM, "killed", status=128 + signal.SIGKILL)
    assert good != file.read_text()
    assert parts(file) == [(old, rank) for rank in range(3)]
    file.unlink()
    assert "3 ranks, " in run("trace", "--merge", file)
    assert parts(file) == []
    assert new != old


def test_a_merge_while_the_job_runs(tmp_path):
    file = tmp_path / "trace.json"
    words = ("run", "-n", "2", "--env", f"TUTTI_TRACE={file}", PROGRAM, "goes on")
    with subprocess.Popen(["tutti", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as job:
        try:
            assert [job.stdout.readline() for _ in (0, 1)] == ["recorded\n", "recorded\n"]
            said = run("trace", "--merge", file)
            left = parts(file)
        finally:
            job.send_signal(signal.SIGTERM)
    assert [rank for _, rank in left] == [0, 1]
    assert f"ranks 0, 1 still record: {file}.{left[0][0]}.*.part stay, " in said
    assert "ranks 0, 1 still recorded when this was made" in said
    assert "died" not in said
    assert "ranks 0, 1 died before the end" in run("trace", "--merge", file)
    assert list(tmp_path.iterdir()) == [file]


def test_a_damaged_part_is_left_out(tmp_path):
    file = tmp_path / "trace.json"
    said = run("run", "-n", 2, "--trace", file, PROGRAM, "damaged", status=128 + signal.SIGKILL)
    [(job, rank)] = parts(file)
    assert f"{file}.{job}.{rank}.part is left out of the trace, and stays: " in said
    assert sorted(slices(json.loads(file.read_text()), group="world", number=1)) == [0]
    assert "rank 1 left no record" in run("trace", file)
    assert "that can be read" in run("trace", "--merge", file, status=2)


def test_jobs_of_the_commands_are_not_recorded(tmp_path, monkeypatch):
    file = tmp_path / "trace.json"
    file.write_text("mine")
    monkeypatch.setenv("TUTTI_TRACE", str(file))
    run("info")
    assert file.read_text() == "mine"


def test_groups_of_one_name_are_told_apart(tmp_path):
    trace = record(tmp_path, "groups", 2)
    met = {}
    for event in trace["traceEvents"]:
        if event.get("cat") == "collective":
            call = event["args"]
            met.setdefault((call["group"], call["number"], call["context"]), []).append(call["rank"])
    assert all(sorted(ranks) == [0, 1] for ranks in met.values())
    assert len({context for group, _, context in met if group == "world/created"}) == 3
    assert f"2 ranks, {len(met)} collectives in " in run("trace", tmp_path / "trace.json")


def test_all_waits_are_noted_and_none_twice(tmp_path):
    trace = record(tmp_path, "waits", 2)
    waits = [
        event
        for event in trace["traceEvents"]
        if event.get("cat") == "wait" and event["tid"] // THREADS == 0 and event["args"]["group"] == "world"
    ]
    assert sum(wait["dur"] > LATE for wait in waits) >= 3, waits
    for_calls = [wait["args"]["number"] for wait in waits if "decide" not in wait["args"]["site"]]
    assert len(for_calls) == len(waits) - 1
    assert len(for_calls) == len(set(for_calls))


def start_on_hosts(job, file, what, **settings):
    """Every host's clock begins at another time."""
    for rank, place in enumerate(job.places):
        ahead = ["--time", "--fork", "--kill-child", "--monotonic", str(1000 * place), PROGRAM, what]
        job.start(rank, *ahead, TUTTI_TRACE=file, **settings)


def test_hosts_with_other_clocks(tmp_path):
    file = tmp_path / "trace.json"
    with Lab(hosts=3) as lab, Job(lab, [1, 2, 3, 2], program="unshare") as job:
        start_on_hosts(job, file, "known")
        job.succeed()
    trace = json.loads(file.read_text())
    assert list(tmp_path.iterdir()) == [file]
    assert trace["otherData"]["clocks"] == "compared at start and end"
    assert 0 < trace["otherData"]["clock_error_ns"] < LATE * 1e3
    check_known(trace, 4)
    assert [one["host"] for one in trace["otherData"]["of_ranks"]] == [0, 1, 2, 1]


def test_a_rank_on_another_host_waits_as_long_as_the_first_one_is_busy(tmp_path):
    file = tmp_path / "trace.json"
    with Lab(hosts=2) as lab, Job(lab, [1, 2, 1, 1], program="unshare") as job:
        start_on_hosts(job, file, "in turns", TUTTI_TRACE_PATIENCE="1.3")
        job.succeed()
    assert list(tmp_path.iterdir()) == [file]


def test_a_rank_dies_on_another_host(tmp_path):
    file = tmp_path / "trace.json"
    with Lab(hosts=2) as lab, Job(lab, [1, 2, 1], program="unshare") as job:
        start_on_hosts(job, file, "killed")
        assert [job.end(rank)[0] != 0 for rank in range(3)] == [True, True, True]
    assert [rank for _, rank in parts(file)] == [0, 1, 2]
    assert len({job for job, _ in parts(file)}) == 1
    said = run("trace", "--merge", file)
    assert "compared at the start alone" in said
    assert "rank 1 died before the end" in said
    assert list(tmp_path.iterdir()) == [file]
    trace = json.loads(file.read_text())
    assert sorted(slices(trace, group="world", number=1)) == [0, 1, 2]
