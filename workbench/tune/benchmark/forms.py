"""Which form of the benchmark runs here: from C, or from mpi4py where nothing compiles.

    benchmark = find_benchmark(find_launcher())
    launcher.command((*benchmark.words, *benchmark_arguments("bcast", (4096, 8192))), 4, {})

Both print the same table. Calls from Python take longer, so a recording says which form timed it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from workbench.errors import ParameterError
from workbench.mpi import Launcher, MPIError, Recipe
from workbench.suggestions import did_you_mean
from workbench.tune.component.invocation import Invocation
from workbench.tune.runners.local import Local
from workbench.tune.runners.runner import RunRequest, run_to_end

Form = Literal["C", "mpi4py"]
FORMS: tuple[Form, ...] = get_args(Form)
"""The forms there are, in the order in which they are tried."""

_SCRIPT = Path(__file__).resolve().parent / "collective.py"
_ASK_S = 60.0  # chosen: two Pythons import mpi4py, perhaps from the disks of a busy cluster
# Ranks of an mpi4py of another MPI than the launcher's are each alone, in a world of one. One that
# ends well lets the launcher end at once; it takes a second to clear up after one that does not.
_QUESTION = """\
import platform, sys
try:
    if sys.version_info < (3, 8):
        raise RuntimeError("it must be Python 3.8 or newer")
    import mpi4py
    from mpi4py import MPI
    here = (MPI.COMM_WORLD.size, mpi4py.__version__, platform.python_version())
    line = "ranks %d %s %s" % here
except Exception as error:
    line = "lacks %s" % error
sys.stdout.write(line + chr(10))
"""
_INSTALL = (
    "install it for one of them (pip install mpi4py; Debian, Ubuntu: sudo apt-get install "
    "python3-mpi4py)"
)


@dataclass(frozen=True)
class Benchmark:
    """The benchmark's program, ready to start."""

    words: tuple[str, ...]  # the program; its arguments follow
    caller: str  # ``C``, or such as ``mpi4py 4.1.2 on Python 3.11.2``


def find_benchmark(launcher: Launcher, form: Form | None = None) -> Benchmark:
    """Return the benchmark for an MPI: in C if that compiles, else mpi4py; or only ``form``."""
    if form is not None and form not in FORMS:
        raise ParameterError(
            f"benchmark must be one of {', '.join(FORMS)}; got {form!r}{did_you_mean(form, FORMS)}",
            key="benchmark",
        )
    reasons = []
    for name in FORMS if form is None else (form,):
        try:
            return _in_c(launcher) if name == "C" else _with_mpi4py(launcher)
        except MPIError as error:
            reasons.append(f"{name}: {error}")
    raise MPIError(
        "the benchmark must compile with the MPI's compiler, or run in a Python with an mpi4py of "
        f"the same MPI; {'; '.join(reasons)}"
    )


def _in_c(launcher: Launcher) -> Benchmark:
    return Benchmark((str(build_benchmark(launcher.compiler())),), "C")


def _with_mpi4py(launcher: Launcher) -> Benchmark:
    """Return the benchmark in the first Python that has an mpi4py of the launcher's MPI."""
    runner = Local(environment=launcher.own_environment())
    reasons = []
    for python in _pythons():
        question = Invocation(tuple(launcher.command((python, "-c", _QUESTION), 2, {})))
        output = run_to_end(runner, RunRequest({}, question, timeout_s=_ASK_S))
        lines = [line.partition(" ") for line in output.stdout.splitlines()]
        answers = {kind: words for kind, _, words in lines if kind in ("ranks", "lacks")}
        if "ranks" not in answers:
            why = answers.get("lacks") or output.stderr.strip()[-200:] or output.state
            reasons.append(f"{python}: {why}")
            continue
        ranks, version, own = answers["ranks"].split()
        if ranks == "2":
            return Benchmark((python, str(_SCRIPT)), f"mpi4py {version} on Python {own}")
        reasons.append(f"{python}: its mpi4py is of another MPI than {launcher.mpirun}")
    raise MPIError(f"{', '.join(reasons)}; {_INSTALL}")


def _pythons() -> Iterator[str]:
    """Yield this Python, then those of the path: a system's packages are for the system's own."""
    yield sys.executable
    seen = {Path(sys.executable).parent.resolve()}
    for folder in os.get_exec_path():
        place = Path(folder).resolve()
        if place not in seen and os.access(place / "python3", os.X_OK):
            yield str(place / "python3")
        seen.add(place)


_BENCHMARK = Recipe(
    "the benchmark",
    "collective",
    "benchmark",
    ("-std=c99", "-O2"),
    (Path(__file__).resolve().parent / "collective.c",),
    "MPI 2 and C99",
)


def build_benchmark(mpicc: str | Path, folder: str | Path | None = None) -> Path:
    """Return the benchmark's path, compiled if needed; ``folder`` None is the user's cache."""
    program = _BENCHMARK.place(mpicc, folder)
    _BENCHMARK.make(mpicc, program)
    return program
