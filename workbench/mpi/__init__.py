"""The MPI of this machine: its launcher and compiler, and code of ours built with it.

launcher = find_launcher()  # or find_launcher("mpirun.mpich")
launcher.command(["./halo", "256"], 4, {})
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.mpi.errors import MPIError as MPIError
    from workbench.mpi.launch import Launcher as Launcher, find_launcher as find_launcher
    from workbench.mpi.preload import (
        build_preloaded as build_preloaded,
        interposed as interposed,
        preload as preload,
    )
    from workbench.mpi.recipe import Recipe as Recipe
    from workbench.mpi.run import run_command as run_command
else:
    __getattr__, __dir__ = lazy_exports(__name__)
