"""What a parser of configurations says of a text it refuses."""

from __future__ import annotations

import pytest

from workbench.errors import ParseError
from workbench.models import read_ini


def refusal(text: str, line: int, *words: str) -> None:
    """Hold that ``text`` is refused with ``line`` and each of ``words``."""
    with pytest.raises(ParseError) as caught:
        read_ini(text)
    assert caught.value.line == line, caught.value
    for word in words:
        assert word in str(caught.value)
