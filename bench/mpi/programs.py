# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs that verify themselves (suites.py), bare and with the drop-in. One line for each thing that a program
verifies; an exit status of 1 if something is wrong only with the drop-in."""

import argparse
import dataclasses
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/mpi"))

import mpi_jobs as jobs
import mpis
import suites

END = "the whole"  # of a program: what is said of it beside its parts


@dataclasses.dataclass
class Part:
    """What a program said about one thing it verifies."""

    rows: list = dataclasses.field(default_factory=list)
    wrong: list = dataclasses.field(default_factory=list)

    def add(self, what, verdict, is_good):
        self.rows.append(what)
        if not is_good:
            self.wrong.append((what, verdict))

    def state(self):
        if self.wrong:
            return f"FAIL ({len(self.wrong)} of {len(self.rows)}, first {': '.join(self.wrong[0])})"
        return f"ok ({len(self.rows)} verified)"


def sections(suite, text):
    """Its output, cut at its headings: (name, text)."""
    found = list(suite.heading.finditer(text))
    if not found:
        return [("", text)]
    ends = [one.start() for one in found[1:]] + [len(text)]
    return [(one.group(1), text[one.end() : end]) for one, end in zip(found, ends, strict=True)]


def parts_of(suite, program, done, text):
    """What a run says, by name: {name: Part}."""
    parts = {}
    for name, section in sections(suite, suite.noise.sub("", text)):
        part = parts.setdefault(name, Part())
        for what, verdict in suite.row.findall(section):
            part.add(what.strip(), verdict, verdict in suite.good)
    for name, what in suite.complaint.findall(text + done.err):
        parts.setdefault(name, Part()).add(what, "an error", is_good=False)
    if done.status != 0:
        ending = "took too long" if done.status is None else f"ended with {done.status}"
        parts.setdefault(END, Part()).add(ending, (text + done.err)[-600:], is_good=False)
    elif program.verifies and not any(part.rows for part in parts.values()):
        parts.setdefault(END, Part()).add("verified nothing", text[-600:], is_good=False)
    return parts


def play(suite, mpi, ranks, program, policy, timeout):
    """One run: its parts and its time."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        for name, text in program.files.items():
            (folder / name).write_text(text)
        done = jobs.run(mpi, ranks, program.command, policy=policy, timeout=timeout, cwd=folder)
        results = folder / suite.results
        text = done.out + (results.read_text() if results.is_file() else "")  # no such file: the folder itself
    return parts_of(suite, program, done, text), time.monotonic() - start


def compare(with_it, bare):
    """For each name: what to say, and whether it is wrong only with the drop-in."""
    bare = bare or {}
    ended = bool(bare) and END not in bare  # who is ended from outside loses some of what was printed
    for name in sorted({*with_it, *(bare if ended else {})}):
        mine, other = with_it.get(name, Part()), bare.get(name, Part())
        if mine.wrong:
            is_as_bare = {what for what, _ in mine.wrong} <= {what for what, _ in other.wrong}
            yield name, mine.state() + (f"; bare {other.state()}" if is_as_bare else ""), not is_as_bare
        elif not ended:
            yield name, f"{mine.state()}, not compared with bare", False
        elif other.wrong:
            yield name, f"{mine.state()}; bare {other.state()}", False
        elif mine.rows != other.rows or name not in with_it:
            yield name, f"differs from bare: {len(mine.rows)} verified, {len(other.rows)} bare", True
        else:
            yield name, mine.state(), False


def judge(chosen, suite, mpi, ranks, program):
    """Runs one program; prints a line for each of its parts; returns how many are wrong, of how many."""
    with_it, seconds = play(suite, mpi, ranks, program, chosen.policy, chosen.timeout)
    bare, bare_seconds = None, None
    if chosen.bare == "all" or any(part.wrong for part in with_it.values()):
        bare, bare_seconds = play(suite, mpi, ranks, program, "bare", chosen.timeout)
    times = f"{seconds:.1f} s" + ("" if bare is None else f", bare {bare_seconds:.1f} s")
    found = list(compare(with_it, bare))
    for name, words, _ in found:
        print(f"{mpi.name} {ranks} {program.name} {name}: {words} [{times}]".replace(" :", ":"), flush=True)
    return sum(is_wrong for _, _, is_wrong in found), len(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suite", choices=suites.SUITES)
    parser.add_argument("--source", type=pathlib.Path, help="the folder of its sources (osu, imb)")
    parser.add_argument("--mpi", choices=mpis.NAMES, help="default: the first that the suite is made for")
    parser.add_argument("--ranks", nargs="+", type=int, default=[2, 4, 8])
    parser.add_argument("--policy", default="always", choices=("auto", "always", "never"))
    parser.add_argument("--largest", type=int, default=1 << 20, help="bytes of a message")
    parser.add_argument("--timeout", type=float, default=120, help="seconds of one run")
    parser.add_argument("--bare", default="all", choices=("all", "failures"), help="what runs without the drop-in, too")
    parser.add_argument("--only", default="", help="programs with this in their names")
    chosen = parser.parse_args()
    suite = suites.SUITES[chosen.suite]
    made_for = suite.mpis or mpis.NAMES
    if chosen.mpi and chosen.mpi not in made_for:
        parser.error(f"{chosen.suite} is made for {', '.join(made_for)}")
    mpi = mpis.get(chosen.mpi or made_for[0])
    try:
        programs = [one for one in suite.programs(chosen.source, mpi, chosen.largest) if chosen.only in one.name]
    except suites.Missing as missing:
        parser.error(str(missing))
    wrong = total = 0
    for ranks in chosen.ranks:
        for program in programs:
            if ranks >= program.fewest:
                bad, parts = judge(chosen, suite, mpi, ranks, program)
                wrong, total = wrong + bad, total + parts
    print(f"{chosen.suite}, {mpi.name}: {total} verified, {wrong} wrong with the drop-in only")
    return 1 if wrong or not total else 0


if __name__ == "__main__":
    sys.exit(main())
