"""How long the shell waits for ``workbench``: its help, a whole simulation, and an import."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.conftest import Table
from tests.benchmarks.other_simulators import SSTMacro
from workbench.models import SNAPPR

ROOT = Path(__file__).resolve().parents[2]
REPEATS = 7


def cpu_s(*words: str) -> float:
    """Return the processor time of a whole Python process, from its start to its end, s."""
    began = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime


@pytest.mark.parametrize("words", ["--help", "osu --help", "fit --help", "--version"])
def test_the_command_answers(words: str) -> None:
    least = min(cpu_s("-m", "workbench", *words.split()) for _ in range(5))
    print(f"\nworkbench {words}: {least:.2f} s of processor time, least of 5")
    assert least <= 0.2


def test_a_whole_simulation_from_a_shell(
    table: Table, sstmacro: SSTMacro | None, tmp_path: Path
) -> None:
    """Kernels are compiled before; what remains is Python, numba and 23 sizes of two tests."""
    machine = tmp_path / "machine.ini"
    machine.write_text(SNAPPR().to_ini(v10=False))
    commands = {
        "osu": ("-m", "workbench", "osu"),
        "simulate": ("-c", "import workbench.simulate"),
        "numba": ("-c", "import numba"),
    }
    cpu_s(*commands["osu"])
    # What else runs on the machine only adds to the times: the least is the command's own.
    times: dict[str, list[float]] = {name: [] for name in (*commands, "SST/macro")}
    for _ in range(REPEATS):
        for name, words in commands.items():
            times[name].append(cpu_s(*words))
        if sstmacro is not None:
            times["SST/macro"].append(sstmacro.run(machine, {"node.app1.mode": "osu"})[0])
    osu, simulate, numba = (min(times[name]) for name in commands)
    for what, seconds, most in (
        ("a whole `workbench osu`", osu, 1.5),
        ("`import workbench.simulate`", simulate, 0.5),
    ):
        beside = {"ratio": seconds / numba, "reference": "a process that only imports numba"}
        table.add("3b", f"processor time of {what}", seconds, "s", at_most=most, **beside)
    if times["SST/macro"]:
        faster = min(times["SST/macro"]) / osu
        table.add("3b", "  as fast as SST/macro's process", faster, "x", at_least=1)
