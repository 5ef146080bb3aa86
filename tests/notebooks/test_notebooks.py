"""Every notebook runs from its first cell to its last, offline.

`make test` runs them one after another in one kernel, with the smaller numbers of `SHORTER`;
`make deep` runs each as it is, in a kernel of its own.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import nbformat
import pytest
from jupyter_client import AsyncKernelManager

from tests.notebooks.running import execute, shorten
from tests.source_trees import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))

every_notebook = pytest.mark.parametrize("name", [path.name for path in NOTEBOOKS])

pytestmark = pytest.mark.notebook

VIEW = "application/vnd.jupyter.widget-view+json"

# What takes long, and what make test runs in its place.
SHORTER = {
    "02-which-loss.ipynb": {
        "in datasets.list()]": 'in ("azure-hb96v3-hdr", "llnl-dane-omnipath")]',
        "for name in result.plan.machines}": "for name in result.plan.machines[:2]}",
        "trials=300": "trials=10",
        "trials=100)": "trials=10)",
        '"trials": 1000': '"trials": 100',
        'influence("snappr", configurations=64), influence("logp")': "each, each",
        "influences =": 'each = influence("logp", configurations=4)\ninfluences =',
        # As tests/unit/study/test_findings.py does.
        "study.findings([result, repeated], by_tpe, influences=influences)": "study.findings",
    },
    "05-latency-tolerance.ipynb": {
        'time_solvers(["transpose-8", "halo-8", "cg-8"])': 'time_solvers(["transpose-4"])',
        "running_example(1000)": "running_example(10)",
        "halo(216, ": "halo(27, ",
    },
    "10-how-sure.ipynb": {
        "panel.run(every=False)": "panel.draws = 100; panel.run(every=False)",
        "datasets=50": "datasets=8",
        # Like tests/unit/uq/test_system_coverage.py and test_measured_validation.py do.
        'cover_systems(["lumi-g"], draws=1000)': "cover_systems",
        'validate_measured("gather", "default-binomial").plot()': "validate_measured",
        'papers.run("004-fig-1")': 'papers.list()["004-fig-1"]',
        'papers.run("004-fig-2")': 'papers.list()["004-fig-2"]',
        'papers.run("004-fig-3")': 'papers.list()["004-fig-3"]',
        "trials=500": "trials=40",
        "from workbench.fit import fit": "from workbench.fit import fit\n"
        "from workbench.uq import fit_runs\nfit_runs._POINTS = (40, 40)",  # of a surrogate
        "result.posterior()": "result.posterior(draws=20, chain_draws=50)",
        ".compare(graph, *networks)": ".compare(graph, *networks, draws=10)",
        "nodes=64).plot()": "nodes=8, draws=10).plot()",
        '"cg-64", "ring-pipeline-64"': '"cg-8", "ring-pipeline-64"',
        "uq.design(box, 40)": "uq.design(box, 24)",
        # It draws the chains again, as tests/unit/panels/test_uncertainty_panel.py does.
        "exec(panel.python, scope)": "scope['prediction'] = panel.prediction",
    },
    "06-where-to-place-ranks.ipynb": {
        "fat_tree(16)": "fat_tree(8)",
        "dragonfly(a=4, p=8, g=8)": "dragonfly(a=4, p=4, g=8)",
        "cg(256, cells=128, iterations=4": "cg(64, cells=128, iterations=2",
        "icon_like(256)": "icon_like(64)",
    },
    "07-compare-topologies.ipynb": {
        "ComparePanel()": 'ComparePanel(["torus:4x4x4"], simulate=False)',
        "torus 8x8x16": "torus 4x4x4",
    },
    "08-tune-a-component.ipynb": {"seeds=10": "seeds=2"},
    "11-who-slowed-my-job.ipynb": {
        "BlamePanel()": 'BlamePanel(application="umt-128", runs=12)',
        # As tests/unit/panels/test_variability_panels.py does.
        "panel = ": "from workbench.panels.variability import blame_tables\n"
        "blame_tables.TRUTH_STEPS = 2\npanel = ",
    },
    "12-forecast-the-next-steps.ipynb": {
        # The other models take the panel most of its time; its unit tests wait for them.
        '"ridge"\npanel.wait()': '"ridge"\nimport time\nwhile panel.found is None:\n'
        "    time.sleep(0.1)\n    panel.refresh()\npanel.stop()\npanel.wait()",
        "deviation(recorded.steps,": "deviation(recorded.steps.rows(range(6)),",
        "folds=5": "folds=2",
        "grid(recorded.steps,": "grid(recorded.steps.rows(range(12)),",
        "leakage(recorded.steps,": "leakage(recorded.steps.rows(range(12)),",
        # A process more takes longer to start than these runs.
        "runs=16": "runs=4, workers=1",
        # As tests/unit/variability/test_world.py does.
        "world.long_runs(2)": "world.steps.rows([0])",
        "forecast_long(world.steps,": "forecast_long(world.steps.rows([1, 2, 3]),",
        "link_truth(steps=4)": "link_truth(steps=4, workers=1)",
    },
}
CHECKS = {
    "00-start-here.ipynb": """
