# SPDX-License-Identifier: BSD-3-Clause
"""What bench/mpi/times.py calls slower, and that it looks twice before it does."""

import pathlib
import sys
import types

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/mpi"))

import times  # noqa: E402 - a program's folder, not a package

EVEN = (10.0, 10.0, 10.0)  # bare, with the drop-in, bare again
SLOW = (10.0, 12.0, 10.0)


@pytest.mark.parametrize(
    ("rows", "slower"),
    [
        ([SLOW] * 3, True),
        ([SLOW, SLOW, EVEN], False),  # the interval reaches 1
        ([(10.0, 10.2, 10.0)] * 3, False),  # by less than is allowed
        ([(10.0, 12.0, 11.5), (11.5, 12.0, 10.0)], False),  # so far apart are bare runs, too
        ([SLOW] * 8 + [EVEN], True),
        ([SLOW] * 7 + [EVEN] * 2, False),
    ],
)
def test_slower(rows, slower):
    assert times.judge(rows)["slower"] is slower


def all_points(monkeypatch, found):
    """All points of one program whose rounds measure these: the first ones, then more."""
    asked = []

    def measure(chosen, mpi, ranks, command, rounds, order):
        asked.append(rounds)
        return {size: rows[:rounds] if len(asked) == 1 else rows[2 : 2 + rounds] for size, rows in found.items()}

    monkeypatch.setattr(times, "measure", measure)
    monkeypatch.setitem(times.SUITES, "osu", (lambda chosen, mpi: {"osu_x": ["osu_x"]}, None))
    points = times.all_points(types.SimpleNamespace(seed=1, suite="osu", ranks=[2], rounds=2), None)
    return asked, {one["bytes"]: (one["slower"], one["again"]) for one in points}


def test_looks_again(monkeypatch):
    found = {4: [EVEN] * 9, 8: [SLOW] * 2 + [EVEN] * 7, 16: [SLOW] * 9}
    asked, points = all_points(monkeypatch, found)
    assert asked == [2, times.AGAIN]
    assert points == {4: (False, True), 8: (False, True), 16: (True, True)}


def test_looks_once_where_nothing_is_slower(monkeypatch):
    asked, points = all_points(monkeypatch, {4: [EVEN] * 2})
    assert asked == [2]
    assert points == {4: (False, False)}
