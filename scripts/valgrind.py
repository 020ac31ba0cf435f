# SPDX-License-Identifier: BSD-3-Clause
"""Runs the tests that carry the label "valgrind" under memcheck, one after the other: valgrind.py BUILD."""

import json
import subprocess
import sys

MEMCHECK = ("valgrind", "--quiet", "--error-exitcode=99", "--leak-check=full", "--errors-for-leak-kinds=definite")


def main():
    listing = subprocess.run(
        ["ctest", "--test-dir", sys.argv[1], "-L", "^valgrind$", "--show-only=json-v1"],
        capture_output=True,
        check=True,
    )
    tests = json.loads(listing.stdout)["tests"]
    failed = []
    for test in tests:
        properties = {p["name"]: p["value"] for p in test["properties"]}
        run = subprocess.run([*MEMCHECK, *test["command"]], cwd=properties["WORKING_DIRECTORY"], check=False)
        if run.returncode != 0:
            failed.append(test["name"])
    print(f"valgrind: {len(tests)} tests, {len(failed)} failed {' '.join(failed)}".rstrip())
    return 1 if failed or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
