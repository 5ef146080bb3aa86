"""The doctor: well here, and able to notice each illness it claims to know."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import workbench
from workbench import diagnosis
from workbench.diagnosis import Diagnosis, InstallationCheck, diagnose, find_chromium

ILL = InstallationCheck("numba", "cache", "/nowhere", "cannot be <written>", "set NUMBA_CACHE_DIR")
WELL = InstallationCheck("data", "azure", "23 sizes")


@pytest.fixture(scope="module")
def here() -> Diagnosis:
    return diagnose()


def test_this_installation_is_well(here: Diagnosis) -> None:
    assert here.problems == ()
    assert here.ok


def test_it_looks_at_everything_that_matters(here: Diagnosis) -> None:
    seen = {(check.group, check.name) for check in here.checks}
    assert {
        ("versions", "Python"),
        ("versions", "numba"),
        ("versions", "jupyterlab"),
        ("numba", "threading layer"),
        ("numba", "cache"),
        ("notebook", "@jupyter-widgets/jupyterlab-manager"),
        ("notebook", "anywidget"),
        ("notebook", "BokehJS"),
        ("data", "azure-hb96v3-hdr"),
        ("tests", "Chromium"),
    } <= seen


def test_every_problem_comes_with_its_repair() -> None:
    text = Diagnosis((ILL, WELL)).to_text()
    assert "! cache  /nowhere" in text
    assert "1 problem found" in text
    assert "1. numba, cache: cannot be <written>\n   set NUMBA_CACHE_DIR" in text
    assert repr(Diagnosis((ILL, WELL))) == "Diagnosis(problems with numba: cache)"
    assert "cannot be &lt;written&gt;" in Diagnosis((ILL,))._repr_html_()


def test_it_is_json_for_machines() -> None:
    said = json.loads(json.dumps(Diagnosis((ILL, WELL)).to_dict()))
    assert said["ok"] is False
    assert said["problems"] == [
        {"about": "numba: cache", "problem": ILL.problem, "fix": "set NUMBA_CACHE_DIR"}
    ]
    assert said["checks"]["data"] == {"azure": "23 sizes"}


def test_doctor_prints_what_it_returns(capsys: pytest.CaptureFixture[str]) -> None:
    returned = workbench.doctor()
    assert capsys.readouterr().out == returned.to_text() + "\n"


def test_a_missing_package_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "requires", lambda _: ["no-such-package>=1", "numpy<1"])
    problems = {p.name: p.problem for p in diagnose().problems}
    assert problems["no-such-package"] == "no-such-package>=1 must be installed"
    assert problems["numpy"].startswith("must be numpy<1, is ")


def test_missing_and_foreign_extensions_are_noticed(tmp_path: Path) -> None:
    extension = tmp_path / "anywidget"
    extension.mkdir(parents=True)
    (extension / "package.json").write_text('{"version": "0.1.0"}')
    problems = {check.name: check.problem for check in diagnosis._extensions([tmp_path])}
    assert problems["@jupyter-widgets/jupyterlab-manager"].startswith("no labextensions/")
    assert "not from this environment" in problems["anywidget"]


def test_a_damaged_dataset_is_noticed(tmp_path: Path) -> None:
    """The doctor of a copied project with one changed byte says which dataset and what to do."""
    root = Path(__file__).resolve().parents[2]
    ignore = shutil.ignore_patterns("__pycache__")
    for name in ("workbench", "kernels", "datasets"):
        shutil.copytree(root / name, tmp_path / name, ignore=ignore)
    curve = next((tmp_path / "datasets" / "azure-hb96v3-hdr").glob("*.csv"))
    curve.write_bytes(curve.read_bytes() + b"\n")
    code = (
        "import json; from workbench.diagnosis import diagnose;"
        " print(json.dumps(diagnose().to_dict()['problems']))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    (problem,) = json.loads(run.stdout)
    assert problem["about"] == "data: azure-hb96v3-hdr"
    assert "restore datasets/azure-hb96v3-hdr" in problem["fix"]


def test_a_probe_that_fails_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def _broken() -> list[InstallationCheck]:
        raise RuntimeError("disk on fire")

    monkeypatch.setattr(diagnosis, "_bokeh", _broken)
    (problem,) = diagnose().problems
    assert problem.problem == "the check ended with RuntimeError: disk on fire"


def test_a_chosen_chromium_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_CHROMIUM", sys.executable)
    assert find_chromium() == sys.executable
