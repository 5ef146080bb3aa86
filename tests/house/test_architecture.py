"""The direction of knowledge: kernels ◀ workbench ◀ notebooks, and the layers inside workbench."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from graphlib import TopologicalSorter
from pathlib import Path

from tests.source_trees import ROOT, definitions, trees, trees_of

FLOOR = {
    "errors",
    "arrays",
    "units",
    "provenance",
    "blas",
    "tasks",
    "catalogue",
    "datasets",
    "jsonfile",
    "ini_grammar",
    "reading",
    "datapackage",
    "lazy",
    "warming",
    "named_options",
    "atomic_write",
    "suggestions",
    "checks",
    "parameters",
    "text_table",
    "yaml_text",
    "yaml_plan",
    "html_table",
    "facts",
    "host_lists",
    "result",
    "findings",
    "storage",
    "workers",
    "namespaces",
    "mpi",
}
NOUNS = {"models", "programs", "topology", "measure"}
SHARED_ANALYSES = {"simulate", "machines", "fit"}
ANALYSES = SHARED_ANALYSES | {
    "tolerance",
    "placement",
    "study",
    "tune",
    "uq",
    "predict",
    "variability",
    "validation",
}

# What each part of workbench may import besides itself. Three arrows point up on purpose:
# `datasets` hands out curves, and by name, in `workbench.result`, a result's `plot` reaches
# `plotting` and a fit's `posterior` reaches `uq`.
MAY_IMPORT = (
    dict.fromkeys(FLOOR, FLOOR)
    | {"datasets": FLOOR | {"measure"}, "shell": FLOOR}
    | dict.fromkeys(NOUNS, FLOOR)
    | dict.fromkeys(ANALYSES, FLOOR | NOUNS | SHARED_ANALYSES)
    | {"placement": FLOOR | NOUNS | SHARED_ANALYSES | {"tolerance"}}
    # A posterior is carried on to a program's tolerance of latency: in `workbench.uq.carry` only.
    | {"uq": FLOOR | NOUNS | SHARED_ANALYSES | {"tolerance"}}
    # Predictions from two nodes use the rounds of collectives that ``uq`` calibrates.
    | {"predict": FLOOR | NOUNS | SHARED_ANALYSES | {"uq"}}
    # What ran is held against predicted tolerances of latency and predicted collectives.
    | {"validation": FLOOR | NOUNS | SHARED_ANALYSES | {"tolerance", "predict"}}
    | {"plotting": FLOOR | NOUNS | ANALYSES}
    | {"papers": FLOOR | NOUNS | ANALYSES | {"plotting"}}
    | {"teaching": FLOOR | NOUNS | ANALYSES | {"plotting"}}
    | {"panels": FLOOR | NOUNS | ANALYSES | {"plotting", "papers", "teaching"}}
    | {"workshop": FLOOR | {"panels", "plotting"}}
    | {"site": FLOOR | NOUNS | {"plotting", "papers", "panels", "workshop"}}
    | {
        "warmup": NOUNS | SHARED_ANALYSES | {"warming", "plotting", "tolerance", "placement", "uq"},
        "diagnosis": FLOOR,
    }
)
LAYERS = {"figure": "plotting", "panel": "panels", "command": "cli", "claims": "papers"}
SHOWING = {"panels", "site"}  # widgets, and what they show without a kernel
ENTRANCES = {"__init__", "__main__", "cli"}  # they offer everything under one roof


def imports(tree: ast.AST, name: str, inside: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield every imported dotted name of a file and whether it is imported inside a function."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, inside) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            where = f"{name}, line {node.lineno}"
            assert node.level == 0, f"{where}: imports are absolute, so that the layers can be read"
            yield from ((f"{node.module}.{alias.name}", inside) for alias in node.names)
        elif not isinstance(node, ast.expr):
            function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from imports(node, name, inside or function)


def part_named(names: Sequence[str]) -> str:
    """Return the part of workbench that a dotted name belongs to: a sub-package or a module.

    A subject's folder holds its figures, panel, command and claims, each with the rights of the
    part that has those of other subjects.
    """
    kind = names[1].split("_")[0] if len(names) > 1 else ""
    return LAYERS.get(kind, names[0]) if names[0] in ANALYSES else names[0]


def part_of(path: Path) -> str:
    """Return the part of workbench that a file belongs to."""
    return part_named(path.relative_to(ROOT / "workbench").with_suffix("").parts)


PARTS = {part_of(path) for path in (ROOT / "workbench").rglob("*.py")}


def violations(path: Path) -> Iterator[str]:
    """Yield every import of a workbench file that the layers forbid."""
    part = part_of(path)
    for name, in_function in imports(trees()[path], str(path)):
        package, _, rest = name.partition(".")
        if package == "workbench" and part not in ENTRANCES:
            folder, target = rest.split(".")[0], part_named(rest.split("."))
            allowed = MAY_IMPORT[part] | {part}
            # A subject's own names are offered, lazily, from all of its files.
            offered = path == ROOT / "workbench" / folder / "__init__.py"
            if not offered and target in PARTS and target not in allowed:
                yield f"{part} may not import workbench.{target}"
        if package in ("ipywidgets", "anywidget", "IPython") and part not in SHOWING:
            yield f"only panels/ and site/ may import {package}, {part} does"
        if package == "bokeh" and not in_function and part not in {"plotting"} | SHOWING:
            yield f"only plotting/, panels/ and site/ may import bokeh at module level, {part} does"
        if package in ("tests", "notebooks"):
            yield f"{part} may not import {package}"


def test_every_part_of_workbench_keeps_to_its_layer() -> None:
    assert PARTS - MAY_IMPORT.keys() - ENTRANCES == set(), "say in MAY_IMPORT what it may import"
    files = trees_of("workbench")
    assert [(str(p.relative_to(ROOT)), v) for p in files for v in violations(p)] == []


def loaded(tree: ast.AST) -> Iterator[str]:
    """Yield the dotted names that a module imports as it is loaded, not those in functions."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif not isinstance(node, ast.expr):
            yield from loaded(node)


