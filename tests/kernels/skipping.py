"""The two-node simulation with and without skipping what repeats, its events counted."""

from unittest import mock

from workbench.simulate import osu as wrapper, simulate_osu


def curve_and_events(model, *args, skip, **options):
    """Return the curve of `simulate_osu` and the number of events that were handled for it.

    Args:
        model: the model to simulate.
        *args: what `simulate_osu` takes beside it.
        skip: whether to skip what repeats.
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
