# SPDX-License-Identifier: BSD-3-Clause
"""The commands that `pip install` puts on the path. Each becomes the native program that the package carries."""

import os
import pathlib
import sys


def _become(name):
    program = pathlib.Path(__file__).parent / "bin" / name
    os.execv(program, [name, *sys.argv[1:]])


def tutti():
    """Starts, describes and explains jobs: `tutti run -n 4 program`, `tutti info`."""
    _become("tutti")


def compress():
    """Compresses a file on all ranks: `tutti run -n 4 tutti-compress FILE`."""
    _become("tutti-compress")
