# SPDX-License-Identifier: BSD-3-Clause
"""The shared library: what it links, what it shows, and that strangers' projects can use an installed copy."""

import os
import pathlib
import re
import subprocess

import pytest
from conftest import ROOT, run

OUTSIDE = pathlib.Path(__file__).parent / "outside"
ALLOWED = {"libc.so.6", "libstdc++.so.6", "libm.so.6", "libgcc_s.so.1", "libpthread.so.0", "ld-linux-x86-64.so.2"}


def version():
    return re.search(r'TUTTI_VERSION "(.*)"', (ROOT / "include/tutti/version.h").read_text()).group(1)


def test_links_nothing_but_the_runtime(library):
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", library)))
    assert "libc.so.6" in needed
    assert needed <= ALLOWED


def test_programs_link_nothing_that_may_be_missing(prefix):
    for program in (prefix / "bin").iterdir():
        needed = set(re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", program)))
        assert {name for name in needed if not name.startswith("libtutti.so.")} <= ALLOWED | {
            "libbz2.so.1.0",
            "libhwloc.so.15",
        }


def test_soname_carries_the_version(library):
    soname = re.search(r"SONAME.*\[(.*)\]", run("readelf", "-d", library)).group(1)
    assert soname == "libtutti.so." + ".".join(version().split(".")[:2])
    assert library.resolve().name == "libtutti.so." + version()


def test_shows_only_the_public_api(library):
    names = run("nm", "-D", "-C", "--defined-only", "--format=just-symbols", library).splitlines()
    # Templates of the standard library that it instantiates come out weak or unique; they do no harm.
    ours = [name for name in names if "std::" not in name.split("(")[0] and "__gnu" not in name]
    rooms = "|".join(path.name for path in (ROOT / "src").iterdir() if path.is_dir())
    internal = [name for name in ours if re.search(rf"\btutti::({rooms})::", name.split("(")[0])]
    strange = [name for name in ours if "tutti" not in name]
    assert any("tutti::Error" in name for name in ours)
    assert internal == []
    assert strange == []


def test_installs_every_public_header_and_no_other(prefix):
    installed = {path.relative_to(prefix / "include") for path in (prefix / "include").rglob("*") if path.is_file()}
    public = {path.relative_to(ROOT / "include") for path in (ROOT / "include/tutti").rglob("*") if path.is_file()}
    assert installed == public


def check_stands_alone(header, place, *includes):
    compiler = ["gcc", "-std=c99", "-x", "c"] if header.suffix == ".h" else ["g++", "-std=c++20", "-x", "c++"]
    source = place / "only.txt"
    source.write_text(f"#include <tutti/{header.name}>\nint something;\n")
    run(*compiler, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", *includes, source)


def test_public_headers_stand_alone(prefix, tmp_path):
    headers = {path for path in (prefix / "include/tutti").iterdir() if not path.name.startswith("mpi")}
    assert len(headers) > 10
    for header in sorted(headers):
        check_stands_alone(header, tmp_path, f"-I{prefix}/include")


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_public_headers_for_mpi_stand_alone(build, prefix, tmp_path, mpi):
    """Those of mpi* include the program's own mpi.h."""
    peers = re.search(r"^TUTTI_MPI_PEERS:PATH=(.*)$", (build / "CMakeCache.txt").read_text(), re.MULTILINE).group(1)
    headers = list((prefix / "include/tutti").glob("mpi*"))
    assert headers
    for header in headers:
        check_stands_alone(header, tmp_path, f"-I{prefix}/include", "-isystem", f"{peers}/{mpi}/include")


def check_runs(prefix, program):
    """Started alone it is a world of one; the installed launcher makes it three."""
    assert run(program) == f"tutti {version()}: the sum over 1 is 42\n"
    assert run(prefix / "bin/tutti", "run", "-n", 3, program) == f"tutti {version()}: the sum over 3 is 126\n"


def test_outside_project_by_cmake(prefix, tmp_path):
    run("cmake", "-S", OUTSIDE, "-B", tmp_path, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path)
    check_runs(prefix, tmp_path / "outside")
    check_runs(prefix, tmp_path / "outside_fortran")


def pkgconfig(library, *question):
    environment = {**os.environ, "PKG_CONFIG_PATH": str(library.parent / "pkgconfig")}
    return run("pkg-config", *question, "tutti", env=environment).split()


def test_pkgconfig_knows_the_version(library):
    assert pkgconfig(library, "--modversion") == [version()]


@pytest.mark.parametrize(
    ("compiler", "source"),
    [(("g++", "-std=c++20"), "outside.cpp"), (("gcc", "-std=c99", "-Wpedantic"), "outside.c")],
    ids=["c++", "c"],
)
def test_outside_project_by_pkgconfig(prefix, library, tmp_path, compiler, source):
    program = tmp_path / "outside"
    flags = [*pkgconfig(library, "--cflags", "--libs"), f"-Wl,-rpath,{library.parent}"]
    run(*compiler, "-Wall", "-Wextra", "-Werror", OUTSIDE / source, "-o", program, *flags)
    check_runs(prefix, program)


def test_outside_mpi_program_by_pkgconfig(prefix, library, tmp_path):
    """What knows the MPI is found beside the library."""
    program = tmp_path / "outside_mpi"
    flags = [*pkgconfig(library, "--cflags", "--libs"), f"-Wl,-rpath,{library.parent}"]
    run("mpicxx.openmpi", "-std=c++20", OUTSIDE / "outside_mpi.cpp", "-o", program, *flags)
    launcher = ("mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", 3)
    assert run(*launcher, program) == "the sum over 3 is 84\n"


def test_outside_fortran_by_pkgconfig(prefix, library, tmp_path):
    program = tmp_path / "outside"
    home = pathlib.Path(pkgconfig(library, "--variable=fortran")[0])
    sources = [home / "tutti.f90", *sorted(home.glob("*.c"))]
    flags = [*pkgconfig(library, "--cflags", "--libs"), f"-Wl,-rpath,{library.parent}"]
    run("gfortran", *sources, OUTSIDE / "outside.f90", "-o", program, *flags, cwd=tmp_path)
    check_runs(prefix, program)


def test_fortran_has_every_function_of_c(prefix):
    headers = "".join((ROOT / "include/tutti" / name).read_text() for name in ("tutti.h", "topology.h"))
    in_c = set(re.findall(r"TUTTI_C_API [^;(]*?\btutti_(\w+)\(", headers))
    assert {"layout_box", "alltoallw_init", "deliveries"} < in_c
    module = (prefix / "share/tutti/fortran/tutti.f90").read_text()
    in_fortran = set(re.findall(r'name="tutti_(?:fortran_)?(\w+)"', module))
    # error_message does what two of them do; status_name and type_size are of constants of Fortran's own; sections of
    # arrays say themselves where they lie; from_mpi_at is part of mpi.h.
    assert in_c - in_fortran == {"last_error", "last_error_peer", "status_name", "type_size", "laid_out", "from_mpi_at"}
    assert in_fortran - in_c == {"error_message", "in_place"}


def test_cmake_refuses_another_version(prefix, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(outside CXX)\nfind_package(tutti 99.0 REQUIRED CONFIG)\n"
    )
    command = ["cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert 'requested version "99.0"' in " ".join(done.stderr.split())
