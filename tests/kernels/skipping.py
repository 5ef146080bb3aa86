"""The two-node simulation with and without skipping what repeats, its events counted."""

from collections.abc import Iterator
from unittest import mock

import pytest

from workbench.simulate import osu as wrapper, simulate_osu


@pytest.fixture(autouse=True, scope="package")
def skipping_from_the_first_event() -> Iterator[None]:
    """Skip what repeats in each run of a package's tests, as a process that has simulated much."""
    with mock.patch.object(wrapper._Test, "skip_what_repeats", True):
        yield


def after_plain_events(model, events, *args, **options):
    """Return curve and events of a process that skips only after so many events."""
    with (
        mock.patch.object(wrapper, "_PLAIN_EVENTS", events),
        mock.patch.object(wrapper._Test, "plain_events", 0),
    ):
        return curve_and_events(model, *args, skip=None, **options)


def curve_and_events(model, *args, skip, **options):
    """Return the curve of `simulate_osu` and the number of events that were handled for it.

    Args:
        model: the model to simulate.
        *args: what `simulate_osu` takes beside it.
        skip: whether to skip what repeats; None as a user's process does, which begins without.
        **options: what `simulate_osu` takes beside it.
    """
    tests = []

    class Test(wrapper._Test):
        skip_what_repeats = skip

        def __init__(self, *args):
            super().__init__(*args)
            tests.append(self)

    with mock.patch.object(wrapper, "_Test", Test):
        curve = simulate_osu(model, *args, **options)
    return curve, sum(test.events for test in tests)
