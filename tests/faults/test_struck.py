# SPDX-License-Identifier: BSD-3-Clause
"""Jobs over several hosts whose ranks are killed, stopped and cut off, by seed: nobody hangs, no result is wrong, none
is called lost who is there, and nothing is left behind.

TUTTI_SEEDS=n plays n of them, TUTTI_BASE=n begins n further on, TUTTI_SEED=n plays that one alone."""

import os

import pytest
import struck


def seeds():
    if alone := os.environ.get("TUTTI_SEED"):
        return [int(alone)]
    first = int(os.environ.get("TUTTI_BASE", "0"))
    return range(first, first + int(os.environ.get("TUTTI_SEEDS", str(len(struck.KINDS)))))


@pytest.mark.parametrize("seed", seeds())
def test_survivors_go_on(seed):
    struck.play(seed)
