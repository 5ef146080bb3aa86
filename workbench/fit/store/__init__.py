"""Where trials are kept: Optuna studies in a database of ``workbench.storage``."""
