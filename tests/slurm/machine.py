"""A Slurm of one node on loopback, without systemd and without touching the system's own.

    with one_node(folder) as machine:
        subprocess.run(["sinfo"], env={**os.environ, **machine})

Everything it needs is in one folder: its key, its authentication service's socket, its state and
its logs. Debian's ``slurm-wlm`` and ``munge`` have the programs (``.ci/programs`` installs them).
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

_START_S = 30.0
_END_S = 10.0

_CONFIGURATION = """\
ClusterName=lab
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/jobcomp.txt
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
KillWait=2
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=lab Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
"""


@pytest.fixture(scope="module")
def machine() -> Iterator[Path]:
    """The folder of a Slurm that runs while the module's tests do; SLURM_CONF leads to it.

    Test modules import this fixture; they are skipped where Slurm cannot be started.
    """
    # munged refuses folders that others may write to, and a socket's path must be short.
    with tempfile.TemporaryDirectory(prefix="slurm-") as name:
        folder = Path(name)
        try:
            with one_node(folder) as variables, pytest.MonkeyPatch.context() as patch:
                for key, value in variables.items():
                    patch.setenv(key, value)
                yield folder
        except NoSlurm as error:
            pytest.skip(str(error))


class NoSlurm(Exception):
    """Slurm cannot be started here, and why."""


@contextlib.contextmanager
def one_node(folder: Path) -> Iterator[dict[str, str]]:
    """Start a Slurm of this node alone and end it again; yield the variables that lead to it.

    Args:
        folder: where it keeps everything; only its owner may write to it.

    Raises:
        NoSlurm: there is no Slurm or munge, this is not root, or one of them did not start.
    """
    programs = {name: _program(name) for name in ("munged", "slurmctld", "slurmd", "sinfo")}
    if os.geteuid() != 0:
        raise NoSlurm("a Slurm of one's own must be started by root")
    folder.chmod(0o755)
    host = socket.gethostname().partition(".")[0]
    controller_port, node_port = _free_ports(2)
    for name in ("munge", "state", "spool"):
        (folder / name).mkdir(mode=0o755)
    configuration = folder / "slurm.conf"
    configuration.write_text(
        _CONFIGURATION.format(
            host=host,
            folder=folder,
            controller_port=controller_port,
            node_port=node_port,
            cpus=os.cpu_count() or 1,
        )
    )
    # From 23.11 slurmd wants a tree of cgroups, which a container may not have, or this word for
    # none, which no older one knows.
    told = subprocess.run([programs["slurmd"], "-V"], capture_output=True, text=True, check=True)
    if [int(part) for part in re.findall(r"\d+", told.stdout)[:2]] >= [23, 11]:
        (folder / "cgroup.conf").write_text("CgroupPlugin=disabled\n")
    (folder / "jobcomp.txt").touch()
    variables = {"SLURM_CONF": str(configuration)}
    environment = {**os.environ, **variables}
    running: list[subprocess.Popen[bytes]] = []
    try:
        _start_munge(programs["munged"], folder / "munge", running)
        for name in ("slurmctld", "slurmd"):
            with (folder / f"{name}.out").open("wb") as log:
                running.append(
                    subprocess.Popen(
                        [programs[name], "-D", *(["-c"] if name == "slurmctld" else [])],
                        env=environment,
                        stdin=subprocess.DEVNULL,
                        stdout=log,
                        stderr=log,
                        start_new_session=True,
                    )
                )
        _await_node(programs["sinfo"], environment, running, folder)
        yield variables
    finally:
        _end_jobs(environment)
        for process in reversed(running):
            process.terminate()
        for process in reversed(running):
            try:
                process.wait(_END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _end_jobs(environment: dict[str, str]) -> None:
    """Cancel what is left and wait for its end.

    Each job has a daemon that tells the controller of it, and would try for minutes if that were
    gone; one that has told has a moment to end.
    """
    subprocess.run(["scancel", "--user=root"], env=environment, capture_output=True)
    deadline = time.monotonic() + _END_S
    while time.monotonic() < deadline:
        asked = subprocess.run(
            ["squeue", "--noheader", "--states=all", "--format=%T"],
            env=environment,
            capture_output=True,
            text=True,
        )
        if not {"RUNNING", "COMPLETING", "PENDING"} & set(asked.stdout.split()):
            break
        time.sleep(0.1)
    time.sleep(0.3)


def _start_munge(munged: str, folder: Path, running: list[subprocess.Popen[bytes]]) -> None:
    key = folder / "key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)
    options = {
        "key-file": key,
        "log-file": folder / "log",
        "pid-file": folder / "pid",
        "seed-file": folder / "seed",
        "socket": folder / "socket",
    }
    with (folder / "out").open("wb") as log:
        running.append(
            subprocess.Popen(
                [munged, "--foreground", *(f"--{k}={v}" for k, v in options.items())],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        )
    _await(lambda: (folder / "socket").exists(), running, folder / "out")


def _await_node(
    sinfo: str,
    environment: dict[str, str],
    running: list[subprocess.Popen[bytes]],
    folder: Path,
) -> None:
    def idle() -> bool:
        asked = subprocess.run(
            [sinfo, "--noheader", "--format=%T"], env=environment, capture_output=True, text=True
        )
        return asked.stdout.strip() == "idle"

    _await(idle, running, folder / "slurmd.log")


def _await(ready: object, running: list[subprocess.Popen[bytes]], log: Path) -> None:
    deadline = time.monotonic() + _START_S
    while not ready():  # type: ignore[operator]
        ended = next((process for process in running if process.poll() is not None), None)
        if ended is not None or time.monotonic() > deadline:
            what = f"{ended.args[0]} ended" if ended is not None else "it takes too long"
            last = log.read_text(errors="replace").splitlines()[-3:] if log.exists() else []
            raise NoSlurm(f"Slurm did not start: {what}; {' | '.join(last)}")
        time.sleep(0.1)


def _program(name: str) -> str:
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if found is None:
        raise NoSlurm(f"{name} is not installed; .ci/programs installs it")
    return found


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
