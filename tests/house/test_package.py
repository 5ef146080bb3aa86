"""The two import names are ours, importing is light, and a wheel carries what it needs."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
import yaml

import workbench

ROOT = Path(__file__).resolve().parents[2]
DISTRIBUTION = "interconnect-workbench"

IMPORT = """
import sys
before = set(sys.modules)
import workbench
foreign = {name.split(".")[0] for name in set(sys.modules) - before}
foreign -= set(sys.stdlib_module_names) | {"workbench"}
print(*sorted(foreign))
"""


@pytest.mark.parametrize("name", ["workbench", "kernels"])
def test_import_names_are_ours(name: str) -> None:
    assert Path(importlib.import_module(name).__file__ or "").parent == ROOT / name
    others = set(metadata.packages_distributions().get(name, [])) - {DISTRIBUTION}
    assert others == set(), f"another installed package is imported as {name}"


def test_versions_agree() -> None:
    assert metadata.version(DISTRIBUTION) == workbench.__version__
    assert f"version: {workbench.__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"## {workbench.__version__} " in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_citation_can_be_read() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert citation["license"] == "BSD-3-Clause"


def test_import_is_light() -> None:
    command = [sys.executable, "-c", IMPORT]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.split() == [], "nothing but the standard library is imported"


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(
        AttributeError, match=r"no attribute 'sumilate_osu'; did you mean simulate_osu or"
    ):
        _ = workbench.sumilate_osu


def test_doctor_stays_a_function_after_its_module_is_imported() -> None:
    importlib.import_module("workbench.diagnosis")
    assert callable(workbench.doctor)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    (path,) = folder.glob("*.whl")
    return path


def test_wheel_holds_both_packages_and_the_datasets_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    release = f"interconnect_workbench-{workbench.__version__}"
    info = f"{release}.dist-info"
    # No NAME.data, which would be copied beside the settings and templates of other notebooks.
    assert {name.split("/")[0] for name in names} == {"workbench", "kernels", info}
    for_voila = "workbench/workshop/jupyter"
    assert {f"{for_voila}/etc/voila.{kind}" for kind in ("json", "py")} <= set(names)
    for name in ("index.html.j2", "tree-lab.html", "page-style.html", "503.html"):
        assert f"{for_voila}/share/nbconvert/templates/workbench/{name}" in names
    assert f"{info}/licenses/LICENSE" in names
    assert "workbench/py.typed" in names
    shipped = {n.split("/")[2] for n in names if n.startswith("workbench/_shipped_datasets/")}
    described = {path.parent.name for path in (ROOT / "datasets").glob("*/datapackage.json")}
    assert described
    assert described <= shipped
    assert not [name for name in names if name.endswith((".pyc", ".nbi", ".nbc"))]


def test_datasets_load_from_a_wheel(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    code = (
        "import workbench; names = list(workbench.datasets.list());"
        " workbench.datasets.load(names[0]); print(len(names), workbench.__file__)"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    count, path = run.stdout.split(maxsplit=1)
    assert Path(path.strip()).is_relative_to(tmp_path)
    assert int(count) == len(list((ROOT / "datasets").glob("*/datapackage.json")))
