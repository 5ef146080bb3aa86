"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import time
from collections.abc import Iterator
from pathlib import Path

_STALE_S = 86_400.0
"""Age in s of a temporary file whose writer was killed; a younger one may still be written."""


@contextlib.contextmanager
def atomic_write(path: str | Path, suffix: str = "") -> Iterator[Path]:
    """Yield the path of a new file, which replaces ``path`` if the block ends without an error."""
    target = Path(path).resolve()  # a link stays: its target is replaced
    if target.exists() and not target.is_file():  # a pipe or a device is written as it is
        yield target
        return
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(target.parent))
    _remove_stale(target)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}{suffix}")
    try:
        yield temporary
        if target.exists():
            temporary.chmod(target.stat().st_mode)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _remove_stale(target: Path) -> None:
    """Remove what writers of this file left when they were killed."""
    left = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{8}}(\.\w+)?")
    with contextlib.suppress(OSError):  # a folder that cannot be listed, or another was faster
        for path in target.parent.iterdir():
            if left.fullmatch(path.name) and time.time() - path.stat().st_mtime > _STALE_S:
                path.unlink()


def replace_file(path: str | Path, data: bytes) -> None:
    """Write a file in one step, see `atomic_write`."""
    with atomic_write(path) as temporary:
        temporary.write_bytes(data)
