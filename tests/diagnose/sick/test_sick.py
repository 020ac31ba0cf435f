# SPDX-License-Identifier: BSD-3-Clause
"""Twelve sick programs: `tutti why` names rank, call and reason in each, on one host, over hosts and under an MPI's
launcher, and the job goes on afterwards as if nobody had asked."""

import dataclasses
import pathlib
import re
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "lab"), str(HERE.parents[1] / "mpi")]

import mpis  # noqa: E402
import patients  # noqa: E402 - found above
from lab import Lab  # noqa: E402

SECONDS = 20  # an answer takes less than two where nobody else uses the machine

FIRST, SECOND, GET = (rf"{name}[^\n;]*?\+0x[0-9a-f]+" for name in ("first_step", "second_step", "get"))
AGE = r"\(\d+\.\d s\)"
# Over hosts a rank may wait for one that waits itself: JSON has them all.
WAIT = rf"(rank|ranks) [0-3, -]+ waits? for it {AGE} at [^\n;]*{SECOND}(, (rank|ranks) [0-3, -]+ behind (it|them))?\."
LATE = rf"{{rank}} has not called allreduce #\d+ of group \S+; {WAIT} "
LAST = rf" Its last call there was bcast #\d+ at [^\n;]*{FIRST}\."
SLEEPS = r"It sleeps outside Tutti: in clock_nanosleep, for time to pass\."
READS = r"It sleeps outside Tutti: in read of {file} \(descriptor \d+\)\."
RUNS = r"It runs outside Tutti: in the program's own code\."
NOT_YET = rf"and has not called allreduce #2 of group world; {WAIT}"
STOPPED = rf"is stopped \(kill -CONT lets it go on\), {NOT_YET}"
SILENT = rf"is silent \(stopped, which kill -CONT ends, or its host has no time for it\), {NOT_YET}"
BOTH = (
    r"{rank} called %s at [^\n;]*%s, ranks 0, 1, 3 called %s at [^\n;]*%s: mismatch at #\d+ of group \S+, in the %s\."
)


@dataclasses.dataclass(frozen=True)
class Case:
    """What is said of it: an expression, in which {rank} is rank 2 with its process."""

    kind: str
    says: str
    blames: tuple = (patients.SICK,)
    waiting: tuple = (0, 1, 3)
    function: str = "second_step"  # that somebody waits in, or has called
    sums: bool = True  # the ranks have the right sum in the end
    ends: bool = True
    asked: int = 1  # so often it is said


CASES = {
    "mismatch": Case(
        "mismatch",
        BOTH
        % (r"bcast\(3 x float64, root 0[^)]*\)", FIRST, r"allreduce\(3 x float64, sum[^)]*\)", SECOND, "collective"),
        waiting=(),
        sums=False,
    ),
    "missing": Case("missing", LATE + r"It sleeps outside Tutti: in pause, for a signal\." + LAST, ends=False),
    "late": Case("missing", LATE + SLEEPS + LAST),
    "dead": Case(
        "dead",
        r"rank 2( \(on h\d\))? is dead; nobody waits for it yet\. Its last call was bcast #1 of group world\.",
        waiting=(),
        sums=False,
    ),
    "stopped": Case("stopped", "{rank} " + STOPPED + LAST),
    "groups": Case(
        "deadlock",
        rf"deadlock: {{rank}} waits for rank 3 in allreduce #0 of group [^\n;]*{SECOND}; "
        rf"rank 3 \([^)]*\) waits for rank 2 in allreduce #0 of group [^\n;]*{SECOND}; behind them: ranks 0, 1\.",
        blames=(2, 3),
        waiting=(0, 1),
        ends=False,
    ),
    "recv": Case(
        "message",
        rf"rank 1 \([^)]*\) has not sent a message with tag 7 in group world to rank 2, which waits in recv {AGE} "
        rf"at [^\n;]*{GET}\. Behind it waits? ranks? [03, ]+\. " + SLEEPS,
        blames=(1,),
        waiting=(2, 0, 3),
        function="get",
    ),
    "io": Case("missing", LATE + READS + LAST),
    "root": Case(
        "mismatch",
        BOTH % (r"bcast\(3 x float64, root 1[^)]*\)", FIRST, r"bcast\(3 x float64, root 0[^)]*\)", FIRST, "root"),
        waiting=(),
        function="first_step",
        sums=False,
    ),
    "count": Case(
        "mismatch",
        BOTH % (r"allreduce\(4 x float64[^)]*\)", SECOND, r"allreduce\(3 x float64[^)]*\)", SECOND, "count"),
        waiting=(),
        sums=False,
    ),
    "loop": Case("missing", LATE + RUNS + LAST),
}


