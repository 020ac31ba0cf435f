# SPDX-License-Identifier: BSD-3-Clause
"""Writes the Fortran module and the C subroutines behind it: generate.py TEMPLATE MODULE SUBROUTINES.

One table names every collective; every form of it, on both sides of the language border, is made from its row.
"""

import pathlib
import sys

# What a name in a row is in C and in Fortran. Arrays are descriptors; everything else goes by reference.
NUMBERS = {
    "root": "integer(c_int32_t), intent(in)",
    "to": "integer(c_int32_t), intent(in)",
    "from": "integer(c_int32_t), intent(in)",
    "tag": "integer(c_int32_t), intent(in)",
    "op": "type(tutti_op), intent(in)",
    "counts": "integer(c_int64_t), intent(in)",
}
COUNTS = ("counts", "send_counts", "recv_counts")
OFFSETS = ("offsets", "send_offsets", "recv_offsets")
LAYOUTS = ("send", "recv")
SENT = ("in", "data_sent")
# Arrays of which one element is used are in neither.
FILLED = ("out", "buffer", "data")

W_ARGUMENTS = "in, send_offsets, send, out, recv_offsets, recv"

# Name, arrays, numbers and lists, offsets, how many elements and what must be there, the C call's arguments. Rows that
# speak of sources or destinations are of graphs.
COLLECTIVES = [
    ("barrier", "", "", "", "", ""),
    ("bcast", "buffer", "root", "", "", "buffer.data, buffer.count, type, *root"),
    (
        "reduce",
        "in out",
        "op root",
        "",
        "count = holds(in, out, 1); if (rank == *root) need(out, count);",
        "in.data, out.data, count, type, *op, *root",
    ),
    *(
        (
            name,
            "in out",
            "op",
            "",
            "count = holds(in, out, 1); need(out, count);",
            "in.data, out.data, count, type, *op",
        )
        for name in ("allreduce", "scan", "exscan")
    ),
    (
        "reduce_scatter_block",
        "in out",
        "op",
        "",
        "count = tutti_fortran_is_in_place(&in) ? out.count / size : out.count; need(in, count * size);",
        "in.data, out.data, count, type, *op",
    ),
    (
        "reduce_scatter",
        "in out",
        "counts op",
        "",
        "count = tutti_fortran_extent(size, counts, NULL); need(in, count);"
        " need(out, tutti_fortran_is_in_place(&in) ? count : counts[rank]);",
        "in.data, out.data, counts, type, *op",
    ),
    (
        "gather",
        "in out",
        "root",
        "",
        "count = holds(in, out, size); if (rank == *root) need(out, count * size);",
        "in.data, out.data, count, type, *root",
    ),
    (
        "scatter",
        "in out",
        "root",
        "",
        "count = holds(out, in, size); if (rank == *root) need(in, count * size);",
        "in.data, out.data, count, type, *root",
    ),
    (
        "allgather",
        "in out",
        "",
        "",
        "count = holds(in, out, size); need(out, count * size);",
        "in.data, out.data, count, type",
    ),
    (
        "alltoall",
        "in out",
        "",
        "",
        "count = out.count / size; need(in, count * size);",
        "in.data, out.data, count, type",
    ),
    (
        "gatherv",
        "in out",
        "counts root",
        "offsets",
        "count = holds(in, out, 1); if (rank == *root) need(out, tutti_fortran_extent(size, counts, offsets));",
        "in.data, count, out.data, counts, offsets, type, *root",
    ),
    (
        "scatterv",
        "in out",
        "counts root",
        "offsets",
        "count = holds(out, in, 1); if (rank == *root) need(in, tutti_fortran_extent(size, counts, offsets));",
        "in.data, counts, offsets, out.data, count, type, *root",
    ),
    (
        "allgatherv",
        "in out",
        "counts",
        "offsets",
        "count = holds(in, out, 1); need(out, tutti_fortran_extent(size, counts, offsets));",
        "in.data, count, out.data, counts, offsets, type",
    ),
    (
        "alltoallv",
        "in out",
        "send_counts recv_counts",
        "send_offsets recv_offsets",
        "need(in, tutti_fortran_extent(size, send_counts, send_offsets));"
        " need(out, tutti_fortran_extent(size, recv_counts, recv_offsets));",
        "in.data, send_counts, send_offsets, out.data, recv_counts, recv_offsets, type",
    ),
    ("alltoallw", "in out", "send recv", "send_offsets recv_offsets", "", W_ARGUMENTS),
    (
        "neighbor_allgather",
        "in out",
        "",
        "",
        "count = in.count; need(out, count * sources);",
        "in.data, out.data, count, type",
    ),
    (
        "neighbor_reduce",
        "in out",
        "op",
        "",
        "count = in.count; if (sources > 0) need(out, count);",
        "in.data, out.data, count, type, *op",
    ),
    (
        "neighbor_alltoall",
        "in out",
        "",
        "",
        "count = tutti_fortran_block(in_array, destinations, out_array, sources);"
        " need(in, count * destinations); need(out, count * sources);",
        "in.data, out.data, count, type",
    ),
    (
        "neighbor_allgatherv",
        "in out",
        "counts",
        "offsets",
        "need(out, tutti_fortran_extent(sources, counts, offsets));",
        "in.data, in.count, out.data, counts, offsets, type",
    ),
    (
        "neighbor_alltoallv",
        "in out",
        "send_counts recv_counts",
        "send_offsets recv_offsets",
        "need(in, tutti_fortran_extent(destinations, send_counts, send_offsets));"
        " need(out, tutti_fortran_extent(sources, recv_counts, recv_offsets));",
        "in.data, send_counts, send_offsets, out.data, recv_counts, recv_offsets, type",
    ),
    ("neighbor_alltoallw", "in out", "send recv", "send_offsets recv_offsets", "", W_ARGUMENTS),
]
# The same without a persistent form.
OTHERS = [
    ("sum", "in total", "", "", "need(total, 1);", "in.data, in.count, type, total.data"),
    ("send", "data_sent", "to tag", "", "", "data_sent.data, data_sent.count, type, *to, (uint32_t)*tag"),
    ("recv", "data", "from tag", "", "", "data.data, data.count, type, *from, (uint32_t)*tag"),
]
LAYOUT = ("layout", "type(tutti_layout), intent(inout)", "")
INNER = ("inner", "type(tutti_layout), intent(in)", "")
ELEMENT = ("element", "integer(c_int64_t), intent(in)", "")


