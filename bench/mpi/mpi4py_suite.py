# SPDX-License-Identifier: BSD-3-Clause
"""Runs mpi4py's own tests bare and with the drop-in: nothing may fail with it that passes without."""

import argparse
import pathlib
import re
import shutil
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/mpi"))

import mpi4
import mpi_jobs
import mpis

BAD = re.compile(r"^(?:FAIL|ERROR): \w+ \(([\w.]+)\)(.*)", re.MULTILINE)
ENDED = re.compile(r"^Ran \d+ tests", re.MULTILINE)


# Each rank writes into a file of its own: lines of several ranks in one would be torn.
INTO_FILES = ("sh", "-c", 'exec "$@" >"$0.$$" 2>&1')
# MPICH's wheel ends the whole job in these, bare too, and with it the tests that would come behind them.
LEFT_OUT = {"mpich": ("test_spawn", "test_util_pool")}


def bad_tests(mpi, tests, ranks, policy, chosen):
    """The tests that fail on some rank, how many ranks came to their end, and the last words of those that did not."""
    folder = chosen.work.resolve() / f"{mpi.name}-{ranks}-{policy}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    options = [word for module in LEFT_OUT.get(mpi.name, ()) for word in ("-e", module)]
    command = [*INTO_FILES, folder / "rank", mpi4.python(mpi), tests / "main.py", "-v", *options, *chosen.options]
    how = {"hosts": chosen.hosts if policy != "bare" else 1, "timeout": chosen.limit}
    mpi_jobs.run(mpi, ranks, command, policy=policy, cwd=tests.parent, **how)
    texts = [file.read_text(errors="replace") for file in sorted(folder.iterdir())]
    ended = [ENDED.search(text) is not None for text in texts]
    bad = {f"{case} {more}".strip() for text in texts for case, more in BAD.findall(text)}
    return bad, sum(ended), [text[-500:] for text, at_end in zip(texts, ended, strict=True) if not at_end]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", nargs="+", default=["openmpi", "mpich"], choices=["openmpi", "mpich", "impi"])
    parser.add_argument("--ranks", nargs="+", type=int, default=[1, 2, 3, 4])
    parser.add_argument("--hosts", type=int, default=1, help="that the ranks take themselves to be on")
    parser.add_argument("--policy", default="always", choices=("auto", "always", "never"))
    parser.add_argument("--work", type=pathlib.Path, default=mpi_jobs.WORK / "mpi4py", help="a folder for the sources")
    parser.add_argument("--limit", type=int, default=1500, help="seconds that one run may take")
    parser.add_argument("options", nargs="*", help="what mpi4py's test/main.py takes, behind --")
    chosen = parser.parse_args()
    tests = mpi4.own_tests(chosen.work.resolve())
    worse = 0
    for name in chosen.mpi:
        mpi = mpis.get(name)
        for ranks in chosen.ranks:
            start = time.monotonic()
            bare, bare_ended, _ = bad_tests(mpi, tests, ranks, "bare", chosen)
            between = time.monotonic()
            with_it, ended, last_words = bad_tests(mpi, tests, ranks, chosen.policy, chosen)
            new = sorted(with_it - bare)
            print(
                f"{name}, {ranks} ranks: bare {len(bare)} fail, {bare_ended} ranks ended, {between - start:.0f} s; "
                f"with the drop-in {len(with_it)} fail, {ended} ranks ended, {time.monotonic() - between:.0f} s; "
                f"only with it: {new}",
                flush=True,
            )
            if ended < bare_ended:
                print(*last_words, sep="\n---\n")
            if bare_ended == 0:
                print(f"{name}, {ranks} ranks: bare, no rank came to the end of the tests; nothing is compared")
            worse += len(new) + (ended < bare_ended) + (bare_ended == 0)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
