# SPDX-License-Identifier: BSD-3-Clause
"""The comparison as pictures: a map of the ratios and curves of the times, for each number of ranks."""

import matplotlib
import matplotlib.colors
import matplotlib.pyplot as plt

from .table import size_text

matplotlib.use("Agg")
OTHER = "tab:gray"
COLOURS = {"tutti": "tab:red", "openmpi": "tab:blue", "mpich": "tab:green", "impi": "tab:orange"}


def ratio_map(comparisons, ranks, path):
    """Sizes across, collectives down; blue where Tutti is faster, red where it is slower, white where equal."""
    chosen = [one for one in comparisons if one.ranks == ranks and one.peer]
    names = list(dict.fromkeys(one.collective for one in chosen))
    sizes = sorted({one.bytes for one in chosen})
    figure, axes = plt.subplots(figsize=(2 + 0.9 * len(sizes), 1.2 + 0.42 * len(names)), layout="constrained")
    grid = [[float("nan")] * len(sizes) for _ in names]
    for one in chosen:
        row, column = names.index(one.collective), sizes.index(one.bytes)
        grid[row][column] = one.ratio
        text = f"{one.ratio:.2f}" + ("*" if one.mark else "")
        axes.text(column, row, text, ha="center", va="center", fontsize=8)
    scale = matplotlib.colors.LogNorm(0.25, 4)
    image = axes.imshow(grid, norm=scale, cmap="RdBu", aspect="auto", alpha=0.8)
    axes.set_xticks(range(len(sizes)), [size_text(size) for size in sizes])
    axes.set_yticks(range(len(names)), names)
    axes.set_title(f"{ranks} ranks: time of the best peer / time of Tutti (* below its goal)", fontsize=10)
    figure.colorbar(image, ticks=[0.25, 0.5, 1, 2, 4], format="%g").minorticks_off()
    figure.savefig(path, dpi=100)
    plt.close(figure)


def curves(comparisons, ranks, path):
    """One small picture for each collective: microseconds by size, one line for each library."""
    chosen = [one for one in comparisons if one.ranks == ranks and one.bytes]
    names = list(dict.fromkeys(one.collective for one in chosen))
    if not names:
        return False
    columns = min(3, len(names))
    rows = -(-len(names) // columns)
    size = (4 * columns, 3 * rows)
    figure, grid = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
    for axes, name in zip(grid.flat, names):
        points = [one for one in chosen if one.collective == name]
        for library in ["tutti", *dict.fromkeys(other for one in points for other in one.others)]:
            line = [(one.bytes, one.us if library == "tutti" else one.others.get(library)) for one in points]
            line = [(x, y) for x, y in line if y]
            if line:
                axes.loglog(*zip(*line), marker=".", color=COLOURS.get(library, OTHER), label=library, base=10)
        if wire := [(one.bytes, one.wire_us) for one in points if one.wire_us]:
            axes.loglog(*zip(*wire), "--", color="black", linewidth=1, label="wire limit", base=10)
        axes.set_title(name, fontsize=10)
        axes.set_xlabel("bytes", fontsize=8)
        axes.set_ylabel("µs", fontsize=8)
    for axes in grid.flat[len(names) :]:
        axes.set_visible(False)
    grid.flat[0].legend(fontsize=8)
    figure.suptitle(f"{ranks} ranks: time of a call")
    figure.savefig(path, dpi=80)
    plt.close(figure)
    return True


def draw(comparisons, base):
    """Draws everything beside `base`; {ranks: [file names]}."""
    drawn = {}
    for ranks in sorted({one.ranks for one in comparisons}):
        files = []
        if any(one.peer for one in comparisons if one.ranks == ranks):
            ratio_map(comparisons, ranks, path := base.parent / f"{base.name}-ratio-{ranks}.png")
            files.append(path.name)
        if curves(comparisons, ranks, path := base.parent / f"{base.name}-time-{ranks}.png"):
            files.append(path.name)
        drawn[ranks] = files
    return drawn