def count(name):
    """An argument that goes in."""
    return name, "integer(c_int64_t), intent(in)", f"*{name}"


def rank_out(name):
    """An argument that comes out."""
    return name, "integer(c_int32_t), intent(out)", name


# Functions without arrays: how the C call's arguments begin, and all of Fortran's, with what C is given for each.
PLAIN = [
    ("world", "", [("group", "type(tutti_group), intent(inout)", "group")]),
    ("group_free", "", [("group", "type(tutti_group), intent(inout)", "group")]),
    *(
        (
            name,
            "*group, ",
            [
                ("group", "type(tutti_group), intent(in)", ""),
                *((number, "integer(c_int), intent(in)", f"*{number}") for number in numbers.split()),
                ("part", "type(tutti_group), intent(inout)", "part"),
            ],
        )
        for name, numbers in (("split", "colour key"), ("split_by_host", "key"), ("dup", ""), ("reproducible", ""))
    ),
    (
        "agree",
        "*group, ",
        [
            ("group", "type(tutti_group), intent(in)", ""),
            ("flag", "integer(c_int), intent(in)", "*flag"),
            ("all", "integer(c_int), intent(out)", "all"),
        ],
    ),
    (
        "shrink",
        "*group, ",
        [
            ("group", "type(tutti_group), intent(in)", ""),
            ("survivors", "type(tutti_group), intent(inout)", "survivors"),
        ],
    ),
    ("request_free", "", [("request", "type(tutti_request), intent(inout)", "request")]),
    (
        "request_fd",
        "",
        [("request", "type(tutti_request), intent(inout)", "request"), ("fd", "integer(c_int), intent(out)", "fd")],
    ),
    *(
        (name, "", [("persistent", "type(tutti_persistent), intent(inout)", "persistent")])
        for name in ("start", "run", "persistent_free")
    ),
    ("layout_strided", "layout, (tutti_type)*element, ", [LAYOUT, ELEMENT, *map(count, ("count", "block", "stride"))]),
    ("layout_nested", "layout, *inner, ", [LAYOUT, INNER, *map(count, ("count", "stride_bytes"))]),
    ("layout_resized", "layout, *inner, ", [LAYOUT, INNER, *map(count, ("lower_bytes", "extent_bytes"))]),
    ("layout_free", "layout", [LAYOUT]),
    (
        "shift",
        "*grid, ",
        [
            ("grid", "type(tutti_group), intent(in)", ""),
            *((number, "integer(c_int), intent(in)", f"*{number}") for number in ("dimension", "by")),
            *map(rank_out, ("source", "destination")),
        ],
    ),
    (
        "degrees",
        "*graph, ",
        [("graph", "type(tutti_group), intent(in)", ""), *map(rank_out, ("sources", "destinations"))],
    ),
    ("exchange_free", "", [("exchange", "type(tutti_exchange), intent(inout)", "exchange")]),
]
C_TYPES = {
    **{f"type(tutti_{name})": f"tutti_{name}" for name in ("group", "request", "persistent", "layout", "exchange")},
    "c_int)": "int",
    "c_int32_t)": "int32_t",
    "c_int64_t)": "int64_t",
}


