# SPDX-License-Identifier: BSD-3-Clause
"""Sums of whole arrays, rounded once."""

from __future__ import annotations

import numpy as np

from tutti.arguments import look_at
from tutti.requests import Request


def _sum(call, values, algorithm):
    values = np.asarray(values)
    try:
        return call(values, np.empty((), values.dtype), algorithm)
    except TypeError:
        look_at(algorithm=algorithm)
        raise


class Sums:
    """The part of `Group` that sums whole arrays."""

    __slots__ = ()

    def sum(self, values, *, algorithm: str = ""):
        """Sums all elements of everybody's values and returns the sum, on all ranks.

        It is rounded once: the same bits however the elements are dealt over ranks. values: an array of
        floating-point or complex numbers of any length, also 0. Agreed: type.
        """
        return _sum(self._handle.sum, values, algorithm)[()]

    def isum(self, values, *, algorithm: str = "") -> Request:
        """Starts a `sum`; its result is an array without dimensions."""
        return Request(_sum(self._handle.start_sum, values, algorithm))
