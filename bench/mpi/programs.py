# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs that verify themselves, bare and with the drop-in: those of the OSU micro-benchmarks, of the Intel MPI
benchmarks and hpcc. OSU's are looked for in a folder where they were built for the chosen MPI; IMB comes with impi's
wheel; hpcc is Debian's (apt-get install hpcc) and belongs to debian-openmpi."""

import argparse
import pathlib
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/mpi"))

import mpi_jobs
import mpis

IMB = {
    "IMB-MPI1": ("Bcast", "Allreduce", "Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Reduce", "Reduce_scatter",
                 "Gather", "Gatherv", "Scatter", "Scatterv", "Barrier"),
    "IMB-NBC": ("Ibcast", "Iallreduce", "Iallgather", "Ialltoall", "Ireduce", "Igather", "Iscatter", "Ibarrier"),
}  # fmt: skip


def osu(chosen, mpi):
    """Every collective of a built OSU, with its own validation."""
    for program in sorted(chosen.osu.resolve().rglob("osu_*")):
        if program.is_file() and program.parent.name in ("blocking", "non_blocking", "persistent"):
            yield program.name, [program, "-c", "-m", "1:65536", "-i", "20", "-x", "2"], "Fail"


def imb(_, mpi):
    """The collectives of IMB, which end with an error when one of theirs does."""
    for program, names in IMB.items():
        for name in names:
            command = [mpi.place / "bin" / program, "-npmin", "2", "-iter", "20", "-msglog", "0:16", name]
            yield f"{program} {name}", command, "ERROR"


def hpcc(_, mpi):
    """The HPC challenge with its example input, small; every part of it verifies its result."""
    yield "hpcc", [shutil.which("hpcc")], "FAILED"


def play(mpi, ranks, command, policy, bad):
    """What is wrong with one run, or nothing, and its time."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        example = pathlib.Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
        if example.exists():
            shutil.copy(example, pathlib.Path(folder) / "hpccinf.txt")
        done = mpi_jobs.run(mpi, ranks, command, policy=policy, timeout=600, cwd=folder)
        text = done.out + done.err + "".join(one.read_text() for one in pathlib.Path(folder).glob("hpccoutf.txt"))
    seconds = time.monotonic() - start
    if done.status != 0:
        return f"status {done.status}: {text[-600:]}", seconds
    return next((line for line in text.splitlines() if bad in line), ""), seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=("osu", "imb", "hpcc"))
    parser.add_argument("--mpi", choices=mpis.NAMES, help="default: impi for imb, debian-openmpi for hpcc")
    parser.add_argument("--osu", type=pathlib.Path, help="the folder with OSU's programs, built for that MPI")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--policy", default="always", choices=("auto", "always", "never"))
    chosen = parser.parse_args()
    if chosen.kind == "osu" and (chosen.osu is None or chosen.mpi is None):
        parser.error("osu needs --osu FOLDER and --mpi NAME")
    mpi = mpis.get(chosen.mpi or {"imb": "impi", "hpcc": "debian-openmpi"}[chosen.kind])
    wrong = 0
    for name, command, bad in {"osu": osu, "imb": imb, "hpcc": hpcc}[chosen.kind](chosen, mpi):
        bare, bare_seconds = play(mpi, chosen.ranks, command, "bare", bad)
        with_it, seconds = play(mpi, chosen.ranks, command, chosen.policy, bad)
        print(
            f"{name}: bare {bare or 'right'} ({bare_seconds:.1f} s), drop-in {with_it or 'right'} ({seconds:.1f} s)",
            flush=True,
        )
        wrong += bool(with_it) and not bare
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
