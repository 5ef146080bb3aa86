"""Fixtures that several test modules here take: a PostgreSQL server of their own."""

from __future__ import annotations

from tests.unit.storage.postgresql import address, server

__all__ = ["address", "server"]
