"""The users of a recorded link at work: one process that sends and receives for all of them."""

from __future__ import annotations

import contextlib
import json
import mmap
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from workbench.variability.recording import traffic
from workbench.variability.recording.network import LinkNetwork, LinkRecordingError
from workbench.variability.recording.schedule import EmulatedUser, SlotJob

_END_S = 5.0  # chosen: it ends within a tick of 5 ms, unless the machine is stuck


class RunningUsers:
    """The users' traffic, a context manager."""

    def __init__(
        self,
        users: Sequence[EmulatedUser],
        network: LinkNetwork,
        *,
        rate_Mbps: float,  # of the link, of which the users' rates are shares
    ) -> None:
        self._users, self._network, self._rate_Bps = users, network, 1e6 / 8 * rate_Mbps
        self._open = contextlib.ExitStack()
        self._process: subprocess.Popen[bytes] | None = None
        self._sent: mmap.mmap | None = None

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as unfinished, contextlib.ExitStack() as connections:
            file = unfinished.enter_context(tempfile.NamedTemporaryFile())
            file.write(bytes(8 * len(self._users)))
            file.flush()
            self._sent = unfinished.enter_context(mmap.mmap(file.fileno(), 8 * len(self._users)))
            told: dict[str, Any] = {"pace": [], "sinks": [], "sent": file.name}
            for user in self._users:
                pairs = [
                    self._network.connection(user.sender, user.receiver)
                    for _ in range(user.connections)
                ]
                for pair in pairs:
                    for end in pair:
                        connections.enter_context(end)
                told["sinks"] += [into.fileno() for _, into in pairs]
                told["pace"].append(
                    {
                        "sockets": [out.fileno() for out, _ in pairs],
                        "rate_Bps": user.rate * self._rate_Bps,
                        "pattern": user.pattern,
                    }
                )
            files = [*told["sinks"], *(one for each in told["pace"] for one in each["sockets"])]
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(Path(traffic.__file__))],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=files,
                start_new_session=True,
            )
            unfinished.callback(self._end)
            self._tell(told)
            self._open = unfinished.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()

    def begin(self, jobs: Sequence[SlotJob]) -> float:
        """Start the slot with these jobs and return its start, in s since 1970."""
        now = time.monotonic()
        rows = [
            [job.user, now + job.start, None if job.end is None else now + job.end] for job in jobs
        ]
        start = time.time()
        self._tell({"jobs": rows})
        return start

    def sent(self) -> list[int]:
        """Return the bytes that the network has taken from each user so far."""
        if self._sent is None:
            raise LinkRecordingError("the users must be running")
        return list(struct.unpack(f"={len(self._users)}q", self._sent[:]))

    def _tell(self, what: dict[str, Any]) -> None:
        process = self._process
        if process is None or process.stdin is None or process.stderr is None:
            raise LinkRecordingError("the users must be running")
        try:
            process.stdin.write(json.dumps(what).encode() + b"\n")
            process.stdin.flush()
        except OSError as error:
            process.wait(_END_S)
            words = process.stderr.read().decode("utf-8", "replace").strip()[-300:]
            raise LinkRecordingError(f"the users' traffic must go on; it ended: {words}") from error

    def _end(self) -> None:
        """Let the process end by itself, for its standard input closes, or end it."""
        process = self._process
        if process is None:
            return
        for stream in (process.stdin, process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
