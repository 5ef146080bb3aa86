"""How commands of the shell are made from the functions that they call."""

from __future__ import annotations
