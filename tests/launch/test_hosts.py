# SPDX-License-Identifier: BSD-3-Clause
"""Jobs over several hosts, started by hand: they find each other, share what is shared, and nothing hangs."""

import re
import secrets
import signal
import time

import pytest
from hosts import BUILD, PATIENCE, PORT, PROBE, Job
from lab import Lab, address, address6

WELL = ("join", "hosts", "neighbors", "leave")


@pytest.fixture(scope="module")
def lab():
    with Lab(hosts=4) as made:
        yield made


def numbers(places):
    """Hosts as Tutti numbers them: in the order of their lowest ranks."""
    known = {}
    return [known.setdefault(place, len(known)) for place in places]


def check(places, printed):
    jobs = {re.search(r"job (\w+)", out)[1] for out in printed}
    assert len(jobs) == 1
    for rank, out in enumerate(printed):
        here = [other for other, place in enumerate(places) if place == places[rank]]
        hosts = " ".join(map(str, numbers(places)))
        assert f"rank {rank}: job {jobs.copy().pop()}, hosts {hosts}, segment of {len(here)}\n" in out
        assert f"rank {rank} reads {' '.join(str(1000 + other) for other in here)}\n" in out


@pytest.mark.parametrize("places", [[1], [1, 1, 1], [1, 2], [3, 1, 3, 2, 1], [4, 4, 2, 2, 2, 4, 3]], ids=str)
def test_ranks_meet(lab, places):
    with Job(lab, places) as job:
        check(places, job.start_all(*WELL).succeed())


@pytest.mark.parametrize("store", [f"tcp:[{address6(2)}]:{PORT}", f"tcp:h2:{PORT}"])
def test_the_store_has_other_addresses(lab, store):
    with Job(lab, [2, 1, 2], store) as job:
        check([2, 1, 2], job.start_all(*WELL).succeed())


def test_every_rank_may_open_a_file_for_each_other(lab):
    with Job(lab, [1, 2], program="/bin/sh") as job:
        printed = job.start_all("-c", f"ulimit -Sn 200; exec {PROBE} join files leave").succeed()
        assert all(int(out.split()[0]) >= 2 * 3 + 200 for out in printed), printed


def test_one_host_without_a_network(lab):
    with Job(lab, [1, 1], f"tcp:localhost:{PORT}") as job:
        check([1, 1], job.start_all(*WELL).succeed())


@pytest.fixture
def unchecked_address(lab):
    """On host 1, whose system lists it, but lets nobody use it: its wire is not plugged in."""
    for words in ("link add t0 type veth peer name t1", "link set t0 up", "addr add fd99::1/64 dev t0"):
        assert lab.call(1, ["ip", *words.split()]).returncode == 0
    yield
    assert lab.call(1, ["ip", "link", "del", "t0"]).returncode == 0


@pytest.mark.usefixtures("unchecked_address")
def test_an_address_that_cannot_be_used_is_passed_over(lab):
    with Job(lab, [1, 2], program=str(BUILD / "bin/tutti")) as job:
        job.start_all("info").succeed()


def test_one_cable_with_link_local_addresses():
    """Those serve, but not those of bridges: none of these is said to lead to another host."""
    with Lab(hosts=2) as lab, Job(lab, [1, 2], f"tcp:169.254.7.1:{PORT}", program=str(BUILD / "bin/tutti")) as job:

        def change_all(*commands):
            for host in lab.hosts:
                for words in commands:
                    assert lab.call(host, ["ip", *words.format(host=host).split()]).returncode == 0

        change_all("addr flush dev eth0", "addr add 169.254.7.{host}/16 dev eth0")
        assert "169.254.7.1" in job.start_all("info").succeed()[0]
        change_all("link set eth0 down", "link set eth0 name docker0", "link set docker0 up")
        job.start_all("info")
        for rank in (0, 1):
            status, _, err = job.end(rank)
            assert status != 0
            assert f"docker0 169.254.7.{rank + 1}" in err
            assert "TUTTI_NETWORK" in err


@pytest.mark.parametrize("places", [[1, 2], [2, 1, 3, 3, 1]], ids=str)
def test_a_job_knows_how_fast_its_links_are(places):
    """A machine that does other things makes them look slower; nothing makes them look so much faster."""
    with Lab(hosts=3, rate="20mbit") as slow, Job(slow, places, program=str(BUILD / "bin/tutti")) as job:
        said = job.start_all("info").succeed()[0]
    rate = float(re.search(r"links between hosts carry (\S+) Mbit/s", said)[1])
    assert 0.5 < rate < 200, said
    assert "bytes when their receivers ask" in said, said


