"""The MPI of this machine: how it starts programs and passes environment variables to them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from workbench.mpi.errors import MPIError
from workbench.tasks import cores

_ASK_S = 30  # s; mpirun --version takes 0.05 s here: this ends only a launcher that hangs
_INSTALL = (
    "install one with its compiler (Debian, Ubuntu: sudo apt-get install openmpi-bin "
    "libopenmpi-dev; Fedora: sudo dnf install openmpi-devel; clusters: module load openmpi)"
)


@dataclass(frozen=True)
class Launcher:
    """A command that starts MPI programs, and the compiler of the same MPI where it has one.

    Attributes:
        mpirun: path of the launcher.
        mpicc: path of the compiler, None where there is none.
        family: ``openmpi``, or ``hydra`` for MPICH and its relatives.
        version: the launcher's first words about itself.
    """

    mpirun: Path
    mpicc: Path | None
    family: Literal["openmpi", "hydra"]
    version: str

    def compiler(self) -> Path:
        """Return the path of the compiler.

        Raises:
            MPIError: there is none.
        """
        if self.mpicc is None:
            raise MPIError(
                "a compiler of the MPI is needed, but "
                f"{_compiler_name(self.mpirun)} was not found beside {self.mpirun}; {_INSTALL}"
            )
        return self.mpicc

    def command(
        self,
        program: Sequence[str],
        ranks: int,
        environment: Mapping[str, str],
        *,
        oversubscribe: bool = True,
    ) -> list[str]:
        """Return the command line that starts a program on some ranks.

        Args:
            program: the program and its arguments.
            ranks: number of ranks.
            environment: variables for the ranks alone.
            oversubscribe: let there be more ranks than cores; they give way when they wait.
        """
        command_words = [str(self.mpirun)]
        if self.family == "openmpi":
            if oversubscribe:
                command_words.append("--oversubscribe")
                if ranks > cores():
                    command_words += ["--mca", "mpi_yield_when_idle", "1"]
            for name, value in environment.items():
                command_words += ["-x", f"{name}={value}"]
        else:
            for name, value in environment.items():
                command_words += ["-genv", name, value]
        return [*command_words, "-n", str(ranks), *program]

    @property
    def has_orte(self) -> bool:
        """Whether it is an Open MPI of at most version 4, which has a runtime of its own."""
        return self.family == "openmpi" and re.search(r"\b[1-4]\.\d", self.version) is not None

    def reach(self, agent: Path, interface: str) -> dict[str, str]:
        """Return Open MPI's settings that start ranks by an agent and reach them by an interface.

        From version 5 on PRRTE starts them, which has other names for the same.
        """
        if self.has_orte:
            shell, network = "rsh", "oob_tcp_if_include"
            managers = "slurm,tm,gridengine,loadleveler,alps"
        else:
            shell, network, managers = "ssh", "prte_if_include", "slurm,lsf,pbs,gridengine"
        return {
            "plm": shell,
            f"plm_{shell}_agent": str(agent),
            f"plm_{shell}_no_tree_spawn": "1",
            "ras": f"^{managers}",
            "pml": "ob1",
            "btl": "tcp,self",
            "btl_tcp_if_include": interface,
            network: interface,
            "mpi_yield_when_idle": "1",
        }

    def own_environment(self) -> dict[str, str]:
        """Return the environment that the launcher itself runs in."""
        environment = dict(os.environ)
        if self.family == "openmpi" and os.geteuid() == 0:
            # It refuses to run as root, as containers often do, until two variables allow it.
            environment["OMPI_ALLOW_RUN_AS_ROOT"] = "1"
            environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
        return environment


def find_launcher(mpirun: str | Path | None = None) -> Launcher:
    """Return the MPI to use, with its compiler where it has one.

    Args:
        mpirun: name or path of the launcher; None takes ``mpirun`` or ``mpiexec`` of the path.

    Raises:
        MPIError: there is none, or it is not one that is known.
    """
    names = ("mpirun", "mpiexec") if mpirun is None else (str(mpirun),)
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        raise MPIError(f"an MPI must be installed; {' or '.join(names)} was not found; {_INSTALL}")
    version = _answer(Path(found), "--version")
    if "Open MPI" in version or "OpenRTE" in version:
        family: Literal["openmpi", "hydra"] = "openmpi"
    elif "HYDRA" in version or "Intel(R) MPI" in version:
        family = "hydra"
    else:
        raise MPIError(
            f"{found} must be of Open MPI, MPICH or a derivative of it; it printed "
            f"{version[:80]!r}; "
            "name another with mpirun="
        )
    first = next((line.strip() for line in version.splitlines() if line.strip()), "")
    return Launcher(Path(found), _compiler_of(Path(found)), family, first)


def _compiler_of(mpirun: Path) -> Path | None:
    name = _compiler_name(mpirun)
    for candidate in (str(mpirun.with_name(name)), name, "mpicc"):
        found = shutil.which(candidate)
        if found is not None and Path(found).name != mpirun.name:
            return Path(found)
    return None


def _compiler_name(mpirun: Path) -> str:
    """Return the name of the compiler beside a launcher: ``mpirun.mpich`` has ``mpicc.mpich``."""
    return mpirun.name.replace("mpirun", "mpicc").replace("mpiexec", "mpicc")


def _answer(program: Path, *arguments: str) -> str:
    try:
        answer = subprocess.run(
            [str(program), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_ASK_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MPIError(
            f"{program} must answer to {' '.join(arguments)}; {error}; name another with mpirun="
        ) from error
    return answer.stdout + answer.stderr
