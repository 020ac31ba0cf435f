# SPDX-License-Identifier: BSD-3-Clause
"""What README and docs name is there: commands, options, variables, files; and every program they show is run."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BUILD = pathlib.Path(os.environ["TUTTI_BUILD"])
# Which test runs the programs of a page.
RUN_ELSEWHERE = {
    ("README.md", "cpp"): "test_readme.py",
    ("README.md", "python"): "test_readme.py",
    ("plans.md", "cpp"): "test_plans.py",
    ("fortran.md", "fortran"): "test_fortran.py",
    ("adding-an-algorithm.md", "cpp"): "tests/collectives/docs_test.cpp",
    ("launch.md", "yaml"): "test_launch.py",
    ("launch.md", "bash"): "tests/launch/test_slurm.py",
    ("mpi-groups.md", "cpp"): "tests/mpi/test_groups.py",
    ("mpi-groups.md", "c"): "tests/mpi/test_groups.py",
    ("mpi-groups.md", "python"): "tests/mpi/test_groups.py",
}


def shell(line, folder, **environment):
    """Runs a line as a person would type it, with the build's programs."""
    path = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        ["bash", "-ec", line],
        cwd=folder,
        env={**os.environ, "PATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def succeed(*arguments, **environment):
    done = shell(*arguments, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def fenced(page):
    """The language and the text of every program on a page."""
    return re.findall(r"^```(\w*)\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)


def named(pattern):
    """Everything in the pages that looks like that, with the page's name."""
    return sorted({(page.name, found) for page in PAGES for found in re.findall(pattern, page.read_text())})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_program_is_run(page, tmp_path):
    for language, text in fenced(page):
        named_file = re.match(r"# (\w+\.py)\n", text)
        if language == "python" and named_file:  # the lines of a shell that follow run it
            (tmp_path / named_file[1]).write_text(text)
        elif language == "sh":
            for line in text.splitlines():
                if not line.startswith("make"):
                    succeed(line, tmp_path)
        else:
            assert (page.name, language) in RUN_ELSEWHERE, f"nothing runs the {language} program of {page.name}"


def test_readme_commands(tmp_path):
    """The lines under the examples, with an installed library."""
    readme = (ROOT / "README.md").read_text()
    prefix = tmp_path / "prefix"
    succeed(f"cmake --install {BUILD} --prefix {prefix}", tmp_path)
    for language, name in (("cpp", "total.cpp"), ("python", "total.py")):
        (tmp_path / name).write_text(re.search(rf"```{language}\n(.*?)```", readme, re.DOTALL).group(1))
    lines = re.findall(r"^    ((?:g\+\+|tutti) .*)$", readme, re.MULTILINE)
    assert len(lines) == 2
    for line in lines:
        printed = succeed(
            line, tmp_path, PKG_CONFIG_PATH=str(prefix / "lib/pkgconfig"), LD_LIBRARY_PATH=str(prefix / "lib")
        )
        assert printed == "4 ranks, total 10\n"


def test_commands_are_there(tmp_path):
    known = re.findall(r"^  (\w+)  ", succeed("tutti --help", tmp_path), re.MULTILINE)
    for page, command in named(r"`tutti ([a-z]+)") + named(r"(?m)^ *tutti ([a-z]+) "):
        assert command in known, f"{page}: tutti {command}"
    targets = re.findall(r"make (\w+)", succeed(f"make -C {ROOT} help", tmp_path))
    for page, target in named(r"`make ([a-z]+)`") + named(r"(?m)^(?:    )?make ([a-z]+)"):
        assert target in targets, f"{page}: make {target}"


def test_options_are_there(tmp_path):
    known = succeed("tutti run --help", tmp_path)
    synopsis = re.search(r"^    tutti run (.*)$", (ROOT / "docs/running.md").read_text(), re.MULTILINE).group(1)
    documented = set(re.findall(r"--\w+", synopsis))
    assert documented == set(re.findall(r"--\w+", known)) - {"--help", "--ranks"}
    for choice in re.search(r"--bind (\S+)\]", synopsis).group(1).split("|"):
        succeed(f"tutti run -n 1 --bind {choice} true", tmp_path)


def test_variables_are_read_and_documented():
    sources = [path for room in ("src", "tools", "bindings") for path in ROOT.glob(f"{room}/**/*.[ch]pp")]
    read = set(re.findall(r'"(TUTTI_[A-Z_]+)"', "".join(source.read_text() for source in sources)))
    documented = set(re.findall(r"`(TUTTI_[A-Z_]+)", (ROOT / "docs/running.md").read_text()))
    assert documented == read


def test_files_are_there():
    for page, path in named(r"`((?:src|tests|include|docs|scripts|apps|tools|bench|bindings|python)/[\w./-]*)`"):
        assert (ROOT / path).exists(), f"{page}: {path}"
    for page, program in named(r"build/(?:ci|release)/bin/(\w+)"):
        assert (BUILD / "bin" / program).exists(), f"{page}: {program}"


def test_statuses(tmp_path):
    """The table of running.md."""
    for status, line in {
        1: "tutti run -n 2 echo lost >/dev/full",
        2: "tutti run -n none true",
        7: "tutti run -n 2 sh -c 'exit 7'",
        124: "tutti run -n 2 --timeout 0.2 sleep 30",
        127: "tutti run -n 2 ./nothing",
        128 + 9: "tutti run -n 2 sh -c 'kill -9 $$'",
    }.items():
        assert shell(line, tmp_path).returncode == status, line