def graph_of_files() -> dict[str, set[str]]:
    """Return the modules of ours that each module of ours imports as it is loaded."""
    modules = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): tree
        for path, tree in trees().items()
    }
    graph: dict[str, set[str]] = {}
    for module, tree in modules.items():
        graph[module] = set()
        for name in loaded(tree):
            while name and name not in modules:
                name = name.rpartition(".")[0]
            if name and name != module:
                graph[module].add(name)
    return graph


def test_no_two_files_import_each_other_in_a_circle() -> None:
    graph = graph_of_files()
    assert len(graph) > 500
    assert len(list(TopologicalSorter(graph).static_order())) == len(graph)


def test_the_map_lists_the_parts_in_the_order_of_their_imports() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    rows = re.findall(r"^\| ((?:`\w+/?` ?)+)\|", text, re.M)
    order = {
        name: number for number, row in enumerate(rows) for name in re.findall(r"`(\w+)/?`", row)
    }
    assert PARTS - order.keys() == {"__init__", "__main__", "diagnosis", "warmup"}
    for module, imported in graph_of_files().items():
        part = part_named(module.split(".")[1:]) if "." in module else ""
        if part not in order or part in FLOOR:
            continue
        for name in imported:
            package, _, rest = name.partition(".")
            target = part_named(rest.split("."))
            if package == "workbench" and target in order:
                assert order[target] <= order[part], f"{part} imports {target}, listed below it"


def test_kernels_import_only_arrays_compiler_and_mathematics() -> None:
    # typing for named tuples, by which kernels take arrays that belong together.
    allowed = {"__future__", "kernels", "math", "numba", "numpy", "typing"}
    # How kernels are compiled and kept on disk is decided above the kernels themselves.
    for path, tree in trees_of("kernels").items():
        names = {name.split(".")[0] for name, _ in imports(tree, str(path))}
        compiles = path == ROOT / "kernels" / "__init__.py"
        extra = sys.stdlib_module_names | {"filelock"} if compiles else set()
        assert names - allowed - extra == set(), path


def test_every_kernel_is_cached_and_releases_the_gil() -> None:
    """Cached, or the first picture waits; without the GIL, or a slider waits for a running fit."""
    careless = []
    for path, tree in trees_of("kernels").items():
        for node in definitions(tree):
            for decorator in node.decorator_list:
                text = ast.unparse(decorator)
                if "jit" not in text and not text.startswith("kernel("):
                    continue
                if text in ("register_jitable", "kernel(cache=True, nogil=True)"):
                    continue
                careless.append(f"{path.name}:{node.lineno} {node.name} @{text}")
    assert careless == []


def test_the_reader_of_imports_sees_what_it_should() -> None:
    text = """
import a.b
from c import d
def f():
    from e.g import h
class K:
    try:
        import i
    except ImportError:
        def m(self):
            import j
"""
    found = {("a.b", False), ("c.d", False), ("e.g.h", True), ("i", False), ("j", True)}
    assert set(imports(ast.parse(text), "example.py")) == found
