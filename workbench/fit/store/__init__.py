"""Where trials are kept: Optuna studies in an SQLite file or a PostgreSQL database."""
