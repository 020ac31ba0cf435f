# SPDX-License-Identifier: BSD-3-Clause
"""The test bed itself: hosts are apart, links are as asked for, and nothing is left of a lab."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time

import pytest
from lab import Failure, Lab, address, address6

LAB = pathlib.Path(__file__).with_name("lab.py")
PATIENCE = 30


def python(code, *arguments):
    return [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]


def until(condition):
    """Waits for it; says whether it came."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


RECEIVE = """
    import socket, sys
    server = socket.create_server((sys.argv[1], 5000), family=socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET)
    print("ready", flush=True)
    connection, peer = server.accept()
    count = 0
    while data := connection.recv(65536):
        count += len(data)
    connection.send(b".")
    print(count, peer[0], flush=True)
"""
SEND = """
    import socket, sys, time
    start = time.monotonic()
    connection = socket.create_connection((sys.argv[1], 5000), timeout=30)
    connection.sendall(bytes(int(sys.argv[2])))
    connection.shutdown(socket.SHUT_WR)
    connection.recv(1)
    print(time.monotonic() - start)
"""
RECEIVE_DATAGRAMS = """
    import socket
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    server.bind(("", 5001))
    print("ready", flush=True)
    count = 0
    while (received := server.recvfrom(100))[0] != b"end":
        server.settimeout(20)
        if received[0] == b"well?":
            server.sendto(b"yes", received[1])
        else:
            count += 1
    print(count, flush=True)
"""
SEND_DATAGRAMS = """
    import socket, sys, time
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.connect((sys.argv[1], 5001))
    sender.settimeout(0.02)
    for i in range(int(sys.argv[2])):
        sender.send(b"x" * 50)
        if i % 50 == 0:  # a receiver that was not scheduled loses what its socket cannot hold
            sender.send(b"well?")
            try: sender.recv(100)
            except TimeoutError: pass
    sender.settimeout(None)
    for _ in range(200):
        try: sender.send(b"end")
        except ConnectionRefusedError: break
        time.sleep(0.01)
"""


def send(lab, to, size):
    """Seconds that `size` bytes take from host 1 to host 2 by TCP."""
    receiver = lab.popen(2, python(RECEIVE, to), stdout=subprocess.PIPE, text=True)
    assert receiver.stdout.readline() == "ready\n"
    sent = lab.call(1, python(SEND, to, size))
    assert sent.returncode == 0, sent.stderr
    count, peer = receiver.communicate(timeout=PATIENCE)[0].split()
    assert int(count) == size
    assert peer in (address(1), address6(1))
    return float(sent.stdout)


def datagrams(lab, count):
    """How many of them arrive."""
    receiver = lab.popen(2, python(RECEIVE_DATAGRAMS), stdout=subprocess.PIPE, text=True)
    assert receiver.stdout.readline() == "ready\n"
    lab.call(1, python(SEND_DATAGRAMS, address(2), count))
    return int(receiver.communicate(timeout=PATIENCE)[0])


def test_hosts_are_apart():
    with Lab(hosts=3) as lab:
        assert {host: done.stdout for host, done in lab.run(["hostname"]).items()} == {1: "h1\n", 2: "h2\n", 3: "h3\n"}
        assert lab.call(1, ["sh", "-c", "echo mine > /dev/shm/word"]).returncode == 0
        assert [lab.call(host, ["ls", "/dev/shm"]).stdout for host in lab.hosts] == ["word\n", "", ""]
        spaces = {os.readlink("/proc/self/ns/ipc")} | {
            done.stdout for done in lab.run(["readlink", "/proc/self/ns/ipc"]).values()
        }
        assert len(spaces) == 4
        assert lab.call(2, ["getent", "hosts", "h3"]).stdout.split()[0] in (address(3), address6(3))
    assert not pathlib.Path("/dev/shm/word").exists()


@pytest.mark.parametrize("to", [address(2), address6(2)])
def test_hosts_reach_each_other(to):
    with Lab(hosts=2) as lab:
        send(lab, to, 100_000)


def test_there_is_no_way_out():
    code = 'import socket; socket.create_connection(("192.0.2.1", 80), timeout=5)'
    with Lab(hosts=1) as lab:
        assert "Network is unreachable" in lab.call(1, python(code)).stderr


def test_a_link_is_as_slow_as_asked():
    with Lab(hosts=2, rate="8mbit") as lab:
        assert send(lab, address(2), 2_000_000) > 1.5
    with Lab(hosts=2) as lab:
        assert send(lab, address(2), 2_000_000) < 1.5


def test_packets_are_lost():
    sent = 4000
    with Lab(hosts=2) as lab:
        assert datagrams(lab, sent) == sent
    with Lab(hosts=2, udp_loss=20) as lab:
        assert 0.7 * sent < datagrams(lab, sent) < 0.9 * sent
    with Lab(hosts=2, loss=20) as lab:
        assert 0.7 * sent < datagrams(lab, sent) < 0.9 * sent
    with Lab(hosts=2, loss=5) as lab:  # TCP mends it, and gives up after a few losses in a row
        send(lab, address(2), 20_000)


def test_packets_are_as_long_as_asked():
    code = """
        import socket, sys
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sender.setsockopt(socket.IPPROTO_IP, 10, 2)  # IP_MTU_DISCOVER, IP_PMTUDISC_DO
        sender.sendto(bytes(int(sys.argv[1]) - 28), ("10.77.0.2", 5001))
    """
    with Lab(hosts=2, mtu=2000) as lab:
        assert lab.call(1, python(code, 2000)).returncode == 0
        assert "Message too long" in lab.call(1, python(code, 2001)).stderr


