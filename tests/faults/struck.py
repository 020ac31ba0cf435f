# SPDX-License-Identifier: BSD-3-Clause
"""Jobs over the hosts of a lab that are struck: what happens under one seed, and what has to come of it.

As a program, `struck.py FIRST COUNT`: plays so many seeds and prints a table of them; see docs/results/faults.md."""

import contextlib
import os
import pathlib
import random
import signal
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/launch")]

from hosts import BUILD, Job  # noqa: E402 - found above
from lab import Lab  # noqa: E402

PROGRAM = str(BUILD / "bin/faults_program")
STEPS = 40
PATIENCE = 60  # for a job that nothing has happened to
# Seconds from the blow to the last report of a survivor, and to the end of all: rank 0 waits for up to 5 s for others.
BOUND = {"cut": 10, "kill": 5}
END = 30
LONGEST_BREAK = 0.45  # two thirds of a second of silence, with repetitions every 0.2 s, may be called a death
ATTEMPTS = 10  # where the machine is too busy to end a break in time
# In turn, so that a few seeds meet all of them. The first four take ranks away.
KINDS = (
    "die",
    "kill",
    "kill host",
    "cut",
    "blink",
    "freeze",
    "freeze host",
    "loss",
    "freeze and kill",
    "blink and kill",
)


