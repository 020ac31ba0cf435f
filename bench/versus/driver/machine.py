# SPDX-License-Identifier: BSD-3-Clause
"""What the comparison ran on: the machine in one line, its load, and how fast it copies."""

import datetime
import json
import os
import pathlib
import platform
import subprocess

from . import peers


def describe(cores):
    """The machine in one line."""
    model = "unknown processor"
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    memory = next(
        line for line in pathlib.Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemTotal")
    )
    gigabytes = int(memory.split()[1]) / 2**20
    return (
        f"{model}, {len(cores)} of {os.cpu_count()} cores used, {gigabytes:.0f} GiB, "
        f"{platform.system()} {platform.release()}"
    )


def now():
    """The minute, for the first line of a page."""
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


def busy():
    """Seconds of processor time that the whole machine has spent so far, or that were stolen from it."""
    fields = [int(field) for field in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    tick = os.sysconf("SC_CLK_TCK")
    # The eighth is what was stolen; guests' time, behind it, stands in the first two as well.
    return (sum(fields[:8]) - fields[3] - fields[4]) / tick


def floor_program(binaries):
    """tutti-floor of the same build; it is not installed."""
    path = binaries.parent / "bench" / "tutti-floor"
    return path if os.access(path, os.X_OK) else None


def ask_floor(program, cores, *arguments):
    """What tutti-floor says of these cores."""
    bound = ["taskset", "--cpu-list", ",".join(map(str, cores)), str(program)]
    try:
        done = subprocess.run([*bound, *arguments], capture_output=True, text=True, check=False, timeout=300)
    except subprocess.TimeoutExpired as late:
        raise peers.Failure(f"{program} {' '.join(arguments)} took more than {late.timeout} s") from late
    if done.returncode != 0:
        raise peers.Failure(f"{program} failed: {done.stderr.strip()}")
    return json.loads(done.stdout)


def line_time(program, cores):
    """Nanoseconds that a cache line takes from core to core now; None where nobody can tell or there is one core."""
    return None if program is None else ask_floor(program, cores, "--line")


def meeting_times(program, cores, counts):
    """{processes: microseconds} of the barest barrier of so many on these cores."""
    if program is None or not counts:
        return {}
    rows = ask_floor(program, cores, "--meetings", ",".join(map(str, sorted(counts))))
    return {row["processes"]: row["meeting_ns"] / 1e3 for row in rows}


def copy_times(program, cores, sizes):
    """{bytes: microseconds} of one copy on a core while all others copy, too, as {"copy_us": by memcpy, Tutti's own or
    process_vm_readv, whichever is fastest; "read_us": by process_vm_readv, where the kernel allows it}."""
    wanted = sorted({size for size in sizes if size > 0})
    if program is None or not wanted:
        return {}
    rows = {row.pop("bytes"): row for row in ask_floor(program, cores, "--copies", ",".join(map(str, wanted)))}
    return {
        "copy_us": {size: min(time for time in row.values() if time) / 1e3 for size, row in rows.items()},
        "read_us": {size: row["read_ns"] / 1e3 for size, row in rows.items() if row["read_ns"]},
    }
