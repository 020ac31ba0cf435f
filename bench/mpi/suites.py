# SPDX-License-Identifier: BSD-3-Clause
"""Programs that verify themselves, as data: where they come from, how they are made, what they print when right.

The OSU micro-benchmarks and the Intel MPI benchmarks are compiled from their sources for one MPI library, into the
folder where the tests' programs are; the rest are Debian's and belong to Debian's Open MPI.
"""

import concurrent.futures
import dataclasses
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import typing

import mpi_jobs as jobs


class Missing(Exception):
    """What the user has to fetch before a suite can run."""


@dataclasses.dataclass(frozen=True)
class Program:
    """One command; it may verify several things."""

    name: str
    command: tuple
    files: dict = dataclasses.field(default_factory=dict)  # what has to lie in its folder: {name: text}
    fewest: int = 2  # ranks
    verifies: bool = True  # so that a run in which nothing was verified is a failure


@dataclasses.dataclass(frozen=True)
class Suite:
    """Programs of one kind. `row` finds in their output what was verified, `heading` the name of what follows."""

    source: str  # where one gets it
    programs: typing.Callable  # (source, mpi, largest) -> programs
    row: re.Pattern  # groups: what, verdict
    good: tuple  # verdicts
    heading: re.Pattern = re.compile(r"(?!)")
    complaint: re.Pattern = re.compile(r"(?!)")  # groups: name, what; wherever it stands
    noise: re.Pattern = re.compile(r"(?!)")  # what other ranks put between the rows, and inside of them
    mpis: tuple = ()  # the only libraries it is made for
    results: str = ""  # a file to which it writes them


def folder_with(source, mark, suite):
    """A folder of sources, or an error that says where to get them."""
    if source is None or not (source / mark).exists():
        raise Missing(f"give --source FOLDER with {mark} in it: {suite}")
    return source.resolve()


# The OSU micro-benchmarks

OSU_SOURCE = "the OSU micro-benchmarks 7.4 or later, https://mvapich.cse.ohio-state.edu/benchmarks/"
OSU_UTILITIES = ("osu_util", "osu_util_mpi", "osu_util_graph", "osu_util_papi", "osu_util_validation")
OSU_KINDS = ("blocking", "non_blocking", "persistent", "neighborhood")
# What configure would say, of which only MPI 4 is a choice.
OSU_FLAGS = ("-w", "-D_ENABLE_MPI4_", "-DFIELD_WIDTH=18", "-DFLOAT_PRECISION=2")
OSU_OPTIONS = ("-c", "-i", "5", "-x", "1", "-u", "1")
# What it receives into where it then does not look.
OSU_CORRECTIONS = {"osu_allreduce_persistent": ("sendbuf_warmup, recvbuf_warmup", "sendbuf_warmup, recvbuf")}
# A sum of MPI_CHAR overflows in its validation, whatever the library.
OSU_TYPES = {True: ("-T", "mpi_int", "-T", "mpi_float"), False: ("-T", "mpi_char", "-T", "mpi_float")}


def corrected(source, mpi):
    """A source, or a copy of it in which it is right."""
    wrong, right = OSU_CORRECTIONS.get(source.stem, ("", ""))
    if not wrong:
        return source
    copy = jobs.WORK / "tests-mpi" / mpi.name / "osu" / source.name
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(source.read_text().replace(wrong, right))
    return copy


def osu(source, mpi, largest):
    """Every collective with its own validation: blocking, non-blocking, persistent and along neighbours."""
    top = folder_with(source, "c/mpi/collective", OSU_SOURCE) / "c"
    utilities = [top / "util" / f"{name}.c" for name in OSU_UTILITIES]
    sources = sorted(one for kind in OSU_KINDS for one in (top / "mpi/collective" / kind).glob("osu_*.c"))

    def program_of(one):
        made = jobs.compile_program(mpi, [corrected(one, mpi), *utilities], *OSU_FLAGS, f"-I{top / 'util'}", "-pthread")
        if "barrier" in one.stem:  # has neither sizes nor anything to validate
            return Program(one.stem, (made, "-i", "50"), verifies=False)
        options = (*OSU_OPTIONS, "-m", f"1:{largest}", *OSU_TYPES["reduce" in one.stem])
        return Program(one.stem, (made, *options), fewest=3 if "neighbor" in one.stem else 2)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(program_of, sources))


# The Intel MPI benchmarks

IMB_SOURCE = "the Intel MPI benchmarks, git clone https://github.com/intel/mpi-benchmarks"
IMB_TARGETS = ("MPI1", "NBC", "MPI4")


