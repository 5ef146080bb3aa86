"""What the two commands say on a machine that lacks something."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("sh", "find", "sort", "cat", "cksum", "cut", "tr", "pwd", "awk", "touch", "mkdir")


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A folder of programs: the usual small ones, a user who is not root, an old Python."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in TOOLS:
        if found := shutil.which(name):
            (programs / name).symlink_to(found)
    for name, text in {"id": "echo 1000", "python3": "echo Python 3.9.2; exit 1"}.items():
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    return programs


def run(command: list[str], folder: Path, programs: Path) -> subprocess.CompletedProcess[str]:
    """Run a command that sees only some programs."""
    environment = {"PATH": str(programs), "HOME": str(folder)}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with the Makefile and what it reads at once."""
    folder = tmp_path / "project"
    (folder / "kernels").mkdir(parents=True)
    (folder / "kernels" / "__init__.py").touch()
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder / name)
    (folder / "binder").mkdir()
    shutil.copy(ROOT / "binder" / "overrides.json", folder / "binder")
    return folder


@pytest.mark.parametrize("target", ["lab", "test"])
def test_an_old_python_is_named_and_so_is_the_repair(
    target: str, project: Path, bare: Path
) -> None:
    make = shutil.which("make")
    assert make is not None
    done = run([make, target], project, bare)
    assert done.returncode != 0
    assert "Python 3.11, 3.12 or 3.13 with its venv module is needed" in done.stderr
    assert "python3 is Python 3.9.2" in done.stderr
    assert "make PYTHON=/path/to/python3.12" in done.stderr
    assert not (project / ".venv").exists()


def test_help_lists_every_target_for_people(project: Path, bare: Path) -> None:
    make = shutil.which("make")
    assert make is not None
    done = run([make], project, bare)
    listed = {line.split()[1] for line in done.stdout.splitlines()}
    assert {"help", "lab", "test", "bench", "clean"} <= listed


@pytest.mark.skipif(sys.platform == "darwin", reason="Chrome is looked for in /Applications too")
def test_a_missing_browser_is_named_and_so_is_the_repair(bare: Path, tmp_path: Path) -> None:
    done = run(["/bin/sh", str(ROOT / ".ci" / "chromium")], tmp_path, bare)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "sudo apt-get install chromium" in done.stderr
    assert "WORKBENCH_CHROMIUM" in done.stderr


def test_missing_programs_are_named_and_stop_nothing(bare: Path, tmp_path: Path) -> None:
    text = (ROOT / ".ci" / "programs").read_text()
    (tmp_path / "programs").write_text(text.replace("/usr/", "/nowhere/").replace(":/sbin", ""))
    done = run(["/bin/sh", str(tmp_path / "programs")], tmp_path, bare)
    assert done.returncode == 0, done.stderr
    for packages in ("gcc libc6-dev openmpi", "postgresql", "slurm-wlm munge", "iproute2"):
        assert f"sudo apt-get install {packages}" in done.stderr


def test_a_chosen_browser_is_taken(tmp_path: Path, bare: Path) -> None:
    environment = {"PATH": str(bare), "WORKBENCH_CHROMIUM": sys.executable}
    done = subprocess.run(
        ["/bin/sh", str(ROOT / ".ci" / "chromium")],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.strip() == sys.executable
