from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.cases import for_each
from workbench.plotting import palette

THEMES = ("light", "dark")
GROUND = {"light": palette.LIGHT_GROUND, "dark": palette.DARK_GROUND}


def shown(colour: str, theme: str) -> str:
    return palette.in_dark(colour) if theme == "dark" else colour


def test_every_category_has_its_own_colour() -> None:
    assert len(set(palette.CATEGORIES)) == 8
    assert len({palette.MEASURED, palette.SIMULATED, palette.FITTED}) == 3


def test_zero_has_a_colour_of_its_own_and_the_signs_differ() -> None:
    colours = palette.diverging()
    assert len(colours) == 101
    assert colours.count(colours[50]) == 1
    assert colours[0] == palette.BLUE
    assert colours[-1] == palette.VERMILLION
    assert len(set(colours)) == 101


def test_mix_ends_at_both_colours() -> None:
    assert palette.mix("#000000", "#FFFFFF", 0.0) == "#000000"
    assert palette.mix("#000000", "#FFFFFF", 1.0) == "#FFFFFF"
    assert palette.mix("#000000", "#FFFFFF", 0.5) == "#808080"


def test_contrast_is_that_of_wcag() -> None:
    assert palette.contrast("#000000", "#FFFFFF") == pytest.approx(21.0)
    # Printed by the tools of WCAG's own pages: the greyest text that AA takes on white.
    assert palette.contrast("#767676", "#FFFFFF") == pytest.approx(4.54, abs=0.005)


def test_a_dark_page_turns_lightness_and_keeps_the_hue() -> None:
    assert palette.in_dark("#FFFFFF") == "#000000"
    assert palette.in_dark("#000000") == "#FFFFFF"
    red, green, blue = (int(palette.in_dark(palette.BLUE)[i : i + 2], 16) for i in (1, 3, 5))
    assert red < green < blue


@for_each("theme", THEMES)
@for_each("colour", [*palette.CATEGORIES, palette.FAINT])
def test_lines_and_marks_stand_out_from_the_page(colour: str, theme: str) -> None:
    # WCAG 2.2, 1.4.11: 3 for graphical objects.
    assert palette.contrast(shown(colour, theme), GROUND[theme]) >= 3.0


@for_each("theme", THEMES)
def test_captions_can_be_read(theme: str) -> None:
    assert palette.contrast(shown(palette.CAPTION, theme), GROUND[theme]) >= 4.5


@for_each("theme", THEMES)
def test_the_largest_amount_stands_out_most_from_the_page_and_from_nothing(theme: str) -> None:
    for ground in (GROUND[theme], shown(palette.MISSING, theme)):
        seen = [palette.contrast(shown(colour, theme), ground) for colour in palette.AMOUNTS]
        assert seen[-1] == max(seen) >= 3.0
        assert seen[0] == min(seen)


@for_each("theme", THEMES)
def test_numbers_can_be_read_on_every_colour_of_a_heatmap(theme: str) -> None:
    for colour in (*palette.diverging(), *palette.SEQUENTIAL, palette.MISSING):
        ink = palette.ink_on(colour)
        # WCAG 2.2, 1.4.3: 4.5 for text.
        assert palette.contrast(shown(ink, theme), shown(colour, theme)) >= 4.5, colour


# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
SEEN_BY = {
    "all": np.eye(3),
    "protan": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deutan": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritan": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}


def oklab(colour: str, eyes: str) -> NDArray[np.float64]:
    """Return 100 times the Oklab coordinates (Ottosson 2020) of a colour as some eyes see it."""
    channels = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    seen = np.clip(SEEN_BY[eyes] @ linear, 0, 1)
    cones = np.cbrt(
        np.array(
            [
                [0.4122214708, 0.5363325363, 0.0514459929],
                [0.2119034982, 0.6806995451, 0.1073969566],
                [0.0883024619, 0.2817188376, 0.6299787005],
            ]
        )
        @ seen
    )
    turned: NDArray[np.float64] = (
        np.array(
            [
                [0.2104542553, 0.7936177850, -0.0040720468],
                [1.9779984951, -2.4285922050, 0.4505937099],
                [0.0259040371, 0.7827717662, -0.8086757660],
            ]
        )
        @ cones
    )
    return 100 * turned


def closest(colours: tuple[str, ...], theme: str, eyes: str) -> float:
    seen = [oklab(shown(colour, theme), eyes) for colour in colours]
    return min(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(seen, 2))


OKABE_ITO = (
    "#000000",
    "#E69F00",
    "#56B4E9",
    "#009E73",
    "#F0E442",
    "#0072B2",
    "#D55E00",
    "#CC79A7",
)


@for_each("theme", THEMES)
@for_each("eyes", SEEN_BY)
def test_categories_differ_as_much_as_okabe_and_itos_for_all_eyes(eyes: str, theme: str) -> None:
    theirs = min(closest(OKABE_ITO, "light", other) for other in SEEN_BY)
    assert closest(palette.CATEGORIES, theme, eyes) >= theirs
