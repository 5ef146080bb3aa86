"""Other simulators' programs, timed beside the workbench where a machine has them."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parent / "sstmacro" / "benchmark.cc"
_TIMEOUT_S = 300


def program(variable: str, name: str) -> Path | None:
    """Return another simulator's program, None where there is none.

    Args:
        variable: of the environment, that names the program.
        name: of the program, as it is looked for in PATH.

    Raises:
        FileNotFoundError: the variable names no program.
    """
    given = os.environ.get(variable)
    found = shutil.which(given or name)
    if given and found is None:
        raise FileNotFoundError(
            f"{variable} must be the path of {name}, a program that can be run; got {given}"
        )
    return None if found is None else Path(found).resolve()


def cpu_seconds(command: list[str], **environment: str) -> tuple[float, str]:
    """Run a program; return the processor time of its process, and what it printed.

    Raises:
        RuntimeError: it fails.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}: {done.stderr[-2000:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


@dataclass(frozen=True)
class SSTMacro:
    """SST/macro v11.1, with the benchmarks that the workbench reproduces.

    Attributes:
        sstmac: its program.
        library: the benchmarks, compiled by its compiler.
    """

    sstmac: Path
    library: Path

    @classmethod
    def build(cls, sstmac: Path, folder: Path) -> SSTMacro:
        """Compile the benchmarks into a folder with the ``sst++`` beside ``sstmac``."""
        library = folder / "libbenchmark.so"
        compiler = sstmac.with_name("sst++")
        subprocess.run(
            [compiler, "-O2", "-w", "-fPIC", "-shared", "-o", library, SOURCE],
            cwd=folder,
            check=True,
            capture_output=True,
            timeout=_TIMEOUT_S,
        )
        return cls(sstmac, library)

    def run(self, ini: Path, overrides: Mapping[str, str]) -> tuple[float, dict[str, float]]:
        """Run a configuration.

        Args:
            ini: the configuration.
            overrides: of its keys, ``node.app1.mode`` among them.

        Returns:
            Seconds of the whole process, and each printed figure by its words, such as
            ``{"alltoall 1024": 65.45}`` in µs (``bandwidth``: MB/s).
        """
        keys = {
            **overrides,
            "node.app1.exe": str(self.library),
            "node.app1.name": "workbench_benchmark",
        }
        command = [str(self.sstmac), "-f", str(ini)]
        for key, value in keys.items():
            command += ["-p", f"{key}={value}"]
        folder = self.sstmac.parents[1] / "lib"
        seconds, text = cpu_seconds(command, LD_LIBRARY_PATH=str(folder))
        printed = [line.rsplit(" ", 1) for line in text.splitlines() if line.count(" ") == 2]
        return seconds, {words: float(figure) for words, figure in printed if _number(figure)}


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
