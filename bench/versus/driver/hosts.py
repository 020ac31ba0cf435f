# SPDX-License-Identifier: BSD-3-Clause
"""Jobs over several hosts: those of a lab (docs/lab.md), which are namespaces of this machine."""

import contextlib
import importlib.util
import pathlib
import secrets
import shlex
import sys
import tempfile

from . import peers, wire

LAB = peers.SOURCES.parent.parent / "tests/lab/lab.py"
PORT = 29500  # of the store; hosts of a lab have all ports to themselves


def load_lab():
    """The module that makes hosts; it is a test tool, and not installed."""
    if not LAB.exists():
        raise peers.Failure(
            f"between hosts it needs {LAB}, which is in Tutti's source tree and is not installed; "
            'run it there, as in make bench BENCH="many-hosts"'
        )
    spec = importlib.util.spec_from_file_location("lab", LAB)
    module = sys.modules["lab"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Hosts:
    """Where jobs run: on the first hosts of a lab, with the same number of ranks on each."""

    cores = "any"  # real hosts do not share theirs, so nobody's are chosen

    def __init__(self, lab, per_host, rsh):
        self.lab, self.per_host, self.rsh = lab, per_host, rsh

    @property
    def network(self):
        return self.lab.network

    def commands(self, library, ranks, words):
        """The commands that start a job together: the library's launcher, or without one each rank."""
        used = self.lab.hosts[: ranks // self.per_host]
        command = [str(library.program), *words]
        if not library.launcher:
            return [
                self.lab.on(used[rank // self.per_host], self.by_hand(rank, ranks, command)) for rank in range(ranks)
            ]
        slots = ",".join(f"h{host}:{self.per_host}" for host in used)
        names = ",".join(f"h{host}" for host in used)
        told = {"ranks": ranks, "per_host": self.per_host, "names": names, "slots": slots, "rsh": self.rsh}
        return [self.lab.on(used[0], [*(part.format(**told) for part in library.launcher), *command])]

    def by_hand(self, rank, ranks, command):
        return ["env", f"TUTTI_RANK={rank}", f"TUTTI_SIZE={ranks}", f"TUTTI_STORE=tcp:h1:{PORT}", *command]

    def describe(self):
        """The hosts and their links, in words."""
        ranks = "one rank" if self.per_host == 1 else f"{self.per_host} ranks"
        rate = f"{self.network.rate} in each direction" if self.network.rate else "no limit of their rate"
        return (
            f"hosts that are namespaces of this machine, joined by a switch ([lab.md](../lab.md)), with {ranks} on "
            f"each and links of {rate}, MTU {self.network.mtu}"
        )

    def environment(self):
        return {"TUTTI_SECRET": secrets.token_hex(16)}

    def together(self, cells):
        """Cells that one job measures: all collectives on the same hosts, since starting many hosts takes seconds."""
        groups = {}
        for cell in cells:
            groups.setdefault(cell.ranks, []).append(cell)
        return list(groups.values())

    def wire_us(self, point):
        return self.call_seconds(point, point.bytes) * 1e6

    def call_seconds(self, cell, size):
        """That a call takes, because of the wire alone."""
        return wire.limit(cell.collective, size, cell.ranks // self.per_host, self.per_host, self.network)


@contextlib.contextmanager
def standing(count, rate, per_host):
    """Hosts that stand as long as the block."""
    module = load_lab()
    try:
        with tempfile.TemporaryDirectory(prefix="tutti-versus-") as folder, module.Lab(hosts=count, rate=rate) as lab:
            rsh = pathlib.Path(folder) / "rsh"  # launchers take one word for it
            rsh.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(LAB))} rsh "$@"\n')
            rsh.chmod(0o755)
            yield Hosts(lab, per_host, str(rsh))
    except module.Failure as failure:
        raise peers.Failure(str(failure)) from None