def test_a_host_can_be_late():
    with Lab(hosts=2) as lab:
        began = {
            host: float(done.stdout)
            for host, done in lab.run(python("import time; print(time.time())"), late={2: 2}).items()
        }
    assert began[2] - began[1] > 1


def state(process):
    return re.search(r"State:\s+(\S)", pathlib.Path(f"/proc/{process}/status").read_text()).group(1)


def test_a_frozen_host_does_nothing():
    code = "import time\nwhile True: print('tick', flush=True); time.sleep(0.01)"
    with Lab(hosts=2) as lab:
        ticking = lab.popen(2, python(code), stdout=subprocess.PIPE, text=True)
        assert ticking.stdout.readline() == "tick\n"
        (process,) = lab.processes(2)
        lab.freeze(2)
        assert until(lambda: state(process) == "T")
        lab.thaw(2)
        assert until(lambda: state(process) != "T")
        lab.signal(2, signal.SIGKILL)
        assert until(lambda: not lab.processes(2))
        still = lab.popen(1, ["sleep", "1000"])
        assert until(lambda: lab.processes(1))
        lab.freeze(1)
    still.wait(timeout=PATIENCE)  # a lab ends, whatever is frozen in it


def test_a_wire_can_be_pulled():
    code = "import socket, sys; socket.create_connection((sys.argv[1], 5000), timeout=2)"
    with Lab(hosts=2) as lab:
        lab.plug(2, "down")
        assert lab.call(1, python(code, address(2))).returncode != 0
        lab.plug(2, "up")
        assert until(lambda: "refused" in lab.call(1, python(code, address(2))).stderr)


def test_a_link_can_be_interrupted():
    code = """
        import socket, sys, time
        connection = socket.create_connection((sys.argv[1], 5000), timeout=30)
        connection.send(b"ready")
        print("up", flush=True)
        while True: connection.send(b"x"); time.sleep(0.01)
    """
    receive = """
        import socket, sys, time
        connection, _ = socket.create_server((sys.argv[1], 5000)).accept()
        last, longest = time.monotonic(), 0
        while longest < 0.5:
            connection.recv(100)
            longest, last = max(longest, time.monotonic() - last), time.monotonic()
        print("went on", flush=True)
    """
    with Lab(hosts=2) as lab:
        receiver = lab.popen(2, python(receive, address(2)), stdout=subprocess.PIPE, text=True)
        assert until(lambda: "0A" in lab.call(2, ["cat", "/proc/net/tcp"]).stdout)
        sender = lab.popen(1, python(code, address(2)), stdout=subprocess.PIPE, text=True)
        assert sender.stdout.readline() == "up\n"
        lab.interrupt(1, 0.6)
        assert receiver.stdout.readline() == "went on\n"


def alive(word):
    """Processes that have this word in their command line."""
    found = []
    for place in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = place.read_bytes().split(b"\0")
        except OSError:
            continue
        if word.encode() in words:
            found.append(int(place.parent.name))
    return found


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_of_a_lab(ending):
    word = f"lab-{os.getpid()}-{ending}"
    command = python("import time; print('up', flush=True); time.sleep(1000)", word)
    # Who was started in the background by a script ignores SIGINT, and so do its children.
    heard = ["env", "--default-signal=INT"]
    lab = subprocess.Popen(
        [*heard, sys.executable, LAB, "--hosts", "2", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert {lab.stdout.readline(), lab.stdout.readline()} == {"h1: up\n", "h2: up\n"}
    first = set(alive("--be-first"))
    assert len(alive(word)) > 2
    lab.send_signal(ending)
    lab.wait(timeout=PATIENCE)
    lab.stdout.close()
    assert until(lambda: not alive(word)), alive(word)
    assert until(lambda: not first & set(alive("--be-first")))


def test_a_user_without_rights_may_have_one():
    """Where the kernel lets users make namespaces; where not, the error says what was refused."""
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    allowed = subprocess.run(
        [*nobody, "unshare", "--user", "--map-root-user", "true"], capture_output=True, check=False
    )
    with tempfile.TemporaryDirectory() as folder:  # the checkout and this Python may be closed to others
        os.chmod(folder, 0o755)
        copy = shutil.copy(LAB, folder)
        words = [*nobody, "/usr/bin/python3", copy, "--hosts", "2", "--", "hostname"]
        done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder)
    if allowed.returncode == 0:
        assert sorted(done.stdout.split("\n")) == ["", "h1: h1", "h2: h2"], done.stderr
    else:
        assert "unshare" in done.stderr


@pytest.mark.parametrize(
    ("network", "said"),
    [
        ({"hosts": 0}, "1 to 1000"),
        ({"hosts": 1001}, "1 to 1000"),
        ({"rate": "fast"}, "100mbit"),
        ({"rate": "0mbit"}, "100mbit"),
        ({"loss": 101}, "percentage"),
        ({"udp_loss": -1}, "percentage"),
        ({"mtu": 100}, "IPv6"),
        ({"queue": 100}, "packet"),
    ],
)
def test_what_cannot_be_is_refused(network, said):
    with pytest.raises(Failure, match=said):
        Lab(**network)


def program(*words):
    return subprocess.run([sys.executable, LAB, *words], capture_output=True, text=True, check=False)


def test_as_a_program():
    script = f"{sys.executable} {LAB} on h2 hostname; exit $(hostname | tr -d h)"
    done = program("--hosts", "2", "--", "sh", "-c", script)
    assert sorted(done.stdout.split()) == ["h1:", "h2", "h2", "h2:"]
    assert done.returncode == 2, "the highest exit status"
    assert "there is no host 7" in program("--hosts", "2", sys.executable, str(LAB), "on", "h7", "true").stdout
    assert "not a host" in program("on", "h1", "true").stderr
    assert "100mbit" in program("--rate", "quick", "true").stderr
