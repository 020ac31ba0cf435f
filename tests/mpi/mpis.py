# SPDX-License-Identifier: BSD-3-Clause
"""The MPI libraries that the drop-in is tried with, as data: how to compile for each, how to start it.

Those of PyPI are the peers of `tutti bench`, in the same folder (or TUTTI_PEERS); Debian's come by `scripts/setup mpi`.
"""

import dataclasses
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/versus"))

from driver import peers  # noqa: E402 - a program's folder, not a package

PEERS = pathlib.Path(os.environ.get("TUTTI_PEERS") or peers.default_folder())
OPENMPI_OPTIONS = ("--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", "{ranks}")
# More ranks than cores: who waits lets others run.
OPENMPI_WAITS = {"OMPI_MCA_mpi_yield_when_idle": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
# What bare libraries do wrong, found by running the random programs on them, in the words of random/*.c.
MPICH_FAULTS = (
    "testall of persistent collectives",
    "reductions of types with gaps",
    "types freed early",
    "groups freed early",
    "gathers of structs",
)
# Open MPI ends and hangs in them where a rank has nobody or itself beside it, and the programs have many such ranks.
OPENMPI_FAULTS = ("groups of groups with neighbours", "collectives along edges")
# MPICH, to which Open MPI is compared, empties the status of a persistent receive in the look before the completion.
REFERENCE_FAULTS = ("looks at persistent messages",)
# MPICH's non-blocking gather up a tree loses blocks of some types on their way through a third rank: they go straight.
STRAIGHT = {"MPIR_CVAR_GATHER_VSMALL_MSG_SIZE": "1000000000"}


@dataclasses.dataclass(frozen=True)
class Mpi:
    """One library behind one ABI."""

    name: str
    peer: str = ""  # of PyPI; otherwise Debian's
    headers: str = ""  # the peer whose mpi.h it shares
    compiler: tuple = ("cc",)
    cplusplus: tuple = ("c++",)
    fortran: tuple = ()
    libraries: tuple = ()
    flags: tuple = ()
    launcher: tuple = ()  # {ranks} is replaced
    environment: dict = dataclasses.field(default_factory=dict)
    avoids: tuple = ()  # what the random programs leave out on it
    reference: str = ""  # who says what they have to leave in memory; itself where it can do them all
    witness: str = ""  # who is asked where a library that is its own reference and the drop-in leave different things
    other_way: dict = dataclasses.field(default_factory=dict)  # settings with which it is asked as well then
    flags_of_random: tuple = ()

    @property
    def place(self):
        return PEERS / self.peer

    def setting(self, key):
        """Where a library's own file is, for mpi4py and for those who preload it."""
        return str(self.place / "lib" / key)

    def compile_words(self, language="c"):
        """What stands in front of the sources, and behind them."""
        front = {"c": self.compiler, "c++": self.cplusplus, "fortran": self.fortran}[language]
        if not self.peer:
            return [*front, *self.flags], []
        include = PEERS / (self.headers or self.peer) / "include"
        library = self.place / "lib"
        # Some of these libraries need others of the same folder.
        rpath = [f"-L{library}", *self.libraries, f"-Wl,-rpath,{library}", "-Wl,--allow-shlib-undefined"]
        return [*front, *self.flags, f"-I{include}"], rpath

    def launch_words(self, ranks):
        return [word.format(ranks=ranks) for word in self.launcher]


def of_peer(name, peer, **more):
    """What the list of peers says about starting it, with the setting that suits many ranks on few cores."""
    known = peers.PEERS[peer]
    launcher = (str(PEERS / peer / known.launcher[0]), *known.launcher[1:])
    place = PEERS / peer
    environment = {key: value.format(place=place) for key, value in known.environment.items()}
    environment.update(peers.yielding(known.settings).environment)
    libraries = more.pop("libraries", ("-lmpi",))
    headers = known.headers
    return Mpi(name, peer, headers, launcher=launcher, environment=environment, libraries=libraries, **more)


ALL = (
    of_peer("openmpi", "openmpi", avoids=(*OPENMPI_FAULTS, *REFERENCE_FAULTS), reference="mpich"),
    of_peer("mpich", "mpich", avoids=MPICH_FAULTS, witness="openmpi", other_way=STRAIGHT),
    of_peer("impi", "impi", avoids=MPICH_FAULTS, reference="mpich"),
    of_peer(
        "mpich-abi",
        "mpich",
        libraries=("-lmpi_abi",),
        flags=("-DMPI_ABI",),
        avoids=MPICH_FAULTS,
        witness="openmpi",
        other_way=STRAIGHT,
    ),
    of_peer("impi-abi", "impi", libraries=("-lmpi_abi",), flags=("-DMPI_ABI",), avoids=MPICH_FAULTS, reference="mpich"),
    Mpi(
        "debian-openmpi",
        compiler=("mpicc.openmpi",),
        cplusplus=("mpicxx.openmpi",),
        fortran=("mpif90.openmpi",),
        launcher=("mpirun.openmpi", *OPENMPI_OPTIONS),
        environment=OPENMPI_WAITS,
        avoids=(*OPENMPI_FAULTS, *REFERENCE_FAULTS),
        reference="mpich",
        flags_of_random=("-DWITHOUT_PERSISTENT",),
    ),
    Mpi(
        "debian-mpich",
        compiler=("mpicc.mpich",),
        cplusplus=("mpicxx.mpich",),
        fortran=("mpif90.mpich",),
        launcher=("mpirun.mpich", "-n", "{ranks}"),
        avoids=MPICH_FAULTS,
        reference="mpich",
    ),
)
NAMES = tuple(mpi.name for mpi in ALL)
WITH_FORTRAN = tuple(mpi.name for mpi in ALL if mpi.fortran)
ABIS = ("openmpi", "mpich", "mpich-abi")  # one library for each ABI


def get(name):
    """A library by its name, installed."""
    mpi = next(one for one in ALL if one.name == name)
    for peer in {mpi.peer, mpi.headers} - {""}:
        peers.install(peer, PEERS, print)
    return mpi
