from __future__ import annotations

import subprocess
import sys

import pytest

from workbench import sensitivity


def test_every_name_is_there() -> None:
    assert all(getattr(sensitivity, name) is not None for name in sensitivity.__all__)
    assert dir(sensitivity) == sorted(sensitivity.__all__)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(AttributeError, match=r"it has .*LatencySensitivity, .*analyse"):
        _ = sensitivity.analyze


def test_the_package_itself_loads_nothing_heavy() -> None:
    code = "import sys, workbench.sensitivity; print({'numpy', 'numba', 'pulp'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
