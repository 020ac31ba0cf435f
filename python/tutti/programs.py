# SPDX-License-Identifier: BSD-3-Clause
"""The commands that `pip install` puts on the path. Each becomes the native program that the package carries."""

import os
import pathlib
import shutil
import sys


def _is_this_script(path):
    return os.path.realpath(path) == os.path.realpath(sys.argv[0])


def find(name):
    """Where a native program lies: in the package (a wheel, a build tree), else on the path; None when nowhere."""
    carried = pathlib.Path(__file__).absolute().parent / "bin" / name
    if os.access(carried, os.X_OK):
        return str(carried)
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    found = (shutil.which(name, path=folder) for folder in folders)
    return next((path for path in found if path and not _is_this_script(path)), None)


def become(name):
    """Replaces this process by a native program with the same arguments."""
    program = find(name)
    if program is None:
        sys.exit(
            f"{name}: this installation of the package tutti carries no program of that name, and there is none on the "
            "PATH; install the package again by pip, or build the project and put its build/release/bin on the PATH"
        )
    os.execv(program, [name, *sys.argv[1:]])


def tutti():
    """Starts, describes and explains jobs: `tutti run -n 4 program`, `tutti info`."""
    os.environ.setdefault("TUTTI_PYTHON", sys.executable)  # what `tutti bench` runs its driver with
    become("tutti")


def compress():
    """Compresses a file on all ranks: `tutti run -n 4 tutti-compress FILE`."""
    become("tutti-compress")