def test_each_host_is_told_once_what_is_not_used(lab):
    with Job(lab, [1, 2, 2, 3, 3], program=str(BUILD / "bin/tutti")) as job:
        job.start(0, "info")
        for rank, algorithm in enumerate(["ring", "ring", "ring", "rabenseifner"], 1):
            job.start(rank, "info", TUTTI_ALGORITHMS=f"allreduce={algorithm}")
        told = "".join(job.end(rank)[2] for rank in range(5))
    assert re.findall(r"rank (\d): TUTTI_ALGORITHMS=allreduce=(\w+) is not used", told) == [
        ("1", "ring"),
        ("3", "ring"),
        ("4", "rabenseifner"),
    ], told


def test_hosts_that_cannot_reach_each_other_are_told_where():
    """A firewall that lets through the store alone."""
    with Lab(hosts=2) as walled, Job(walled, [1, 2], program=str(BUILD / "bin/tutti")) as job:
        for host in walled.hosts:
            walled.firewall(host, f"tcp dport != {PORT} tcp flags & (syn | ack) == syn reject with tcp reset")
        job.start_all("info")
        said = " ".join(job.end(rank)[2] for rank in (0, 1))
        assert re.search(r"could not be reached at tcp:10\.77\.0\.\d:\d+ \(Connection refused\)", said), said
        assert "TUTTI_NETWORK" in said


def test_names_take_ranks_apart(lab):
    with Job(lab, [1, 1, 1, 2]) as job:
        for rank, name in enumerate(["a", "b", "a", "a"]):
            job.start(rank, *WELL, TUTTI_HOST=name)
        check(["a", "b", "a", "elsewhere"], job.succeed())


def test_the_secret_may_lie_in_a_file(lab, tmp_path):
    file = tmp_path / "secret"
    file.write_text(secrets.token_hex(16) + "\n")
    with Job(lab, [1, 2]) as job:
        for rank in (0, 1):
            job.start(rank, *WELL, TUTTI_SECRET=None, TUTTI_SECRET_FILE=file)
        check([1, 2], job.succeed())


def test_rank_0_may_come_last_and_go_first(lab):
    with Job(lab, [1, 2, 3]) as job:
        for rank in (2, 1):
            job.start(rank, "join", "sleep=1", "get=late", "leave")
        time.sleep(1)
        job.start(0, "join", "put=late:hello", "leave")
        assert job.succeed() == ["", "hello\n", "hello\n"]


def test_two_jobs_at_once(lab):
    """On the same hosts; the second finds the port in use, and another one free."""
    places = [1, 2, 1, 2]
    with Job(lab, places) as one, Job(lab, places, f"tcp:{address(1)}:{PORT + 1}") as two:
        for job in (one, two):
            job.start_all(*WELL, "sleep=0.5")
        printed = [job.succeed() for job in (one, two)]
        for out in printed:
            check(places, out)
        assert printed[0] != printed[1]


def test_a_port_in_use_is_named(lab):
    with Job(lab, [1, 1]) as one, Job(lab, [1]) as two:
        one.start(0, "join")
        time.sleep(0.5)
        two.start(0, "join")
        assert "another program listens there" in two.fail(0)


def test_one_job_follows_another(lab):
    """At the same port, at once, also where rank 0 was the first to hang up: the system remembers that for a while."""
    with Job(lab, [1, 2]) as killed:
        killed.start_all("join", "meet=all", "0/kill=9", "get=never")
        assert "rank 0" in killed.fail(1)
    for _ in range(3):
        with Job(lab, [1, 2]) as job:
            job.start_all("join", "leave").succeed()
    with Job(lab, [1, 2, 3]) as job, Job(lab, [1, 2, 3], secret=job.secret) as second:
        for rank, time_left in enumerate([0, 0, 1]):
            job.start(rank, "join", f"sleep={time_left}", "leave")
        assert job.end(1)[0] == 0
        second.start(1, *WELL)  # while the first job's rank 0 still waits for its rank 2
        job.succeed()
        for rank in (0, 2):
            second.start(rank, *WELL)
        check(second.places, second.succeed())


def test_another_secret(lab):
    with Job(lab, [1, 2]) as job:
        job.start(0, "join", "leave")
        job.start(1, "join", TUTTI_SECRET=secrets.token_hex(16))
        assert "does not know this job's secret" in job.fail(1)
        job.start(1, "join", "leave")
        job.succeed()


