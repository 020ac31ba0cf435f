# SPDX-License-Identifier: BSD-3-Clause
"""make demo: N processes compress a real file; the result is checked, timed and compared with bzip2 and pbzip2.

With a slow rank, it also tells what overlap and what shares by speed are worth."""

import argparse
import filecmp
import os
import shlex
import statistics
import subprocess
import sys
import tarfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

FOLDERS = ["/usr/include", "/usr/share", "/usr/lib"]
MODES = ["blocking", "overlap-equal", "overlap"]
console = Console()


def make_input(folder: Path, megabytes: int) -> Path:
    """A tar of files that every Debian machine has, of up to so many MiB; made once for each size."""
    path, most = folder / f"files-{megabytes}.tar", megabytes << 20
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".part")
    with tarfile.open(partial, "w") as tar:
        for root in FOLDERS:
            for file in sorted(Path(root).rglob("*")):
                if not file.is_file() or file.is_symlink() or not os.access(file, os.R_OK):
                    continue
                if tar.offset + file.stat().st_size + 4096 > most:
                    continue
                tar.add(file, recursive=False)
            if tar.offset > most * 0.98:
                break
    return partial.rename(path)


def run(command: str) -> float:
    """Runs a command line and returns its seconds; ends the demo when it fails."""
    start = time.monotonic()
    result = subprocess.run(shlex.split(command), check=False)
    if result.returncode != 0:
        sys.exit(f"demo: failed with status {result.returncode}: {command}")
    return time.monotonic() - start


def check(compressed: Path, original: Path) -> None:
    """Decompresses with bunzip2 and compares byte by byte."""
    unpacked = compressed.with_suffix(".check")
    with unpacked.open("wb") as out:
        subprocess.run(["bunzip2", "--stdout", str(compressed)], stdout=out, check=True)
    if not filecmp.cmp(unpacked, original, shallow=False):
        sys.exit(f"demo: {compressed} does not decompress to {original}")
    unpacked.unlink()


def compare(source: Path, ranks: list[int]) -> None:
    """One row a program: time, ratio, speed-up over bzip2."""
    folder = source.parent
    table = Table(title=f"{source.name}: {source.stat().st_size / 1e6:.1f} MB, {os.cpu_count()} cores")
    table.add_column("program")
    for name in ["seconds", "ratio", "speed-up", "checked"]:
        table.add_column(name, justify="right")
    rows = [("bzip2 -9", "bzip2 --keep --stdout -9"), ("pbzip2 -p2", "pbzip2 -p2 --keep --stdout -9 --quiet")]
    reference = 0.0
    for name, command in rows:
        out = folder / f"{name.split()[0]}.bz2"
        start = time.monotonic()
        with out.open("wb") as file:
            subprocess.run([*shlex.split(command), str(source)], stdout=file, check=True)
        seconds = time.monotonic() - start
        reference = reference or seconds
        add_row(table, name, seconds, out, source, reference)
    for n in ranks:
        out = folder / f"tutti-{n}.bz2"
        seconds = run(f"tutti run -n {n} tutti-compress {source} -o {out}")
        add_row(table, f"tutti-compress on {n}", seconds, out, source, reference)
    console.print(table)


def add_row(table: Table, name: str, seconds: float, out: Path, source: Path, reference: float) -> None:
    check(out, source)
    ratio = out.stat().st_size / source.stat().st_size
    table.add_row(name, f"{seconds:.2f}", f"{ratio:.3f}", f"{reference / seconds:.2f} x", "identical")


def keep_busy(core: int) -> subprocess.Popen:
    """A process that takes all of a core, and ends when this one does, also by SIGKILL."""
    words = ["setpriv", "--pdeathsig", "KILL", "taskset", "-c", str(core), sys.executable, "-c", "while True: pass"]
    return subprocess.Popen(words)


def slowed(source: Path, rounds: int) -> None:
    """What overlap saves, and what it saves to give a slow rank less, when one of four has nice 19 beside a busy loop.

    The modes take turns, since a machine does not stay as fast as it was."""
    core = max(os.sched_getaffinity(0))
    times = {mode: [] for mode in MODES}
    busy = keep_busy(core)
    try:
        for _ in range(rounds):
            for mode in MODES:
                out = source.parent / f"slowed-{mode}.bz2"
                program = f"tutti-compress {source} -o {out} --level 1 --mode {mode} --quiet"
                slow = f"exec taskset -c {core} nice -n 19 {program}"
                choose = f"if [ $TUTTI_RANK = 3 ]; then {slow}; fi; exec {program}"
                times[mode].append(run(f"tutti run -n 4 sh -c {shlex.quote(choose)}"))
                check(out, source)
    finally:
        busy.kill()
        busy.wait()
    size = source.stat().st_size / 1e6
    title = f"one slow rank of 4 (nice 19 beside a busy loop), blocks of 100 kB, {size:.1f} MB, medians of {rounds}"
    table = Table(title=title)
    for name in ["mode", "seconds", "gain over the row above"]:
        table.add_column(name, justify="left" if name == "mode" else "right")
    medians = {mode: statistics.median(times[mode]) for mode in MODES}
    for mode, above in zip(MODES, [None, *MODES]):
        gain = f"{medians[above] / medians[mode]:.2f} x" if above else ""
        table.add_row(mode, f"{medians[mode]:.2f}", gain)
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("build/demo"), help="where input and output go")
    parser.add_argument("--megabytes", type=int, default=128, help="size of the input, at most")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--rounds", type=int, default=3, help="runs of each mode with a slow rank")
    arguments = parser.parse_args()
    source = make_input(arguments.folder, arguments.megabytes)
    compare(source, arguments.ranks)
    sample = arguments.folder / "sample.tar"
    with source.open("rb") as whole, sample.open("wb") as part:
        part.write(whole.read(min(8, arguments.megabytes) << 20))
    slowed(sample, arguments.rounds)


if __name__ == "__main__":
    main()
