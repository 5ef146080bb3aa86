"""Notebooks executed for the site, and kept until something that they depend on changes."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
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
_CELL_S = 1200


def executed(
    path: Path, root: Path, kept: Path, say: Callable[[str], None] = lambda _: None
) -> Any:
    """Return a notebook with the outputs of its cells, the kept ones if they still hold."""
    target = kept / f"{path.stem}-{_key(path, root)}.json"
    if target.exists():
        held = json.loads(target.read_text("utf-8"))
        if _unchanged(held["files"], root):
            return nbformat.from_dict(held["notebook"])
    say(f"executing {path.name}")
    notebook = _run(nbformat.read(path, as_version=4), root)
    files = _loaded(notebook.cells.pop())
    notebook.cells.pop(0)
    kept.mkdir(parents=True, exist_ok=True)
    for old in kept.glob(f"{path.stem}-*.json"):
        old.unlink()
    replace_file(target, json.dumps({"files": files, "notebook": notebook}).encode())
    return notebook


def _key(path: Path, root: Path) -> str:
    """Return the digest of a notebook, of the pinned packages and of the datasets."""
    digest = hashlib.sha256(path.read_bytes())
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


def _loaded(cell: Any) -> dict[str, str]:
    outputs: Iterable[Any] = cell.outputs
    found = [output.data[LOADED] for output in outputs if LOADED in output.get("data", {})]
    return dict(found[0])


def _run(notebook: Any, root: Path) -> Any:
    """Run a notebook in a kernel of its own and in an empty folder, which is removed."""
    notebook.cells.insert(0, nbformat.v4.new_code_cell(_BEFORE))
    notebook.cells.append(nbformat.v4.new_code_cell(_AFTER.format(root=str(root))))
    paths = [str(root), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    with tempfile.TemporaryDirectory() as scratch:
        # Ports are chosen before a kernel takes them, and others may take one meanwhile.
        address = {"transport": "ipc", "ip": str(Path(scratch) / "kernel")}
        work = Path(scratch) / "work"
        work.mkdir()
        client = NotebookClient(
            notebook,
            timeout=_CELL_S,
            resources={"metadata": {"path": str(work)}},
            config=Config({"KernelManager": address}),
        )
        return client.execute(
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
        )
