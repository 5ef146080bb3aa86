"""Rules between parameters as text, such as ``segment_bytes <= size and fanout * 2 < ranks``.

A small part of Python's expressions, read into a tree and worked out by hand: names of parameters,
numbers, texts, comparisons, ``and or not in``, ``+ - * / // %``, ``min max abs``. No attribute, no
index, no other call; a rule in a file can name nothing but parameters.
"""

from __future__ import annotations

import ast
import copy
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.errors import ParameterError

Value = bool | int | float | str
"""A value of a parameter; ``None`` beside it means that the parameter is not passed."""

Configuration = Mapping[str, Value | None]
"""A value for each parameter by name; ``None`` where the parameter is not passed."""

_LONGEST = 1000  # chosen: characters; those of the shipped components have 34 at most
_DEEPEST = 40  # chosen: shipped rules have 3 levels; Python's own limit is 1000 calls

_ARITHMETIC: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_UNARY: dict[type[ast.AST], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
}
_COMPARISONS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda item, items: item in items,
    ast.NotIn: lambda item, items: item not in items,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {"min": min, "max": max, "abs": abs}
_SYNTAX = (
    "names of parameters, numbers, texts, lists, + - * / // %, comparisons, and or not in, "
    f"{' '.join(_FUNCTIONS)}; a name with other characters stands between backquotes"
)

# A name between backquotes, or a text in quotes, within which a backquote is only a character, or a
# bare name. Python reads some bare names as others: the micro sign of delay_µs as a Greek letter.
_QUOTED = re.compile(r"`([^`]*)`|\"[^\"]*\"|'[^']*'|[^\W\d][\w\u0300-\u036f]*")


