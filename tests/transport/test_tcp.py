# SPDX-License-Identifier: BSD-3-Clause
"""tcp between the hosts of a lab: who is gone is found in time, and who only keeps silent is not."""

import contextlib
import os
import pathlib
import queue
import random
import signal
import subprocess
import threading
import time

import pytest
from lab import Lab, address, address6

PROGRAM = pathlib.Path(os.environ["TUTTI_BUILD"]) / "bin/tcp_program"
PATIENCE = 60
# Within these a death is found. The transport promises 1 s, and 3 s where packets get lost; the rest is this machine's.
SOON, LATE = 3, 6
RATE, LARGE = "100mbit", 100_000_000  # a transfer that takes 8 seconds
PORT = 7000


class Rank:
    """tests/transport/tcp_program.cpp on a host."""

    def __init__(self, lab, host, listen, rank, everybody):
        self.running = lab.popen(
            host,
            [PROGRAM, str(rank), listen, *everybody],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.lines = queue.Queue()
        self.said = []
        self.hears = threading.Thread(target=self.listen, daemon=True)
        self.hears.start()
        self.expect("listening")

    def listen(self):
        for line in self.running.stdout:
            self.lines.put(line.split())
        self.lines.put(["ended"])

    def tell(self, *words):
        self.running.stdin.write(" ".join(map(str, words)) + "\n")
        self.running.stdin.flush()

    def expect(self, *words, within=PATIENCE):
        """The rest of the next line that begins so."""
        begin = [str(word) for word in words]
        end = time.monotonic() + within
        while True:
            for line in self.said:
                if line[: len(begin)] == begin:
                    self.said.remove(line)
                    return line[len(begin) :]
            try:
                self.said.append(self.lines.get(timeout=max(0, end - time.monotonic())))
            except queue.Empty:
                raise AssertionError(f"no {begin} within {within} s, but {self.said}") from None
            assert self.said[-1] != ["ended"], f"ended without {begin}: {self.said}"

    def suspects(self):
        """{rank: seconds}"""
        self.tell("suspects")
        return {int(rank): float(seconds) for rank, seconds in (one.split(":") for one in self.expect("suspects"))}

    def end(self):
        self.tell("end")
        assert self.running.wait(timeout=PATIENCE) == 0


def own(host):
    return f"tcp:{address(host)}:{PORT}"


@contextlib.contextmanager
def ranks(hosts, **network):
    """A lab, and a rank on each of its hosts."""
    with Lab(hosts=hosts, **network) as lab:
        everybody = [own(host) for host in lab.hosts]
        yield lab, [Rank(lab, host, own(host), host - 1, everybody) for host in lab.hosts]


def send(one, other, to, message, size):
    """From one rank to another, whose rank is `to`."""
    one.tell("send", to, message, size)
    other.tell("recv", 1 - to, message, size)


def expect_right(one, other, message):
    assert one.expect("send", message)[0] == "done"
    assert other.expect("recv", message)[0] == "done"


def connect(one, other):
    send(one, other, 1, 1, 1000)
    expect_right(one, other, 1)


def begin_large(one, other):
    """Both ways, so that both are in the middle of it."""
    send(one, other, 1, 2, LARGE)
    send(other, one, 0, 3, LARGE)
    time.sleep(1)


@pytest.mark.parametrize("network", [{}, {"loss": 1}], ids=["no loss", "1 % loss"])
@pytest.mark.parametrize("busy", [False, True], ids=["idle", "mid-transfer"])
def test_a_host_without_its_wire_is_lost_to_both_sides(busy, network):
    with ranks(2, rate=RATE, **network) as (lab, (one, other)):
        connect(one, other)
        # A receive is pending on each side; nothing is sent for it.
        one.tell("recv", 1, 5, 8)
        other.tell("recv", 0, 5, 8)
        if busy:
            begin_large(one, other)
        lab.plug(2, "down")
        for side in (one, other):
            assert side.expect("recv", 5, within=LATE if network else SOON)[0] == "lost"


def test_a_killed_process_is_lost():
    with ranks(3, rate=RATE) as (lab, (one, other, third)):
        connect(one, other)
        for side in (one, third):
            side.tell("recv", 1, 5, 8)
        third.tell("call", 1)
        third.tell("connected", 1)
        third.expect("connected", 1)
        begin_large(one, other)
        lab.signal(2, signal.SIGKILL)
        assert one.expect("recv", 5, within=SOON)[0] == "lost"
        assert one.expect("send", 2, within=SOON)[0] == "lost"
        assert third.expect("recv", 5, within=SOON)[0] == "lost"
        # The others go on.
        one.tell("send", 2, 9, 100_000)
        third.tell("recv", 0, 9, 100_000)
        assert third.expect("recv", 9)[0] == "done"


def test_a_killed_process_is_lost_that_nobody_was_connected_with():
    """Who sends calls. It died before it did."""
    with ranks(3) as (lab, (one, other, third)):
        one.tell("recv", 1, 5, 8)
        lab.signal(2, signal.SIGKILL)
        assert one.expect("recv", 5, within=SOON)[0] == "lost"
        third.tell("recv", 1, 5, 8)
        assert third.expect("recv", 5, within=SOON)[0] == "lost"
        assert other.running.wait(timeout=PATIENCE) != 0


def test_a_stopped_process_is_not_lost_that_nobody_was_connected_with():
    with ranks(2) as (lab, (one, other)):
        lab.freeze(2)
        one.tell("recv", 1, 5, 8)
        time.sleep(12)  # longer than a call may take
        lab.thaw(2)
        other.tell("send", 0, 5, 8)
        expect_right(other, one, 5)


def test_a_host_that_is_cut_off_while_it_is_called_is_called_again():
    """Its system has let the caller in, and hears no word of it for longer than a word may be on its way."""
    with ranks(2) as (lab, (one, other)):
        lab.firewall(2, f"tcp dport {PORT} ip length > 80 drop")
        one.tell("recv", 1, 5, 8)
        time.sleep(4)
        lab.firewall(2)
        other.tell("recv", 0, 6, 8)  # does not call: it was called
        one.tell("send", 1, 6, 8)
        expect_right(one, other, 6)


@pytest.mark.parametrize("size", [100, 20_000_000], ids=["idle", "mid-transfer"])
def test_a_stopped_process_is_suspected_and_goes_on(size):
    with ranks(2, rate=RATE) as (lab, (one, other)):
        connect(one, other)
        other.tell("recv", 0, 2, size)
        if size > 1000:
            one.tell("send", 1, 2, size)
            time.sleep(0.5)
        lab.freeze(2)
        time.sleep(5)  # its kernel answers, and its buffers are full
        suspects = one.suspects()
        assert list(suspects) == [1], suspects
        assert suspects[1] > 2
        if size <= 1000:
            one.tell("send", 1, 2, size)
        lab.thaw(2)
        expect_right(one, other, 2)
        time.sleep(0.5)
        assert one.suspects() == {}
        one.end()
        other.end()


def test_a_stopped_process_whose_host_goes_is_lost():
    with ranks(2, rate=RATE) as (lab, (one, other)):
        connect(one, other)
        send(one, other, 1, 2, LARGE)
        time.sleep(1)
        lab.freeze(2)
        time.sleep(4)
        lab.plug(2, "down")
        assert one.expect("send", 2, within=LATE)[0] == "lost"
        # Who was given up in the middle of a message, and is within reach again, does not take it for a death.
        lab.plug(2, "up")
        lab.thaw(2)
        assert other.expect("recv", 2)[0] == "lost"
        other.tell("fate", 0)
        assert other.expect("fate", 0) == ["silent"]


def test_a_process_that_computes_is_not_lost():
    with ranks(2) as (_, (one, other)):
        connect(one, other)
        other.tell("compute", 4)
        send(one, other, 1, 2, 1_000_000)
        one.tell("recv", 1, 3, 10)
        other.expect("computed")
        other.tell("send", 0, 3, 10)
        expect_right(one, other, 2)
        expect_right(other, one, 3)


@pytest.mark.parametrize("loss", [1, 5])
def test_lost_packets_are_no_death(loss):
    seed = random.randrange(1 << 32)
    print("seed", seed)
    random.seed(seed)
    waiting = []
    with ranks(2, loss=loss) as (_, (one, other)):
        for message in range(40):
            to = random.randrange(2)
            pair = (one, other) if to == 1 else (other, one)
            send(*pair, to, message, random.choice([0, 1, 5000, 100_000, 500_000]))
            if random.random() < 0.1:
                expect_right(*pair, message)
                time.sleep(1)  # only beats
            else:
                waiting.append((pair, message))
        for pair, message in waiting:
            expect_right(*pair, message)
        one.end()
        other.end()


def expect_connected(*sides):
    for side, peer in sides:
        side.tell("connected", peer)
    for side, peer in sides:
        side.expect("connected", peer, within=2)


DROPPED = PORT + 1
GOOD = [own(2), f"tcp:[{address6(2)}]:{PORT}"]
BAD = {
    "nobody has it": f"tcp:{address(99)}:{PORT}",
    "packets are swallowed": f"tcp:{address(2)}:{DROPPED}",
    "packets are swallowed over IPv6": f"tcp:[{address6(2)}]:{DROPPED}",
    "nobody listens": f"tcp:{address(2)}:1",
    "no way": "tcp:192.0.2.1:5",
    "another program": f"tcp:{address(1)}:{PORT}",  # the caller itself, who is not whom it calls
}


@pytest.mark.parametrize("good", GOOD, ids=["IPv4", "IPv6"])
@pytest.mark.parametrize("bad", [[one] for one in BAD.values()] + [list(BAD.values())], ids=[*BAD, "all of them"])
def test_a_bad_address_costs_little(bad, good):
    with Lab(hosts=2) as lab:
        lab.firewall(2, f"tcp dport {DROPPED} drop")
        everybody = [own(1), " ".join([*bad, good])]
        one = Rank(lab, 1, own(1), 0, everybody)
        other = Rank(lab, 2, " ".join(GOOD), 1, everybody)
        one.tell("call", 1)
        expect_connected((one, 1), (other, 0))
        send(one, other, 1, 1, 100_000)
        expect_right(one, other, 1)


@pytest.mark.parametrize("host", [1, 2])
def test_two_that_call_each_other_meet_though_one_cannot_get_through(host):
    with ranks(2) as (lab, (one, other)):
        lab.firewall(host, "tcp flags & (syn | ack) == syn drop")
        one.tell("call", 1)
        other.tell("call", 0)
        expect_connected((one, 1), (other, 0))
        send(one, other, 1, 1, 100_000)
        expect_right(one, other, 1)
