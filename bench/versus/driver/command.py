# SPDX-License-Identifier: BSD-3-Clause
"""`tutti bench`: measures Tutti and MPI libraries on this machine, in alternating rounds of one run."""

import contextlib
import os
import pathlib
import random
import shlex
import subprocess
import sys
import time
import types

try:
    import click
    import matplotlib  # noqa: F401 - the pictures at the end of a run
    import rich.console
    import rich.progress
except ImportError as missing:
    needed = "pip install click rich matplotlib"
    sys.exit(f"tutti bench needs the Python package {missing.name}: {needed}")

from . import between, figures, hosts, jobs, machine, overlap, page, peers, pictures, rounds, table

# What is measured when nobody says otherwise, on one host and between hosts.
DEFAULTS = {
    "one-host": {"sizes": "8:4M", "vs": "openmpi,mpich,impi", "collectives": ()},  # (): all
    "many-hosts": {
        "sizes": "8,1K,8K,64K,256K,1M",
        "vs": "openmpi,mpich",
        "collectives": ("barrier", "bcast", "allreduce", "allgather", "alltoall", "reduce_scatter"),
    },
}
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20}


def read_size(text):
    digits = text.rstrip("BbKkMm").strip()
    unit = text[len(digits) :].upper().replace("B", "")
    if not digits.isdigit() or unit not in UNITS or int(digits) * UNITS[unit] % 8:
        raise click.BadParameter(f'"{text}" is not a size: a multiple of 8 bytes, as in 8, 64K or 4M')
    return int(digits) * UNITS[unit]


def read_sizes(text, factor):
    """8,64K,4M: these; 8:4M: from the first to the last, each so many times the one before; 8:4M:2: twice."""
    if ":" not in text:
        return sorted({read_size(part) for part in text.split(",")})
    first, last, *given = text.split(":")
    if len(given) > 1 or (given and not (given[0].isdigit() and int(given[0]) > 1)):
        raise click.BadParameter(f'"{text}" is not FIRST:LAST or FIRST:LAST:FACTOR')
    factor = int(given[0]) if given else factor
    size, end, sizes = max(8, read_size(first)), read_size(last), []
    while size < end:
        sizes.append(size)
        size *= factor
    return [*sizes, end]


def read_tests(text):
    counts = text.split(",")
    if not all(count.isdigit() and int(count) <= 1000 for count in counts) or len(counts) > 16:
        raise click.BadParameter(f'"{text}" is not a list of numbers of tests, as in 0,1,2,4,8')
    return tuple(sorted({int(count) for count in counts}))


def read_names(text, known, what):
    names = [name for name in text.split(",") if name]
    for name in names:
        if name not in known:
            raise click.BadParameter(f'no {what} "{name}"; there are {", ".join(known)}')
    return names


def read_counts(text, what):
    counts = text.split(",")
    if not all(count.isdigit() and 0 < int(count) <= 1024 for count in counts):
        raise click.BadParameter(f'"{text}" is not a list of numbers of {what}, as in 2,4,8')
    return sorted({int(count) for count in counts})


