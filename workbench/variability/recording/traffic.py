"""Traffic of the users of a link: a program of its own, which needs Python's library only.

It gets open TCP connections, is told by lines of JSON on its standard input which user sends when,
and ends when that closes:

    {"pace": [{"sockets": [5, 6], "rate_Bps": 5e6, "pattern": "bursts"}, ...],
     "sinks": [7, 8, ...], "sent": "path"}                         first
    {"jobs": [[0, 123.4, 140.0], [2, 120.0, null], ...]}           user, from and until, monotonic s

A user's pattern says how its rate goes on within a job: ``steady``, ``bursts`` (3 s of 5) or
``waves`` (a period of 15 s). What the network does not take in time is not sent later. The file
``sent`` holds the bytes that the network has taken from each user so far, int64 each.
"""

from __future__ import annotations

import contextlib
import json
import math
import mmap
import os
import select
import socket
import struct
import sys
import time
from pathlib import Path
from typing import Any

PATTERNS = ("steady", "bursts", "waves")

_TICK_S = 0.005  # chosen: the queue of 512 kB lasts 41 ms at 100 Mbit/s
_MOST_BEHIND_S = 0.02  # chosen: what a late tick makes up for is half that queue at most
_LARGEST = 1 << 18  # B at a time: 100 Mbit/s for ``_MOST_BEHIND_S``


def main() -> None:
    """Send and receive until the standard input closes."""
    with open(0, "rb", buffering=0, closefd=False) as unbuffered:
        told = json.loads(unbuffered.readline())
    users = [_User(each) for each in told["pace"]]
    sinks = [socket.socket(fileno=file) for file in told["sinks"]]
    for sink in sinks:
        sink.setblocking(False)
    with Path(told["sent"]).open("r+b") as file, mmap.mmap(file.fileno(), 8 * len(users)) as sent:
        waste = bytearray(_LARGEST)
        jobs: list[list[Any]] = []
        rest, last = b"", time.monotonic()
        while True:
            time.sleep(_TICK_S)
            if select.select([sys.stdin], [], [], 0)[0]:
                read = os.read(sys.stdin.fileno(), 65536)
                if not read:
                    return
                *lines, rest = (rest + read).split(b"\n")
                for line in lines:
                    jobs = json.loads(line)["jobs"]
            now = time.monotonic()
            passed, last = min(now - last, _MOST_BEHIND_S), now
            for at, user in enumerate(users):
                running = [job for job in jobs if job[0] == at and _runs(job, now)]
                if running:
                    user.send(passed, now - running[0][1])
                struct.pack_into("=q", sent, 8 * at, user.sent)
            for sink in sinks:
                with contextlib.suppress(BlockingIOError):
                    while sink.recv_into(waste) == len(waste):
                        pass


def _runs(job: list[Any], now: float) -> bool:
    return bool(job[1] <= now and (job[2] is None or now < job[2]))


class _User:
    def __init__(self, told: dict[str, Any]) -> None:
        self.sent = 0  # bytes
        self._sockets = [socket.socket(fileno=file) for file in told["sockets"]]
        for each in self._sockets:
            each.setblocking(False)
        self._rate_Bps, self._pattern = told["rate_Bps"], told["pattern"]
        self._data = memoryview(bytes(_LARGEST))

    def send(self, passed_s: float, into_job_s: float) -> None:
        """Send what is due, in equal parts over the connections."""
        due = self._rate_Bps * passed_s * share(self._pattern, into_job_s) / len(self._sockets)
        for each in self._sockets:
            with contextlib.suppress(BlockingIOError):
                self.sent += each.send(self._data[: min(int(due), _LARGEST)])


def share(pattern: str, into_job_s: float) -> float:
    """Return the share of a user's rate that its pattern has at a time, 1 on average."""
    if pattern == "bursts":
        return 5 / 3 if into_job_s % 5 < 3 else 0.0
    if pattern == "waves":
        return 1 + 0.8 * math.sin(2 * math.pi * into_job_s / 15)
    return 1.0


if __name__ == "__main__":
    main()
