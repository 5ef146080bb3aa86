"""The one place colours come from: safe for the three common kinds of colour blindness.

Categories are Okabe and Ito's eight colours ("Color Universal Design", 2008); a figure also varies
dash and marker, so that nothing is said by colour alone.
"""

from __future__ import annotations

from typing import Final

BLACK: Final = "#000000"
ORANGE: Final = "#E69F00"
SKY_BLUE: Final = "#56B4E9"
GREEN: Final = "#009E73"
YELLOW: Final = "#F0E442"
BLUE: Final = "#0072B2"
VERMILLION: Final = "#D55E00"
PURPLE: Final = "#CC79A7"

OKABE_ITO: Final = (BLACK, ORANGE, SKY_BLUE, GREEN, YELLOW, BLUE, VERMILLION, PURPLE)
DASHES: Final = ("solid", "dashed", "dotted", "dotdash", "dashdot")
MARKERS: Final = ("circle", "square", "triangle", "diamond", "inverted_triangle", "plus", "cross")

MEASURED: Final = BLACK
SIMULATED: Final = BLUE
FITTED: Final = VERMILLION
FAINT: Final = "#8A8A8A"
GRID: Final = "#E5E5E5"
MISSING: Final = "#EEEEEE"

_ZERO: Final = "#F7F7F7"
_STEPS: Final = 101  # odd, so that zero has a colour of its own


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def mix(first: str, second: str, share: float) -> str:
    """Return the colour `share` of the way from `first` to `second`, as ``#RRGGBB``.

    Args:
        first: colour at share 0, ``#RRGGBB``.
        second: colour at share 1, ``#RRGGBB``.
        share: between 0 and 1.
    """
    pairs = zip(_channels(first), _channels(second), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02X}" for a, b in pairs)


def diverging() -> tuple[str, ...]:
    """Return 101 colours for a signed error: blue below zero, near white at it, vermillion above.

    The middle one, index 50, is zero's own.
    """
    half = _STEPS // 2
    below = [mix(BLUE, _ZERO, i / half) for i in range(half)]
    above = [mix(_ZERO, VERMILLION, i / half) for i in range(1, half + 1)]
    return (*below, _ZERO, *above)


def ink_on(colour: str) -> str:
    """Return black or white, whichever reads better on `colour`.

    The relative luminance is WCAG 2's; white is chosen where its contrast is the higher one.

    Args:
        colour: the background, ``#RRGGBB``.
    """
    linear = [
        c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4
        for c in (channel / 255 for channel in _channels(colour))
    ]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#FFFFFF" if 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05 else "#000000"
