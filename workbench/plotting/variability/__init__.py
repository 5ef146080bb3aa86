"""Figures of variability: who is to blame for long runs."""
