"""Tuning a component: what is tuned, how, and what was found."""
