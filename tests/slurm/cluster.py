"""A throw-away SLURM on this machine, of any user: its daemons run in a folder, without systemd, and end by process id.

    with Cluster(folder) as slurm:
        job = slurm.submit("--wrap", "hostname")
        slurm.ended(job)

Two nodes, `n1` and `n2`, of eight processors and a graphics processor each, or so they say, whatever the machine has.
Jobs in the partition `scavenge` make room for those in `main`: they are warned, requeued, and begin anew once there is
room again. Nothing is written outside of the folder.
"""

from __future__ import annotations

import getpass
import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

PACKAGES = "slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge"
NODES, PROCESSORS, MEMORY = 2, 8, 4000
GRACE = 30
"""Seconds between the warning of a job that has to make room and its end."""
CLIENTS = ("srun", "sbatch", "squeue", "scancel", "scontrol", "sinfo", "sacct")
CONF = """\
ClusterName=longseq
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
MpiDefault=none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,sched_min_interval=0,bf_interval=1,batch_sched_delay=0
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
KillWait=30
MinJobAge=3600
FirstJobId={first}
ReturnToService=2
PropagateResourceLimits=NONE
DefMemPerCPU=200
GresTypes=gpu
{nodes}
PartitionName=main Nodes=ALL Default=YES MaxTime=60 DefaultTime=10 PriorityTier=10 PreemptMode=OFF
PartitionName=scavenge Nodes=ALL MaxTime=60 DefaultTime=10 PriorityTier=1 PreemptMode=REQUEUE GraceTime={grace}
"""
LIVE = ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "SUSPENDED")


