# SPDX-License-Identifier: BSD-3-Clause
"""Runs mpi4py's own tests bare and with the drop-in: nothing may fail with it that passes without."""

import argparse
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/mpi"))

import mpi4
import mpi_jobs
import mpis

BAD = re.compile(r"^(?:FAIL|ERROR): (\w+) \(([\w.]+)\)", re.MULTILINE)


def bad_tests(mpi, tests, ranks, policy, options):
    """The tests that fail on some rank, and whether the run came to its end."""
    command = [mpi4.python(mpi), tests / "main.py", *options]
    done = mpi_jobs.run(mpi, ranks, command, policy=policy, timeout=1500, cwd=tests.parent)
    text = done.out + done.err
    ended = len(re.findall(r"^Ran \d+ tests", text, re.MULTILINE))
    return {f"{case}.{test}" for test, case in BAD.findall(text)}, ended, text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", nargs="+", default=["openmpi", "mpich"], choices=["openmpi", "mpich", "impi"])
    parser.add_argument("--ranks", nargs="+", type=int, default=[1, 2, 3, 4])
    parser.add_argument("--policy", default="always", choices=("auto", "always", "never"))
    parser.add_argument("--work", type=pathlib.Path, default=mpi_jobs.WORK / "mpi4py", help="a folder for the sources")
    parser.add_argument("options", nargs="*", help="what mpi4py's test/main.py takes, behind --")
    chosen = parser.parse_args()
    tests = mpi4.own_tests(chosen.work.resolve())
    worse = 0
    for name in chosen.mpi:
        mpi = mpis.get(name)
        for ranks in chosen.ranks:
            start = time.monotonic()
            bare, bare_ended, _ = bad_tests(mpi, tests, ranks, "bare", chosen.options)
            between = time.monotonic()
            with_it, ended, text = bad_tests(mpi, tests, ranks, chosen.policy, chosen.options)
            new = sorted(with_it - bare)
            print(
                f"{name}, {ranks} ranks: bare {len(bare)} fail, {bare_ended} ranks ended, {between - start:.0f} s; "
                f"with the drop-in {len(with_it)} fail, {ended} ranks ended, {time.monotonic() - between:.0f} s; "
                f"only with it: {new}",
                flush=True,
            )
            if ended < bare_ended:
                print(text[-2000:])
            worse += len(new) + (ended < bare_ended)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
