# SPDX-License-Identifier: BSD-3-Clause
"""Writes which functions small calls run through, for the linker to put side by side (cmake/Hot.cmake).

hot.py BUILD [BUILD...]     writes cmake/hot.txt: what runs in any of these builds

A name that is missing or gone does no harm: its function stands where it would stand anyway.
"""

import collections
import os
import pathlib
import re
import secrets
import socket
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "cmake/hot.txt"
HEAD = """\
# SPDX-License-Identifier: BSD-3-Clause
# Written by scripts/hot.py: the functions that small calls run through. First those on one host, then what is added
# between hosts; of each, what is called most comes first.
"""
RANKS = 4
HOSTS = (1, 2, RANKS)
CALLGRIND = ("valgrind", "-q", "--tool=callgrind", "--toggle-collect=tutti_measured", "--demangle=no")
# Calls by one rank: in each round in which tutti-hot measures. What runs once a tick, for which calls under callgrind
# take long enough, is called less.
LEAST = 90


def called(text, library="/libtutti.so"):
    """How often the functions of the library were called, by what callgrind has written."""
    names, found, ours, ours_called, function = {}, collections.Counter(), False, False, ""
    for line in text.splitlines():
        key, _, value = line.partition("=")
        if key == "ob":
            ours = ours_called = library in resolve(names, key, value)
        elif key == "cob":  # of the next call alone
            ours_called = library in resolve(names, "ob", value)
        elif key == "fn":
            resolve(names, key, value)
        elif key == "cfn":
            function = resolve(names, "fn", value)
        elif key == "calls":
            if ours_called:
                found[plain(function)] += int(value.split()[0])
            ours_called = ours
    return found


def resolve(names, kind, word):
    """A name that is written once, with a number, and by its number from then on."""
    number, name = re.fullmatch(r"\((\d+)\)(?: (.*))?", word).groups()
    if name is not None:
        names[kind, number] = name
    return names[kind, number]


def plain(function):
    """Without what callgrind and the compiler add: "'2" of a recursion, ".constprop.0"."""
    return re.sub(r"('\d+|\.(constprop|isra|part|lto_priv)\b.*)+$", "", function)


def pattern(name):
    """A constructor or destructor has two names, and its section that of the other."""
    return re.sub(r"(?<=[CD])[12](?=E)", "?", name)


def run(program, hosts, folder):
    """Ranks that share memory on so many hosts; callgrind writes of each into the folder."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        store = f"tcp:127.0.0.1:{free.getsockname()[1]}"
    job = {"TUTTI_SIZE": str(RANKS), "TUTTI_STORE": store, "TUTTI_SECRET": secrets.token_hex(16)}
    ranks = []
    for rank in range(RANKS):
        own = {"TUTTI_RANK": str(rank), "TUTTI_HOST": str(rank % hosts)}
        words = [*CALLGRIND, f"--callgrind-out-file={folder}/{rank}", program]
        ranks.append(subprocess.Popen(words, env={**os.environ, **job, **own}))
    failed = [rank for rank in range(RANKS) if ranks[rank].wait(timeout=600) != 0]
    if failed:
        raise SystemExit(f"hot: {program}: ranks {failed} failed on {hosts} hosts")


def watch(build, hosts):
    """How often calls of this build call each function: a rank's, where it is most."""
    program = pathlib.Path(build).resolve() / "instructions/tutti-hot"
    most = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="tutti-hot-") as folder:
        run(program, hosts, folder)
        for file in pathlib.Path(folder).iterdir():
            most |= called(file.read_text())
    return most


def main(builds):
    if not builds:
        print(__doc__, file=sys.stderr)
        return 2
    names = {}
    for hosts in HOSTS:
        most = collections.Counter()
        for build in builds:
            most |= watch(build, hosts)
        # The linker's own (the jumps to other libraries) and what the compiler's library has cannot be moved.
        wanted = (name for name, calls in most.most_common() if calls >= LEAST)
        names |= dict.fromkeys(pattern(name) for name in wanted if "tutti" in name or "_GLOBAL__N_" in name)
    if not names:
        print("hot: callgrind has seen no function of the library")
        return 1
    LIST.write_text(HEAD + "\n".join(names) + "\n")
    print(f"{LIST.relative_to(ROOT)}: {len(names)} functions")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
