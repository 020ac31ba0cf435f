# SPDX-License-Identifier: BSD-3-Clause
"""What the README shows is what there is: its programs run, its links lead somewhere, its picture is current."""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
BUILD = pathlib.Path(os.environ["TUTTI_BUILD"])


def block(language):
    """The first program of that language in the README."""
    return re.search(rf"```{language}\n(.*?)```", README, re.DOTALL).group(1)


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_cpp_example(tmp_path):
    source = tmp_path / "total.cpp"
    source.write_text(block("cpp"))
    program = tmp_path / "total"
    library = BUILD / "lib"
    run("g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include", source, "-o", program,
        f"-L{library}", f"-Wl,-rpath,{library}", "-ltutti")  # fmt: skip
    assert run("tutti", "run", "-n", 4, program) == "4 ranks, total 10\n"
    assert run(program) == "1 ranks, total 1\n"


def test_python_example(tmp_path):
    source = tmp_path / "total.py"
    source.write_text(block("python"))
    assert run("tutti", "run", "-n", 4, sys.executable, source) == "4 ranks, total 10\n"


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        prose = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
        for target in re.findall(r"\]\(([^)#:]+)[^)]*\)", prose):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_picture_is_current():
    drawn = run("tutti", "plan", "draw", "bcast", "binomial", "-n", 5)
    assert (ROOT / "docs/pictures/bcast-binomial-5.svg").read_text() == drawn
