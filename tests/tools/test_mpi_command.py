# SPDX-License-Identifier: BSD-3-Clause
"""`tutti mpi` before any MPI is there: what it preloads, what it says when it cannot, what `tutti info` says of it."""

import pathlib
import re
import shutil

import pytest
from programs import tutti


def library():
    return pathlib.Path(tutti("mpi", "--path").stdout.strip())


def test_path_is_the_library():
    assert library().is_file()
    assert library().name == "libtutti-mpi.so"


def test_becomes_the_command():
    # The program's own words are not read.
    out = tutti("mpi", "--policy", "always,bcast:never", "env", "--null").stdout
    words = dict(line.split("=", 1) for line in out.split("\0") if "=" in line)
    assert words["LD_PRELOAD"] == str(library())
    assert words["TUTTI_MPI"] == "always,bcast:never"
    assert tutti("mpi", "sh", "-c", "exit 7", expected=7).stderr == ""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("libm.so.6", "libm.so.6:{}"),
        ("libm.so.6 /lib64/libdl.so.2", "libm.so.6:/lib64/libdl.so.2:{}"),
        (":libm.so.6:libmpi.so.40:libdl.so.2", "libm.so.6:{}:libmpi.so.40:libdl.so.2"),
        ("/mpi/libmpi_abi.so.0:libmpi.so.12", "{}:/mpi/libmpi_abi.so.0:libmpi.so.12"),
        ("libmpiP.so", "libmpiP.so:{}"),
    ],
)
def test_what_is_preloaded_stays_before_it_but_for_an_mpi(before, after):
    out = tutti("mpi", "env", "--null", LD_PRELOAD=before).stdout
    assert f"LD_PRELOAD={after.format(library())}" in out.split("\0")


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [((), 2, "no command is given"), (("no-such-program",), 2, "name a program that is on the PATH")],
)
def test_says_what_is_wrong(words, status, text):
    assert text in tutti("mpi", *words, expected=status).stderr


def row(program="tutti"):
    return re.search(r"^MPI drop-in +(.*)$", tutti("info", program=program).stdout, re.MULTILINE).group(1)


def test_info_says_what_there_is(tmp_path):
    text = row()
    assert text.startswith(str(library()))
    for back in library().parent.glob("libtutti-mpi-*.so"):
        assert {"openmpi": "Open MPI's", "mpich": "MPICH's", "standard": "MPI 5.0's"}[back.stem.split("-")[-1]] in text
    moved = tmp_path / "bin/tutti"
    moved.parent.mkdir()
    shutil.copy(shutil.which("tutti"), moved)
    assert "install Tutti again, with the MPI drop-in" in row(moved)
    tutti("mpi", "true", program=moved, expected=2)
    (tmp_path / "lib").mkdir()
    shutil.copy(library(), tmp_path / "lib")
    assert "has no back end beside it" in row(moved)
    shutil.copy(library(), tmp_path / "lib/libtutti-mpi-mpich.so")
    assert "for the ABIs MPICH's; not Open MPI's, MPI 5.0's: no mpi.h was there" in row(moved)
