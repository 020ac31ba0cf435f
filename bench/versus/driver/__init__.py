# SPDX-License-Identifier: BSD-3-Clause
"""The driver of `tutti bench`: installs the peers, runs the rounds, compares, and writes what was found."""
