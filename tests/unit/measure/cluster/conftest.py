from __future__ import annotations

import pytest

from workbench.measure.cluster import Cluster, ClusterError
from workbench.mpi import Launcher, MPIError, find_launcher
from workbench.namespaces import NamespaceError


@pytest.fixture(scope="session", params=["mpirun.openmpi", "mpirun.mpich"])
def mpi(request: pytest.FixtureRequest) -> Launcher:
    """Each MPI of this machine."""
    try:
        return find_launcher(request.param)
    except MPIError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def openmpi() -> str:
    """An Open MPI of this machine, where an emulated cluster is possible."""
    try:
        launcher = find_launcher("mpirun.openmpi")
        with Cluster(1, mpirun=launcher.mpirun):
            return str(launcher.mpirun)
    except (MPIError, NamespaceError, ClusterError) as error:
        pytest.skip(str(error))
