# SPDX-License-Identifier: BSD-3-Clause
"""The comparison as a table: for a terminal (rich) and for a page (Markdown), from the same rows."""

import dataclasses

import rich.markup
import rich.table


@dataclasses.dataclass(frozen=True)
class Look:
    """What a table shows of each point."""

    title: str  # behind the number of ranks
    columns: tuple
    cells: object  # of a comparison: a text for each column
    words: tuple = ("best peer", "")  # columns that hold words and not numbers


def size_text(size):
    for unit, power in (("MiB", 20), ("KiB", 10)):
        if size and size % (1 << power) == 0:
            return f"{size >> power} {unit}"
    return f"{size} B" if size else "-"


def number(value):
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def cells(one):
    """One comparison, as the texts of its row."""
    ours = [
        size_text(one.bytes),
        number(one.us),
        number(one.skew_us),
        f"{one.floor_share:.0%}" if one.floor_share else "-",
    ]
    if not one.peer:
        return [*ours, "-", "-", "-", "-", "-", ""]
    ratio = f"{one.ratio:.2f}"
    interval = f"{one.low:.2f}-{one.high:.2f}"
    mark = f"{one.mark} (peer: one round)".strip() if one.thin else one.mark
    return [*ours, one.peer, number(one.peer_us), number(one.peer_skew_us), ratio, interval, mark]


def grouped(comparisons):
    """[((ranks, collective), rows)], in the order of the points."""
    groups = {}
    for one in comparisons:
        groups.setdefault((one.ranks, one.collective), []).append(one)
    return list(groups.items())


ONE_HOST = Look(
    "ratio = best peer / Tutti",
    ("size", "Tutti µs", "skew", "floor", "best peer", "µs", "skew", "ratio", "interval", ""),
    cells,
)


def show(console, comparisons, look):
    """Prints one table for each number of ranks."""
    for count in sorted({one.ranks for one in comparisons}):
        table = rich.table.Table(title=f"{count} ranks; {look.title}", title_justify="left")
        table.add_column("collective")
        for column in look.columns:
            table.add_column(column, justify="left" if column in look.words else "right")
        for (ranks, collective), rows in grouped(comparisons):
            if ranks != count:
                continue
            for index, one in enumerate(rows):
                style = {"loses": "red", "below goal": "yellow"}.get(one.mark, "")
                texts = [rich.markup.escape(text) for text in look.cells(one)]
                table.add_row(collective if index == 0 else "", *texts, style=style, end_section=one is rows[-1])
        console.print(table)


def markdown(comparisons, look):
    """The rows of one collective and number of ranks, or of any list, as a Markdown table."""
    lines = ["| " + " | ".join(look.columns) + " |", "|" + "---|" * len(look.columns)]
    for one in comparisons:
        texts = look.cells(one)
        if one.mark:
            texts = [f"**{text}**" if text not in ("", "-") else text for text in texts]
        lines.append("| " + " | ".join(texts) + " |")
    return "\n".join(lines)


def losing(comparisons, look):
    """The marked points in one Markdown table, the worst first."""
    marked = sorted((one for one in comparisons if one.mark), key=lambda one: one.shortfall)
    if not marked:
        return "None."
    rows = ["| ranks | collective | " + " | ".join(look.columns) + " |", "|" + "---|" * (len(look.columns) + 2)]
    rows += [f"| {one.ranks} | {one.collective} | " + " | ".join(look.cells(one)) + " |" for one in marked]
    return "\n".join(rows)


def sections(comparisons, pictures, look):
    """All points as Markdown, with the pictures of each number of ranks: a list of parts."""
    parts = []
    for ranks in sorted({one.ranks for one in comparisons}):
        parts.append(f"## {ranks} ranks")
        parts += [f"![{name}]({name})" for name in pictures.get(ranks, ())]
        for (count, collective), rows in grouped(comparisons):
            if count == ranks:
                parts.append(f"### {collective}\n\n{markdown(rows, look)}")
    return parts