class Scenario:
    """Everything that follows from the seed."""

    def __init__(self, seed):
        chance = random.Random(seed)
        self.seed = seed
        self.kind = KINDS[seed % len(KINDS)]
        self.loss = 1 if self.kind == "loss" or chance.random() < 0.3 else 0
        self.hosts = chance.choice([4, 4, 8])
        self.places = list(range(1, self.hosts + 1))
        if chance.random() < 0.6:
            self.places += chance.choices(self.places, k=chance.randrange(1, 5))
        chance.shuffle(self.places)
        self.victim = chance.randrange(len(self.places))
        self.other = chance.choice([rank for rank, place in enumerate(self.places) if place != self.host])
        self.where = chance.choice(["before", "between", "inside"])
        self.step = chance.randrange(0, STEPS * 3 // 4)
        self.delay = chance.random() * 0.02
        self.pause = chance.uniform(0.05, 0.3) if "blink" in self.kind else chance.uniform(1.2, 2.5)
        deadly = {"die", "kill", "host", "cut"} & {*self.kind.split()} and self.kind != "freeze host"
        self.groups = chance.choice(["world", "kept", "kept"]) if deadly else "moving"

    @property
    def host(self):
        return self.places[self.victim]

    @property
    def killed(self):
        """The ranks that end."""
        if self.kind == "kill host":
            return {rank for rank, place in enumerate(self.places) if place == self.host}
        if self.kind in ("die", "kill"):
            return {self.victim}
        return {self.other} if "and kill" in self.kind else set()

    def gone(self, rank):
        """The ranks that this one may call lost."""
        cut = self.kind == "cut"
        return self.killed | {
            other
            for other, place in enumerate(self.places)
            if cut and (place == self.host) != (self.places[rank] == self.host)
        }

    def __str__(self):
        return (
            f"seed {self.seed}: {self.kind} of rank {self.victim} (other: {self.other}) at step {self.step} + "
            f"{self.delay:.4f} s {self.where}, pause {self.pause:.2f} s, hosts {self.places}, {self.loss} % loss, "
            f"groups {self.groups}"
        )


class Run:
    """The job of a scenario."""

    def __init__(self, scenario, folder, **network):
        self.scenario, self.folder = scenario, pathlib.Path(folder)
        self.ranks = range(len(scenario.places))
        self.network = {"hosts": scenario.hosts, "loss": scenario.loss, **network}
        self.broken = 0.0  # seconds that the network was interrupted for
        self.late = False  # the blow came when some had nothing left to do

    def lines(self, rank):
        """The words of what a rank has said, by the first of them."""
        said = {}
        for line in (self.folder / str(rank)).read_text().splitlines():
            said.setdefault(line.split(" ")[0], []).append(line.split(" ")[1:])
        return said

    def play(self):
        """Returns the seconds that the survivors took to report, the last one; None: this machine was too busy to play
        the scenario."""
        with Lab(**self.network) as self.lab, Job(self.lab, self.scenario.places, program=PROGRAM) as self.job:
            for rank in self.ranks:
                dies = self.scenario.kind == "die" and rank == self.scenario.victim
                death = [self.scenario.step, self.scenario.where] if dies else []
                with open(self.folder / str(rank), "w") as said:
                    words = [self.scenario.seed, STEPS, self.scenario.groups, *death]
                    self.job.start(rank, *map(str, words), stdout=said)
            self.await_step(self.scenario.victim, self.scenario.step)
            time.sleep(self.scenario.delay)
            self.struck = time.monotonic()
            self.strike()
            statuses = self.await_end()
            if self.broken > LONGEST_BREAK:
                return None
            took = max((self.check(rank, statuses[rank]) for rank in set(self.ranks) - self.scenario.killed), default=0)
            self.check_leftovers()
        return took

    def await_step(self, rank, step):
        end = time.monotonic() + PATIENCE
        while True:
            # A rank may end right after it said its step: its end is looked for before its words are read.
            status = self.job.running[rank].poll()
            if [str(step)] in self.lines(rank).get("step", []):
                return
            assert status is None, f"rank {rank} ended with {status}: {self.text(rank)}"
            assert time.monotonic() < end, f"rank {rank} never came to step {step}\n{self.state()}"
            time.sleep(0.001)

    def signal(self, rank, number):
        pid = self.lab.process(int(self.lines(rank)["pid"][0][0]))
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def strike(self):
        kind, host = self.scenario.kind, self.scenario.host
        if kind == "cut":
            self.lab.plug(host, "down")
        if kind == "freeze host":
            self.lab.freeze(host)
        elif "freeze" in kind:
            self.signal(self.scenario.victim, signal.SIGSTOP)
        if kind == "kill host":
            self.lab.signal(host, signal.SIGKILL)
        elif kind != "die":
            for rank in self.scenario.killed:
                self.signal(rank, signal.SIGKILL)
        self.late = any([str(STEPS - 1)] in self.lines(rank).get("step", []) for rank in self.ranks)
        if "blink" in kind:
            self.broken = self.lab.interrupt(host, self.scenario.pause)
        if "freeze" in kind:
            time.sleep(self.scenario.pause)
            self.lab.thaw(host)

    def await_end(self):
        """{rank: status}"""
        end = time.monotonic() + END
        while any(process.poll() is None for process in self.job.running.values()):
            assert time.monotonic() < end, f"it hangs\n{self.state()}"
            time.sleep(0.005)
        return {rank: process.returncode for rank, process in self.job.running.items()}

    def check(self, rank, status):
        """What a survivor has to say. Seconds until it reported a loss."""
        said = self.lines(rank)
        assert status == 0, f"rank {rank} ended with {status}\n{self.state()}"
        assert "end" in said, f"rank {rank} did not say that it ended\n{self.state()}"
        for word in ("wrong", "failed"):
            assert word not in said, f"rank {rank}: {said[word]}\n{self.state()}"
        whole = {name for (name,) in said.get("whole", [])}
        lost = {words[0]: words[1:] for words in said.get("lost", [])}
        reported = 0.0
        for name, *members in said["members"]:
            gone = {int(member) for member in members} & self.scenario.gone(rank)
            if name in lost:
                named, at = int(lost[name][0]), int(lost[name][1]) / 1e9
                assert named in gone, f"rank {rank} lost rank {named} of {name}: {lost[name]}\n{self.state()}"
                reported = max(reported, at - self.struck)
            else:
                assert name in whole, f"rank {rank} says nothing of {name}\n{self.state()}"
                assert not gone or self.late, (
                    f"rank {rank} has not noticed the loss of {gone} of {name}\n{self.state()}"
                )
        bound = BOUND["cut" if self.scenario.kind == "cut" else "kill"] + self.scenario.pause
        assert reported < bound, f"rank {rank} took {reported:.1f} s\n{self.state()}"
        return reported

    def check_leftovers(self):
        """Processes, sockets that somebody listens at or has a name, and files of shared memory."""
        end = time.monotonic() + 5
        while left := [pid for host in self.lab.hosts for pid in self.lab.processes(host)]:
            assert time.monotonic() < end, f"processes are left: {left}\n{self.state()}"
            time.sleep(0.01)
        for host in self.lab.hosts:
            keeper = pathlib.Path(f"/proc/{self.lab.process(self.lab.keepers[host])}")
            listening = [
                line
                for table in ("tcp", "tcp6", "unix")
                for line in (keeper / "net" / table).read_text().splitlines()[1:]
                if table == "unix" or line.split()[3] == "0A"
            ]
            left = [*listening, *os.listdir(keeper / "root/dev/shm")]
            assert not left, f"host {host} has {left}\n{self.state()}"

    def text(self, rank):
        return " | ".join((self.folder / str(rank)).read_text().splitlines()[-8:])

    def state(self):
        """For people: what each rank said last."""
        lines = []
        for rank in self.ranks:
            process = self.job.running.get(rank)
            errors = ""
            if process is not None and process.poll() is not None and not process.stderr.closed:
                errors = process.stderr.read()
            ended = "?" if process is None else process.poll()
            lines.append(f"rank {rank} on h{self.scenario.places[rank]} ({ended}): {self.text(rank)} {errors}")
        return f"{self.scenario}\n" + "\n".join(lines)


def play(seed):
    """Runs a seed and checks it; returns (scenario, seconds until the last report)."""
    scenario = Scenario(seed)
    print(scenario, flush=True)
    for _ in range(ATTEMPTS):
        with tempfile.TemporaryDirectory() as folder:
            took = Run(scenario, folder).play()
        if took is not None:
            return scenario, took
    raise AssertionError(f"{scenario}\ntoo busy a machine: {ATTEMPTS} breaks took more than {LONGEST_BREAK} s each")


def main(first, count):
    took, failed = {}, []
    for seed in range(first, first + count):
        try:
            scenario, seconds = play(seed)
            took.setdefault(scenario.kind, []).append(seconds)
        except AssertionError as failure:
            print(failure, flush=True)
            failed.append(seed)
    print("| what happened | seeds | reported after, median | at most |\n|---|---|---|---|")
    for kind in KINDS:
        if seconds := took.get(kind):
            told = (
                f"{statistics.median(seconds):.2f} s | {max(seconds):.2f} s" if any(seconds) else "nothing to report |"
            )
            print(f"| {kind} | {len(seconds)} | {told} |")
    print(f"failed: {failed or 'none'}")
    return len(failed)


if __name__ == "__main__":
    sys.path.append(str(ROOT / "tests/lab"))
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])) > 0)
