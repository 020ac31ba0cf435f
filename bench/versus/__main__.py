# SPDX-License-Identifier: BSD-3-Clause
"""`tutti bench` runs this folder."""

from driver.command import main

if __name__ == "__main__":
    main(prog_name="tutti bench")
