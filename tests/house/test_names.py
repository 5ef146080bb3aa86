"""One name means one thing: no two public types of workbench share a name."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from tests.source_trees import ROOT, trees_of


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
