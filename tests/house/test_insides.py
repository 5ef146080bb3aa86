"""What is left of other projects' insides: their private names, and what is assigned to them.

Read from the source: a name that begins with an underscore belongs to whoever defines it, and what
nobody here defines is another project's. Their classes that ours are derived from are read too.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import json
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.source_trees import ROOT, one_process, trees

pytestmark = one_process

OURS = {"workbench", "kernels", "tests"}
LOOKED_AT = (
    ast.Import,
    ast.ImportFrom,
    ast.Attribute,
    ast.Name,
    ast.Call,
    ast.Constant,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
)
ALLOWED: dict[str, str] = {}
"""Findings that stay, each with the address of the public report of the bug that is its reason."""

INTERNAL = re.compile(r"(numba\.(core|np|cpython|misc|parfors)|llvmlite|optuna\.storages\._rdb)\b")
PRIVATE = re.compile(r"_(?!_)\w+")
# What documentation names: of named tuples, of os and sys, and IPython's ways to display an object.
DOCUMENTED = re.compile(
    r"_(exit|getframe|fields|replace|asdict|make|field_defaults|repr_\w+_|\w+_)"
)
PYTHON = re.compile(r"^\s*(from|import) ", re.MULTILINE)
SCRIPT = re.compile(r"=>|\bfunction\b|\bdocument\.|\bwindow\.|\bconst ")
SCRIPT_INSIDES = re.compile(
    r"\bprototype\b|\bgetPrototypeOf\b|__proto__|(?<!this)(?<!self)\._[a-z]\w*"
)


def cells() -> Iterator[tuple[Path, ast.Module]]:
    """Yield the code of each notebook."""
    for path in sorted((ROOT / "notebooks").rglob("*.ipynb")):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        yield path, ast.parse("\n".join(code))


@functools.cache
def sources() -> dict[Path, ast.Module]:
    """Return the trees of everything here that is Python."""
    tests = sorted((ROOT / "tests").rglob("*.py"))
    return {
        **trees(),
        **{path: ast.parse(path.read_text("utf-8")) for path in tests},
        **dict(cells()),
    }


def foreign(module: str) -> bool:
    """Return whether a module is neither ours nor Python's."""
    top = module.partition(".")[0]
    return bool(top) and top not in OURS and top not in sys.stdlib_module_names


def private(name: str) -> bool:
    return bool(PRIVATE.fullmatch(name)) and not DOCUMENTED.fullmatch(name)


def nodes(tree: ast.AST) -> list[ast.AST]:
    """Return the nodes of a file that are looked at: names, attributes, definitions, calls, texts."""
    return [node for node in ast.walk(tree) if isinstance(node, LOOKED_AT)]


def defined(found: list[ast.AST]) -> Iterator[str]:
    """Yield the names that a file defines: functions, classes, variables, attributes of self."""
    for node in found:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
                yield node.attr
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "__setattr__":
            yield ast.unparse(node.args[1]).strip("'")


def imported(found: list[ast.AST]) -> dict[str, str]:
    """Return what the imported names of a file stand for."""
    names: dict[str, str] = {}
    for node in found:
        if isinstance(node, ast.Import):
            names |= {a.asname or a.name.partition(".")[0]: a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    return names


def root_of(node: ast.AST) -> str:
    """Return the name that a chain of attributes begins with."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def insides(found: list[ast.AST], known: set[str]) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of what touches another project's insides.

    Args:
        found: nodes of a file.
        known: private names that are ours.
    """
    names = imported(found)
    for node in found:
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = getattr(node, "module", None)
            for alias in node.names:
                full = f"{module}.{alias.name}" if module else alias.name
                if foreign(full) and (INTERNAL.match(full) or any(map(private, full.split(".")))):
                    yield node.lineno, f"import {full}"
        elif isinstance(node, ast.Attribute):
            owner = names.get(root_of(node), "")
            assigned = isinstance(node.ctx, ast.Store | ast.Del) and foreign(owner)
            inside = owner == "numba" and INTERNAL.match(ast.unparse(node))
            if assigned or inside or (private(node.attr) and node.attr not in known):
                yield node.lineno, ast.unparse(node) + " =" * assigned
        elif isinstance(node, ast.Call) and node.args:
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in ("setattr", "delattr"):
                target = node.args[0]
                text = getattr(target, "value", "")
                owner = text if isinstance(text, str) else names.get(root_of(target), "")
                if foreign(owner or names.get(root_of(target), "")):
                    yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from of_text(node, known)


def of_text(node: ast.Constant, known: set[str]) -> Iterator[tuple[int, str]]:
    """Yield what a text of a file does, where it is a script or Python."""
    if SCRIPT.search(node.value):
        for found in SCRIPT_INSIDES.findall(node.value):
            yield node.lineno, f"script: {found}"
    elif PYTHON.search(node.value):
        try:
            found = nodes(ast.parse(textwrap.dedent(node.value)))
        except SyntaxError:
            return
        yield from ((node.lineno, text) for _, text in insides(found, {*known, *defined(found)}))


def of_bases() -> Iterator[str]:
    """Yield the private names of other projects' classes that a class of ours uses or overrides."""
    for path in trees():
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        if name.endswith("__main__"):
            continue
        for one in vars(importlib.import_module(name)).values():
            if not inspect.isclass(one) or one.__module__ != name:
                continue
            theirs = {
                name for base in one.__mro__ if foreign(base.__module__) for name in names_of(base)
            }
            for name_used in sorted(theirs & set(names_of(one))):
                yield f"{path.relative_to(ROOT)} {one.__qualname__}.{name_used}"


@functools.cache
def names_of(one: type) -> frozenset[str]:
    """Return the private names of a class: what it defines, and what it reads and sets of itself."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(one)))
    except (OSError, TypeError, SyntaxError):
        return frozenset(filter(private, vars(one)))
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("self", "cls", "super()")
    }
    return frozenset(filter(private, {*vars(one), *used}))


def scripts() -> Iterator[str]:
    """Yield what our scripts and templates touch."""
    for top in ("workbench", "tests", "binder"):
        for suffix in ("js", "html", "j2"):
            for path in sorted((ROOT / top).rglob(f"*.{suffix}")):
                for found in SCRIPT_INSIDES.findall(path.read_text("utf-8")):
                    yield f"{path.relative_to(ROOT)} script: {found}"


def findings() -> list[str]:
    """Return all that touches other projects' insides, each with its place."""
    files = {path: nodes(tree) for path, tree in sources().items() if path != Path(__file__)}
    known = {name for found in files.values() for name in defined(found) if private(name)}
    found = [
        f"{path.relative_to(ROOT)}:{line} {text}"
        for path, nodes in files.items()
        for line, text in insides(nodes, known)
    ]
    return [*found, *of_bases(), *scripts()]


def test_nothing_is_left_but_what_a_public_report_explains() -> None:
    found = findings()
    assert [one for one in found if one not in ALLOWED] == []
    assert ALLOWED.keys() <= set(found), "no longer needed"
    assert all(reason.startswith("https://") for reason in ALLOWED.values())