DIFFERENCES = {"mismatch": ["collective"], "root": ["root"], "count": ["count"]}

# Of a rank that was alone on its host, and answers no more, only that host's kernel tells. Others of such ranks may
# have gone on by the time that a mismatch is found, and are in another call.
OF_ALONE = {
    "dead": Case(
        "ended", r"rank 2 \(on 10\.77\.0\.3\) is not there any more; nobody waits for it yet\.", waiting=(), sums=False
    ),
    "stopped": Case("silent", r"rank 2 \(on 10\.77\.0\.3\) " + SILENT),
    "root": Case(
        "mismatch",
        rf"{{rank}} called bcast\(3 x float64, root 1[^)]*\) at [^\n;]*{FIRST}, rank 3 \([^)]*\) called "
        rf"bcast\(3 x float64, root 0[^)]*\) at [^\n;]*{FIRST}: mismatch at #2 of group world, in the root\.",
        waiting=(),
        function="first_step",
        ends=False,
    ),
    "recv": dataclasses.replace(CASES["recv"], waiting=(2, 3)),
}


def check(patient, case, host=""):
    """What it is said to suffer from, and that it gets well. `host`: of rank 2, as it is named."""
    host = host and f" on {host}"
    words = {"{rank}": rf"rank 2 \(pid {patient.pids()[patients.SICK]}{host}\)", "{file}": re.escape(str(patient.file))}
    expression = case.says
    for name, word in words.items():
        expression = expression.replace(name, word)
    answer = [patient.says(expression, case.waiting) for _ in range(case.asked)][-1]
    print(f"{patient.case}: answered in {answer.seconds:.2f} s")
    assert answer.seconds < SECONDS
    assert answer.finding["kind"] == case.kind
    assert sorted(answer.finding["ranks"]) == sorted(case.blames)
    sites = [
        call["site"] for rank in answer.json["ranks"] for call in (*rank["waits"], rank["last"], rank["mpi"]) if call
    ]
    assert any(case.function in site for site in sites), answer.json["ranks"]
    patient.get_well()
    if case.ends:
        assert set(patient.end()) == {0}, patient.printed()
        assert patient.printed().count(": total 10\n") == (patients.RANKS if case.sums else 0), patient.printed()
        assert "nothing was found" not in patient.printed()
    return answer


def ended(all_jobs):
    for job in all_jobs.values():
        job.close()


@pytest.fixture(scope="module", name="here")
def start_here(tmp_path_factory):
    folder = tmp_path_factory.mktemp("here")
    all_jobs = {case: patients.OnThisHost(folder / case, case) for case in CASES}
    yield all_jobs
    ended(all_jobs)


@pytest.mark.parametrize("case", CASES)
def test_on_one_host(here, case):
    check(here[case], CASES[case])


PLACES = {"two on each host": [1, 1, 2, 2], "alone": [1, 2, 3, 4]}


@pytest.fixture(scope="module", name="there")
def start_there(tmp_path_factory):
    with Lab(hosts=4) as lab:
        folder = tmp_path_factory.mktemp("there")
        names = [(how, case) for how in PLACES for case in CASES]
        all_jobs = {
            (how, case): patients.OverHosts(folder / how.replace(" ", "-") / case, case, lab, PLACES[how], 29500 + port)
            for port, (how, case) in enumerate(names)
        }
        yield all_jobs
        ended(all_jobs)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("how", PLACES)
def test_over_hosts(there, how, case):
    wanted = OF_ALONE.get(case, CASES[case]) if how == "alone" else CASES[case]
    answer = check(there[how, case], wanted, f"h{PLACES[how][patients.SICK]}")
    assert f"4 ranks on {len(set(PLACES[how]))} hosts" in answer.text