def imb(source, mpi, largest):
    """Its three programs of collectives, compiled so that they check what they receive."""
    top = folder_with(source, "src_cpp/MPI1", IMB_SOURCE)
    front, back = mpi.compile_words()
    front_of_cpp, _ = mpi.compile_words("c++")
    words = {
        "CC": " ".join([*front, "-w"]),
        "CXX": " ".join([*front_of_cpp, "-w"]),
        "CPPFLAGS": "-DCHECK -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX",
        "LDFLAGS": " ".join(back),
    }
    digest = hashlib.sha256(repr((words, str(top))).encode()).hexdigest()[:16]
    log = largest.bit_length() - 1
    for target in IMB_TARGETS:
        # It has no build out of tree, and its targets share object files which are not the same: each has a copy.
        place = jobs.WORK / "tests-mpi" / mpi.name / f"imb-{target}-{digest}"
        made = place / "src_cpp" / f"IMB-{target}"
        if not made.exists():
            shutil.copytree(top, place, ignore=shutil.ignore_patterns(".git", "*.o", "IMB-*"), dirs_exist_ok=True)
            command = ["make", "-C", place / "src_cpp", f"-j{os.cpu_count()}", f"TARGET={target}"]
            command += [f"{key}={value}" for key, value in words.items()]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise Missing(f"IMB-{target} does not compile:\n{done.stderr[-2000:]}")
        for more in ((), ("-multi", "0")):  # the second: groups of ranks side by side
            options = ("-npmin", "2", "-iter", "5", "-iter_policy", "off", "-msglog", f"0:{log}", *more)
            yield Program(" ".join([f"IMB-{target}", *more]), (made, *options), fewest=4 if more else 2)


# Debian's

HPCC_SOURCE = "apt-get install hpcc"
HPCC_INPUT = pathlib.Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")


def hpcc(_, __, ___):
    """The HPC challenge with its example input, small; every part of it verifies its result."""
    program = shutil.which("hpcc")
    if program is None or not HPCC_INPUT.exists():
        raise Missing(f"no hpcc here: {HPCC_SOURCE}")
    return [Program("hpcc", (program,), {"hpccinf.txt": HPCC_INPUT.read_text()}, fewest=4)]


SCALAPACK_SOURCE = "apt-get install scalapack-mpi-test"
SCALAPACK = pathlib.Path("/usr/lib/x86_64-linux-gnu/scalapack")


def scalapack(_, mpi, __):
    """ScaLAPACK's own tests: those of its BLACS, its PBLAS and its solvers, each with the input it comes with."""
    top = SCALAPACK / f"{mpi.name.removeprefix('debian-')}-tests"
    if not top.exists():
        raise Missing(f"no {top} here: {SCALAPACK_SOURCE}, and --mpi debian-openmpi or debian-mpich")
    for folder in (top / "BLACS", top / "PBLAS", top):
        inputs = {one.name: one.read_text() for one in folder.glob("*.dat")}
        for one in sorted(folder.iterdir()):
            # The BLACS' are in both folders, and have their input in one.
            if one.is_file() and "." not in one.name and (folder != top or not one.name.endswith("btest")):
                yield Program(one.name, (one,), inputs, fewest=4)


# Not the heading of a table, and of "3 PASSED, 0 FAILED." only the second.
PASSED_OR_FAILED = re.compile(r"()\b(P(?:ASSED|assed)(?! +FAILED|,)|(?:\d+ )?F(?:AILED(?! +SKIPPED)\.?|ailed))")

SUITES = {
    "osu": Suite(
        source=OSU_SOURCE,
        programs=osu,
        heading=re.compile(r"^# Datatype: (\w+)", re.MULTILINE),
        row=re.compile(r"^(\d+)\s[^\n]*?(\S+)[ \t]*$", re.MULTILINE),
        good=("Pass",),
    ),
    "imb": Suite(
        source=IMB_SOURCE,
        programs=imb,
        heading=re.compile(r"^# Benchmarking (?:Multi-)?(\w+)", re.MULTILINE),
        row=re.compile(r"^[ \t]+(\d+)[ \t]+\d+[ \t][^\n]*[ \t](\d+\.\d\d)[ \t]*$", re.MULTILINE),
        good=("0.00",),
        complaint=re.compile(r"^\d+: Error (\w+),\s*size = (\d+)", re.MULTILINE),
        # Ireduce_scatter_pure looks for what another collective brings, and complains with any library.
        noise=re.compile(
            r"\d+: Error \w+,\s*size = \d+,sample #\d+\n|Process \d+: (?:Got invalid|Expected) +buffer: *\n"
            r"|Buffer entry: [-.\d]+ *\n|pos: \d+\n"
        ),
    ),
    "hpcc": Suite(
        source=HPCC_SOURCE,
        programs=hpcc,
        row=PASSED_OR_FAILED,
        good=("PASSED", "Passed", "0 FAILED."),
        mpis=("debian-openmpi",),
        results="hpccoutf.txt",
    ),
    "scalapack": Suite(
        source=SCALAPACK_SOURCE,
        programs=scalapack,
        row=PASSED_OR_FAILED,
        good=("PASSED", "Passed", "0 FAILED."),
        mpis=("debian-openmpi", "debian-mpich"),
    ),
}
