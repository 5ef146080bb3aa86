"""A named number has its reason: on its line, above it, or in a docstring below."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.source_trees import ROOT, trees

# Codes are named by a range; kernels have numbers of numpy's types.
NUMERIC_CALL = re.compile(r"range|np\.(u?int|float)\d+")


def numeric(node: ast.expr | None) -> bool:
    """Return whether an expression is a number, or holds numbers only."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float) and not isinstance(node.value, bool)
    if isinstance(node, ast.UnaryOp):
        return numeric(node.operand)
    if isinstance(node, ast.BinOp):
        return numeric(node.left) and numeric(node.right)
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return bool(node.elts) and all(map(numeric, node.elts))
    if isinstance(node, ast.Call):
        called = NUMERIC_CALL.fullmatch(ast.unparse(node.func))
        return called is not None and all(map(numeric, node.args))
    return isinstance(node, ast.Dict) and bool(node.values) and all(map(numeric, node.values))


def bare_numbers(tree: ast.Module, lines: list[str]) -> Iterator[int]:
    """Yield the lines of a module's named numbers that say no word about them."""
    for node, below in zip(tree.body, [*tree.body[1:], None], strict=True):
        if not isinstance(node, ast.Assign | ast.AnnAssign) or not numeric(node.value):
            continue
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if not isinstance(target, ast.Name | ast.Tuple):
            continue
        documented = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
        above, own = lines[node.lineno - 2], lines[node.lineno - 1 : node.end_lineno]
        if not (documented or above.lstrip().startswith("#") or any("#" in line for line in own)):
            yield node.lineno


def bare(text: str) -> list[int]:
    return list(bare_numbers(ast.parse(text), text.splitlines()))


def test_every_named_number_has_its_reason() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path, tree in trees().items()
        for line in bare_numbers(tree, path.read_text("utf-8").splitlines())
    ]
    assert found == []


def test_a_number_without_a_reason_is_found() -> None:
    assert bare("import math\nA = 3\n# why\nB = -2.5\nC = (1, 2)  # why\nD = {1: 2 * 3}") == [2, 6]
    assert bare('"""A module."""\n_A: int = 4\n"""Why."""\nB = True\nC = [A]\n') == []
    assert bare("import sys\nA, B = range(2)\nC = np.int64(-1)\nD = list(range(2))") == [2, 3]