def test_what_does_not_fit_is_named(lab):
    with Job(lab, [1, 2, 2]) as job:
        job.start(0, "join", "leave")
        job.start(1, "join", TUTTI_SIZE=4)
        assert "TUTTI_SIZE is 4, but the job has 3 ranks" in job.fail(1)
        job.start(1, "join", TUTTI_RANK=3)
        assert 'TUTTI_RANK is "3"; it must be a whole number from 0 to 2' in job.fail(1)
        job.start(1, "join", "leave")
        time.sleep(0.5)
        job.start(2, "join", TUTTI_RANK=1)
        assert "rank 1 is taken by a process that is still there" in job.fail(2)
        job.start(2, "join", "leave")
        job.succeed()


@pytest.mark.parametrize("missing", ["TUTTI_RANK", "TUTTI_SIZE", "TUTTI_STORE", "TUTTI_SECRET"])
def test_half_an_environment(lab, missing):
    told = {"TUTTI_RANK": 0, "TUTTI_SIZE": 1, "TUTTI_STORE": f"tcp:h1:{PORT}", "TUTTI_SECRET": secrets.token_hex(16)}
    words = [f"{name}={value}" for name, value in told.items() if name != missing]
    done = lab.call(1, ["env", *words, PROBE, "join"])
    assert done.returncode == 5
    assert missing in done.stderr


def test_nobody_there_ends(lab):
    """A store that cannot be reached, whose host is silent, or that cannot even be called, which is said."""
    with (
        Job(lab, [1, 2], f"tcp:{address(3)}:{PORT}") as unreachable,
        Job(lab, [1, 2], f"tcp:10.77.9.9:{PORT}") as silent,
        Job(lab, [1, 3], f"tcp:nowhere.invalid:{PORT}") as unknown,
        Job(lab, [1, 3], f"tcp:192.0.2.1:{PORT}") as elsewhere,
    ):
        jobs = (unreachable, silent, unknown, elsewhere)
        for job in jobs:
            job.start(1, "patience=1", "join")
        said = {job: job.fail(1) for job in jobs}
        assert f"rank 0, which serves the job's store at tcp:{address(3)}:{PORT}, did not answer" in said[unreachable]
        assert all("did not answer in the time given" in said[job] for job in jobs)
        assert "(the name nowhere.invalid is not known here: " in said[unknown]
        assert f"(tcp:192.0.2.1:{PORT} cannot be called: Network is unreachable)" in said[elsewhere]


def until_they_wait(job, ranks):
    """The ranks have joined, as far as can be seen: they wait for the others."""
    time.sleep(1)
    for rank in ranks:
        assert job.running[rank].poll() is None


def test_who_waits_says_for_whom(lab):
    """That harms no job in which all have come, and one of a host is slow to share its memory."""
    with Job(lab, [1, 2, 3, 1]) as job, Job(lab, [2, 2, 3], f"tcp:{address(2)}:{PORT}") as slow:
        job.start(0, "patience=6", "join")
        job.start(1, "join")
        for rank in (0, 1):
            slow.start(rank, *WELL)
        until_they_wait(slow, (0, 1))
        slow.signal(1, signal.SIGSTOP)
        slow.start(2, *WELL)
        waiting = job.fail(0)
        assert "rank 0 waits for ranks 2, 3 to join" in waiting
        assert "ranks 2, 3 did not answer in the time given" in waiting
        assert "rank 0 has ended, or has given up waiting" in job.fail(1)
        slow.signal(1, signal.SIGCONT)
        check(slow.places, slow.succeed())


@pytest.mark.parametrize("victim", [0, 1, 3])
def test_death_while_joining_ends_the_wait_of_all(lab, victim):
    places = [1, 2, 3, 2, 4]
    with Job(lab, places) as job:
        for rank in range(4):
            job.start(rank, "join")
        until_they_wait(job, range(4))
        lab.signal(places[victim], signal.SIGKILL)
        dead = {rank for rank in range(4) if places[rank] == places[victim]}
        start = time.monotonic()
        for rank in set(range(4)) - dead:
            complaint = job.fail(rank)
            assert "ended while it joined" in complaint or "rank 0" in complaint
        assert time.monotonic() - start < PATIENCE / 2
        for rank in dead:
            assert job.end(rank)[0] != 0


