"""The names that packages export, and that docstrings and generated code name, are there."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

from tests.source_trees import ROOT, trees, trees_of

PACKAGES = sorted(path.relative_to(ROOT) for path in (ROOT / "workbench").rglob("__init__.py"))
PLOTTED = re.compile(r"workbench\.plotting\.([\w.]*plot_\w+)")
IMPORTED = re.compile(r"from (workbench\.plotting[\w.]*) import (plot_\w+)")


def module_of(path: Path) -> str:
    """Return the dotted name of a file's module."""
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def listed(tree: ast.Module) -> set[str]:
    """Return the names in a module's ``__all__``."""
    return {
        name.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        for name in ast.walk(node.value)
        if isinstance(name, ast.Constant)
    }


@pytest.mark.parametrize("path", PACKAGES, ids=module_of)
def test_each_exported_name_is_there(path: Path) -> None:
    package = importlib.import_module(module_of(path))
    assert [
        name for name in sorted(listed(trees()[ROOT / path])) if not hasattr(package, name)
    ] == []


def test_figures_are_named_and_imported_where_plotting_offers_them() -> None:
    """In results, docstrings and generated code, which users copy; our own imports may be short."""
    offered = listed(trees()[ROOT / "workbench/plotting/__init__.py"])
    texts, drawings = [], []
    for path, tree in trees_of("workbench").items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.append((path, node.value))
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                drawings += [(path, node.args[0])] if node.func.id == "Drawing" else []
    named = [(path, name) for path, text in texts for name in PLOTTED.findall(text)]
    sent = [(path, *found) for path, text in texts for found in IMPORTED.findall(text)]
    named += [(path, ast.literal_eval(name)) for path, name in drawings]
    assert len(named) >= 8
    assert len(sent) >= 1
    assert [(str(path), name) for path, name in named if name not in offered] == []
    assert [
        (str(path), module, name)
        for path, module, name in sent
        if module != "workbench.plotting" or name not in offered
    ] == []