def forms(row, persistent):
    """Every name of a collective, with the handle that its form makes."""
    yield row[0], ""
    yield "i" + row[0], "request"
    if persistent:
        yield row[0] + "_init", "persistent"


def dummies(row, handle):
    """Required and optional arguments between the group and ierror, and behind ierror."""
    required = [*row[1].split(), *row[2].split()]
    typed = row[1] and not by_layouts(row)
    return [*required, *([handle] if handle else [])], [*row[3].split(), *(["element"] if typed else [])]


def by_layouts(row):
    """Whether layouts alone say what lies in the arrays."""
    return row[5] == W_ARGUMENTS


def shown(name):
    """An argument's name as the user sees it."""
    return "data" if name == "data_sent" else name


def wrapped(text, end, width=116):
    """Lines that are not too long, cut at commas."""
    lines = [""]
    for piece in text.replace(", ", ", \0").split("\0"):
        if len(lines[-1]) + len(piece) > width:
            lines.append("      ")
        lines[-1] += piece
    return end.join(lines)


def called(form):
    """A subroutine's name: Fortran knows no case, and TUTTI_SUM is an operation."""
    return f"tutti_{form}_of" if form in ("sum", "isum") else f"tutti_{form}"


def fortran(row, form, handle):
    """The interface of one subroutine."""
    before, after = dummies(row, handle)
    names = ["group", *map(shown, before), "ierror", *after]
    lines = [f'    subroutine {called(form)}({", ".join(names)}) bind(c, name="tutti_fortran_{form}")']
    lines = [wrapped(lines[0], " &\n"), "      import", "      type(tutti_group), intent(in) :: group"]
    held = ", asynchronous" if handle else ""
    for name in before:
        if name == handle:
            lines.append(f"      type(tutti_{handle}), intent(inout) :: {handle}")
        elif name in row[1].split():
            # Layouts may name parts of one array on both sides.
            intent = "in" if name in SENT and not by_layouts(row) else "inout"
            lines.append(f"      type(*), dimension(..), intent({intent}){held} :: {shown(name)}")
        elif name in COUNTS:
            lines.append(f"      integer(c_int64_t), intent(in), contiguous :: {name}(:)")
        elif name in LAYOUTS:
            lines.append(f"      type(tutti_layout), intent(in), contiguous :: {name}(:)")
        else:
            lines.append(f"      {NUMBERS[name]} :: {name}")
    lines.append("      integer(c_int), optional, intent(out) :: ierror")
    for name in after:
        shape = ", contiguous :: {}(:)" if name in OFFSETS else " :: {}"
        lines.append("      integer(c_int64_t), optional, intent(in)" + shape.format(name))
    return "\n".join([*lines, "    end subroutine"])


