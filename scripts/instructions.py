# SPDX-License-Identifier: BSD-3-Clause
"""Counts the instructions of small collectives under callgrind, and compares them with what was recorded.

instructions.py check BUILD     fails when a form needs over 5 % more than the baseline of the same compiler and flags
instructions.py record BUILD    writes what this build needs into the baseline
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

BASELINE = pathlib.Path(__file__).resolve().parent.parent / "bench/instructions/baseline.json"
# Form, as bench/instructions/main.cpp has it: how many ranks' calls are counted in one round.
FORMS = {"blocking": 1, "request": 4, "persistent": 4, "bcast": 4, "gatherv": 4, "scatterv": 4, "exscan": 4}
CALLS = 1000
ALLOWED = 5  # percent


class Failure(Exception):
    """What the user has to know and can do something about."""


def run(*command):
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=100)
    except FileNotFoundError as missing:
        raise Failure(
            f"there is no {missing.filename}; build first, and install valgrind (scripts/setup test)"
        ) from None
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}".rstrip())
    return done.stdout + done.stderr


def program_of(build):
    return pathlib.Path(build) / "instructions/tutti-instructions"


def made_with(build):
    """The compiler, its flags and the processor: counts of other ones cannot be compared."""
    return json.loads(run(program_of(build), "--build"))


def count(build, form, elements=1):
    """Instructions of one rank's call."""
    with tempfile.TemporaryDirectory(prefix="tutti-instructions-") as folder:
        text = run(
            "valgrind",
            "--tool=callgrind",
            "--toggle-collect=tutti_measured",
            f"--callgrind-out-file={folder}/out",
            program_of(build),
            form,
            CALLS,
            elements,
        )
    found = re.search(r"Collected : (\d+)", text)
    if not found or not int(found[1]):
        raise Failure(f"callgrind has counted nothing:\n{text}")
    return round(int(found[1]) / CALLS / FORMS[form])


def measure(build, elements=1):
    return {form: count(build, form, elements) for form in FORMS}


def name(made):
    return f"{made['compiler']} {made['flags']} on {made['processor']}"


def is_of(entry, made):
    return all(entry[key] == value for key, value in made.items())


def judge(made, counts, baseline):
    """(what to print, whether it passes)."""
    entry = next((entry for entry in baseline if is_of(entry, made)), None)
    if entry is None:
        known = ", ".join(map(name, baseline)) or "nothing"
        text = ", ".join(f"{form} {number}" for form, number in counts.items())
        return [
            f"instructions of 8-byte calls: {text}; NOT COMPARED: there is no baseline for {name(made)} "
            f"(there is one for {known}); record one: make instructions"
        ], True
    lines, passes = [], True
    for form, number in counts.items():
        before = entry["instructions"][form]
        change = number / before - 1
        both = f"{form}: {number} instructions a call, the baseline has {before}: {abs(change):.1%}"
        if 100 * number > (100 + ALLOWED) * before:
            passes = False
            lines.append(f"FAILED {both} more, {ALLOWED} % are allowed; if it is worth it: make instructions")
        elif 100 * number < (100 - ALLOWED) * before:
            lines.append(f"{both} less; so that it stays: make instructions")
    text = ", ".join(f"{form} {number} ({entry['instructions'][form]})" for form, number in counts.items())
    return [f"instructions of 8-byte calls (baseline): {text}", *lines], passes


def recorded(made, counts, baseline):
    """The baseline with these counts in it."""
    others = [entry for entry in baseline if not is_of(entry, made)]
    return sorted([*others, {**made, "instructions": counts}], key=name)


def main(arguments, path=BASELINE, elements=1):
    if len(arguments) != 2 or arguments[0] not in ("check", "record"):
        print(__doc__, file=sys.stderr)
        return 2
    command, build = arguments
    baseline = json.loads(path.read_text()) if path.exists() else []
    try:
        made, counts = made_with(build), measure(build, elements)
    except Failure as failure:
        print(f"instructions: {failure}")
        return 1
    if command == "record":
        path.write_text(json.dumps(recorded(made, counts, baseline), indent=2) + "\n")
        print(f"{path.name}: {name(made)}: " + ", ".join(f"{form} {number}" for form, number in counts.items()))
        return 0
    lines, passes = judge(made, counts, baseline)
    print("\n".join(lines))
    return 0 if passes else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
