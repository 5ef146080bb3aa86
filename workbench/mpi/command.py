"""A program and its arguments, checked before an MPI starts them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence

from workbench.errors import ParameterError


def check_command(command: Sequence[str]) -> None:
    """Refuse a command that is no list, is empty, or does not begin with a program."""
    if isinstance(command, str) or not command:
        raise ParameterError(
            f"command must be a list, the program and its arguments; got {command!r}", key="command"
        )
    if shutil.which(command[0]) is None:
        here = f"; write ./{command[0]}" if os.access(command[0], os.X_OK) else ""
        raise ParameterError(
            f"command must begin with a program that can be run; got {command[0]!r}{here}",
            key="command",
        )
