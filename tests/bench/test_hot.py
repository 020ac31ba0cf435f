# SPDX-License-Identifier: BSD-3-Clause
"""The functions that small calls run through stand side by side in what is linked (cmake/Hot.cmake)."""

import fnmatch
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import hot  # noqa: E402 - a program's folder, not a package

LIBRARIES = pathlib.Path(os.environ["TUTTI_BUILD"]) / "lib"
OF_BACKS = ROOT / "bindings/mpi/hot.txt"
WRITTEN = """\
ob=(1) /usr/lib/libc.so.6
fn=(1) memcpy
12 30
ob=(2) /somewhere/libtutti.so.0.1.0
fn=(2) _ZN5tutti4callEv
+3 7
cob=(1)
cfn=(1)
calls=5 +12
* 30
cfn=(3) _ZN5tutti4walkEv.constprop.0
calls=3 +12
* 9
cfn=(4) _ZN5tutti4walkEv'2
calls=4 +12
* 9
ob=(3) /somewhere/program
fn=(5) tutti_measured
1 2
cob=(2)
cfn=(2)
calls=90 +1
* 1000
cfn=(6) main
calls=1 +1
* 1000
"""


def functions_of(library):
    """(address, bytes, name) of a library's functions, without their cold parts, which stand elsewhere."""
    out = subprocess.run(["nm", "-S", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    words = [line.split() for line in out.splitlines() if ".cold" not in line]
    return [(int(w[0], 16), int(w[1], 16), hot.plain(w[3])) for w in words if len(w) == 4 and w[2] in "tTwW"]


def names(path):
    return [line for line in path.read_text().splitlines() if not line.startswith("#")]


def test_what_callgrind_writes():
    assert hot.called(WRITTEN) == {"_ZN5tutti4callEv": 90, "_ZN5tutti4walkEv": 7}


@pytest.mark.parametrize(
    ("library", "lists"),
    [
        ("libtutti.so", [hot.LIST]),
        ("libtutti-mpi-openmpi.so", [OF_BACKS, hot.LIST]),
        ("libtutti-mpi-mpich.so", [OF_BACKS, hot.LIST]),
    ],
)
def test_side_by_side(library, lists):
    wanted = [name for path in lists for name in names(path)]
    of_names = re.compile("|".join(fnmatch.translate(name) for name in wanted))
    # One address may have several names.
    hottest = {start: size for start, size, name in functions_of(LIBRARIES / library) if of_names.match(name)}
    span = max(start + size for start, size in hottest.items()) - min(hottest)
    assert span < 1.1 * sum(hottest.values())


def test_the_list_is_of_today():
    known = {hot.pattern(name) for _, _, name in functions_of(LIBRARIES / "libtutti.so")}
    gone = [name for name in names(hot.LIST) if name not in known]
    assert len(gone) < 0.2 * len(names(hot.LIST)), f"write it anew: scripts/hot.py; gone are {gone}"
