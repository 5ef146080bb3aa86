"""Kernels that are copies of one process, which has loaded what they need; on Linux."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, ClassVar

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning.factory import KernelProvisionerFactory
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from workbench.errors import WorkshopError

_SERVER = "workbench.workshop.fork_server"
_LAUNCHER = ["-m", "ipykernel_launcher"]
_PATIENCE_S = 20.0


class ForkServer:
    """The process that forks kernels; see `workbench.workshop.fork_server`."""

    def __init__(self) -> None:
        self._socket, other = socket.socketpair()
        with other:
            words = ["-Xfrozen_modules=off", "-m", _SERVER, str(other.fileno())]
            self._process = subprocess.Popen(
                [sys.executable, *words],
                stdin=subprocess.DEVNULL,
                pass_fds=[other.fileno()],
                start_new_session=True,
                env=_environment(),
            )
        self._lines = self._socket.makefile("rw")

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def load(self) -> None:
        """Wait until all is loaded; raise a WorkshopError where copies would not run."""
        threads = self._answer()["threads"]
        if threads > 1:
            raise WorkshopError(f"a process that is forked must have one thread; it has {threads}")
        self._socket.settimeout(_PATIENCE_S)

    def fork(self, options: list[str], environment: Mapping[str, str], folder: str) -> ForkedKernel:
        """Fork a kernel.

        Args:
            options: of the kernel's command.
            environment: all its variables.
            folder: in which it runs.
        """
        wanted = {"options": options, "environment": dict(environment), "folder": folder}
        return ForkedKernel(self, self.ask(wanted)["kernel"])

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a request; raise a WorkshopError where there is none."""
        try:
            print(json.dumps(request), file=self._lines, flush=True)
        except OSError as error:
            raise WorkshopError(f"the process that forks kernels must run: {error}") from error
        return self._answer()

    def close(self) -> None:
        """End the process, and its kernels with it."""
        with contextlib.suppress(OSError):
            self._lines.close()
        self._socket.close()
        self._process.wait()

    def _answer(self) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = json.loads(self._lines.readline())
        except (OSError, ValueError) as error:
            raise WorkshopError(f"the process that forks kernels must answer: {error}") from error
        return answer


class ForkedKernel:
    """A forked kernel, with what Jupyter asks of a `subprocess.Popen`."""

    stdin = stdout = stderr = None

    def __init__(self, server: ForkServer, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._server = server

    def poll(self) -> int | None:
        """Return the exit status, None while it runs."""
        if self.returncode is None:
            try:
                self.returncode = self._server.ask({"wait": self.pid})["status"]
            except WorkshopError:  # kernels end with their server
                self.returncode = -signal.SIGKILL
        return self.returncode

    def wait(self) -> int | None:
        """Return the exit status of a kernel that has ended."""
        return self.poll()

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended; its number is no other's until it is waited for."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)


class ForkedProvisioner(LocalProvisioner):
    """Lets Jupyter fork kernels; one that cannot be forked is started by itself."""

    server: ClassVar[ForkServer | None] = None

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Start a kernel."""
        server, options = ForkedProvisioner.server, _options(cmd)
        if server is not None and options is not None:
            folder = str(kwargs.get("cwd") or Path.cwd())
            environment = {**kwargs["env"], "JPY_PARENT_PID": str(server.pid)}
            try:
                self.process: Any = server.fork(options, environment, folder)
            except WorkshopError as error:
                self.log.warning("Kernels start by themselves from now on: %s", error)
                ForkedProvisioner.server = None
            else:
                self.pid = self.pgid = self.process.pid
                self.cwd = folder
                return self.connection_info
        return await super().launch_kernel(cmd, **kwargs)


@contextlib.contextmanager
def forked_kernels() -> Iterator[ForkServer]:
    """Let this process fork its kernels inside of the block, after a few seconds of loading.

    Kernels whose command is not that of this Python's ipykernel are started as ever. Linear algebra
    of forked kernels has one thread.

    Raises:
        WorkshopError: kernels cannot be forked here.
    """
    if sys.platform != "linux":
        raise WorkshopError(f"kernels are forked on Linux only; this is {sys.platform}")
    factory, name = KernelProvisionerFactory.instance(), _SERVER
    before = factory.default_provisioner_name
    with contextlib.closing(ForkServer()) as server:
        server.load()
        entry = EntryPoint(name, f"{__name__}:{ForkedProvisioner.__name__}", factory.GROUP_NAME)
        factory.provisioners[name] = entry
        factory.default_provisioner_name, ForkedProvisioner.server = name, server
        try:
            yield server
        finally:
            factory.default_provisioner_name, ForkedProvisioner.server = before, None


def _options(command: list[str]) -> list[str] | None:
    """Return the options of an ipykernel of this Python, None for other commands."""
    python, *words = command
    own = Path(python).parent == Path(sys.executable).parent
    places = [n for n in range(len(words)) if words[n : n + 2] == _LAUNCHER]
    return words[places[0] + 2 :] if own and places else None


def _environment() -> dict[str, str]:
    """Return the environment of the server: ours, and what keeps libraries from having threads.

    They would not be in a copy. Kernels of a class have less than a processor each anyway.
    """
    quiet = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
    return {**os.environ, **quiet}
