# SPDX-License-Identifier: BSD-3-Clause
"""The launchers of docs/launch.md start its program, and its manifest gives each pod what it needs."""

import os
import pathlib
import re
import secrets
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/launch.md").read_text()
PROGRAM = re.search(r"```python\n# hello.py\n(.*?)```", PAGE, re.DOTALL).group(1)
MANIFEST = re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL).group(1)
# Debian's programs for the names on the page; more ranks than cores, as root.
LAUNCHERS = {"mpirun": "mpirun.openmpi --allow-run-as-root --oversubscribe", "mpiexec": "mpiexec.hydra"}
HELLO = "4 ranks, total 10\n"


def environment(**more):
    """Without what a job around this one would say; `python` is the one that runs the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TUTTI_", "PMI", "OMPI_"))}
    kept["PATH"] = os.pathsep.join([str(pathlib.Path(sys.executable).parent), kept["PATH"]])
    return {**kept, **more}


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_launchers(launcher, tmp_path):
    (tmp_path / "hello.py").write_text(PROGRAM)
    line = re.search(rf"^    ({launcher} .*)$", PAGE, re.MULTILINE).group(1)
    done = subprocess.run(
        ["timeout", "60", "sh", "-c", line.replace(launcher, LAUNCHERS[launcher])],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, HELLO), done.stderr


def test_manifest(tmp_path):
    """Its pods, as processes here: what Kubernetes fills in is filled in, and the service's name is this host's."""
    (tmp_path / "hello.py").write_text(PROGRAM)
    command = re.search(r"command: \[(.*)\]", MANIFEST).group(1).split(", ")
    count = int(re.search(r"completions: (\d+)", MANIFEST).group(1))
    entries = re.findall(r"- name: (TUTTI_\w+)\n(.*?)(?=\n +- name|\Z)", MANIFEST, re.DOTALL)
    fixed = {name: re.search(r'value: "?([^"\n]+)', rest) for name, rest in entries}
    told = {name: value.group(1) for name, value in fixed.items() if value}
    fields = dict(entries)
    assert "job-completion-index" in fields["TUTTI_RANK"]
    assert re.search(r"secretKeyRef:\s+name: hello\s+key: secret", fields["TUTTI_SECRET"])
    service = re.search(r"kind: Service\nmetadata:\n +name: (\w+)", MANIFEST).group(1)
    assert told["TUTTI_STORE"].startswith(f"tcp:hello-0.{service}:")
    assert f"subdomain: {service}\n" in MANIFEST
    told["TUTTI_STORE"] = re.sub(r"tcp:[^:]+", "tcp:localhost", told["TUTTI_STORE"])
    told["TUTTI_SECRET"] = secrets.token_hex(16)
    pods = [
        subprocess.Popen(
            ["timeout", "60", *command],
            cwd=tmp_path,
            env=environment(**told, TUTTI_RANK=str(index)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for index in range(count)
    ]
    printed = [pod.communicate() for pod in pods]
    assert [pod.returncode for pod in pods] == [0] * count, printed
    assert "".join(out for out, _ in printed) == HELLO
