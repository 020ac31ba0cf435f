# SPDX-License-Identifier: BSD-3-Clause
"""The package itself: everything is documented, and a program that was started alone is a world of one."""

import importlib
import inspect
import pkgutil
import re
import subprocess
import sys

import pytest
import tutti
from jobs import launcher


def documented(owner, name):
    """Every public thing below `owner`, with its full name."""
    yield name, owner
    for key, value in vars(owner).items():
        if key.startswith("_") and key not in ("__init__", "__await__"):
            continue
        full = f"{name}.{key}"
        if inspect.isclass(value) and value.__module__.startswith("tutti"):
            yield from documented(value, full)
        elif inspect.isfunction(value) and value.__module__.startswith("tutti"):
            yield full, value
        elif isinstance(value, property):
            yield full, value.fget


def everything():
    modules = [
        tutti,
        *(importlib.import_module(f"tutti.{found.name}") for found in pkgutil.iter_modules(tutti.__path__)),
    ]
    return sorted(
        {thing for module in modules for thing in documented(module, module.__name__)}, key=lambda pair: pair[0]
    )


@pytest.mark.parametrize(("name", "thing"), everything(), ids=[name for name, _ in everything()])
def test_has_a_docstring(name, thing):
    text = inspect.getdoc(thing)
    assert text, f"{name} has no docstring"
    first = text.splitlines()[0]
    assert re.search(r"[.:`,;\w)\]\"]$", first), f"{name} begins with {first!r}"


def test_the_extension_documents_itself():
    core = importlib.import_module("tutti._core")
    for owner in (core, core.Group, core.Request, core.Operation, core.Plan, core.PlanBuilder):
        for name, value in vars(owner).items():
            if callable(value) and not name.startswith("_"):
                assert value.__doc__, f"{owner}.{name} has no docstring"


def test_all_names_exist():
    assert all(hasattr(tutti, name) for name in tutti.__all__)
    for name in ("bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall", "barrier"):
        assert inspect.signature(getattr(tutti.Group, name)).parameters["algorithm"].default == ""
        assert hasattr(tutti.Group, "i" + name)


def test_errors_have_one_base():
    for error in (tutti.PeerLost, tutti.Mismatch, tutti.Timeout):
        assert issubclass(error, tutti.Error)


def test_module_is_the_command():
    by_module = subprocess.run(
        [sys.executable, "-m", "tutti", "--version"], capture_output=True, text=True, check=False
    )
    native = subprocess.run([launcher(), "--version"], capture_output=True, text=True, check=False)
    assert native.returncode == 0
    assert (by_module.returncode, by_module.stdout) == (0, native.stdout)
    assert tutti.__version__ in native.stdout


def test_a_command_that_is_missing_says_so():
    programs = importlib.import_module("tutti.programs")
    with pytest.raises(SystemExit, match="tutti-nothing"):
        programs.become("tutti-nothing")
