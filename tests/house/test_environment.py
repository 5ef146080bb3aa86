"""What is declared is what is needed, pinned and offered to Binder, all saying the same."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.source_trees import ROOT, trees

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
DEPENDENCIES = [Requirement(text) for text in PROJECT["dependencies"]]
EXTRAS = {
    extra: [r for r in map(Requirement, texts) if r.name != PROJECT["name"]]
    for extra, texts in PROJECT["optional-dependencies"].items()
}
TEST_DEPENDENCIES = [r for extra, texts in EXTRAS.items() if extra != "site" for r in texts]
CONDA = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))

# Imported, and brought by a declared package that cannot do without it.
BROUGHT_BY = {
    "ipykernel": "jupyterlab",
    "ipython": "ipywidgets",
    "jinja2": "bokeh",
    "jupyter-client": "voila",
    "jupyter-core": "jupyterlab",
    "jupyter-server": "voila",
    "llvmlite": "numba",
    "nbclient": "voila",
    "sqlalchemy": "optuna",
    "tornado": "jupyterlab",
    "traitlets": "ipywidgets",
}
# Imported only where a user asked for what it offers: these are extras of the package.
OPTIONAL = {"distributed", "docutils", "otf2", "psycopg", "sphinx"}
_PACKAGE_OF = {"ipykernel_launcher": "ipykernel", "sklearn": "scikit-learn", "yaml": "pyyaml"}
# Used by running them, not by importing them.
APPLICATIONS = {"jupyterlab"}


def constraints(name: str = "constraints.txt") -> dict[str, Version]:
    """Return the pinned versions by normalised name."""
    lines = (ROOT / name).read_text("utf-8").splitlines()
    pins = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(name): Version(version) for name, version in pins}


def imported() -> set[str]:
    """Return the normalised names of all packages that the library imports and does not own."""
    names: set[str] = set()
    for tree in trees().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names.add((node.module or "").split(".")[0])
    ours = {"workbench", "kernels"}
    packages = {_PACKAGE_OF.get(name, name) for name in names - sys.stdlib_module_names - ours}
    return {canonicalize_name(name) for name in packages}


def test_everything_imported_is_declared_or_brought_by_something_declared() -> None:
    declared = {canonicalize_name(r.name) for r in DEPENDENCIES}
    extras = {canonicalize_name(r.name) for r in EXTRAS["cluster"] + EXTRAS["postgresql"]}
    extras |= {canonicalize_name(r.name) for r in EXTRAS["site"] + EXTRAS["otf2"]}
    assert imported() - declared - BROUGHT_BY.keys() == OPTIONAL
    assert extras >= OPTIONAL
    for name, by in BROUGHT_BY.items():
        needs = {canonicalize_name(Requirement(r).name) for r in metadata.requires(by) or []}
        assert by in declared
        assert name in needs


def test_everything_declared_is_used() -> None:
    declared = {canonicalize_name(r.name) for r in DEPENDENCIES}
    assert declared - imported() - APPLICATIONS == set()


def test_what_is_installed_and_pinned_satisfies_what_is_declared() -> None:
    for requirement in DEPENDENCIES + TEST_DEPENDENCIES:
        installed = Version(metadata.version(requirement.name))
        assert requirement.specifier.contains(installed), requirement
    pinned = constraints()
    for requirement in DEPENDENCIES + TEST_DEPENDENCIES + EXTRAS["site"]:
        assert requirement.specifier.contains(pinned[canonicalize_name(requirement.name)])


def test_the_oldest_versions_are_the_lower_ends_of_what_is_declared() -> None:
    oldest = constraints("constraints-oldest.txt")
    for requirement in DEPENDENCIES:
        (least,) = [each.version for each in requirement.specifier if each.operator == ">="]
        assert oldest[canonicalize_name(requirement.name)] == Version(least), requirement


@pytest.mark.parametrize("name", ["constraints.txt", "constraints-oldest.txt"])
def test_constraints_name_versions_only(name: str) -> None:
    for line in (ROOT / name).read_text("utf-8").splitlines():
        assert re.fullmatch(r"#.*|[A-Za-z0-9._-]+==[A-Za-z0-9.]+", line), line


def test_binder_has_the_same_environment() -> None:
    copy = (ROOT / "binder" / "environment.yml").read_bytes()
    assert copy == (ROOT / "environment.yml").read_bytes()


def test_conda_asks_for_what_pyproject_asks_for() -> None:
    texts = [text for text in CONDA["dependencies"] if text != "pip"]
    conda = {canonicalize_name(r.name): r.specifier for r in map(Requirement, texts[1:])}
    assert conda == {canonicalize_name(r.name): r.specifier for r in DEPENDENCIES}
    # Without a pin Binder takes an older Python than the workbench runs on.
    assert texts[0] == "python=3.11"
    assert CONDA["channels"] == ["conda-forge", "nodefaults"]


def test_binder_builds_and_starts_with_the_same_numba_cache() -> None:
    scripts = {name: (ROOT / "binder" / name) for name in ("postBuild", "start")}
    settings = {
        name: [line for line in path.read_text().splitlines() if line.startswith("export NUMBA_")]
        for name, path in scripts.items()
    }
    assert settings["postBuild"] == settings["start"]
    assert {s.split("=")[0] for s in settings["start"]} == {
        "export NUMBA_CACHE_DIR",
        "export NUMBA_CPU_NAME",
    }
    for path in scripts.values():
        assert path.read_text().startswith("#!/bin/bash\n")
        assert path.stat().st_mode & 0o111
    assert scripts["start"].read_text().rstrip().endswith('exec "$@"')
    assert "\nset -e\n" in scripts["postBuild"].read_text()


def test_jupyterlab_fetches_no_news() -> None:
    overrides = json.loads((ROOT / "binder" / "overrides.json").read_text("utf-8"))
    asked = overrides["@jupyterlab/apputils-extension:notification"]
    assert asked == {"checkForUpdates": False, "fetchNews": "false"}


def test_repo2docker_builds_from_our_environment(tmp_path: Path) -> None:
    """What decides on Binder is repo2docker's own detection, so that is what is asked."""
    shutil.copytree(ROOT / "binder", tmp_path / "binder")
    for name in ("environment.yml", "pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, tmp_path / name)
    command = [sys.executable, "-m", "repo2docker", "--no-build", "--debug", "."]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    said = run.stdout + run.stderr
    assert run.returncode == 0, said
    assert "Building conda environment for python=3.11" in said
    assert '--file "binder/environment.yml"' in said
    assert "RUN ./binder/postBuild" in said
    assert 'ENV R2D_ENTRYPOINT="${REPO_DIR}/binder/start"' in said
