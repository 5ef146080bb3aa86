"""What every test stands on: a cache for the kernels, a closed world, and a browser."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from tests.cpu_times import CpuTimes

if TYPE_CHECKING:
    from workbench.tasks import Task

ROOT = Path(__file__).resolve().parents[1]


# Before anything imports numba. The processes that tests start inherit all of these.
os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # a kernel's debugger warns of frozen modules
os.environ["JUPYTER_PLATFORM_DIRS"] = "1"  # without it jupyter_core warns

# The first example compiles kernels, so time per example says nothing. The standard run draws the
# same few examples every time, fewer where kernels run as plain Python; `make deep` draws many
# others, from a seed that it prints.
settings.register_profile("workbench", deadline=None, derandomize=True, max_examples=12)
settings.register_profile(
    "deep", deadline=None, derandomize=False, database=None, max_examples=1000, print_blob=True
)
settings.register_profile("plain", deadline=None, derandomize=True, max_examples=3)
settings.load_profile("workbench")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cpu-times",
        type=int,
        metavar="N",
        help="print the processor time of the N files of tests that take the most",
    )


def pytest_configure(config: pytest.Config) -> None:
    if (most := config.getoption("--cpu-times")) is not None:
        config.pluginmanager.register(CpuTimes(most))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run notebooks first, which one process takes long for, and the browser's tests last.

    Playwright leaves an event loop running, and other tests start theirs.
    """
    items.sort(
        key=lambda item: (
            item.get_closest_marker("browser") is not None,
            item.get_closest_marker("notebook") is None,
        )
    )


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Keep the garbage collector from looking through thousands of tests again and again.

    It takes a third of the processor time of a collection, which every process makes. Between tests
    it looks less often than usual: a fit's panel takes 0.56 s instead of 0.75 s to make.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(100_000, 20, 10)
        gc.enable()


@pytest.fixture
def stopped() -> Task:
    """A task that was asked to stop before its work begins."""
    from workbench.tasks import Task

    task = Task()
    task.stop()
    return task


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the project."""
    return ROOT


@pytest.fixture(scope="session", autouse=True)
def _own_jupyter_folders(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep the user's own Jupyter settings, workspaces and profiles out of the tests."""
    base = tmp_path_factory.mktemp("jupyter")
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        os.environ[name] = str(base / name.lower())


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Launch the system's Chromium, to which no machine but this one can be found.

    In a container root may not use its sandbox.
    """
    from workbench.diagnosis import find_chromium

    path = find_chromium()
    if path is None:
        pytest.fail("no Chromium found: install one, or set WORKBENCH_CHROMIUM to its path")
    alone = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
    # Its emulated graphics card would take a fifth of the browser tests' time.
    drawing = ("--disable-gpu", "--disable-gpu-compositing", "--disable-software-rasterizer")
    arguments = [
        *browser_type_launch_args.get("args", []),
        "--disable-dev-shm-usage",
        *drawing,
        alone,
    ]
    if os.geteuid() == 0:
        arguments.append("--no-sandbox")
    return {**browser_type_launch_args, "executable_path": path, "args": arguments}
