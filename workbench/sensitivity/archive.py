"""Latency sensitivities on disk: a JSON file, and beside it an npz file with the arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from workbench.errors import ParameterError
from workbench.models import LogGPS
from workbench.provenance import Provenance
from workbench.result_files import Arrays, array_of, load_result, save_result
from workbench.sensitivity.contention import ContentionReport, ResourceShare
from workbench.sensitivity.result import LatencySensitivity

FORMAT = "workbench-latency-sensitivity"
VERSION = 1

_ARRAYS = {
    "corners": np.float64,
    "corner_T": np.float64,
    "slopes": np.int64,
    "critical_path": np.int64,
    "slack_ps": np.int64,
}
_COUNTS = ("ranks", "operations", "messages", "lambda_L_left", "lambda_L", "lambda_G", "lambda_o")
_NUMBERS = ("T", "rho_L", "seconds")


def save(result: LatencySensitivity, path: Path) -> Path:
    """Write an analysis to a JSON file and its arrays to an ``.npz`` file beside it."""
    values = {
        "source": result.source,
        "model": result.model.to_dict(),
        **{name: getattr(result, name) for name in (*_COUNTS, *_NUMBERS)},
        # JSON has no infinity: null stands for a program that never gets so slow.
        "tolerance_s": {
            repr(float(percent)): largest if math.isfinite(largest) else None
            for percent, largest in result.tolerance.items()
        },
        "critical_messages": result.critical_messages,
        "method": result.method,
        "provenance": result.provenance.to_dict(),
        "contention": _contention_values(result.contention),
        "warnings": list(result.warnings),
    }
    arrays = {name: getattr(result, name) for name in _ARRAYS}
    return save_result(path, form=FORMAT, version=VERSION, values=values, arrays=arrays)


def load(path: Path) -> LatencySensitivity:
    """Return the analysis that ``save`` wrote.

    Args:
        path: the JSON file; the arrays are beside it.

    Raises:
        ParseError: the files are not a saved analysis, or not a whole one.
    """
    return load_result(path, "a latency sensitivity", _result, form=FORMAT, version=VERSION)


def _result(values: Mapping[str, Any], read: Arrays) -> LatencySensitivity:
    arrays = {name: array_of(read, name, dtype) for name, dtype in _ARRAYS.items()}
    if values["method"] not in ("sweep", "lp"):
        raise ParameterError(f"method must be sweep or lp; got {values['method']!r}", key="method")
    corners = len(arrays["corners"])
    if corners < 2 or len(arrays["corner_T"]) != corners or len(arrays["slopes"]) != corners - 1:
        raise ParameterError("a curve needs as many times as corners, and a slope between two")
    if not (np.diff(arrays["corners"]) >= 0).all() or not np.isfinite(arrays["corner_T"]).all():
        raise ParameterError("a curve's corners must ascend, and its times be finite")
    kept: dict[str, Any] = {
        **{name: int(values[name]) for name in _COUNTS},
        **{name: float(values[name]) for name in _NUMBERS},
        **arrays,
    }
    counted = values.get("critical_messages")  # not in files of before
    return LatencySensitivity(
        critical_messages=None if counted is None else int(counted),
        source=str(values["source"]),
        model=LogGPS.from_dict(values["model"]),
        tolerance={
            float(percent): math.inf if largest is None else float(largest)
            for percent, largest in values["tolerance_s"].items()
        },
        method=values["method"],
        provenance=Provenance.from_dict(values["provenance"]),
        contention=_contention(values["contention"]),
        warnings=tuple(map(str, values["warnings"])),
        **kept,
    )


def _contention_values(report: ContentionReport | None) -> dict[str, Any] | None:
    if report is None:
        return None
    return {
        "llamp_ps": report.llamp_ps,
        "loggopsim_ps": report.loggopsim_ps,
        "shares": [[share.resource, share.time_ps, share.alone_ps] for share in report.shares],
        "provenance": report.provenance.to_dict(),
        "source": report.source,
        "model": report.model.to_dict(),
    }


def _contention(values: Mapping[str, Any] | None) -> ContentionReport | None:
    if values is None:
        return None
    return ContentionReport(
        source=str(values["source"]),
        model=LogGPS.from_dict(values["model"]),
        llamp_ps=int(values["llamp_ps"]),
        loggopsim_ps=int(values["loggopsim_ps"]),
        shares=tuple(
            ResourceShare(str(name), int(time_ps), int(alone_ps))
            for name, time_ps, alone_ps in values["shares"]
        ),
        provenance=Provenance.from_dict(values["provenance"]),
    )
