"""What compiling kernels costs: processor seconds of each file and of each function in it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numba.core import event

ROOT = Path(__file__).resolve().parents[1]
NUMBA = "numba's own functions"


@dataclass(frozen=True)
class Compiled:
    """One function that was compiled for one set of types, and the processor seconds it took."""

    file: str  # from the project's folder on
    name: str
    own_s: float  # without the functions that it calls
    llvm_s: float  # of these in LLVM: optimising, linking, machine code
    total_s: float  # with the functions that were first compiled for it


class _Recorder(event.Listener):  # type: ignore[misc]
    """Measures what numba compiles while it is registered; a call's function within its caller."""

    def __init__(self) -> None:
        self.compiled: list[Compiled] = []
        self._running: list[_Clock] = []
        self._llvm_began: list[float] = []

    def on_start(self, event: Any) -> None:
        if event.kind == "numba:llvm_lock":
            self._llvm_began.append(time.thread_time())
        else:
            self._running.append(_Clock(time.thread_time()))

    def on_end(self, event: Any) -> None:
        if event.kind == "numba:llvm_lock":
            seconds = time.thread_time() - self._llvm_began.pop()
            if self._running and not self._llvm_began:
                self._running[-1].llvm_s += seconds
            return
        clock = self._running.pop()
        total_s = time.thread_time() - clock.began
        if self._running:
            self._running[-1].called_s += total_s
        function = event.data["dispatcher"].py_func
        path = Path(function.__code__.co_filename)
        file = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT / "kernels") else NUMBA
        name = function.__qualname__
        own_s = total_s - clock.called_s
        self.compiled.append(Compiled(file, name, own_s, clock.llvm_s, total_s))


@dataclass
class _Clock:
    """Of a function that is being compiled: when it began, and what is not its own."""

    began: float
    called_s: float = 0.0
    llvm_s: float = 0.0


@contextmanager
def recorded() -> Iterator[list[Compiled]]:
    """Record what this thread compiles meanwhile; what comes from the cache is not compiled."""
    recorder = _Recorder()
    with ExitStack() as stack:
        for kind in ("numba:compile", "numba:llvm_lock"):
            stack.enter_context(event.install_listener(kind, recorder))
        yield recorder.compiled


def report(compiled: Iterable[Compiled]) -> str:
    """Return a table of the files and one of the kernels, dearest first."""
    compiled = list(compiled)
    files: dict[str, list[Compiled]] = {}
    for each in compiled:
        files.setdefault(each.file, []).append(each)
    lines = [f"{'own s':>8}{'LLVM s':>8}{'compiled':>10}{'functions':>11}  file"]
    for file, parts in sorted(files.items(), key=lambda item: -sum(p.own_s for p in item[1])):
        lines.append(
            f"{sum(p.own_s for p in parts):8.2f}{sum(p.llvm_s for p in parts):8.2f}"
            f"{len(parts):10d}{len({p.name for p in parts}):11d}  {file}"
        )
    lines += ["", f"{'total s':>8}{'own s':>8}{'LLVM s':>8}  function"]
    for each in sorted(compiled, key=lambda part: -part.total_s):
        if each.file != NUMBA:
            lines.append(
                f"{each.total_s:8.2f}{each.own_s:8.2f}{each.llvm_s:8.2f}  {each.file}: {each.name}"
            )
    own_s, llvm_s = sum(p.own_s for p in compiled), sum(p.llvm_s for p in compiled)
    lines.append(f"\n{own_s:.1f} s for {len(compiled)} functions, {llvm_s:.1f} s of it in LLVM")
    return "\n".join(lines)
