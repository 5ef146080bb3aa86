"""Notes on what a trace holds and its program does not, each kind once with its count."""

from __future__ import annotations


class Notes:
    """Gathers notes; equal notes on many lines become one sentence with their number."""

    def __init__(self) -> None:
        self._counted: dict[str, list[int]] = {}
        self._texts: dict[str, None] = {}

    def count(self, text: str, rank: int, line: int, times: int = 1) -> None:
        """Note a clause about lines of a rank's file; equal clauses are counted together.

        ``line`` is the first of them.
        """
        if times:
            seen = self._counted.setdefault(text, [0, rank, line])
            seen[0] += times

    def say(self, text: str) -> None:
        """Note a clause about the whole trace."""
        self._texts[text] = None

    def sentences(self, files: list[str]) -> list[str]:
        """Return the notes as sentences, those about the whole trace first."""
        counted = [
            f"{text} ({times} times, first in {files[rank]} line {line})."
            if times > 1
            else f"{text} ({files[rank]} line {line})."
            for text, (times, rank, line) in self._counted.items()
        ]
        return [f"{text}." for text in self._texts] + counted
