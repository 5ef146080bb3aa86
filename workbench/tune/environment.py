"""The environment of a session: the machine, its load and its versions explain noise and speed."""

from __future__ import annotations

import os
import platform
import sys
from datetime import datetime
from importlib import metadata
from typing import Any

from workbench.tasks import cores

_PACKAGES = ("numpy", "optuna")


def environment() -> dict[str, Any]:
    """Return host, cores, load, system and versions as they are now, for JSON."""
    import workbench

    return {
        "host": platform.node(),
        "system": platform.platform(),
        "processor": _processor(),
        "cores": cores(),
        "load": load(),
        "python": platform.python_version(),
        "workbench": workbench.__version__,
        "packages": {name: _version(name) for name in _PACKAGES},
        "process": os.getpid(),
        "began": datetime.now().astimezone().isoformat(timespec="seconds"),
    }


def load() -> float | None:
    """Return the load average of the last minute; None where the system has none."""
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        return None


def _processor() -> str:
    if sys.platform == "linux":
        try:
            with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
                for line in file:
                    if line.startswith("model name"):
                        return line.partition(":")[2].strip()
        except OSError:
            pass
    return platform.processor()


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
