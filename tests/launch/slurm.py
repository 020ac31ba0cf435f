# SPDX-License-Identifier: BSD-3-Clause
"""A cluster that Slurm manages: its daemons on the hosts of a lab, its files in the lab's own /run, so that the machine
sees neither and both go with the lab."""

import os
import pathlib
import signal
import subprocess
import sys
import time

CORES = 8  # that Slurm believes each host to have
FOLDER = "/run/slurm"
# What each host has for itself, under one name, in a file system that the host's slurmd mounts there.
OWN = "/run/own"
SETTINGS = f"""
ClusterName=lab
SlurmctldHost=h1
SlurmUser=root
AuthType=auth/munge
MailProg=/bin/true
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
SlurmdParameters=config_overrides
SwitchType=switch/none
ReturnToService=2
StateSaveLocation={FOLDER}/state
SlurmctldPidFile={FOLDER}/slurmctld.pid
SlurmctldLogFile={FOLDER}/slurmctld.log
SlurmdSpoolDir={OWN}/spool
SlurmdPidFile={OWN}/slurmd.pid
SlurmdLogFile={FOLDER}/%n.log
"""
# No cgroups are needed, but their plugin is always loaded: version 1's is content with none.
OTHERS = {"cgroup.conf": "CgroupPlugin=cgroup/v1\n", "mpi.conf": f"PMIxCliTmpDirBase={OWN}\n"}
PREPARE = f"""
set -e
mkdir -p {OWN} {FOLDER}/state
mkdir -m 755 /run/munge
mungekey --create --keyfile=/run/munge/key
munged --key-file=/run/munge/key --log-file=/run/munge/log --seed-file=/run/munge/seed
"""


class Slurm:
    """The daemons, on all hosts of a lab; slurmctld is on the first."""

    def __init__(self, lab):
        self.lab = lab
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("TUTTI_", "PMI", "OMPI_", "SLURM_"))
        }
        self.environment["SLURM_CONF"] = f"{FOLDER}/slurm.conf"
        self.environment["PATH"] = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])

    def __enter__(self):
        nodes = [f"NodeName=h{host} CPUs={CORES} State=UNKNOWN\n" for host in self.lab.hosts]
        partition = "PartitionName=all Nodes=ALL Default=YES State=UP\n"
        self.write({"slurm.conf": SETTINGS + "".join(nodes) + partition, **OTHERS})
        self.do("sh", "-c", PREPARE)
        self.daemons = [self.start(1, "exec slurmctld -D")]
        self.daemons += [self.start(host, f"mount -t tmpfs lab {OWN} && exec slurmd -D") for host in self.lab.hosts]
        self.await_hosts()
        return self

    def __exit__(self, *_):
        for host in self.lab.hosts:
            self.lab.signal(host, signal.SIGKILL)
        for daemon in self.daemons:
            daemon.wait(timeout=60)

    def write(self, files):
        for name, text in files.items():
            self.do("sh", "-c", 'mkdir -p "$(dirname "$0")" && cat >"$0"', f"{FOLDER}/{name}", input=text)

    def start(self, host, command):
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return self.lab.popen(host, ["sh", "-c", command], env=self.environment, **quiet)

    def do(self, *words, **options):
        """A command of the first host that has to succeed: what it printed."""
        done = self.lab.call(1, words, env=self.environment, **options)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def await_hosts(self):
        until = time.monotonic() + 60
        while self.states() != {"idle"}:
            assert time.monotonic() < until, self.report()
            time.sleep(0.1)

    def report(self):
        """The last that the daemons have said."""
        return self.do("sh", "-c", f"tail -n 20 {FOLDER}/*.log")

    def states(self):
        """Of the hosts; nothing while nobody answers."""
        done = self.lab.call(1, ["sinfo", "--noheader", "--format=%T"], env=self.environment)
        return set(done.stdout.split())

    def run(self, *words, timeout=60, **variables):
        """(status, output, errors) of a command of Slurm's; what hangs is ended with the lab."""
        done = self.lab.call(1, words, timeout=timeout, env={**self.environment, **variables})
        return done.returncode, done.stdout, done.stderr

    def batch(self, script, folder, **variables):
        """What a script printed that ran there."""
        (folder / "script").write_text(f"{script}\ntouch end\n")
        status, out, err = self.run(
            "sbatch",
            f"--chdir={folder}",
            f"--output={folder}/out",
            f"--error={folder}/err",
            folder / "script",
            **variables,
        )
        assert status == 0, out + err
        until = time.monotonic() + 60
        while not (folder / "end").exists():
            assert time.monotonic() < until, self.report()
            time.sleep(0.1)
        return (folder / "out").read_text()
