from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.cases import for_each
from workbench.measure import OSUCurve
from workbench.plotting import describe_convergence, describe_errors, describe_size
from workbench.plotting.descriptions import describe_beside, plain_number


def test_what_one_message_costs(measured: OSUCurve, simulated: OSUCurve) -> None:
    assert describe_size(simulated, measured, 8192) == (
        "8 KiB message: 5 µs simulated, 4 µs measured (+25 %); "
        "10000 MB/s simulated, 10000 MB/s measured (+0.0 %)."
    )


def test_a_size_that_was_not_measured_is_left_out(measured: OSUCurve, simulated: OSUCurve) -> None:
    assert describe_size(simulated, measured, 512).endswith("; 1000 MB/s simulated.")
    assert "measured" not in describe_size(simulated, None, 512)


def test_the_nearest_size_is_taken(measured: OSUCurve, simulated: OSUCurve) -> None:
    assert describe_size(simulated, measured, 9000).startswith("8 KiB message")


def test_errors_name_the_worst_cell(measured: OSUCurve, simulated: OSUCurve) -> None:
    text = describe_errors(measured, simulated)
    # √((0 + 100² + 25² + 50²) / 4) = 57.3, √((100² + 0 + 50²) / 3) = 64.5, of all seven 60.5
    assert text.startswith("RMSPE 61 %: latency 57 %, bandwidth 65 %; worst at ")
    assert text.endswith("+100 %.")


def test_a_curve_without_bandwidth_is_read_without_it(
    measured: OSUCurve, simulated: OSUCurve
) -> None:
    nothing = np.full(4, np.nan)
    only = OSUCurve("l", measured.sizes, measured.latency_s, nothing, measured.provenance)
    assert "bandwidth" not in describe_errors(only, simulated)


@for_each(
    "losses, text",
    [
        ([], "No trial has been run yet."),
        ([np.inf], "1 of 9 trials, 1 refused as invalid; none could be simulated."),
        (
            [np.inf, 0.5, 0.25, 900.0],
            "4 of 9 trials, 1 refused as invalid, 1 above the axis; "
            "best rmsre 0.25, found at trial 2.",
        ),
    ],
)
def test_how_far_a_fit_has_come(losses: list[float], text: str) -> None:
    # A long tail of good trials keeps the one outlier above the axis.
    padded = losses + [0.3] * 20 if len(losses) > 3 else losses
    expected = text.replace("4 of 9", f"{len(padded)} of 9")
    assert describe_convergence(padded, loss="rmsre", total=9) == expected


@for_each(
    "value, text",
    [(1.5749, "1.57"), (999.4, "999"), (10291.4, "10291"), (0.0123, "0.0123"), (np.nan, "–")],
)
def test_numbers_have_no_exponent(value: float, text: str) -> None:
    assert plain_number(value) == text


def test_two_machines_are_compared_at_the_sizes_of_both(measured: OSUCurve) -> None:
    faster = replace(measured, name="faster", latency_s=measured.latency_s / 2)
    text = describe_beside(faster, measured)
    assert text.startswith(f"faster beside {measured.name}: latency −50 % (most at 1 B: −50 %)")
    others = replace(measured, name="others", sizes=measured.sizes + 1)
    assert (
        describe_beside(measured, others) == f"{measured.name} and others share no measured size."
    )
