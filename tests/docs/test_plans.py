# SPDX-License-Identifier: BSD-3-Clause
"""The ring of docs/plans.md is what it says: it compiles, proves itself, adds up, and the picture is its own."""

import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/plans.md").read_text()
BUILD = pathlib.Path(os.environ["TUTTI_BUILD"])
PROGRAM = re.search(r"```cpp\n(.*?)```", PAGE, re.DOTALL).group(1)
DRAWING = """
int main() {
  std::fputs(tutti::draw([](Rank rank, Rank size) { return ring(rank, size, 3); }, 3).c_str(), stdout);
}
"""


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def compiled(folder, text):
    (folder / "ring.cpp").write_text(text)
    library = BUILD / "lib"
    run("g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include", folder / "ring.cpp", "-o",
        folder / "ring", f"-L{library}", f"-Wl,-rpath,{library}", "-ltutti")  # fmt: skip
    return folder / "ring"


def test_program(tmp_path):
    program = compiled(tmp_path, PROGRAM)
    for size, total in ((1, 1), (3, 6), (4, 10)):
        assert run("tutti", "run", "-n", size, program) == f"{size} ranks, total {total}\n"


def test_an_edge_less_is_found(tmp_path):
    wrong = PROGRAM.replace(".after({have, sent[i]})", ".after(have)")
    assert wrong != PROGRAM
    done = subprocess.run([compiled(tmp_path, wrong)], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1
    assert re.match(r"plan ring, rank \d, step s\d+ \(.*\): ", done.stdout)


def test_picture_is_current(tmp_path):
    drawn = run(compiled(tmp_path, PROGRAM.split("int main()")[0] + DRAWING))
    assert (ROOT / "docs/pictures/plan-ring-3.svg").read_text() == drawn
