"""What this installation is made of, and what is wrong with it if anything is.

``workbench.doctor()`` prints it; ``diagnose()`` only returns it. The module is not called
``doctor`` because importing a module of that name would hide the function behind it.
"""

from __future__ import annotations

import dataclasses
import html
import json
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.result import StoredResult

if TYPE_CHECKING:
    import pandas as pd

DISTRIBUTION = "interconnect-workbench"
REINSTALL = "run `make clean` and `make lab`"

# The browser-side half of a Python package: extension folder, package whose release must match.
_EXTENSIONS = {
    "@jupyter-widgets/jupyterlab-manager": "jupyterlab-widgets",
    "anywidget": "anywidget",
}

_CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_CHROMIUM_MACOS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)


@dataclass(frozen=True)
class InstallationCheck:
    """One check of the installation.

    Attributes:
        group: heading that it belongs under, such as ``numba``.
        name: of the thing.
        value: what was found, as text.
        problem: what is wrong with it; empty if nothing is.
        fix: remedy for the problem; empty if there is none.
    """

    group: str
    name: str
    value: str
    problem: str = ""
    fix: str = ""


@dataclass(frozen=True)
class Diagnosis(StoredResult):
    """All checks of an installation.

    Attributes:
        checks: in the order in which they are printed.
    """

    checks: tuple[InstallationCheck, ...]

    @property
    def problems(self) -> tuple[InstallationCheck, ...]:
        """The checks that found a problem."""
        return tuple(check for check in self.checks if check.problem)

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    @property
    def verdict(self) -> str:
        """One sentence: all is well, or the number of problems."""
        count = len(self.problems)
        if not count:
            return "Everything the workbench needs is in place."
        return f"{count} problem{'s' if count > 1 else ''} found; each is named with its repair."

    def to_frame(self) -> pd.DataFrame:
        """Return one row a check: group, name, value, problem, fix."""
        import pandas as pd

        return pd.DataFrame([dataclasses.asdict(check) for check in self.checks])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        groups: dict[str, dict[str, str]] = {}
        for check in self.checks:
            groups.setdefault(check.group, {})[check.name] = check.value
        problems = [
            {"about": f"{p.group}: {p.name}", "problem": p.problem, "fix": p.fix}
            for p in self.problems
        ]
        return {"ok": self.ok, "problems": problems, "checks": groups}

    def to_text(self) -> str:
        """Return the checks under their headings, then the problems, as plain text."""
        width = max((len(check.name) for check in self.checks), default=0)
        lines: list[str] = []
        group = None
        for check in self.checks:
            if check.group != group:
                group = check.group
                lines += ["", group] if lines else [group]
            mark = "!" if check.problem else " "
            lines.append(f"{mark} {check.name:<{width}}  {check.value}")
        lines += ["", self.verdict]
        for number, problem in enumerate(self.problems, start=1):
            lines.append(f"{number}. {problem.group}, {problem.name}: {problem.problem}")
            lines.append(f"   {problem.fix}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        names = ", ".join(f"{problem.group}: {problem.name}" for problem in self.problems)
        return f"Diagnosis({'ok' if self.ok else 'problems with ' + names})"

    def _repr_html_(self) -> str:
        items = "".join(
            f"<li><b>{html.escape(p.group)}, {html.escape(p.name)}</b>: {html.escape(p.problem)}"
            f"<br>{html.escape(p.fix)}</li>"
            for p in self.problems
        )
        return f"<p>{html.escape(self.verdict)}</p>" + (f"<ol>{items}</ol>" if items else "")


def doctor() -> Diagnosis:
    """Print the checks of this installation, with their problems, and return them."""
    diagnosis = diagnose()
    print(diagnosis.to_text())
    return diagnosis


def diagnose() -> Diagnosis:
    """Return the checks of this installation; a probe that fails is reported as a check."""
    checks: list[InstallationCheck] = []
    probes: tuple[tuple[str, Callable[[], Iterator[InstallationCheck]]], ...] = (
        ("versions", _versions),
        ("numba", _numba),
        ("notebook", _extensions),
        ("notebook", _bokeh),
        ("data", _datasets),
        ("MPI", _mpi),
        ("tests", _chromium),
    )
    for group, probe in probes:
        try:
            checks.extend(probe())
        except Exception as error:
            checks.append(
                InstallationCheck(
                    group,
                    probe.__name__.lstrip("_"),
                    "could not be checked",
                    problem=f"the check ended with {type(error).__name__}: {error}",
                    fix=REINSTALL,
                )
            )
    return Diagnosis(tuple(checks))


def find_chromium() -> str | None:
    """Return the path of Chromium or Chrome, ``WORKBENCH_CHROMIUM`` first, or None."""
    chosen = os.environ.get("WORKBENCH_CHROMIUM", "")
    for name in (chosen, *_CHROMIUM_NAMES, *_CHROMIUM_MACOS):
        if name and (path := shutil.which(name)):
            return path
    return None


def _versions() -> Iterator[InstallationCheck]:
    from packaging.requirements import Requirement

    import workbench

    version = platform.python_version()
    supported = (3, 11) <= sys.version_info[:2] <= (3, 13)
    yield InstallationCheck(
        "versions",
        "Python",
        f"{version} ({sys.executable})",
        problem="" if supported else f"Python must be 3.11, 3.12 or 3.13; this is {version}",
        fix="" if supported else "run `make clean`, then `make lab PYTHON=/path/to/python3.12`",
    )
    yield InstallationCheck(
        "versions", "system", f"{platform.platform()}, {os.cpu_count()} processors"
    )
    yield InstallationCheck(
        "versions", "workbench", f"{workbench.__version__} ({Path(__file__).parent})"
    )
    try:
        requirements = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        yield InstallationCheck(
            "versions",
            DISTRIBUTION,
            "not installed",
            problem="the workbench is imported from a folder, not installed, so what it needs is"
            " not known",
            fix="run `make lab`, or `pip install --editable .` in the project's folder",
        )
        return
    for text in requirements:
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield _version(requirement.name, str(requirement.specifier))


def _version(name: str, specifier: str) -> InstallationCheck:
    from packaging.specifiers import SpecifierSet

    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return InstallationCheck(
            "versions", name, "missing", f"{name}{specifier} must be installed", REINSTALL
        )
    if SpecifierSet(specifier).contains(version, prereleases=True):
        return InstallationCheck("versions", name, version)
    problem = f"must be {name}{specifier}, is {version}"
    return InstallationCheck("versions", name, version, problem, REINSTALL)


def _numba() -> Iterator[InstallationCheck]:
    import numba

    # Asking for the number of threads starts the threads, which is when numba chooses a layer.
    threads = numba.get_num_threads()
    layer = numba.threading_layer()
    yield InstallationCheck("numba", "threading layer", f"{layer}, {threads} threads")
    yield InstallationCheck("numba", "compiles for", numba.config.CPU_NAME or "this processor")
    if numba.config.DISABLE_JIT:
        yield InstallationCheck(
            "numba",
            "compilation",
            "off",
            problem="NUMBA_DISABLE_JIT is set: kernels run as plain Python and take far longer",
            fix="unset NUMBA_DISABLE_JIT and start Python again",
        )
        return
    yield _numba_cache()


def _numba_cache() -> InstallationCheck:
    from kernels import cache_folder

    folder = cache_folder()
    if folder is None:
        return InstallationCheck(
            "numba",
            "cache",
            "none",
            problem="no folder for compiled kernels can be written: every process compiles anew",
            fix="set NUMBA_CACHE_DIR to a folder that can be written",
        )
    compiled = len(list(folder.parent.rglob("*.nbi")))
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    value = f"{folder} ({compiled} kernels compiled)"
    if os.access(existing, os.W_OK):
        return InstallationCheck("numba", "cache", value)
    return InstallationCheck(
        "numba",
        "cache",
        value,
        problem=f"{existing} cannot be written, so kernels are compiled anew in every process",
        fix="set NUMBA_CACHE_DIR to a folder that can be written",
    )


def _extensions(folders: Sequence[Path] = ()) -> Iterator[InstallationCheck]:
    from jupyter_core.paths import jupyter_path

    folders = folders or [Path(path) for path in jupyter_path("labextensions")]
    for name, package in _EXTENSIONS.items():
        found = next((path for path in folders if (path / name / "package.json").is_file()), None)
        if found is None:
            problem = f"no labextensions/{name} in {folders[0]} or Jupyter's other folders"
            yield InstallationCheck("notebook", name, "missing", problem, REINSTALL)
            continue
        version = json.loads((found / name / "package.json").read_text("utf-8"))["version"]
        value = f"{version} ({found / name})"
        if found.is_relative_to(sys.prefix):
            yield InstallationCheck("notebook", name, value)
            continue
        yield InstallationCheck(
            "notebook",
            name,
            value,
            problem=f"comes from {found}, not from this environment, so it may not match"
            f" {package} {metadata.version(package)} here",
            fix=f"{REINSTALL}; if it stays, remove {found / name}",
        )


def _bokeh() -> Iterator[InstallationCheck]:
    import bokeh
    from bokeh.resources import INLINE
    from bokeh.settings import settings
    from bokeh.util.paths import bokehjs_path

    script = Path(bokehjs_path()) / "js" / "bokeh.min.js"
    default = settings.resources(default="cdn")
    value = f"{bokeh.__version__}, resources {INLINE.mode} (Bokeh's own default here: {default})"
    if script.is_file():
        yield InstallationCheck("notebook", "BokehJS", value)
    else:
        yield InstallationCheck("notebook", "BokehJS", value, f"{script} is missing", REINSTALL)


def _datasets() -> Iterator[InstallationCheck]:
    from workbench import datasets

    names = tuple(datasets.list())
    if not names:
        yield InstallationCheck("data", "datasets", "none", "no dataset is found", REINSTALL)
    for name in names:
        try:
            curve = datasets.load(name)
        except Exception as error:
            fix = f"restore datasets/{name} from the repository, or install the workbench again"
            yield InstallationCheck("data", name, "damaged", str(error), fix)
        else:
            yield InstallationCheck("data", name, f"{len(curve.sizes)} sizes, checksums match")


def _mpi() -> Iterator[InstallationCheck]:
    launcher = shutil.which("mpirun") or shutil.which("mpiexec")
    yield InstallationCheck("MPI", "launcher", launcher or "none found (only recordings need one)")
    compiler = shutil.which("mpicc")
    yield InstallationCheck("MPI", "compiler", compiler or "none found (only recordings need one)")
    try:
        value = metadata.version("mpi4py")
    except metadata.PackageNotFoundError:
        value = "not in this Python (times collectives where no compiler works)"
    yield InstallationCheck("MPI", "mpi4py", value)


def _chromium() -> Iterator[InstallationCheck]:
    path = find_chromium()
    yield InstallationCheck(
        "tests", "Chromium", path or "none found (only the browser tests need one)"
    )
