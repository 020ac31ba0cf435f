# SPDX-License-Identifier: BSD-3-Clause
"""Checks the rules of the tree that no compiler checks, and prints every breach.

The licence line comes first; files have at most 500 lines and functions at most 60; a room includes only itself, the
rooms that it names in CMake, and the public headers, and docs/architecture.md lists those; nothing unfinished and no
skipped test stays behind; each module of pytest has a name of its own.
"""

import pathlib
import re
import subprocess
import sys

import lizard

ROOT = pathlib.Path(__file__).resolve().parent.parent
LICENCE = "SPDX-License-Identifier: BSD-3-Clause"
FILE_LINES = 500
FUNCTION_LINES = 60
CODE = {".cpp", ".hpp", ".c", ".h"}
SOURCE = CODE | {".py", ".pyi", ".cmake", ".toml", ".sh"}
SOURCE_NAMES = {"CMakeLists.txt", "Makefile", "requirements.txt"}
LEFTOVER = re.compile(
    r"\b(TODO|FIXME|XXX|HACK)\b|GTEST_SKIP|\bDISABLED_\w|NotImplemented|#if 0\b|pytest\.(skip|xfail|importorskip)"
    r"|mark\.(skip|xfail)|unittest\.skip"
)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
ROOM = re.compile(r"^\s*tutti_(?:room|backs)\((\w+)([^)]*)\)", re.MULTILINE)


def sources():
    """Every file under version control, or about to be, that is code of some kind, with its text."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in listing.stdout.splitlines():
        path = ROOT / name
        if path.is_file() and (path.suffix in SOURCE or path.name in SOURCE_NAMES or is_script(path)):
            yield pathlib.Path(name), path.read_text()


def is_script(path):
    return not path.suffix and path.read_bytes()[:2] == b"#!"


def licence(path, lines):
    first = lines[1] if lines and lines[0].startswith("#!") and len(lines) > 1 else lines[0] if lines else ""
    if LICENCE not in first:
        yield 1, f"the first line is not: {LICENCE}"


def lengths(path, lines):
    if len(lines) > FILE_LINES:
        yield FILE_LINES, f"{len(lines)} lines; split the file by what its parts do"
    if path.suffix in CODE or path.suffix == ".py":
        for function in lizard.analyze_file.analyze_source_code(str(path), "\n".join(lines)).function_list:
            if function.length > FUNCTION_LINES:
                yield function.start_line, f"{function.name} has {function.length} lines, {FUNCTION_LINES} are allowed"


def leftovers(path, lines):
    if path.name == pathlib.Path(__file__).name:
        return
    for number, line in enumerate(lines, 1):
        found = LEFTOVER.search(line)
        if found:
            yield number, f"left behind: {found.group(0)}"


def rooms():
    """What each room names: {folder of the room: {room, ...}}."""
    named = {}
    for folder in ("src", "bindings"):
        file = ROOT / folder / "CMakeLists.txt"
        for name, rest in ROOM.findall(re.sub(r"#.*", "", file.read_text()) if file.exists() else ""):
            depends = re.search(r"DEPENDS((?:\s+[a-z_]+)*)", rest)
            named[f"{folder}/{name}"] = {name, *(depends.group(1).split() if depends else ())}
    return named


def includes(path, lines, named):
    if path.suffix not in CODE or path.parts[0] not in ("src", "bindings", "include"):
        return
    folder = "/".join(path.parts[:2])
    allowed = named.get(folder, set()) | {"tutti"}
    for number, line in enumerate(lines, 1):
        found = INCLUDE.match(line)
        # A name without a folder is a neighbour in the same folder.
        room = found.group(1).split("/")[0] if found and "/" in found.group(1) else "tutti"
        if room not in allowed:
            yield number, f'{folder} does not name "{room}" in CMake, and may not include {found.group(1)}'


def page(named):
    """The table of rooms says what CMake says."""
    file = pathlib.Path("docs/architecture.md")
    row = re.compile(r"\| `((?:src|bindings)/\w+)[^`]*` \|.*\| ([a-z_, ]*)\|$")
    listed = set()
    for number, line in enumerate((ROOT / file).read_text().splitlines(), 1):
        found = row.match(line)
        if not found or found.group(1) not in named:
            continue
        folder = found.group(1)
        listed.add(folder)
        said = {*re.findall(r"\w+", found.group(2)), folder.split("/")[1]}
        if said != named[folder]:
            yield (
                file,
                number,
                f"{folder} names {', '.join(sorted(said ^ named[folder]))} in one place, here or in CMake",
            )
    for folder in sorted(set(named) - listed - {"bindings/c"}):
        yield file, 1, f"{folder} is missing in the table"


def names(path, tests):
    """pytest imports tests, and they each other's helpers, by their names alone: a second one of the same name is not
    found. Scripts are run by their paths."""
    if path.parts[0] == "tests" and path.suffix == ".py" and path.name not in ("conftest.py", "script.py"):
        first = tests.setdefault(path.name, path)
        if first != path:
            yield 1, f"tests that import it may get {first}; give it a name of its own"


def main():
    named, tests = rooms(), {}
    breaches, count = 0, 0
    for path, text in sources():
        lines = text.splitlines()
        count += 1
        checks = (
            licence(path, lines),
            lengths(path, lines),
            leftovers(path, lines),
            includes(path, lines, named),
            names(path, tests),
        )
        for check in checks:
            for line, what in check:
                print(f"{path}:{line}: {what}")
                breaches += 1
    for path, line, what in page(named):
        print(f"{path}:{line}: {what}")
        breaches += 1
    print(f"tree: {count} files, {breaches} breaches")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
