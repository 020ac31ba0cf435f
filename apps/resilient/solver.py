# SPDX-License-Identifier: BSD-3-Clause
"""A Poisson solver that goes on when ranks die: conjugate gradients on a square, its rows dealt to the ranks.

    tutti run -n 8 --keep-going python apps/resilient/solver.py --lose 2 --picture residual.svg

Every few steps each rank hands a copy of its rows to the next two ranks, and all agree that the copies have come. When
somebody dies, the survivors shrink the group, deal the rows of the last copies among them, and go on from there; before
the first copies they begin again. --lose kills ranks with SIGKILL at random steps, so that one can watch. The answer is
known, and checked.
"""

import argparse
import os
import signal
import sys
import threading
import time

import numpy as np
import tutti

COPIES = 2  # so that any two ranks may die between two checkpoints


def share(length, parts, index):
    """Where the rows of one of the parts begin and end."""
    return length * index // parts, length * (index + 1) // parts


class Lines:
    """The rows of a rank, and the halo exchange with the ranks of the rows beside them."""

    def __init__(self, group, n):
        self.group, self.n = group, n
        self.start, self.stop = share(n, group.size, group.rank)
        self.halo = np.zeros((self.stop - self.start + 2, n + 2))

    def laplace(self, rows):
        """4 u - what is left, right, above and below of it; 0 outside of the square."""
        halo, group = self.halo, self.group
        halo[1:-1, 1:-1] = rows
        requests = []
        for other, mine, theirs in ((group.rank - 1, 1, 0), (group.rank + 1, -2, -1)):
            if 0 <= other < group.size:
                requests += [group.irecv(halo[theirs], other), group.isend(halo[mine], other)]
        for request in requests:
            request.wait()
        return 4 * rows - halo[:-2, 1:-1] - halo[2:, 1:-1] - halo[1:-1, :-2] - halo[1:-1, 2:]

    def dot(self, a, b):
        return self.reduce((a * b).sum(), tutti.SUM)  # vdot may start threads, and the ranks have all cores

    def reduce(self, number, operation):
        """The same number on all ranks."""
        result = np.zeros(1)
        self.group.allreduce(np.array([number], float), result, operation)
        return result[0]


def truth(n, start, stop):
    """The answer, row by row: what it is must not depend on how rows are dealt."""
    return np.array([np.random.default_rng(row).standard_normal(n) for row in range(start, stop)]).reshape(-1, n)