OF_MPI = {
    "late": Case("missing", LATE + SLEEPS + LAST),
    "io": Case("missing", LATE + READS + LAST),
    "loop": Case("missing", LATE + RUNS + LAST),
    "root": Case(
        "mismatch",
        BOTH % (r"bcast\(24 x opaque, root 1[^)]*\)", FIRST, r"bcast\(24 x opaque, root 0[^)]*\)", FIRST, "root"),
        waiting=(),
        function="first_step",
        sums=False,
    ),
    "mpi_recv": Case(
        "missing", LATE + rf"It is in MPI_Recv \(peer 1, tag 9\) at [^\n;]*{GET}\." + LAST, waiting=(0, 3)
    ),
    # Not sick: who is in a call in both looks has gone through many.
    "healthy": Case("moving", r"the job goes on: ", blames=(), waiting=(), function="", asked=5),
}


# Between hosts the MPI carries Tutti's messages: what is told is who is in which of its functions.
OTHERS = rf"ranks 0, 1, 3 wait in MPI_Allreduce at [^\n;]*{SECOND}; {{rank}} is in no call of the MPI\. "
OF_MPI_OVER_HOSTS = {
    "late": Case("mpi", OTHERS + SLEEPS),
    "io": Case("mpi", OTHERS + READS),
    "loop": Case("mpi", OTHERS + RUNS),
    "mpi_recv": Case(
        "mpi",
        rf"ranks 0, 3 wait in MPI_Allreduce at [^\n;]*{SECOND}; {{rank}} waits in MPI_Recv \(peer 1, tag 9\) "
        rf"at [^\n;]*{GET}; rank 1 \([^)]*\) is in no call of the MPI\. " + SLEEPS,
        blames=(1,),
        waiting=(0, 2, 3),
        function="get",
    ),
    "pairs": Case(
        "missing",
        rf"{{rank}} has not called allreduce #\d+ of group [^\n;]*; rank 0 waits for it {AGE} at [^\n;]*{SECOND}\. "
        + SLEEPS,
        waiting=(0,),
    ),
}


OF_MPI_ALONE = {"pairs": Case("mpi", OTHERS + SLEEPS)}


def started(factory, name, cases, hosts):
    folder = factory.mktemp(f"{name}-{hosts}-")
    return {case: patients.UnderMpi(folder / case, case, mpis.get(name), hosts) for case in cases}


@pytest.fixture(scope="module", name="under", params=["openmpi", "mpich"])
def start_under_mpi(request, tmp_path_factory):
    all_jobs = started(tmp_path_factory, request.param, OF_MPI, 1)
    yield all_jobs
    ended(all_jobs)


@pytest.mark.parametrize("case", OF_MPI)
def test_mpi_programs(under, case):
    check(under[case], OF_MPI[case])


@pytest.fixture(scope="module", name="far", params=[("openmpi", 2), ("mpich", 4)], ids=["openmpi 2", "mpich 4"])
def start_under_mpi_over_hosts(request, tmp_path_factory):
    name, hosts = request.param
    all_jobs = started(tmp_path_factory, name, OF_MPI_OVER_HOSTS, hosts)
    yield hosts, all_jobs
    ended(all_jobs)


@pytest.mark.parametrize("case", OF_MPI_OVER_HOSTS)
def test_mpi_programs_over_hosts(far, case):
    hosts, all_jobs = far
    wanted = OF_MPI_OVER_HOSTS | (OF_MPI_ALONE if hosts == patients.RANKS else {})
    answer = check(all_jobs[case], wanted[case], str(patients.SICK % hosts))
    assert f"4 ranks on {hosts} hosts" in answer.text


@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_mpi_programs_over_a_network(tmp_path, name):
    """Started by the MPI's launcher, on hosts that are none of TUTTI_HOST's making."""
    with Lab(hosts=2) as lab:
        job = patients.UnderMpiOverHosts(tmp_path / "job", "mpi_recv", mpis.get(name), lab)
        answer = check(job, OF_MPI_OVER_HOSTS["mpi_recv"], "h2")
        assert "4 ranks on 2 hosts" in answer.text
