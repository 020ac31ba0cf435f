# SPDX-License-Identifier: BSD-3-Clause
"""Compiles programs for an MPI library and runs them, bare or with the drop-in in between."""

import dataclasses
import hashlib
import os
import pathlib
import signal
import subprocess

import mpis

HERE = pathlib.Path(__file__).resolve().parent
WORK = pathlib.Path(os.environ.get("TUTTI_BUILD") or mpis.ROOT / "build/ci").resolve()
DROP_IN = WORK / "lib/libtutti-mpi.so"
HEADERS = mpis.ROOT / "include/tutti"  # some call Tutti, too
C_FLAGS = ("-std=gnu11", "-g", "-O1", "-Wall", "-Wno-stringop-overread", "-Wno-stringop-overflow")
CPP_FLAGS = ("-std=c++20", "-g", "-O1", "-Wall", f"-I{mpis.ROOT}/src", f"-I{mpis.ROOT}/include")
FORTRAN_FLAGS = ("-O1", "-fallow-argument-mismatch")  # mpif.h has no interfaces
POLICIES = ("bare", "auto", "always", "never")


@dataclasses.dataclass(frozen=True)
class Done:
    """What came of a job."""

    status: int  # None: it took too long
    out: str
    err: str

    def checked(self):
        """Its standard output, of a job that has to succeed."""
        assert self.status == 0, f"status {self.status}\n{self.out[-3000:]}\n{self.err[-3000:]}"
        return self.out


def compile_program(mpi, sources, *flags, shared=False, libraries=()):
    """A program of these sources for an MPI library, made again when they or the words have changed."""
    sources = [pathlib.Path(source) for source in sources]
    language = {".c": "c", ".cpp": "c++"}.get(sources[0].suffix, "fortran")
    front, back = mpi.compile_words(language)
    words = [*front, *{"c": C_FLAGS, "c++": CPP_FLAGS, "fortran": FORTRAN_FLAGS}[language], *flags]
    words += ["-shared", "-fPIC"] if shared else []
    folders = {HEADERS, *(source.parent for source in sources)}
    near = sorted({*sources, *(path for folder in folders for path in folder.glob("*.h*"))})
    texts = [path.read_bytes() for path in near] + [repr((words, back, libraries)).encode()]
    digest = hashlib.sha256(b"".join(texts)).hexdigest()[:16]
    folder = WORK / "tests-mpi" / mpi.name
    program = folder / f"{sources[0].stem}-{digest}{'.so' if shared else ''}"
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        new = f"{program}.{os.getpid()}"
        made = subprocess.run(
            [*words, "-o", new, *map(str, sources), *back, *libraries, "-lm"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert made.returncode == 0, made.stderr[-4000:]
        os.replace(new, program)
    return program


def environment_of(mpi, policy, more=None, preload=()):
    """The environment of a job: `policy` is the drop-in's, or "bare"."""
    assert policy in POLICIES
    libraries = [str(one) for one in preload]
    made = {key: value for key, value in os.environ.items() if not key.startswith(("TUTTI_MPI", "LD_PRELOAD"))}
    if policy != "bare":
        libraries.append(str(DROP_IN))
        made["TUTTI_MPI"] = policy
    if libraries:
        made["LD_PRELOAD"] = ":".join(libraries)
    return {**made, **mpi.environment, **(more or {})}


# Ranks are dealt to hosts in turn.
ON_HOSTS = ("sh", "-c", 'TUTTI_HOST=$((${OMPI_COMM_WORLD_RANK:-$PMI_RANK} % $0)) exec "$@"')


def run(mpi, ranks, command, policy="bare", timeout=60, environment=None, preload=(), cwd=None, hosts=1):
    """Runs a command on so many ranks, which take themselves for processes of several hosts. What takes too long is
    ended through its launcher, which ends the ranks."""
    words = [*mpi.launch_words(ranks), *(map(str, (*ON_HOSTS, hosts)) if hosts > 1 else ()), *map(str, command)]
    env = environment_of(mpi, policy, environment, preload)
    with subprocess.Popen(
        words, env=env, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace"
    ) as job:
        try:
            out, err = job.communicate(timeout=timeout)
            return Done(job.returncode, out, err)
        except subprocess.TimeoutExpired:
            out, err = end(job)
            return Done(None, out, err)


def end(job):
    """First asks the launcher, which then sees to its ranks."""
    for number in (signal.SIGTERM, signal.SIGTERM, signal.SIGKILL):
        job.send_signal(number)
        try:
            return job.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            continue
    return "", "its ranks did not end"
