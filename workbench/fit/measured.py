"""What may be passed as a measured curve: the curve itself, a machine's name, a file or a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from workbench import datasets
from workbench.errors import DatasetError, ParameterError
from workbench.machines import Machine, load as load_machine, own
from workbench.measure import OSUCurve, read_osu
from workbench.measure.curve import byte_label
from workbench.units import parse_typed_quantity

if TYPE_CHECKING:
    import pandas as pd

    Measured: TypeAlias = OSUCurve | Machine | str | Path | pd.DataFrame


Size: TypeAlias = int | str
"""A message size in bytes, or a text such as ``4KiB``."""


def sizes_of(without: str | Sequence[Size]) -> tuple[int, ...]:
    """Return message sizes in bytes, ascending; a text has them with commas between."""
    parts = without.split(",") if isinstance(without, str) else without
    texts = filter(str.strip, map(str, parts))
    sizes = {int(parse_typed_quantity(text, "bytes", name="without")) for text in texts}
    return tuple(sorted(sizes))


def left_out(curve: OSUCurve, without: str | Sequence[Size]) -> OSUCurve:
    """Return a curve without some of its sizes; refuse one that was not measured, and all."""
    sizes = sizes_of(without)
    unknown = sorted(set(sizes) - set(curve.sizes.tolist()))
    if unknown or len(sizes) == len(curve):
        got = ", ".join(map(byte_label, unknown or sizes))
        known = ", ".join(map(byte_label, curve.sizes.tolist()))
        raise ParameterError(
            f"without must name some of the measured sizes and leave others; got {got}; measured "
            f"were {known}",
            key="without",
        )
    if not sizes:
        return curve
    label = f"without {', '.join(map(byte_label, sizes))}"
    return curve.select(~np.isin(curve.sizes, sizes), label)


def as_curve(measured: Measured) -> OSUCurve:
    """Return a curve as given, or that of a machine, a file (OSU, CSV) or a table."""
    if isinstance(measured, OSUCurve):
        return measured
    if isinstance(measured, Machine):
        return measured.curve
    if isinstance(measured, str | Path) and str(measured).endswith(".json"):
        return load_machine(measured).curve
    if isinstance(measured, Path):
        return read_osu(measured)
    if isinstance(measured, str):
        known = datasets.list()
        if measured not in known and ("\n" in measured or Path(measured).is_file()):
            return read_osu(measured)
        if measured in own():
            return load_machine(measured).curve
        try:
            return datasets.load(measured)
        except DatasetError as error:
            raise DatasetError(f"{error}; there is no file of that name either") from None
    table: Any = measured
    if hasattr(table, "to_csv") and hasattr(table, "columns"):
        rows = table if "size_bytes" in table.columns else table.reset_index()
        return read_osu(("table", rows.to_csv(index=False)))
    raise ParameterError(
        "what was measured must be an OSUCurve, a machine, the name of one such as "
        "'azure-hb96v3-hdr', the path of a file, or a table with columns size_bytes, latency_us "
        f"and bandwidth_MBps; got {type(measured).__name__}",
        key="curve",
    )
