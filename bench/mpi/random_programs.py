# SPDX-License-Identifier: BSD-3-Clause
"""Plays many random MPI programs with the drop-in and compares what they leave in memory (tests/mpi/seeds.py)."""

import argparse
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/mpi"))

import mpis
import seeds


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", nargs="+", default=mpis.ABIS, choices=mpis.NAMES, help="the libraries")
    parser.add_argument("--ranks", nargs="+", type=int, default=[3, 4])
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--count", type=int, default=500, help="how many seeds")
    parser.add_argument("--policy", default="always", choices=("bare", "auto", "always", "never"))
    chosen = parser.parse_args()
    wrong = 0
    for name in chosen.mpi:
        for ranks in chosen.ranks:
            start = time.monotonic()
            numbers = range(chosen.first, chosen.first + chosen.count)
            compared, complaints, left_out = seeds.compare(mpis.get(name), ranks, numbers, policy=chosen.policy)
            seconds = time.monotonic() - start
            print(
                f"{name}, {ranks} ranks: {compared} compared in {seconds:.0f} s, {len(complaints)} wrong, "
                f"{len(left_out)} left out: {sorted(left_out)}",
                flush=True,
            )
            print("\n".join(complaints), flush=True)
            if compared == 0:
                print(f"{name}, {ranks} ranks: nothing was compared")
            wrong += len(complaints) + (compared == 0)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
