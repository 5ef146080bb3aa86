"""A program of the validation measured on this machine, in the background of a panel."""

from __future__ import annotations

import tempfile
from pathlib import Path

from workbench.datapackage import DESCRIPTOR
from workbench.errors import ParameterError
from workbench.measure.cluster import ClusterError
from workbench.mpi import MPIError
from workbench.namespaces import NamespaceError
from workbench.tasks import JobError, Task
from workbench.validation import SUITE, ProgramRecording, measure_program

NEEDS = (
    "To measure needs Linux, Open MPI with its compiler, and network namespaces, which are "
    "root's or a user namespace's; a server such as mybinder.org has none of these. What is shown "
    "ships with the workbench and needs none of them."
)
"""What stands behind an error of a machine on which nothing can be measured."""


class NotHereError(MPIError):
    """Nothing can be measured on this machine."""


def measure_here(
    recording: ProgramRecording, latencies_s: tuple[float, ...], repeats: int, task: Task
) -> ProgramRecording:
    """Measure the program of a recording on this machine; once stopped, keep finished runs."""
    if recording.name not in SUITE:
        raise ParameterError(
            f"the program must be one of {', '.join(SUITE)}, whose sources ship; "
            f"{recording.name} is not among them",
            key="recording",
        )
    with tempfile.TemporaryDirectory(prefix="workbench-here-") as scratch:
        folder = Path(scratch) / recording.name
        try:
            return measure_program(
                recording.name,
                folder,
                ranks=recording.ranks,
                latencies_s=latencies_s,
                repeats=repeats,
                task=task,
            )
        except (MPIError, NamespaceError, ClusterError, ParameterError) as error:
            if not task.stopping:
                raise NotHereError(f"{error}. {NEEDS}") from error
            if (folder / DESCRIPTOR).exists():
                return ProgramRecording.load(folder)
            raise JobError("the measurement was stopped before its first run ended") from error
