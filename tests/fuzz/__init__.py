"""Damaged GOAL and trace files: the readers end in a result or in words, in bounded time."""
