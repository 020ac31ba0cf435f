# SPDX-License-Identifier: BSD-3-Clause
"""`tutti tune` and `tutti explain`: what they say, what they write, and that jobs use it."""

import copy
import json
import os
import subprocess

import pytest

HEAD = "# tutti table 2\n# machine: "


def run(line, folder, expected=0, **environment):
    """Runs a shell line with a cache of its own, expects a status, and returns all that it printed."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("TUTTI_TABLE")}
    done = subprocess.run(
        ["bash", "-c", line],
        env={**variables, "XDG_CACHE_HOME": str(folder), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == expected, f"{line} ended with {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def explain(what, folder, **environment):
    return json.loads(run(f"tutti explain {what} --json", folder, **environment))


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    """A cache that `tutti tune` filled in a moment."""
    folder = tmp_path_factory.mktemp("cache")
    run("tutti tune allreduce bcast barrier scatterv -n 2,3 --sizes 8,4K --minutes 0.1", folder)
    return folder


def table_of(folder):
    (path,) = (folder / "tutti").glob("*.table")
    return path


def test_a_trial_keeps_nothing(tmp_path):
    """Nor does it read what the user has set for jobs: each of these would end it, or leave a record."""
    words = ("ALGORITHMS", "CACHES", "PROGRESS_THREAD", "TABLE", "TIMEOUT")
    settings = {f"TUTTI_{word}": "gossip" for word in words} | {"TUTTI_TRACE": str(tmp_path / "record")}
    printed = run("tutti tune --quick", tmp_path, **settings)
    assert "allreduce" in printed
    assert "guidelines broken" in printed
    assert "is not kept" in printed
    assert list(tmp_path.iterdir()) == []


def test_tables_are_written_and_used(tuned):
    path = table_of(tuned)
    text = path.read_text()
    assert text.startswith(HEAD)
    assert text.endswith("\n# end\n")
    assert "# waiting: 3 ranks" in text
    assert {file.name for file in path.parent.iterdir()} == {f"{path.stem}.{end}" for end in ("json", "lock", "table")}
    measured = json.loads(path.with_suffix(".json").read_text())
    assert {(point["collective"], point["ranks"], point["bytes"]) for point in measured["points"]} == {
        ("barrier", ranks, 0) for ranks in (2, 3)
    } | {(name, ranks, size) for name in ("allreduce", "bcast", "scatterv") for ranks in (2, 3) for size in (8, 4096)}
    assert str(path) in run("tutti info", tuned)
    assert f"table {path}: measured on this machine" in run("tutti run -n 3 tutti info", tuned)


def test_more_is_added_to_it(tuned):
    path = table_of(tuned)
    measured = json.loads(path.with_suffix(".json").read_text())
    before = copy.deepcopy(measured["points"])
    # As of another version, which had one algorithm more.
    measured["points"][0]["candidates"].append({"algorithm": "gossip", "ns": [1.0] * 9})
    path.with_suffix(".json").write_text(json.dumps(measured))
    printed = run("tutti tune exscan -n 2 --sizes 8 --minutes 0.05", tuned)
    assert f"{path.with_suffix('.json')} has algorithms that this version of Tutti does not have" in printed
    after = json.loads(path.with_suffix(".json").read_text())["points"]
    assert [point for point in after if point["collective"] != "exscan"] == before
    assert len(after) == len(before) + 1
    assert "\nbcast " in path.read_text()


def test_info_records_nothing(tmp_path):
    record = tmp_path / "record"
    record.write_text("mine")
    assert "table standard" in run("tutti info", tmp_path, TUTTI_TRACE=str(record))
    assert record.read_text() == "mine"


def test_explain_without_measurements(tmp_path):
    text = run("tutti explain allreduce 8K -n 4", tmp_path)
    assert text.startswith("allreduce of 8192 bytes on 4 ranks: ")
    assert "tutti tune allreduce -n 4 does" in text
    found = explain("allreduce 8K -n 4", tmp_path)
    assert found["table"] == "standard"
    assert found["measured"] is None


def test_explain_with_measurements(tuned):
    found = explain("bcast 8 -n 2", tuned)
    assert found["table"] == str(table_of(tuned))
    assert (found["measured"]["bytes"], found["measured"]["ranks"]) == (8, 2)
    candidates = found["measured"]["candidates"]
    assert len(candidates) >= 3
    assert [one["algorithm"] for one in candidates if one["chosen"]]
    assert all(one["low_ns"] <= one["median_ns"] <= one["high_ns"] for one in candidates)
    assert found["runner_up"]["algorithm"] in [one["algorithm"] for one in candidates]
    text = run("tutti explain bcast 8 -n 2", tuned)
    assert ", chosen" in text
    assert "runner-up" in text


def test_explain_says_what_goes_first(tuned, tmp_path):
    found = explain("allreduce 8 -n 2", tuned, TUTTI_ALGORITHMS="allreduce=ring")
    assert (found["table"], found["algorithm"]) == ("TUTTI_ALGORITHMS", "ring")
    assert explain("allreduce 8 -n 2", tuned, TUTTI_TABLE="standard")["table"] == "standard"
    own = tmp_path / "own"
    own.write_text("allreduce - - rabenseifner\n")
    found = explain("allreduce 8 -n 2", tuned, TUTTI_TABLE=str(own))
    assert (found["table"], found["algorithm"]) == (str(own), "rabenseifner")
    assert f"table {own}: TUTTI_TABLE names it" in run("tutti info", tuned, TUTTI_TABLE=str(own))


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("tutti explain", "COLLECTIVE"),
        ("tutti explain gossip 8", 'no collective "gossip"'),
        ("tutti explain bcast", "of how many bytes?"),
        ("tutti explain bcast 7", "multiple of 8 bytes"),
        ("tutti explain bcast -- -8", "is not a size"),
        ("tutti explain bcast 8T", "is not a size"),
        ("tutti explain bcast 99999999999999999999", "is not a size"),
        ("tutti explain bcast 8 -n 0", "1 to 4096"),
        ("tutti explain bcast 8 --ordered", "combines nothing"),
        ("TUTTI_ALGORITHMS=bcast=gossip tutti explain bcast 8", "there are linear"),
        ("TUTTI_TABLE=/no/such tutti explain bcast 8", "No such file"),
        ("TUTTI_TABLE=/no/such tutti info", "No such file"),
        ("TUTTI_TABLE=/ tutti info", "is no file"),
        ("tutti tune gossip", 'no collective "gossip"'),
        ("tutti tune bcast -n 1", "from 2 to 1024"),
        ("tutti tune bcast -n 2,x", "from 2 to 1024"),
        ("tutti tune bcast --sizes 8:", "is not a size"),
        ("tutti tune bcast --sizes 8:64:1", "FIRST:LAST"),
        ("tutti tune bcast --sizes 8,,16", "is not a size"),
        ("tutti tune bcast --minutes 0", "--minutes"),
        ("tutti run -n 2 tutti tune bcast", "starts its ranks itself"),
        ("env -u XDG_CACHE_HOME -u HOME tutti tune bcast", "set one"),
    ],
)
def test_refused(line, text, tmp_path):
    printed = run(line, tmp_path, expected=2)
    assert text in printed, printed
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text[: len(text) // 2],
        lambda text: "garbage\x00\x1b[31m",
        lambda text: text.replace("cores,", "cores of another machine,"),
        lambda text: text.replace("\nallreduce", "\ngossip"),
        lambda text: text.replace("# end", "bcast - - nothing\n# end"),
    ],
)
def test_a_damaged_table_is_ignored(damage, tuned, tmp_path):
    (tmp_path / "tutti").mkdir()
    path = tmp_path / "tutti" / table_of(tuned).name
    path.write_text(damage(table_of(tuned).read_text()))
    printed = run("tutti info", tmp_path)
    assert "table standard: this machine's own is ignored" in printed
    assert printed.count(f"{path} ") == 2  # once in the log, once among what is used
    assert "\x1b" not in printed
    assert str(path) in run("tutti run -n 3 tutti info", tmp_path)
    path.with_suffix(".json").write_text("{")
    assert "it is not used" in run("tutti explain bcast 8", tmp_path)


def test_an_unreadable_table_is_ignored(tuned, tmp_path):
    path = tmp_path / "tutti" / table_of(tuned).name
    path.mkdir(parents=True)
    assert f"{path} is no file" in run("tutti info", tmp_path)


def test_a_rank_with_another_table_is_told(tuned, tmp_path):
    own = tmp_path / "own"
    own.write_text("allreduce - - ring\n")
    line = f"tutti run -n 3 sh -c '[ $TUTTI_RANK != 1 ] || export TUTTI_TABLE={own}; exec tutti info'"
    printed = run(line, tuned)
    told = f'rank 1: the table of algorithms "{own}" is not used; rank 0\'s "{table_of(tuned)}" holds for all'
    assert printed.count("is not used") == 1
    assert told in printed
    assert f"table {table_of(tuned)}:" in printed


def test_a_rank_whose_machine_has_no_table_is_told_nothing(tuned, tmp_path):
    line = f"tutti run -n 3 sh -c '[ $TUTTI_RANK = 0 ] || export XDG_CACHE_HOME={tmp_path}; exec tutti info'"
    printed = run(line, tuned)
    assert "is not used" not in printed
    assert f"table {table_of(tuned)}:" in printed


def test_a_place_that_cannot_be_written_is_told_of_at_once(tmp_path):
    (tmp_path / "file").write_text("")
    printed = run("tutti tune barrier -n 2", tmp_path / "file", expected=1)
    assert "cannot write" in printed
    assert "rounds" not in printed
    assert "table standard" in run("tutti info", tmp_path / "file")
