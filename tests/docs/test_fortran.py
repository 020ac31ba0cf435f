# SPDX-License-Identifier: BSD-3-Clause
"""The program of docs/fortran.md, by the lines under it, against an installed copy."""

import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/fortran.md").read_text()
BUILD = pathlib.Path(os.environ["TUTTI_BUILD"])


def run(line, folder, **environment):
    done = subprocess.run(
        ["bash", "-ec", line],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_names_what_is_missing():
    """Functions of C that the module has under no name of its own."""
    called_otherwise = {"tutti_last_error", "tutti_last_error_peer", "tutti_sum", "tutti_isum"}
    functions = re.compile(r"TUTTI_C_API[^;(]*?\b(tutti_\w+)\(")
    headers = "".join((ROOT / "include/tutti" / name).read_text() for name in ("tutti.h", "topology.h"))
    there = set(re.findall(r"\btutti_\w+", (BUILD / "fortran/tutti.f90").read_text()))
    missing = set(functions.findall(headers)) - there - called_otherwise
    named = re.findall(r"`(tutti_\w+)`", PAGE.partition("It is installed as source")[0])
    assert missing - set(named) == {"tutti_from_mpi_at"}  # "groups made from MPI communicators"
    assert set(named) <= missing


def test_program(tmp_path):
    prefix = tmp_path / "prefix"
    run(f"cmake --install {BUILD} --prefix {prefix}", tmp_path)
    (tmp_path / "total.f90").write_text(re.search(r"```fortran\n(.*?)```", PAGE, re.DOTALL).group(1))
    compile_it, start_it = re.findall(r"^    ((?:gfortran|tutti) .*)$", PAGE, re.MULTILINE)
    place = {"PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig"), "LD_LIBRARY_PATH": str(prefix / "lib")}
    run(compile_it, tmp_path, **place)
    printed = re.search(r"\nprints\n\n((?:    .*\n)+)", PAGE).group(1)
    assert run(start_it, tmp_path, **place) == re.sub(r"(?m)^    ", "", printed)