panel.wait(60)
before = panel.curve.latency_s[0]
panel.set("node.nic.injection.latency", "300ns")
panel.wait(60)
assert panel.curve.latency_s[0] < before
""",
    "01-fit-a-machine.ipynb": """
assert panel.error == "", panel.error
panel.trials = 5
panel.run()
result = panel.wait(120)
assert result.success and result.trials == 5
panel.use_fitted()
panel.wait(60)
scope = {}
exec(panel.python, scope)
assert (scope["curve"].latency_s == panel.curve.latency_s).all()
assert (scope["curve"].bandwidth_Bps == panel.curve.bandwidth_Bps).all()
""",
    "02-which-loss.ipynb": """
assert panel.error == "", panel.error
panel.loss, panel.machine = "mae", "llnl-dane-omnipath"
panel.pin()
panel.run(machine="aws-hpc6a-efa", model="protocol", engine="least-squares", trials=40)
fit = panel.wait(120)
assert fit.own and fit.cell.trials == 40
scope = {}
exec(panel.python, scope)
assert (scope["simulated"].latency_s == fit.simulated.latency_s).all()
""",
    "03-message-regimes.ipynb": """
assert panel.error == "", panel.error
panel.threshold = 1024
scope = {}
exec(panel.python, scope)
assert scope["bolted"].rmspe == panel.bolted.rmspe
panel.trials = 10
panel.run()
assert panel.wait(120).success
""",
    "04-replay-a-program.ipynb": """
assert panel.error == "", panel.error
panel.algorithms = {"allreduce": "ring"}
panel.semantics = "llamp"
result = panel.wait(120)
scope = {}
exec(panel.python, scope)
assert scope["result"].finish_ns == result.finish_ns
""",
    "05-latency-tolerance.ipynb": """
assert panel.error == "", panel.error
panel.algorithms = {"allreduce": "ring"}
result = panel.wait(120)
assert panel.error == "", panel.error
assert result.contention is not None and result.critical_latencies.size
panel.probe_L_us = 1e6 * result.tolerance[5]
panel.wait(120)
assert panel.diagram.makespan_ps == round(1e12 * result.T_of(result.tolerance[5]))
scope = {}
exec(panel.python, scope)
assert scope["result"].tolerance == result.tolerance
assert (scope["result"].corners == result.corners).all()
""",
    "06-where-to-place-ranks.ipynb": """
assert panel.error == "", panel.error
panel.l_wire_ns = 500
comparison = panel.wait(120)
scope = {}
exec(panel.python, scope)
assert scope["comparison"]["T_ns"].tolist() == comparison["T_ns"].tolist()
""",
    "07-compare-topologies.ipynb": """
assert panel.error == "", panel.error
panel.topologies = ["fat-tree:4", "torus:4x4"]
panel.traffic = "tornado"
panel.wait(120)
scope = {}
exec(panel.python, scope)
assert [one.largest for one in scope["loads"]] == [one.largest for one in panel.loads.values()]
""",
    "08-tune-a-component.ipynb": """
assert panel.error == "", panel.error
panel.heuristic, panel.noise, panel.budget = "random", "none", 20
panel.start()
result = panel.wait(120)
assert panel.error == "" and len(result) == 20, panel.error
scope = {}
exec(panel.python, scope)
assert scope["result"].best == result.best
""",
    "09-which-heuristic.ipynb": """
assert panel.error == "", panel.error
panel.recording, panel.stopping, panel.measure = "open-mpi-4-ranks", "budget", "distance"
assert panel.error == "" and set(panel.rows["recording"]) == {"open-mpi-4-ranks"}, panel.error
scope = {}
exec(panel.python, scope)
assert scope["table"].equals(panel.table)
shipped = picked(same, **where)
assert len(again) == len(shipped) == 1
for name in ("gain", "share", "distance", "saved_grid", "tied", "runs"):
    there = float(shipped[name].iloc[0])
    assert abs(float(again[name].iloc[0]) - there) <= 1e-3 * abs(there), name
""",
    "10-how-sure.ipynb": """
