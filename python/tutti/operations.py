# SPDX-License-Identifier: BSD-3-Clause
"""How two elements become one: the built-in reductions, and reductions by a function of one's own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tutti import _core
from tutti.errors import Error

_LOCATED_BYTES = 16
_INDEX_AT = 8


class Operation:
    """What the reductions take as ``op``: a constant such as ``tutti.SUM``, or made by `op`."""

    def __init__(self, name: str, function: Callable | None = None, commutative: bool = True):
        """Used by this module; call `op` to make one of your own."""
        self._name = name
        self._function = function
        self._commutative = commutative
        self._handle = _core.Operation(_core.ops[name if function is None else "USER"])

    def __repr__(self) -> str:
        """``tutti.SUM`` and the like."""
        return f"tutti.{self._name}"

    def over(self, dtype: np.dtype) -> _core.Operation:
        """The operation as the engine runs it on elements of one dtype."""
        if self._function is None:
            if self._name in ("MINLOC", "MAXLOC"):
                _expect_located(self, dtype)
            return self._handle
        function = self._function

        def apply(lower, higher):
            target = np.frombuffer(higher, dtype)
            target[...] = function(np.frombuffer(lower, dtype), target)

        return _core.Operation(_core.ops["USER"], self._commutative, apply)


def _expect_located(operation: Operation, dtype: np.dtype) -> None:
    is_pair = dtype.names == ("value", "index") and dtype.itemsize == _LOCATED_BYTES
    if is_pair and dtype.fields["index"] == (np.dtype("i8"), _INDEX_AT):
        return
    raise Error(
        f"{operation!r} needs elements with the fields value and index (int64, at byte 8) in 16 bytes, not {dtype}; "
        "make the array with the dtype tutti.located('f8')"
    )


def op(function: Callable[[np.ndarray, np.ndarray], object], commutative: bool = True) -> Operation:
    """Makes a reduction of a function of two arrays.

    ``function(lower, higher)`` gets two arrays of equal length, the first from the lower ranks, and returns what
    combines them element by element. It must be associative; say so when it does not commute. It may be called in
    pieces, on any rank, from any thread that waits; it must not keep its arrays, and no garbage is collected meanwhile
    (from Python 3.10 on; do not ask for it there). What it raises breaks the group: the call or wait raises it on the
    rank where it happened, and an `Error` (broken) on the others.
    """
    if not callable(function):
        raise Error(f"tutti.op needs a function of two arrays, not {function!r}; numpy.minimum is one")
    return Operation(f"op({getattr(function, '__name__', function)!s})", function, commutative)


def located(dtype) -> np.dtype:
    """The dtype of the elements of MINLOC and MAXLOC: ``value`` of ``dtype``, and ``index``, an int64."""
    return np.dtype(
        {"names": ["value", "index"], "formats": [dtype, "i8"], "offsets": [0, _INDEX_AT], "itemsize": _LOCATED_BYTES}
    )


SUM = Operation("SUM")
PROD = Operation("PROD")
MIN = Operation("MIN")
MAX = Operation("MAX")
LAND = Operation("LAND")
LOR = Operation("LOR")
LXOR = Operation("LXOR")
BAND = Operation("BAND")
BOR = Operation("BOR")
BXOR = Operation("BXOR")
MINLOC = Operation("MINLOC")
MAXLOC = Operation("MAXLOC")