def c_argument(row, handle, name):
    if name == handle:
        return f"tutti_{handle}* {handle}"
    if name in row[1].split():
        return f"const CFI_cdesc_t* {name}_array"
    if name in (*COUNTS, *OFFSETS, *LAYOUTS):
        return f"const CFI_cdesc_t* {name}_list"
    if name == "op":
        return "const tutti_op* op"
    return f"const int{64 if name == 'element' else 32}_t* {name}"


def expanded(checks):
    """The checks of a row with the short words that the table uses."""
    text = checks
    for array in ("in", "out", "total"):
        text = text.replace(f"need({array}, ", f'tutti_fortran_expect(&call, "{array}", &{array}, ')
    for mine, other in (("in", "out"), ("out", "in")):
        for parts in ("1", "size"):
            text = text.replace(
                f"holds({mine}, {other}, {parts})",
                f"tutti_fortran_is_in_place(&{mine}) ? {other}.count / {parts} : {mine}.count",
            )
    return text


def at_root(row):
    """The array that other ranks than the root need not have."""
    return {"reduce": "out", "gather": "out", "gatherv": "out", "scatter": "in", "scatterv": "in"}.get(row[0])


def views(row):
    """The arrays of a call."""
    for array in row[1].split():
        if by_layouts(row):
            yield f"void* const {array} = tutti_fortran_memory({array}_array);"
            continue
        look = f'tutti_fortran_view(&call, "{shown(array)}", {array}_array, element)'
        if array == at_root(row):
            yield f"const tutti_elements nothing_{array} = {{NULL, 0, 0, NULL}};"
            look = f"rank == *root ? {look} : nothing_{array}"
        yield f"const tutti_elements {array} = {look};"


def placed(row):
    """Refusals of tutti_in_place where it says nothing."""
    may_be = {"sum": None, "scatter": "out", "scatterv": "out"}.get(row[0], "in")
    for array in row[1].split():
        if array != may_be:
            data = array if by_layouts(row) else f"{array}.data"
            yield f'tutti_fortran_no_place(&call, "{shown(array)}", {data});'


def lists(row):
    """The lists of a call, with one entry for each rank or edge."""
    for name in [*row[2].split(), *row[3].split()]:
        if name not in (*COUNTS, *OFFSETS, *LAYOUTS):
            continue
        kind = "tutti_layout" if name in LAYOUTS else "int64_t"
        entries = "size"
        if row[0].startswith("neighbor_"):
            entries = "destinations" if name.startswith("send") else "sources"
        look = f'tutti_fortran_list(&call, "{name}", {name}_list, {entries})'
        if at_root(row):
            look = f"rank == *root ? {look} : NULL"
        elif by_layouts(row) and name.startswith("send"):
            look = f"in == TUTTI_IN_PLACE ? NULL : {look}"
        yield f"const {kind}* const {name} = {look};"


def the_type(row):
    """The type of a call's elements."""
    arrays = row[1].split()
    if len(arrays) == 1:
        return f"{arrays[0]}.type"
    same = f"tutti_fortran_same(&call, &{arrays[0]}, &{arrays[1]})"
    if not at_root(row):
        return same
    other = next(array for array in arrays if array != at_root(row))
    return f"rank == *root ? {same} : {other}.type"


def laid_out(row):
    """The type of a call with arrays that have gaps."""
    sides = [[f"&{array}" for array in row[1].split() if array in side] for side in (SENT, FILLED)]
    return f"tutti_fortran_laid_out(&call, type, {', '.join(side[0] if side else 'NULL' for side in sides)})"


