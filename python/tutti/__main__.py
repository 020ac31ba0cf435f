# SPDX-License-Identifier: BSD-3-Clause
"""``python -m tutti`` is the command ``tutti``."""

from tutti.programs import tutti

if __name__ == "__main__":
    tutti()
