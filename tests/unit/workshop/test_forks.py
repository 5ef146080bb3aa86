"""Kernels that are forked: as ordinary ones are, each by itself, and gone with their server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager

from workbench.errors import WorkshopError
from workbench.workshop import ForkServer, forked_kernels
from workbench.workshop.forks import ForkedKernel, ForkedProvisioner, _options

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux only"),
    pytest.mark.xdist_group("forks"),
]

PATIENCE_S = 60.0
OF_SHELL = {"TERM", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "PAGER", "GIT_PAGER"}


@dataclass(frozen=True)
class Kernel:
    manager: KernelManager
    client: BlockingKernelClient

    @property
    def process(self) -> Any:
        return self.manager.provisioner.process  # type: ignore[union-attr]

    def ask(self, expression: str) -> Any:
        """Return the value of an expression."""
        wanted = {"it": f"__import__('json').dumps({expression})"}
        answer = self.client.execute(
            "", user_expressions=wanted, reply=True, timeout=PATIENCE_S
        )["content"]["user_expressions"]["it"]  # fmt: skip
        assert answer["status"] == "ok", answer
        return json.loads(eval(answer["data"]["text/plain"]))  # the text of a str


Start = Callable[..., Kernel]


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    with forked_kernels() as server:
        yield server


@pytest.fixture
def start(
    server: ForkServer, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Start]:
    """Return a function that starts a kernel with further variables."""
    running: list[Kernel] = []

    def start(**environment: str) -> Kernel:
        file = tmp_path_factory.mktemp("kernel") / "it.json"
        manager = KernelManager(transport="ipc", connection_file=str(file))
        manager.start_kernel(cwd=str(tmp_path), env={**os.environ, **environment})
        client = manager.client()
        client.start_channels()
        running.append(Kernel(manager, client))
        client.wait_for_ready(PATIENCE_S)
        return running[-1]

    yield start
    for kernel in running:
        kernel.client.stop_channels()
        kernel.manager.shutdown_kernel(now=True)


def module(name: str) -> str:
    return f"__import__({name!r})"


OS, SYS = module("os"), module("sys")


def test_a_forked_kernel_is_as_one_that_is_started(
    start: Start, server: ForkServer, tmp_path: Path
) -> None:
    kernel = start(MARK="of this kernel")
    assert isinstance(kernel.process, ForkedKernel)
    assert kernel.ask(f"{OS}.getppid()") == server.pid
    own, ours = kernel.ask(f"dict({OS}.environ)"), dict(os.environ)
    assert own.pop("MARK") == "of this kernel"
    assert own.pop("JPY_PARENT_PID") == str(server.pid)
    assert {name: own.get(name) for name in ours.keys() - OF_SHELL} == {
        name: ours[name] for name in ours.keys() - OF_SHELL
    }
    assert not {"OPENBLAS_NUM_THREADS", "JE_ARROW_MALLOC_CONF"} & (own.keys() - ours.keys())
    assert kernel.ask(f"{OS}.getcwd()") == str(tmp_path)
    assert kernel.ask(f"{OS}.getsid(0) == {OS}.getpid()")
    assert kernel.ask(f"{OS}.read(0, 1).hex()") == ""
    places = subprocess.check_output(
        [sys.executable, "-c", "import json, sys; print(json.dumps(sys.path[1:]))"]
    )
    assert [place for place in kernel.ask(f"{SYS}.path") if place] == json.loads(places)
    assert kernel.ask(f"'' in {SYS}.path")
    assert kernel.ask(f"type({SYS}.stdout).__module__") == "ipykernel.iostream"
    assert kernel.ask("'jupyter.widget' in get_ipython().kernel.comm_manager.targets")
    assert kernel.ask(f"len({module('ipywidgets')}.Widget.widgets)") == 0
    assert kernel.ask(f"{module('gc')}.isenabled()")


def test_each_kernel_draws_its_own_numbers(start: Start) -> None:
    first, second = start(), start()
    for drawn in (
        f"{module('random')}.random()",
        f"{module('numpy')}.random.random()",
        f"{module('numpy')}.random.default_rng().random()",
    ):
        assert first.ask(drawn) != second.ask(drawn)


def test_a_kernel_is_interrupted_and_ended(start: Start, tmp_path: Path) -> None:
    kernel = start()
    work = f"{module('pathlib')}.Path('asleep').touch(); {module('time')}.sleep(600)"
    kernel.client.execute(work, stop_on_error=False)
    while not (tmp_path / "asleep").exists():
        time.sleep(0.02)
    kernel.manager.interrupt_kernel()
    interrupted = kernel.client.get_shell_msg(timeout=PATIENCE_S)["content"]
    assert interrupted["ename"] == "KeyboardInterrupt"
    assert kernel.ask("1 + 1") == 2
    process = kernel.process
    kernel.manager.shutdown_kernel()
    assert process.returncode == 0
    assert not psutil.pid_exists(process.pid)


def test_the_crash_of_one_leaves_the_others(start: Start, server: ForkServer) -> None:
    crashed, other = start(), start()
    crashed.client.execute(f"{OS}.abort()")
    end = time.monotonic() + PATIENCE_S
    while crashed.manager.is_alive():
        assert time.monotonic() < end
        time.sleep(0.02)
    assert crashed.process.returncode == -signal.SIGABRT
    assert other.ask("1 + 1") == 2
    assert psutil.Process(server.pid).num_threads() == 1
    assert start().ask("2 + 2") == 4


def test_kernels_end_with_their_server_and_others_start_by_themselves(
    start: Start, server: ForkServer, capfd: pytest.CaptureFixture[str]
) -> None:
    """The last of this file, as it kills the server that all use."""
    first, second = start(), start()
    kernels = [psutil.Process(one.process.pid) for one in (first, second)]
    os.kill(server.pid, signal.SIGKILL)
    assert psutil.wait_procs(kernels, timeout=PATIENCE_S)[1] == []
    assert not first.manager.is_alive()
    assert first.process.returncode == -signal.SIGKILL
    with pytest.raises(WorkshopError, match="the process that forks kernels must"):
        server.fork([], {}, "")
    alone = start()
    assert not isinstance(alone.process, ForkedKernel)
    assert ForkedProvisioner.server is None
    assert alone.ask("1 + 1") == 2


def test_only_kernels_of_this_python_are_forked() -> None:
    kernel = ["-Xfrozen_modules=off", "-m", "ipykernel_launcher", "-f", "a file"]
    assert _options([sys.executable, *kernel]) == ["-f", "a file"]
    assert _options(["/elsewhere/python", *kernel]) is None
    assert _options([sys.executable, "-m", "another_kernel", "-f", "a file"]) is None


def test_elsewhere_kernels_are_not_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with (
        pytest.raises(WorkshopError, match="on Linux only; this is darwin"),
        forked_kernels(),
    ):
        pass