class Cluster:
    def __init__(self, folder: Path):
        """`folder` is empty, and its path short: the socket in it has a name of at most 107 bytes."""
        missing = [name for name in ("slurmctld", "slurmd", "munged") if _program(name) is None]
        if missing:
            raise RuntimeError(f"{', '.join(missing)} missing: apt-get install {PACKAGES}")
        self.folder = folder.resolve()
        self.environment = {
            "SLURM_CONF": f"{self.folder}/slurm.conf",
            "PATH": f"{self.folder}/bin{os.pathsep}{os.environ['PATH']}",
        }
        """What a program needs that is to speak to this cluster, beside the rest of `os.environ`."""
        self._daemons: list[subprocess.Popen] = []

    def __enter__(self) -> Cluster:
        try:
            self._configure()
            self._begin()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _configure(self) -> None:
        key = self.folder / "munge.key"
        key.touch(0o600)
        key.write_bytes(secrets.token_bytes(256))
        (self.folder / "state").mkdir()
        ports, host = _free_ports(1 + NODES), socket.gethostname().partition(".")[0]
        nodes = []
        for number in range(1, NODES + 1):
            (self.folder / f"spool-n{number}").mkdir()
            nodes.append(
                f"NodeName=n{number} NodeAddr=127.0.0.1 NodeHostname={host} Port={ports[number]} CPUs={PROCESSORS} "
                f"RealMemory={MEMORY} Gres=gpu:1 State=UNKNOWN"
            )
        text = CONF.format(
            folder=self.folder,
            user=getpass.getuser(),
            host=host,
            ports=ports,
            # Trainings meet at a port that follows from the id of their job: not those of two clusters at one.
            first=1 + ports[0] % 12_000,
            nodes="\n".join(nodes),
            grace=GRACE,
        )
        (self.folder / "slurm.conf").write_text(text)
        (self.folder / "gres.conf").write_text("Name=gpu File=/dev/zero\n")
        (self.folder / "bin").mkdir()
        for name in CLIENTS:  # for programs that pass no SLURM_* on, as Snakemake's jobs
            shim = self.folder / "bin" / name
            shim.write_text(f'#!/bin/sh\nSLURM_CONF={self.folder}/slurm.conf exec {shutil.which(name)} "$@"\n')
            shim.chmod(0o755)

    def _begin(self) -> None:
        named = ("key-file", "key"), ("socket", "socket"), ("pid-file", "pid"), ("seed-file", "seed")
        files = [f"--{option}={self.folder}/munge.{end}" for option, end in (*named, ("log-file", "log"))]
        self._daemon("munged", "--foreground", "--force", *files)  # forced: above the folder others may write
        self.until(lambda: (self.folder / "munge.socket").exists())
        self._daemon("slurmctld", "-D", "-c", "-i")
        for number in range(1, NODES + 1):
            self._daemon("slurmd", "-D", "-N", f"n{number}")
        self.until(lambda: self._client("sinfo", "-h", "-N", "-p", "main", "-t", "idle").count("\n") == NODES)

    def _daemon(self, name: str, *words: str) -> None:
        log = open(self.folder / f"{name}-{len(self._daemons)}.out", "wb")  # noqa: SIM115
        self._daemons.append(
            subprocess.Popen(
                [_program(name), *words],
                env=os.environ | self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is for the tests, which then end it
            )
        )

    def _client(self, *words: str) -> str:
        """What a client prints; nothing where it fails."""
        try:
            return subprocess.run(
                words, env=os.environ | self.environment, capture_output=True, text=True, timeout=60, check=False
            ).stdout
        except subprocess.TimeoutExpired:
            return ""

    def until(self, true: Callable[[], object], seconds: float = 120) -> None:
        """Wait for it to become true."""
        deadline = time.monotonic() + seconds
        while not true():
            if time.monotonic() > deadline or any(daemon.poll() is not None for daemon in self._daemons):
                logs = "\n".join(path.read_text(errors="replace")[-1000:] for path in self.folder.glob("*.out"))
                raise RuntimeError(f"waited in vain, or a daemon has ended:\n{logs}")
            time.sleep(0.05)

    def run(self, *words: str, **environment: str) -> str:
        """What a program prints that speaks to the cluster, without the end of its last line."""
        found = subprocess.run(
            words,
            env=os.environ | self.environment | environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert found.returncode == 0, f"{words}: {found.stderr}"
        return found.stdout.rstrip("\n")

    def submit(self, *words: str, **environment: str) -> str:
        """The id of a job that sbatch makes of the words."""
        return self.run("sbatch", "--parsable", *words, **environment)

    def job(self, job: str) -> dict[str, str]:
        """What `scontrol show job` says of a job, or of one task of an array."""
        words = self.run("scontrol", "show", "job", "--oneliner", job).split()
        return {key: value for key, _, value in (word.partition("=") for word in words)}

    def ended(self, *jobs: str, seconds: float = 600) -> list[str]:
        """The states of jobs, once all have one that lasts."""
        found: dict[str, str] = {}

        def over() -> bool:
            found.update({job: self.job(job)["JobState"] for job in jobs})
            return not set(found.values()) & set(LIVE)

        self.until(over, seconds)
        return list(found.values())

    def stop(self) -> None:
        """End the jobs, then the daemons, then what is left of either."""
        ids = set(self._client("squeue", "-h", "-o", "%A").split())
        if ids:
            self._client("scancel", *ids)
            deadline = time.monotonic() + 15
            while self._client("squeue", "-h").strip() and time.monotonic() < deadline:
                time.sleep(0.2)
        for daemon in reversed(self._daemons):
            daemon.terminate()
        for daemon in reversed(self._daemons):
            try:
                daemon.wait(15)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        for process in self.processes():
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def processes(self, **environment: str) -> list[int]:
        """Ids of processes that the daemons started, in whose environment these stand too."""
        known = {f"{name}={value}".encode() for name, value in environment.items()}
        known.add(f"SLURM_CONF={self.environment['SLURM_CONF']}".encode())
        found = []
        for process in Path("/proc").iterdir():
            try:
                if process.name.isdigit() and known <= {*(process / "environ").read_bytes().split(b"\0")}:
                    found.append(int(process.name))
            except OSError:
                pass  # it has ended, or is another user's
        return found


def _program(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ['PATH']}{os.pathsep}/usr/sbin{os.pathsep}/sbin")


def _free_ports(number: int) -> list[int]:
    probes = [socket.socket() for _ in range(number)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            probe.close()
