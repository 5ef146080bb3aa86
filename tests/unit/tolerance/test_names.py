from __future__ import annotations

import subprocess
import sys

import pytest

from workbench import tolerance


def test_every_name_is_there() -> None:
    assert all(getattr(tolerance, name) is not None for name in tolerance.__all__)
    assert dir(tolerance) == sorted(tolerance.__all__)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(AttributeError, match=r"it has .*LatencySensitivity, .*analyse"):
        _ = tolerance.analyze


def test_the_package_itself_loads_nothing_heavy() -> None:
    code = "import sys, workbench.tolerance; print({'numpy', 'numba', 'pulp'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
