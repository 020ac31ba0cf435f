# SPDX-License-Identifier: BSD-3-Clause
"""TUTTI_TRACE in an MPI program with the drop-in: on one host, and on several."""

import json

import mpi_jobs
import mpis
import pytest


@pytest.mark.parametrize("hosts", [1, 2])
@pytest.mark.parametrize("name", mpis.ABIS)
def test_trace(tmp_path, name, hosts):
    mpi = mpis.get(name)
    program = mpi_jobs.compile_program(mpi, [mpi_jobs.HERE / "recorded/program.c"])
    file = tmp_path / "trace.json"
    environment = {"TUTTI_TRACE": str(file)}
    mpi_jobs.run(mpi, 4, [program], policy="always", environment=environment, hosts=hosts).checked()
    assert list(tmp_path.iterdir()) == [file]
    trace = json.loads(file.read_text())
    about = trace["otherData"]
    assert about["clocks"] == ("one" if hosts == 1 else "compared at start and end")
    assert [one["host"] for one in about["of_ranks"]] == [rank % hosts for rank in range(4)]
    calls = {}
    for event in trace["traceEvents"]:
        if event.get("cat") == "collective" and event["args"]["bytes"] == 1024:
            rank = event["tid"] // 64
            calls.setdefault((event["name"], event["args"]["group"], event["args"]["number"]), {})[rank] = event
    names = [name for name, _, _ in sorted(calls, key=lambda key: key[2])]
    assert names == ["allreduce"] * 5 + ["bcast"]
    assert all(sorted(ranks) == [0, 1, 2, 3] for ranks in calls.values())
    worst = max(calls.values(), key=lambda ranks: ranks[1]["args"]["late_ns"])
    assert worst[1]["args"]["late_ns"] > 190e6
    assert min(worst[rank]["dur"] for rank in (0, 2, 3)) > 190e3 - 2 * about["clock_error_ns"] / 1e3


def test_selection_by_rank_0(tmp_path):
    """For groups inside each host, and for those on several."""
    mpi = mpis.get("mpich")
    program = mpi_jobs.compile_program(mpi, [mpi_jobs.HERE / "recorded/program.c"])
    file, table = tmp_path / "trace.json", tmp_path / "table"
    table.write_text("allreduce - - reduce_bcast\n")
    settings = 'case "$PMI_RANK" in 0) export TUTTI_TABLE="$0";; 1) export TUTTI_ALGORITHMS=allreduce=ring;; esac'
    command = ["sh", "-c", settings + '; exec "$@"', table, program]
    environment = {"TUTTI_TRACE": str(file), "XDG_CACHE_HOME": str(tmp_path)}
    done = mpi_jobs.run(mpi, 4, command, policy="always", environment=environment, hosts=2)
    done.checked()
    assert done.err.count("is not used") == 1, done.err
    assert "rank 1: TUTTI_ALGORITHMS=allreduce=ring is not used" in done.err
    used = {}
    for event in json.loads(file.read_text())["traceEvents"]:
        if event.get("cat") == "collective" and event["name"] == "allreduce":
            used.setdefault(event["args"]["bytes"], []).append(event["args"]["algorithm"])
    assert used[1024] == ["reduce_bcast"] * 20
    assert used[512] == ["reduce_bcast"] * 4