def c_subroutine(row, form, handle):
    """One subroutine in C."""
    before, after = dummies(row, handle)
    arguments = ["const tutti_group* group", *(c_argument(row, handle, name) for name in before), "int* ierror"]
    arguments += [c_argument(row, handle, name) for name in after]
    body = [*views(row), *placed(row), *lists(row)]
    checks = [f"{check.strip()};" for check in expanded(row[4]).split(";") if check.strip()]
    if any(check.startswith("count =") for check in checks):
        body.append("int64_t count = 0;")
    if row[1] and not by_layouts(row):
        checks = ["if (call.status == TUTTI_OK) {", *(f"  {check}" for check in checks), "}"] if checks else []
        body += [f"tutti_type type = {the_type(row)};", *checks, f"type = {laid_out(row)};"]
    text = "\n".join(body)
    known = [f'tutti_checked call = {{.what = "{form}"}};']
    if "rank" in text or "size" in text:
        known.append("tutti_fortran_made(&call, *group);")
    if "rank" in text:
        known.append("const int32_t rank = tutti_rank(*group);")
    if "size" in text:
        known.append("const int32_t size = tutti_size(*group);")
    if "sources" in text:
        known += ["int32_t sources, destinations;", "tutti_fortran_edges(&call, *group, &sources, &destinations);"]
    call = ", ".join(["*group", *([row[5]] if row[5] else []), *([handle] if handle else [])])
    body += ["if (call.status == TUTTI_OK)", f"  call.status = tutti_fortran_library(tutti_{form}({call}));"]
    head = f"void tutti_fortran_{form}({', '.join(arguments)}) {{"
    return "\n  ".join([head, *known, *body, "tutti_fortran_finish(&call, ierror);"]) + "\n}"


def plain(name, first, arguments):
    """A function without arrays: Fortran and C."""
    names = ", ".join([*(argument[0] for argument in arguments), "ierror"])
    interface = [f'    subroutine tutti_{name}({names}) bind(c, name="tutti_fortran_{name}")', "      import"]
    interface += [f"      {declared} :: {argument}" for argument, declared, _ in arguments]
    interface += ["      integer(c_int), optional, intent(out) :: ierror", "    end subroutine"]
    given = []
    for argument, declared, _ in arguments:
        kind = next(c for fortran_name, c in C_TYPES.items() if fortran_name in declared)
        given.append(f"{'const ' if 'intent(in)' in declared else ''}{kind}* {argument}")
    passed = first + ", ".join(value for _, _, value in arguments if value)
    code = f"void tutti_fortran_{name}({', '.join([*given, 'int* ierror'])}) {{\n"
    code += f"  tutti_fortran_end(tutti_fortran_library(tutti_{name}({passed})), ierror);\n}}"
    return "\n".join(interface), code


OP_CREATE = """void tutti_fortran_op_create(tutti_function function, void* context, _Bool commutative, tutti_op* op,
                             int* ierror) {
  tutti_fortran_end(tutti_fortran_library(tutti_op_create(function, context, commutative, op)), ierror);
}"""


def main(template, module, subroutines):
    interfaces, codes = zip(*(plain(*row) for row in PLAIN))
    interfaces, codes = list(interfaces), [OP_CREATE, *codes]
    for rows, persistent in ((COLLECTIVES, True), (OTHERS, False)):
        for row in rows:
            for form, handle in forms(row, persistent):
                interfaces.append(fortran(row, form, handle))
                codes.append(c_subroutine(row, form, handle))
    text = pathlib.Path(template).read_text().replace("@GENERATED@", "\n".join(interfaces))
    pathlib.Path(module).write_text(text)
    head = "/* SPDX-License-Identifier: BSD-3-Clause */\n/* Made by bindings/fortran/generate.py. */\n"
    pathlib.Path(subroutines).write_text(head + '#include "descriptors.h"\n\n' + "\n\n".join(codes) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
