"""One name means one thing: no two public types of workbench share a name."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def public_types(tree: ast.Module) -> Iterator[str]:
    """Yield the public classes of a module."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name


def test_no_two_public_classes_share_a_name() -> None:
    places = defaultdict(list)
    for path in sorted((ROOT / "workbench").rglob("*.py")):
        for name in public_types(ast.parse(path.read_text("utf-8"))):
            places[name].append(str(path.relative_to(ROOT)))
    assert len(places) > 300
    assert {name: where for name, where in places.items() if len(where) > 1} == {}