def collectives_of(library):
    """{name: whether it moves data}, as the benchmark itself lists them."""
    lines = subprocess.run(
        [str(library.program), "--list"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return {line.split()[0]: not line.endswith("without data") for line in lines}


class Progress:
    """Says what is measured, on a terminal as a bar."""

    def __init__(self, console, run):
        self.run, self.bar = run, rich.progress.Progress(console=console, transient=True)
        self.task = self.bar.add_task("", total=None)
        self.done = 0

    def step(self, cells, series):
        collective = cells[0].collective if len(cells) == 1 else f"{len(cells)} collectives"
        what = f"round {self.run.rounds + 1}: {collective} on {cells[0].ranks} ranks, {series.library.name}"
        total = sum(one.wanted for every in self.run.series.values() for one in every)
        self.done += len(cells)
        self.bar.update(self.task, description=what, completed=self.done, total=max(total, self.done))

    def after(self, _):
        self.done = 0


def foreign_load(seconds):
    """How many cores' worth of processor time others use while we do nothing."""
    before = machine.busy()
    time.sleep(seconds)
    after = machine.busy()
    return max(0.0, (after - before) / seconds)


def ours(options, known, say):
    """Tutti by itself, or through a peer's messages."""
    if not options.through:
        return peers.tutti(options.binaries, options.per_host)
    through = read_names(options.through, known, "peer")
    if len(through) != 1:
        raise click.BadParameter(f"--through is one of {', '.join(known)}")
    return peers.tutti_through(*through, options.peers, options.binaries, say, options.per_host)


def prepare(options, console):
    """Tutti and the peers that are wanted."""
    known = [name for name, peer in peers.PEERS.items() if peer.between or not options.hosts]
    if options.vs == "installed":
        names = [name for name in peers.installed(options.peers) if name in known]
    else:
        names = read_names("" if options.vs == "none" else options.vs, known, "peer")
    libraries = [ours(options, known, console.print)]
    libraries += [peers.tutti_flat(options.binaries, options.per_host)] if options.flat else []
    libraries += [peers.prepare(name, options.peers, console.print, options.per_host) for name in names]
    return [library.for_overlap() for library in libraries] if options.tests else libraries


def place_of(options):
    """Where jobs run, for as long as the block."""
    if options.hosts:
        return hosts.standing(max(options.hosts), options.rate, options.per_host)
    return contextlib.nullcontext(jobs.OneHost(options.cores))


def sizes_of(cells, known, place, options):
    """({cell: its sizes}, what the wire makes too slow)."""
    sizes, left_out = {}, []
    for cell in cells:
        wanted = options.sizes if known[cell.collective] else [0]
        sizes[cell] = [size for size in wanted if place.call_seconds(cell, size) <= options.longest]
        beyond = [table.size_text(size) for size in wanted if size not in sizes[cell]]
        left_out += [f"{cell.collective} on {cell.ranks} ranks: {', '.join(beyond)}"] if beyond else []
    sizes = {cell: wanted for cell, wanted in sizes.items() if wanted}
    if not sizes:
        raise peers.Failure(
            f"nothing is left to measure: the wire alone needs more than {options.longest:g} s for a call"
        )
    return sizes, left_out


def compare_all(run, facts):
    """`facts`: how fast the machine copies, where that is known."""
    return between.compare_all(run) if run.options.hosts else figures.compare_all(run, facts)


def measure(run, options, console):
    """The rounds, with the speed of copying after each of them; what is known about the run."""
    begin = time.monotonic()
    facts = {
        "machine": machine.describe(options.cores),
        "date": machine.now(),
        "arguments": shlex.join(options.arguments),
        "foreign_load": foreign_load(1),
        "json": f"{options.out.name}.json",
        "line_ns": [],  # virtual machines' cores move, and with them what they share
        "copy_us": {},  # the fastest of all rounds, as all of these
        "read_us": {},
        "meeting_us": {},
    }
    console.print(
        f"{facts['machine']}; seed {options.seed}; others use {facts['foreign_load']:.2f} cores", highlight=False
    )
    with_floor = not options.tests and not options.hosts
    program = machine.floor_program(options.binaries) if with_floor else None
    if program is None and with_floor:
        console.print("No tutti-floor beside this installation: the share of the copy floor is not shown.")

    def step(cells, series):
        progress.step(cells, series)
        nanoseconds = machine.line_time(program, options.cores)
        if nanoseconds:
            facts["line_ns"].append(nanoseconds)

    # Beside busy processes turns are as long as those take.
    crowds = [] if options.hogs else [count for count in options.ranks if count > len(options.cores)]

    def after_round(run):
        floors = machine.copy_times(program, options.cores, options.sizes)
        floors["meeting_us"] = machine.meeting_times(program, options.cores, crowds)
        for name, times in floors.items():
            for of, microseconds in times.items():
                facts[name][of] = min(microseconds, facts[name].get(of, microseconds))
        facts["minutes"] = (time.monotonic() - begin) / 60
        compared = [] if options.tests else compare_all(run, facts)
        facts["level"] = min((one.level for one in compared if one.peer and not one.thin), default=0)
        page.write_json(options.out.with_name(facts["json"]), page.document(run, facts, compared))
        progress.after(run)

    def unsure(run):
        return [one for one in compare_all(run, {}) if one.undecided or one.mark == "loses"]

    progress = Progress(console, run)
    with progress.bar, jobs.hogs(options.hogs):
        run.go(step, after_round, unsure)
    facts["foreign_after"] = foreign_load(1)
    return facts


def say_what_failed(run, console):
    for text in run.repeated:
        console.print(f"measured in parts: {text}", highlight=False, markup=False)
    for name, version in run.names.items():
        console.print(f"{name}: {version}", highlight=False)
    for cell, one in run.failures():
        what = f"{one.library.name} ({one.setting.name}), {cell.collective} on {cell.ranks} ranks"
        console.print(f"{what}: {one.failure}", highlight=False, markup=False)
    if late := sum(len(sizes) for _, _, sizes in run.missing()):
        console.print(f"Points that no job came to in its time: {late}; the page names them.", highlight=False)


def report_overlap(run, facts, options, console):
    points = overlap.combine(run)
    drawn = overlap.draw(points, options.out)
    options.out.with_name(f"{options.out.name}.md").write_text(overlap.markdown(run, facts, points, drawn))
    overlap.show(console, points)
    say_what_failed(run, console)
    console.print(f"{run.rounds} rounds, {facts['minutes']:.1f} minutes. All of it: {options.out}.md", highlight=False)


def report(run, facts, options, console):
    compared = compare_all(run, facts)
    page.write_json(options.out.with_name(facts["json"]), page.document(run, facts, compared))
    drawn = pictures.draw(compared, options.out)
    form = between if options.hosts else page
    options.out.with_name(f"{options.out.name}.md").write_text(form.markdown(run, facts, compared, drawn))
    table.show(console, compared, between.look_of(run) if options.hosts else table.ONE_HOST)
    say_what_failed(run, console)
    losing = sum(one.mark == "loses" for one in compared)
    unsure = sum(one.undecided for one in compared)
    console.print(f"{run.rounds} rounds, {facts['minutes']:.1f} minutes. All of it: {options.out}.md", highlight=False)
    console.print(f"Slower than the best peer at {losing} points; at {unsure} more nobody can say.", highlight=False)


def shorten(options):
    """--quick: a smoke test. Otherwise what was asked for."""
    if options.quick:
        options.sizes, options.rounds, options.seconds = (
            sorted({options.sizes[0], min(options.sizes[-1], 64 << 10)}),
            2,
            0.05,
        )
        options.again = 0
        options.hosts = options.hosts[:1]
        options.ranks = [count * options.per_host for count in options.hosts] or [2]


def read(given):
    """The command line, checked; what nobody said is filled in."""
    options = types.SimpleNamespace(**given)
    options.arguments = sys.argv[1:]
    options.binaries = pathlib.Path(os.environ.get("VERSUS_BINARIES", "build/release/bin")).absolute()
    options.peers = options.peers or peers.default_folder()
    kind = "many-hosts" if options.hosts else "one-host"
    options.hosts = read_counts(options.hosts, "hosts") if options.hosts else []
    read_place(options)
    for name, value in DEFAULTS[kind].items():
        setattr(options, name, getattr(options, name) or value)
    options.sizes = read_sizes(options.sizes, 2 if options.full else 8)
    options.tests = read_tests(options.tests) if options.overlap else ()
    options.again = 0 if options.overlap else options.again
    options.out = options.out or pathlib.Path("overlap" if options.overlap else kind)
    if options.overlap and options.scheme == "loop":
        options.scheme = "barrier"  # a sample needs a start
    options.seed = random.randrange(1 << 31) if options.seed is None else options.seed
    if options.full:
        options.minutes = float("inf")
    shorten(options)
    return options


def read_place(options):
    """On which hosts, ranks and cores."""
    if options.hosts and (options.ranks or options.cores):
        raise click.BadParameter("with --hosts the ranks are --per-host times as many, and bound to no cores")
    if not options.hosts and (options.rate or options.per_host or options.through):
        raise click.BadParameter("--rate, --per-host and --through are about --hosts")
    if options.flat and (options.per_host or 1) == 1:
        raise click.BadParameter("--flat is about more than one rank on each of several hosts: --hosts and --per-host")
    options.per_host = (options.per_host or 1) if options.hosts else 0
    options.ranks = (
        [count * options.per_host for count in options.hosts]
        if options.hosts
        else read_counts(options.ranks or "2,4,8", "ranks")
    )
    allowed = sorted(os.sched_getaffinity(0))
    chosen = read_names(options.cores, [str(core) for core in allowed], "core") if options.cores else allowed
    options.cores = [int(core) for core in chosen]


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.argument("collectives", nargs=-1)
@click.option("-n", "--ranks", show_default="2,4,8", help="Numbers of ranks, on this host.")
@click.option("--hosts", help="Numbers of hosts, as in 2,4,8,16: namespaces of this machine, see docs/lab.md.")
@click.option("--rate", default="", show_default="no limit", help="With --hosts: of each link, as in 100mbit.")
@click.option("--per-host", type=click.IntRange(1, 64), show_default="1", help="With --hosts: ranks on each of them.")
@click.option("--through", help="With --hosts: Tutti through this peer's messages, beside its own calls.")
@click.option("--flat", is_flag=True, help="With --per-host: as a peer, Tutti's algorithms that see no hosts.")
@click.option(
    "--longest",
    type=click.FloatRange(0.001),
    default=0.35,
    show_default=True,
    help="With --rate: sizes for which the wire alone needs more seconds are left out.",
)
@click.option("--sizes", show_default="8:4M", help="Bytes of a block: 8:4M (sampled), 8:4M:2 or 8,64K,4M.")
@click.option("--vs", show_default="openmpi,mpich,impi", help="Peers; installed: those that need no network; none.")
@click.option(
    "--scheme", type=click.Choice(list(page.SCHEMES)), default="loop", show_default=True, help="How calls are timed."
)
@click.option(
    "--statistic",
    type=click.Choice(list(page.STATISTICS)),
    default="run",
    show_default=True,
    help="What stands for a round in scheme loop: run time / calls, or one of its batches.",
)
@click.option("--rounds", type=click.IntRange(1), default=7, show_default=True, help="How many rounds at most.")
@click.option(
    "--again",
    type=click.IntRange(0),
    default=7,
    show_default=True,
    help="Further rounds of the points at which Tutti looks slower, beside the peers near the best.",
)
@click.option(
    "--minutes", type=click.FloatRange(0), default=40, show_default=True, help="No round is begun that would end later."
)
@click.option(
    "--seconds",
    type=click.FloatRange(0.01),
    default=1.0,
    show_default=True,
    help="Of measuring a collective in one job.",
)
@click.option(
    "--hogs", type=click.IntRange(0, 1024), default=0, show_default=True, help="Busy processes beside the ranks."
)
@click.option(
    "--full", is_flag=True, help="Every power of two, every peer and setting in every round, no limit of time."
)
@click.option(
    "--overlap", is_flag=True, help="How much of a call's time can be hidden behind work, see docs/overlap.md."
)
@click.option("--tests", default="0,1,2,4,8", show_default=True, help="With --overlap: how often a request is tested.")
@click.option(
    "--memory",
    type=click.Choice(["program", "library"]),
    default="program",
    show_default=True,
    help="Whose the buffers are: malloc's, or from tutti_allocate and MPI_Alloc_mem.",
)
@click.option("--quick", is_flag=True, help="Two sizes on two ranks, for a moment: does it work?")
@click.option("--seed", type=int, help="Of the order of the rounds; printed.")
@click.option("--cores", help="The cores to use, as in 0,1: rank r gets the r-th of them.")
@click.option("--peers", type=click.Path(path_type=pathlib.Path), help="Where the peers are installed.")
@click.option(
    "--out",
    type=click.Path(path_type=pathlib.Path),
    help="Where the results go: OUT.json, OUT.md, OUT-*.png (one-host, many-hosts, or overlap).",
)
def main(**given):
    """Measures Tutti and MPI libraries on this machine, side by side: COLLECTIVES, or all of them.

    With --hosts between hosts: barrier, bcast, allreduce, allgather, alltoall and reduce_scatter, or COLLECTIVES. The
    peers are installed from PyPI into environments of their own, and the benchmark is compiled against them (cc).
    """
    options = read(given)
    console = rich.console.Console()
    if not console.is_terminal:
        console.width = 160 if options.hosts else 120  # a file or a pipe is as wide as the table
    try:
        libraries = prepare(options, console)
        known = collectives_of(libraries[0])
        names = read_names(",".join(options.collectives), list(known), "collective") or list(known)
        cells = [rounds.Cell(name, ranks) for ranks in options.ranks for name in names]
        options.out.parent.mkdir(parents=True, exist_ok=True)
        with place_of(options) as place:
            sizes, left_out = sizes_of(cells, known, place, options)
            run = rounds.Run(libraries, sizes, place, options)
            facts = {"left_out": left_out, **measure(run, options, console)}
        (report_overlap if options.tests else report)(run, facts, options, console)
        if any(one.library.name == "tutti" for _, one in run.failures()):
            sys.exit("tutti bench: Tutti itself could not be measured everywhere, see above")
    except (peers.Failure, jobs.JobFailed) as failure:
        sys.exit(f"tutti bench: {failure}")
