"""Tuning a component: its parameters, the search, and the results."""