@dataclass(frozen=True)
class Expression:
    """A rule between parameters."""

    text: str  # as written; names that Python cannot have in backquotes
    names: tuple[str, ...] = field(init=False, compare=False)  # of its parameters, as they appear
    _tree: ast.expr = field(init=False, repr=False, compare=False)
    _quoted: Mapping[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or not self.text.strip():
            raise ParameterError(f"a rule must be an expression in a text; got {self.text!r}")
        if len(self.text) > _LONGEST:
            raise ParameterError(
                f"a rule must have at most {_LONGEST} characters; got {len(self.text)}"
            )
        quoted: dict[str, str] = {}

        def placeholder(match: re.Match[str]) -> str:
            if match[1] is None and (match[0].isascii() or match[0][0] in "\"'"):
                return match[0]
            word = f"_quoted_{len(quoted)}_"
            quoted[word] = match[0] if match[1] is None else match[1]
            return word

        source = _QUOTED.sub(placeholder, self.text).strip()
        try:
            tree = ast.parse(source, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            reason = error.msg if isinstance(error, SyntaxError) else str(error)
            raise ParameterError(
                f"a rule must be an expression of {_SYNTAX}; {self.text!r} is not: {reason}"
            ) from error
        names: dict[str, None] = {}
        self._check(tree, 0, quoted, names)
        for attribute, value in (("names", tuple(names)), ("_tree", tree), ("_quoted", quoted)):
            object.__setattr__(self, attribute, value)

    def applies(self, values: Configuration) -> bool:
        """Return whether every parameter of the rule is passed: neither missing nor None."""
        return all(values.get(name) is not None for name in self.names)

    def value(self, values: Configuration) -> Any:
        """Return the value of the expression; every parameter in it must have one."""
        for name in self.names:
            if values.get(name) is None:
                raise ParameterError(
                    f"the rule {self.text} needs a value of {name}, which is not passed", key=name
                )
        try:
            return self._value(self._tree, values)
        except (TypeError, ArithmeticError, ValueError) as error:
            given = ", ".join(f"{name}={values[name]!r}" for name in self.names)
            raise ParameterError(
                f"the rule {self.text} must be computable; with {given}: {error}",
                key=self.names[0] if self.names else "",
            ) from error

    def holds(self, values: Configuration) -> bool:
        """Return whether the rule is true; False if a parameter of it is not passed."""
        return self.applies(values) and bool(self.value(values))

    def given(self, values: Configuration) -> Expression:
        """Return the rule with some parameters replaced by their values."""

        class Replace(ast.NodeTransformer):
            def visit_Name(this, node: ast.Name) -> ast.expr:
                name = self._quoted.get(node.id, node.id)
                value = values.get(name)
                if node.id in _FUNCTIONS or value is None:
                    return node
                return ast.Constant(value)

        if not any(values.get(name) is not None for name in self.names):
            return self
        text = ast.unparse(Replace().visit(copy.deepcopy(self._tree)))
        for word, name in self._quoted.items():
            text = text.replace(word, f"`{name}`")
        return Expression(text)

    def _check(
        self, node: ast.AST, depth: int, quoted: Mapping[str, str], names: dict[str, None]
    ) -> None:
        """Raise on a node that is not in the list of what may be used."""
        if depth > _DEEPEST:
            raise ParameterError(
                f"a rule must be nested at most {_DEEPEST} deep; split {self.text[:60]!r} in two"
            )
        inner: list[ast.AST]
        match node:
            case ast.Name():
                names[quoted.get(node.id, node.id)] = None
                inner = []
            case ast.Constant(value=bool() | int() | float() | str()):
                inner = []
            case ast.BoolOp():
                inner = [*node.values]
            case ast.BinOp() if type(node.op) in _ARITHMETIC:
                inner = [node.left, node.right]
            case ast.UnaryOp() if type(node.op) in _UNARY:
                inner = [node.operand]
            case ast.Compare() if all(type(op) in _COMPARISONS for op in node.ops):
                inner = [node.left, *node.comparators]
            case ast.List() | ast.Tuple() | ast.Set():
                inner = [*node.elts]
            case ast.Call(func=ast.Name(id=name), keywords=[]) if name in _FUNCTIONS and node.args:
                inner = [*node.args]
            case _:
                raise ParameterError(
                    f"a rule must be an expression of {_SYNTAX}; "
                    f"{self.text!r} has {type(node).__name__} in it"
                )
        for each in inner:
            self._check(each, depth + 1, quoted, names)

    def _value(self, node: ast.AST, values: Configuration) -> Any:
        match node:
            case ast.Name():
                return values[self._quoted.get(node.id, node.id)]
            case ast.Constant():
                return node.value
            case ast.BoolOp(op=ast.And()):
                return all(self._value(each, values) for each in node.values)
            case ast.BoolOp():
                return any(self._value(each, values) for each in node.values)
            case ast.BinOp():
                left, right = self._value(node.left, values), self._value(node.right, values)
                # A text times a large number would fill the memory.
                if not (_is_number(left) and _is_number(right)):
                    raise TypeError(f"{left!r} and {right!r} must be numbers to be combined")
                return _ARITHMETIC[type(node.op)](left, right)
            case ast.UnaryOp():
                return _UNARY[type(node.op)](self._value(node.operand, values))
            case ast.Compare():
                left = self._value(node.left, values)
                for op, each in zip(node.ops, node.comparators, strict=True):
                    right = self._value(each, values)
                    if not _COMPARISONS[type(op)](left, right):
                        return False
                    left = right
                return True
            case ast.List() | ast.Tuple() | ast.Set():
                return [self._value(each, values) for each in node.elts]
            case ast.Call(func=ast.Name(id=name)):
                return _FUNCTIONS[name](*(self._value(each, values) for each in node.args))
            case _:
                raise TypeError(type(node).__name__)


def parents_first(names: Iterable[str], conditions: Mapping[str, Expression]) -> tuple[str, ...]:
    """Return names, each after those in its condition, otherwise in their order."""
    waiting = list(names)
    known = set(waiting)
    order: list[str] = []
    while waiting:
        for name in waiting:
            parents = conditions[name].names if name in conditions else ()
            if all(parent in order for parent in parents if parent in known):
                break
        else:
            raise ParameterError(
                "the conditions must not form a cycle; "
                f"{' and '.join(waiting)} depend on one another or on themselves",
                key=waiting[0],
            )
        order.append(name)
        waiting.remove(name)
    return tuple(order)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)
