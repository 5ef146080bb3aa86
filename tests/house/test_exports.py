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
PLOTTED = re.compile(r"from (workbench[\w.]*) import (plot_\w+)|(workbench[\w.]+)\.(plot_\w+)")


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


def package_of(call: ast.Call) -> str:
    """Return the package in which a ``Drawing`` looks for its figure."""
    given = {one.arg: one.value for one in call.keywords}
    return ast.literal_eval(given["package"]) if "package" in given else "workbench.plotting"


def test_figures_are_named_and_imported_where_a_package_offers_them() -> None:
    """In results, docstrings and generated code, which users copy; our own imports may be short."""
    offered = {
        (module_of(path), name) for path in PACKAGES for name in exported(trees()[ROOT / path])
    }
    texts, drawings = [], []
    for path, tree in trees_of("workbench").items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.append((path, node.value))
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                drawings += [(path, node)] if node.func.id == "Drawing" else []
    matches = [(path, found) for path, text in texts for found in PLOTTED.findall(text)]
    named = [(path, found[:2] if found[0] else found[2:]) for path, found in matches]
    drawn = [(path, (package_of(call), ast.literal_eval(call.args[0]))) for path, call in drawings]
    assert len(named) >= 1
    assert len(drawn) >= 8
    assert [(str(path), one) for path, one in named + drawn if one not in offered] == []


def public_types(tree: ast.Module) -> Iterator[str]:
    """Yield the public classes of a module, and its public names for other types."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name[0].isupper() and not name.isupper():
                yield name


def test_no_two_types_share_a_name() -> None:
    places = defaultdict(list)
    for path, tree in trees_of("workbench").items():
        for name in public_types(tree):
            if not name.startswith("_"):
                places[name].append(str(path.relative_to(ROOT)))
    assert len(places) > 600
    assert {name: where for name, where in places.items() if len(where) > 1} == {}
