# SPDX-License-Identifier: BSD-3-Clause
"""Random programs, each of which is a number: what they leave in memory, compared between two ways to run them."""

import pathlib
import tempfile

import mpi_jobs
import mpis

SOURCES = sorted((mpi_jobs.HERE / "random").glob("*.c"), key=lambda path: (path.name != "main.c", path.name))


def program(mpi, flags=()):
    return mpi_jobs.compile_program(mpi, SOURCES, "-lm", *mpi.flags_of_random, *flags)


def lines(folder, ranks):
    """What each rank has written so far: {seed: (line of rank 0, ...)} of the seeds that all have finished."""
    files = [pathlib.Path(folder) / str(rank) for rank in range(ranks)]
    texts = [file.read_text().splitlines() if file.exists() else [] for file in files]
    return {int(row[0].split()[0]): row for row in zip(*texts)}


def play(mpi, binary, ranks, seeds, avoids, seconds_least=10, **how):
    """The results of seeds, and of those that failed a sentence. The next job goes on behind one."""
    results, failures, left = {}, {}, list(seeds)
    environment = {"RANDOM_AVOIDS": ", ".join(avoids), **how.pop("environment", {})}
    while left:
        with tempfile.TemporaryDirectory() as folder:
            command = [binary, left[0], len(left), folder]
            done = mpi_jobs.run(
                mpi, ranks, command, timeout=seconds_least + len(left) * 0.2, environment=environment, **how
            )
            made = lines(folder, ranks)
        results.update(made)
        left = [seed for seed in left if seed not in made]
        if done.status == 0 and not left:
            break
        if not left:
            failures[seeds[-1]] = f"after the last program: {describe(done)}"
            break
        failures[left.pop(0)] = describe(done)
    return results, failures


def describe(done):
    if done.status is None:
        return "hangs"
    return f"status {done.status}: {' '.join((done.err + done.out).split())[:300]}"


def trace(mpi, binary, ranks, seed, avoids, **how):
    """One seed again: for each rank the operations and what each left, by their numbers."""
    environment = {"RANDOM_AVOIDS": ", ".join(avoids), **how.pop("environment", {})}
    with tempfile.TemporaryDirectory() as folder:
        mpi_jobs.run(mpi, ranks, [binary, seed, 1, folder, "trace"], timeout=20, environment=environment, **how)
        files = [pathlib.Path(folder) / str(rank) for rank in range(ranks)]
        return [file.read_text().splitlines() if file.exists() else [] for file in files]


def first_difference(expected, found, others, repeats):
    """The first operation that left something on some rank which neither the reference nor one of `others`, bare runs
    of the library itself or of its witness, does: MPI leaves things open, as with a rank that is its own neighbour
    twice. `repeats`: others are runs of one library in one way, and what they leave differently says nothing. Nothing:
    there is none."""
    for rank, (want, have, *bare) in enumerate(zip(expected, found, *others)):
        texts = {int(line.split()[0]): line for line in want if line.split()[1] == "is"}
        wanted = sorted(line for line in want if line.split()[1] != "is")
        had = {line for line in have if line.split()[1] != "is"}
        for line in sorted(wanted, key=lambda one: int(one.split()[0])):
            if line in had:
                continue
            number = line.split()[0]
            other = [one for one in had if one.split()[0] == number]
            alone = [{one for one in run if one.split()[0] == number and one.split()[1] != "is"} for run in bare]
            says_nothing = repeats and any(one != alone[0] for one in alone)
            if other and (says_nothing or set(other) <= set.union({*want}, *alone)):
                continue
            last = have[-1] if have else "nothing"
            return f"rank {rank}: {texts.get(int(number), line)}\n  wanted {line}\n  had {other}\n  its last: {last}"
    return None


def failure_of_its_own(mpi, binary, ranks, seed, avoids):
    """What the library says or does that cannot play a seed by itself, either, in one of some attempts: MPICH hangs in
    some programs once in three times, and 4 attempts missed that once in 5."""
    attempts = (play(mpi, binary, ranks, [seed], avoids)[1] for _ in range(12))
    return next((failed[seed] for failed in attempts if failed), None)


def bare_runs(mpi, ranks, seed, avoids):
    """What the library leaves without the drop-in, twice, or, where it is its own reference, what its witness does, and
    itself in another way."""
    runs = [(mpi, {}), (mpi, {})] if mpi.reference else [(mpis.get(mpi.witness), {}), (mpi, mpi.other_way)]
    return [
        trace(one, program(one, mpi.flags_of_random), ranks, seed, avoids, environment=settings)
        for one, settings in runs
    ]


def expected_results(mpi, ranks, seeds):
    """What the library that is the reference of this one leaves, and the seeds that it cannot do."""
    reference = mpis.get(mpi.reference or mpi.name)
    avoids = (*reference.avoids, *mpi.avoids)
    binary = program(reference, mpi.flags_of_random)
    results, failures = play(reference, binary, ranks, seeds, avoids)
    return results, failures, lambda seed: trace(reference, binary, ranks, seed, avoids)


def compare(mpi, ranks, seeds, **how):
    """Plays seeds on a library, in the way that `how` says; returns how many were compared, what is wrong, and what was
    left out because the reference cannot do it, or the library itself."""
    reference = mpis.get(mpi.reference or mpi.name)
    avoids = (*reference.avoids, *mpi.avoids)
    expected, left_out, trace_expected = expected_results(mpi, ranks, seeds)
    binary = program(mpi)
    found, failures, complaints = {}, {}, []
    for part in stretches(sorted(expected)):
        one, wrong = play(mpi, binary, ranks, part, avoids, **dict(how))
        found.update(one)
        failures.update(wrong)
    for seed in sorted(found.keys() - failures.keys()):
        if found[seed] == expected[seed]:
            continue
        again, wanted = trace(mpi, binary, ranks, seed, avoids, **dict(how)), trace_expected(seed)
        if difference := first_difference(wanted, again, bare_runs(mpi, ranks, seed, avoids), bool(mpi.reference)):
            failures[seed] = difference
        elif not mpi.reference and not first_difference(wanted, again, [], repeats=False):
            failures[seed] = "other results, and none in a second run"
    for seed, text in failures.items():
        if own := failure_of_its_own(mpi, binary, ranks, seed, avoids):
            left_out[seed] = f"bare: {own}"
        else:
            complaints.append(f"seed {seed} of {ranks} ranks: {text}")
    return len(expected) - len(left_out.keys() & expected.keys()), complaints, left_out


def stretches(seeds):
    """Runs of numbers that follow each other: the programs of one job."""
    made = []
    for seed in seeds:
        if made and made[-1][-1] == seed - 1:
            made[-1].append(seed)
        else:
            made.append([seed])
    return made
