"""The syntax trees of our own files, parsed once for all tests of a process that read them."""

from __future__ import annotations

import ast
import contextlib
import functools
import gc
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@functools.cache
def trees() -> dict[Path, ast.Module]:
    """Return the trees of workbench and kernels by path, in order; nobody may change them."""
    paths = sorted(path for top in ("workbench", "kernels") for path in (ROOT / top).rglob("*.py"))
    with uncollected():
        return {path: ast.parse(path.read_text("utf-8")) for path in paths}


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Keep the collector from looking for garbage among a million nodes: a third of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def trees_of(top: str) -> dict[Path, ast.Module]:
    """Return the trees of one of the two packages."""
    return {path: tree for path, tree in trees().items() if path.is_relative_to(ROOT / top)}


def exported(tree: ast.Module) -> set[str]:
    """Return the names that a package imports as themselves or that its ``__all__`` lists."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names |= {alias.asname for alias in node.names if alias.asname}
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            names |= set(ast.literal_eval(node.value))
    return names


def definitions(node: ast.AST) -> Iterator[Definition]:
    """Yield all functions and classes within a node; they are statements, so none hides in others.

    Expressions, which are nine nodes in ten, are not looked at.
    """
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            continue
        if isinstance(child, Definition):
            yield child
        yield from definitions(child)
