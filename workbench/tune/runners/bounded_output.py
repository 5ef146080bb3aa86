"""The output of a program, kept up to a bound: its beginning and its end."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import IO

MOST_OUTPUT_BYTES = 262_144
"""Bytes of each stream of a run that are kept unless another bound is given."""

_CHUNK = 65_536  # bytes, what a pipe holds on Linux (pipe(7)): no read returns more


class BoundedOutput:
    """Reads a stream to its end in a thread; keeps ``most_bytes``, half of them from each end."""

    def __init__(self, stream: IO[bytes], most_bytes: int = MOST_OUTPUT_BYTES) -> None:
        self._stream = stream
        self._half = max(most_bytes // 2, 1)
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def join(self, timeout_s: float) -> None:
        """Wait for the stream's end; a grandchild may hold the pipe open for ever."""
        self._thread.join(timeout_s)

    @property
    def text(self) -> str:
        """What was read so far, with a line about what was left out."""
        with self._lock:
            return _joined(bytes(self._head), bytes(self._tail), self._total)

    def _read(self) -> None:
        with self._stream as stream:
            # read1 returns what there is: a program that prints little is read as it prints.
            while chunk := stream.read1(_CHUNK):  # type: ignore[attr-defined]
                with self._lock:
                    self._total += len(chunk)
                    room = self._half - len(self._head)
                    self._head += chunk[:room]
                    self._tail += chunk[max(room, 0) :]
                    del self._tail[: max(len(self._tail) - self._half, 0)]


def bounded(text: str, most: int) -> str:
    """Return a text, its middle left out if it has more than ``most`` characters."""
    if len(text) <= most:
        return text
    half = max(most // 2, 1)
    return f"{text[:half]}\n[{len(text) - 2 * half} characters left out]\n{text[-half:]}"


def read_bounded(path: str | Path, most_bytes: int = MOST_OUTPUT_BYTES) -> str:
    """Return a file's text, its middle left out above ``most_bytes``; empty without a file."""
    half = max(most_bytes // 2, 1)
    try:
        with Path(path).open("rb") as file:
            head = file.read(half)
            total = file.seek(0, 2)
            file.seek(max(total - half, len(head)))
            return _joined(head, file.read(half), total)
    except FileNotFoundError:
        return ""


def _joined(head: bytes, tail: bytes, total: int) -> str:
    left_out = total - len(head) - len(tail)
    middle = f"\n[{left_out} bytes left out]\n".encode() if left_out > 0 else b""
    # A NUL is no text that a database could hold.
    return (head + middle + tail).decode("utf-8", errors="replace").replace("\0", "\ufffd")
