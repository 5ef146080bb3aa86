from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tests.cases import for_each

PACKAGE = """
from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from lazy_example import second as second
    from lazy_example.first import ring as ring, tree as fat_tree
    from lazy_example.third import fourth as fourth, third as third
else:
    __getattr__, __dir__ = lazy_exports(__name__)
"""


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    folder = tmp_path / "lazy_example"
    folder.mkdir()
    (folder / "__init__.py").write_text(PACKAGE, "utf-8")
    (folder / "first.py").write_text("ring = 1\ntree = 2\n", "utf-8")
    (folder / "second.py").write_text("", "utf-8")
    (folder / "third.py").write_text("third, fourth = 3, 4\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("lazy_example", "lazy_example.first", "lazy_example.second", "lazy_example.third"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return "lazy_example"


def test_a_module_is_imported_when_a_name_of_it_is_first_used(example: str) -> None:
    package = import_module(example)
    assert "lazy_example.first" not in sys.modules
    assert (package.ring, package.fat_tree) == (1, 2)
    assert vars(package)["ring"] == 1
    assert "lazy_example.second" not in sys.modules
    assert package.second is sys.modules["lazy_example.second"]


def test_a_name_is_not_hidden_by_its_own_module(example: str) -> None:
    package = import_module(example)
    import_module("lazy_example.third")
    assert (package.fourth, package.third) == (4, 3)


def test_the_exported_names_are_offered_to_completion(example: str) -> None:
    package = import_module(example)
    assert dir(package) == package.__all__ == ["fat_tree", "fourth", "ring", "second", "third"]


def test_another_name_is_an_error_that_lists_the_exported_ones(example: str) -> None:
    package = import_module(example)
    with pytest.raises(
        AttributeError, match=r"'rng'; did you mean ring\?; it has fat_tree, fourth, ring"
    ):
        _ = package.rng
    assert not hasattr(package, "tree")


HEAVY = {"bokeh", "numba", "numpy", "pandas", "scipy.linalg", "optuna", "workbench.uq.posterior"}


def loaded_by(code: str) -> set[str]:
    """Return the heavy packages that a fresh process has loaded after some code."""
    line = f"import sys; {code}; print(*({HEAVY!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@for_each("package", ["", ".simulate", ".fit", ".topology", ".predict", ".tune", ".uq", ".panels"])
def test_importing_a_package_loads_nothing_heavy(package: str) -> None:
    assert loaded_by(f"import workbench{package}") == set()


def test_the_first_figure_needs_no_pandas_and_of_scipy_what_numba_loads() -> None:
    """Nor other analyses, which would make its kernel larger."""
    code = "from workbench import panels; panels.setup(); panels.ExplorePanel().wait(300)"
    # numba loads scipy.linalg, for its own linear algebra, before it loads any kernel.
    assert loaded_by(code) == {"bokeh", "numba", "numpy", "scipy.linalg"}
