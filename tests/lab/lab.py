#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A cluster on this machine: hosts made of Linux namespaces, on one bridge, with no way out.

    with Lab(hosts=4, rate="100mbit", loss=1) as lab:
        lab.run(["./program"])          # on every host at once
        lab.popen(2, ["./program"])     # on one of them

Hosts are 1 to N. Each has its own network (lo, and eth0 at 10.77.x.y and fd77::N), name (hN), System V IPC, /dev/shm
and /etc/hosts; files and cores are the machine's. All processes of a lab live in one namespace of processes, whose
first process ends when the lab's owner does, whatever ended that: then the kernel kills the rest, and nothing is left.
As a program: `lab.py [options] [COMMAND...]`, see `lab.py --help` and docs/lab.md. Needs Linux, iproute2, nftables and
util-linux; root, or a kernel that lets users make namespaces.
"""

import argparse
import concurrent.futures
import contextlib
import ctypes
import dataclasses
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import time

NEW_MOUNTS, NEW_NAMES, NEW_IPC, NEW_NETWORK = 0x00020000, 0x04000000, 0x08000000, 0x40000000
PRIVATE = 1 << 18 | 1 << 14  # MS_PRIVATE | MS_REC
BIND = 1 << 12
MOST_HOSTS = 1000
VARIABLE = "LAB_HOSTS"  # for commands on a host: {host: process that keeps its namespaces}, as the lab counts processes


class Failure(Exception):
    """What the user has to know and can do something about."""


def address(host):
    """IPv4 of a host."""
    return f"10.77.{host >> 8}.{host & 255}"


def address6(host):
    """IPv6 of a host."""
    return f"fd77::{host:x}"


def hardware(host):
    return f"02:77:00:00:{host >> 8:02x}:{host & 255:02x}"


@dataclasses.dataclass(frozen=True)
class Network:
    """What the links are like."""

    hosts: int = 4
    rate: str = ""  # of each link, in both directions: 100mbit; none: no limit
    loss: float = 0  # per cent of the packets that arrive at a host, dropped at random
    udp_loss: float = 0  # the same for UDP alone
    mtu: int = 1500
    queue: int = 262144  # bytes that either end of a link keeps before it drops, given a rate

    def check(self):
        """Throws Failure for what cannot be."""
        if not 1 <= self.hosts <= MOST_HOSTS:
            raise Failure(f"{self.hosts} hosts: a lab has 1 to {MOST_HOSTS}")
        if self.rate and not re.fullmatch(r"[1-9]\d*[kmg]bit", self.rate):
            raise Failure(f"rate {self.rate}: write it as in 100mbit (k, m or g)")
        for name, percent in (("loss", self.loss), ("udp-loss", self.udp_loss)):
            if not 0 <= percent <= 100:
                raise Failure(f"{name} {percent}: it is a percentage")
        if not 1280 <= self.mtu <= 65535:
            raise Failure(f"mtu {self.mtu}: IPv6 needs 1280 at least, 65535 is the most")
        if self.queue < self.mtu:
            raise Failure(f"queue {self.queue}: not one packet of {self.mtu} bytes fits")

    @property
    def bits(self):
        """Of a link in a second; 0: no limit."""
        return int(self.rate[:-4]) * {"k": 10**3, "m": 10**6, "g": 10**9}[self.rate[-4]] if self.rate else 0

    @property
    def burst(self):
        """Bytes that pass at once where a link was idle: of 0.2 ms, two packets at least."""
        return max(self.bits // 8 // 5000, 2 * (self.mtu + 14))

    def limit(self):
        """tc's words for the rate; nothing without one."""
        if not self.rate:
            return []
        return ["root", "tbf", "rate", self.rate, "burst", str(self.burst), "limit", str(self.queue)]

    def filters(self):
        """nft's rules that drop what arrives."""

        def drop(percent, what):
            return f'iifname "eth0" {what} numgen random mod 1000000 < {round(percent * 10000)} counter drop\n'

        rules = drop(self.loss, "") if self.loss else ""
        rules += drop(self.udp_loss, "meta l4proto udp") if self.udp_loss else ""
        hook = "type filter hook prerouting priority -450;"
        return f"table inet lab {{\nchain in {{\n{hook}\n{rules}}}\n}}\n" if rules else ""


