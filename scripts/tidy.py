# SPDX-License-Identifier: BSD-3-Clause
"""Runs clang-tidy over the product's sources, in parallel: tidy.py BUILD [PATTERN].

Sources that are compiled alike are read together, several included from one: nearly all of the time goes into the
headers that they share. So names in the unnamed namespaces of one folder must differ, as they must in all builds but
debug.

What passed is not read again until its preprocessed text, .clang-tidy or this script changes. It is kept in the user's
cache (~/.cache/tutti/tidy), as ccache keeps what was compiled: for all checkouts, for a month.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src", "bindings", "apps", "tools")
TIDY = "clang-tidy-16"
# The build is gcc's: clang does not know all of its warnings.
EXTRA = ("-Wno-unknown-warning-option", "-Wno-ignored-optimization-argument")
TOGETHER = 16  # sources in a batch: few enough for all cores to have work until the end
KEPT = 30 * 24 * 3600  # seconds since it was last of use
# It stops at options of code generation that only gcc has.
GCC_ONLY = ("-mtls-dialect=gnu2",)
# The deep mode of the analyzer takes four times as long as everything else together.
SHALLOW = ("-Xclang", "-analyzer-config", "-Xclang", "mode=shallow")


def compile_arguments(entry):
    """The command line of one source, without compiler launcher, compiler, outputs and what clang does not know."""
    words = shlex.split(entry["command"])
    start = next(i for i, word in enumerate(words) if word.startswith("-") and word != "-E")
    kept, skip = [], False
    for word in words[start:]:
        if skip or word in ("-c", entry["file"]):
            skip = False
        elif word in ("-o", "-MF", "-MT"):
            skip = True
        elif word != "-MD" and word not in GCC_ONLY:
            kept.append(word)
    return kept


class Batch:
    """Sources in one: a source of its own, which includes them."""

    def __init__(self, files, arguments, directory, number):
        self.directory = directory
        self.source = directory / f"batch{number}{pathlib.Path(files[0]).suffix}"
        self.source.write_text(
            "".join(f'#include "{file}"  // NOLINT(bugprone-suspicious-include)\n' for file in files)
        )
        self.compiler = ["clang-16" if self.source.suffix == ".c" else "clang++-16", *arguments, *EXTRA]

    def entry(self):
        command = shlex.join([*self.compiler, "-c", str(self.source)])
        return {"directory": str(self.directory), "command": command, "file": str(self.source)}

    def fingerprint(self, settings):
        """A hash of everything the verdict on it depends on."""
        command = [*self.compiler, "-E", str(self.source)]
        text = subprocess.run(command, cwd=self.directory, capture_output=True, check=False)
        settings += (self.directory / ".clang-tidy").read_bytes()
        return hashlib.sha256(settings + (text.stdout + text.stderr).replace(bytes(ROOT), b"")).hexdigest()

    def check(self, build, folder, settings):
        """Returns what clang-tidy has found: nothing when its sources are clean."""
        stamp = folder / self.fingerprint(settings)
        if stamp.exists():
            stamp.touch()
            return ""
        options = (f"--extra-arg={word}" for word in SHALLOW)
        command = [TIDY, "--quiet", "-p", str(build), *options, str(self.source)]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode == 0:
            stamp.touch()
            return ""
        return run.stdout or run.stderr


def settings_of(file):
    """The folder, from the tree's root, whose .clang-tidy rules the file."""
    return next(folder for folder in pathlib.Path(file).parents if (folder / ".clang-tidy").exists()).relative_to(ROOT)


def batches_of(entries, directory):
    """Entries that are compiled alike, in batches of neighbours, each beside a copy of its .clang-tidy."""
    alike = {}
    for entry in entries:
        alike.setdefault((settings_of(entry["file"]), *compile_arguments(entry)), []).append(entry["file"])
    batches = []
    for (folder, *arguments), files in alike.items():
        (directory / folder).mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / folder / ".clang-tidy", directory / folder)
        files.sort()
        for at in range(0, len(files), TOGETHER):
            batches.append(Batch(files[at : at + TOGETHER], arguments, directory / folder, len(batches)))
    return batches


def passed():
    """The folder of a file for each source that has passed, without those of no use any more."""
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    folder = pathlib.Path(cache) / "tutti" / "tidy"
    folder.mkdir(parents=True, exist_ok=True)
    for stamp in folder.iterdir():
        if stamp.stat().st_mtime < time.time() - KEPT:
            stamp.unlink(missing_ok=True)
    return folder


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    pattern = re.compile(sys.argv[2] if len(sys.argv) > 2 else "")
    settings = (ROOT / ".clang-tidy").read_bytes() + pathlib.Path(__file__).read_bytes()
    folders = tuple(f"{ROOT / folder}{os.sep}" for folder in FOLDERS)
    database = json.loads((build / "compile_commands.json").read_text())
    # A source that is compiled several times, as for several MPIs, is read once.
    entries = {e["file"]: e for e in database if e["file"].startswith(folders) and pattern.search(e["file"])}
    directory = build / "tidy"
    directory.mkdir(exist_ok=True)
    batches = batches_of(entries.values(), directory)
    (directory / "compile_commands.json").write_text(json.dumps([batch.entry() for batch in batches]))
    folder, findings = passed(), []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(lambda batch: batch.check(directory, folder, settings), batches):
            if found:
                findings.append(found)
                print(found.replace(f"{ROOT}{os.sep}", ""), flush=True)
    print(f"clang-tidy: {len(entries)} files in {len(batches)} batches, {len(findings)} with findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
