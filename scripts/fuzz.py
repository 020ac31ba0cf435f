# SPDX-License-Identifier: BSD-3-Clause
"""Runs every libFuzzer target from its corpus of valid messages: fuzz.py BUILD --seconds N.

Fails on a finding, and when a target's corpus and run together reach less than 90 % of the lines of one of its parser's
files. The corpus must be what tests/fuzz/corpus.py writes.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import runpy
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WANTED = 90.0


class Target:
    def __init__(self, line, build):
        self.name, *parser = line.split()
        self.program = build / "bin" / f"fuzz_{self.name}"
        self.parser = [str(ROOT / file) for file in parser]
        self.work = build / "fuzzing" / self.name
        self.grown = self.work / "corpus"
        self.seeds = ROOT / "tests" / "fuzz" / "corpus" / self.name

    def run(self, seconds):
        """Fuzzes for so long; returns what went wrong, or an empty text."""
        self.grown.mkdir(parents=True, exist_ok=True)
        command = [self.program, f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048"]
        command += ["-print_final_stats=1", f"-artifact_prefix={self.work}/", self.grown, self.seeds]
        environment = {**os.environ, "LLVM_PROFILE_FILE": str(self.work / "profile.raw")}
        with open(self.work / "log.txt", "w") as log:
            status = subprocess.run(command, env=environment, stdout=log, stderr=log, check=False).returncode
        if status != 0:
            tail = (self.work / "log.txt").read_text(errors="replace").splitlines()[-40:]
            return "\n".join([f"{self.name}: a finding (exit status {status})", *tail])
        return ""

    def coverage(self):
        """File -> the share of its lines that the run reached, in percent."""
        profile = self.work / "profile"
        subprocess.run(
            ["llvm-profdata-16", "merge", "-sparse", self.work / "profile.raw", "-o", profile],
            check=True,
        )
        export = ["llvm-cov-16", "export", "-summary-only", f"-instr-profile={profile}", self.program, *self.parser]
        report = subprocess.run(export, capture_output=True, check=True)
        files = json.loads(report.stdout)["data"][0]["files"]
        found = {os.path.relpath(file["filename"], ROOT): file["summary"]["lines"]["percent"] for file in files}
        return {os.path.relpath(file, ROOT): found.get(os.path.relpath(file, ROOT), 0.0) for file in self.parser}

    def executions(self):
        for line in (self.work / "log.txt").read_text(errors="replace").splitlines():
            if line.startswith("stat::number_of_executed_units:"):
                return int(line.split()[1])
        return 0


def judge(target, seconds):
    """Returns (target is fine, text)."""
    finding = target.run(seconds)
    if finding:
        return False, finding
    reached = target.coverage()
    text = f"{target.name}: no finding in {target.executions()} runs; lines reached: "
    text += ", ".join(f"{percent:.1f} % of {file}" for file, percent in reached.items())
    good = bool(reached) and min(reached.values()) >= WANTED
    return good, text if good else f"{text} (wanted: {WANTED:.0f} %)"


def corpus_is_reproducible():
    """The files in the tree are those that corpus.py writes, and no others."""
    written = runpy.run_path(str(ROOT / "tests" / "fuzz" / "corpus.py"))["corpora"]()
    root = ROOT / "tests" / "fuzz" / "corpus"
    there = {str(file.relative_to(root)): file.read_bytes() for file in root.rglob("*") if file.is_file()}
    wrong = sorted(path for path in written.keys() | there.keys() if written.get(path) != there.get(path))
    for path in wrong:
        print(f"tests/fuzz/corpus/{path} is not what corpus.py writes")
    return not wrong


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("build", type=pathlib.Path)
    arguments.add_argument("--seconds", type=int, default=60)
    options = arguments.parse_args()
    build = options.build.resolve()
    if not corpus_is_reproducible():
        return 1
    targets = [Target(line, build) for line in (build / "fuzz_targets.txt").read_text().splitlines()]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda target: judge(target, options.seconds), targets))
    for _, text in results:
        print(text)
    print(f"fuzz: {len(targets)} targets, {options.seconds} s each")
    return 0 if all(fine for fine, _ in results) else 1


if __name__ == "__main__":
    sys.exit(main())