# Inside: the first process of the lab, which is its switch too, and the keepers of the hosts.


def call(*words, text=None):
    """Runs a tool that has to succeed."""
    done = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"{' '.join(words)}: {done.stderr.strip()}")


libc = ctypes.CDLL(None, use_errno=True)


def checked(result, what):
    if result != 0:
        error = ctypes.get_errno()
        raise Failure(f"{what}: {os.strerror(error)}")


def mount(source, target, kind, flags=0):
    checked(libc.mount(source.encode(), target.encode(), kind.encode(), flags, None), f"mount {target}")


def keep_host(host, names, network, ready, go):
    """One host: makes its namespaces, says so, waits for its link, sets that up, says so, and stays."""
    checked(libc.unshare(NEW_MOUNTS | NEW_NAMES | NEW_IPC | NEW_NETWORK), "unshare")
    os.write(ready, b".")
    os.read(go, 1)
    name = f"h{host}".encode()
    checked(libc.sethostname(name, len(name)), "sethostname")
    mount("none", "/", "none", PRIVATE)
    mount("lab", "/dev/shm", "tmpfs")
    mount("lab", "/sys", "sysfs")
    mount(names, "/etc/hosts", "none", BIND)
    call("ip", "link", "set", "lo", "up")
    call("ip", "addr", "add", f"{address(host)}/16", "dev", "eth0")
    call("ip", "addr", "add", f"{address6(host)}/64", "dev", "eth0", "nodad")
    call("ip", "link", "set", "eth0", "up")
    if network.limit():
        call("tc", "qdisc", "add", "dev", "eth0", *network.limit())
    if network.filters():
        call("nft", "-f", "-", text=network.filters())
    os.write(ready, b".")
    while True:
        signal.pause()


def start_keeper(host, names, network):
    """(process, where it says that it is ready, where it is told to go on)."""
    ready, say = os.pipe()
    hear, go = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            keep_host(host, names, network, say, hear)
        except BaseException as error:  # a child must never go on as its parent
            print(f"h{host}: {error}", file=sys.stderr, flush=True)
        os._exit(1)
    os.close(say)
    os.close(hear)
    return process, ready, go


def link(host, keeper, network):
    """Host's end of a wire, named eth0 there, and the switch's end, named hN."""
    # Without this TCP hands the wire 64 KiB in one piece, which the filters would drop as one.
    pieces = ["gso_max_segs", "1"] if network.loss or network.udp_loss else []
    words = ["ip", "link", "add", f"h{host}", "mtu", str(network.mtu), "type", "veth", "peer", "name", "eth0"]
    call(*words, "address", hardware(host), "mtu", str(network.mtu), *pieces, "netns", str(keeper))
    call("ip", "link", "set", f"h{host}", "master", "switch", "up")
    if network.limit():
        call("tc", "qdisc", "add", "dev", f"h{host}", *network.limit())


def names_of(network):
    """/etc/hosts for all, as a file that goes with the lab."""
    path = "/run/lab-hosts"
    mount("lab", "/run", "tmpfs")
    lines = ["127.0.0.1 localhost", "::1 localhost"]
    lines += [f"{address(host)} h{host}\n{address6(host)} h{host}" for host in range(1, network.hosts + 1)]
    pathlib.Path(path).write_text("\n".join(lines) + "\n")
    return path


def make_room(hosts):
    """Each host takes two descriptors while it is made."""
    wanted = 2 * hosts + 64
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard not in (-1, resource.RLIM_INFINITY) and hard < wanted:
        raise Failure(f"{hosts} hosts take {wanted} descriptors, and {hard} are allowed; see ulimit -Hn")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted) if soft != -1 else soft, hard))


