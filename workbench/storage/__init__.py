"""Databases of studies: an SQLite file or a PostgreSQL server, opened, locked and held."""
