"""One run as it is kept: what the search saw of it, and where and how it ran."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.errors import ParameterError
from workbench.result import NanEqual
from workbench.tune.history import Run


@dataclass(frozen=True)
class RunRecord(NanEqual):
    """One finished run.

    Attributes:
        number: its place in the experiment, from 0; runs are numbered as they begin.
        run: configuration, value and status, as the search sees them.
        queue_seconds: how long it waited and was set up, which is no part of ``run.seconds``.
        returncode: exit status of its program, None where there is none.
        state: how it ended, by the runner: ``completed``, ``failed``, ``timeout``, ``cancelled``.
        job_id: number of its process or job.
        node_list: where it ran.
        started: when it began, ISO 8601 with its distance from UTC.
        ended: when it was recorded, likewise; no order follows from it, as clocks are set.
        limit_s: seconds after which it would have been ended, None for none.
        load: load of the experiment's machine when it began, None where that is unknown.
        worker: which process of the experiment started it.
        reason: why it has no value, empty where it has.
        stdout: what it printed, cut in the middle where it is long.
        stderr: what it printed as errors and notes, cut likewise.
    """

    number: int
    run: Run
    queue_seconds: float = 0.0
    returncode: int | None = None
    state: str = "completed"
    job_id: str = ""
    node_list: str = ""
    started: str = ""
    ended: str = ""
    limit_s: float | None = None
    load: float | None = None
    worker: str = ""
    reason: str = ""
    stdout: str = ""
    stderr: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold; ``from_dict`` reads them back."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        run = values.pop("run")
        inner = {field.name: getattr(run, field.name) for field in dataclasses.fields(run)}
        inner["configuration"] = dict(run.configuration)
        # JSON has no nan: what is not known is left open.
        inner["value"] = run.value if math.isfinite(run.value) else None
        return {**inner, **values}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RunRecord:
        """Return the record that ``to_dict`` wrote.

        Args:
            values: what ``to_dict`` returned.

        Raises:
            ParameterError: it is no such thing.
        """
        inner = {field.name for field in dataclasses.fields(Run)}
        try:
            own = {key: value for key, value in values.items() if key not in inner}
            run = {key: value for key, value in values.items() if key in inner}
            run["value"] = math.nan if run["value"] is None else float(run["value"])
            run["configuration"] = dict(run["configuration"])
            return cls(run=Run(**run), **own)
        except (KeyError, TypeError, ValueError) as error:
            raise ParameterError(
                f"a run must be as to_dict writes it; {type(error).__name__}: {error}"
            ) from error