class Solver:
    """Conjugate gradients; `state` is all it needs to go on: answer, residual and direction of each row."""

    def __init__(self, group, options):
        self.options = options
        self.members = list(range(group.size))  # ranks in the world
        self.world_rank = group.rank
        self.began = time.monotonic()
        self.log, self.losses = [], []  # (seconds, residual), (seconds, ranks)
        self.step = 0
        self.saved = None
        self.dies_at, self.death = self.choose_death(), None
        self.deal(group)

    def begin(self):
        """The state before the first step; what it needs is known to all."""
        right = self.lines.laplace(truth(self.options.n, self.lines.start, self.lines.stop))
        self.state = np.stack([np.zeros_like(right), right, right], axis=1)
        self.scale = self.lines.dot(right, right)

    def deal(self, group):
        self.group, self.lines = group, Lines(group, self.options.n)

    def now(self):
        return time.monotonic() - self.began

    def choose_death(self):
        """The step after which this rank dies; none for most."""
        random = np.random.default_rng(self.options.seed)
        victims = random.choice(len(self.members), self.options.lose, replace=False)
        steps = random.integers(5, max(6, self.options.n), len(victims))
        return dict(zip(victims.tolist(), steps.tolist())).get(self.world_rank)

    def die_in_time(self):
        if self.dies_at is not None and self.step >= self.dies_at:
            self.dies_at = None
            seconds = np.random.default_rng().uniform(0, 0.01)
            self.death = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGKILL))
            self.death.start()

    def solve(self):
        """Until the residual is small; returns the largest error. Whatever fails, all survivors do the same afterwards:
        no collective of the group stands outside of this loop."""
        error, copies = None, None
        while error is None:
            try:
                if self.saved is None:
                    self.begin()
                copies = self.copy()
                worked = True
            except tutti.PeerLost:
                worked = False
            worked = self.group.agree(worked)
            if worked:
                self.saved = copies
            try:
                if worked and self.iterate():
                    error = self.error()
            except tutti.PeerLost:
                worked = False
            if not self.group.agree(worked):
                self.mend()
                error = None
        return error

    def iterate(self):
        """The steps up to the next checkpoint; true when the residual is small."""
        lines, (x, r, p) = self.lines, (self.state[:, i] for i in range(3))
        rho = lines.dot(r, r)
        for _ in range(self.options.every):
            self.die_in_time()
            self.log.append((self.now(), np.sqrt(rho / self.scale)))
            if rho < self.scale * self.options.tolerance**2:
                return True
            q = lines.laplace(p)
            alpha = rho / lines.dot(p, q)
            x += alpha * p
            r -= alpha * q
            before, rho = rho, lines.dot(r, r)
            p *= rho / before
            p += r
            self.step += 1
        return False

    def copy(self):
        """A copy of this rank's rows for the next ranks: what this one holds then, by owner."""
        group, mine = self.group, np.ascontiguousarray(self.state)
        held = {self.world_rank: (self.lines.start, mine.copy())}
        for distance in range(1, min(COPIES, group.size - 1) + 1):
            source = (group.rank - distance) % group.size
            start, stop = share(self.options.n, group.size, source)
            rows = np.empty((stop - start, 3, self.options.n))
            incoming = group.irecv(rows, source, distance)
            group.isend(mine, (group.rank + distance) % group.size, distance).wait()
            incoming.wait()
            held[self.members[source]] = (start, rows)
        return self.step, list(self.members), held

    def mend(self):
        """A new group of the survivors, and the rows of the last checkpoint dealt among them."""
        restored = False
        while not restored:
            left = self.group.shrink()
            lost = [self.members[rank] for rank in self.group.lost]
            self.losses.append((self.now(), lost))
            self.members = [rank for rank in self.members if rank not in lost]
            self.deal(left)
            try:
                self.restore()
                restored = True
            except tutti.PeerLost:
                restored = False
            restored = left.agree(restored)

    def restore(self):
        """Each block goes from the first living rank that has it to those that own its rows now."""
        if self.saved is None:
            return  # on all survivors, who agreed that there is no checkpoint, and begin again
        self.step, owners, held = self.saved
        n, group = self.options.n, self.group
        parcels = []
        for index, owner in enumerate(owners):
            holders = [owners[(index + distance) % len(owners)] for distance in range(COPIES + 1)]
            living = [rank for rank in holders if rank in self.members]
            if not living:
                sys.exit(f"resilient: rank {owner} and all that had copies of its rows are lost")
            if living[0] != self.world_rank:
                continue
            first, rows = held[owner]
            for rank in range(group.size):
                start, stop = share(n, group.size, rank)
                start, stop = max(start, first), min(stop, first + len(rows))
                if start < stop:
                    parcels.append((rank, np.append(float(start), rows[start - first : stop - first])))
        came = group.sparse_exchange(parcels, dtype=float)
        self.state = np.empty((self.lines.stop - self.lines.start, 3, n))
        for _, parcel in came:
            start, rows = int(parcel[0]) - self.lines.start, parcel[1:].reshape(-1, 3, n)
            self.state[start : start + len(rows)] = rows

    def error(self):
        """The largest difference between the answer and the truth."""
        if self.death is not None:
            self.death.join()  # whoever is about to die is not to be among those who tell the answer
        wrong = self.state[:, 0] - truth(self.options.n, self.lines.start, self.lines.stop)
        return self.lines.reduce(np.abs(wrong).max(initial=0), tutti.MAX)

    def bound(self):
        """What the error cannot exceed: no number is larger than the norm, which is at most that of the residual over
        the smallest eigenvalue. Each step may round the residual that is computed away from the true one."""
        smallest = 8 * np.sin(np.pi / (2 * (self.options.n + 1))) ** 2
        relative = self.options.tolerance + self.step * np.finfo(float).eps
        return relative * np.sqrt(self.scale) / smallest


def draw(solver, path):
    """The residual over time, with the losses."""
    import matplotlib  # noqa: PLC0415 - only who wants a picture needs it

    matplotlib.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415

    figure, axes = pyplot.subplots(figsize=(8, 4))
    axes.semilogy(*zip(*solver.log), linewidth=1)
    for seconds, ranks in solver.losses:
        axes.axvline(seconds, color="tab:red", linestyle="--", linewidth=1)
        axes.annotate(f"lost {ranks}", (seconds, solver.log[0][1]), rotation=90, va="top", ha="right", color="tab:red")
    axes.set(xlabel="seconds", ylabel="residual", title=f"{solver.options.n} x {solver.options.n} points")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("-n", type=int, default=256, help="points in each direction")
    parser.add_argument("--every", type=int, default=20, help="steps between checkpoints, 1 or more")
    parser.add_argument("--tolerance", type=float, default=1e-10, help="of the residual, relative; less than 1")
    parser.add_argument("--lose", type=int, default=0, help="ranks that die")
    parser.add_argument("--seed", type=int, default=0, help="which ranks, and when")
    parser.add_argument("--picture", default="", help="a file for the residual over time")
    options = parser.parse_args()
    least = np.finfo(float).eps  # a residual that is smaller says nothing, and may become 0
    if options.every < 1:
        sys.exit(f"resilient: --every {options.every} is not a number of steps; give 1 or more")
    if not least <= options.tolerance < 1:
        sys.exit(f"resilient: --tolerance {options.tolerance} is not from {least:.1e} to less than 1")
    world = tutti.world()
    if not 0 <= options.lose < world.size or options.n < world.size:
        sys.exit(f"resilient: {world.size} ranks cannot lose {options.lose}, or share {options.n} rows")
    solver = Solver(world, options)
    error = solver.solve()
    if solver.group.rank == 0:
        lost = sorted(rank for _, ranks in solver.losses for rank in ranks)
        print(f"{len(solver.log)} steps on {world.size} ranks, without {lost} at the end: largest error {error:.1e}")
        if options.picture:
            draw(solver, options.picture)
    if not error <= solver.bound():  # also where it is no number
        sys.exit(f"resilient: the answer is wrong: {error:.1e} is more than {solver.bound():.1e}")


if __name__ == "__main__":
    main()
