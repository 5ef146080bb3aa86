"""The workbench, its panels and its shell need no module that only Unix has."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import importlib, os, pkgutil, sys
import filelock  # without fcntl it would wait for lock files that it never deletes with it
only_unix = "fcntl", "termios", "pwd", "grp", "resource"
sys.modules |= dict.fromkeys(only_unix)  # importing them raises ImportError
del os.fork
import workbench
names = ["workbench.panels", "workbench.cli"]
for name in names:
    package = importlib.import_module(name)
    found = pkgutil.walk_packages(package.__path__, f"{name}.")
    for module in found:
        importlib.import_module(module.name)
        print(module.name)
from workbench.cli import main
words = ["fit", "--machine", "azure-hb96v3-hdr", "--model", "logp", "--trials", "2"]
sys.exit(main([*words, "--study", sys.argv[1]]))
"""


def test_nothing_that_only_unix_has_is_imported(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "fits.db")],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr
    assert "workbench.panels.fit.panel\n" in done.stdout
    assert "workbench.cli.cluster\n" in done.stdout
    assert "2 trials" in done.stdout
