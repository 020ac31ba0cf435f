# SPDX-License-Identifier: BSD-3-Clause
"""What the programs beside this one share."""

import tutti


def cause_of(call, *arguments):
    """What a call fails with."""
    try:
        call(*arguments)
    except tutti.Error as error:
        return error.cause
    return None
