# SPDX-License-Identifier: BSD-3-Clause
"""What is said of an argument that is none.

Calls that are made often pass theirs on as they are, and look at them only when the extension has refused them.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from numbers import Real

from tutti.errors import Error

_LEAST, _MOST = -(1 << 31), (1 << 31) - 1


def whole(what: str, number: int, least: int = _LEAST, most: int = _MOST) -> int:
    """The number; raises `Error` when it is not whole, or too large."""
    try:
        found = operator.index(number)
    except TypeError:
        raise Error(f"{what} must be a whole number, not {number!r}") from None
    if not least <= found <= most:
        raise Error(f"{what} must be from {least} to {most}, not {found}")
    return found


def wholes(what: str, numbers: Iterable[int]) -> list[int]:
    """The numbers, as `whole` has them."""
    try:
        given = list(numbers)
    except TypeError:
        raise Error(f"{what} must be several whole numbers, not {numbers!r}") from None
    return [whole(f"each of {what}", number) for number in given]


def counted(numbers: Sequence[int] | None) -> list[int] | None:
    """Counts or offsets, of elements."""
    if numbers is None:
        return None
    try:
        given = list(numbers)
    except TypeError:
        raise Error(f"counts and offsets must be whole numbers, one per rank, not {numbers!r}") from None
    return [whole("a count or an offset", number, 0, (1 << 62) - 1) for number in given]


def look_at(*, algorithm: str = "", timeout: float | None = None, tag: int = 0, **numbers: int) -> None:
    """Raises `Error` for the first of them that cannot be what it is named; else the extension refused something else.

    numbers: ranks, colours and the like.
    """
    for name, number in numbers.items():
        whole(name, number)
    whole("tag", tag, 0, (1 << 32) - 1)
    if not isinstance(algorithm, str):
        raise Error(f"algorithm must be a name, as `tutti plan list` has them, not {algorithm!r}")
    if timeout is not None and (not isinstance(timeout, Real) or math.isnan(timeout)):
        raise Error(f"timeout must be a number of seconds or None, not {timeout!r}")