def be_first(network):
    """The first process of a lab: makes it, prints the keepers' processes as JSON, and ends with its input."""
    make_room(network.hosts)
    mount("none", "/", "none", PRIVATE)
    names = names_of(network)
    call("ip", "link", "add", "switch", "mtu", str(network.mtu), "type", "bridge", "mcast_snooping", "0")
    call("ip", "link", "set", "switch", "up")
    hosts = range(1, network.hosts + 1)
    keepers = {host: start_keeper(host, names, network) for host in hosts}
    for step in ("namespaces", "network"):
        for host, (process, ready, go) in keepers.items():
            if os.read(ready, 1) != b".":
                raise Failure(f"host {host} has no {step}")
            if step == "namespaces":
                link(host, process, network)
                os.write(go, b".")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # whose parents have ended are this process's children
    print(json.dumps({host: process for host, (process, _, _) in keepers.items()}), flush=True)
    while os.read(0, 4096):
        pass


# Outside


def into(keeper, command):
    """The words that run a command, from here inside the lab, on the host of this keeper."""
    spaces = ["--net", "--uts", "--ipc", "--mount", f"--wdns={os.getcwd()}"]
    return ["nsenter", "--target", str(keeper), *spaces, *map(str, command)]


class Lab:
    """A lab that stands as long as the block in which it is made."""

    def __init__(self, **network):
        self.network = Network(**network)
        self.network.check()

    def __enter__(self):
        me = [sys.executable, str(pathlib.Path(__file__).resolve()), "--be-first"]
        fields = json.dumps(dataclasses.asdict(self.network))
        user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
        apart = ["--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--net", "--uts", "--ipc"]
        self.owner = subprocess.Popen(
            ["unshare", *user, *apart, *me, fields],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        said = self.owner.stdout.readline()
        if not said:
            why = self.owner.stderr.read().strip()
            self.close()
            raise Failure(f"the lab could not be made: {why or 'it ended'}")
        self.keepers = {int(host): process for host, process in json.loads(said).items()}
        self.enter_user = ["--user", "--preserve-credentials"] if user else []
        children = pathlib.Path(f"/proc/{self.owner.pid}/task/{self.owner.pid}/children").read_text()
        self.first = int(children.split()[0])
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends all that runs in it."""
        with contextlib.suppress(BrokenPipeError):
            self.owner.stdin.close()
        self.owner.wait(timeout=60)
        self.owner.stdout.close()
        self.owner.stderr.close()

    @property
    def hosts(self):
        return list(self.keepers)

    def on(self, host, command):
        """The words that run a command on a host."""
        lab = ["nsenter", "--target", str(self.first), *self.enter_user, "--mount", "--pid"]
        # nsenter stops when its child does. This one's does not: it waits outside the host.
        lab += ["setsid", "--fork", "--wait", "env", f"{VARIABLE}={json.dumps(self.keepers)}"]
        return [*lab, *into(self.keepers[host], command)]

    def popen(self, host, command, **options):
        """Starts a command on a host: subprocess.Popen."""
        return subprocess.Popen(self.on(host, command), **options)

    def call(self, host, command, timeout=60, **options):
        """Runs a command on a host: subprocess.run, with its output as text."""
        options = {"capture_output": True, "text": True, **options}
        return subprocess.run(self.on(host, command), timeout=timeout, check=False, **options)

    def run(self, command, late=None, timeout=600):
        """The same command on every host at once: {host: result}. `late`: {host: seconds that it begins later}."""

        def one(host):
            time.sleep((late or {}).get(host, 0))
            return self.call(host, [str(word).format(host=host) for word in command], timeout)

        with concurrent.futures.ThreadPoolExecutor(len(self.hosts)) as pool:
            return dict(zip(self.hosts, pool.map(one, self.hosts)))

    def processes(self, host):
        """What runs on a host now, as this process counts processes; not its keeper."""
        found = {}
        for place in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                found.setdefault(os.readlink(place / "ns/net"), []).append(int(place.name))
        for members in found.values():
            inside = {pid: self.number_inside(pid) for pid in members}
            if self.keepers[host] in inside.values():
                return [pid for pid, number in inside.items() if number not in (None, self.keepers[host])]
        return []

    def number_inside(self, pid):
        """The number that a process has in the lab; nothing when it is not there."""
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/{pid}/ns/pid") == os.readlink(f"/proc/{self.first}/ns/pid"):
                status = pathlib.Path(f"/proc/{pid}/status").read_text()
                return int(re.search(r"^NSpid:.*?(\d+)$", status, re.MULTILINE).group(1))
        return None

    def process(self, number):
        """The process that has this number in the lab, as this process counts; nothing when there is none."""
        numbers = (int(place.name) for place in pathlib.Path("/proc").glob("[0-9]*"))
        return next((pid for pid in numbers if self.number_inside(pid) == number), None)

    def signal(self, host, number):
        """To all that runs on a host."""
        for pid in self.processes(host):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def freeze(self, host):
        """A host whose kernel answers and whose processes do not."""
        self.signal(host, signal.SIGSTOP)

    def thaw(self, host):
        self.signal(host, signal.SIGCONT)

    def at_switch(self, *words):
        """The command that runs where the ports of all hosts are."""
        return ["nsenter", "--target", str(self.first), *self.enter_user, "--net", *words]

    def firewall(self, host, *rules):
        """What arrives at a host meets these rules of nft ("tcp dport 7000 drop"), and none from before."""
        lines = ["table inet wall {", "chain in {", "type filter hook input priority 0;", *rules, "}", "}"]
        table = "\n".join(lines) + "\n" if rules else ""
        done = self.call(host, ["nft", "-f", "-"], input=f"table inet wall\ndelete table inet wall\n{table}")
        assert done.returncode == 0, done.stderr

    def plug(self, host, state):
        """Pulls a host's wire ("down"), or puts it back ("up"): then it takes up to a second until packets pass."""
        call(*self.at_switch("ip", "link", "set", f"h{host}", state))

    def interrupt(self, host, seconds):
        """No packet passes for so long. Unlike with a pulled wire, neither end is told. Returns the seconds that it
        took on this machine at most."""
        with subprocess.Popen(self.at_switch("ip", "-batch", "-"), text=True, stdin=subprocess.PIPE) as one:
            began = time.monotonic()
            print(f"link set h{host} nomaster", file=one.stdin, flush=True)
            time.sleep(seconds)
            one.communicate(f"link set h{host} master switch\n")
        if one.returncode != 0:
            raise Failure(f"host {host} cannot be interrupted")
        return time.monotonic() - began


# As a program


def enter_host(words):
    """lab.py on HOST COMMAND..., and `rsh`, which takes options of ssh and hands the words to a shell."""
    if VARIABLE not in os.environ:
        raise Failure("this is not a host of a lab")
    like_rsh, words = words[0] == "rsh", words[1:]
    while like_rsh and words and words[0].startswith("-"):
        words = words[1:]
    keepers = json.loads(os.environ[VARIABLE])
    host = words[0].removeprefix("h") if words else ""
    if host not in keepers:
        raise Failure(f"there is no host {host}; there are h1 to h{len(keepers)}")
    command = ["sh", "-c", " ".join(words[1:])] if like_rsh else words[1:]
    os.execvp("nsenter", into(keepers[host], command))


def run_everywhere(lab, command):
    """Runs it on all hosts, with the host before each line; the highest exit status."""

    def one(host):
        with lab.popen(host, command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running:
            for line in running.stdout:
                print(f"h{host}: {line}", end="", flush=True)
        return running.returncode

    with concurrent.futures.ThreadPoolExecutor(len(lab.hosts)) as pool:
        try:
            return max(pool.map(one, lab.hosts))
        except BaseException:  # an interrupt: the pool would wait for the commands
            lab.close()
            raise


def main(words):
    if words[:1] == ["--be-first"]:
        return be_first(Network(**json.loads(words[1])))
    if words[:1] in (["on"], ["rsh"]):
        return enter_host(words)
    parser = argparse.ArgumentParser(prog="lab.py", description=__doc__.split("\n")[0])
    for field in dataclasses.fields(Network):
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=field.type, default=field.default)
    parser.add_argument("command", nargs=argparse.REMAINDER, help="runs on every host; none: a shell on host 1")
    chosen = vars(parser.parse_args(words))
    command = chosen.pop("command")
    command = command[1:] if command[:1] == ["--"] else command
    with Lab(**chosen) as lab:
        if command:
            return run_everywhere(lab, command)
        print(
            f"You are on h1 of {len(lab.hosts)} hosts. {__file__} on h2 COMMAND runs one on another; exit ends the lab."
        )
        return lab.popen(1, [os.environ.get("SHELL", "sh")]).wait()


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failure as failure:
        sys.exit(f"lab: {failure}")
