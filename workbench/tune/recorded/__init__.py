"""Spaces of which every configuration was run: measured or simulated, kept and replayed."""
