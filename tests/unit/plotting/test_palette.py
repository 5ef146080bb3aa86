from __future__ import annotations

from workbench.plotting import palette


def test_every_category_has_its_own_colour() -> None:
    assert len(set(palette.OKABE_ITO)) == 8
    assert len({palette.MEASURED, palette.SIMULATED, palette.FITTED}) == 3


def test_zero_has_a_colour_of_its_own_and_the_signs_differ() -> None:
    colours = palette.diverging()
    assert len(colours) % 2 == 1
    middle = len(colours) // 2
    assert colours.count(colours[middle]) == 1
    assert colours[0] == palette.BLUE
    assert colours[-1] == palette.VERMILLION


def test_mix_ends_at_both_colours() -> None:
    assert palette.mix("#000000", "#FFFFFF", 0.0) == "#000000"
    assert palette.mix("#000000", "#FFFFFF", 1.0) == "#FFFFFF"
    assert palette.mix("#000000", "#FFFFFF", 0.5) == "#808080"


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_numbers_can_be_read_on_every_colour_of_the_heatmap() -> None:
    for colour in (*palette.diverging(), palette.MISSING):
        light, dark = sorted((luminance(colour), luminance(palette.ink_on(colour))), reverse=True)
        # WCAG 2 AA asks for 4.5; of black and white one always reaches it.
        assert (light + 0.05) / (dark + 0.05) >= 4.5, colour
