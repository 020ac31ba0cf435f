# SPDX-License-Identifier: BSD-3-Clause
"""The comparison as a table: for a terminal (rich) and for a page (Markdown), from the same rows."""

import rich.markup
import rich.table

COLUMNS = ("size", "Tutti µs", "skew", "floor", "best peer", "µs", "skew", "ratio", "interval", "")


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
    mark = (
        one.mark + (f" {one.goal:g}" if one.mark == "below goal" else "") + (" (peer: one round)" if one.thin else "")
    )
    return [*ours, one.peer, number(one.peer_us), number(one.peer_skew_us), ratio, interval, mark.strip()]


def grouped(comparisons):
    """[((ranks, collective), rows)], in the order of the points."""
    groups = {}
    for one in comparisons:
        groups.setdefault((one.ranks, one.collective), []).append(one)
    return list(groups.items())


def show(console, comparisons):
    """Prints one table for each number of ranks."""
    for count in sorted({one.ranks for one in comparisons}):
        table = rich.table.Table(title=f"{count} ranks; ratio = best peer / Tutti", title_justify="left")
        table.add_column("collective")
        for index, column in enumerate(COLUMNS):
            table.add_column(column, justify="left" if index in (4, 9) else "right")
        for (ranks, collective), rows in grouped(comparisons):
            if ranks != count:
                continue
            for index, one in enumerate(rows):
                style = {"loses": "red", "below goal": "yellow"}.get(one.mark, "")
                texts = [rich.markup.escape(text) for text in cells(one)]
                table.add_row(collective if index == 0 else "", *texts, style=style, end_section=one is rows[-1])
        console.print(table)


def markdown(comparisons):
    """The rows of one collective and number of ranks, or of any list, as a Markdown table."""
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    for one in comparisons:
        texts = cells(one)
        if one.mark:
            texts = [f"**{text}**" if text not in ("", "-") else text for text in texts]
        lines.append("| " + " | ".join(texts) + " |")
    return "\n".join(lines)
