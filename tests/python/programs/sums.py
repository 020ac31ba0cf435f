# SPDX-License-Identifier: BSD-3-Clause
"""Reproducible sums against fractions, which are exact: element by element, and of whole arrays dealt in many ways."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
import tutti

WORLD = tutti.world()
GROUP = WORLD.reproducible()
RANK, SIZE = GROUP.rank, GROUP.size
ALGORITHMS = ("", "ring", "reduce_bcast", "rabenseifner") + (("board_pipeline", "single_copy") if SIZE > 1 else ())


def nearest(total, dtype):
    """The float that is nearest to a fraction, ties to even."""
    try:
        double = float(total)
    except OverflowError:
        return dtype(math.copysign(math.inf, total))
    if dtype is np.float64:
        return np.float64(double)
    with np.errstate(over="ignore"):
        middle = np.float32(double)
        around = [middle, np.nextafter(middle, np.float32(-np.inf)), np.nextafter(middle, np.float32(np.inf))]
    numbers = [number for number in around if np.isfinite(number)]
    return min(numbers, key=lambda number: (abs(Fraction(float(number)) - total), int(number.view("u4")) & 1))


def numbers(dice, dtype, count):
    """Numbers of any size; later ones cancel earlier ones, so that small ones show."""
    bits = 8 * np.dtype(dtype).itemsize
    made = []
    while len(made) < count:
        value = np.array(dice.getrandbits(bits), f"u{bits // 8}").view(dtype)[()]
        if np.isfinite(value) and abs(value) < np.finfo(dtype).max / (4 * count):
            made.append(-dice.choice(made) if made and dice.random() < 0.4 else value)
    return np.array(made, dtype)


def exact(column):
    """The sum of some numbers as a fraction."""
    return sum((Fraction(float(number)) for number in column), Fraction(0))


def check_elements(dtype):
    """Every algorithm gives the nearest number, element by element."""
    dice = random.Random(SIZE)
    everything = np.stack([numbers(dice, dtype, 40) for _ in range(SIZE)])
    expected = np.array([nearest(exact(column), dtype) for column in everything.T], dtype)
    for algorithm in ALGORITHMS:
        result = GROUP.allreduce(everything[RANK], algorithm=algorithm)
        assert (result.view("u1") == expected.view("u1")).all(), algorithm
    prefix = np.array([nearest(exact(column), dtype) for column in everything[: RANK + 1].T], dtype)
    assert (GROUP.iscan(everything[RANK]).wait() == prefix).all()
    # Ranks in another order have the same sums.
    turned = GROUP.split(0, (RANK * 7) % 13)
    assert turned.is_reproducible
    assert (turned.allreduce(everything[RANK]) == expected).all()


def check_whole_arrays(dtype):
    """One sum, however the numbers are dealt; math.fsum agrees."""
    dice = random.Random(5)
    every = numbers(dice, dtype, 2000)
    expected = nearest(exact(every), dtype)
    if dtype is np.float64:
        assert math.fsum(every) == expected
    cuts = sorted(dice.randrange(len(every)) for _ in range(SIZE - 1))
    begins, ends = [0, *cuts], [*cuts, len(every)]
    for mine in (every[begins[RANK] : ends[RANK]], every[RANK::SIZE].copy(), every if RANK == SIZE - 1 else every[:0]):
        assert WORLD.sum(mine) == expected
        assert WORLD.isum(mine).wait() == expected
    both = WORLD.sum(every[begins[RANK] : ends[RANK]] * (1 + 0j))
    assert both == complex(expected, 0)


def check_the_rest():
    """Special numbers, and what is refused."""
    assert math.isnan(WORLD.sum([math.inf, -math.inf] if RANK == 0 else [1.0]))
    assert WORLD.sum([1e308, 1e308, -1e308, -1e308]) == 0
    assert math.copysign(1, WORLD.sum([-0.0])) == -1
    assert math.copysign(1, WORLD.sum(np.empty(0))) == 1
    with pytest.raises(tutti.Error, match=r"sum on group world, .*elements of type int64 .*float32"):
        WORLD.sum([1, 2])
    for values, text in (([None], "sum: values"), (np.ones(2, "f2"), "sum: .*dtype float16; convert .* order$")):
        with pytest.raises(tutti.Error, match=text):
            WORLD.sum(values)
    with pytest.raises(tutti.Error, match="plain group"):
        GROUP.allreduce(np.ones(2), op=tutti.PROD)


for one in (np.float64, np.float32):
    check_elements(one)
    check_whole_arrays(one)
check_the_rest()
