"""Packages whose exported names are imported at their first use.

Such a package names what it exports once, as ``from package.module import name as name`` under
``if TYPE_CHECKING``, where type checkers and editors read it; what is made here reads the same
block when a name is first asked for.
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
        known = isinstance(value, ModuleType) and _imports(self.__name__).get(name)
        if not known or known[0] == self.__name__:
            super().__setattr__(name, value)


def lazy_exports(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the module-level ``__getattr__``, which has an ``__all__``, and ``__dir__``."""
    module = sys.modules[package]
    module.__class__ = _LazyPackage

    def load(name: str) -> Any:
        if name == "__all__":
            return exported()
        if name not in _imports(package):
            from workbench.suggestions import did_you_mean

            raise AttributeError(
                f"{package} has no attribute {name!r}{did_you_mean(name, exported())}; it has "
                f"{', '.join(exported())}"
            )
        home, original = _imports(package)[name]
        if home == package:
            value = import_module(f"{package}.{original}")
        else:
            value = getattr(import_module(home), original)
        setattr(module, name, value)
        return value

    def exported() -> list[str]:
        return sorted(_imports(package))

    return load, exported


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
    """Return for each name that the package's file exports its module and its name there."""
    import ast

    loader: Any = sys.modules[package].__loader__
    return {
        alias.asname: (node.module or "", alias.name)
        for node in ast.walk(ast.parse(loader.get_source(package)))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname
    }
