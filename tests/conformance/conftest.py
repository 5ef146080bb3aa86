"""What repeats is skipped from the first event on, whichever test comes first."""

from tests.kernels.skipping import skipping_from_the_first_event as skipping_from_the_first_event
