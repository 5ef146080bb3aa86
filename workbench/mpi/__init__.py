"""The MPI of this machine: its launcher and compiler, and code of ours built with it.

launcher = find_launcher()  # or find_launcher("mpirun.mpich")
launcher.command(["./halo", "256"], 4, {})
"""

from __future__ import annotations

from workbench.mpi.errors import MPIError
from workbench.mpi.launch import Launcher, find_launcher
from workbench.mpi.preload import build_preloaded, interposed, preload
from workbench.mpi.recipe import Recipe
from workbench.mpi.run import run_command

__all__ = [
    "Launcher",
    "MPIError",
    "Recipe",
    "build_preloaded",
    "find_launcher",
    "interposed",
    "preload",
    "run_command",
]
