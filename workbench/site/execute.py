"""Notebooks executed for the site, and kept until something that they depend on changes."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from traitlets.config import Config

from workbench.atomic_write import replace_file
from workbench.site.kernel import LOADED

_BEFORE = "from workbench.site import kernel as _kernel\n_kernel.record()"
_AFTER = "_kernel.report_files({root!r})"
_CELL_S = 1200  # chosen: twice what tests allow a cell (600 s), as notebooks run beside each other


def executed(
    path: Path, root: Path, kept: Path, say: Callable[[str], None] = lambda _: None
) -> Any:
    """Return a notebook with the outputs of its cells, the kept ones if they still hold."""
    notebook = nbformat.read(path, as_version=4)
    target = kept / f"{path.stem}-{_key(notebook, root)}.json"
    held = json.loads(target.read_text("utf-8")) if target.exists() else None
    if held is None or not _unchanged(held["files"], root):
        say(f"executing {path.name}")
        held = _run(notebook, root)
        kept.mkdir(parents=True, exist_ok=True)
        for old in kept.glob(f"{path.stem}-*.json"):
            old.unlink()
        replace_file(target, json.dumps(held).encode())
    for cell, outputs in zip(_code(notebook), held["outputs"], strict=True):
        cell.outputs = [nbformat.from_dict(output) for output in outputs]
    return notebook


def _code(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _key(notebook: Any, root: Path) -> str:
    """Return the digest of a notebook's code, of the pinned packages and of the datasets."""
    code = json.dumps([cell.source for cell in _code(notebook)])
    digest = hashlib.sha256(code.encode())
    digest.update((root / "constraints.txt").read_bytes())
    digest.update(_datasets(root).encode())
    return digest.hexdigest()[:16]


@cache
def _datasets(root: Path) -> str:
    """Return the digest of the shipped datasets."""
    digest = hashlib.sha256()
    for data in sorted((root / "datasets").rglob("*")):
        if data.is_file():
            digest.update(data.relative_to(root).as_posix().encode())
            digest.update(hashlib.sha256(data.read_bytes()).digest())
    return digest.hexdigest()


def _unchanged(files: Mapping[str, str], root: Path) -> bool:
    """Return whether the files that a kernel has imported are as they were then."""
    return all(
        (root / name).is_file() and hashlib.sha256((root / name).read_bytes()).hexdigest() == digest
        for name, digest in files.items()
    )


def _run(notebook: Any, root: Path) -> dict[str, Any]:
    """Return the outputs of a notebook's cells, and the digests of the files that it imports.

    It runs in a kernel of its own and in an empty folder, which is removed.
    """
    code = [_BEFORE, *(cell.source for cell in _code(notebook)), _AFTER.format(root=str(root))]
    run = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in code])
    paths = [str(root), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    with tempfile.TemporaryDirectory() as scratch:
        # Ports are chosen before a kernel takes them, and others may take one meanwhile.
        address = {"transport": "ipc", "ip": str(Path(scratch) / "kernel")}
        work = Path(scratch) / "work"
        work.mkdir()
        client = NotebookClient(
            run,
            timeout=_CELL_S,
            resources={"metadata": {"path": str(work)}},
            config=Config({"KernelManager": address}),
        )
        client.execute(env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))})
    _, *outputs, last = [cell.outputs for cell in run.cells]
    (files,) = [output.data[LOADED] for output in last if LOADED in output.get("data", {})]
    return {"files": files, "outputs": outputs}
