# SPDX-License-Identifier: BSD-3-Clause
"""bench/survive: a rank of a small job dies, and what the page says of it."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TUTTI_BUILD", ROOT / "build/ci"))


def test_a_sum_that_is_wrong_on_another_rank_than_0(tmp_path):
    """The last line is missing then: a job's status says nothing where ranks are killed."""
    program, wrong = tmp_path / "wrong", tmp_path / "wrong.c"
    wrong.write_text(
        "#include <stdbool.h>\nint layer_rank(void), layer_size(void);\nbool __real_layer_sum(double, double*);\n"
        "bool __wrap_layer_sum(double mine, double* sum) {\n  const bool all = __real_layer_sum(mine, sum);\n"
        "  if (layer_size() == 2 && layer_rank() == 1) *sum += 1;\n  return all;\n}\n"
    )
    sources = [ROOT / "bench/survive" / file for file in ("survive.c", "layer/tutti.c")]
    library = [f"-I{ROOT}/include", f"-L{BUILD}/lib", "-ltutti", "-lm", f"-Wl,-rpath,{BUILD}/lib"]
    subprocess.run(["cc", "-o", program, wrong, *sources, *library, "-Wl,--wrap=layer_sum"], check=True)
    job = [BUILD / "bin/tutti", "run", "--keep-going", "-n", "3", "--timeout", "60", program, tmp_path / "times", "1"]
    done = subprocess.run(job, capture_output=True, text=True, timeout=100, check=False)
    assert "a sum is wrong" in done.stderr, done.stderr
    assert len((tmp_path / "times").read_text().splitlines()) == 1, done.stderr


@pytest.mark.parametrize("where", [["--ranks", "3"], ["--ranks", "", "--hosts", "3", "--vs", "none"]])
def test_survive(where, tmp_path):
    program = [sys.executable, ROOT / "bench/survive/beside.py", "--binaries", BUILD / "bin", "--out", tmp_path / "out"]
    done = subprocess.run(
        [*map(str, program), *where, "--rounds", "1", "--deaths", "2"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (place,) = json.loads((tmp_path / "out.json").read_text())["places"].values()
    ((intact, *deaths),) = place["jobs"]["tutti"]
    assert intact["ranks"] == 3 and intact["agree"] > 0
    assert [death["left"] for death in deaths] == [2, 1]
    assert all(death["together"] > death["shrink"] > 0 for death in deaths)
    assert not place["failures"]["tutti"]
    page = (tmp_path / "out.md").read_text()
    assert len(re.findall(r"^\| 3 on .* \| Tutti ", page, re.MULTILINE)) == 1
    # The peer may fail, and then the page says so.
    assert len(re.findall(r"^\| 3 on .*(Open MPI|jobs failed)", page, re.MULTILINE)) == len(place["jobs"]) - 1