assert panel.error == "", panel.error
assert panel.posterior.noise.name == "hierarchical"
scope = {}
exec(panel.python, scope)
assert scope["prediction"].tests == panel.prediction.tests
assert (scope["prediction"].median == panel.prediction.median).all()
tolerances = posterior.tolerance("cg-8", percent=(1,)).to_frame()
lows, highs = (tolerances.filter(like=end).iloc[:, 0] for end in ("low", "high"))
assert (lows < highs).all()
found = calibrated.parameters.reshape(-1, 2)
assert (np.quantile(found, 0.005, axis=0) < [2.4e-6, 0.12e-9]).all()
assert (np.quantile(found, 0.995, axis=0) > [2.4e-6, 0.12e-9]).all()
assert [one.calibrated for one in checks.checks] == [True, True, True, True, False]
assert len({case.table for case in coverage.cases}) == 8
assert abs(table.closed_half_s / table.printed_half_s - 1).max() < 0.01
""",
    "11-who-slowed-my-job.ipynb": """
assert panel.error == "", panel.error
import numpy as np
panel.wait(120)
panel.view, panel.user = "run", panel.tables.worst(panel.run)[0]
panel.wait(60)
without = panel.tables.world.without(panel.user, panel.run)
assert np.allclose(panel.drawn("without")["time"], without)
""",
    "12-forecast-the-next-steps.ipynb": """
assert panel.error == "", panel.error
panel.wait(120)
assert panel.found.best in ("trees", "attention", "network", "ridge")
scope = {}
python = panel.python
if "models=" not in python:
    python = python.replace("features=", "models=['ridge'], features=")
exec(python, scope)
ridge = [one.models.index("ridge") for one in (panel.found, scope["found"])]
assert (panel.found.predicted_s[ridge[0]] == scope["found"].predicted_s[ridge[1]]).all()
assert deviation.mape[0, 0] < deviation.mape[0, 2]
assert grid.mape.shape[:2] == (2, 2)
""",
    "13-against-reality.ipynb": """
assert panel.error == "", panel.error
assert panel.recording == "transpose-4" and panel.latency == "set"
scope = {}
exec(panel.python, scope)
assert scope["result"].rrmse_percent == panel.result.rrmse_percent
assert len(report.program) == len(validation.shipped_names())
assert set(report.origin) == {"emulated"}
""",
    "14-the-papers.ipynb": """
panel.row = "000-fig-10"
figure = panel.wait(120)
assert panel.error == "", panel.error
scope = {}
exec(panel.python.replace("plotting.plot", "figure = plotting.plot"), scope)
assert scope["figure"].title.text == figure.title.text
""",
}


def run(name: str, folder: Path, kernel: AsyncKernelManager, shorter: dict[str, str]) -> None:
    """Run a notebook and its checks, which must show one panel and say nothing to stderr."""
    shutil.copy(ROOT / "notebooks" / name, folder)
    content = nbformat.read(folder / name, as_version=4)
    checks = nbformat.v4.new_code_cell(CHECKS[name])
    shorten([*content.cells, checks], shorter)
    done = execute(content, folder, checks.source, kernel)
    outputs = [output for cell in done.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    assert not [o.text for o in outputs if o.output_type == "stream" and o.name == "stderr"]
    panel = next(c for c in done.cells if re.search(r"^panel = .*\npanel$", c.source, re.M))
    shown = [list(output.data) for output in panel.outputs]
    assert shown == [[VIEW], ["text/html", "text/plain"]], "the panel, and its picture for the file"


@every_notebook
def test_it_runs_and_shows_a_panel(name: str, tmp_path: Path, kernel: AsyncKernelManager) -> None:
    run(name, tmp_path, kernel, SHORTER.get(name, {}))


@pytest.mark.deep
@every_notebook
def test_it_runs_as_it_is(name: str, tmp_path: Path, own_kernel: AsyncKernelManager) -> None:
    run(name, tmp_path, own_kernel, {})


def test_what_takes_long_must_be_there_to_be_shortened() -> None:
    cells = [nbformat.v4.new_code_cell("fit(trials=300)")]
    shorten(cells, {"trials=300": "trials=40"})
    assert cells[0].source == "fit(trials=40)"
    with pytest.raises(LookupError, match="must hold 'trials=300'"):
        shorten(cells, {"trials=300": "trials=40"})


def test_the_first_cell_of_code_loads_bokeh_into_the_page() -> None:
    """BokehJS must be there before the cell of the panel is drawn."""
    assert NOTEBOOKS
    for path in NOTEBOOKS:
        cells = [c for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"]
        assert cells[0].source.splitlines()[-1] == "workbench.panels.setup()", path.name
        assert "Panel(" not in cells[0].source
        assert "Panel(" in cells[1].source
        # A file that a cell shows as a text is not code.
        code = [re.sub(r'"""(?s:.)*?"""', '""', cell.source) for cell in cells]
        assert all(len(source.splitlines()) <= 5 for source in code), path.name
