# SPDX-License-Identifier: BSD-3-Clause
"""The wheel: what it holds, and that it works in a fresh environment that knows nothing of this tree."""

import os
import pathlib
import re
import sys
import zipfile

import pytest
from conftest import ROOT, run


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    place = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--no-deps", "--no-build-isolation")
    # With warnings and compilers of the build under test, so that ccache has most of its objects already: it takes c++
    # and g++ for two.
    cache = (pathlib.Path(os.environ["TUTTI_BUILD"]) / "CMakeCache.txt").read_text()
    same = re.findall(r"^(CMAKE_(?:C|CXX)_COMPILER|TUTTI_WERROR):\w+=(.+)$", cache, re.MULTILINE)
    run(*pip, *(f"--config-settings=cmake.define.{name}={value}" for name, value in same), "--wheel-dir", place, ROOT)
    (found,) = place.iterdir()
    return found


@pytest.fixture(scope="session")
def fresh(wheel, tmp_path_factory):
    """The bin folder of a new environment with nothing but the wheel and what it requires."""
    place = tmp_path_factory.mktemp("fresh")
    run(sys.executable, "-m", "venv", place)
    run(place / "bin/python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet", wheel)
    return place / "bin"


@pytest.fixture
def clean():
    """An environment without the paths of this tree."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "TUTTI_BUILD")}


def test_holds_the_package_and_no_sources(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert "tutti/__init__.py" in names
    assert [name for name in names if re.match(r"tutti/lib/libtutti\.so\.", name)]
    assert {f"tutti/lib/libtutti-mpi-{abi}.so" for abi in ("openmpi", "mpich", "standard")} < set(names)
    assert [name for name in names if name.endswith((".cpp", ".hpp", ".cmake", ".a"))] == []


def test_serves_every_later_python(wheel):
    expected = (
        "cp312-abi3" if sys.version_info >= (3, 12) else f"cp3{sys.version_info.minor}-cp3{sys.version_info.minor}"
    )
    assert expected in wheel.name


def test_imports(fresh, clean, tmp_path):
    output = run(fresh / "python", "-c", "import tutti; print(tutti.__version__)", env=clean, cwd=tmp_path)
    assert output.strip() in (ROOT / "include/tutti/version.h").read_text()