def test_a_host_that_is_cut_off_while_joining_ends_the_wait_of_all():
    """Half a minute of silence does, on both sides of the cut. One job loses its store so, the other a rank."""
    with (
        Lab(hosts=4) as lab,
        Job(lab, [1, 2, 3, 2, 4]) as storeless,
        Job(lab, [4, 2, 1, 3, 2], f"tcp:{address(4)}:{PORT + 1}") as other,
    ):
        for job in (storeless, other):
            for rank in range(4):
                job.start(rank, "join")
        until_they_wait(storeless, range(4))
        until_they_wait(other, range(4))
        lab.plug(1, "down")
        assert "ended while it joined" in storeless.fail(0)
        for rank in (1, 2, 3):
            assert "rank 0, which serves the job's store" in storeless.fail(rank)
        assert "rank 0, which serves the job's store" in other.fail(2)
        for rank in (0, 1, 3):
            assert "rank 2 (process " in (complaint := other.fail(rank)), complaint


def test_death_of_members_is_told(lab):
    places = [1, 2, 3]
    with Job(lab, places) as job:
        for rank in range(3):
            job.start(rank, "join", "meet=all", "get=never")
        time.sleep(1)
        lab.signal(3, signal.SIGKILL)
        for rank in (0, 1):
            assert '"never" will not come: rank 2 (process ' in job.fail(rank)
        job.end(2)


def test_death_of_rank_0_is_told(lab):
    with Job(lab, [1, 2, 2]) as job:
        job.start_all("join", "meet=all", "get=never")
        time.sleep(1)
        lab.signal(1, signal.SIGKILL)
        for rank in (1, 2):
            assert "rank 0, which serves the job's store" in job.fail(rank)
        job.end(0)


def test_a_child_does_not_disturb(lab):
    """It has the memory of its parent, but not its place."""
    with Job(lab, [1, 2, 2]) as job:
        job.start_all("join", "fork=0", "meet=all", "leave").succeed()


@pytest.mark.parametrize("victim", [0, 2])
def test_a_child_does_not_hide_a_death(lab, victim):
    places = [1, 1, 2]
    with Job(lab, places) as job:
        for rank in range(3):
            job.start(rank, "join", f"{victim}/fork=300", "meet=all", f"{victim}/kill=9", "get=never")
        for rank in {0, 1, 2} - {victim}:
            told = "rank 0, which serves the job's store" if victim == 0 else "rank 2 (process "
            assert told in job.fail(rank)


def test_a_death_is_told_to_whoever_asks_after_rank_0_has_ended(lab):
    with Job(lab, [1, 2, 2]) as job:
        job.start(0, "join", "meet=all", "get=never")
        job.start(1, "join", "meet=all", "sleep=2", "get=never")
        job.start(2, "join", "meet=all", "sleep=0.5", "kill=9")
        assert '"never" will not come: rank 2 (process ' in job.fail(0)
        assert "rank 2 (process " in job.fail(1)


def test_strangers_disturb_nobody(lab):
    shout = """
        import os, random, socket, sys
        seed = random.randrange(2**32); print(seed, flush=True); random.seed(seed)
        held = []
        for i in range(2000):
            try: caller = socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=5)
            except OSError: continue
            start = random.choice([b"", b"TUTTISTO", b"GET / HTTP/1.1"])
            try: caller.send(start + random.randbytes(random.randrange(300)))
            except OSError: pass
            if len(held) < 200: held.append(caller)
    """
    with Job(lab, [1, 2, 3]) as job:
        job.start(0, *WELL)
        job.start(1, *WELL)
        time.sleep(0.5)
        lines = [line.removeprefix(" " * 8) for line in shout.splitlines()]
        done = lab.call(4, ["python3", "-c", "\n".join(lines), address(1), PORT])
        assert done.returncode == 0, done.stderr
        job.start(2, *WELL)
        check([1, 2, 3], job.succeed())


def test_64_processes_on_16_hosts():
    """From the first process's main to the last join, in well under a second on an idle machine."""
    places = [1 + rank % 16 for rank in range(64)]
    with Lab(hosts=16) as lab, Job(lab, places) as job:
        # They are all there before the first begins, so that not their starts are measured.
        begin = time.monotonic() + 3
        printed = job.start_all(f"until={begin}", "time=begin", "join", "time=joined", "hosts", "leave").succeed()
    times = [[float(re.search(rf"{what} (\S+)", out)[1]) for out in printed] for what in ("begin", "joined")]
    took = max(times[1]) - min(times[0])
    print(f"64 processes on 16 hosts joined in {took:.3f} s")
    assert took < 10
    assert all(f"hosts {' '.join(map(str, numbers(places)))}, segment of 4\n" in out for out in printed)
