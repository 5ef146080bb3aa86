"""One allocation of a Slurm machine, which lasts until it is released and no longer.

``salloc`` runs a command on this machine and keeps the allocation until the command ends. The one
here waits for its input to end: when this process dies, in whatever way, the allocation is free.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from typing import IO

from workbench.tune.runners.process_cleanup import GUARD
from workbench.tune.runners.runner import RunnerError
from workbench.tune.runners.slurm_commands import ANSWER_S, find, in_one_line

_GRANTED = "granted"
_COMMAND = ("bash", "-c", f'env -0; printf "{_GRANTED}\\0"; exec cat >/dev/null')


class Allocation:
    """An allocation, requested at once and granted when there is room; its job is ``label``."""

    def __init__(self, options: Sequence[str], label: str) -> None:
        # Files without a name: they vanish with this process.
        self._answers = tempfile.TemporaryFile()  # noqa: SIM115 - open while the allocation is
        self._messages = tempfile.TemporaryFile()  # noqa: SIM115
        words = (find("salloc"), f"--job-name={label}", *options, *_COMMAND)
        try:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=self._answers,
                stderr=self._messages,
                start_new_session=True,
            )
        except OSError as error:
            raise RunnerError(f"{words[0]} must be a program that can run; {error}") from error
        # A granted one ends with its input. A signal at that moment would leave salloc computing in
        # a loop, for a command that another of its threads has waited for. One that still waits for
        # room does not read its input. Killed before Slurm has answered, it would leave its job.
        GUARD.watch(self._process.pid, ANSWER_S, ends_alone_s=1.0)
        self._variables: dict[str, str] = {}
        self._number = ""
        self._closed = False
        self._lock = threading.Lock()

    @property
    def number(self) -> str:
        """Number of its job; empty until Slurm has given one."""
        if not self._number:
            found = re.search(r"job allocation (\d+)", self._output())
            self._number = found[1] if found else ""
        return self._number

    @property
    def lasts(self) -> bool:
        """Whether it may be used or waited for: neither closed, nor out of time, nor cancelled."""
        return not self._closed and self._process.poll() is None

    @property
    def granted(self) -> bool:
        """Whether it was granted; it may have ended since."""
        return bool(self._read_variables())

    def variables(self) -> Mapping[str, str] | None:
        """Return the ``SLURM_*`` environment of the allocation; None while it waits."""
        ended = self._process.poll() is not None
        variables = self._read_variables()
        if ended and not variables:
            output = in_one_line(self._output()) or "nothing"
            raise RunnerError(f"salloc must grant an allocation; it printed: {output}")
        return variables or None

    def close(self) -> None:
        """Release the allocation or its request; safe to repeat."""
        granted = self.granted
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._answers.close()
            self._messages.close()
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        if not granted:
            self._process.terminate()
        try:
            self._process.wait(ANSWER_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        GUARD.release(self._process.pid)

    def _read_variables(self) -> dict[str, str]:
        if not self._variables:
            *pairs, last = self._read(self._answers).removesuffix("\0").split("\0")
            if last == _GRANTED:
                known = (pair.partition("=") for pair in pairs)
                self._variables = {k: v for k, _, v in known if k.startswith("SLURM_")}
        return self._variables

    def _output(self) -> str:
        return self._read(self._messages)

    def _read(self, file: IO[bytes]) -> str:
        """Return all of a file without moving the place where others write."""
        # A panel may ask while the experiment's thread releases the allocation.
        with self._lock:
            if self._closed:
                return ""
            number = file.fileno()
            return os.fsdecode(os.pread(number, os.fstat(number).st_size, 0))
