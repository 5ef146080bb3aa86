"""Colours of all figures: safe for the three common kinds of colour blindness.

Categories follow Okabe and Ito ("Color Universal Design", 2008), with lightness and hue moved so
that each has a contrast of 3 to the page, light or dark, and no two are closer to one another than
two of theirs for any of the three (tests/unit/plotting/test_palette.py). A figure also varies dash
and marker, so that nothing is shown by colour alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Final

from bokeh.palettes import Cividis256

LIGHT_GROUND: Final = "#FFFFFF"
DARK_GROUND: Final = "#111111"
"""Of JupyterLab's two themes."""

WHITE: Final = "#FFFFFF"
BLACK: Final = "#000000"
ORANGE: Final = "#E07814"
SKY_BLUE: Final = "#5293F2"
GREEN: Final = "#00876B"
OLIVE: Final = "#3D4000"
BLUE: Final = "#004D99"
VERMILLION: Final = "#C44D00"
PURPLE: Final = "#C27CAF"

CATEGORIES: Final = (BLACK, ORANGE, SKY_BLUE, GREEN, OLIVE, BLUE, VERMILLION, PURPLE)
DASHES: Final = ("solid", "dashed", "dotted", "dotdash", "dashdot")
MARKERS: Final = ("circle", "square", "triangle", "diamond", "inverted_triangle", "plus", "cross")

MEASURED: Final = BLACK
SIMULATED: Final = BLUE
FITTED: Final = VERMILLION
FAINT: Final = "#8A8A8A"
GRID: Final = "#E5E5E5"
FRAME: Final = "#BBBBBB"
WAITING: Final = "#CFCFCF"  # as pale as stands out from the page, light or dark
MISSING: Final = "#EEEEEE"
CAPTION: Final = "#555555"
DONE: Final = "#006B4F"
ERROR: Final = "#B00020"

_ZERO: Final = "#F7F7F7"
_STEPS: Final = 101  # odd, so that zero has a colour of its own


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def mix(first: str, second: str, share: float) -> str:
    """Return the colour `share` (0 to 1) of the way from `first` to `second`, as ``#RRGGBB``."""
    pairs = zip(_channels(first), _channels(second), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02X}" for a, b in pairs)


def luminance(colour: str) -> float:
    """Return the relative luminance of ``#RRGGBB`` by WCAG 2, 0 for black to 1 for white."""
    red, green, blue = (
        c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4
        for c in (channel / 255 for channel in _channels(colour))
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    """Return the contrast ratio of WCAG 2, 1 for equal colours to 21 for black on white."""
    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def in_dark(colour: str) -> str:
    """Return a figure's colour on a dark page, i.e. after ``invert(1) hue-rotate(180deg)``."""
    inverted = [255 - channel for channel in _channels(colour)]
    # The luma that CSS Filter Effects uses; its rotation by 180 degrees reflects every channel.
    luma = 0.213 * inverted[0] + 0.715 * inverted[1] + 0.072 * inverted[2]
    return "#" + "".join(f"{min(max(round(2 * luma - c), 0), 255):02X}" for c in inverted)


@cache
def ink_on(colour: str) -> str:
    """Return black or white, whichever reads better on `colour` in the worse of both themes."""
    return max((BLACK, WHITE), key=lambda ink: _legibility(ink, colour))


def _legibility(ink: str, colour: str) -> float:
    return min(contrast(ink, colour), contrast(in_dark(ink), in_dark(colour)))


def _legible(colours: Iterable[str]) -> tuple[str, ...]:
    """Return the colours on which a number can be read in both themes: WCAG 2 AA asks for 4.5."""
    return tuple(one for one in colours if _legibility(ink_on(one), one) >= 4.5)


SEQUENTIAL: Final = _legible(colour.upper() for colour in Cividis256)
"""Of heatmaps, from the least value to the largest: cividis without its middle tenth, on which
neither black nor white can be read."""

AMOUNTS: Final = tuple(reversed(SEQUENTIAL))
"""Of amounts on an empty ground: the largest stands out most from the page, light or dark."""


@cache  # computing it takes a third of a slider's 100 ms
def diverging() -> tuple[str, ...]:
    """Return 101 legible colours: blue below zero, near white at index 50, vermillion above."""
    below, above = (_towards_zero(colour) for colour in (BLUE, VERMILLION))
    return (*below, _ZERO, *reversed(above))


def _towards_zero(colour: str) -> list[str]:
    half = _STEPS // 2
    shades = _legible(mix(colour, _ZERO, i / (8 * half)) for i in range(8 * half))
    return [shades[i * len(shades) // half] for i in range(half)]
