# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py for each MPI library: in the library's own environment of Python, where its wheel finds it."""

import subprocess
import tarfile

import mpis

VERSION = "4.1.2"


def python(mpi):
    """The Python that has mpi4py and this MPI."""
    program = mpi.place / "bin/python"
    check = subprocess.run([program, "-m", "pip", "show", "mpi4py"], capture_output=True, text=True, check=False)
    if f"Version: {VERSION}" not in check.stdout:
        words = [program, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"mpi4py=={VERSION}"]
        subprocess.run(words, check=True)
    return program


def own_tests(folder):
    """The folder of mpi4py's own tests, from its source package."""
    place = folder / f"mpi4py-{VERSION}" / "test"
    if not place.exists():
        folder.mkdir(parents=True, exist_ok=True)
        words = ["download", "--quiet", "--no-deps", "--no-binary", "mpi4py"]
        pip = [mpis.sys.executable, "-m", "pip", *words, "--dest", str(folder), f"mpi4py=={VERSION}"]
        subprocess.run(pip, check=False, capture_output=True)
        with tarfile.open(next(folder.glob("mpi4py-*.tar.gz"))) as archive:
            archive.extractall(folder, filter="data")
    return place
