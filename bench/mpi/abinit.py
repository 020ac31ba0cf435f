# SPDX-License-Identifier: BSD-3-Clause
"""abinit, an unmodified Fortran program of Debian's on its Open MPI: what it computes bare and with the drop-in.

Two ranks: the same bits in every step's energy and in the density; four: energies within 1e-10 Ha, as many steps."""

import argparse
import pathlib
import re
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/mpi"))

import mpi_jobs
import mpis

INPUT = pathlib.Path("/usr/share/doc/abinit/examples/tbase3_1.abi")
POTENTIALS = "/usr/share/abinit/psp"
STEP = re.compile(r"^ ETOT\s+\d+\s+(\S+)", re.MULTILINE)
CLOSE = 1e-10  # Ha


def run(ranks, policy):
    """Energies of all steps as printed, the bytes of the density, and the seconds it took."""
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        shutil.copy(INPUT, folder / "si.abi")
        start = time.monotonic()
        done = mpi_jobs.run(
            mpis.get("debian-openmpi"),
            ranks,
            ["abinit", "si.abi"],
            policy=policy,
            timeout=300,
            environment={"ABI_PSPDIR": POTENTIALS},
            cwd=folder,
        )
        seconds = time.monotonic() - start
        energies = STEP.findall(done.checked())
        assert energies, done.out[-2000:]
        return energies, (folder / "sio_DEN").read_bytes(), seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--policy", default="always", choices=("auto", "always", "never"))
    chosen = parser.parse_args()
    if shutil.which("abinit") is None or not INPUT.exists():
        parser.error("no abinit here: apt-get install abinit abinit-data")
    wrong = 0
    for ranks in (2, 4):
        bare, bare_density, bare_seconds = run(ranks, "bare")
        ours, density, seconds = run(ranks, chosen.policy)
        same = bare == ours and bare_density == density
        close = len(bare) == len(ours) and abs(float(bare[-1]) - float(ours[-1])) <= CLOSE
        good = same if ranks == 2 else close
        wrong += not good
        print(
            f"{ranks} ranks: {len(bare)} steps to {bare[-1]} Ha bare, {len(ours)} to {ours[-1]} with the drop-in; "
            f"{'the same bits' if same else 'other bits'}; {bare_seconds:.1f} s, {seconds:.1f} s: "
            f"{'ok' if good else 'WRONG'}"
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
