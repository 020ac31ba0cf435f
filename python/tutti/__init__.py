# SPDX-License-Identifier: BSD-3-Clause
"""Tutti makes a group of processes act as one."""

from importlib.metadata import version as _version

__version__ = _version("tutti")
