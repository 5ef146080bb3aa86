"""When each engine reaches the error TPE ends with; printed, not judged by the clock.

pytest tests/benchmarks/test_engines.py -s
"""

from __future__ import annotations

import pytest

from workbench import datasets
from workbench.fit import compare_engines

TRIALS = 2000
COLUMNS = {
    "engine": str,
    "best_loss": "{:.4f}".format,
    "seconds": "{:.1f}".format,
    "goal_trials": "{:.0f}".format,
    "goal_seconds": "{:.2f}".format,
    "fewer_trials": "{:.1f}".format,
    "sooner": "{:.1f}".format,
}


@pytest.mark.parametrize("model", ["protocol", "snappr"])
@pytest.mark.parametrize(
    "machine", ["azure-hb96v3-hdr", "llnl-dane-omnipath", "alps-gh200-slingshot11"]
)
def test_engines_reach_what_tpe_ends_with(machine: str, model: str) -> None:
    compared = compare_engines(datasets.load(machine), model, trials=TRIALS)
    table = compared.table()
    print(f"\n{compared}")
    print(table[list(COLUMNS)].to_string(index=False, formatters=COLUMNS))
    assert set(table["trials"]) == {TRIALS}
    assert (table["best_loss"] > 0).all()
