"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def atomic_write(path: str | Path, suffix: str = "") -> Iterator[Path]:
    """Yield the path of a new file, which replaces ``path`` if the block ends without an error."""
    target = Path(path).resolve()  # a link stays: its target is replaced
    if target.exists() and not target.is_file():  # a pipe or a device is written as it is
        yield target
        return
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(target.parent))
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}{suffix}")
    try:
        yield temporary
        if target.exists():
            temporary.chmod(target.stat().st_mode)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def replace_file(path: str | Path, data: bytes) -> None:
    """Write a file in one step, see `atomic_write`."""
    with atomic_write(path) as temporary:
        temporary.write_bytes(data)
