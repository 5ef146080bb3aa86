"""The process that forks kernels: ``python -m workbench.workshop.fork_server SOCKET``.

It loads what notebooks need, and each kernel is a copy of it, which begins at once and shares the
memory of what was loaded. It has one thread, no event loop and no ZeroMQ context: a copy could use
none of them. `workbench.workshop.forks` holds the other end of its socket; when that is closed, in
whatever way, this process ends, and its kernels with it.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__" and Path(sys.path[0]) == Path.cwd():
    del sys.path[0]  # as `ipykernel_launcher` does: files of that folder are no modules

import contextlib
import ctypes
import gc
import json
import os
import signal
import socket
from importlib import import_module
from typing import Any

_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl

# What a kernel imports when it starts, and when it waits for a page.
_OF_KERNELS = (
    "IPython.core.completerlib",
    "IPython.core.debugger",
    "IPython.extensions.storemagic",
    "ipykernel.debugger",
    "ipykernel.kernelapp",
    "tornado.platform.asyncio",
    "voila.utils",
    "websockets",
)


def main() -> None:
    """Fork kernels until the socket is closed; a copy runs its kernel."""
    _end_with(os.getppid())  # while it loads, it does not look at the socket
    with socket.socket(fileno=int(sys.argv[1])) as channel:
        wanted = _serve(channel)
    if wanted is not None:
        _run_kernel(wanted)


def _serve(channel: socket.socket) -> dict[str, Any] | None:
    """Fork a kernel for each request, until the socket closes; in the copy, return the request."""
    _load()
    server, lines = os.getpid(), channel.makefile("rw")
    print(json.dumps({"threads": _threads()}), file=lines, flush=True)
    for line in lines:
        request: dict[str, Any] = json.loads(line)
        if "wait" in request:
            answer = {"status": _status(request["wait"])}
        else:
            kernel = os.fork()
            if not kernel:
                _end_with(server)
                return request
            answer = {"kernel": kernel}
        print(json.dumps(answer), file=lines, flush=True)
    return None


def _load() -> None:
    """Import what kernels and notebooks import, and load the compiled kernels."""
    from workbench import warmup
    from workbench.panels import ahead

    gc.disable()
    for name in _OF_KERNELS:
        import_module(name)
    ahead.load()
    warmup.load()
    gc.collect()
    gc.freeze()  # collecting garbage in a copy would write to the pages that it shares


def _threads() -> int:
    """Return the number of threads of this process, those of libraries included."""
    return len(list(Path("/proc/self/task").iterdir()))


def _status(kernel: int) -> int | None:
    """Return the exit status of a kernel, None while it runs."""
    ended, status = os.waitpid(kernel, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


def _end_with(parent: int) -> None:
    """Let this process be killed when its parent ends; a kernel's own poll can miss that."""
    ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _run_kernel(wanted: dict[str, Any]) -> None:
    """Make this process what a new one would be, and run a kernel in it."""
    import ipykernel_launcher
    import numpy as np
    from ipykernel.kernelapp import IPKernelApp

    from workbench.panels import ahead

    os.setsid()
    os.chdir(wanted["folder"])
    os.environ.clear()
    os.environ.update(wanted["environment"])
    with contextlib.suppress(OSError):
        Path("/proc/self/comm").write_text("ipykernel")  # what `top` shows
    np.random.seed()  # noqa: NPY002 - what notebooks draw from, and copies would draw the same
    gc.enable()
    sys.argv = [str(ipykernel_launcher.__file__), *wanted["options"]]
    # It read the variable for this when it was imported.
    kernel = IPKernelApp.instance(parent_handle=os.getppid())
    kernel.initialize()
    ahead.connect()
    kernel.start()


if __name__ == "__main__":
    main()
