"""A fit whose process is killed loses at most the trial in flight, and goes on as if unharmed."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import optuna
import pytest

from workbench.fit import ENGINES, fit
from workbench.measure import OSUCurve
from workbench.provenance import Provenance

TRIALS = 60
SIZES = (1, 1024, 1 << 20)

SCRIPT = """
import sys
from pathlib import Path
sys.path.insert(0, str(Path(sys.argv[2]).parent))
from test_killed import TRIALS, machine
from workbench.fit import fit
fit(machine(), "logp", trials=TRIALS, study=sys.argv[1], name="a", engine=sys.argv[3],
    on_trial=lambda report: print(report.done, flush=True))
"""


def machine() -> OSUCurve:
    return OSUCurve(
        name="three sizes",
        sizes=np.array(SIZES),
        latency_s=np.array([1.5e-6, 2.5e-6, 1.2e-4]),
        bandwidth_Bps=np.array([4e6, 3e9, 1.1e10]),
        provenance=Provenance(origin="synthetic", title="a machine made up for tests"),
    )


# What is killed is the file's writer, the same for all; test_contract.py stops and resumes each.
@pytest.mark.parametrize(
    "engine",
    [pytest.param(one, marks=() if one == "tpe" else pytest.mark.deep) for one in ENGINES],
)
def test_kill_and_resume_gives_the_fit_that_was_never_killed(tmp_path: Path, engine: str) -> None:
    path = tmp_path / "fits.db"
    # The worker writes a trial before it reports it; killed anywhere, it has written them all.
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(path), __file__, engine],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    ) as worker:
        assert worker.stdout is not None
        reported = 0
        for line in worker.stdout:
            reported = int(line)
            if reported == 23:
                worker.kill()
        worker.wait(120)
    assert worker.returncode == -signal.SIGKILL
    stored = len(optuna.load_study(study_name="a", storage=f"sqlite:///{path}").trials)
    assert 23 <= reported <= stored <= reported + 1

    resumed = fit(machine(), "logp", trials=TRIALS, study=path, name="a", engine=engine)
    whole = fit(machine(), "logp", trials=TRIALS, engine=engine)
    assert resumed.losses.tolist() == whole.losses.tolist()
    assert resumed.model == whole.model
