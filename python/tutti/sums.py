# SPDX-License-Identifier: BSD-3-Clause
"""Sums of whole arrays, rounded once."""

from __future__ import annotations

import numpy as np

from tutti.arguments import look_at
from tutti.requests import Request


class Sums:
    """The part of `Group` that sums whole arrays."""

    __slots__ = ()

    def _sum(self, values, algorithm) -> Request:
        values = np.asarray(values)
        try:
            return Request(self._handle.start_sum(values, np.empty((), values.dtype), algorithm))
        except TypeError:
            look_at(algorithm=algorithm)
            raise

    def sum(self, values, *, algorithm: str = ""):
        """Sums all elements of everybody's values and returns the sum, on all ranks.

        It is rounded once: the same bits however the elements are dealt over ranks. values: an array of
        floating-point or complex numbers of any length, also 0. Agreed: type.
        """
        return self._sum(values, algorithm).wait(self._handle.time_limit)[()]

    def isum(self, values, *, algorithm: str = "") -> Request:
        """Starts a `sum`; its result is an array without dimensions."""
        return self._sum(values, algorithm)
