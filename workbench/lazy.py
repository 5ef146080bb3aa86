"""Packages whose exported names are imported at their first use.

Such a package writes each import once, under ``if TYPE_CHECKING``, where type checkers and editors
read it; the functions made here read the same block when a name is first asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any


class _LazyPackage(ModuleType):
    """A package whose exported names are not hidden by sub-modules of the same names."""

    def __setattr__(self, name: str, value: object) -> None:
        known = isinstance(value, ModuleType) and name in getattr(self, "__all__", ())
        if not known or _imports(self.__name__)[name][0] == self.__name__:
            super().__setattr__(name, value)


def lazy_exports(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the module-level ``__getattr__`` and ``__dir__`` of a package with an ``__all__``."""
    module = sys.modules[package]
    module.__class__ = _LazyPackage

    def load(name: str) -> Any:
        if name not in module.__all__:
            from workbench.suggestions import did_you_mean

            raise AttributeError(
                f"{package} has no attribute {name!r}{did_you_mean(name, module.__all__)}; it has "
                f"{', '.join(sorted(module.__all__))}"
            )
        home, original = _imports(package)[name]
        if home == package:
            value = import_module(f"{package}.{original}")
        else:
            value = getattr(import_module(home), original)
        setattr(module, name, value)
        return value

    return load, lambda: sorted(module.__all__)


def origin_of(package: str, name: str) -> tuple[str, str]:
    """Return the module that defines an exported name of a package, and its name there."""
    while name in _imports(package):
        home, original = _imports(package)[name]
        if home == package:
            break
        import_module(home)
        package, name = home, original
    return package, name


@cache
def _imports(package: str) -> dict[str, tuple[str, str]]:
    """Return for each name imported in the package's file its module and its name there."""
    import ast
    import inspect

    return {
        alias.asname or alias.name: (node.module or "", alias.name)
        for node in ast.walk(ast.parse(inspect.getsource(sys.modules[package])))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
