"""The names that packages export, and that docstrings and generated code name, are there once."""

from __future__ import annotations

import ast
import importlib
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.source_trees import ROOT, exported, trees, trees_of

PACKAGES = sorted(path.relative_to(ROOT) for path in (ROOT / "workbench").rglob("__init__.py"))
PLOTTED = re.compile(r"workbench\.plotting\.([\w.]*plot_\w+)")
IMPORTED = re.compile(r"from (workbench\.plotting[\w.]*) import (plot_\w+)")


def module_of(path: Path) -> str:
    """Return the dotted name of a file's module."""
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def test_each_exported_name_is_there() -> None:
    packages = {path: importlib.import_module(module_of(path)) for path in PACKAGES}
    assert [
        (str(path), name)
        for path, package in packages.items()
        for name in sorted(exported(trees()[ROOT / path]))
        if not hasattr(package, name)
    ] == []


def test_figures_are_named_and_imported_where_plotting_offers_them() -> None:
    """In results, docstrings and generated code, which users copy; our own imports may be short."""
    offered = exported(trees()[ROOT / "workbench/plotting/__init__.py"])
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


def public_types(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """Yield the public classes of a module and its names for other types, and which are classes."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name, True
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name[0].isupper() and not name.isupper():
                yield name, False


def test_no_public_class_shares_its_name_with_another_type() -> None:
    classes, places = set(), defaultdict(list)
    for path, tree in trees_of("workbench").items():
        for name, is_class in public_types(tree):
            places[name].append(str(path.relative_to(ROOT)))
            classes |= {name} if is_class else set()
    assert len(classes) > 300
    assert {name: places[name] for name in classes if len(places[name]) > 1} == {}
