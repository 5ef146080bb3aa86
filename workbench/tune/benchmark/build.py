"""The benchmark in C, compiled once for each MPI and kept."""

from __future__ import annotations

from pathlib import Path

from workbench.programs.recording.compiling import Recipe

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
