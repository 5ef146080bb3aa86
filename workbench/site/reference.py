"""The pages of the reference: a page for each package, each exported name on one of them."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

import workbench
from workbench.lazy import origin_of

_LEFT_OUT = ("workbench.site", "workbench.cli")


@dataclass(frozen=True)
class Entry:
    """A name that a package exports, its object, and the module that defines it."""

    package: str
    name: str
    value: Any
    home: str

    @property
    def path(self) -> str:
        """Its name as it is imported from the package."""
        return f"{self.package}.{self.name}"


def entries() -> list[Entry]:
    """Return every exported name once, of the package that is nearest to where it is defined."""
    best: dict[tuple[str, str], Entry] = {}
    for package in _packages():
        for name in package.__all__:
            home, original = origin_of(package.__name__, name)
            entry = Entry(package.__name__, name, getattr(package, name), home)
            if isinstance(entry.value, ModuleType) or name.startswith("__"):
                continue
            known = best.get((home, original))
            if known is None or _shared(entry) > _shared(known):
                best[home, original] = entry
    return list(best.values())


def reference_pages(found: list[Entry]) -> dict[str, str]:
    """Return the pages in reStructuredText, by document name."""
    by_package: dict[str, list[Entry]] = {}
    for entry in found:
        by_package.setdefault(entry.package, []).append(entry)
    pages = {f"reference/{name}": _page(name, here) for name, here in by_package.items()}
    listed = "\n".join(f"   {name}" for name in sorted(by_package))
    index = (
        "Reference\n=========\n\nEvery name that a package exports, with its arguments, units and "
        f"errors.\n\n.. toctree::\n   :maxdepth: 1\n\n{listed}\n"
    )
    return {"reference/index": index, **pages}


def other_names(found: list[Entry]) -> dict[str, str]:
    """Return the paths of the documented names by the names that annotations use for them."""
    names: dict[str, str] = {}
    for entry in found:
        names[f"{entry.home}.{entry.name}"] = entry.path
        if inspect.isclass(entry.value):
            names[entry.name] = entry.path
            names[f"{entry.value.__module__}.{entry.value.__qualname__}"] = entry.path
    return names


def _packages() -> Iterator[Any]:
    yield workbench
    for info in pkgutil.walk_packages(workbench.__path__, "workbench."):
        if info.ispkg and not info.name.startswith(_LEFT_OUT):
            package = import_module(info.name)
            if getattr(package, "__all__", ()):
                yield package


def _shared(entry: Entry) -> int:
    """Return how many parts the names of an entry's package and of its home have in common."""
    parts, home = entry.package.split("."), f"{entry.home}.".split(".")
    return len(parts) if parts == home[: len(parts)] else 0


def _page(package: str, here: list[Entry]) -> str:
    lines = [package, "=" * len(package), "", f".. automodule:: {package}", ""]
    for title, kind in (("Types", "class"), ("Functions", "function"), ("Values", "data")):
        of_kind = [entry for entry in here if _kind(entry.value) == kind]
        if not of_kind:
            continue
        lines += [title, "-" * len(title), ""]
        for entry in sorted(of_kind, key=lambda one: one.name.lower()):
            path = f"{entry.home}.{entry.name}" if kind == "data" else entry.path
            lines += [f".. auto{kind}:: {path}"]
            lines += {"class": ["   :members:"], "data": ["   :no-value:"]}.get(kind, [])
            lines += [""]
    return "\n".join(lines) + "\n"


def _kind(value: Any) -> str:
    if inspect.isclass(value):
        return "class"
    return "function" if inspect.isroutine(value) else "data"
