# SPDX-License-Identifier: BSD-3-Clause
"""Runs clang-tidy over the product's sources, in parallel: tidy.py BUILD [PATTERN].

A source that passed is not read again until its preprocessed text, .clang-tidy or this script changes. What has passed
is kept in the user's cache (~/.cache/tutti/tidy), as ccache keeps what was compiled: for all checkouts, for a month.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src", "bindings", "apps", "tools")
TIDY = "clang-tidy-16"
# The build is gcc's: clang does not know all of its warnings.
EXTRA = ("-Wno-unknown-warning-option", "-Wno-ignored-optimization-argument")
KEPT = 30 * 24 * 3600  # seconds since it was last of use
# It stops at options of code generation that only gcc has.
GCC_ONLY = ("-mtls-dialect=gnu2",)
# The deep mode of the analyzer takes four times as long as everything else together.
SHALLOW = ("-Xclang", "-analyzer-config", "-Xclang", "mode=shallow")


def for_clang(entry):
    """The entry without what clang does not know."""
    return {**entry, "command": shlex.join(word for word in shlex.split(entry["command"]) if word not in GCC_ONLY)}


def compile_arguments(entry):
    """The command line of one source, without compiler launcher, compiler and outputs."""
    words = shlex.split(entry["command"])
    start = next(i for i, word in enumerate(words) if word.startswith("-"))
    kept, skip = [], False
    for word in words[start:]:
        if skip or word in ("-c", entry["file"]):
            skip = False
        elif word in ("-o", "-MF", "-MT"):
            skip = True
        elif word != "-MD":
            kept.append(word)
    return kept


def fingerprint(entry, settings):
    """A hash of everything the verdict on a source depends on."""
    command = ["clang++-16", *compile_arguments(entry), *EXTRA, "-E", entry["file"]]
    text = subprocess.run(command, cwd=entry["directory"], capture_output=True, check=False)
    return hashlib.sha256(settings + (text.stdout + text.stderr).replace(bytes(ROOT), b"")).hexdigest()


def passed():
    """The folder of a file for each source that has passed, without those of no use any more."""
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    folder = pathlib.Path(cache) / "tutti" / "tidy"
    folder.mkdir(parents=True, exist_ok=True)
    for stamp in folder.iterdir():
        if stamp.stat().st_mtime < time.time() - KEPT:
            stamp.unlink(missing_ok=True)
    return folder


def check(entry, build, folder, settings):
    """Returns (file, seconds, findings); findings is empty when the source is clean."""
    start = time.monotonic()
    stamp = folder / fingerprint(entry, settings)
    if stamp.exists():
        stamp.touch()
        return entry["file"], 0.0, ""
    command = [
        TIDY,
        "--quiet",
        "-p",
        str(build / "tidy"),
        *(f"--extra-arg={word}" for word in (*EXTRA, *SHALLOW)),
        entry["file"],
    ]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode == 0:
        stamp.touch()
        return entry["file"], time.monotonic() - start, ""
    return entry["file"], time.monotonic() - start, run.stdout or run.stderr


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    pattern = re.compile(sys.argv[2] if len(sys.argv) > 2 else "")
    (build / "tidy").mkdir(exist_ok=True)
    settings = (ROOT / ".clang-tidy").read_bytes() + pathlib.Path(__file__).read_bytes()
    folders = tuple(f"{ROOT / folder}{os.sep}" for folder in FOLDERS)
    database = json.loads((build / "compile_commands.json").read_text())
    entries = {e["file"]: for_clang(e) for e in database if e["file"].startswith(folders) and pattern.search(e["file"])}
    # A source that is compiled several times, as for several MPIs, is read once.
    (build / "tidy/compile_commands.json").write_text(json.dumps(list(entries.values())))
    failed, seconds, folder = 0, [], passed()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for file, taken, findings in pool.map(lambda e: check(e, build, folder, settings), entries.values()):
            seconds.append((taken, file))
            if findings:
                failed += 1
                print(findings.replace(f"{ROOT}{os.sep}", ""), flush=True)
    slowest = ", ".join(f"{pathlib.Path(f).name} {t:.0f} s" for t, f in sorted(seconds, reverse=True)[:3] if t >= 1)
    print(f"clang-tidy: {len(entries)} files, {failed} with findings" + (f"; slowest: {slowest}" if slowest else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
